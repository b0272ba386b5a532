//! `visakit platforms`: facts about the platforms.

use crate::output::{self, Failure, heading, stdout};
use crate::table::{Align, Columns};
use crate::{Status, names};
use serde_json::{Value, json};
use std::io::Write;
use visakit::isa::Platform;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Platforms, by their own names or those of products, as `//Platform:` lines of the compiler have them.
    /// [default: all]
    #[arg(value_name = "NAME", value_parser = names::platform(), hide_possible_values = true)]
    platforms: Vec<Platform>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let chosen = if args.platforms.is_empty() {
        Platform::ALL
    } else {
        &args.platforms
    };
    if args.json {
        let platforms: Vec<_> = chosen.iter().map(document).collect();
        output::json(&json!({ "platforms": platforms }))?;
        return Ok(Status::Clean);
    }
    let mut out = stdout();
    if args.platforms.is_empty() {
        let mut table = Columns::new(&[
            ("platform", Align::Left),
            ("GRF", Align::Right),
            ("has", Align::Left),
            ("products", Align::Left),
        ]);
        for platform in chosen {
            table.row([
                platform.name().to_owned(),
                platform.grf_bytes().to_string(),
                list(platform.features()),
                platform.summary().to_owned(),
            ]);
        }
        write!(out, "{table}")?;
    }
    for (n, platform) in args.platforms.iter().enumerate() {
        if n > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", heading(platform.name()))?;
        let mut table = Columns::pairs();
        let mut row = |name: &str, value: String| {
            if !value.is_empty() {
                table.row([name.to_owned(), value]);
            }
        };
        row("products", platform.summary().to_owned());
        row("also", platform.aliases().join(", "));
        row("register", format!("{} bytes", platform.grf_bytes()));
        row(
            "addresses",
            format!("{} elements", platform.address_elements()),
        );
        row("has", list(platform.features()));
        let code = platform.native_code();
        row(
            "native code",
            code.map(|c| c.to_string()).unwrap_or_default(),
        );
        write!(out, "{table}")?;
    }
    out.flush()?;
    Ok(Status::Clean)
}

fn list(features: impl Iterator<Item = &'static str>) -> String {
    features.collect::<Vec<_>>().join(", ")
}

fn document(platform: &Platform) -> Value {
    json!({
        "name": platform.name(),
        "products": platform.summary(),
        "aliases": platform.aliases(),
        "grf_bytes": platform.grf_bytes(),
        "address_elements": platform.address_elements(),
        "has": platform.features().collect::<Vec<_>>(),
        "native_code": platform.native_code(),
    })
}
