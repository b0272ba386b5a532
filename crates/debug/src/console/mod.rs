//! Text commands, for scripts and for the command lines of front ends.

mod show;

use crate::error::DebugError;
use crate::expression::Expression;
use crate::history::Time;
use crate::point::PointKind;
use crate::session::{Session, Step, Stop};
use crate::sources::Sources;

/// A session that understands commands.
#[derive(Debug)]
pub struct Console {
    /// The session.
    pub session: Session,
    /// Source files.
    pub sources: Sources,
    last: String,
    finder: Finder,
}

/// Runs the checks.
struct Finder(Option<Box<Find>>);

type Find = dyn FnMut() -> Result<Vec<(Time, String)>, String> + Send;

impl std::fmt::Debug for Finder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Finder").field(&self.0.is_some()).finish()
    }
}

/// The result of a command.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reply {
    /// The output, in lines.
    pub text: String,
    /// Whether the run moved.
    pub moved: bool,
    /// Whether the session is to end.
    pub quit: bool,
}

/// A command and what it does.
#[derive(Clone, Copy, Debug)]
pub struct CommandHelp {
    /// Its name and its short names.
    pub names: &'static [&'static str],
    /// Its arguments.
    pub arguments: &'static str,
    /// What it does.
    pub does: &'static str,
    run: fn(&mut Console, &str) -> Result<Reply, DebugError>,
}

const fn command(
    names: &'static [&'static str],
    arguments: &'static str,
    does: &'static str,
    run: fn(&mut Console, &str) -> Result<Reply, DebugError>,
) -> CommandHelp {
    CommandHelp {
        names,
        arguments,
        does,
        run,
    }
}

/// All commands.
pub const COMMANDS: &[CommandHelp] = &[
    command(
        &["break", "b"],
        "PLACE [if EXPR]",
        "stop before an instruction (N), a label, a routine, FILE:LINE or :LINE",
        Console::add_break,
    ),
    command(
        &["watch"],
        "WHAT [if EXPR]",
        "stop after a variable has changed or memory was written",
        |c, a| c.add_watch(a, false, true),
    ),
    command(
        &["rwatch"],
        "WHAT [if EXPR]",
        "stop after memory was read",
        |c, a| c.add_watch(a, true, false),
    ),
    command(
        &["awatch"],
        "WHAT [if EXPR]",
        "stop after memory was read or written",
        |c, a| c.add_watch(a, true, true),
    ),
    command(
        &["delete", "d"],
        "[N]",
        "remove a breakpoint, or all",
        Console::delete,
    ),
    command(&["enable"], "N", "switch a breakpoint on", |c, a| {
        c.enable(a, true)
    }),
    command(&["disable"], "N", "switch a breakpoint off", |c, a| {
        c.enable(a, false)
    }),
    command(
        &["continue", "c"],
        "",
        "run until something stops it",
        |c, _| {
            c.session.go_on()?;
            c.stopped()
        },
    ),
    command(
        &["run", "r"],
        "",
        "run from the beginning until something stops it",
        |c, _| {
            c.session.go_to(Time::default())?;
            c.session.go_on()?;
            c.stopped()
        },
    ),
    command(&["until", "to"], "PLACE", "run to a place", |c, a| {
        let places = c.session.places(a)?;
        c.session.run_to(&places)?;
        c.stopped()
    }),
    command(
        &["step", "s"],
        "[COUNT]",
        "to another source line",
        |c, a| c.steps(a, Step::Line, false),
    ),
    command(
        &["next", "n"],
        "[COUNT]",
        "to another source line, over calls",
        |c, a| c.steps(a, Step::OverLine, false),
    ),
    command(
        &["stepi", "si"],
        "[COUNT]",
        "an instruction of the thread",
        |c, a| c.steps(a, Step::Instruction, false),
    ),
    command(
        &["nexti", "ni"],
        "[COUNT]",
        "an instruction, over calls",
        |c, a| c.steps(a, Step::OverInstruction, false),
    ),
    command(&["finish"], "", "to the end of the routine", |c, a| {
        c.steps(a, Step::Out, false)
    }),
    command(
        &["stepgroup", "sg"],
        "[COUNT]",
        "an instruction of every thread that can run",
        |c, a| c.steps(a, Step::Group, false),
    ),
    command(
        &["reverse-continue", "rc"],
        "",
        "back to what would have stopped",
        |c, _| {
            c.session.go_back()?;
            c.stopped()
        },
    ),
    command(
        &["reverse-step", "rs"],
        "[COUNT]",
        "back to the line before",
        |c, a| c.steps(a, Step::Line, true),
    ),
    command(
        &["reverse-next", "rn"],
        "[COUNT]",
        "back to the line before, over calls",
        |c, a| c.steps(a, Step::OverLine, true),
    ),
    command(
        &["reverse-stepi", "rsi"],
        "[COUNT]",
        "back by an instruction",
        |c, a| c.steps(a, Step::Instruction, true),
    ),
    command(
        &["reverse-nexti", "rni"],
        "[COUNT]",
        "back by an instruction, over calls",
        |c, a| c.steps(a, Step::OverInstruction, true),
    ),
    command(
        &["reverse-finish", "rout"],
        "",
        "back to the call of the routine",
        |c, a| c.steps(a, Step::Out, true),
    ),
    command(
        &["goto"],
        "GROUP:STEP",
        "to a moment, forward or back",
        Console::go_to,
    ),
    command(&["restart"], "", "back to the beginning", |c, _| {
        c.session.go_to(Time::default())?;
        c.stopped()
    }),
    command(&["thread", "t"], "N", "look at another thread", |c, a| {
        let (_, lane) = c.session.focus();
        c.session.look_at(number(a, "a thread")?, lane)?;
        c.here()
    }),
    command(&["lane", "l"], "N", "look at another lane", |c, a| {
        let (thread, _) = c.session.focus();
        c.session.look_at(thread, number(a, "a lane")?)?;
        c.here()
    }),
    command(&["frame", "f"], "N", "look at another call", |c, a| {
        c.session.look_at_frame(number(a, "a frame")?)?;
        c.here()
    }),
    command(
        &["backtrace", "bt", "where"],
        "",
        "the calls of the thread",
        |c, _| c.backtrace(),
    ),
    command(
        &["print", "p"],
        "EXPR",
        "a value; a variable or buffer without an index, by lane or element",
        |c, a| c.print(a),
    ),
    command(
        &["set"],
        "WHAT = EXPR",
        "change a variable or memory",
        Console::set,
    ),
    command(&["x"], "[/COUNT] WHAT", "memory from a place on", |c, a| {
        c.examine(a)
    }),
    command(
        &["list"],
        "[PLACE]",
        "instructions around a place",
        |c, a| c.list(a),
    ),
    command(
        &["source"],
        "[COUNT]",
        "source lines around the place",
        Console::source,
    ),
    command(
        &["info", "i"],
        "breakpoints|threads|lanes|locals|variables|predefined|operands|buffers|printf|files|routines|run",
        "what there is",
        |c, a| c.info(a),
    ),
    command(&["help", "h"], "", "this list", |_, _| Ok(help())),
    command(&["quit", "q"], "", "end", |_, _| {
        Ok(Reply {
            quit: true,
            ..Reply::default()
        })
    }),
];

