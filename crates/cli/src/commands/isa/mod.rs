//! `visakit isa`: the instruction reference.

mod html;
mod query;
mod report;
mod text;

use crate::output::{self, Failure};
use crate::{Status, names, render};
use query::Matches;
use report::Row;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use visakit::isa::Platform;
use visakit::isa::table::{self, Group};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// A mnemonic, the name of a row, the beginning of one, or an opcode (0x89, 137), optionally
    /// with a sub-operation (0x89.03). All instructions are listed without it.
    #[arg(value_name = "INSTRUCTION")]
    query: Option<String>,
    /// Only instructions of this group.
    #[arg(long, value_name = "GROUP", value_parser = names::group())]
    group: Option<Group>,
    /// Only instructions that this platform has, as far as is known.
    #[arg(long, value_name = "NAME", value_parser = names::platform(), hide_possible_values = true)]
    platform: Option<Platform>,
    /// Print a page for browsers with everything that is known of each row.
    #[arg(long)]
    html: bool,
    /// Where it goes to. [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Print one JSON document, with everything that is known of each row.
    #[arg(long)]
    json: bool,
}

/// The JSON document.
#[derive(Serialize)]
struct Document {
    instructions: Vec<Row>,
}

/// At most this many rows are described in full; more are listed.
const DESCRIBED: usize = 4;

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let mut matches = match &args.query {
        None => Matches::all(),
        Some(query) => match query::find(query) {
            Ok(matches) => matches,
            Err(error) => {
                render::failure(&error);
                return Ok(Status::Unusable);
            }
        },
    };
    let wanted = |def: &&table::InstructionDef| {
        args.group.is_none_or(|group| def.group == group)
            && args
                .platform
                .is_none_or(|platform| def.runs_on(platform).is_ok())
    };
    matches.exact.retain(wanted);
    matches.related.retain(wanted);
    if matches.exact.is_empty() {
        let message = "no instruction of that name is in that group and on that platform";
        render::failure(message);
        return Ok(Status::Unusable);
    }
    if args.html {
        let rows: Vec<_> = matches.exact.iter().map(|def| Row::new(def)).collect();
        output::text(args.output.as_deref(), html::page(&rows).as_bytes())?;
        return Ok(Status::Clean);
    }
    if args.json {
        let rows = matches.exact.iter().chain(&matches.related);
        output::json(&Document {
            instructions: rows.map(|def| Row::new(def)).collect(),
        })?;
        return Ok(Status::Clean);
    }
    let mut out = Vec::new();
    if args.query.is_none() {
        write!(out, "{}", text::list(&matches.exact))?;
    } else if matches.exact.len() > DESCRIBED {
        write!(out, "{}", text::list(&matches.exact))?;
        writeln!(out, "\nGive a name or a number of these for its fields.")?;
    } else {
        for (i, def) in matches.exact.iter().enumerate() {
            if i > 0 {
                writeln!(out)?;
            }
            text::describe(&mut out, &Row::new(def))?;
        }
        if !matches.related.is_empty() {
            let title = output::heading("begin with the same name");
            write!(out, "\n{title}\n{}", text::list(&matches.related))?;
        }
    }
    output::text(args.output.as_deref(), &out)?;
    Ok(Status::Clean)
}

/// The rows that share the number of a row: instructions of other versions.
fn same_number(
    def: &table::InstructionDef,
) -> impl Iterator<Item = &'static table::InstructionDef> {
    let op = def.op;
    table::rows().filter(move |other| {
        other.op != op && other.op.opcode() == op.opcode() && other.sub_op == op.sub_op()
    })
}
