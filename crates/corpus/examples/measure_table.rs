//! The cost of each stage of `visakit table`: `cargo run --release -p visakit-internal-corpus --features parquet,files --example
//! measure_table -- PATH...`.
//!
//! The stages alternate in one thread, so that other load of the machine affects all of them equally; medians are
//! printed, of processor time where the system reports it (Linux), otherwise of wall-clock time. The environment
//! variable `STAGE` restricts the run to stages whose name contains it, for profilers.
#![allow(clippy::print_stdout, clippy::expect_used, clippy::cast_precision_loss)]

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;
use visakit_corpus::arrow::batch;
use visakit_corpus::parquet::{SHARD_BYTES, ShardWriter};
use visakit_corpus::{Select, Source, Tables, fill_file};
use visakit_isa::Instruction;
use visakit_launch::Reading;
use visakit_parse::Container;

const ROUNDS: usize = 15;

fn find(path: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(path) else {
        files.push(path.to_owned());
        return;
    };
    let mut entries: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            find(&entry, files);
        } else if entry.extension().is_some_and(|e| e == "isa") {
            files.push(entry);
        }
    }
}

/// Adds the rows of all files, and drops them from time to time.
fn rows(files: &[(PathBuf, Vec<u8>, [u8; 32])], select: Select, mut done: impl FnMut(&mut Tables)) {
    let mut tables = Tables::default();
    for (path, bytes, sha256) in files {
        let path = path.to_string_lossy();
        let source = Source {
            path: &path,
            bytes,
            sha256: *sha256,
            dialect: None,
        };
        fill_file(&source, &Reading::default(), select, &mut tables).ok();
        if tables.size() > 16 << 20 {
            done(&mut tables);
        }
    }
    done(&mut tables);
}

/// Nanoseconds that this thread has run.
fn processor() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok()
}

fn decode(bytes: &[u8], mut each: impl FnMut(&mut visakit_parse::Instructions<'_>)) {
    let Ok(container) = Container::parse(bytes) else {
        return;
    };
    for reader in container.sound_routines().unwrap_or_default() {
        each(&mut reader.instructions());
    }
}

fn main() {
    let mut files = Vec::new();
    for path in std::env::args().skip(1) {
        find(Path::new(&path), &mut files);
    }
    assert!(!files.is_empty(), "objects or folders with *.isa");
    let read = || -> Vec<(PathBuf, Vec<u8>)> {
        let read = |path: &PathBuf| Some((path.clone(), std::fs::read(path).ok()?));
        files.iter().filter_map(read).collect()
    };
    let held: Vec<_> = read()
        .into_iter()
        .map(|(path, bytes)| {
            let sha256 = Source::new("", &bytes).sha256;
            (path, bytes, sha256)
        })
        .collect();
    let (mut routines, mut instructions) = (0usize, 0usize);
    for (_, bytes, _) in &held {
        decode(bytes, |code| {
            routines += 1;
            instructions += code.by_ref().count();
        });
    }
    let bytes: usize = held.iter().map(|(_, bytes, _)| bytes.len()).sum();
    println!(
        "{} files, {bytes} bytes, {routines} routines, {instructions} instructions",
        held.len()
    );

    let folder = std::env::temp_dir().join(format!("measure-table-{}", std::process::id()));
    let write = |select: Select| {
        std::fs::create_dir_all(&folder).expect("a folder");
        let mut writer = ShardWriter::new(&folder, select, SHARD_BYTES);
        for (path, bytes, sha256) in &held {
            let path = path.to_string_lossy();
            let source = Source {
                path: &path,
                bytes,
                sha256: *sha256,
                dialect: None,
            };
            let add = |select, tables: &mut Tables| {
                fill_file(&source, &Reading::default(), select, tables).ok();
            };
            writer.add_with(&source, add).expect("a shard");
        }
        writer.finish().expect("a shard");
        std::fs::remove_dir_all(&folder).expect("a folder");
    };
    let of = |names: &[&str]| Select::of(names.iter().copied()).expect("tables");
    let rows_of = |select| rows(&held, select, |tables| *tables = Tables::default());
    let arrays_of = |select| {
        rows(&held, select, |tables| {
            for table in tables.all_mut() {
                black_box(batch(table).expect("columns"));
            }
        });
    };
    let two = of(&["objects", "routines"]);
    let three = of(&["objects", "routines", "instructions"]);
    let four = of(&["objects", "routines", "instructions", "operands"]);
    type Stage<'a> = (&'a str, Box<dyn Fn() + 'a>);
    let mut stages: Vec<Stage<'_>> = vec![
        (
            "files are read",
            Box::new(|| {
                let mut bytes = Vec::new();
                for path in &files {
                    use std::io::Read;
                    bytes.clear();
                    let file = std::fs::File::open(path);
                    file.and_then(|mut file| file.read_to_end(&mut bytes)).ok();
                    black_box(&bytes);
                }
            }),
        ),
        (
            "SHA-256",
            Box::new(|| {
                for (_, bytes, _) in &held {
                    black_box(Source::new("", bytes));
                }
            }),
        ),
        (
            "tables of routines",
            Box::new(|| {
                for (_, bytes, _) in &held {
                    decode(bytes, |code| {
                        black_box(code);
                    });
                }
            }),
        ),
        (
            "and instructions, lazily",
            Box::new(|| {
                for (_, bytes, _) in &held {
                    decode(bytes, |code| {
                        black_box(code.by_ref().count());
                    });
                }
            }),
        ),
        (
            "and instructions with their fields",
            Box::new(|| {
                let mut instruction = Instruction::new(visakit_isa::Op::LABEL);
                for (_, bytes, _) in &held {
                    decode(bytes, |code| {
                        while let Some(Ok(_)) = code.next_into(&mut instruction) {
                            black_box(&instruction);
                        }
                    });
                }
            }),
        ),
        ("rows: objects", Box::new(|| rows_of(of(&["objects"])))),
        ("rows: objects, routines", Box::new(|| rows_of(two))),
        ("rows: and instructions", Box::new(|| rows_of(three))),
        ("rows: and operands", Box::new(|| rows_of(four))),
        ("rows: all tables", Box::new(|| rows_of(Select::ALL))),
        ("arrays: objects, routines", Box::new(|| arrays_of(two))),
        ("arrays: all tables", Box::new(|| arrays_of(Select::ALL))),
        ("files: objects, routines", Box::new(|| write(two))),
        ("files: and instructions", Box::new(|| write(three))),
        ("files: and operands", Box::new(|| write(four))),
        ("files: all tables", Box::new(|| write(Select::ALL))),
    ];
    let wanted = std::env::var("STAGE").unwrap_or_default();
    stages.retain(|(name, _)| name.contains(&wanted));
    let mut times = vec![Vec::new(); stages.len()];
    for _ in 0..ROUNDS {
        for ((_, stage), times) in stages.iter().zip(&mut times) {
            let begin = (Instant::now(), processor());
            stage();
            times.push(match (begin.1, processor()) {
                (Some(begin), Some(end)) => (end - begin) as f64 / 1e9,
                _ => begin.0.elapsed().as_secs_f64(),
            });
        }
    }
    println!("      ms  µs a routine  ns an instruction");
    for ((name, _), times) in stages.iter().zip(&mut times) {
        times.sort_by(f64::total_cmp);
        let median = times.get(ROUNDS / 2).copied().unwrap_or_default();
        println!(
            "{:8.2}  {:12.2}  {:17.1}  {name}",
            median * 1e3,
            median * 1e6 / routines as f64,
            median * 1e9 / instructions as f64
        );
    }
}
