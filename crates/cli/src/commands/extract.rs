//! `visakit extract`: some routines of an object.

use super::change::{Ends, run as change};
use crate::Status;
use crate::output::Failure;
use crate::reading::routine;
use visakit::rewrite::extract;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    ends: Ends,
    /// A routine to keep, by name or number (kernels first, then functions), with the functions
    /// that it needs. May be repeated.
    #[arg(long, required = true, value_name = "NAME|INDEX")]
    routine: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    change(&args.ends, |mut object| {
        let of = |name: &String| routine(&args.ends.file, &object, name);
        let wanted = args.routine.iter().map(of).collect::<Result<Vec<_>, _>>()?;
        extract(&mut object, &wanted)?;
        Ok(object)
    })
}
