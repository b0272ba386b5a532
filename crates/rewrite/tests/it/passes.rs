//! Every pass over every object: the result can be written and read strictly.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use super::picture::faults;
use std::path::{Path, PathBuf};
use visakit_isa::object::{Item, Object};
use visakit_isa::{Format, Op};
use visakit_parse::{ReadOptions, read_with};
use visakit_rewrite::graph::{CallGraph, Cfg, Theme, dot, svg};
use visakit_rewrite::{
    Strip, convert, diff, extract, find_routine, merge, rename_routine, strip, unresolved,
};
use visakit_testing::layouts::Random;

/// Objects of the corpora, or those of the repository alone.
pub(crate) fn all(test: &str) -> Vec<PathBuf> {
    let mut found = visakit_testing::objects(&visakit_testing::root().join("fixtures/objects"));
    for folder in [
        "corpus/isa",
        "corpus/ocl",
        "corpus/asm",
        "corpus/synth",
        "cases",
    ] {
        let folder = visakit_testing::shared(test, folder);
        found.extend(folder.iter().flat_map(|f| visakit_testing::objects(f)));
    }
    found.retain(|path| !path.to_string_lossy().contains("broken"));
    found
}

/// Writes the object and reads it strictly; the object must come back as it is.
fn whole(object: &Object<'_>, path: &Path) -> Vec<u8> {
    let bytes = visakit_encode::write(object).unwrap();
    let options = ReadOptions {
        dialect: Some(object.dialect),
        ..ReadOptions::default()
    };
    match read_with(&bytes, options) {
        Ok(again) => {
            assert_eq!(again.object.kernels, object.kernels, "{}", path.display());
            assert_eq!(
                again.object.functions,
                object.functions,
                "{}",
                path.display()
            );
        }
        Err(error) => panic!("{}: {error}", path.display()),
    }
    bytes
}

fn lines(object: &Object<'_>) -> Vec<String> {
    let text = crate::convert::text(object);
    let text = String::from_utf8_lossy(&text);
    text.lines().map(str::to_owned).collect()
}

#[test]
fn strip_takes_only_what_it_says() {
    let mut totals = [0; 4];
    for path in all("strip_takes_only_what_it_says") {
        let bytes = std::fs::read(&path).unwrap();
        let object = visakit_parse::read(&bytes).unwrap();
        let native = Strip {
            binaries: true,
            ..Strip::default()
        };
        let mut bare = object.clone();
        strip(&mut bare, native);
        whole(&bare, &path);
        assert_eq!(lines(&bare), lines(&object), "{}", path.display());
        let mut debug = object.clone();
        strip(
            &mut debug,
            Strip {
                debug: true,
                ..Strip::default()
            },
        );
        whole(&debug, &path);
        let code = |o: &Object<'_>| -> Vec<Item<'static>> {
            let bodies = o.routines().filter_map(|(_, r)| r.body());
            let items = bodies.flat_map(|b| b.code.clone());
            let kept = |i: &Item<'_>| !matches!(i, Item::Instruction(i) if matches!(i.op, Op::FILE | Op::LOC));
            let items = items.filter(kept);
            items
                .filter_map(|i| match i {
                    Item::Instruction(i) => Some(Item::Instruction(i)),
                    Item::Raw(_) => None,
                })
                .collect()
        };
        assert_eq!(code(&debug), code(&object));
        let mut all = object.clone();
        let gone = strip(&mut all, Strip::ALL);
        let small = whole(&all, &path);
        assert!(small.len() <= bytes.len() + 16, "{}", path.display());
        // Nothing is left to remove.
        let twice = strip(&mut all.clone(), Strip::ALL);
        assert_eq!(
            (twice.instructions, twice.declarations, twice.strings),
            (0, 0, 0)
        );
        totals[0] += 1;
        totals[1] += gone.instructions;
        totals[2] += gone.declarations;
        totals[3] += bytes.len() - small.len().min(bytes.len());
    }
    println!(
        "{} objects stripped: {} instructions, {} declarations, {} bytes",
        totals[0], totals[1], totals[2], totals[3]
    );
}