fn help() -> Reply {
    let mut text = String::new();
    for command in COMMANDS {
        let names = command.names.join(", ");
        let head = format!("{names} {}", command.arguments);
        text.push_str(&format!("{head:<34} {}\n", command.does));
    }
    text.push_str(
        "\nExpressions: numbers, operators as in C (a quotient by zero is 0), any(E) and all(E) over the enabled lanes; V40 (the lane's element),\n\
         V40[3], V40.ub[3], P1[3], %r0[1], NAME[3] (an argument), slm.f[3], scratch.ud[0], global.f[ADDRESS];\n\
         variables of the source, if it was compiled with -g: sum, tile[3][0], particle.x, list[2].next;\n\
         $lane, $thread, $group, $step, $mask, $enabled, $gid0 to $gid2, $lid0 to $lid2.\n",
    );
    said(text)
}

fn said(text: impl Into<String>) -> Reply {
    Reply {
        text: text.into(),
        ..Reply::default()
    }
}

fn number<T: std::str::FromStr>(text: &str, what: &str) -> Result<T, DebugError> {
    let number = text.trim().parse();
    number.map_err(|_| DebugError::Usage(format!("`{text}` is not the number of {what}")))
}

/// The parts before and after ` if `.
fn conditional(text: &str) -> Result<(&str, Option<Expression>), DebugError> {
    match text.split_once(" if ") {
        Some((place, condition)) => Ok((place.trim(), Some(Expression::parse(condition)?))),
        None => Ok((text.trim(), None)),
    }
}

impl Console {
    /// A console for a session.
    #[must_use]
    pub fn new(session: Session, sources: Sources) -> Self {
        Self {
            session,
            sources,
            last: String::new(),
            finder: Finder(None),
        }
    }

