//! `visakit strip`: removes what execution does not need.

use super::change::{Ends, run as change};
use crate::output::{Failure, count};
use crate::{Status, render};
use std::io::{self, IsTerminal};
use visakit::rewrite::{Strip, strip};

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    ends: Ends,
    /// Source files and lines (FILE and LOC).
    #[arg(long)]
    debug: bool,
    /// Names of variables, labels and the like; routines keep theirs.
    #[arg(long)]
    names: bool,
    /// Native code.
    #[arg(long)]
    native: bool,
    /// Strings that nothing uses.
    #[arg(long)]
    strings: bool,
    /// Variables, addresses, predicates and labels that nothing uses.
    #[arg(long)]
    variables: bool,
    /// All of this; the default if nothing is chosen.
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let chosen = Strip {
        debug: args.debug,
        names: args.names,
        binaries: args.native,
        strings: args.strings,
        variables: args.variables,
    };
    let what = if args.all || chosen == Strip::default() {
        Strip::ALL
    } else {
        chosen
    };
    change(&args.ends, |mut object| {
        let gone = strip(&mut object, what);
        if io::stderr().is_terminal() {
            render::note(&format!(
                "removed {}, {}, {}, {}; took {} away",
                count(gone.instructions, "instruction"),
                count(gone.declarations, "declaration"),
                count(gone.strings, "string"),
                count(gone.binaries, "native binary"),
                count(gone.names, "name")
            ));
        }
        Ok(object)
    })
}
