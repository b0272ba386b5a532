//! Starting the threads of a group again, where only the place of the group differs.

#![allow(missing_docs, clippy::unwrap_used)]

use crate::common::program;
use visakit_exec::{Group, Limits, Memory, Options, Program, ThreadStart};

/// Writes to an input, between two inputs, to the thread header and to predefined variables.
const KERNEL: &str = ".version 4.1
.kernel \"k\"
.decl A v_type=G type=d num_elts=8 align=GRF
.decl B v_type=G type=d num_elts=8 align=GRF
.decl C v_type=G type=d num_elts=8 align=GRF
.decl D v_type=G type=d num_elts=8 align=GRF
.decl E v_type=G type=d num_elts=8 align=GRF
.decl H v_type=G type=d num_elts=8 align=GRF alias=<%r0, 0>
.decl G v_type=G type=ud num_elts=1 align=dword alias=<%group_id_y, 0>
.decl O v_type=G type=d num_elts=128 align=GRF
.decl P1 v_type=P num_elts=8
.input A offset=32 size=32
.input C offset=64 size=32
.input D offset=96 size=16
.input E offset=0 size=32
.kernel_attr SimdSize=8
mov (M1_NM, 1) %cr0(0,0)<1> 0x4c0:ud
cmp.lt (M1, 8) P1 A(0,0)<1;1,0> C(0,0)<1;1,0>
add (M1, 8) A(0,0)<1> A(0,0)<1;1,0> D(0,0)<1;1,0>
mov (M1, 8) B(0,0)<1> H(0,0)<1;1,0>
(P1) mov (M1, 2) D(0,0)<1> 0x7:d
mov (M1, 8) H(0,0)<1> 0x9:d
add (M1_NM, 1) G(0,0)<1> G(0,0)<0;1,0> 0x5:ud
mov (M1, 8) O(0,0)<1> E(0,0)<1;1,0>
ret (M1, 1)
";

fn start(group: u32, bytes: usize) -> ThreadStart {
    let word = |n: u32| n.wrapping_mul(0x9e37_79b1).to_le_bytes();
    let header = (0..8).map(|n| 1000 * group + n).flat_map(u32::to_le_bytes);
    let rest = (8..32).flat_map(word);
    ThreadStart {
        image: header.chain(rest).take(bytes).collect(),
        mask: 0xff,
        group_id: [group, group + 1, group + 2],
        local_size: [8, 1, 1],
        ..ThreadStart::default()
    }
}

fn registers(group: &Group) -> Vec<u8> {
    group.thread(0).unwrap().registers().to_vec()
}

/// The variables after the run are those of a new group: what is not reset is written before it is read.
fn check(program: &Program, group: &mut Group, start: &ThreadStart) {
    let (memory, limits) = (Memory::new(0), Limits::default());
    let mut new = Group::new(program, 0, std::slice::from_ref(start), &limits).unwrap();
    new.run(program, &memory, &limits, &mut ()).unwrap();
    group.run(program, &memory, &limits, &mut ()).unwrap();
    for name in ["A", "B", "C", "D", "E", "G", "H", "O", "P1"] {
        let slot = program.variable(name).unwrap();
        let [old, new] = [&*group, &new].map(|group| group.thread(0).unwrap().read(&slot));
        assert_eq!(old, new, "{name} at the end");
    }
}

#[test]
fn the_next_group_starts_like_a_new_one() {
    let program = program(KERNEL, &Options::default());
    let limits = Limits::default();
    // An image that fills all inputs, and shorter ones.
    for bytes in [128, 112, 100, 40, 16, 0] {
        let first = start(1, bytes);
        let mut group = Group::new(&program, 0, std::slice::from_ref(&first), &limits).unwrap();
        check(&program, &mut group, &first);
        for number in 2..5 {
            let next = start(number, bytes);
            group
                .next(&program, 0, std::slice::from_ref(&next), &limits)
                .unwrap();
            check(&program, &mut group, &next);
        }
        // Any other start is examined again.
        let other = ThreadStart {
            local_size: [4, 4, 4],
            cr0: 0x4c0,
            ..start(7, 64)
        };
        group
            .reset(&program, 0, std::slice::from_ref(&other), &limits)
            .unwrap();
        let new = Group::new(&program, 0, std::slice::from_ref(&other), &limits).unwrap();
        assert!(registers(&group) == registers(&new), "all is set back");
        check(&program, &mut group, &other);
        // More threads are, too.
        let two = [start(1, bytes), start(1, bytes)];
        group.next(&program, 0, &two, &limits).unwrap();
        check(&program, &mut group, &two[0]);
    }
}

