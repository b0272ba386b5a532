//! Instructions that do, or access, something else than it seems.

use super::kinds::{assert, region, shared};
use super::*;

/// Offsets of lanes in shared local memory, as vectors of this width: whether they are inside is known.
fn compared(asm: &mut Assembler, end: Label, limits: fn(u32) -> Vector) {
    local(asm, 4, end);
    asm.v2(ops::MOVE, zmm(8), Memory::at(RBX, 0));
    asm.v2(ops::LOAD_D, xmm(2), R9D);
    asm.v2(ops::BROADCAST_D, limits(2), xmm(2));
    asm.v3(ops::MIN_UD, zmm(3), zmm(8), zmm(2));
    asm.v3(ops::XOR, zmm(3), zmm(3), zmm(8));
    asm.v3(ops::MASK_OF_BITS_D, Mask::K2, zmm(3), zmm(3));
    asm.mask_any(Mask::K2);
    asm.jump_if(Condition::NotEqual, end);
}

/// What is known of lanes is known of those that were compared, or stored.
#[test]
fn widths() {
    let gathered = |limits: fn(u32) -> Vector| {
        move |asm: &mut Assembler, end: Label| {
            compared(asm, end, limits);
            asm.mask_all(Mask::K2);
            let there = Memory::at(RDI, 0).indexed(zmm(8), Width::Byte);
            asm.v2(ops::MASKED_GATHER_D_D, zmm(9), there);
            asm.mask(Mask::K2);
            asm.jump(end);
        }
    };
    let stored = |store: fn(&mut Assembler)| {
        move |asm: &mut Assembler, end: Label| {
            compared(asm, end, zmm);
            asm.mask_from(Mask::K1, R12D);
            store(asm);
            asm.mov(ECX, 7);
            let offset = shared(field::LANES).indexed(RCX, Width::Dword);
            asm.mov(EDX, offset);
            asm.mov(EAX, Memory::at(RDI, 0).indexed(RDX, Width::Byte));
            asm.jump(end);
        }
    };
    let index = |at: i64, index: Vector, op: ops::Op| {
        move |asm: &mut Assembler, end: Label| {
            asm.v2(ops::MOVE, index, Memory::at(RBP, at));
            asm.mask_all(Mask::K2);
            let to = if index == zmm(1) { zmm(2) } else { ymm(18) };
            let to = if op == ops::MASKED_GATHER_Q_D {
                ymm(18)
            } else {
                to
            };
            let there = Memory::at(RBX, 0).indexed(index, Width::Byte);
            asm.v2(op, to, there);
            asm.mask(Mask::K2);
            asm.jump(end);
        }
    };
    let row: fn(&mut Assembler) = |asm| asm.v2(ops::STORE, shared(field::LANES), zmm(8));
    assert(&[
        ("all that were compared", None, &gathered(zmm)),
        ("half was compared", Some(Reason::Outside), &gathered(ymm)),
        ("stored", None, &stored(row)),
        (
            "stored under a mask",
            Some(Reason::Outside),
            &stored(|asm| {
                asm.v2(ops::STORE, shared(field::LANES), zmm(8));
                asm.mask(Mask::K1);
            }),
        ),
        (
            "half is stored",
            Some(Reason::Outside),
            &stored(|asm| {
                asm.v2(ops::STORE, shared(field::LANES), xmm(8));
            }),
        ),
        (
            "a lane is stored",
            Some(Reason::Outside),
            &stored(|asm| {
                asm.v2(ops::STORE, shared(field::LANES), zmm(8));
                asm.v2i(ops::EXTRACT_D, shared(field::LANES), xmm(8), 0);
            }),
        ),
        (
            "narrowed",
            Some(Reason::Outside),
            &stored(|asm| {
                asm.v2(ops::NARROW_D_W, shared(field::LANES), zmm(8));
            }),
        ),
        ("constants", None, &index(0, zmm(1), ops::MASKED_GATHER_D_D)),
        (
            "constants of qwords",
            None,
            &index(64, zmm(1), ops::MASKED_GATHER_Q_D),
        ),
        (
            "dwords as qwords",
            Some(Reason::Outside),
            &index(0, zmm(1), ops::MASKED_GATHER_Q_D),
        ),
        (
            "an embedded broadcast",
            Some(Reason::Unknown),
            &|asm, end| {
                asm.v2(ops::MOVE, zmm(8), Memory::at(RBX, 0));
                asm.v3(ops::XOR, zmm(3), zmm(8), Memory::at(RBP, 0));
                asm.change(|last| last.set_is_broadcast(true));
                asm.jump(end);
            },
        ),
    ]);
}

