//! `visakit isa`: the instruction reference.

mod query;
mod report;
mod text;

use crate::output::{self, Failure, stdout};
use crate::{Status, render};
use query::Matches;
use report::Row;
use serde::Serialize;
use std::io::Write;
use visakit::isa::table;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// A mnemonic, the name of a row, the beginning of one, or an opcode (0x89, 137), optionally
    /// with a sub-operation (0x89.03). All instructions are listed without it.
    #[arg(value_name = "INSTRUCTION")]
    query: Option<String>,
    /// Print one JSON document, with everything that is known of each row.
    #[arg(long)]
    json: bool,
}

/// The JSON document.
#[derive(Serialize)]
struct Document {
    instructions: Vec<Row>,
}

/// So many rows are described one after the other; more are listed.
const DESCRIBED: usize = 4;

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let matches = match &args.query {
        None => Matches::all(),
        Some(query) => match query::find(query) {
            Ok(matches) => matches,
            Err(error) => {
                render::failure(&error);
                return Ok(Status::Unusable);
            }
        },
    };
    if args.json {
        let rows = matches.exact.iter().chain(&matches.related);
        output::json(&Document {
            instructions: rows.map(|def| Row::new(def)).collect(),
        })?;
        return Ok(Status::Clean);
    }
    let mut out = stdout();
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
    out.flush()?;
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
