//! How the time grows with the graph: code with branches and loops, and a random graph.

#![allow(missing_docs, clippy::unwrap_used)] // a bench stops at the first surprise

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use visakit_rewrite::graph::layout::{Link, Size, layout};

const BOX: Size = Size {
    width: 300,
    height: 60,
};

/// Each block continues with the next and one nearby; every tenth goes anywhere.
fn code(count: usize) -> (Vec<Size>, Vec<Link>) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
    let mut below = |bound: usize| usize::try_from(random.next_u64() % bound as u64).unwrap();
    let mut links = Vec::new();
    for block in 0..count {
        links.push(Link::new(block, (block + 1) % count));
        let reach = if block % 10 == 0 { count } else { 8 };
        let to = (block + below(reach)).saturating_sub(2) % count;
        links.push(Link::new(block, to));
    }
    (vec![BOX; count], links)
}

#[divan::bench(args = [100, 1_000, 10_000, 100_000])]
fn blocks(bencher: divan::Bencher, count: usize) {
    let (boxes, links) = code(count);
    bencher.bench_local(|| layout(&boxes, &links));
}

fn main() {
    divan::main();
}
