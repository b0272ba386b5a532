//! What the metadata of newer compilers state.

#![allow(missing_docs)]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use visakit_launch::{Argument, Config, Kernel, LaunchError, NdRange, ZeInfo, Zebin};
use visakit_text::asm;

/// Writes a word of the payload, which is an offset in local memory, and the value of a symbol to a buffer.
const TEXT: &str = "\
.version 4.1
.kernel \"k\"
.decl OUT v_type=G type=uq num_elts=1 align=GRF
.decl AT v_type=G type=ud num_elts=1 align=dword
.decl SYMBOL v_type=G type=ud num_elts=1 align=dword
.decl D v_type=G type=ud num_elts=8 align=GRF
.decl A v_type=G type=uq num_elts=8 align=GRF
.input OUT offset=32 size=8
.input AT offset=40 size=4
.kernel_attr SimdSize=8
mov (M1, 1) A(0,0)<1> OUT(0,0)<0;1,0>
faddr __INTEL_SURFACE_STATE_SIZE SYMBOL(0,0)<1>
mov (M1, 1) D(0,0)<1> AT(0,0)<0;1,0>
lsc_store.ugm (M1, 1) flat[A]:a64 D:d32
add (M1, 1) A(0,0)<1> A(0,0)<0;1,0> 0x4:ud
mov (M1, 1) D(0,0)<1> SYMBOL(0,0)<0;1,0>
lsc_store.ugm (M1, 1) flat[A]:a64 D:d32
ret (M1, 1)
";

fn zeinfo(mode: u32) -> String {
    format!(
        "version: '1.73'
l1_cache_policy: wb
kernels:
  - name: k
    execution_env:
      simd_size: 8
      grf_count: 128
      slm_size: 256
      slm_alloc_mode: {mode}
      has_bindless_image_read: true
      of_tomorrow: 1
    payload_arguments:
      - arg_type: arg_bypointer
        offset: 0
        size: 8
        arg_index: 0
        addrmode: stateless
        addrspace: global
      - arg_type: arg_bypointer
        offset: 8
        size: 4
        arg_index: 1
        addrmode: slm
        addrspace: local
        slm_alignment: 16
        colour: blue
weather:
  sunny: true
"
    )
}

#[test]
fn offsets_in_local_memory_and_symbols_of_the_machine() {
    let object = asm::assemble(TEXT.as_bytes(), &asm::Options::default()).unwrap();
    for (mode, expected) in [(0, 0_u32), (1, 256)] {
        let info = ZeInfo::parse(&zeinfo(mode)).unwrap();
        assert_eq!(info.l1_cache_policy, "wb");
        assert!(info.kernels[0].execution_env.has_bindless_image_read);
        let kernel = Kernel::new(&object, "k", &info).unwrap();
        let range = NdRange::new(&[8], &[8], &[]).unwrap();
        let arguments = [Argument::Buffer(vec![0; 8]), Argument::Local(64)];
        let done = kernel.run(&range, &arguments, &Config::default()).unwrap();
        let bytes = done.memory(0).unwrap();
        assert_eq!(bytes[..4], expected.to_le_bytes(), "mode {mode}");
        assert_eq!(bytes[4..], 64_u32.to_le_bytes());
    }
}

/// Writes words to the buffer for assertions as the compiler's `__devicelib_assert_fail` does, if the argument is not zero: that
/// one failed, a message whose text is in it (its size with the highest bit of eight bytes, then "gone"), and its end.
fn asserting() -> String {
    let words = [
        (4, 1),
        (12, 6),
        (16, 0x8000_0000),
        (20, 0x656e_6f67),
        (24, 0x0a),
        (8, 28_u32),
    ];
    let store = |(at, word): (u32, u32)| {
        format!(
            "add (M1, 1) A(0,0)<1> BUFFER(0,0)<0;1,0> {at:#x}:ud\nmov (M1, 1) D(0,0)<1> {word:#x}:ud\n\
             lsc_store.ugm (M1, 1) flat[A]:a64 D:d32\n"
        )
    };
    let head = "\
.version 4.1
.kernel \"k\"
.decl BUFFER v_type=G type=uq num_elts=1 align=GRF
.decl FAILS v_type=G type=ud num_elts=1 align=dword
.decl D v_type=G type=ud num_elts=8 align=GRF
.decl A v_type=G type=uq num_elts=8 align=GRF
.decl P1 v_type=P num_elts=1
.input BUFFER offset=32 size=8
.input FAILS offset=40 size=4
.kernel_attr SimdSize=8
cmp.eq (M1, 1) P1 FAILS(0,0)<0;1,0> 0x0:ud
(P1) jmp (M1, 1) out
";
    let body: String = words.map(store).concat();
    format!("{head}{body}out:\nret (M1, 1)\n")
}

