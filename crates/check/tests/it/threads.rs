//! Media kernels and bare routines.

use visakit_check::{Checks, Finding, Kind, check_bare, check_media};
use visakit_launch::{
    Bare, Config, Dependency, Media, MediaSurface, Source, SurfaceShape, Target, find_kernel,
};

fn source(text: &str) -> Source {
    Source {
        path: "test.visaasm".into(),
        bytes: text.as_bytes().to_vec(),
    }
}

/// The findings in a media kernel of 8 x 8 threads whose input 0 is a surface of 40 x 9 bytes, all 1.
fn media(text: &str, dependency: Dependency, inputs: &[(usize, &str)]) -> Vec<Finding> {
    let source = source(text);
    let object = source.object(32).unwrap();
    let (id, _) = find_kernel(&object, None).unwrap();
    let mut media = Media::new(&object, id, 32, &Config::default()).unwrap();
    let surface = MediaSurface {
        bytes: vec![1; 40 * 9],
        shape: Some(SurfaceShape {
            width: 40,
            height: 9,
            pitch: 40,
        }),
    };
    media.surface(Target::Input(0), &surface).unwrap();
    for (number, value) in inputs {
        media.input(*number, value).unwrap();
    }
    media.space = [8, 8];
    media.dependency = dependency;
    let report = check_media(&object, &mut media, &Config::default(), Checks::ALL).unwrap();
    assert_eq!(report.outcome.threads, 64);
    report.findings
}

fn kinds(findings: &[Finding]) -> Vec<Kind> {
    findings.iter().map(|finding| finding.kind).collect()
}

/// Threads read what those to the left and above wrote, as far as to the right: only one pattern of dependencies orders
/// all of it.
#[test]
fn dependencies_are_an_order() {
    let path = visakit_testing::fixtures().join("programs/prefix_sum_2d.visaasm");
    let text = std::fs::read_to_string(path).unwrap();
    let weights = [(1, "0,1,1,1")];
    let found = media(&text, Dependency::Wavefront26, &weights);
    assert!(found.is_empty(), "{found:#?}");
    for (dependency, _) in Dependency::ALL {
        if dependency == Dependency::Wavefront26 {
            continue;
        }
        let found = media(&text, dependency, &weights);
        assert!(!found.is_empty(), "{dependency:?}");
        assert!(found.iter().all(|f| f.kind == Kind::Race), "{found:#?}");
        for race in &found {
            let target = race.target.as_ref().unwrap();
            assert_eq!(
                (target.name.as_str(), target.argument),
                ("input 0", Some(0))
            );
            let (one, other) = (
                race.item.unwrap(),
                race.other.as_ref().unwrap().item.unwrap(),
            );
            assert_ne!(one.group, other.group);
            assert!(one.to_string().starts_with("thread 0 of group ("), "{one}");
        }
    }
}

const STORE: &str = "\
.version 3.6
.kernel \"store\"
.decl V32 v_type=G type=ud num_elts=1 align=dword
.decl V33 v_type=G type=ud num_elts=1 align=dword
.decl V34 v_type=G type=ud num_elts=8 align=GRF
.decl T6 v_type=T num_elts=1 v_name=T6
.input T6 offset=32 size=4
.kernel_attr Target=\"cm\"
    mov (M1, 1) V32(0,0)<1> %thread_x(0,0)<0;1,0>
    mov (M1, 1) V33(0,0)<1> %thread_y(0,0)<0;1,0>
    mov (M1, LANES) V34(0,0)<1> 0x7:ud
    mul (M1, 1) V32(0,0)<1> V32(0,0)<0;1,0> FACTOR:ud
    media_st.nomod (4,1) T6 0 V32(0,0)<0;1,0> V33(0,0)<0;1,0> V34.0
    ret (M1, 1)
";

#[test]
fn blocks_of_surfaces() {
    let with = |lanes: &str, factor: &str| {
        let text = STORE.replace("LANES", lanes).replace("FACTOR", factor);
        media(&text, Dependency::Free, &[])
    };
    assert!(with("1", "0x4").is_empty());
    // The last two columns are outside.
    let found = with("1", "0x6");
    assert_eq!(kinds(&found), [Kind::Dropped], "{found:#?}");
    assert_eq!(found[0].count, 8);
    // Blocks overlap by two bytes, with the same value in them; the lanes of a thread are one program.
    let found = with("1", "0x2");
    assert!(!found.is_empty(), "{found:#?}");
    assert!(
        found
            .iter()
            .all(|f| matches!(f.kind, Kind::Race | Kind::RaceSameValue))
    );
    // Nobody writes the register.
    let text = STORE.replace("V34.0\n", "V35.0\n").replace("FACTOR", "0x4");
    let text = text.replace("LANES", "8").replace(
        ".decl T6",
        ".decl V35 v_type=G type=ud num_elts=8 align=GRF\n.decl T6",
    );
    let found = media(&text, Dependency::Free, &[]);
    assert_eq!(kinds(&found), [Kind::Uninitialized], "{found:#?}");
    assert_eq!(found[0].count, 64);
}

