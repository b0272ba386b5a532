//! Processes with limits: compilers, and other implementations of OpenCL.

use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

/// Limits of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Seconds for a source of one program; one of several gets more.
    pub seconds: u64,
    /// Bytes of address space.
    pub bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            seconds: 60,
            bytes: 8 << 30,
        }
    }
}

impl Limits {
    /// The time for a source of some programs.
    pub(crate) fn time(&self, programs: usize) -> Duration {
        let more = u64::try_from(programs / 4).unwrap_or(0);
        Duration::from_secs(self.seconds.saturating_mul(1 + more))
    }

    /// A shell sets the limit of memory and becomes the program.
    pub(crate) fn command(&self, program: &Path) -> Command {
        if !cfg!(unix) {
            return Command::new(program);
        }
        let kilobytes = self.bytes / 1024;
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg(format!(
                "ulimit -c 0; ulimit -v {kilobytes}; exec \"$0\" \"$@\""
            ))
            .arg(program);
        #[cfg(unix)]
        {
            use std::os::unix::process::CommandExt as _;
            command.process_group(0);
        }
        command
    }
}

/// Runs a process; `None` if it was stopped after its time.
pub(crate) fn ended(mut command: Command, time: Duration) -> io::Result<Option<ExitStatus>> {
    let mut child = command.spawn()?;
    let started = Instant::now();
    let mut pause = Duration::from_millis(2);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if started.elapsed() > time {
            if cfg!(unix) {
                // All of its group: a script has children of its own.
                let _ = Command::new("kill")
                    .args(["-KILL", "--", &format!("-{}", child.id())])
                    .status();
            }
            let _ = child.kill();
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}
