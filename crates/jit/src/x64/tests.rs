//! What is written is what was meant, or nothing.

use super::*;
use iced_x86::{Code, Encoder, Instruction};

/// What is written by `lines`.
fn code(lines: impl FnOnce(&mut Assembler)) -> Option<Vec<u8>> {
    let mut asm = Assembler::default();
    lines(&mut asm);
    asm.close();
    Some(asm.encode(&[])?.bytes)
}

/// Jumps are encoded as by the library that encodes all other instructions.
#[test]
fn jumps() {
    let all = [
        (Condition::Overflow, Code::Jo_rel32_64),
        (Condition::Below, Code::Jb_rel32_64),
        (Condition::AboveOrEqual, Code::Jae_rel32_64),
        (Condition::Equal, Code::Je_rel32_64),
        (Condition::NotEqual, Code::Jne_rel32_64),
        (Condition::BelowOrEqual, Code::Jbe_rel32_64),
        (Condition::Above, Code::Ja_rel32_64),
        (Condition::Parity, Code::Jp_rel32_64),
        (Condition::Less, Code::Jl_rel32_64),
        (Condition::GreaterOrEqual, Code::Jge_rel32_64),
        (Condition::LessOrEqual, Code::Jle_rel32_64),
        (Condition::Greater, Code::Jg_rel32_64),
    ];
    for (condition, expected) in all {
        // Bytes between the jump and its target: the distance has one byte or four.
        for between in [0, 123, 200] {
            let found = code(|asm| {
                let target = asm.label();
                asm.jump_if(condition, target);
                (0..between).for_each(|_| asm.emit(Code::Nopd, &[]));
                asm.place(target);
            });
            let is_short = between < 124;
            let mut encoder = Encoder::new(64);
            let expected = match is_short {
                true => expected.as_short_branch(),
                false => expected,
            };
            let size = if is_short { 2 } else { 6 };
            let jump = Instruction::with_branch(expected, size + between).unwrap();
            encoder.encode(&jump, 0).unwrap();
            let expected = encoder.take_buffer();
            assert_eq!(found.unwrap().get(..expected.len()), Some(&expected[..]));
        }
    }
}

/// Every operation has the encoding of each form that its row names, with the operands that templates give it.
#[test]
fn forms() {
    type Write<'a> = &'a dyn Fn(&mut Assembler);
    let forms: [(Write<'_>, &[u8]); 9] = [
        // vpaddd xmm0, xmm1, xmm2
        (
            &|asm| asm.v3(ops::ADD_D, xmm(0), xmm(1), xmm(2)),
            &[0xc5, 0xf1, 0xfe, 0xc2],
        ),
        // vpaddd ymm0, ymm1, ymm2
        (
            &|asm| asm.v3(ops::ADD_D, ymm(0), ymm(1), ymm(2)),
            &[0xc5, 0xf5, 0xfe, 0xc2],
        ),
        // vpaddd zmm0, zmm1, zmm2
        (
            &|asm| asm.v3(ops::ADD_D, zmm(0), zmm(1), zmm(2)),
            &[0x62, 0xf1, 0x75, 0x48, 0xfe, 0xc2],
        ),
        // vmovdqu32 ymm16, [rax]: only the long form names the register.
        (
            &|asm| asm.v2(ops::MOVE, ymm(16), Memory::at(RAX, 0)),
            &[0x62, 0xe1, 0x7e, 0x28, 0x6f, 0x00],
        ),
        // add rax, 127 and 128: the shortest immediate.
        (&|asm| asm.add(RAX, 127), &[0x48, 0x83, 0xc0, 0x7f]),
        (&|asm| asm.and(ECX, u32::MAX), &[0x83, 0xe1, 0xff]),
        (&|asm| asm.cmp(ECX, 0x80), &[0x81, 0xf9, 0x80, 0, 0, 0]),
        // mov [rbx+rcx*8+8], sil: the register of bytes that is meant.
        (
            &|asm| {
                let there = Memory::at(RBX, 8).indexed(RCX, Width::Qword);
                asm.store(there, RSI.low(Width::Byte));
            },
            &[0x40, 0x88, 0x74, 0xcb, 0x08],
        ),
        (
            &|asm| asm.mov(EAX, u32::MAX),
            &[0xb8, 0xff, 0xff, 0xff, 0xff],
        ),
    ];
    for (lines, expected) in forms {
        let found = code(lines).unwrap();
        assert_eq!(found.get(..expected.len()), Some(expected));
    }
}

/// There is no code where the processor would do anything else than what was meant.
#[test]
fn refused() {
    type Write<'a> = &'a dyn Fn(&mut Assembler);
    let far = Memory::at(RAX, 1 << 31);
    let near = Memory::at(RAX, (1 << 31) - 1);
    assert!(code(|asm| asm.mov(EAX, near)).is_some());
    let refused: [(&str, Write<'_>); 15] = [
        ("a label that is nowhere", &|asm| {
            let label = asm.label();
            asm.jump(label);
        }),
        ("a label that was taken back", &|asm| {
            let label = asm.label();
            asm.jump(label);
            let mark = asm.mark();
            asm.place(label);
            asm.back(mark);
        }),
        ("a label at two places", &|asm| {
            let label = asm.label();
            asm.place(label);
            asm.emit(Code::Nopd, &[]);
            asm.place(label);
        }),
        ("a displacement of 33 bits", &|asm| asm.mov(EAX, far)),
        ("a displacement that overflows", &|asm| {
            asm.mov(EAX, near.further(i64::MAX));
        }),
        ("a width without an instruction", &|asm| {
            asm.v2(ops::EXTRACT_QUARTER, ymm(0), ymm(0));
        }),
        ("a register that the short form has not", &|asm| {
            asm.v3(ops::EQUAL_D, ymm(0), ymm(0), ymm(16));
        }),
        ("a vector that does not exist", &|asm| {
            asm.v3(ops::ADD_D, zmm(0), zmm(0), zmm(32));
        }),
        ("a register of another width", &|asm| {
            asm.v3(ops::ADD_D, xmm(0), xmm(0), ymm(0));
        }),
        ("numbers of two widths", &|asm| asm.add(RAX, ECX)),
        ("a place in memory as a number", &|asm| asm.test(EAX, near)),
        ("a mask that would be ignored", &|asm| {
            asm.v2(ops::MOVE, ymm(0), near);
            asm.mask(Mask::K1);
        }),
        ("a lock of an instruction that has none", &|asm| {
            asm.store(near, EAX);
            asm.lock();
        }),
        ("a shift by nine bits of number", &|asm| asm.shl(EAX, 256)),
        ("an immediate of 33 bits", &|asm| {
            asm.store_number(near, u32::MAX);
        }),
    ];
    for (what, lines) in refused {
        assert!(code(lines).is_none(), "{what}");
    }
}
