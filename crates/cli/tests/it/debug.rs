//! The debugger as a process.

use std::io::{BufRead, BufReader, Read, Write};
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

/// A process that does not outlive its test.
#[cfg(feature = "debugger")]
struct Ended(Child);

#[cfg(feature = "debugger")]
impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The screen ends with its terminal, and when it is told to; a terminal that `script` makes stands in for a user's.
#[cfg(feature = "debugger")]
#[test]
fn the_screen_ends_with_its_terminal() {
    use std::sync::{Arc, Mutex};
    if crate::slowness() > 1 {
        visakit_testing::say(
            "NOT RUN: the screen of the debugger, whose system calls an imitated processor may lack",
        );
        return;
    }
    let file = crate::file("debug_screen.visaasm");
    std::fs::write(&file, SPIN).unwrap();
    for (name, runs) in [
        ("hang-up", false),
        ("hang-up while it runs", true),
        ("SIGTERM", false),
    ] {
        let pid = crate::file("debug_screen.pid");
        let _ = std::fs::remove_file(&pid);
        let command = format!(
            "echo $$ >'{}'; exec '{}' debug --bare '{}'",
            pid.display(),
            env!("CARGO_BIN_EXE_visakit"),
            file.display()
        );
        let terminal = Command::new("script")
            .args(["-qec", &command, "/dev/null"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let Ok(terminal) = terminal else {
            eprintln!("NOT RUN: the screen of the debugger, as there is no `script`");
            return;
        };
        let mut terminal = Ended(terminal);
        let shown = Arc::new(Mutex::new(Vec::new()));
        let mut output = terminal.0.stdout.take().unwrap();
        let copy = Arc::clone(&shown);
        std::thread::spawn(move || {
            let mut some = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut some) {
                copy.lock().unwrap().extend_from_slice(&some[..read]);
            }
        });
        let number = || std::fs::read_to_string(&pid).unwrap_or_default();
        crate::until("a process begins", || number().ends_with('\n'));
        let number = number().trim().to_owned();
        // What a terminal is told first: to show its other screen.
        let screen = b"\x1b[?1049h";
        let is_shown = |all: &[u8]| all.windows(screen.len()).any(|some| some == screen);
        crate::until("there is a screen", || is_shown(&shown.lock().unwrap()));
        if runs {
            terminal.0.stdin.as_mut().unwrap().write_all(b"c").unwrap();
            crate::until_it_runs(number.parse().unwrap());
        }
        if name == "SIGTERM" {
            Command::new("kill").arg(&number).status().unwrap();
        } else {
            terminal.0.kill().unwrap();
        }
        let process = std::path::Path::new("/proc").join(&number);
        crate::until(&format!("{name}: it ends"), || !process.exists());
    }
}

/// GDB learns the names of machine code when it is made, and stops in it.
#[test]
fn gdb_stops_in_machine_code() {
    if visakit_jit::Jit::host().is_none() {
        visakit_testing::say("NOT RUN: names for GDB: there is no machine code for this host");
        return;
    }
    let mut gdb = Command::new("gdb");
    gdb.args(["-batch", "-nx", "-ex", "set breakpoint pending on"]);
    let known = "info functions __jit_debug_register_code";
    for line in [known, "break visakit_entry", "run", "backtrace 1", "kill"] {
        gdb.args(["-ex", line]);
    }
    gdb.args(["--args", env!("CARGO_BIN_EXE_visakit"), "run", "--bare"]);
    gdb.args(["../programs/loops.visaasm", "--set", "N=27", "--jit=always"]);
    gdb.current_dir(crate::OBJECTS).env("VISAKIT_GDB", "1");
    // It would ask servers for what debuggers want to know of the system's libraries.
    let done = gdb.env_remove("DEBUGINFOD_URLS").output();
    let Ok(done) = done else {
        visakit_testing::say("NOT RUN: names for GDB, which is not installed");
        return;
    };
    let told = crate::text(&done.stdout);
    if !told.contains(" __jit_debug_register_code") {
        visakit_testing::say("NOT RUN: names for GDB, as the program was stripped of its symbols");
        return;
    }
    assert!(
        told.contains("Breakpoint 1, 0x"),
        "{told}\n{}",
        crate::text(&done.stderr)
    );
    assert!(told.contains(" in visakit_entry ()"), "{told}");
}
