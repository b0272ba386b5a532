//! Findings say where they are: offsets of bytes, and the page of the rules.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout
)]

use crate::common;
use crate::common::edits::EDITS;
use crate::common::texts::faults;
use visakit_isa::object::Object;
use visakit_parse::{Container, Rules};
use visakit_validate::{Options, Platform, Scope, bytes};

/// Everything that is broken on purpose, as bytes, with the platform to look for.
fn broken() -> Vec<(String, &'static str, Object<'static>)> {
    let texts = faults().map(|(rule, platform, declarations, lines)| {
        let object = common::assembled(&common::text(declarations, lines)).unwrap();
        (rule.id().to_string(), platform, object)
    });
    let edits = EDITS.iter().map(|(rule, lines, edit)| {
        let mut object = common::assembled(&common::text("", lines)).unwrap();
        edit(&mut object);
        (rule.id().to_string(), "", object)
    });
    texts.chain(edits).collect()
}

#[test]
fn bytes_have_the_findings_of_the_object_with_offsets() {
    let mut read = 0;
    for (id, platform, object) in broken() {
        // Some edits have no binary form.
        let Ok(file) = visakit_encode::write(&object) else {
            continue;
        };
        let options = Options {
            platform: Platform::from_name(platform),
            ..Options::default()
        };
        let report = bytes(&file, None, &options).unwrap();
        let Some(finding) = report
            .findings
            .iter()
            .find(|f| f.rule.id().to_string() == id)
        else {
            // Raw bytes may decode to something when they are read again.
            assert!(
                id.contains("decodable") || id.contains("misplaced"),
                "{id}: {report:?}"
            );
            continue;
        };
        read += 1;
        let offset = finding.offset.unwrap();
        assert!(offset < file.len() as u64, "{finding}");
        let Scope::Instruction { number, .. } = finding.location.scope else {
            continue;
        };
        let container = Container::parse(&file).unwrap();
        let routine = container.routine(finding.location.routine.unwrap());
        let routine = routine.unwrap().with_dialect(object.dialect);
        let mut code = visakit_parse::Instructions::new(
            routine.code(),
            routine.tables_end(),
            routine.format(),
            Rules::LENIENT,
        );
        let Some(Ok(instruction)) = code.nth(number as usize) else {
            assert!(id.contains("undecodable"), "{finding}");
            continue;
        };
        let start = match finding.location.field {
            None => 0,
            Some(field) => {
                let mut fields = instruction.fields();
                let field = fields.find(|f| f.def.name.as_str() == field.name);
                field.map_or(0, |f| f.start as u64)
            }
        };
        // The entries of a list share a name.
        let list = finding.location.field.is_some_and(|f| f.name == "labels");
        assert!(list || offset == instruction.offset() + start, "{finding}");
    }
    assert!(read > 150, "{read}");
}

/// The tag byte of a destination, located by hand.
#[test]
fn an_offset_is_that_of_the_field() {
    let text = common::text("", "mov (M1, 4) D0(0,0)<0> D0(0,0)<4;4,1>");
    let file = visakit_encode::write(&common::assembled(&text).unwrap()).unwrap();
    let report = bytes(&file, None, &Options::default()).unwrap();
    let at = usize::try_from(report.findings[0].offset.unwrap()).unwrap();
    // mov, execution size 4, no predicate; then class 0, V32, row, column, horizontal stride 0.
    assert_eq!(file[at - 4..at], [0x29, 0x02, 0, 0]);
    assert_eq!(file[at..at + 9], [0, 32, 0, 0, 0, 0, 0, 0, 1]);
}

#[test]
fn entries_of_tables_have_offsets() {
    let text = common::text(".decl P9 v_type=P num_elts=5", "");
    let file = visakit_encode::write(&common::assembled(&text).unwrap()).unwrap();
    let report = bytes(&file, None, &Options::default()).unwrap();
    let at = usize::try_from(report.findings[0].offset.unwrap()).unwrap();
    assert_eq!(file[at..at + 2], [5, 0]);
}

#[test]
fn limits_bound_what_is_kept_and_not_what_is_counted() {
    let lines = "mov (M1, 4) D0(0,0)<0> D0(0,0)<4;4,1>\n".repeat(50);
    let object = common::assembled(&common::text("", lines.trim_end())).unwrap();
    let options = Options {
        limit: 7,
        ..Options::default()
    };
    let report = visakit_validate::object(&object, &options);
    assert_eq!(
        (report.errors, report.findings.len(), report.more()),
        (50, 7, 43)
    );
}

