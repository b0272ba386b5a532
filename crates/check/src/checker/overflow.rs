//! Sums and products that are addresses, and are too large for the registers they are put in.

use super::{Cause, Checker};
use crate::definedness;
use crate::finding::{Kind, Space};
use crate::shadow::element;
use std::ops::Range;
use visakit_exec::InstructionEvent;
use visakit_exec::code::{Action, Code, Compute, Modify, Operation, Source};

/// Part of an address.
const ADDRESS: u8 = 1;
/// Its sign is extended to 64 bits on the way to the address.
const EXTENDED: u8 = 2;
/// Computed as a product with a large constant: compilers compute remainders this way, and intend the wrapped value.
const MODULAR: u8 = 4;
/// Goes into a sum that is modular, or is truncated in place.
const CUT: u8 = 8;

/// Constants from here on are large: no element is of this size.
const LARGE: i64 = 1 << 24;

/// Uses are traced from messages back to their operands; more deeply entangled code is not traced completely.
const PASSES: usize = 16;

/// The registers from which addresses are computed by sums, products, shifts and moves. A value that is masked, divided
/// or selected on the way is meant to be truncated.
#[derive(Debug, Default)]
struct Parts(Vec<u8>);

impl Parts {
    fn of(&self, range: Range<usize>) -> u8 {
        let range = self.0.get(range);
        range.unwrap_or_default().iter().fold(0, |all, f| all | f)
    }

    /// Whether anything is new.
    fn mark(&mut self, range: Range<usize>, flags: u8) -> bool {
        let range = self.0.get_mut(range);
        let mut new = false;
        for to in range.unwrap_or_default() {
            new |= *to | flags != *to;
            *to |= flags;
        }
        new
    }

    fn result(&self, compute: &Compute, lanes: usize) -> u8 {
        self.of(written(compute, lanes))
    }
}

/// Bytes that an operation writes; none if an address determines them.
fn written(compute: &Compute, lanes: usize) -> Range<usize> {
    compute.destination.range(lanes).unwrap_or_default()
}

/// Whether it is a product with a large constant.
fn is_modular(compute: &Compute, code: &Code) -> bool {
    let large = |source: &Source| {
        let value = source
            .constant
            .and_then(|_| code.constant(source.offset))
            .map(|bits| (bits << 32).cast_signed() >> 32);
        value.is_some_and(|value| value.abs() >= LARGE)
    };
    let factors = compute.sources.iter().take(2);
    matches!(compute.operation, Operation::Mul | Operation::Mad) && factors.clone().any(large)
}

/// Whether the operands are parts of an address if the result is.
const fn is_followed(operation: Operation) -> bool {
    matches!(operation, Operation::Copy | Operation::Convert(_)) || is_sum(operation)
}

const fn is_sum(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::Add | Operation::Add3 | Operation::Mul | Operation::Mad | Operation::Shl
    )
}

/// For each step whether it computes an address of 32 bits, and whether its sign is extended.
pub(super) fn sums_of_addresses(code: &Code) -> Vec<Option<bool>> {
    let mut parts = Parts(vec![0; code.register_bytes]);
    for step in &code.steps {
        if let Action::Message(message) = &step.action {
            let operands = message.operands();
            for operand in &operands.addresses {
                let end = operand.offset + operand.bytes * operand.lanes;
                parts.mark(operand.offset..end, ADDRESS);
            }
            for range in &operands.scalars {
                parts.mark(range.clone(), ADDRESS);
            }
        }
    }
    for step in &code.steps {
        if let Action::Compute(compute) = &step.action
            && !is_followed(compute.operation)
        {
            let lanes = usize::from(step.lanes.count);
            let written = written(compute, lanes);
            let used = compute.sources.iter().take(compute.operation.sources());
            let mut sources = used.filter_map(|source| definedness::bounds(source, lanes));
            if sources.any(|from| from.start < written.end && written.start < from.end) {
                parts.mark(written, CUT);
            }
        }
    }
    for _ in 0..PASSES {
        let mut new = false;
        for step in &code.steps {
            let Action::Compute(compute) = &step.action else {
                continue;
            };
            let lanes = usize::from(step.lanes.count);
            let used = compute.sources.iter().take(compute.operation.sources());
            let of = used
                .filter_map(|source| definedness::bounds(source, lanes))
                .fold(0, |all, range| all | parts.of(range));
            let follows = is_followed(compute.operation) && of & MODULAR != 0;
            if follows || is_modular(compute, code) {
                new |= parts.mark(written(compute, lanes), MODULAR);
            }
        }
        for step in code.steps.iter().rev() {
            let Action::Compute(compute) = &step.action else {
                continue;
            };
            let lanes = usize::from(step.lanes.count);
            let flags = parts.result(compute, lanes);
            if flags & ADDRESS == 0 || !is_followed(compute.operation) {
                continue;
            }
            let wide = compute.destination.data_type.size() == 8;
            for source in compute.sources.iter().take(compute.operation.sources()) {
                let ty = source.data_type;
                let extended = wide && ty.size() == 4 && ty.is_signed();
                let mut of = flags & (ADDRESS | EXTENDED);
                if extended {
                    of |= EXTENDED;
                }
                if flags & (MODULAR | CUT) != 0 {
                    of |= CUT;
                }
                if let Some(range) = definedness::bounds(source, lanes) {
                    new |= parts.mark(range, of);
                }
            }
        }
        if !new {
            break;
        }
    }
    let sum = |step: &visakit_exec::code::Step| {
        let Action::Compute(compute) = &step.action else {
            return None;
        };
        let used = compute.sources.iter().take(compute.operation.sources());
        let mut types = used
            .map(|source| source.data_type)
            .chain([compute.destination.data_type]);
        let small = compute.destination.data_type.size() == 4
            && types.all(|ty| ty.is_integer() && ty.size() <= 4);
        let flags = parts.result(compute, usize::from(step.lanes.count));
        (small && is_sum(compute.operation) && flags & (ADDRESS | MODULAR | CUT) == ADDRESS)
            .then_some(flags & EXTENDED != 0)
    };
    code.steps.iter().map(sum).collect()
}

