//! Processes with limits: compilers, and other implementations of OpenCL.

use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

/// Limits of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Seconds of processor time for a source of one program; one of several gets more.
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

/// Seconds that pass for each second of processor time at most: a machine may be busy with other work.
const BUSY: u32 = 20;

/// The signal of a process whose processor time is over.
const OVER: i32 = 24;

impl Limits {
    /// The seconds of processor time for a source of some programs.
    fn seconds(&self, programs: usize) -> u64 {
        let more = u64::try_from(programs / 4).unwrap_or(0);
        self.seconds.saturating_mul(1 + more)
    }

    /// The time after which a process is stopped even if it did nothing.
    pub(crate) fn time(&self, programs: usize) -> Duration {
        Duration::from_secs(self.seconds(programs)).saturating_mul(BUSY)
    }

    /// A shell sets the limits and becomes the program.
    pub(crate) fn command(&self, program: &Path, programs: usize) -> Command {
        if !cfg!(unix) {
            return Command::new(program);
        }
        let kilobytes = self.bytes / 1024;
        let seconds = self.seconds(programs);
        let later = seconds.saturating_add(5);
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg(format!(
                "ulimit -c 0; ulimit -v {kilobytes}; ulimit -S -t {seconds}; ulimit -H -t {later}; exec \"$0\" \"$@\""
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

/// Whether a process ended because its processor time was over, itself or as a child of a shell.
fn is_over(status: ExitStatus) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt as _;
        if status.signal() == Some(OVER) {
            return true;
        }
    }
    status.code() == Some(128 + OVER)
}

/// Runs a process; `None` if it was stopped after its time.
pub(crate) fn ended(mut command: Command, time: Duration) -> io::Result<Option<ExitStatus>> {
    let mut child = command.spawn()?;
    let started = Instant::now();
    let mut pause = Duration::from_millis(2);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status).filter(|status| !is_over(*status)));
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

/// The processor time of this process and of its children that have ended; 0 where the system does not tell.
pub(crate) fn processor_time() -> Duration {
    #[cfg(unix)]
    {
        use nix::sys::resource::{UsageWho, getrusage};
        use nix::sys::time::TimeValLike as _;
        let usages = [UsageWho::RUSAGE_SELF, UsageWho::RUSAGE_CHILDREN];
        let usages = usages.into_iter().filter_map(|who| getrusage(who).ok());
        let times = usages.flat_map(|usage| [usage.user_time(), usage.system_time()]);
        let micros = times.map(|time| u64::try_from(time.num_microseconds()).unwrap_or(0));
        Duration::from_micros(micros.sum())
    }
    #[cfg(not(unix))]
    Duration::ZERO
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "helpers of tests")]

    use super::*;

    /// Waiting is not counted, and work is.
    #[test]
    fn processor_time_is_limited() {
        let limits = Limits {
            seconds: 1,
            ..Limits::default()
        };
        let run = |script: &str| {
            let mut command = limits.command(Path::new("/bin/sh"), 1);
            command.arg("-c").arg(script);
            ended(command, limits.time(1)).unwrap()
        };
        assert!(run("sleep 2").is_some_and(|status| status.success()));
        assert!(run("exit 3").is_some_and(|status| status.code() == Some(3)));
        assert_eq!(run("while :; do :; done"), None);
        assert_eq!(run("sh -c 'while :; do :; done'; exit $?"), None);
    }
}
