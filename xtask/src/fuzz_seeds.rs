//! Writes the fixtures as seed files for all fuzz targets.

use crate::Done;
use std::fs;
use std::path::Path;
use visakit_fuzzing::{Input, TARGETS};
use visakit_testing::layouts::{cases, objects, texts};

/// Number of generated objects used as seeds by targets that shape their input.
const SHAPES: u64 = 60;

pub(crate) fn run(arguments: &[String]) -> Done {
    let default = visakit_testing::root().join("fuzz/corpus");
    let folder = arguments.first().map_or(default.as_path(), Path::new);
    let mut whole = objects();
    for (number, case) in cases().into_iter().enumerate() {
        whole.push((format!("{number:04}-{}", case.def.name), case.bytes));
    }
    let texts = texts();
    let shapes: Vec<_> = (0..SHAPES)
        .map(|seed| (format!("seed-{seed}"), visakit_smith::input_of_seed(seed)))
        .collect();
    for target in TARGETS {
        let seeds = match target.input {
            Input::Object => &whole,
            Input::Text => &texts,
            Input::Shape => &shapes,
        };
        let folder = folder.join(target.name);
        fs::create_dir_all(&folder)?;
        for (name, bytes) in seeds {
            fs::write(folder.join(name), bytes)?;
        }
        println!("{} seeds in {}", seeds.len(), folder.display());
    }
    Ok(())
}
