//! The debugger of visakit in the terminal.
//!
//! The screen has the program's text, its source if it is available, the lanes of the variables that the next
//! instruction names, threads and calls, and the output of commands. It works from 80 columns and 24 lines
//! upwards.

mod inbox;
mod screen;

pub use inbox::{Ender, Feed, Inbox};

use crate::{Console, Step};
use inbox::Message;
use ratatui::backend::Backend;
use ratatui::crossterm::event::{
    DisableBracketedPaste, EnableBracketedPaste, Event, KeyCode, KeyEvent, KeyEventKind,
    KeyModifiers,
};
use ratatui::crossterm::execute;
use ratatui::{Frame, Terminal};
use std::io;

/// The content of the state pane.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Pane {
    /// Lanes of the variables that the next instruction names, and of those that are kept in view.
    #[default]
    Lanes,
    /// All variables of the routine.
    Variables,
    /// Memory: a buffer, local memory or scratch.
    Memory,
}

/// The screen and its session.
#[derive(Debug)]
pub struct App {
    /// The session.
    pub console: Console,
    /// The content of the state pane.
    pub pane: Pane,
    /// Variables that are kept in view.
    pub kept: Vec<String>,
    /// First line of the pane of state.
    pub scroll: usize,
    /// Which memory is shown.
    pub memory: usize,
    /// The command that is being written, if any.
    pub input: Option<String>,
    /// The output of the last command.
    pub said: Vec<String>,
    /// Whether the keys are shown.
    pub help: bool,
    done: bool,
}

/// Shows a session until the user, or what `with_ender` was given, ends it.
///
/// # Errors
/// Terminals that cannot be written or read.
pub fn run(console: Console, with_ender: impl FnOnce(Ender)) -> io::Result<()> {
    let inbox = Inbox::new(console.session.interrupt().clone());
    with_ender(inbox.ender());
    let mut terminal = ratatui::try_init()?;
    // A terminal without it pastes text as keys.
    let _ = execute!(io::stdout(), EnableBracketedPaste);
    inbox.listen();
    let outcome = App::new(console).serve(&mut terminal, &inbox, inbox::is_there);
    let _ = execute!(io::stdout(), DisableBracketedPaste);
    let restored = ratatui::try_restore();
    if inbox::is_there() {
        outcome.and(restored)
    } else {
        // Nobody is there to read of errors.
        Ok(())
    }
}

impl App {
    /// A screen for a session.
    #[must_use]
    pub fn new(console: Console) -> Self {
        Self {
            console,
            pane: Pane::default(),
            kept: Vec::new(),
            scroll: 0,
            memory: 0,
            input: None,
            said: Vec::new(),
            help: false,
            done: false,
        }
    }

    /// Takes events until the end. `there` tells whether the terminal still exists.
    ///
    /// # Errors
    /// Terminals that cannot be written.
    pub fn serve<B: Backend>(
        &mut self,
        terminal: &mut Terminal<B>,
        inbox: &Inbox,
        there: impl Fn() -> bool,
    ) -> Result<(), B::Error> {
        while !self.done {
            terminal.draw(|frame| self.draw(frame))?;
            let mut next = inbox.next(&there);
            // What has already arrived is not worth a picture each.
            loop {
                match next {
                    Message::Event(event) => inbox.while_stoppable(|| self.event(event)),
                    Message::End => return Ok(()),
                }
                match inbox.arrived() {
                    Some(message) if !self.done => next = message,
                    _ => break,
                }
            }
        }
        Ok(())
    }

