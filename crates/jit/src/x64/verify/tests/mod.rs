//! Code that nobody's template writes: what is refused, and why.

use super::super::registers::*;
use super::super::{Assembler, Condition, Label, ops};
use super::*;
use iced_x86::{Code, OpKind, Register};

mod compute;
mod kinds;
mod machine;
mod mutants;
mod operands;

/// Where the data are that a program with a register file of 64 bytes shares with the host.
mod field {
    pub(super) const FILE: i64 = 0;
    pub(super) const PLAIN: i64 = 8;
    pub(super) const FUNCTION: i64 = 16;
    pub(super) const LOCAL: i64 = 24;
    pub(super) const LOCAL_BYTES: i64 = 32;
    pub(super) const CODE: i64 = 40;
    pub(super) const RUNNING: i64 = 48;
    pub(super) const OWN: i64 = 56;
    pub(super) const COMPANION: i64 = 80;
    pub(super) const FOLLOWER: i64 = 88;
    pub(super) const FOLLOWERS_END: i64 = 96;
    pub(super) const READ_ONLY: i64 = 104;
    pub(super) const SPLIT: i64 = 112;
    pub(super) const STORAGE: i64 = 120;
    pub(super) const STORAGE_MASK: i64 = 128;
    pub(super) const SURFACES: i64 = 136;
    pub(super) const SURFACE_COUNT: i64 = 144;
    pub(super) const LANES: i64 = 152;
    pub(super) const CLOSED: i64 = 408;
    pub(super) const OTHER_LANES: i64 = 416;
    pub(super) const KEEPING: i64 = 424;
    pub(super) const CONSTANTS: i64 = 432;
    /// Of threads.
    pub(super) const FIRST: i64 = 440;
    pub(super) const THREAD_FILE: i64 = 440;
    pub(super) const THREAD_LANES: i64 = 448;
    pub(super) const THREAD_CODE: i64 = 456;
    pub(super) const THREAD_PLAIN: i64 = 464;
    pub(super) const THREAD_OWN: i64 = 472;
    pub(super) const THREAD_BYTES: i64 = 64;
}

const FILE_BYTES: usize = 64;

fn frame() -> Frame {
    use Field::*;
    let function = |keeps_file, returns_code, parts| Function {
        keeps_file,
        returns_code,
        parts,
    };
    let lanes = |of_both| Lanes { of_both };
    let mut fields = vec![
        File,
        Plain,
        function(false, false, false),
        Local,
        LocalBytes,
        Code,
    ];
    fields.extend([lanes(true), lanes(true), Plain, Plain, Companion]);
    fields.extend([
        Follower,
        FollowersEnd,
        ReadOnly,
        function(false, true, true),
    ]);
    fields.extend([Storage, StorageMask, Surfaces, SurfaceCount]);
    fields.extend([Offsets; 32]);
    fields.extend([
        Closed,
        lanes(false),
        function(true, false, false),
        Constants,
    ]);
    Frame {
        fields,
        follower: field::FIRST,
        follower_fields: vec![
            File,
            lanes(false),
            Code,
            Plain,
            lanes(false),
            Plain,
            Plain,
            Companion,
        ],
        region_shift: 5,
        region: [0, 8, 16],
        most_local: 0x7fff_ffff,
        lanes: 0xff,
        file_bytes: FILE_BYTES,
    }
}

/// Constants: dwords that are four apart, qwords that are, no bit and every bit.
fn constants() -> Vec<u8> {
    let dwords = (0..16_u32).flat_map(|n| (4 * n).to_le_bytes());
    let qwords = (0..8_u64).flat_map(|n| (4 * n).to_le_bytes());
    let all = dwords.chain(qwords).chain([0; 64]).chain([0xff; 64]);
    all.collect()
}

