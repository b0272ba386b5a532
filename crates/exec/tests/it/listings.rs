//! Listings of translated code say all that it does: steps that differ are listed differently.

#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing)] // a test

use crate::support::{KERNEL, each_form, strict};
use std::collections::HashMap;
use std::sync::Arc;
use visakit_exec::code::{Action, Code, Origin, Step};
use visakit_exec::{Options, Pass, Program};
use visakit_isa::object::{RoutineId, RoutineKind};
use visakit_text::asm;

/// A step of each listing, and the listings that different steps have.
#[derive(Default)]
struct Listings {
    met: HashMap<String, Step>,
    same: Vec<String>,
}

impl Listings {
    fn add(&mut self, name: &str, code: &Code) {
        let text = code.to_string();
        let mut steps = code.steps.iter();
        for line in text.lines().filter(|line| line.starts_with(' ')) {
            let (line, _) = line.rsplit_once(';').unwrap();
            let (_, line) = line.trim().split_once("  ").unwrap();
            let step = plain(steps.next().unwrap());
            match self.met.get(line.trim()) {
                Some(other) if *other == step => {}
                Some(other) => self
                    .same
                    .push(format!("{name}: {}\n{step:?}\n{other:?}", line.trim())),
                None => {
                    self.met.insert(line.trim().to_owned(), step);
                }
            }
        }
        assert!(steps.next().is_none());
    }
}

/// The step without its origin and the places of its constants, whose values are listed.
fn plain(step: &Step) -> Step {
    let mut step = Step {
        origin: Origin {
            routine: 0,
            instruction: 0,
            op: None,
        },
        ..step.clone()
    };
    if let Action::Compute(compute) = &mut step.action {
        let compute = Arc::make_mut(compute);
        for source in &mut compute.sources {
            if source.constant.is_some() {
                source.offset = 0;
            }
        }
    }
    step
}

#[test]
fn differ_where_steps_differ() {
    let mut listings = Listings::default();
    let other = Options {
        passes: Pass::ALL.to_vec(),
        count: true,
        ..Options::default()
    };
    each_form(|form, object| {
        if let Ok(program) = Program::new(object, KERNEL, &strict()) {
            listings.add(&format!("{:?}, {}", form.def.op, form.name), program.code());
        }
    });
    for (name, text) in visakit_testing::corpus::texts() {
        let Ok(object) = asm::assemble(&text, &asm::Options::default()) else {
            continue;
        };
        for kernel in 0..object.kernels.len() {
            let kernel = RoutineId::new(RoutineKind::Kernel, kernel);
            for options in [Options::default(), other.clone()] {
                if let Ok(program) = Program::new(&object, kernel, &options) {
                    listings.add(&name, program.code());
                }
            }
        }
    }
    let Listings { met, same } = listings;
    assert!(met.len() > 3_000, "{}", met.len());
    assert!(same.is_empty(), "{}", same.join("\n\n"));
}