const BARE: &str = "\
.version 4.1
.kernel \"bare\"
.decl V32 v_type=G type=d num_elts=8 align=hword
.decl V33 v_type=G type=d num_elts=8 align=hword
.decl V34 v_type=G type=uq num_elts=8 align=hword
.decl P1 v_type=P num_elts=8
.kernel_attr SimdSize=8
    add (M1, 8) V33(0,0)<1> V32(0,0)<1;1,0> 0x1:d
    cmp.gt (M1, 8) P1 V33(0,0)<1;1,0> 0x4:d
    (P1) goto (M1, 8) skip
    mov (M1, 8) V34(0,0)<1> 0x10:uq
    lsc_store.ugm (M1, 8) flat[V34]:a64 V33:d32
skip:
    ret (M1, 8)
";

#[test]
fn bare_routines() {
    let with = |sets: &[(&str, &str)]| {
        let source = source(BARE);
        let object = source.object(32).unwrap();
        let (id, _) = find_kernel(&object, None).unwrap();
        let mut bare = Bare::new(&object, id, 32, &Config::default()).unwrap();
        for (name, value) in sets {
            bare.set(name, value).unwrap();
        }
        let report = check_bare(&object, bare, Checks::ALL).unwrap();
        assert!(report.outcome.is_some());
        report.findings
    };
    // All lanes jump over the store.
    assert!(with(&[("V32", "9,9,9,9,9,9,9,9")]).is_empty());
    let found = with(&[("V32", "9,9,9,1,9,9,9,2")]);
    assert_eq!(kinds(&found), [Kind::Null], "{found:#?}");
    assert_eq!(found[0].count, 2);
    let found = with(&[]);
    let unset = found.iter().find(|f| f.kind == Kind::Uninitialized);
    let unset = unset.unwrap();
    assert!(unset.message.contains("branch"), "{found:#?}");
    assert_eq!(unset.place.instruction, 2);
    // Where the bits originate, not where they have arrived.
    let from = &unset.other.as_ref().unwrap().what;
    assert_eq!(from, "variable V32 was never written in this lane");
}

const FAR: &str = "\
.version 4.1
.kernel \"far\"
.decl V32 v_type=G type=d num_elts=8 align=hword
.decl V33 v_type=G type=d num_elts=8 align=hword
.decl V34 v_type=G type=q num_elts=8 align=hword
.decl V35 v_type=G type=d num_elts=8 align=hword
.kernel_attr SimdSize=8
    mul (M1, 8) V33(0,0)<1> V32(0,0)<1;1,0> FACTOR:d
    MASK
    mov (M1, 8) V34(0,0)<1> V33(0,0)<1;1,0>
    lsc_load.ugm (M1, 8) V35:d32 flat[V34]:a64
    ret (M1, 8)
";

/// Products that become addresses, and are too large for 32 bits with a sign.
#[test]
fn addresses_overflow() {
    let with = |factor: &str, mask: &str, index: &str| {
        let text = FAR.replace("FACTOR", factor).replace("MASK", mask);
        let source = source(&text);
        let object = source.object(32).unwrap();
        let (id, _) = find_kernel(&object, None).unwrap();
        let mut bare = Bare::new(&object, id, 32, &Config::default()).unwrap();
        bare.set("V32", index).unwrap();
        let checks = Checks {
            arithmetic: true,
            ..Checks::NONE
        };
        let report = check_bare(&object, bare, checks).unwrap();
        let kind = |f: &Finding| f.kind == Kind::AddressOverflow;
        report.findings.into_iter().filter(kind).collect::<Vec<_>>()
    };
    assert!(with("0x10000", "", "1,2,3,4,5,6,7,32767").is_empty());
    let found = with("0x10000", "", "1,2,3,4,5,6,7,32768");
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0].message,
        "2147483648 becomes an address, and does not fit 32 bits"
    );
    assert_eq!((found[0].place.instruction, found[0].count), (0, 1));
    // What is masked is meant to be truncated, and so are remainders, which compilers compute as products with large
    // constants.
    let mask = "and (M1, 8) V33(0,0)<1> V33(0,0)<1;1,0> 0xfc:d";
    assert!(with("0x10000", mask, "1,2,3,4,5,6,7,32768").is_empty());
    assert!(with("0x3ffffffd", "", "1,2,3,4,5,6,7,8").is_empty());
}

