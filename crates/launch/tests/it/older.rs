//! What metadata before version 1.0 state, and what they leave out: those of IGC 1.0.5353.

#![allow(missing_docs)]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use visakit_launch::{Argument, Config, Kernel, LaunchError, NdRange, ZeInfo};
use visakit_text::asm;

/// Writes a dword and a qword of the payload to a buffer.
const TEXT: &str = "\
.version 3.6
.kernel \"k\"
.decl OUT v_type=G type=uq num_elts=1 align=GRF
.decl W v_type=G type=ud num_elts=1 align=dword
.decl Q v_type=G type=uq num_elts=1 align=qword
.decl D v_type=G type=ud num_elts=8 align=GRF
.decl DQ v_type=G type=uq num_elts=4 align=GRF alias=<D, 0>
.decl A v_type=G type=uq num_elts=8 align=GRF
.input OUT offset=32 size=8
.input W offset=40 size=4
.input Q offset=48 size=8
.kernel_attr SimdSize=8
mov (M1, 1) A(0,0)<1> OUT(0,0)<0;1,0>
mov (M1, 1) DQ(0,0)<1> Q(0,0)<0;1,0>
mov (M1, 1) D(0,2)<1> W(0,0)<0;1,0>
svm_block_st (1) A(0,0)<0;1,0> D.0
ret (M1, 1)
";

/// Runs the kernel with pieces of these kinds for the dword and the qword.
fn run(pieces: &str, arguments: Vec<Argument>) -> Result<Vec<u8>, LaunchError> {
    run_text(TEXT, pieces, arguments)
}

/// Runs a kernel like it.
fn run_text(text: &str, pieces: &str, arguments: Vec<Argument>) -> Result<Vec<u8>, LaunchError> {
    let zeinfo = format!(
        "kernels:
  - name: k
    execution_env: {{actual_kernel_start_offset: 0, grf_count: 128, simd_size: 8}}
    payload_arguments:
      - {{arg_type: arg_bypointer, offset: 0, size: 8, arg_index: 0, addrmode: stateless, addrspace: global}}
{pieces}"
    );
    let object = asm::assemble(text.as_bytes(), &asm::Options::default()).unwrap();
    let mut kernel = Kernel::new(&object, "k", &ZeInfo::parse(&zeinfo)?)?;
    kernel.grf_bytes = 32;
    let mut all = vec![Argument::Buffer(vec![0; 32])];
    all.extend(arguments);
    let range = NdRange::new(&[8], &[8], &[]).unwrap();
    let outcome = kernel.run(&range, &all, &Config::default())?;
    Ok(outcome.memory(0).unwrap()[..12].to_vec())
}

/// A piece of the payload.
fn piece(kind: &str, offset: u32, size: u32, index: u32, rest: &str) -> String {
    format!(
        "      - {{arg_type: {kind}, offset: {offset}, size: {size}, arg_index: {index}{rest}}}\n"
    )
}

/// A structure of an int and a long is one argument in two pieces that do not say where in it they are.
#[test]
fn members_of_structures() {
    let pieces = piece("arg_byvalue", 8, 4, 1, "") + &piece("arg_byvalue", 16, 8, 1, "");
    let value: Vec<u8> = (1..=16).collect();
    let found = run(&pieces, vec![Argument::Value(value.clone())]).unwrap();
    assert_eq!(found, [&value[8..16], &value[..4]].concat());
    // Packed.
    let found = run(&pieces, vec![Argument::Value(value[..12].to_vec())]).unwrap();
    assert_eq!(found, [&value[4..12], &value[..4]].concat());
    for size in [4, 8, 11, 13, 15] {
        let error = run(&pieces, vec![Argument::Value(value[..size].to_vec())]).unwrap_err();
        let expected = format!(
            "argument 1: the kernel wants a structure of 2 members, of 4, 8 bytes, and the metadata, which are older \
             than version 1.9, do not tell where in {size} bytes they are: give it in the size that it has, such as \
             16, or compile with a newer release"
        );
        assert_eq!(error.to_string(), expected);
    }
    let zeinfo = format!("kernels:\n  - name: k\n    payload_arguments:\n{pieces}");
    let parameters = ZeInfo::parse(&zeinfo).unwrap().parameters("k");
    assert_eq!(parameters[1].type_name, ";16");
}

/// Local memory is spelled out, without an alignment: arguments in it are aligned for every type. Of the offset, only four
/// bytes are used.
#[test]
fn local_memory() {
    let slm = ", addrmode: shared_local_memory, addrspace: local";
    let pieces = piece("arg_bypointer", 8, 8, 1, slm) + &piece("arg_bypointer", 16, 8, 2, slm);
    let found = run(&pieces, vec![Argument::Local(4), Argument::Local(4)]).unwrap();
    assert_eq!(found, [128, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
}

/// What the metadata do not list is an error, not 0: at the end of the payload and between other pieces.
#[test]
fn inputs_that_are_not_listed() {
    let value = |offset, size| piece("arg_byvalue", offset, size, 1, "");
    let one = |size| vec![Argument::Value(vec![1; size])];
    for (pieces, arguments, missing) in [
        (value(8, 4), one(4), "bytes 48 to 56"),
        (value(16, 8), one(8), "bytes 40 to 44"),
        (String::new(), vec![], "bytes 40 to 44, bytes 48 to 56"),
    ] {
        let error = run(&pieces, arguments).unwrap_err();
        assert!(matches!(error, LaunchError::Payload(_)), "{error}");
        let text = error.to_string();
        let begins = format!(
            "the kernel wants {missing} of its payload, and the metadata do not tell what to put there: "
        );
        assert!(text.starts_with(&begins), "{text}");
    }
    run(
        &(value(8, 4) + &piece("arg_byvalue", 16, 8, 2, "")),
        vec![Argument::Value(vec![1; 4]), Argument::Value(vec![1; 8])],
    )
    .unwrap();
}

/// Offsets of buffers are not listed: one for each pointer that is used through a surface. The kernel adds them, and they
/// are 0. What it does anything else with is something else, such as the number of dimensions.
#[test]
fn offsets_of_buffers_are_none() {
    let add = TEXT.replace(
        "mov (M1, 1) D(0,2)<1> W(0,0)<0;1,0>",
        "add (M1, 1) D(0,2)<1> W(0,0)<0;1,0> 0x5:d",
    );
    let value = piece("arg_byvalue", 16, 8, 1, "");
    let surface = piece(
        "arg_bypointer",
        0,
        0,
        0,
        ", addrmode: stateful, addrspace: global",
    );
    let one = || vec![Argument::Value(vec![1; 8])];
    let both = value.clone() + &surface;
    let found = run_text(&add, &both, one()).unwrap();
    assert_eq!(found, [1, 1, 1, 1, 1, 1, 1, 1, 5, 0, 0, 0]);
    assert!(run_text(TEXT, &both, one()).is_err());
    assert!(run_text(&add, &value, one()).is_err());
}