/// Offsets of 64 bits that become such of 32, two vectors in one, are inside if those were, and if they have no more bits.
#[test]
fn narrowed() {
    type Write = fn(&mut Assembler, Label);
    // The region, what becomes of its size, when it is compared, how the offsets are narrowed.
    let gathered = |cut: Write, small: Write, narrow: Write| {
        move |asm: &mut Assembler, end: Label| {
            region(asm);
            asm.mov(R9, Memory::at(RCX, 8));
            asm.mov(R10, Memory::at(RCX, 16));
            cut(asm, end);
            asm.sub(R9, 4);
            asm.jump_if(Condition::Below, end);
            asm.v2(ops::BROADCAST_NUMBER_Q, zmm(2), R9);
            for n in [8, 9] {
                asm.v2(ops::MOVE, zmm(n), Memory::at(RBX, 0));
                asm.v3i(ops::MASK_OF_UQ, Mask::K2, zmm(n), zmm(2), 2);
                if n == 9 {
                    asm.mask(Mask::K2);
                }
            }
            asm.mask_to(ECX, Mask::K2);
            asm.cmp(ECX, 0xff);
            asm.jump_if(Condition::NotEqual, end);
            small(asm, end);
            narrow(asm, end);
            asm.mask_all(Mask::K2);
            let there = Memory::at(R10, 0).indexed(zmm(8), Width::Byte);
            asm.v2(ops::MASKED_GATHER_D_D, zmm(1), there);
            asm.mask(Mask::K2);
            asm.jump(end);
        }
    };
    let shuffled = |low: u32, from: u32| {
        move |asm: &mut Assembler, end: Label| {
            region(asm);
            asm.mov(R9, Memory::at(RCX, 8));
            asm.mov(R10, Memory::at(RCX, 16));
            asm.sub(R9, 4);
            asm.jump_if(Condition::Below, end);
            asm.v2(ops::FROM_Q, xmm(2), R9);
            asm.v2(ops::BROADCAST_Q, ymm(2), xmm(2));
            asm.v2(ops::MOVE, ymm(8), Memory::at(RBX, 0));
            asm.v2(ops::MOVE, ymm(9), Memory::at(RBX, 32));
            asm.v3(ops::GREATER_Q, ymm(3), ymm(8), ymm(2));
            asm.v3(ops::OR, ymm(3), ymm(3), ymm(8));
            asm.v2(ops::SIGNS_PD, ECX, ymm(3));
            asm.test(ECX, ECX);
            asm.jump_if(Condition::NotEqual, end);
            asm.cmp(R9, i32::MAX);
            asm.jump_if(Condition::Above, end);
            asm.v3i(ops::SHUFFLE_PS, ymm(8), ymm(8), ymm(from), low);
            asm.v2i(ops::PERMUTE_Q_IMM, ymm(8), ymm(8), 0b1101_1000);
            asm.v3(ops::EQUAL_D, ymm(3), ymm(3), ymm(3));
            let there = Memory::at(R10, 0).indexed(ymm(8), Width::Byte);
            asm.v3(ops::GATHER_D_D, ymm(1), there, ymm(3));
            asm.jump(end);
        }
    };
    let nothing: Write = |_, _| {};
    let small: Write = |asm, end| {
        asm.cmp(R9, i32::MAX);
        asm.jump_if(Condition::Above, end);
    };
    let narrow: Write = |asm, _| {
        asm.v2(ops::NARROW_Q_D, ymm(8), zmm(8));
        asm.v2(ops::NARROW_Q_D, ymm(9), zmm(9));
        asm.v3i(ops::INSERT_HALF, zmm(8), zmm(8), ymm(9), 1);
    };
    let outside = Some(Reason::Outside);
    assert(&[
        ("all", None, &gathered(nothing, small, narrow)),
        ("shuffled", None, &shuffled(0b1000_1000, 8)),
        ("upper dwords", outside, &shuffled(0b1101_1000, 8)),
        ("others", outside, &shuffled(0b1000_1000, 9)),
        ("any size", outside, &gathered(nothing, nothing, narrow)),
        (
            "one bit more",
            outside,
            &gathered(
                nothing,
                |asm, end| {
                    asm.cmp(R9, -1);
                    asm.jump_if(Condition::Above, end);
                },
                narrow,
            ),
        ),
        (
            "a size that was cut since",
            outside,
            &gathered(
                nothing,
                |asm, end| {
                    asm.sub(R9, 96);
                    asm.jump_if(Condition::Below, end);
                    asm.cmp(R9, i32::MAX);
                    asm.jump_if(Condition::Above, end);
                },
                narrow,
            ),
        ),
        (
            "a part of the size",
            outside,
            &gathered(
                |asm, _| {
                    asm.mov(R8, R9);
                    asm.mov(EAX, 64);
                    asm.cmp(R8, RAX);
                    asm.mov_if(Condition::Above, R8, RAX);
                },
                |asm, end| {
                    asm.cmp(R8, i32::MAX);
                    asm.jump_if(Condition::Above, end);
                },
                narrow,
            ),
        ),
        (
            "half",
            outside,
            &gathered(nothing, small, |asm, _| {
                asm.v2(ops::NARROW_Q_D, ymm(8), zmm(8));
            }),
        ),
        (
            "dwords",
            outside,
            &gathered(nothing, small, |asm, _| {
                asm.v2(ops::NARROW_Q_D, ymm(9), zmm(9));
                asm.v3i(ops::INSERT_HALF, zmm(8), zmm(8), ymm(9), 1);
            }),
        ),
        (
            "the lower half twice",
            outside,
            &gathered(nothing, small, |asm, _| {
                asm.v2(ops::NARROW_Q_D, ymm(9), zmm(9));
                asm.v3i(ops::INSERT_HALF, zmm(8), zmm(9), ymm(9), 0);
            }),
        ),
    ]);
}