/// A predicate that elements are combined for is defined where a defined one decides, whatever the others are.
#[test]
fn combined_predicates_are_decided_by_defined_elements() {
    let unset = |set: u32, control: &str, line: &str| {
        // Lanes from 8 on are of a variable that nobody has written.
        let text = format!(
            ".version 4.1\n.kernel \"any\"\n\
             .decl SET v_type=G type=d num_elts=8 align=hword\n\
             .decl UNSET v_type=G type=d num_elts=8 align=hword\n\
             .decl X v_type=G type=d num_elts=16 align=hword\n\
             .decl AT v_type=G type=ud num_elts=16 align=hword\n\
             .decl P1 v_type=P num_elts=16\n.kernel_attr SimdSize=16\n.function \"any_0\"\nany_0:\n\
             cmp.eq (M1, 8) P1 SET(0,0)<1;1,0> 0x1:d\n\
             cmp.eq (M3, 8) P1 UNSET(0,0)<1;1,0> 0x1:d\n\
             mov (M1, 16) X(0,0)<1> 0x0:d\n\
             mov (M1, 16) AT(0,0)<1> 0x0:ud\n\
             ({control}) {line}\n\
             lsc_store.slm (M1, 16) flat[X]:a32 AT:d32\nret (M1, 1)\n"
        );
        let source = source(&text);
        let object = source.object(32).unwrap();
        let (id, _) = find_kernel(&object, None).unwrap();
        let mut bare = Bare::new(&object, id, 32, &Config::default()).unwrap();
        let numbers = vec![set.to_string(); 8].join(",");
        bare.set("SET", &numbers).unwrap();
        let checks = Checks {
            uninitialized: true,
            ..Checks::NONE
        };
        let report = check_bare(&object, bare, checks).unwrap();
        kinds(&report.findings).contains(&Kind::Uninitialized)
    };
    for line in [
        "mov (M1, 16) X(0,0)<1> 0x4:d",
        "sel (M1, 16) X(0,0)<1> 0x4:d 0x8:d",
        "lsc_store.slm (M1, 16) flat[AT]:a32 AT:d32",
    ] {
        for (control, set, expected) in [
            ("P1.any", 1, false),
            ("P1.any", 0, true),
            ("P1.all", 1, true),
            ("P1.all", 0, false),
            ("!P1.any", 1, false),
            ("!P1.all", 0, false),
        ] {
            assert_eq!(
                unset(set, control, line),
                expected,
                "{control} {set} {line}"
            );
        }
    }
}

/// A register beside a variable, read by an address, is a fault where the value is used: compilers read more than that.
#[test]
fn reads_beside_variables_are_faults_where_they_are_used() {
    let found = |uses: &str, at: &str| {
        let text = format!(
            ".version 4.1\n.kernel \"beside\"\n\
             .decl V v_type=G type=ud num_elts=16 align=hword\n\
             .decl X v_type=G type=ud num_elts=16 align=hword\n\
             .decl Y v_type=G type=ud num_elts=16 align=hword\n\
             .decl A0 v_type=A num_elts=1\n\
             .decl P1 v_type=P num_elts=1\n.kernel_attr SimdSize=16\n.function \"beside_0\"\nbeside_0:\n\
             mov (M1, 16) V(0,0)<1> 0x1:ud\n\
             mov (M1, 16) Y(0,0)<1> 0x1:ud\n\
             addr_add (M1, 1) A0(0)<1> &V {at}\n\
             mov (M1_NM, 1) X(0,0)<1> r[A0(0),0]<0;1,0>:ud\n\
             {uses}\nret (M1, 1)\n"
        );
        let source = source(&text);
        let object = source.object(32).unwrap();
        let (id, _) = find_kernel(&object, None).unwrap();
        let bare = Bare::new(&object, id, 32, &Config::default()).unwrap();
        let report = check_bare(&object, bare, Checks::ALL).unwrap();
        assert!(report.outcome.is_some());
        report.findings
    };
    let branch = "cmp.ne (M1, 1) P1 X(0,0)<0;1,0> 0x0:ud\n(P1) goto (M1, 1) end\nend:";
    let masked = "and (M1, 1) X(0,0)<1> X(0,0)<0;1,0> 0x0:ud\n";
    for at in ["0x40:uw", "0xfffc:uw"] {
        assert_eq!(kinds(&found("", at)), []);
        assert_eq!(kinds(&found(&(masked.to_owned() + branch), at)), []);
        let found = found(branch, at);
        assert_eq!(kinds(&found), [Kind::OutOfBounds], "{found:#?}");
        assert_eq!(found[0].place.instruction, 4);
        assert!(found[0].message.contains("`V` (64 bytes)"), "{found:#?}");
    }
    assert_eq!(kinds(&found(branch, "0x3c:uw")), []);
    // What does more than to move is a fault at once.
    let sum = "add (M1, 1) X(0,0)<1> Y(0,0)<0;1,0> r[A0(0),0]<0;1,0>:ud";
    assert_eq!(kinds(&found(sum, "0x40:uw")), [Kind::OutOfBounds]);
}