#[test]
fn assertions() {
    let text = asserting();
    let object = asm::assemble(text.as_bytes(), &asm::Options::default()).unwrap();
    let info = "kernels:
  - name: k
    execution_env: {simd_size: 8, require_assert_buffer: true}
    payload_arguments:
      - {arg_type: assert_buffer, offset: 0, size: 8}
      - {arg_type: arg_byvalue, offset: 8, size: 4, arg_index: 0}
";
    let kernel = Kernel::new(&object, "k", &ZeInfo::parse(info).unwrap()).unwrap();
    let range = NdRange::new(&[8], &[8], &[]).unwrap();
    let run = |fails: u32| {
        let arguments = [Argument::Value(fails.to_le_bytes().to_vec())];
        kernel.run(&range, &arguments, &Config::default())
    };
    assert!(run(0).is_ok());
    let error = run(1).unwrap_err();
    assert_eq!(error.to_string(), "an assertion failed: gone");
    assert!(matches!(error, LaunchError::Asserted { printed, .. } if printed.is_empty()));
}

#[test]
fn unknown_keys_are_named() {
    let unknown = ZeInfo::unknown_keys(&zeinfo(0));
    let expected = [
        "kernels.execution_env.of_tomorrow",
        "kernels.payload_arguments.colour",
        "weather",
    ];
    assert_eq!(unknown, expected);
    assert!(ZeInfo::unknown_keys("").is_empty());
    assert!(ZeInfo::unknown_keys("[").is_empty());
}

#[test]
fn unknown_sections_are_kept() {
    let path = visakit_testing::root().join("fixtures/kernels/lookup.pvc.zebin");
    let mut bytes = std::fs::read(path).unwrap();
    let before = Zebin::parse(&bytes).unwrap();
    assert!(before.sections.iter().all(|s| s.content().is_some()));
    // The types of sections are the second word of their headers, which begin where the file says.
    let table = usize::try_from(u64::from_le_bytes(bytes[40..48].try_into().unwrap())).unwrap();
    let note = before
        .sections
        .iter()
        .position(|s| s.name == ".misc.buildOptions")
        .unwrap();
    // The table begins with an entry for no section.
    let at = table + 64 * (note + usize::from(before.sections[0].kind != 0)) + 4;
    bytes[at..at + 4].copy_from_slice(&0xff00_0015_u32.to_le_bytes());
    assert_eq!(
        Zebin::parse(&bytes).unwrap().sections[note].content(),
        Some("PISA")
    );
    bytes[at..at + 4].copy_from_slice(&0xff00_0099_u32.to_le_bytes());
    let after = Zebin::parse(&bytes).unwrap();
    assert_eq!(after.sections[note].content(), None);
    assert_eq!(after.sections[note].kind, 0xff00_0099);
}

/// Compilers of 2020 write no version of ELF.
#[test]
fn zebins_without_a_version() {
    let path = visakit_testing::root().join("fixtures/kernels/lookup.pvc.zebin");
    let mut bytes = std::fs::read(path).unwrap();
    let with = Zebin::parse(&bytes).unwrap();
    bytes[6] = 0;
    bytes[20] = 0;
    let without = Zebin::parse(&bytes).unwrap();
    assert_eq!(
        (without.zeinfo, without.symbols, without.data),
        (with.zeinfo, with.symbols, with.data)
    );
}

/// A kernel that spilled was tried again, with other options and so with one argument more; the compiler took either.
#[test]
fn the_attempt_is_that_of_the_metadata() {
    let text = |private: bool| {
        let place = if private { 152 } else { 144 };
        let private = if private {
            ".input V2 offset=144 size=8\n"
        } else {
            ""
        };
        format!(
            ".version 4.2\n.kernel \"k\"\n.decl V1 v_type=G type=uq num_elts=1 align=qword\n\
             .decl V2 v_type=G type=uq num_elts=1 align=qword\n.decl V3 v_type=G type=d num_elts=1 align=dword\n\
             .input V1 offset=128 size=8\n{private}.input V3 offset={place} size=4\n\
             .kernel_attr SimdSize=32\nret (M1, 1)\n"
        )
    };
    let zeinfo = |private: bool| {
        let place = if private { 24 } else { 16 };
        let base =
            "      - arg_type: private_base_stateless\n        offset: 16\n        size: 8\n";
        let base = if private { base } else { "" };
        format!(
            "kernels:\n  - name: k\n    execution_env:\n      simd_size: 32\n    payload_arguments:\n      \
             - arg_type: arg_byvalue\n        offset: 0\n        size: 8\n        arg_index: 0\n{base}      \
             - arg_type: arg_byvalue\n        offset: {place}\n        size: 4\n        arg_index: 1\n"
        )
    };
    let name =
        |attempt: &str| format!("OCL_asm0123456789abcdef{attempt}_simd32_entry_0001.visaasm");
    for (again, stated, taken) in [
        (true, true, "_1"),
        (true, false, ""),
        (false, true, ""),
        (false, false, "_1"),
    ] {
        let files = [
            (name(""), text(!again)),
            (name("_1"), text(again)),
            ("k.zeinfo".to_owned(), zeinfo(stated)),
        ];
        let files = files.map(|(path, text)| visakit_launch::Source {
            path: path.into(),
            bytes: text.into_bytes(),
        });
        let dump = visakit_launch::Dump::of(files.into()).unwrap();
        let kernel = dump.kernel(Some("k")).unwrap();
        assert_eq!(
            kernel.sources[0].path,
            std::path::Path::new(&name(taken)),
            "{again} {stated}"
        );
    }
}