/// Instructions of which there is no row, and those whose prefixes or operands make them others.
#[test]
fn unknown() {
    let unknown = Some(Reason::Unknown);
    let there = Memory::at(RBX, 0);
    assert(&[
        ("no row", unknown, &|asm, _| asm.emit(Code::Cpuid, &[])),
        ("a call of the system", unknown, &|asm, _| {
            asm.emit(Code::Syscall, &[]);
        }),
        ("memory that is not named", unknown, &|asm, _| {
            asm.emit(Code::Stosq_m64_RAX, &[]);
        }),
        ("memory on the stack", unknown, &|asm, _| {
            asm.emit(Code::Push_rm64, &[Memory::at(RBX, 0).into()]);
        }),
        ("a jump near by", unknown, &|asm, _| {
            asm.emit(Code::Jmp_rel32_64, &[]);
        }),
        ("a call near by", unknown, &|asm, _| {
            asm.emit(Code::Call_rel32_64, &[]);
        }),
        (
            "a row without its operands",
            Some(Reason::Target),
            &|asm, _| {
                asm.emit(Code::Jmp_rm64, &[]);
                asm.change(|last| last.set_op0_kind(OpKind::NearBranch64));
            },
        ),
        ("memory of no size", unknown, &|asm, _| {
            asm.emit(Code::Fxsave_m512byte, &[there.into()]);
        }),
        ("another segment", unknown, &|asm, end| {
            asm.mov(RAX, there);
            asm.change(|last| last.set_segment_prefix(Register::FS));
            asm.jump(end);
        }),
        ("a repetition", unknown, &|asm, end| {
            asm.mov(ECX, 1);
            asm.mov(EAX, 1);
            asm.lowest_bit(EAX, ECX);
            asm.change(|last| last.set_has_rep_prefix(true));
            asm.jump(end);
        }),
        ("a lock", unknown, &|asm, end| {
            asm.add_to(shared(field::PLAIN), R13);
            asm.change(|last| last.set_has_lock_prefix(true));
            asm.jump(end);
        }),
        (
            "an address of 32 bits",
            Some(Reason::Outside),
            &|asm, end| {
                asm.mov(RAX, Memory::at(EBX, 0));
                asm.jump(end);
            },
        ),
        ("an index of 32 bits", Some(Reason::Outside), &|asm, end| {
            asm.mov(ECX, 1);
            asm.mov(RAX, there.indexed(ECX, Width::Qword));
            asm.jump(end);
        }),
        ("an index of 64 bits", None, &|asm, end| {
            asm.mov(ECX, 1);
            asm.mov(RAX, there.indexed(RCX, Width::Qword));
            asm.jump(end);
        }),
        ("a sum of 32 bits", unknown, &|asm, end| {
            asm.lea(RAX, Memory::at(EBX, 8));
            asm.jump(end);
        }),
    ]);
}

