//! What reaches the screen: keys, pasted text, and the end.
//!
//! One thread reads the terminal as long as the screen is shown and keeps everything in order, so that no key is lost
//! while a command runs. It cannot be relied on for the end of a terminal: crossterm 0.29 tries again forever where
//! reading fails. The end comes from signals ([`Ender`]) and from asking the terminal itself.

use ratatui::crossterm::event::{self, Event, KeyCode, KeyModifiers};
use ratatui::crossterm::terminal::window_size;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;
use visakit_exec::Interrupt;

/// How often the terminal is asked whether it is still there.
const ASK: Duration = Duration::from_secs(1);

/// What reaches the screen.
#[derive(Debug)]
pub(crate) enum Message {
    /// An event of the terminal.
    Event(Event),
    /// Nobody looks any more.
    End,
}

/// Events in order of arrival.
#[derive(Debug)]
pub struct Inbox {
    sender: Sender<Message>,
    receiver: Receiver<Message>,
    /// Whether a command runs, which Ctrl-C and Esc stop.
    running: Arc<AtomicBool>,
    interrupt: Interrupt,
}

/// Ends the screen from another thread.
#[derive(Clone, Debug)]
pub struct Ender {
    sender: Sender<Message>,
    interrupt: Interrupt,
}

impl Ender {
    /// Stops the command that runs, and ends the screen.
    pub fn end(&self) {
        self.interrupt.raise();
        // If nobody receives it, the screen has ended.
        let _ = self.sender.send(Message::End);
    }
}

/// The events of an [`Inbox`], from the thread that has them.
#[derive(Clone, Debug)]
pub struct Feed {
    sender: Sender<Message>,
    running: Arc<AtomicBool>,
    interrupt: Interrupt,
}

impl Feed {
    /// Takes an event: one that stops the command that runs does so, others wait for their turn. Returns whether anybody
    /// will see further ones.
    pub fn send(&self, event: Event) -> bool {
        if self.running.load(SeqCst) && stops(&event) {
            self.interrupt.raise();
            return true;
        }
        self.sender.send(Message::Event(event)).is_ok()
    }

    fn listen(self) {
        while let Ok(event) = event::read() {
            if !self.send(event) {
                return;
            }
        }
        let _ = self.sender.send(Message::End);
    }
}

/// Whether it stops a run.
fn stops(event: &Event) -> bool {
    let Event::Key(key) = event else { return false };
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    key.code == KeyCode::Esc || key.code == KeyCode::Char('c') && control
}

impl Inbox {
    /// An empty one; runs are stopped through the interrupt of their session.
    #[must_use]
    pub fn new(interrupt: Interrupt) -> Self {
        let (sender, receiver) = channel();
        Self {
            sender,
            receiver,
            running: Arc::default(),
            interrupt,
        }
    }

    /// A way to end the screen.
    #[must_use]
    pub fn ender(&self) -> Ender {
        Ender {
            sender: self.sender.clone(),
            interrupt: self.interrupt.clone(),
        }
    }

    /// A way to put events in.
    #[must_use]
    pub fn feed(&self) -> Feed {
        Feed {
            sender: self.sender.clone(),
            running: self.running.clone(),
            interrupt: self.interrupt.clone(),
        }
    }

    /// Reads the terminal from now on.
    pub(crate) fn listen(&self) {
        let feed = self.feed();
        std::thread::spawn(|| feed.listen());
    }

    /// What comes next. `there` tells whether the terminal still exists.
    pub(crate) fn next(&self, there: impl Fn() -> bool) -> Message {
        loop {
            match self.receiver.recv_timeout(ASK) {
                Ok(message) => return message,
                Err(RecvTimeoutError::Timeout) if there() => {}
                Err(_) => return Message::End,
            }
        }
    }

    /// What comes next, if it is there already.
    pub(crate) fn arrived(&self) -> Option<Message> {
        self.receiver.try_recv().ok()
    }

    /// Does something that Ctrl-C and Esc stop.
    pub(crate) fn while_stoppable<T>(&self, work: impl FnOnce() -> T) -> T {
        self.running.store(true, SeqCst);
        let done = work();
        self.running.store(false, SeqCst);
        self.interrupt.lower();
        done
    }
}

/// Whether the terminal still exists.
pub(crate) fn is_there() -> bool {
    window_size().is_ok()
}
