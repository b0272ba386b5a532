//! Commands and their output.

use crate::{bare, blur};
use std::fmt::Write;
use visakit_debug::{Console, Stop};

pub(crate) fn transcript(console: &mut Console, commands: &[&str]) -> String {
    let mut all = String::new();
    for command in commands {
        writeln!(all, "> {command}").unwrap();
        match console.run(command) {
            Ok(reply) => all.push_str(&reply.text),
            Err(error) => writeln!(all, "error: {error}").unwrap(),
        }
    }
    all
}

#[test]
fn a_session() {
    let mut console = blur();
    let commands = [
        "info run",
        "break :15 if any($gid0 == 70)",
        "break nowhere",
        "continue",
        "info threads",
        "source 1",
        "info operands",
        "print $gid0",
        "print all($mask != 0) && V111[2] > 1.0e0",
        "bt",
        "list",
        "watch out[70]",
        "continue",
        "print out[70]",
        "x/4 slm.f[0]",
        "info breakpoints",
        "rc",
        "thread 0",
        "info lanes",
        "thread 9",
        "print out[",
        "print nothing",
        "frob",
    ];
    insta::assert_snapshot!(transcript(&mut console, &commands));
}

/// Expressions that would take all of the stack, or all of the time, are refused.
#[test]
fn expressions_have_limits() {
    let mut console = blur();
    let mut said = |expression: String| match console.run(&format!("print {expression}")) {
        Ok(reply) => reply.text,
        Err(error) => error.to_string(),
    };
    let sum = |terms: usize| vec!["1"; terms].join("+");
    assert!(said(sum(1000)).contains("1000"));
    for terms in [2000, 100_000, 1_000_000] {
        for operator in ["+", "&&", "||", "*"] {
            let long = sum(terms).replace('+', operator);
            assert!(said(long).contains("too many operators"), "{terms}");
        }
    }
    assert!(said(format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000))).contains("too deep"));
    for nested in ["all(all(1))", "any(1 + all(V111))", "all(out[any(1)])"] {
        assert!(
            said(nested.to_owned()).contains("of all lanes already"),
            "{nested}"
        );
    }
    assert!(!said("any(1) && all(1)".to_owned()).contains("already"));
}

/// It begins at the beginning, wherever the session is.
#[test]
fn runs_come_to_the_same_breakpoint() {
    let mut console = blur();
    console.run("break :15").unwrap();
    let first = console.run("run").unwrap().text;
    assert!(first.starts_with("breakpoint 1"), "{first}");
    console.run("continue").unwrap();
    assert_eq!(console.run("r").unwrap().text, first);
}

/// Faults stop the run before the instruction, with its initial state.
#[test]
fn a_fault_stands_still() {
    let text = "\
.version 4.1
.kernel \"store\"
.decl V32 v_type=G type=ud num_elts=8 align=hword
.decl V33 v_type=G type=uq num_elts=8 align=hword
  mov (M1, 8) V32(0,0)<1> 0x7:ud
  mov (M1, 8) V33(0,0)<1> 0x0:uq
  lsc_store.ugm (M1, 8) flat[V33]:a64 V32:d32
  ret (M1, 8)
";
    let mut console = bare(text, &[]);
    let said = console.run("continue").unwrap().text;
    assert!(matches!(console.session.stop(), Stop::Fault(_)), "{said}");
    assert!(said.contains("lsc_store"), "{said}");
    assert_eq!(console.session.time().step, 2);
    assert_eq!(console.run("print V32[3]").unwrap().text, "7\n");
    // Trying again faults again, any number of times, and the run can go back before it.
    console.run("continue").unwrap();
    assert!(matches!(console.session.stop(), Stop::Fault(_)));
    console.run("rsi").unwrap();
    assert_eq!(console.session.time().step, 1);
}

/// Steps into, over and out of subroutines.
#[test]
fn calls() {
    let text = "\
.version 4.1
.kernel \"calls\"
.decl V32 v_type=G type=d num_elts=8 align=hword
  add (M1, 8) V32(0,0)<1> V32(0,0)<1;1,0> 0x1:d
  call (M1, 8) twice
  add (M1, 8) V32(0,0)<1> V32(0,0)<1;1,0> 0x5:d
  ret (M1, 8)
.function \"twice\"
  shl (M1, 8) V32(0,0)<1> V32(0,0)<1;1,0> 0x1:d
  ret (M1, 8)
";
    let mut console = bare(text, &[("V32", "1,2,3")]);
    console.run("si").unwrap();
    console.run("ni").unwrap();
    assert_eq!(console.run("print V32[2]").unwrap().text, "8\n");
    console.run("rni").unwrap();
    assert_eq!(console.run("print V32[2]").unwrap().text, "4\n");
    console.run("si").unwrap();
    let frames = console.run("bt").unwrap().text;
    assert_eq!(frames.lines().count(), 2, "{frames}");
    console.run("finish").unwrap();
    let frames = console.run("bt").unwrap().text;
    assert_eq!(frames.lines().count(), 1, "{frames}");
    assert_eq!(console.run("print V32[2]").unwrap().text, "8\n");
    console.run("watch V32").unwrap();
    let said = console.run("c").unwrap().text;
    assert!(
        said.contains("was 4 6 8 2 2 2 2 2, is 9 11 13 7 7 7 7 7"),
        "{said}"
    );
}

/// What an argument in local memory points to is known by its name, without debug information.
#[test]
fn arguments_in_local_memory_have_names() {
    let mut console = crate::blur::blur();
    let commands = [
        "info locals",
        "break blur.cl:8",
        "continue",
        "print tile[1]",
        "print tile[65]",
        "print tile[66]",
        "set tile[1] = 0.5",
        "print tile[1] + tile[2]",
        "print tile",
    ];
    insta::assert_snapshot!(transcript(&mut console, &commands));
}
