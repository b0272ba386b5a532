//! The fast machine against the slow one, on random instructions, messages and programs.
//!
//! `VISAKIT_ORACLE_ROUTINES` sets the number of routines of single instructions (eight each; a third
//! as many of messages, a forty-fifth as many programs of each style). The program of this crate runs
//! more of them on all cores.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // a test that reports

use std::collections::BTreeSet;
use visakit_isa::Op;
use visakit_oracle::generate::{generated, messages, undefined};
use visakit_oracle::session::{self, Tally};

/// Number of routines of single instructions by default.
const ROUTINES: u64 = 9_000;

fn routines() -> u64 {
    std::env::var("VISAKIT_ORACLE_ROUTINES")
        .ok()
        .map_or(ROUTINES, |v| v.parse().unwrap())
}

fn report(what: &str, tally: &Tally) {
    println!("{what}\n{}", tally.table());
    println!("{} instructions compared", tally.total());
    if !tally.bytes.is_empty() {
        println!("{}", tally.precision());
    }
    for failure in tally.failures.iter().take(3) {
        println!("{failure}");
    }
    assert_eq!(tally.failed, 0, "{what}: routines differ");
}

#[test]
fn single_instructions_agree() {
    let tally = session::instructions(0..routines(), None, 3);
    report("single instructions", &tally);
    for row in generated() {
        assert!(
            tally.compared.contains_key(&row.op),
            "{} never ran",
            row.name
        );
    }
}

#[test]
fn messages_agree() {
    let tally = session::all_messages(0..routines() / 3, None, 3);
    report("messages", &tally);
    for row in messages() {
        assert!(
            tally.compared.contains_key(&row.op),
            "{} never ran",
            row.name
        );
    }
}

#[test]
fn programs_agree() {
    let tally = session::programs(0..routines() / 45, 3);
    report("programs", &tally);
}

/// Every row with operands is compared alone, in a program, or has a reason not to be.
#[test]
fn rows_are_generated_or_listed() {
    let mut done: BTreeSet<_> = generated().chain(messages()).map(|row| row.op).collect();
    for (row, why) in undefined() {
        assert!(done.insert(row.op), "{}", row.name);
        assert!(!why.is_empty());
    }
    for row in visakit_isa::table::rows() {
        let flows = row.flow != visakit_isa::semantics::Flow::Next;
        let waits = row.group == visakit_isa::table::Group::Sync || row.memory.is_some();
        assert!(
            done.contains(&row.op) || flows || waits || row.op == Op::FADDR,
            "{}",
            row.name
        );
    }
}
