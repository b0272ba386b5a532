//! `visakit extract`: some routines of an object.

use super::change::{Ends, run as change};
use crate::Status;
use crate::output::Failure;
use visakit::rewrite::{extract, find_routine};

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
        let wanted: Result<Vec<_>, _> = args
            .routine
            .iter()
            .map(|name| find_routine(&object, name))
            .collect();
        match wanted.and_then(|wanted| extract(&mut object, &wanted)) {
            Ok(()) => Ok(object),
            Err(error) => Err(vec![error]),
        }
    })
}