/// What the host computes is what is thought that it computes.
#[test]
fn numbers() {
    let shifted = |shift: fn(&mut Assembler)| {
        move |asm: &mut Assembler, end: Label| {
            asm.mov(EAX, Memory::at(RBX, 0));
            shift(asm);
            asm.mov(RCX, Memory::at(RBX, 0).indexed(RAX, Width::Qword));
            asm.jump(end);
        }
    };
    let found = |register: Number| {
        move |asm: &mut Assembler, end: Label| {
            asm.mov(RCX, Memory::at(RBX, 0));
            asm.mov(EAX, 0);
            asm.test(register, register);
            asm.jump_if(Condition::Equal, end);
            asm.lowest_bit(EAX, ECX);
            asm.mov(RDX, Memory::at(RBX, 0).indexed(RAX, Width::Byte));
            asm.jump(end);
        }
    };
    assert(&[
        (
            "shifted to the right",
            None,
            &shifted(|asm| asm.shr(EAX, 29)),
        ),
        (
            "by all bits",
            Some(Reason::Outside),
            &shifted(|asm| asm.shr(EAX, 32)),
        ),
        ("by more", None, &shifted(|asm| asm.shr(EAX, 32 + 29))),
        (
            "to the left by all",
            Some(Reason::Outside),
            &shifted(|asm| asm.shl(EAX, 32)),
        ),
        (
            "of 64 bits",
            Some(Reason::Outside),
            &shifted(|asm| asm.shl(RAX, 64)),
        ),
        ("any of 64 bits", Some(Reason::Outside), &found(RCX)),
        ("any of 32 bits", None, &|asm, end| {
            asm.mov(ECX, Memory::at(RBX, 0));
            asm.test(ECX, ECX);
            asm.jump_if(Condition::Equal, end);
            asm.lowest_bit(EAX, ECX);
            asm.mov(RDX, Memory::at(RBX, 0).indexed(RAX, Width::Byte));
            asm.jump(end);
        }),
    ]);
}