/// The element of a lane as a number: a dword with its sign, if `signed`, else without; others as their type has it.
fn number(source: &Source, lane: usize, registers: &[u8], signed: bool) -> Option<i128> {
    let bytes = usize::from(source.data_type.size());
    let bits = element(registers, source.place(lane, registers)?, bytes);
    let signed = if bytes == 4 {
        signed
    } else {
        source.data_type.is_signed()
    };
    let width = 64 - 8 * u32::try_from(bytes).ok()?;
    let number = if signed {
        i128::from((bits << width).cast_signed() >> width)
    } else {
        i128::from(bits)
    };
    Some(match source.modify {
        Modify::None => number,
        Modify::Abs => number.abs(),
        Modify::Neg => -number,
        Modify::NegAbs => -number.abs(),
        Modify::Not => return None,
    })
}

/// The result of an operation with registers of unlimited width.
fn exact(compute: &Compute, lane: usize, registers: &[u8], signed: bool) -> Option<i128> {
    let source = |n: usize| number(compute.sources.get(n)?, lane, registers, signed);
    Some(match compute.operation {
        Operation::Add => source(0)? + source(1)?,
        Operation::Add3 => source(0)? + source(1)? + source(2)?,
        Operation::Mul => source(0)? * source(1)?,
        Operation::Mad => source(0)? * source(1)? + source(2)?,
        Operation::Shl => source(0)? << (source(1)? & 31),
        _ => return None,
    })
}

impl Checker {
    /// Checks whether a result that becomes an address fits its register: as a signed number if its sign is extended
    /// later, otherwise as either a signed or an unsigned one.
    pub(super) fn look_at_addresses(&mut self, event: &InstructionEvent<'_>) {
        let Some(Some(extended)) = self.sums.get(event.step).copied() else {
            return;
        };
        let Some(step) = self.code.steps.get(event.step) else {
            return;
        };
        let Action::Compute(compute) = &step.action else {
            return;
        };
        let (least, most) = (i128::from(i32::MIN), i128::from(u32::MAX));
        let too_large = |lane: usize| {
            let signed = exact(compute, lane, event.registers, true)?;
            if extended {
                return (i32::try_from(signed).is_err()).then_some(signed);
            }
            let unsigned = exact(compute, lane, event.registers, false)?;
            let fits = |n: i128| (least..=most).contains(&n);
            (!fits(signed) && !fits(unsigned)).then_some(signed)
        };
        let wrong = (0..usize::from(step.lanes.count))
            .filter(|lane| event.mask >> lane & 1 != 0)
            .find_map(|lane| Some((lane, too_large(lane)?)));
        let Some((lane, number)) = wrong else { return };
        let cause = Cause::new(Kind::AddressOverflow, self.key(self.current.0));
        self.find(cause, |this| {
            let lane = u8::try_from(lane).ok();
            let message = format!("{number} becomes an address, and does not fit 32 bits");
            this.finding(Kind::AddressOverflow, Space::Register, message, lane)
        });
    }
}
