//! The debugger as a process.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

/// A routine that does not terminate.
const SPIN: &str = "\
.version 4.1
.kernel \"spin\"
.decl D v_type=G type=d num_elts=8 align=GRF
.kernel_attr SimdSize=8
mov (M1, 8) D(0,0)<1> 0x7:d
spin:
add (M1, 8) D(0,0)<1> D(0,0)<1;1,0> 0x0:d
jmp (M1, 1) spin
ret (M1, 1)
";

fn interrupt(child: &Child) {
    let mut kill = Command::new("kill");
    kill.args(["-INT", &child.id().to_string()]);
    assert!(kill.status().unwrap().success());
}

/// Ctrl-C stops the run, and the session continues, any number of times.
#[test]
fn a_signal_stops_the_run_and_not_the_session() {
    let file = crate::file("debug_signal.visaasm");
    std::fs::write(&file, SPIN).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_visakit"))
        .args(["debug", "--bare", "--batch", "-"])
        .arg(&file)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut commands = child.stdin.take().unwrap();
    commands
        .write_all(b"stepi\ncontinue\nprint D[3]\nset D[3] = 9\ncontinue\nprint D[3]\n")
        .unwrap();
    drop(commands);
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut transcript = Vec::new();
    for _ in 0..2 {
        let mut until = |wanted: &str| {
            for line in said.by_ref() {
                let line = line.unwrap();
                let found = line.contains(wanted);
                transcript.push(line);
                if found {
                    return;
                }
            }
            panic!("no {wanted:?} in {transcript:#?}");
        };
        until("(visakit) continue");
        // Before the run has begun the signal takes effect as well.
        std::thread::sleep(std::time::Duration::from_millis(200));
        interrupt(&child);
        until("interrupted");
    }
    transcript.extend(said.map(|line| line.unwrap()));
    assert_eq!(child.wait().unwrap().code(), Some(0), "{transcript:#?}");
    let after = |command: &str| {
        let commands = transcript.iter().enumerate();
        let found = commands.filter(|(_, line)| line.ends_with(command));
        let next = found.filter_map(|(at, _)| transcript.get(at + 1));
        next.map(String::as_str).collect::<Vec<_>>()
    };
    assert_eq!(after("print D[3]"), ["7", "9"], "{transcript:#?}");
}