    /// Executes a command. An empty line repeats the last one; text after `#` is a comment.
    ///
    /// # Errors
    /// The reason why it cannot be executed. The session continues.
    pub fn run(&mut self, line: &str) -> Result<Reply, DebugError> {
        let bare = line.trim();
        if bare.starts_with('#') {
            return Ok(Reply::default());
        }
        let line = if bare.is_empty() {
            self.last.clone()
        } else {
            bare.to_owned()
        };
        if line.is_empty() {
            return Ok(Reply::default());
        }
        self.last.clone_from(&line);
        let (word, arguments) = line.split_once(char::is_whitespace).unwrap_or((&line, ""));
        // `x/4 out`.
        let (word, arguments) = match word.split_once('/') {
            Some((word, count)) => (word, format!("/{count} {arguments}")),
            None => (word, arguments.to_owned()),
        };
        let mut all = COMMANDS.iter();
        let found = all.find(|c| c.names.contains(&word)).ok_or_else(|| {
            DebugError::Usage(format!("`{word}` is no command; `help` lists them"))
        })?;
        (found.run)(self, arguments.trim())
    }

    /// Sets the function for `break finding`: it returns the moments at which checks have a finding, with its
    /// description.
    pub fn find_with(
        &mut self,
        finder: impl FnMut() -> Result<Vec<(Time, String)>, String> + Send + 'static,
    ) {
        self.finder = Finder(Some(Box::new(finder)));
    }

    /// The moments at which checks have a finding. The launch runs under checks for this, from its beginning; changes
    /// made in this session are not known there.
    ///
    /// # Errors
    /// [`DebugError::Usage`]: nothing checks this program, or it cannot be run.
    pub fn findings(&mut self) -> Result<PointKind, DebugError> {
        let finder = self.finder.0.as_mut();
        let finder = finder.ok_or_else(|| {
            DebugError::Usage("there are no checks for what is debugged".to_owned())
        })?;
        Ok(PointKind::Findings(finder().map_err(DebugError::Usage)?))
    }

    fn add_break(&mut self, text: &str) -> Result<Reply, DebugError> {
        let (place, condition) = conditional(text)?;
        if place == "finding" {
            let kind = self.findings()?;
            let count = match &kind {
                PointKind::Findings(found) => found.len(),
                _ => 0,
            };
            let id = self.session.add(kind, condition, text);
            return Ok(said(format!("breakpoint {id} at {count} findings\n")));
        }
        let places = self.session.places(place)?;
        let shown: Vec<_> = places.iter().map(|p| self.place_text(*p)).collect();
        let id = self.session.add(PointKind::Code(places), condition, text);
        Ok(said(format!("breakpoint {id} at {}\n", shown.join(", "))))
    }

    fn add_watch(&mut self, text: &str, read: bool, write: bool) -> Result<Reply, DebugError> {
        let (what, condition) = conditional(text)?;
        let expression = Expression::parse(what)?;
        let kind = self.session.watch(&expression, read, write)?;
        let id = self.session.add(kind, condition, text);
        Ok(said(format!("watchpoint {id}: {what}\n")))
    }

    fn delete(&mut self, text: &str) -> Result<Reply, DebugError> {
        if text.is_empty() {
            let ids: Vec<_> = self.session.points().iter().map(|p| p.id).collect();
            for id in ids {
                self.session.remove(id)?;
            }
        } else {
            self.session.remove(number(text, "a breakpoint")?)?;
        }
        Ok(Reply::default())
    }

    fn enable(&mut self, text: &str, enabled: bool) -> Result<Reply, DebugError> {
        self.session
            .enable(number(text, "a breakpoint")?, enabled)?;
        Ok(Reply::default())
    }

    fn steps(&mut self, count: &str, step: Step, back: bool) -> Result<Reply, DebugError> {
        let count: u64 = if count.is_empty() {
            1
        } else {
            number(count, "steps")?
        };
        for _ in 0..count {
            let stop = if back {
                self.session.step_back(step)?
            } else {
                self.session.step(step)?
            };
            if *stop != Stop::Step {
                break;
            }
        }
        self.stopped()
    }

    fn go_to(&mut self, text: &str) -> Result<Reply, DebugError> {
        let (group, step) = text.split_once(':').ok_or_else(|| {
            DebugError::Usage("a moment is GROUP:STEP; `info run` shows the present one".to_owned())
        })?;
        let time = Time {
            group: number(group, "a group")?,
            step: number(step, "a step")?,
        };
        self.session.go_to(time)?;
        self.stopped()
    }

    fn set(&mut self, text: &str) -> Result<Reply, DebugError> {
        let (what, value) = text.split_once('=').ok_or_else(|| {
            DebugError::Usage("what is to be set is missing: set V40[3] = 7".to_owned())
        })?;
        let (what, value) = (Expression::parse(what)?, Expression::parse(value)?);
        self.session.set(&what, &value)?;
        let now = self.session.evaluate(&what)?;
        Ok(said(format!("{} = {now}\n", what.text())))
    }
}
