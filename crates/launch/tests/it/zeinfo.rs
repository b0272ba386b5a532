//! The metadata of a real program, read into types.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use visakit_launch::{ArgType, ZeInfo};

#[test]
fn a_real_one() {
    let path = visakit_testing::fixtures().join("kernels/bench.pvc.zeinfo");
    let zeinfo = ZeInfo::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
    insta::assert_debug_snapshot!(zeinfo.kernel("matmul").unwrap());
    assert_eq!(zeinfo.args_info("matmul").len(), 4);
    assert_eq!(
        zeinfo.kernel("nothing").unwrap_err().to_string(),
        "the metadata has no kernel `nothing`; it has: mandelbrot, nbody, sha256, xorshift, matmul, copy"
    );
}

#[test]
fn programs_without_kernels() {
    assert_eq!(ZeInfo::parse("\0").unwrap(), ZeInfo::default());
}

#[test]
fn what_is_new_is_skipped() {
    let text = "
version: '9.9'
something_new: [1, 2, {a: b}]
kernels:
  - name: k
    execution_env: {simd_size: 16, quantum_flux: true}
    payload_arguments:
      - {arg_type: a_new_kind, offset: 0, size: 8, arg_index: 0, addrmode: sideways}
    per_thread_memory_buffers:
...
";
    let zeinfo = ZeInfo::parse(text).unwrap();
    let kernel = zeinfo.kernel("k").unwrap();
    assert_eq!(
        kernel.payload_arguments.first().unwrap().arg_type,
        ArgType::Unknown
    );
    assert!(kernel.per_thread_memory_buffers.is_empty());
}

/// Aliases of aliases would unfold to more than memory holds.
#[test]
fn growth_without_bound_is_refused() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..30 {
        let before = format!("*a{}, ", level - 1).repeat(9);
        text += &format!("a{level}: &a{level} [{before}]\n");
    }
    text += "kernels: []\n";
    assert!(ZeInfo::parse(&text).is_err());
}