/// Instructions of systolic products, which read all that they name as sources, and no more than their memory.
#[test]
fn products() {
    type Write = fn(&mut Assembler, u32, Memory);
    let all: [(&str, bool, Write); 5] = [
        ("sums of products", true, |asm, n, there| {
            asm.v3(ops::FMA_SUM_PD, zmm(0), zmm(n), there);
        }),
        ("smaller words", false, |asm, n, there| {
            asm.v3(ops::MIN_UW, zmm(0), zmm(n), there);
        }),
        ("larger words", false, |asm, n, there| {
            asm.v3(ops::MAX_UW, zmm(0), zmm(n), there);
        }),
        ("products of words", false, |asm, n, there| {
            asm.v3(ops::MUL_ADD_W, zmm(0), zmm(n), there);
        }),
        ("shifted words", false, |asm, n, there| {
            asm.v2i(ops::SAR_W_IMM, zmm(2), zmm(n), 8);
            asm.v2(ops::MOVE, zmm(0), there);
        }),
    ];
    for (what, reads_first, write) in all {
        let lines = |first: u32, from: u32, at: i64| {
            move |asm: &mut Assembler, end: Label| {
                for n in first..2 {
                    asm.v2(ops::MOVE, zmm(n), Memory::at(RBX, 0));
                }
                write(asm, from, Memory::at(RBX, at));
                asm.jump(end);
            }
        };
        let of_sum = reads_first.then_some(Reason::Undefined);
        assert(&[
            (what, None, &lines(0, 1, 0)),
            (what, of_sum, &lines(1, 1, 0)),
            (what, Some(Reason::Undefined), &lines(0, 3, 0)),
            (what, Some(Reason::Outside), &lines(0, 1, 1)),
        ]);
    }
}

/// Registers that are read without being named as sources.
#[test]
fn read() {
    let undefined = Some(Reason::Undefined);
    let there = Memory::at(RBX, 0);
    assert(&[
        ("the first of three sources", undefined, &|asm, end| {
            asm.v2(ops::MOVE, ymm(1), there);
            asm.v3(ops::FMA_PS, ymm(0), ymm(1), ymm(1));
            asm.jump(end);
        }),
        ("lanes that are not enabled", undefined, &|asm, end| {
            asm.mask_all(Mask::K1);
            asm.v2(ops::MOVE, zmm(1), there);
            asm.v3(ops::ADD_D, zmm(0), zmm(1), zmm(1));
            asm.mask(Mask::K1);
            asm.jump(end);
        }),
        ("the same of zeros", undefined, &|asm, end| {
            asm.mask_all(Mask::K1);
            asm.v3(ops::XOR, zmm(0), zmm(1), zmm(1));
            asm.mask(Mask::K1);
            asm.jump(end);
        }),
        ("lanes that become zero", None, &|asm, end| {
            asm.mask_all(Mask::K1);
            asm.v3(ops::XOR, zmm(0), zmm(1), zmm(1));
            asm.mask_or_zero(Mask::K1);
            asm.jump(end);
        }),
        ("lanes that are not gathered", undefined, &|asm, end| {
            asm.v2(ops::MOVE, zmm(1), Memory::at(RBP, 0));
            asm.mask_from(Mask::K1, R12D);
            asm.v2(
                ops::MASKED_GATHER_D_D,
                zmm(0),
                there.indexed(zmm(1), Width::Byte),
            );
            asm.mask(Mask::K1);
            asm.jump(end);
        }),
        ("what is exchanged", undefined, &|asm, end| {
            asm.exchange_if_same(there, R13);
            asm.jump(end);
        }),
        ("what stays without a bit", undefined, &|asm, end| {
            asm.mov(ECX, there);
            asm.lowest_bit(EAX, ECX);
            asm.jump(end);
        }),
        ("flags of nobody", undefined, &|asm, end| {
            asm.mov_if(Condition::Above, R13, R14);
            asm.jump(end);
        }),
        ("what is borrowed of nobody", undefined, &|asm, end| {
            asm.sbb(EAX, EAX);
            asm.jump(end);
        }),
    ]);
}
