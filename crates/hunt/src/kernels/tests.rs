//! Changes of each kind keep what kernels compute, in what Intel's compiler makes of them.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers of tests"
)]

use super::change::Change;
use super::subject::{Subject, subjects};
use crate::ast::Program;
use crate::choices::Choices;
use crate::configuration::{Made, of_this_machine};
use crate::features::Feature;
use crate::generate::{Options, generate};
use crate::machine::{Launching, Memory};
use crate::render::source;

const KERNELS: &str = "
#define N 8
int twice(int a) { return a + a; }
__kernel void sums(__global int *o, __global const int *a, const uint n) {
  int id = get_global_id(0);
  int sum = a[id] + id * 3;
  uint bits = (uint)(sum ^ id) & 255u;
  for (int j = 0; j < 5; j++) { sum += a[(id + j) & 63]; if (sum > 40) sum = sum - 7; else sum += 2; }
  for (int j = 0; j < N; j++) sum ^= j;
  if (bits > 9u && id < (int)n) { o[id] = twice(sum); } else if (id == 3) { o[id] = (int)bits; } else o[id] = -sum;
}
__kernel void mixed(__global int4 *o, __global const short *a, __local int *l) {
  int id = get_local_id(0);
  l[id] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  int4 v = (int4)(id, l[31 - id], 3, 4);
  int low = v.x;
  int i = 0;
  while (i < 3) { v += low * v.yxwz; i++; }
  if (v.y > 100) { low = 5; } else { low = v.y; }
  o[get_global_id(0)] = v + low;
}
";

fn of_program(seed: u64) -> Subject {
    let features = [
        Feature::Loops,
        Feature::Functions,
        Feature::Arrays,
        Feature::Builtins,
    ];
    let options = Options {
        features: features.into(),
        statements: 16,
    };
    let program: Program = generate(seed, &options);
    let launching = Launching::of(&program).unwrap();
    Subject::new(
        format!("seed {seed}"),
        &source(&[&program], None),
        "k0",
        launching,
    )
    .unwrap()
}

/// As many changes as do not meet.
fn together(all: &[Change]) -> Vec<Change> {
    let mut some: Vec<Change> = Vec::new();
    for change in all {
        if !some.iter().any(|c| c.meets(change)) {
            some.push(change.clone());
        }
    }
    some
}

fn all_subjects() -> Vec<Subject> {
    let folder = tempfile::tempdir().unwrap();
    visakit_files::scratch(&folder.path().join("k.cl"), KERNELS).unwrap();
    visakit_files::scratch(
        &folder.path().join("f.cl"),
        "__kernel void f(__global float *p) { p[0] = sin(p[1]); }",
    )
    .unwrap();
    visakit_files::scratch(
        &folder.path().join("b.cl"),
        "__kernel void b(read_only image2d_t p) {}",
    )
    .unwrap();
    let (mut all, left_out) = subjects(folder.path()).unwrap();
    let reasons: Vec<&str> = left_out.iter().map(|(_, reason)| reason.as_str()).collect();
    assert_eq!(reasons.len(), 2, "{reasons:?}");
    assert_eq!(reasons[1], "its results with floats are open: `sin`");
    let names: Vec<&str> = all.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["k.cl: mixed", "k.cl: sums"]);
    all.extend([3, 5].map(of_program));
    all
}

#[test]
fn changes_are_of_the_source() {
    let all = all_subjects();
    let sums = &all[1];
    let mut counts = Vec::new();
    let mut texts = String::new();
    for changes in sums.all_changes() {
        counts.push(changes.len());
        if let Some(first) = changes.first() {
            let text = sums.variant(std::slice::from_ref(first)).unwrap();
            let text = text.split("const uint n").nth(1).unwrap();
            let text = text.split("__kernel").next().unwrap();
            texts.push_str(&format!("// {}{text}\n", first.what));
        }
    }
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
    insta::assert_snapshot!(texts);
    // A seed always makes the same variant, of changes that do not meet.
    for subject in &all {
        for seed in 0..40 {
            let changes = subject.changes(seed, 6);
            assert_eq!(changes, subject.changes(seed, 6));
            assert_eq!(together(&changes), changes);
            assert!(
                subject
                    .variant(&changes)
                    .unwrap()
                    .contains("const uint visakit_one")
            );
        }
    }
    assert_eq!(Choices::new(1).bits(), Choices::new(1).bits());
}

#[test]
fn results_are_kept() {
    let Some((bench, configuration)) = of_this_machine() else {
        println!("NOT RUN: needs ocloc");
        return;
    };
    let run = |subject: &Subject, source: &str, launching: Launching| -> Memory {
        let tasks = [(subject.kernel.clone(), launching)];
        match bench.run(&configuration, source, &tasks).unwrap() {
            Ok(all) => match all.first() {
                Some(Made::Memory(memory, _)) => memory.clone(),
                other => panic!("{}: {other:?}\n{source}", subject.name),
            },
            Err(made) => panic!("{}: {made:?}\n{source}", subject.name),
        }
    };
    for subject in all_subjects() {
        let expected = run(&subject, subject.source(), subject.launching.clone());
        let kinds = subject.all_changes();
        let kinds = kinds.into_iter().map(|all| together(&all));
        for changes in kinds
            .chain([subject.changes(1, 6)])
            .filter(|c| !c.is_empty())
        {
            let text = subject.variant(&changes).unwrap();
            let memory = run(&subject, &text, subject.launching_of_variant());
            assert!(
                memory == expected,
                "{}: {}\n{text}",
                subject.name,
                changes[0].what
            );
        }
    }
}
