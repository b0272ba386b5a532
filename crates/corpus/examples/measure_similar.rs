//! Precision and recall of `visakit similar`: `cargo run --release --example measure_similar FOLDER`.
//!
//! FOLDER has a folder for each source with one object for each device or compiler. Two objects are a pair if they are
//! in one folder.
#![allow(clippy::print_stdout, clippy::expect_used, clippy::cast_precision_loss)]

use visakit_corpus::fingerprint::Fingerprint;
use visakit_corpus::similar::Collection;

fn main() {
    let folder = std::env::args().nth(1).expect("a folder");
    let mut collection = Collection::default();
    let mut all = Vec::new();
    let mut sources: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .flatten()
        .collect();
    sources.sort_by_key(std::fs::DirEntry::path);
    for (source, entry) in sources.iter().enumerate() {
        for file in std::fs::read_dir(entry.path())
            .into_iter()
            .flatten()
            .flatten()
        {
            let bytes = std::fs::read(file.path()).expect("a file");
            let Ok(object) = visakit_parse::read(&bytes) else {
                continue;
            };
            let Some(body) = object.kernels.first().and_then(|k| k.body()) else {
                continue;
            };
            let fingerprint = Fingerprint::of(body, object.format());
            collection.add(fingerprint.clone());
            let name = file.file_name().to_string_lossy().into_owned();
            // `compiler-device.isa`
            let compiler = name.split('-').next().unwrap_or_default().to_owned();
            all.push((source, compiler, fingerprint));
        }
    }
    println!("{} objects of {} sources", all.len(), sources.len());
    // Scores of pairs: of one compiler, of two, of other sources; same hashes of flow.
    let mut scores: [Vec<f64>; 3] = Default::default();
    let (mut totals, mut flows, mut exact) = ([0u64; 3], [0u64; 3], [0u64; 3]);
    let mut first_is_right = 0;
    for (number, (source, compiler, fingerprint)) in all.iter().enumerate() {
        let kind = |other: usize| match all.get(other) {
            Some((s, c, _)) if s == source => usize::from(c != compiler),
            _ => 2,
        };
        for other in (0..all.len()).filter(|other| *other != number) {
            if let Some(total) = totals.get_mut(kind(other)) {
                *total += 1;
            }
        }
        let found = collection.similar_to(fingerprint, 0.0);
        let mut found = found.into_iter().filter(|s| s.entry != number).peekable();
        first_is_right += u64::from(found.peek().is_some_and(|s| kind(s.entry) < 2));
        for similar in found {
            let kind = kind(similar.entry);
            if let (Some(scores), Some(flows), Some(exact)) = (
                scores.get_mut(kind),
                flows.get_mut(kind),
                exact.get_mut(kind),
            ) {
                scores.push(similar.score);
                *flows += u64::from(similar.same_flow);
                *exact +=
                    u64::from(similar.relation < visakit_corpus::similar::Relation::Recompiled);
            }
        }
    }
    println!(
        "nearest is of the same source: {:.3}",
        first_is_right as f64 / all.len() as f64
    );
    println!("same flow: {flows:?}, same code: {exact:?} of {totals:?}");
    println!("threshold  precision  recall(one compiler)  recall(two compilers)");
    for step in 1..=16 {
        let threshold = f64::from(step) * 0.05;
        let above = |kind: usize| {
            scores
                .get(kind)
                .map_or(0, |s| s.iter().filter(|s| **s >= threshold).count()) as f64
        };
        let (one, two, other) = (above(0), above(1), above(2));
        let share = |n: f64, kind: usize| n / totals.get(kind).map_or(1, |t| (*t).max(1)) as f64;
        let precision = (one + two) / (one + two + other).max(1.0);
        println!(
            "{threshold:9.2}  {precision:9.3}  {:20.3}  {:21.3}",
            share(one, 0),
            share(two, 1)
        );
    }
}