#[test]
fn extracted_parts_merge_to_the_whole() {
    let (mut parts, mut merged) = (0, 0);
    for path in all("extracted_parts_merge_to_the_whole") {
        let bytes = std::fs::read(&path).unwrap();
        let object = visakit_parse::read(&bytes).unwrap();
        let mut singles = Vec::new();
        for (id, routine) in object.routines() {
            let mut part = object.clone();
            extract(&mut part, &[id]).unwrap();
            whole(&part, &path);
            parts += 1;
            if id.kind == visakit_isa::object::RoutineKind::Kernel {
                assert_eq!(part.kernels.len(), 1);
                assert_eq!(part.kernels.first().unwrap().name, routine.name);
                singles.push(part);
            }
        }
        // Functions would be there twice, and so would variables of the file that kernels share.
        let alone = object.functions.is_empty() && object.file_variables.is_empty();
        if alone && singles.len() > 1 {
            let mut whole_again = merge(singles).unwrap().object;
            whole_again.arrangement = object.arrangement.clone();
            assert_eq!(
                visakit_encode::write(&whole_again).unwrap(),
                bytes,
                "{}",
                path.display()
            );
            merged += 1;
        }
    }
    println!("{parts} routines extracted; {merged} objects merged again to the same bytes");
}

#[test]
fn graphs_and_differences_of_every_object() {
    let (mut graphs, mut blocks, mut arrows) = (0, 0, 0);
    for path in all("graphs_and_differences_of_every_object") {
        let bytes = std::fs::read(&path).unwrap();
        let object = visakit_parse::read(&bytes).unwrap();
        assert!(diff(&object, &object).is_empty());
        let mut pictures = vec![CallGraph::of(&object).picture(&object)];
        for (id, routine) in object.routines() {
            let body = routine.body().unwrap();
            let cfg = Cfg::of(body);
            // Every instruction is in exactly one block, in order.
            let codes = cfg.graph.node_weights().filter(|b| b.missing.is_none());
            let items: Vec<usize> = codes.flat_map(|b| b.code.clone()).collect();
            assert!(
                items.iter().copied().eq(0..body.code.len()),
                "{}",
                path.display()
            );
            graphs += 1;
            blocks += cfg.graph.node_count();
            pictures.push(cfg.picture(&object, id));
        }
        let (mut text, mut image) = (String::new(), String::new());
        dot(&mut text, &pictures).unwrap();
        svg(&mut image, &pictures, Theme::Auto).unwrap();
        assert!(image.starts_with("<svg") && image.ends_with("</svg>\n"));
        for picture in pictures {
            for picture in [picture.clone().compact(), picture] {
                let placed = picture.place();
                let found = faults(&placed.layout, &placed.boxes, &placed.links);
                assert!(
                    found.is_empty(),
                    "{}, {}: {found:#?}",
                    path.display(),
                    picture.title
                );
                arrows += placed.links.len();
            }
        }
    }
    println!("{graphs} graphs of {blocks} blocks, {arrows} arrows drawn");
}

