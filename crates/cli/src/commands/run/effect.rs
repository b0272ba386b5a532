//! Which option has an effect where: others are refused, as nobody gives one for nothing.

use clap::parser::ValueSource;
use clap::{ArgMatches, Command, Error, error::ErrorKind};

/// What is done with a launch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Run,
    /// `run --show-code` and `run --show-machine-code`.
    Code,
    /// `check` and `run --check`.
    Check,
    /// `check --symbolic`.
    Symbolic,
    Profile,
    Prove,
    Debugger,
}

/// What is launched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Case,
    Kernel,
    Media,
    Bare,
}

use Does::{Check, Code, Debugger, Profile, Prove, Run, Symbolic};
use Mode::{Bare, Case, Kernel, Media};

const ALL: &[Does] = &[Run, Code, Check, Symbolic, Profile, Prove, Debugger];
const LAUNCHES: &[Does] = &[Run, Check, Symbolic, Profile, Prove, Debugger];
const LIMITED: &[Does] = &[Run, Check, Symbolic, Profile, Prove];
const OTHER: &[Does] = &[Run, Check, Profile, Debugger];
const TOLD: &[Does] = &[Check, Symbolic, Profile, Debugger];
const EVERY: &[Mode] = &[Case, Kernel, Media, Bare];
const NAMED: &[Mode] = &[Kernel, Media, Bare];
const GRIDS: &[Mode] = &[Case, Kernel, Media];

/// Options, by their names in the program, and where they have an effect; an option may have several rows.
const TABLE: &[(&[&str], &[Does], &[Mode])] = &[
    (&["case", "from_text", "allow_outside"], LAUNCHES, &[Case]),
    (
        &["files", "routine", "lenient", "dialect", "platform"],
        ALL,
        NAMED,
    ),
    (&["device", "options"], ALL, NAMED),
    (&["platform", "device"], &[Profile], &[Case]),
    (
        &["zeinfo", "zebin", "global", "local", "offset", "args"],
        LAUNCHES,
        &[Kernel],
    ),
    (&["out", "show"], &[Run], &[Kernel, Media]),
    (&["printf"], &[Run, Check, Profile], &[Case, Kernel]),
    (
        &["media", "group", "dependency", "surface", "input"],
        OTHER,
        &[Media],
    ),
    (&["bare", "set"], OTHER, &[Bare]),
    (&["bare"], &[Code], &[Bare]),
    (&["print"], &[Run], &[Bare]),
    (&["strict", "json"], ALL, EVERY),
    (
        &["exact_ends"],
        &[Run, Check, Symbolic, Profile, Debugger],
        GRIDS,
    ),
    (&["drop_outside"], &[Run, Profile, Debugger], EVERY),
    (&["trace"], &[Run], NAMED),
    (&["stats"], &[Run], EVERY),
    (&["max_steps", "max_group_memory"], LAUNCHES, EVERY),
    (&["max_launch_steps"], LIMITED, GRIDS),
    (&["max_memory"], LAUNCHES, GRIDS),
    (&["timeout", "threads"], LIMITED, EVERY),
    (&["jit", "no_jit"], LAUNCHES, EVERY),
    (&["show_code"], &[Code], &[Kernel, Bare]),
    (&["show_machine_code"], &[Code], &[Kernel]),
    (&["simd"], &[Run, Check], &[Kernel]),
    (
        &["kinds", "suppress", "fail_on", "sarif", "format"],
        &[Check],
        EVERY,
    ),
    (&["source"], TOLD, EVERY),
    (&["symbolic"], &[Symbolic], EVERY),
    (
        &["any_value", "trials", "time", "witness"],
        &[Symbolic, Prove],
        EVERY,
    ),
    (
        &["known", "smt2", "mode", "no_sat", "solver"],
        &[Prove],
        EVERY,
    ),
    (&["new_zeinfo", "new_zebin"], &[Prove], &[Kernel]),
    (&["annotate", "html", "folded", "top"], &[Profile], EVERY),
    (&["memory"], &[Profile], GRIDS),
    (&["batch", "ex"], &[Debugger], EVERY),
];