/// What a program reads before it writes it, on some path and for some lane, is the same as in a new
/// thread.
fn found(lines: &str, mask: u32) {
    let text = format!(
        ".version 4.1\n.kernel \"k\"\n\
         .decl A v_type=G type=d num_elts=32 align=GRF\n\
         .decl B v_type=G type=d num_elts=16 align=GRF\n\
         .decl R v_type=G type=d num_elts=16 align=GRF\n\
         .decl W v_type=G type=w num_elts=32 align=GRF alias=<B, 0>\n\
         .decl H v_type=G type=d num_elts=8 align=GRF alias=<%r0, 0>\n\
         .decl P1 v_type=P num_elts=16\n\
         .decl Z v_type=A num_elts=1\n\
         .kernel_attr SimdSize=16\n{lines}\nret (M1, 1)\n"
    );
    let program = program(&text, &Options::default());
    let limits = Limits::default();
    let memory = Memory::new(0);
    // Bit n of the header controls lane n; it differs from group to group.
    let start = |bits: u32| ThreadStart {
        image: bits.to_le_bytes().repeat(8),
        mask,
        ..ThreadStart::default()
    };
    let result = |group: &Group| {
        let slot = program.variable("R").unwrap();
        group.thread(0).unwrap().read(&slot).to_vec()
    };
    let mut group = Group::new(&program, 0, &[start(0xffff)], &limits).unwrap();
    group.run(&program, &memory, &limits, &mut ()).unwrap();
    for bits in [0x0f0f, 0, 0xffff, 0x8001, 0xff00, 0x1234] {
        let mut new = Group::new(&program, 0, &[start(bits)], &limits).unwrap();
        new.run(&program, &memory, &limits, &mut ()).unwrap();
        group.next(&program, 0, &[start(bits)], &limits).unwrap();
        group.run(&program, &memory, &limits, &mut ()).unwrap();
        assert!(
            result(&group) == result(&new),
            "{bits:#x} of {mask:#x}: {lines}"
        );
    }
}

#[test]
fn what_is_read_first_is_set_back() {
    let setp = "setp (M1_NM, 16) P1 H(0,0)<0;1,0>\n";
    let all = "mov (M1, 16) R(0,0)<1> 0x1:d\n";
    for lines in [
        // Written under a predicate, or in another branch, then read.
        "(P1) mov (M1, 16) A(0,0)<1> 0x5:d\nadd (M1, 16) R(0,0)<1> A(0,0)<1;1,0> 0x3:d",
        "(P1) goto (M1, 16) L1\nmov (M1, 16) A(0,0)<1> 0x5:d\nL1:\nadd (M1, 16) R(0,0)<1> A(0,0)<1;1,0> 0x3:d",
        // Each lane its own, but then those of others.
        "(P1) goto (M1, 16) L1\nmov (M1, 16) A(0,0)<1> 0x5:d\nmov (M1_NM, 16) R(0,0)<1> A(0,0)<1;1,0>\nL1:",
        "(P1) goto (M1, 16) L1\nmov (M1, 16) A(0,0)<1> 0x5:d\nmov (M1, 16) R(0,0)<1> A(0,3)<0;1,0>\nL1:",
        "(P1) goto (M1, 16) L1\nmov (M1, 8) A(0,0)<1> 0x5:d\nmov (M1, 16) R(0,0)<1> A(0,0)<2;1,0>\nL1:",
        // Words that belong to other lanes than dwords do.
        "(P1) goto (M1, 16) L1\nmov (M1, 16) W(0,0)<1> 0x5:w\nmov (M1, 8) R(0,0)<1> B(0,0)<1;1,0>\nL1:",
        // A loop that reads what its last round wrote.
        "mov (M1, 1) B(0,0)<1> 0x0:d\nL0:\nadd (M1, 16) A(0,0)<1> A(0,0)<1;1,0> 0x3:d\nadd (M1_NM, 1) B(0,0)<1> B(0,0)<0;1,0> 0x1:d\ncmp.lt (M1_NM, 1) P1 B(0,0)<0;1,0> 0x4:d\n(P1) jmp (M1, 1) L0\nmov (M1, 16) R(0,0)<1> A(0,0)<1;1,0>",
        // By address.
        "addr_add (M1_NM, 1) Z(0)<1> &A 0x0:w\nmov (M1, 16) R(0,0)<1> r[Z(0),0]<1;1,0>:d\nmov (M1, 16) A(0,0)<1> 0x7:d",
        // Read by all before it is written, in a block that is left and in one that is not.
        "mov (M1, 16) R(0,0)<1> A(0,0)<1;1,0>\nmov (M1, 16) A(0,0)<1> 0x7:d",
        "(P1) jmp (M1, 1) L1\nmov (M1, 16) A(0,0)<1> 0x5:d\nL1:\nmov (M1, 16) R(0,0)<1> A(0,0)<1;1,0>",
    ] {
        let lines = format!("{setp}{all}{lines}");
        for mask in [0xffff, 0x7fff, 0x00f0] {
            found(&lines, mask);
        }
    }
}