/// What lenient reading keeps of damaged objects goes through every pass as well.
#[test]
fn damaged_objects_are_refused_or_changed() {
    let folder = visakit_testing::root().join("fixtures/objects");
    let (mut read, mut converted) = (0, 0);
    for path in visakit_testing::objects(&folder) {
        let bytes = std::fs::read(&path).unwrap();
        let mut random = Random::of_seed(0);
        for _ in 0..150 {
            let mut damaged = bytes.clone();
            for _ in 0..3 {
                let at = random.below(damaged.len());
                if let Some(byte) = damaged.get_mut(at) {
                    *byte = random.word().to_le_bytes()[0];
                }
            }
            let options = ReadOptions {
                lenient: true,
                dialect: None,
            };
            let Ok(decoded) = read_with(&damaged, options) else {
                continue;
            };
            read += 1;
            let object = decoded.object;
            for version in ["3.0", "3.2", "3.6", "4.1"] {
                let version = visakit_isa::Version::SUPPORTED
                    .into_iter()
                    .find(|v| v.to_string() == version);
                let format = Format::new(version.unwrap(), visakit_isa::Dialect::default());
                if let Ok(new) = convert(object.clone(), format) {
                    visakit_encode::write(&new).unwrap();
                    converted += 1;
                }
            }
            let mut all = object.clone();
            strip(&mut all, Strip::ALL);
            let _ = visakit_encode::write(&all);
            let mut pictures = vec![CallGraph::of(&object).picture(&object)];
            for (id, routine) in object.routines() {
                let _ = extract(&mut object.clone(), &[id]);
                let _ = rename_routine(&mut object.clone(), id, "other");
                if let Some(body) = routine.body() {
                    pictures.push(Cfg::of(body).picture(&object, id));
                }
            }
            let _ = unresolved(&object);
            let _ = diff(&object, &all);
            let _ = merge(vec![object.clone(), all]);
            let mut image = String::new();
            svg(&mut image, &pictures, Theme::Auto).unwrap();
            dot(&mut image, &pictures).unwrap();
        }
    }
    println!("{read} damaged objects, {converted} conversions");
    assert!(read > 100);
}

#[test]
fn a_renamed_function_is_still_called() {
    let path = visakit_testing::root().join("fixtures/objects/call_stack_pvc_v41.isa");
    let bytes = std::fs::read(&path).unwrap();
    let mut object = visakit_parse::read(&bytes).unwrap();
    let before = lines(&object);
    let leaf = find_routine(&object, "leaf_stack").unwrap();
    rename_routine(&mut object, leaf, "leaf").unwrap();
    whole(&object, &path);
    assert!(unresolved(&object).is_empty());
    let calls: Vec<String> = before
        .iter()
        .filter(|l| l.contains("leaf_stack"))
        .cloned()
        .collect();
    assert!(calls.iter().filter(|l| l.contains("fcall")).count() >= 2);
    rename_routine(&mut object, leaf, "leaf_stack").unwrap();
    assert_eq!(lines(&object), before);
    let error = rename_routine(&mut object, leaf, "vecf_stack").unwrap_err();
    assert!(error.to_string().contains("is taken"), "{error}");
}

#[test]
fn objects_are_linked_by_the_names_of_functions() {
    let path = visakit_testing::root().join("fixtures/objects/call_stack_pvc_v41.isa");
    let bytes = std::fs::read(&path).unwrap();
    let object = visakit_parse::read(&bytes).unwrap();
    let mut caller = object.clone();
    let mut callees = object.clone();
    caller.functions.clear();
    callees.kernels.clear();
    let missing = merge(vec![caller.clone()]).unwrap().unresolved;
    assert_eq!(missing.len(), 3, "{missing:?}");
    let linked = merge(vec![caller, callees.clone()]).unwrap();
    assert!(linked.unresolved.is_empty());
    assert_eq!(visakit_encode::write(&linked.object).unwrap(), bytes);
    let error = merge(vec![object.clone(), callees]).unwrap_err();
    assert!(error.to_string().contains("is defined twice"), "{error}");
    // Static functions belong to their object.
    let mut other = object.clone();
    other
        .kernels
        .iter_mut()
        .for_each(|k| k.name = b"second"[..].into());
    other.functions.iter_mut().for_each(|f| f.linkage.0 = 1);
    let linked = merge(vec![object, other]).unwrap();
    assert_eq!(
        (linked.object.functions.len(), linked.renamed.len()),
        (6, 3)
    );
    assert!(linked.unresolved.is_empty());
}
