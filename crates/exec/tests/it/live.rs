//! What may be read again, before each instruction of small programs.

#![allow(missing_docs, clippy::unwrap_used)]

use crate::common::program;
use visakit_exec::Options;
use visakit_exec::code::Liveness;

/// The names of live variables before each instruction, labels of joins included; `-` where they cannot be determined.
fn live(lines: &str, ends: bool) -> Vec<String> {
    let mut text = ".version 4.1\n.kernel \"k\"\n".to_owned();
    for name in ["A", "B", "C", "E", "T"] {
        text += &format!(".decl {name} v_type=G type=d num_elts=16 align=GRF\n");
    }
    for name in ["I", "S"] {
        text += &format!(".decl {name} v_type=G type=d num_elts=1 align=dword\n");
    }
    text +=
        ".decl P1 v_type=P num_elts=16\n.decl Z v_type=A num_elts=1\n.kernel_attr SimdSize=16\n";
    let program = program(&format!("{text}{lines}ret (M1, 1)\n"), &Options::default());
    let code = program.code();
    let Some(liveness) = Liveness::new(code, program.addressed(), ends) else {
        return vec!["-".to_owned()];
    };
    let mut found: Vec<String> = Vec::new();
    for (number, step) in code.steps.iter().enumerate() {
        let instruction = step.origin.instruction as usize;
        if step.origin.op.is_none() || instruction < found.len() {
            continue;
        }
        let mut walk = liveness.walk(code, number).unwrap();
        walk.go(number);
        let is_live = |name: &&str| {
            let slot = program.variable(name).unwrap();
            walk.live().any(&(slot.offset..slot.offset + slot.bytes))
        };
        let names = ["A", "B", "C", "E", "I", "S", "T"];
        found.push(names.into_iter().filter(is_live).collect());
    }
    found
}

#[test]
fn one_after_the_other() {
    let lines = "mov (M1, 16) A(0,0)<1> 0x1:d
mov (M1, 16) B(0,0)<1> 0x2:d
add (M1, 16) C(0,0)<1> A(0,0)<1;1,0> B(0,0)<1;1,0>
add (M1, 16) C(0,0)<1> C(0,0)<1;1,0> A(0,0)<1;1,0>
mov (M1, 16) T(0,0)<1> C(0,0)<1;1,0>
";
    assert_eq!(live(lines, false), ["", "A", "AB", "AC", "C", ""]);
    // Everything is read at the end, unless it is overwritten before.
    let rest = ["EIS", "AEIS", "ABEIS", "ABCEIS", "ABCEIS", "ABCEIST"];
    assert_eq!(live(lines, true), rest);
    // What is predicated, or of some lanes only, leaves something.
    let some = "(P1) mov (M1, 16) A(0,0)<1> 0x1:d
mov (M1, 8) B(0,0)<1> 0x1:d
add (M1, 16) C(0,0)<1> A(0,0)<1;1,0> B(0,0)<1;1,0>
";
    assert_eq!(live(some, false), ["AB", "AB", "AB", ""]);
}

#[test]
fn in_a_loop() {
    let lines = "mov (M1_NM, 1) I(0,0)<1> 0x0:d
L0:
add (M1, 16) A(0,0)<1> A(0,0)<1;1,0> I(0,0)<0;1,0>
mov (M1, 16) T(0,0)<1> A(0,0)<1;1,0>
add (M1, 16) B(0,0)<1> B(0,0)<1;1,0> T(0,0)<1;1,0>
add (M1_NM, 1) I(0,0)<1> I(0,0)<0;1,0> 0x1:d
cmp.lt (M1_NM, 16) P1 I(0,0)<0;1,0> 0xa:d
(P1) jmp (M1, 1) L0
mov (M1, 16) C(0,0)<1> B(0,0)<1;1,0>
";
    let expected = ["AB", "ABI", "ABI", "ABIT", "ABI", "ABI", "ABI", "B", ""];
    assert_eq!(live(lines, false), expected);
}

/// Lanes that jump wait for the others, which overwrite what both read afterwards.
#[test]
fn of_lanes_that_wait() {
    let lines = |write: &str| {
        format!(
            "cmp.lt (M1, 16) P1 A(0,0)<1;1,0> B(0,0)<1;1,0>
(P1) goto (M1, 16) L1
mov (M1, 16) T(0,0)<1> B(0,0)<1;1,0>
{write}
L1:
add (M1, 16) C(0,0)<1> A(0,0)<1;1,0> S(0,0)<0;1,0>
"
        )
    };
    // Elements that belong to a lane are overwritten for those that have not jumped; the others keep theirs.
    let own = live(&lines("mov (M1, 16) A(0,0)<1> T(0,0)<1;1,0>"), false);
    assert_eq!(own, ["ABS", "ABS", "BS", "ST", "AS", "AS", "S"]);
    // If a single lane reads what all have, it is of the thread, which goes on with those that wait.
    let shared = "mov (M1, 16) A(0,0)<1> A(0,3)<0;1,0>";
    let shared = live(&lines(shared), false);
    assert_eq!(shared, ["ABS", "ABS", "ABS", "AS", "AS", "AS", "AS"]);
    // Whatever lanes run, this one is overwritten.
    let masked = live(&lines("mov (M1_NM, 1) S(0,0)<1> 0x1:d"), false);
    assert_eq!(masked, ["ABS", "ABS", "AB", "A", "AS", "AS", "S"]);
}

#[test]
fn what_is_not_followed() {
    // An address may point at any variable whose address is taken.
    let lines = "addr_add (M1, 1) Z(0)<1> &A 0x0:uw
mov (M1, 16) A(0,0)<1> 0x1:d
mov (M1, 16) C(0,0)<1> r[Z(0),0]<1;1,0>:d
";
    assert_eq!(live(lines, false), ["A", "A", "A", "A"]);
    // Callees are not analysed.
    let lines = "call (M1, 16) SUB
ret (M1, 1)
.function \"SUB\"
SUB:
mov (M1, 16) A(0,0)<1> 0x1:d
";
    assert_eq!(live(lines, false), ["-"]);
}

/// What lanes load overwrites what they had, whatever memory the message reaches.
#[test]
fn of_what_messages_load() {
    for memory in ["slm", "ugm"] {
        for of in ["flat", "bti(0x2)", "bti(S)", "bss(S)", "ss(S)"] {
            if memory == "slm" && of != "flat" {
                continue;
            }
            let lines = format!(
                "lsc_load.{memory} (M1, 16) B:d32 {of}[A]:a32
lsc_store.{memory} (M1, 16) {of}[A]:a32 B:d32
lsc_load.{memory} (M1, 16) B:d32 {of}[A]:a32
add (M1, 16) C(0,0)<1> A(0,0)<1;1,0> B(0,0)<1;1,0>
"
            );
            let s = if of.contains('S') { "S" } else { "" };
            let expected = [
                &format!("A{s}"),
                &format!("AB{s}"),
                &format!("A{s}"),
                "AB",
                "",
            ];
            assert_eq!(live(&lines, false), expected, "{memory} {of}");
            // If it is predicated, something of it is left.
            let some = lines.replacen("lsc_load", "(P1) lsc_load", 2);
            let expected = [
                &format!("AB{s}"),
                &format!("AB{s}"),
                &format!("AB{s}"),
                "AB",
                "",
            ];
            assert_eq!(live(&some, false), expected, "{memory} {of}");
        }
    }
}
