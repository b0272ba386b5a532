//! `visakit convert`: another version of an object.

use super::change::{Ends, run as change};
use crate::output::Failure;
use crate::{Status, names};
use visakit::isa::{Dialect, Format, Version};
use visakit::rewrite::{ConvertOptions, convert};

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    ends: Ends,
    /// Version of the new object.
    #[arg(long, value_name = "VERSION", value_parser = names::version())]
    to: Version,
    /// Dialect of the new object. [default: that of the object, where the version has it]
    #[arg(long, value_name = "NAME", value_parser = names::dialect())]
    to_dialect: Option<Dialect>,
    /// Keep native code that expects inputs which the kernel does not have any more.
    #[arg(long)]
    keep_native: bool,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    change(&args.ends, |object| {
        let same = Some(object.dialect).filter(|d| d.applies_to(args.to));
        let dialect = args.to_dialect.or(same).unwrap_or_default();
        let options = ConvertOptions {
            to: Format::new(args.to, dialect),
            keep_native: args.keep_native,
        };
        Ok(convert(object, options)?)
    })
}
