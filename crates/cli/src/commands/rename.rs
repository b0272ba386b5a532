//! `visakit rename`: other names for routines and symbols.

use super::change::{Ends, Unchanged, run as change};
use crate::Status;
use crate::output::Failure;
use crate::reading::routine;
use visakit::isa::object::Object;
use visakit::rewrite::{Table, rename_routine, rename_symbol};

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    ends: Ends,
    /// Old and new name; of routines, unless a kind of symbol is chosen.
    #[arg(required = true, value_name = "OLD=NEW", value_parser = pair)]
    names: Vec<(String, String)>,
    /// Rename symbols of this kind instead of routines.
    #[arg(long, value_name = "KIND", requires = "routine", value_parser = table)]
    symbol: Option<Table>,
    /// The routine that the symbols belong to, by name or number.
    #[arg(long, value_name = "NAME|INDEX", requires = "symbol")]
    routine: Option<String>,
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((old, new)) if !old.is_empty() && !new.is_empty() => Ok((old.into(), new.into())),
        _ => Err("expected OLD=NEW".to_owned()),
    }
}

fn table(name: &str) -> Result<Table, String> {
    let mut known = Table::ALL.into_iter().filter(|t| *t != Table::String);
    known.clone().find(|t| t.name() == name).ok_or_else(|| {
        let first = known.next().map_or("", Table::name);
        known.fold(format!("known kinds: {first}"), |all, t| {
            format!("{all}, {}", t.name())
        })
    })
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    change(&args.ends, |mut object| {
        for (old, new) in &args.names {
            one(&mut object, args, old, new)?;
        }
        Ok(object)
    })
}

fn one(object: &mut Object<'_>, args: &Args, old: &str, new: &str) -> Result<(), Unchanged> {
    let path = &args.ends.file;
    match (args.symbol, &args.routine) {
        (Some(table), Some(of)) => {
            let id = routine(path, object, of)?;
            rename_symbol(object, id, table, old, new)?;
        }
        _ => {
            let id = routine(path, object, old)?;
            rename_routine(object, id, new)?;
        }
    }
    Ok(())
}
