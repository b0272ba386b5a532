//! One kind of code that is unsafe after the other, each beside code that is not.

use super::*;

pub(super) type Write<'a> = &'a dyn Fn(&mut Assembler, Label);

/// Each code is refused for this reason, or it is not; what is not refused of codes that were made of these at random stays
/// inside.
pub(super) fn assert(cases: &[(&str, Option<Reason>, Write<'_>)]) {
    let (mut proven, mut ran) = (0, 0);
    for (what, reason, lines) in cases {
        assert_eq!(refused(lines), *reason, "{what}");
        let more = mutants::hold(what, lines);
        (proven, ran) = (proven + more.0, ran + more.1);
    }
    // The machine knows most of the instructions.
    assert!(ran >= 2 * proven, "{ran} runs of {proven}");
}

pub(super) const fn shared(at: i64) -> Memory {
    Memory::at(R15, at)
}

/// Data of the thread at the offset in `rax`.
fn of_thread(at: i64) -> Memory {
    shared(at).indexed(RAX, Width::Byte)
}

/// The region of global memory of the number in `rcx`, in the same register.
pub(super) fn region(asm: &mut Assembler) {
    asm.mov(RCX, Memory::at(RBX, 0));
    asm.and(RCX, shared(field::STORAGE_MASK));
    asm.shl(RCX, 5);
    asm.add(RCX, shared(field::STORAGE));
}

/// The thread that follows, in `rax`; the end if there is none.
pub(super) fn follower(asm: &mut Assembler, end: Label) {
    asm.mov(RAX, shared(field::FOLLOWER));
    asm.cmp(RAX, shared(field::FOLLOWERS_END));
    asm.jump_if(Condition::Equal, end);
}

/// What numbers are is known in all turns of a loop, on all ways in it.
#[test]
fn numbers_that_grow() {
    let grows_to = |most: u32| {
        move |asm: &mut Assembler, end: Label| {
            let [again, other] = [asm.label(), asm.label()];
            asm.mov(ECX, 0);
            asm.test(R13, R13);
            asm.jump_if(Condition::Equal, again);
            asm.mov(ECX, 1);
            asm.place(again);
            asm.test(R14, R14);
            asm.jump_if(Condition::Equal, other);
            asm.mov(RDX, R13);
            asm.place(other);
            asm.mov(RAX, Memory::at(RBX, 0).indexed(RCX, Width::Qword));
            asm.mov(ECX, most);
            asm.sub(R13, 1);
            asm.jump_if(Condition::AboveOrEqual, again);
            asm.jump(end);
        }
    };
    assert(&[
        ("inside", None, &grows_to(7)),
        ("outside", Some(Reason::Outside), &grows_to(8)),
    ]);
}

/// A number that begins again after the last turn of a loop has no other bits than it is given, whatever it is an index of.
#[test]
fn numbers_that_begin_again() {
    let turns = |bits: u32, there: Memory| {
        move |asm: &mut Assembler, end: Label| {
            let again = asm.label();
            asm.xor(ECX, ECX);
            asm.place(again);
            asm.store(there.indexed(RCX, Width::Byte), R14);
            asm.add(ECX, 8);
            asm.and(ECX, bits);
            asm.jump_if(Condition::NotEqual, again);
            asm.jump(end);
        }
    };
    let file = Memory::at(RBX, 0);
    let outside = Some(Reason::Outside);
    assert(&[
        ("inside", None, &turns(0x38, file)),
        ("one turn more", outside, &turns(0x78, file)),
        ("plain data", None, &turns(0, shared(field::PLAIN))),
        (
            "plain data and others",
            outside,
            &turns(8, shared(field::PLAIN)),
        ),
        ("other data", outside, &turns(0, shared(field::FILE))),
    ]);
}

#[test]
fn stack() {
    assert(&[
        ("a number", Some(Reason::Agreement), &|asm, end| {
            asm.add(RSP, 8);
            asm.pop(R15);
            asm.mov(EAX, 0);
            asm.push(RAX);
            asm.sub(RSP, 8);
            asm.jump(end);
        }),
        ("another register", Some(Reason::Agreement), &|asm, end| {
            asm.add(RSP, 8);
            asm.pop(R15);
            asm.pop(R14);
            asm.push(R15);
            asm.push(R14);
            asm.sub(RSP, 8);
            asm.jump(end);
        }),
        ("more words", Some(Reason::Agreement), &|asm, end| {
            asm.sub(RSP, 8);
            asm.jump(end);
        }),
        ("half a word", Some(Reason::Agreement), &|asm, end| {
            asm.add(RSP, 4);
            asm.jump(end);
        }),
        ("moved", Some(Reason::Agreement), &|asm, end| {
            asm.mov(RSP, R13);
            asm.jump(end);
        }),
        ("computed", Some(Reason::Agreement), &|asm, end| {
            asm.lea(RSP, Memory::at(R13, 8));
            asm.jump(end);
        }),
        ("loaded", Some(Reason::Agreement), &|asm, end| {
            asm.mov(ESP, Memory::at(RBX, 0));
            asm.jump(end);
        }),
        ("popped", Some(Reason::Agreement), &|asm, end| {
            asm.add(RSP, 8);
            asm.pop(RSP);
            asm.jump(end);
        }),
        ("read", Some(Reason::Undefined), &|asm, end| {
            asm.mov(RAX, Memory::at(RSP, 0));
            asm.jump(end);
        }),
    ]);
}

/// Numbers of which nothing is known are not all the same, nor are register files.
#[test]
fn numbers_without_a_name() {
    let compared = |compared: Number, used: Number| {
        move |asm: &mut Assembler, end: Label| {
            local(asm, 4, end);
            asm.cmp(compared, R9);
            asm.jump_if(Condition::Above, end);
            let there = Memory::at(RDI, 0).indexed(used, Width::Byte);
            asm.mov(EAX, there);
            asm.jump(end);
        }
    };
    assert(&[
        ("of the host", Some(Reason::Outside), &compared(R13, R14)),
        ("a file", Some(Reason::Outside), &|asm, end| {
            follower(asm, end);
            asm.mov(RCX, of_thread(field::THREAD_FILE));
            local(asm, 4, end);
            asm.cmp(RBX, R9);
            asm.jump_if(Condition::Above, end);
            asm.mov(EAX, Memory::at(RDI, 0).indexed(RCX, Width::Byte));
            asm.jump(end);
        }),
        ("lanes", Some(Reason::Outside), &|asm, end| {
            asm.mov(R13D, R12D);
            asm.and(R13D, 0x81);
            asm.mov(RDI, R15);
            asm.call(shared(field::KEEPING));
            asm.mov(EAX, Memory::at(RBX, 0));
            asm.test(R12D, R12D);
            asm.jump_if(Condition::Equal, end);
            asm.lowest_bit(EAX, R13D);
            asm.mov(ECX, Memory::at(RBX, 0).indexed(RAX, Width::Qword));
            asm.jump(end);
        }),
        ("a smaller one", Some(Reason::Outside), &|asm, end| {
            asm.mov(RDI, shared(field::LOCAL));
            asm.mov(R9, shared(field::LOCAL_BYTES));
            asm.cmp(R9, R13);
            asm.mov_if(Condition::Above, R9, R14);
            asm.sub(R9, 4);
            asm.jump_if(Condition::Below, end);
            asm.mov(RAX, Memory::at(RBX, 0));
            compare(asm, end);
            asm.mov(EAX, Memory::at(RDI, 0).indexed(RAX, Width::Byte));
            asm.jump(end);
        }),
    ]);
}

/// Functions of the host move its memory.
#[test]
fn known_before_a_call() {
    let bytes_of = |calls: bool| {
        move |asm: &mut Assembler, end: Label| {
            region(asm);
            asm.mov(R13, RCX);
            if calls {
                asm.mov(RDI, R15);
                asm.call(shared(field::KEEPING));
            }
            asm.mov(R9, Memory::at(R13, 8));
            asm.jump(end);
        }
    };
    let thread = |calls: bool| {
        move |asm: &mut Assembler, end: Label| {
            follower(asm, end);
            asm.mov(R13, RAX);
            if calls {
                asm.mov(RDI, R15);
                asm.call(shared(field::KEEPING));
            }
            asm.mov(RCX, shared(field::THREAD_PLAIN).indexed(R13, Width::Byte));
            asm.jump(end);
        }
    };
    let file = |function: i64| {
        move |asm: &mut Assembler, end: Label| {
            asm.mov(R13, RBX);
            asm.mov(RDI, R15);
            asm.call(shared(function));
            asm.mov(RAX, Memory::at(R13, 0));
            asm.mov(RBX, shared(field::FILE));
            asm.jump(end);
        }
    };
    assert(&[
        ("a region", None, &bytes_of(false)),
        ("a region of before", Some(Reason::Outside), &bytes_of(true)),
        ("a thread", None, &thread(false)),
        ("a thread of before", Some(Reason::Outside), &thread(true)),
        ("a file", None, &file(field::KEEPING)),
        (
            "a file of before",
            Some(Reason::Undefined),
            &file(field::FUNCTION),
        ),
    ]);
}

#[test]
fn threads() {
    // Goes on with the thread at the offset in `rax`.
    let goes_on = |owner: Number, by: i64| {
        move |asm: &mut Assembler, end: Label| {
            follower(asm, end);
            asm.mov(RCX, RAX);
            asm.mov(RDX, shared(field::FOLLOWER));
            asm.cmp(RDX, shared(field::FOLLOWERS_END));
            asm.jump_if(Condition::Equal, end);
            asm.mov(RBX, of_thread(field::THREAD_FILE));
            asm.store(shared(field::FILE), RBX);
            asm.mov(R12, of_thread(field::THREAD_LANES));
            asm.store(shared(field::RUNNING), R12);
            let own = shared(field::THREAD_OWN).indexed(owner, Width::Byte);
            asm.v2(ops::MOVE, ymm(0), own);
            asm.v2(ops::STORE, shared(field::OWN), ymm(0));
            asm.lea(RAX, Memory::at(RAX, by));
            asm.store(shared(field::FOLLOWER), RAX);
            asm.jump_to(of_thread(field::THREAD_CODE - field::THREAD_BYTES));
        }
    };
    assert(&[
        ("one that follows", None, &|asm, end| {
            follower(asm, end);
            asm.mov(RCX, of_thread(field::THREAD_PLAIN));
            asm.jump(end);
        }),
        ("one that may follow", Some(Reason::Outside), &|asm, end| {
            asm.mov(RAX, shared(field::FOLLOWER));
            asm.mov(RCX, of_thread(field::THREAD_PLAIN));
            asm.jump(end);
        }),
        ("one that does not", Some(Reason::Outside), &|asm, end| {
            let other = asm.label();
            asm.mov(RAX, shared(field::FOLLOWER));
            asm.cmp(RAX, shared(field::FOLLOWERS_END));
            asm.jump_if(Condition::NotEqual, other);
            asm.mov(RCX, of_thread(field::THREAD_PLAIN));
            asm.place(other);
            asm.jump(end);
        }),
        ("the one before", None, &|asm, end| {
            asm.mov(RAX, shared(field::FOLLOWER));
            asm.store(of_thread(field::THREAD_PLAIN - field::THREAD_BYTES), RAX);
            asm.lea(RAX, Memory::at(RAX, -field::THREAD_BYTES));
            asm.mov(RCX, of_thread(field::THREAD_PLAIN));
            asm.jump(end);
        }),
        ("the one before that", Some(Reason::Outside), &|asm, end| {
            asm.mov(RAX, shared(field::FOLLOWER));
            asm.lea(RAX, Memory::at(RAX, -field::THREAD_BYTES));
            asm.lea(RAX, Memory::at(RAX, -field::THREAD_BYTES));
            asm.mov(RCX, of_thread(field::THREAD_PLAIN));
            asm.jump(end);
        }),
        ("the next but one", Some(Reason::Outside), &|asm, end| {
            follower(asm, end);
            asm.lea(RAX, Memory::at(RAX, field::THREAD_BYTES));
            asm.mov(RCX, of_thread(field::THREAD_PLAIN));
            asm.jump(end);
        }),
        (
            "the end of another thread",
            Some(Reason::Outside),
            &|asm, end| {
                asm.mov(RAX, shared(field::FOLLOWER));
                asm.store(shared(field::FOLLOWER), RAX);
                asm.jump(end);
            },
        ),
        ("it goes on", None, &goes_on(RAX, field::THREAD_BYTES)),
        (
            "as another",
            Some(Reason::Outside),
            &goes_on(RDX, field::THREAD_BYTES),
        ),
        ("in the middle", Some(Reason::Outside), &goes_on(RAX, 8)),
        (
            "it goes on by halves",
            Some(Reason::Agreement),
            &|asm, end| {
                follower(asm, end);
                asm.v2(ops::MOVE, ymm(0), of_thread(field::THREAD_OWN));
                asm.v2(ops::STORE, shared(field::OWN), ymm(0));
                asm.jump(end);
            },
        ),
        (
            "an own that was computed",
            Some(Reason::Outside),
            &|asm, end| {
                asm.v2(ops::MOVE, ymm(0), Memory::at(RBX, 0));
                asm.v2(ops::STORE, shared(field::OWN), ymm(0));
                asm.jump(end);
            },
        ),
        ("another end of all", Some(Reason::Outside), &|asm, end| {
            asm.store_number(shared(field::FOLLOWERS_END), 0);
            asm.jump(end);
        }),
        (
            "a number of the host",
            Some(Reason::Outside),
            &|asm, end| {
                asm.store_number(shared(field::READ_ONLY), 1);
                asm.jump(end);
            },
        ),
        ("a number of the host that is read", None, &|asm, end| {
            asm.cmp_memory(Width::Qword, shared(field::READ_ONLY), 0);
            asm.jump(end);
        }),
    ]);
}

#[test]
fn companions() {
    // Whether it is compared before, and what is done in between.
    let goes = |between: fn(&mut Assembler), after: fn(&mut Assembler)| {
        move |asm: &mut Assembler, end: Label| {
            let there = asm.label();
            asm.cmp_memory(Width::Qword, shared(field::COMPANION), 0);
            between(asm);
            asm.jump_if(Condition::NotEqual, there);
            asm.jump(end);
            asm.place(there);
            after(asm);
            asm.jump_to(RCX);
        }
    };
    let loads: fn(&mut Assembler) = |asm| asm.mov(RCX, shared(field::COMPANION));
    let forgets: fn(&mut Assembler) = |asm| asm.store_number(shared(field::COMPANION), 0);
    let nothing: fn(&mut Assembler) = |_| {};
    assert(&[
        ("one that may be null", Some(Reason::Target), &|asm, _| {
            asm.mov(RCX, shared(field::COMPANION));
            asm.jump_to(RCX);
        }),
        ("one in memory", Some(Reason::Target), &|asm, _| {
            asm.jump_to(shared(field::COMPANION));
        }),
        ("one that is not", None, &goes(nothing, loads)),
        (
            "one that becomes null",
            Some(Reason::Target),
            &goes(forgets, loads),
        ),
        (
            "one that became null",
            Some(Reason::Target),
            &goes(nothing, |asm| {
                asm.store_number(shared(field::COMPANION), 0);
                asm.mov(RCX, shared(field::COMPANION));
            }),
        ),
        (
            "its thread",
            None,
            &goes(nothing, |asm| {
                asm.mov(RCX, shared(field::COMPANION));
                asm.store_number(shared(field::COMPANION), 0);
                asm.mov(RAX, shared(field::FOLLOWER));
                asm.mov(RBX, of_thread(field::THREAD_FILE));
            }),
        ),
        ("of half a comparison", Some(Reason::Target), &|asm, end| {
            asm.cmp_memory(Width::Dword, shared(field::COMPANION), 0);
            asm.jump_if(Condition::Equal, end);
            asm.mov(RCX, shared(field::COMPANION));
            asm.jump_to(RCX);
        }),
    ]);
}

#[test]
fn lanes() {
    let both = |asm: &mut Assembler| {
        asm.mov(EAX, R12D);
        asm.shl(EAX, 8);
        asm.or(EAX, R12D);
    };
    let stored = |at: i64| {
        move |asm: &mut Assembler, end: Label| {
            both(asm);
            asm.store(shared(at), RAX);
            asm.jump(end);
        }
    };
    let called = |function: i64| {
        move |asm: &mut Assembler, end: Label| {
            both(asm);
            asm.store(shared(field::RUNNING), RAX);
            asm.mov(RDI, R15);
            asm.call(shared(function));
            asm.mov(RBX, shared(field::FILE));
            asm.mov(R12, shared(field::RUNNING));
            asm.jump(end);
        }
    };
    assert(&[
        ("those that run", None, &|asm, end| {
            asm.store(shared(field::OTHER_LANES), R12);
            asm.or_to(shared(field::OWN), R12D);
            asm.store_number(shared(field::RUNNING), 0xff);
            asm.jump(end);
        }),
        ("any number", Some(Reason::Outside), &|asm, end| {
            asm.store(shared(field::RUNNING), R13);
            asm.jump(end);
        }),
        ("a part of any", Some(Reason::Outside), &|asm, end| {
            asm.store(shared(field::RUNNING), R13D);
            asm.jump(end);
        }),
        ("a number of lanes", Some(Reason::Outside), &|asm, end| {
            asm.store_number(shared(field::OTHER_LANES), 0x100);
            asm.jump(end);
        }),
        ("more of any", Some(Reason::Outside), &|asm, end| {
            asm.or_to(shared(field::OWN), R13D);
            asm.jump(end);
        }),
        ("as a sum", Some(Reason::Outside), &|asm, end| {
            asm.add_to(shared(field::RUNNING), R12);
            asm.jump(end);
        }),
        (
            "of two threads",
            Some(Reason::Agreement),
            &stored(field::RUNNING),
        ),
        (
            "of two as one",
            Some(Reason::Outside),
            &stored(field::OTHER_LANES),
        ),
        ("of two that part", None, &called(field::SPLIT)),
        (
            "of two that do not",
            Some(Reason::Agreement),
            &called(field::FUNCTION),
        ),
        ("of two as an index", Some(Reason::Outside), &|asm, end| {
            both(asm);
            asm.store(shared(field::RUNNING), RAX);
            asm.mov(RCX, shared(field::RUNNING));
            asm.shr(ECX, 5);
            asm.mov(RDX, Memory::at(RBX, 0).indexed(RCX, Width::Qword));
            asm.jump(end);
        }),
        ("of one as an index", None, &|asm, end| {
            asm.mov(RCX, shared(field::RUNNING));
            asm.shr(ECX, 5);
            asm.mov(RDX, Memory::at(RBX, 0).indexed(RCX, Width::Qword));
            asm.jump(end);
        }),
    ]);
}

/// Addresses are stored as a whole.
#[test]
fn sizes() {
    assert(&[
        ("a file", None, &|asm, end| {
            asm.store(shared(field::FILE), RBX);
            asm.jump(end);
        }),
        ("half a file", Some(Reason::Outside), &|asm, end| {
            asm.store(shared(field::FILE), EBX);
            asm.jump(end);
        }),
        (
            "a byte of a companion",
            Some(Reason::Outside),
            &|asm, end| {
                asm.store_byte(shared(field::COMPANION), 0);
                asm.jump(end);
            },
        ),
        ("no code", Some(Reason::Outside), &|asm, end| {
            asm.store_number(shared(field::CODE), 0);
            asm.jump(end);
        }),
        ("half of an own", Some(Reason::Outside), &|asm, end| {
            follower(asm, end);
            asm.v2(ops::MOVE, ymm(0), of_thread(field::THREAD_OWN));
            asm.v2(ops::STORE, shared(field::OWN), xmm(0));
            asm.jump(end);
        }),
        ("an own under a mask", Some(Reason::Outside), &|asm, end| {
            follower(asm, end);
            asm.mask_all(Mask::K1);
            asm.v2(ops::MOVE, ymm(16), of_thread(field::THREAD_OWN));
            asm.v2(ops::STORE, shared(field::OWN), ymm(16));
            asm.mask(Mask::K1);
            asm.jump(end);
        }),
    ]);
}
