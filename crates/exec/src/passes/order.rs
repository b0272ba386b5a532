//! The order of the sources of bitwise functions.
//!
//! A bitwise function of three sources has up to six tables of truth, one for each order of its sources. Compilers
//! write several of them; code for one serves all.

use crate::code::{Action, Code, Operation};
use std::sync::Arc;

/// The orders of three sources: the source that comes first, second, third.
const ORDERS: [[usize; 3]; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
];

/// The table of the same function of sources in another order. Bit n of a table is the result for source bits n, the
/// first source lowest.
fn reordered(table: u8, order: [usize; 3]) -> u8 {
    (0..8).fold(0, |result, n| {
        let bits = (0..).zip(order);
        let old: u8 = bits.map(|(new, old)| (n >> new & 1) << old).sum();
        result | (table >> old & 1) << n
    })
}

/// Orders the sources of bitwise functions so that the truth table is largest.
pub(super) fn order(code: &mut Code) {
    for step in &mut code.steps {
        let Action::Compute(compute) = &mut step.action else {
            continue;
        };
        let Operation::Boolean(table) = compute.operation else {
            continue;
        };
        let tables = ORDERS.map(|order| (reordered(table, order), order));
        // The order that there is, unless another one is better.
        let (best, order) =
            tables
                .into_iter()
                .fold((table, ORDERS[0]), |best, other| match other.0 > best.0 {
                    true => other,
                    false => best,
                });
        if best != table {
            let compute = Arc::make_mut(compute);
            let [a, b, c, rest] = std::mem::take(&mut compute.sources);
            let mut sources = [Some(a), Some(b), Some(c)];
            let [a, b, c] = order.map(|old| {
                let source = sources.get_mut(old).and_then(Option::take);
                source.unwrap_or_default()
            });
            compute.sources = [a, b, c, rest];
            compute.operation = Operation::Boolean(best);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::int::Horner;

    #[test]
    fn tables_of_reordered_sources() {
        let values = [0x00ff_aa55, 0x1234_5678, 0xdead_beef];
        let of = |table: u8, [a, b, c]: [u32; 3]| {
            Horner::new(Horner::coefficients(table)).apply(a, b, c)
        };
        for table in 0..=0xff {
            for order in ORDERS {
                let sources = order.map(|old| values[old]);
                assert_eq!(of(reordered(table, order), sources), of(table, values));
            }
        }
    }
}