/// Code that the host may enter at a label before these lines; a further label is the end.
fn written(lines: impl FnOnce(&mut Assembler, Label)) -> (Assembler, [Label; 2]) {
    let mut asm = Assembler::default();
    let [start, end] = [asm.label(), asm.label()];
    let saved = [RBX, RBP, R12, R13, R14, R15];
    asm.ret();
    asm.place(end);
    asm.add(RSP, 8);
    for register in saved.into_iter().rev() {
        asm.pop(register);
    }
    asm.ret();
    asm.place(start);
    lines(&mut asm, end);
    asm.close();
    (asm, [start, end])
}

/// Why code is refused that the host may enter at a label before these lines.
fn refused(lines: impl FnOnce(&mut Assembler, Label)) -> Option<Reason> {
    let (mut asm, [start, end]) = written(lines);
    let (items, labels) = asm.items();
    let found = verify(
        items,
        labels,
        (&[start, end], end),
        (&frame(), &constants()),
    );
    let reason = found.err().map(|refused| refused.reason);
    // What is not refused is code.
    assert!(reason.is_some() || asm.encode(&[start, end]).is_some());
    reason
}

/// Of shared local memory: its address in `rdi`, its bytes in `r9`, without so many.
fn local(asm: &mut Assembler, bytes: u32, otherwise: Label) {
    asm.mov(RDI, Memory::at(R15, field::LOCAL));
    asm.mov(R9, Memory::at(R15, field::LOCAL_BYTES));
    asm.sub(R9, bytes);
    asm.jump_if(Condition::Below, otherwise);
}

/// Compares the offset in `rax` with them.
fn compare(asm: &mut Assembler, otherwise: Label) {
    asm.cmp(RAX, R9);
    asm.jump_if(Condition::Above, otherwise);
}