/// A truncated file: what can be read is checked.
#[test]
fn damaged_objects_are_checked_as_far_as_they_go() {
    let lines = "mov (M1, 4) D0(0,0)<0> D0(0,0)<4;4,1>\nmov (M1, 8) D0(0,0)<1> D1(0,0)<1;1,0>";
    let object = common::assembled(&common::text("", lines)).unwrap();
    let file = visakit_encode::write(&object).unwrap();
    let report = bytes(&file[..file.len() - 6], None, &Options::default()).unwrap();
    let ids: Vec<String> = report
        .findings
        .iter()
        .map(|f| f.rule.id().to_string())
        .collect();
    assert!(
        ids.iter().any(|id| id == "V0004-misplaced-piece"),
        "{ids:?}"
    );
    assert!(ids.iter().any(|id| id == "V0001-undecodable"), "{ids:?}");
    assert!(
        ids.iter().any(|id| id == "V0223-destination-stride"),
        "{ids:?}"
    );
    assert!(report.findings.iter().all(|f| f.offset.is_some()));
    assert!(bytes(b"CISA\x04", None, &Options::default()).is_err());
    // Bytes past the end belong to no piece, unless they are a few zeros.
    let mut longer = file;
    longer.push(0);
    let report = bytes(&longer, None, &Options::default()).unwrap();
    let mut ids = report.findings.iter().map(|f| f.rule.id().to_string());
    assert!(ids.all(|id| id != "V0005-unclaimed-bytes"));
    longer.push(1);
    let report = bytes(&longer, None, &Options::default()).unwrap();
    assert!(
        report
            .findings
            .iter()
            .any(|f| f.rule.id().to_string() == "V0005-unclaimed-bytes")
    );
}

#[test]
fn the_page_of_the_rules_is_in_step() {
    let path = visakit_testing::root().join("docs/rules.md");
    visakit_testing::page::holds(&path, &visakit_validate::page());
}

/// Every number that follows from the rest of the file, changed by one bit: the finding is where the number is.
#[test]
fn numbers_that_contradict_the_file_are_found_where_they_are() {
    let object =
        common::assembled(&common::text("", "mov (M1, 8) D0(0,0)<1> D1(0,0)<8;8,1>")).unwrap();
    let mut file = visakit_encode::write(&object).unwrap();
    assert!(
        bytes(&file, None, &Options::default())
            .unwrap()
            .findings
            .is_empty()
    );
    let mut places = std::collections::BTreeSet::new();
    for at in 0..file.len() {
        for bit in 0..8 {
            file[at] ^= 1 << bit;
            let report = bytes(&file, None, &Options::default());
            file[at] ^= 1 << bit;
            // Without magic and version it is no object at all.
            let Ok(report) = report else { continue };
            let wanted = "V0003-inconsistent-number";
            for finding in report
                .findings
                .iter()
                .filter(|f| f.rule.id().to_string() == wanted)
            {
                let offset = usize::try_from(finding.offset.unwrap()).unwrap();
                let field = offset..offset + 4;
                if field.contains(&at) && report.findings.len() == 1 {
                    assert_eq!(finding.rule.severity, visakit_validate::Severity::Error);
                    assert!(!finding.message.is_empty());
                    places.insert(offset);
                }
            }
        }
    }
    // Among them the size of the code and the place of its begin.
    assert!(places.len() >= 2, "{places:x?}");
}

/// Findings caused by the size of registers alone have that cause, and no others do.
#[test]
fn findings_that_come_from_large_registers_tell_so() {
    use visakit_validate::Cause;
    let declarations = ".decl SMALL v_type=G type=d num_elts=16 align=GRF\n";
    // The second row is in the variable where registers have 32 bytes; the stride is wrong on all platforms.
    let lines = "    mov (M1, 8) SMALL(1,0)<1> 0x1:d\n    mov (M1, 8) SMALL(0,0)<0> 0x1:d\n";
    let object = common::assembled(&common::text(declarations, lines)).unwrap();
    let file = visakit_encode::write(&object).unwrap();
    for platform in [Platform::Pvc, Platform::Dg2] {
        let options = Options {
            platform: Some(platform),
            ..Options::default()
        };
        let of_object = visakit_validate::object(&object, &options).findings;
        let of_file = bytes(&file, None, &options).unwrap().findings;
        let causes = |findings: &[visakit_validate::Finding]| -> Vec<_> {
            let told = findings.iter().map(|f| (f.rule.number, f.cause));
            told.collect()
        };
        let stride = (223, None);
        let expected = match platform {
            Platform::Pvc => vec![(226, Some(Cause::RegisterSize)), stride],
            _ => vec![stride],
        };
        assert_eq!(causes(&of_object), expected);
        assert_eq!(causes(&of_file), expected);
    }
}
