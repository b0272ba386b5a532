//! Which steps of kernels have no template: `cargo run -p visakit-internal-jit --example calls FILE...`

#![allow(
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "an example"
)]

use std::collections::BTreeMap;
use visakit_jit::Jit;

fn main() {
    let jits = [Jit::avx2(), Jit::host()];
    let mut all: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    let mut steps = 0;
    for path in std::env::args().skip(1) {
        let bytes = if path.contains("pvc") { 64 } else { 32 };
        let Ok(source) = visakit_launch::Source::open(path.as_ref()) else {
            continue;
        };
        let Ok(object) = source.object(bytes) else {
            continue;
        };
        let Ok((id, _)) = visakit_launch::find_kernel(&object, None) else {
            continue;
        };
        let options = visakit_exec::Options {
            grf_bytes: bytes,
            passes: visakit_exec::Pass::ALL.to_vec(),
            ..visakit_exec::Options::default()
        };
        let Ok(program) = visakit_exec::Program::new(&object, id, &options) else {
            continue;
        };
        steps += program.code().steps.len();
        let listing = program.code().to_string();
        for (n, jit) in jits.iter().flatten().enumerate() {
            for place in jit.calls(program.code()).unwrap_or_default() {
                let start = format!("{place:>6}  ");
                let line = listing
                    .lines()
                    .find(|l| l.starts_with(&start))
                    .unwrap_or("");
                let shape: String = line
                    .get(8..)
                    .unwrap_or("")
                    .split(';')
                    .next()
                    .unwrap_or("")
                    .chars()
                    .filter(|c| !c.is_ascii_digit())
                    .collect();
                all.entry(shape.trim().to_owned()).or_default()[n] += 1;
            }
        }
    }
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by_key(|(_, n)| std::cmp::Reverse(n.iter().sum::<usize>()));
    println!("{steps} steps; without a template, AVX2 and host:");
    for (shape, [avx2, host]) in all {
        println!("{avx2:>6} {host:>6}  {shape}");
    }
}