/// What code does is known on all ways that lead there, in every turn.
#[test]
fn proven() {
    let there = Memory::at(RDI, 0).indexed(RAX, Width::Byte);
    let cases: [(&str, Option<Reason>, kinds::Write<'_>); 20] = [
        ("nothing", None, &|asm, end| asm.jump(end)),
        ("the register file", None, &|asm, end| {
            asm.mov(RAX, Memory::at(RBX, 56));
            asm.jump(end);
        }),
        (
            "beyond the register file",
            Some(Reason::Outside),
            &|asm, end| {
                asm.mov(RAX, Memory::at(RBX, 57));
                asm.jump(end);
            },
        ),
        (
            "a place that nobody shares",
            Some(Reason::Outside),
            &|asm, end| {
                asm.mov(RAX, Memory::at(R15, field::CLOSED));
                asm.jump(end);
            },
        ),
        (
            "a register that was not written",
            Some(Reason::Undefined),
            &|asm, end| {
                asm.mov(RCX, RAX);
                asm.jump(end);
            },
        ),
        ("memory that was compared", None, &|asm, end| {
            asm.mov(RAX, Memory::at(RBX, 0));
            local(asm, 4, end);
            compare(asm, end);
            asm.store(there, RAX.low(Width::Dword));
            asm.jump(end);
        }),
        (
            "more than was compared",
            Some(Reason::Outside),
            &|asm, end| {
                asm.mov(RAX, Memory::at(RBX, 0));
                local(asm, 4, end);
                compare(asm, end);
                asm.store(there, RAX);
                asm.jump(end);
            },
        ),
        (
            "further than was compared",
            Some(Reason::Outside),
            &|asm, end| {
                asm.mov(RAX, Memory::at(RBX, 0));
                local(asm, 4, end);
                compare(asm, end);
                asm.store(there.further(1), RAX.low(Width::Dword));
                asm.jump(end);
            },
        ),
        (
            "an offset that was written since",
            Some(Reason::Outside),
            &|asm, end| {
                asm.mov(RAX, Memory::at(RBX, 0));
                local(asm, 4, end);
                compare(asm, end);
                asm.add(RAX, 1);
                asm.store(there, RAX.low(Width::Dword));
                asm.jump(end);
            },
        ),
        (
            "a comparison on one of two ways",
            Some(Reason::Outside),
            &|asm, end| {
                let after = asm.label();
                asm.mov(RAX, Memory::at(RBX, 0));
                local(asm, 4, end);
                asm.test(RAX, 1);
                asm.jump_if(Condition::Equal, after);
                compare(asm, end);
                asm.place(after);
                asm.store(there, RAX.low(Width::Dword));
                asm.jump(end);
            },
        ),
        ("a comparison on both ways", None, &|asm, end| {
            let [other, after] = [asm.label(), asm.label()];
            asm.mov(RAX, Memory::at(RBX, 0));
            local(asm, 4, end);
            asm.test(RAX, 1);
            asm.jump_if(Condition::Equal, other);
            compare(asm, end);
            asm.jump(after);
            asm.place(other);
            compare(asm, end);
            asm.place(after);
            asm.store(there, RAX.low(Width::Dword));
            asm.jump(end);
        }),
        ("an offset that stays in a loop", None, &|asm, end| {
            let again = asm.label();
            asm.mov(RAX, Memory::at(RBX, 0));
            local(asm, 4, end);
            compare(asm, end);
            asm.place(again);
            asm.store(there, RAX.low(Width::Dword));
            asm.sub(R14, 1);
            asm.jump_if(Condition::AboveOrEqual, again);
            asm.jump(end);
        }),
        (
            "an offset that changes in a loop",
            Some(Reason::Outside),
            &|asm, end| {
                let again = asm.label();
                asm.mov(RAX, Memory::at(RBX, 0));
                local(asm, 4, end);
                compare(asm, end);
                asm.place(again);
                asm.store(there, RAX.low(Width::Dword));
                asm.mov(RAX, Memory::at(RBX, 8));
                asm.sub(R14, 1);
                asm.jump_if(Condition::AboveOrEqual, again);
                asm.jump(end);
            },
        ),
        (
            "a comparison of an earlier turn",
            Some(Reason::Outside),
            &|asm, end| {
                let [again, first] = [asm.label(), asm.label()];
                asm.mov(RAX, Memory::at(RBX, 0));
                local(asm, 4, end);
                compare(asm, end);
                asm.jump(first);
                asm.place(again);
                compare(asm, end);
                asm.mov(RAX, Memory::at(RBX, 8));
                asm.place(first);
                asm.store(there, RAX.low(Width::Dword));
                asm.sub(R14, 1);
                asm.jump_if(Condition::AboveOrEqual, again);
                asm.jump(end);
            },
        ),
        ("after a call", Some(Reason::Undefined), &|asm, end| {
            asm.mov(R12, Memory::at(RBX, 0));
            asm.mov(RDI, R15);
            asm.call(Memory::at(R15, 16));
            asm.mov(RAX, Memory::at(RBX, 0));
            asm.jump(end);
        }),
        ("after a call that moves the file", None, &|asm, end| {
            asm.mov(RDI, R15);
            asm.call(Memory::at(R15, 16));
            asm.mov(RBX, Memory::at(R15, 0));
            asm.mov(RAX, Memory::at(RBX, 0));
            asm.jump(end);
        }),
        ("a call of a number", Some(Reason::Target), &|asm, end| {
            asm.mov(RDI, R15);
            asm.call(Memory::at(R15, 8));
            asm.jump(end);
        }),
        ("a jump to a number", Some(Reason::Target), &|asm, _| {
            asm.jump_to(Memory::at(R15, 8));
        }),
        ("a number as code", Some(Reason::Outside), &|asm, end| {
            asm.store(Memory::at(R15, 40), R14);
            asm.jump(end);
        }),
        (
            "registers of the caller",
            Some(Reason::Agreement),
            &|asm, end| {
                asm.pop(RAX);
                asm.jump(end);
            },
        ),
    ];
    kinds::assert(&cases);
}
