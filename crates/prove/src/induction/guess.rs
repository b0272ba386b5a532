//! What may be equal at cutpoints: what threads begin with, and what runs have shown.

use super::partition::{Bits, Key, Partition};
use super::seen::Seen;
use super::solve::One;
use crate::machine::Failed;
use crate::unknown::Unknown;
use hashbrown::HashMap;
use std::time::Instant;
use visakit_exec::Limits;
use visakit_launch::Prepared;

/// Cells that are equal at each cutpoint: at the first one for sure, at others as runs have shown.
pub(super) fn partitions(
    launches: &[[Prepared; 2]],
    seen: &[[&Seen; 2]],
    sides: &[One<'_>; 2],
    deadline: Option<Instant>,
) -> Result<Vec<Partition>, Failed> {
    let mut partitions = vec![starts(launches, sides, deadline)?];
    // The float mode is mostly the same everywhere: where nothing has come, too.
    let come = |pair: &&[&Seen; 2]| pair.iter().all(|seen| !seen.cells.is_empty());
    let usual = seen.iter().skip(1).find(come);
    for pair in seen.iter().skip(1) {
        partitions.push(guessed(pair, usual.unwrap_or(pair), sides));
    }
    Ok(partitions)
}

/// Cells that are the same in each thread of all launches, when it begins.
fn starts(
    launches: &[[Prepared; 2]],
    sides: &[One<'_>; 2],
    deadline: Option<Instant>,
) -> Result<Partition, Failed> {
    let limits = Limits::default();
    let mut classes = sides.each_ref().map(|one| vec![0_u32; one.layout.len()]);
    let mut always = sides.each_ref().map(|one| vec![None; one.layout.len()]);
    for [old, new] in launches {
        for group in 0..old.group_count() {
            if deadline.is_some_and(|end| Instant::now() > end) {
                return Err(Unknown::new("out of time").into());
            }
            let (first, second) = (old.start(group, &limits)?, new.start(group, &limits)?);
            if first.threads().len() != second.threads().len() {
                return Err(Unknown::new("the kernels have other numbers of threads").into());
            }
            for (a, b) in first.threads().iter().zip(second.threads()) {
                let lanes = |launch: &Prepared, thread: &visakit_exec::Thread| {
                    thread.position(launch.program()).running
                };
                if lanes(old, a) != lanes(new, b) {
                    return Err(Unknown::new("threads that begin with other lanes").into());
                }
                let mut known: HashMap<(u32, u8), u32> = HashMap::new();
                let files = [a.registers(), b.registers()];
                let all = classes.iter_mut().zip(&mut always);
                for ((one, registers), (classes, always)) in sides.iter().zip(files).zip(all) {
                    let cells = classes.iter_mut().zip(always.iter_mut());
                    for ((class, always), value) in cells.zip(one.layout.values(registers)) {
                        let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
                        *class = *known.entry((*class, value)).or_insert(next);
                        let bits = always.map_or(Bits::number(value), |all: Bits| all.and(value));
                        *always = Some(bits);
                    }
                }
            }
        }
    }
    let mut keys = [Vec::new(), Vec::new()];
    let all = classes.iter().zip(&always);
    for ((keys, one), (classes, always)) in keys.iter_mut().zip(sides).zip(all) {
        let defined = one.defined();
        for (cell, (class, always)) in classes.iter().zip(always).enumerate() {
            let known = one.layout.byte(cell);
            let known = known.is_none_or(|byte| defined.get(byte) == Some(&true));
            let key = Key::new((*class).into(), always.unwrap_or_default());
            keys.push((known && !one.layout.is_split(cell)).then_some(key));
        }
    }
    Ok(Partition::by_keys(keys))
}

/// What runs have shown to be equal. Where nothing has come, all is equal until it is not.
fn guessed(seen: &[&Seen; 2], usual: &[&Seen; 2], sides: &[One<'_>; 2]) -> Partition {
    let mut keys = [Vec::new(), Vec::new()];
    let all = seen.iter().zip(usual).zip(sides);
    for (keys, ((seen, usual), one)) in keys.iter_mut().zip(all) {
        let unseen = (0, Bits::default());
        for cell in 0..one.layout.len() {
            let of = match one.layout.is_mode(cell) && seen.cells.is_empty() {
                true => usual,
                false => seen,
            };
            let (sum, always) = of.cells.get(cell).copied().unwrap_or(unseen);
            keys.push((!one.layout.is_split(cell)).then_some(Key::new(sum, always)));
        }
    }
    Partition::by_keys(keys)
}
