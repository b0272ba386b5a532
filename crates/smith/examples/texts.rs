//! Writes the texts of seeds to a directory: `texts DIR FIRST COUNT [PLATFORM]`.

#![allow(clippy::disallowed_methods, reason = "an example")]
#![allow(clippy::print_stderr)]

use std::error::Error;
use visakit_smith::{Config, Platform, from_seed};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let dir = args.next().ok_or("a directory is missing")?;
    let first: u64 = args.next().ok_or("the first seed is missing")?.parse()?;
    let count: u64 = args
        .next()
        .ok_or("the number of seeds is missing")?
        .parse()?;
    let only = args.next().and_then(|n| Platform::from_name(&n));
    for seed in first..first + count {
        let all = visakit_smith::PLATFORMS;
        let index = usize::try_from(seed % 6)?;
        let platform = only
            .or_else(|| all.get(index).copied())
            .unwrap_or(Platform::Skl);
        let object = from_seed(seed, &Config::for_platform(platform));
        let options = visakit_text::Options {
            grf_bytes: Some(platform.grf_bytes()),
            ..visakit_text::Options::default()
        };
        let printer = visakit_text::Printer::new(&object, options);
        let mut text = Vec::new();
        for (id, _) in object.routines() {
            let mut routine = Vec::new();
            printer.routine(id, &mut routine)?;
            // One text has one version.
            let line = routine
                .iter()
                .position(|b| *b == b'\n')
                .map_or(0, |n| n + 1);
            let begin = if text.is_empty() { 0 } else { line };
            text.extend(routine.get(begin..).unwrap_or_default());
        }
        // The finalizer's printer shows coordinates that are not there, and its parser refuses them.
        let text = String::from_utf8(text)?.replace(", %null, %null]", "]");
        let name = format!("{dir}/{seed}.{}.visaasm", platform.name());
        std::fs::write(name, text)?;
    }
    Ok(())
}