impl Does {
    /// Where an option has no effect.
    const fn place(self) -> &'static str {
        match self {
            Self::Run => "without --check",
            Self::Code => "where code is shown, and nothing runs",
            Self::Check => "under checks",
            Self::Symbolic => "with --symbolic",
            Self::Profile => "on a profile",
            Self::Prove => "on a proof",
            Self::Debugger => "on a session",
        }
    }
}

impl Mode {
    const fn flag(self) -> Option<&'static str> {
        match self {
            Self::Case => Some("--case"),
            Self::Kernel => None,
            Self::Media => Some("--media"),
            Self::Bare => Some("--bare"),
        }
    }
}

/// What a command line asks for.
fn asked(verb: &str, given: impl Fn(&str) -> bool) -> Option<(Does, Mode)> {
    let does = match verb {
        "run" if given("kinds") => Check,
        "run" if given("show_code") || given("show_machine_code") => Code,
        "run" => Run,
        "check" if given("symbolic") => Symbolic,
        "check" => Check,
        "profile" => Profile,
        "prove" => Prove,
        "debug" => Debugger,
        _ => return None,
    };
    let modes = [("case", Case), ("media", Media), ("bare", Bare)];
    let mode = modes.iter().find(|(id, _)| given(id));
    Some((does, mode.map_or(Kernel, |(_, mode)| *mode)))
}

/// Why an option has no effect.
fn idle(option: &str, (does, mode): (Does, Mode)) -> Option<String> {
    let mut rows = TABLE
        .iter()
        .filter(|(ids, ..)| ids.contains(&option))
        .peekable();
    rows.peek()?;
    let modes: Vec<Mode> = rows
        .filter(|(_, of, _)| of.contains(&does))
        .flat_map(|(_, _, modes)| modes.iter().copied())
        .collect();
    let other: Vec<_> = modes.iter().filter_map(|mode| mode.flag()).collect();
    match mode.flag() {
        _ if modes.contains(&mode) => None,
        _ if modes.is_empty() => Some(does.place().to_owned()),
        Some(flag) => Some(format!("with {flag}")),
        None => Some(format!("without {}", other.join(" or "))),
    }
}

/// Refuses options that would do nothing.
pub(crate) fn check(command: &mut Command, verb: &str, matches: &ArgMatches) -> Result<(), Error> {
    let given = |id: &str| {
        let is_there = matches.ids().any(|known| known == id);
        is_there && matches.value_source(id) == Some(ValueSource::CommandLine)
    };
    let (Some(asked), Some(verb)) = (asked(verb, given), command.find_subcommand_mut(verb)) else {
        return Ok(());
    };
    let found = verb.get_arguments().find_map(|argument| {
        let id = argument.get_id().as_str();
        let why = given(id).then(|| idle(id, asked)).flatten()?;
        let name = argument.get_long().map(|long| format!("--{long}"));
        let name = name.unwrap_or_else(|| "FILE".to_owned());
        Some(format!("{name} has no effect {why}"))
    });
    match found {
        None => Ok(()),
        Some(message) => Err(verb.error(ErrorKind::ArgumentConflict, message)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_table_has_every_option() {
        let command = crate::Cli::command();
        for verb in ["run", "check", "profile", "prove", "debug"] {
            let found = command.find_subcommand(verb);
            for argument in found.into_iter().flat_map(Command::get_arguments) {
                let id = argument.get_id().as_str();
                let is_known = TABLE.iter().any(|(ids, ..)| ids.contains(&id));
                assert!(is_known, "where has {id} of {verb} an effect?");
            }
        }
    }

    #[test]
    fn the_table_has_nothing_else() {
        let command = crate::Cli::command();
        let all: Vec<_> = command
            .get_subcommands()
            .flat_map(Command::get_arguments)
            .collect();
        for id in TABLE.iter().flat_map(|(ids, ..)| *ids) {
            assert!(all.iter().any(|known| known.get_id() == id), "{id}");
        }
    }
}