    /// Draws everything.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        screen::draw(self, frame);
    }

    /// Whether the user has ended it.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        self.done
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.key(key),
            Event::Paste(text) => self.paste(&text),
            _ => {}
        }
    }

    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent) {
        if key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL) {
            self.done = true;
            return;
        }
        if self.input.is_some() {
            self.write(key.code);
            return;
        }
        if self.help {
            self.help = false;
            return;
        }
        match key.code {
            KeyCode::Char('q') => self.done = true,
            KeyCode::Char('?') => self.help = true,
            KeyCode::Char(':') => self.input = Some(String::new()),
            KeyCode::Char('c') => self.command("continue"),
            KeyCode::Char('C') => self.command("reverse-continue"),
            KeyCode::Char('s') => self.step(Step::Line, false),
            KeyCode::Char('S') => self.step(Step::Line, true),
            KeyCode::Char('n') => self.step(Step::OverLine, false),
            KeyCode::Char('N') => self.step(Step::OverLine, true),
            KeyCode::Char('i') => self.step(Step::Instruction, false),
            KeyCode::Char('I') => self.step(Step::Instruction, true),
            KeyCode::Char('o') => self.step(Step::Out, false),
            KeyCode::Char('O') => self.step(Step::Out, true),
            KeyCode::Char('g') => self.step(Step::Group, false),
            KeyCode::Char('b') => self.toggle_break(),
            KeyCode::Char('t') => self.turn_thread(1),
            KeyCode::Char('T') => self.turn_thread(-1),
            KeyCode::Char('l') | KeyCode::Right => self.turn_lane(1),
            KeyCode::Char('L') | KeyCode::Left => self.turn_lane(-1),
            KeyCode::Tab => {
                self.scroll = 0;
                self.pane = match self.pane {
                    Pane::Lanes => Pane::Variables,
                    Pane::Variables => Pane::Memory,
                    Pane::Memory => Pane::Lanes,
                }
            }
            KeyCode::Char('m') => self.memory = self.memory.wrapping_add(1),
            KeyCode::Down => self.scroll = self.scroll.saturating_add(1),
            KeyCode::Up => self.scroll = self.scroll.saturating_sub(1),
            KeyCode::PageDown => self.scroll = self.scroll.saturating_add(10),
            KeyCode::PageUp => self.scroll = self.scroll.saturating_sub(10),
            _ => {}
        }
    }

    /// Takes pasted text: lines are commands, the last one is not complete yet.
    pub fn paste(&mut self, text: &str) {
        for c in text.chars() {
            if self.done {
                return;
            }
            if matches!(c, '\n' | '\r') {
                self.write(KeyCode::Enter);
            } else {
                self.input.get_or_insert_default().push(c);
            }
        }
    }

    fn write(&mut self, code: KeyCode) {
        let Some(input) = &mut self.input else { return };
        match code {
            KeyCode::Esc => self.input = None,
            // The colon goes with the last character.
            KeyCode::Backspace if input.pop().is_none() => self.input = None,
            KeyCode::Char(c) => input.push(c),
            KeyCode::Enter => {
                let line = std::mem::take(input);
                self.input = None;
                match line.trim().split_once(char::is_whitespace) {
                    Some(("keep", name)) => self.kept.push(name.trim().to_owned()),
                    Some(("drop", name)) => self.kept.retain(|kept| kept != name.trim()),
                    _ => self.command(&line),
                }
            }
            _ => {}
        }
    }

    /// Carries out a command of the console.
    pub fn command(&mut self, line: &str) {
        let (text, quit) = match self.console.run(line) {
            Ok(reply) => (reply.text, reply.quit),
            Err(error) => (format!("error: {error}"), false),
        };
        self.said = text.lines().map(ToOwned::to_owned).collect();
        self.done |= quit;
    }

    fn step(&mut self, step: Step, back: bool) {
        let session = &mut self.console.session;
        let stop = if back {
            session.step_back(step)
        } else {
            session.step(step)
        };
        self.said = match stop {
            Ok(_) => vec![self.console.stop_text()],
            Err(error) => vec![format!("error: {error}")],
        };
    }

    fn toggle_break(&mut self) {
        let Some(place) = self.console.session.place() else {
            return;
        };
        let known = self.console.session.points().iter().find(|point| {
            matches!(&point.what, crate::PointKind::Code(places) if places.contains(&place))
        });
        match known.map(|point| point.id) {
            Some(id) => self.command(&format!("delete {id}")),
            None => self.command(&format!("break {}", place.instruction)),
        }
    }

    fn turn_thread(&mut self, by: isize) {
        let session = &mut self.console.session;
        let (thread, lane) = session.focus();
        let count = session.group().threads().len().max(1);
        let next = thread.checked_add_signed(by).unwrap_or(count - 1) % count;
        // The thread exists.
        let _ = session.look_at(next, lane);
    }

    fn turn_lane(&mut self, by: i32) {
        let session = &mut self.console.session;
        let (thread, lane) = session.focus();
        let count = session.target().lanes();
        let next = lane.checked_add_signed(by).unwrap_or(count - 1) % count;
        // The lane exists.
        let _ = session.look_at(thread, next);
    }
}
