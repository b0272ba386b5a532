//! `visakit lsp`: the language server for editors.

use crate::Status;
use crate::output::Failure;

#[derive(clap::Args)]
#[command(after_help = "Editors start it by themselves; docs/editors.md says how to set them up.")]
pub(crate) struct Args {
    /// Speak over standard input and output, which it always does: some editors give the option.
    #[arg(long)]
    stdio: bool,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let Args { stdio: _ } = args;
    match visakit_lsp::stdio() {
        Ok(true) => Ok(Status::Clean),
        // The protocol requires 1 if the client exits without a shutdown request.
        Ok(false) => Ok(Status::Findings),
        Err(error) => Err(Failure::Other(error.to_string())),
    }
}
