//! Errors of compilers, for all devices and compilers.

use proptest::prelude::*;
use visakit_compile::{CompileError, Program, WIDTHS, compile, compiler_name};
use visakit_isa::{Device, Platform};

fn help(given: &str, known: &[&str]) -> String {
    let error = CompileError::UnknownDevice {
        given: given.to_owned(),
        compiler: "ocloc".into(),
        known: known.iter().map(|name| (*name).to_owned()).collect(),
    };
    error.help().unwrap_or_default()
}

proptest! {
    /// A device that is newer than all that a compiler knows needs a newer compiler; an older one needs an older one.
    #[test]
    fn the_other_compiler_is_named(
        device in prop::sample::select(Device::all()),
        known in prop::sample::subsequence(Device::all(), 1..8),
        name in any::<prop::sample::Index>(),
    ) {
        let names: Vec<_> = device.sold_as.iter().chain([&device.name]).collect();
        let given = *names[name.index(names.len())];
        let list: Vec<_> = known.iter().map(|known| known.name).collect();
        let newest = known.iter().filter_map(Device::platform).max();
        let help = help(given, &list);
        prop_assert_eq!(help.contains("is newer than"), device.platform() > newest, "{}", help);
        prop_assert_eq!(help.contains("is older than"), device.platform() <= newest, "{}", help);
    }

    /// No compiler is asked for a width that no kernel has.
    #[test]
    fn widths_are_checked(width: u32) {
        prop_assume!(!WIDTHS.contains(&width));
        let program = Program {
            simd: Some(width),
            compiler: Some("/there/is/none".as_ref()),
            ..Program::new("k.cl".as_ref(), b"kernel void k() {}")
        };
        let error = compile(&program).err();
        prop_assert!(matches!(error, Some(CompileError::Width(given)) if given == width), "{:?}", error);
        let help = error.and_then(|error| error.help()).unwrap_or_default();
        prop_assert!(help.contains("8, 16, 32"), "{}", help);
    }

    /// Names that nobody uses are passed to the compiler as they are; its list is the advice.
    #[test]
    fn unknown_names_get_the_list(given in "[a-z]{1,3}[0-9]{5,9}[a-z]") {
        prop_assume!(Platform::from_name(&given).is_none());
        prop_assert_eq!(&compiler_name(&given), &given);
        prop_assert!(help(&given, &["dg2", "pvc"]).contains("dg2, pvc"));
    }
}

/// A compiler that is not there is told from one that cannot start, whose own words are not lost.
#[cfg(unix)]
#[test]
fn what_a_compiler_says_of_itself_is_kept() {
    use std::os::unix::fs::PermissionsExt as _;
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("stand-in");
    let error = |script: &str| {
        visakit_files::scratch(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let program = Program {
            compiler: Some(&path),
            ..Program::new("k.cl".as_ref(), b"kernel void k() {}")
        };
        compile(&program).err().unwrap()
    };
    let none = error("exit 127");
    assert!(matches!(none, CompileError::NoCompiler { .. }), "{none}");
    let lacks = error("echo 'error while loading shared libraries: libocloc.so' >&2; exit 127");
    assert!(lacks.to_string().contains("libocloc.so"), "{lacks}");
    let fails = error("exit 1");
    assert!(matches!(fails, CompileError::Refused { .. }), "{fails}");
}

/// What a device or a compiler lacks is said in words of devices and packages.
#[test]
fn what_is_missing_is_named() {
    let refused = |said: &str| {
        CompileError::Refused {
            said: said.to_owned(),
        }
        .help()
    };
    let said = "k.cl:1:24: error: use of type 'double' requires cl_khr_fp64 support";
    assert!(refused(said).unwrap().contains("--device pvc"));
    // Debian's package does not depend on what it loads.
    let said = "Error: Loading of FCL library has failed! Filename: libigdfcl.so.2";
    assert!(refused(said).unwrap().contains("libigdfcl2"));
    assert_eq!(refused("k.cl:1:24: error: expected ';'"), None);
}

/// Names that the compiler has stay as they are; those of products are translated, however they are written.
#[test]
fn names_for_the_compiler() {
    for platform in Platform::ALL {
        for alias in platform.aliases() {
            assert_eq!(compiler_name(alias), *alias);
        }
    }
    for device in Device::all() {
        for sold in device.sold_as {
            let written = format!("Intel(R) {}", sold.to_uppercase());
            assert_eq!(
                Platform::from_name(&compiler_name(&written)),
                device.platform(),
                "{written}"
            );
        }
    }
}

/// A source becomes a kernel with its constants.
#[test]
fn a_source_is_run() {
    use visakit_compile::Program;
    use visakit_launch::{Argument, Config, NdRange};

    if !visakit_testing::driver::has_ocloc() {
        println!("NOT RUN: needs ocloc");
        return;
    }
    let source = b"constant int table[4] = {1, 20, 300, 4000};
        kernel void other(global int *x) { x[0] = 0; }
        kernel void add(global int *x, int n) { x[get_global_id(0)] += table[get_global_id(0) & 3] + n; }";
    let program = Program::new("add.cl".as_ref(), source);
    assert!(program.kernel(None).is_err(), "there are two");
    let kernel = program.kernel(Some("add")).unwrap();
    let arguments = [Argument::array(&[5_i32; 4]), Argument::number(-1_i32)];
    let grid = NdRange::new(&[4], &[4], &[]).unwrap();
    let outcome = kernel.run(&grid, &arguments, &Config::default()).unwrap();
    assert_eq!(outcome.array(0), Some(vec![5_i32, 24, 304, 4004]));
}
