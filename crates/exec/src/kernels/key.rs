//! What the kind of a computation is looked up by.

use crate::code::{Compute, Lane, Modify, Operation, Precision, Region, Relation, Source, Target};
use visakit_isa::DataType;

/// The key for looking up a kind.
#[derive(Clone, Copy)]
pub(super) enum Key {
    /// An operation in lanes of a type.
    Computed(Operation, Lane),
    /// A computation on halves.
    Halves(Operation),
    /// A copy of integers: size and signedness of the source, and the other size of the destination.
    Resized(u8, bool, u8),
    /// A conversion from or to a float of another size.
    Reshaped(DataType, DataType),
    /// A comparison in lanes of a type whose outcome is all ones or zeros.
    Truth(Relation, Lane),
    /// A copy of integers of this size, of every so many to every so many.
    Spaced(u8, u8, u8),
    /// A computation on bytes or words alone: their size, and whether their signs matter and they are signed.
    Short(u8, Operation, bool),
    /// The upper half of a product of dwords, and their signedness.
    High(bool),
    /// A sum of dwords with its carry, or a difference with its borrow.
    Carried(Operation),
}

impl Key {
    pub(super) fn of(compute: &Compute) -> Self {
        let (source, destination) = (&compute.sources[0], &compute.destination);
        let (from, to) = (source.data_type, destination.data_type);
        let integers = !from.is_float() && !to.is_float();
        let resized = from.size() != to.size() && !destination.saturate;
        let same = integers && from.size() == to.size();
        let [a, b, ..] = &compute.sources;
        let is_plain =
            |source: &Source, of: DataType| source.data_type == of && source.modify == Modify::None;
        let are_dwords = |of| is_plain(a, of) && is_plain(b, of);
        let spaces = (
            spacing(&source.region, from),
            match destination.target {
                Target::Packed => Some(1),
                Target::Strided(stride) => every(stride, to),
                _ => None,
            },
        );
        if let (Some(of), Some(to)) = spaces
            && compute.operation == Operation::Copy
            && same
            && (of, to) != (1, 1)
        {
            return Self::Spaced(from.size(), of, to);
        }
        match compute.operation {
            Operation::MulHigh if are_dwords(DataType::Ud) => Self::High(false),
            Operation::MulHigh if are_dwords(DataType::D) => Self::High(true),
            operation @ (Operation::AddCarry | Operation::SubBorrow)
                if are_dwords(DataType::Ud) =>
            {
                Self::Carried(operation)
            }
            Operation::Compare(relation) if compute.sets.is_none() => {
                Self::Truth(relation, compute.lane)
            }
            Operation::Copy if integers && resized => {
                Self::Resized(from.size(), from.is_signed(), to.size())
            }
            Operation::Convert(Lane::F32) if compute.lane == Lane::F32 && resized => {
                Self::Reshaped(from, to)
            }
            Operation::Convert(Lane::F64) if compute.lane == Lane::F64 && resized => {
                Self::Reshaped(from, to)
            }
            Operation::IntegerToFloat if resized => Self::Reshaped(from, to),
            operation if compute.precision == Precision::Half && compute.lane == Lane::F32 => {
                Self::Halves(operation)
            }
            operation => Self::of_short(compute).unwrap_or(Self::Computed(operation, compute.lane)),
        }
    }

    /// The key for a computation on bytes or words alone, in lanes of 32 bits.
    fn of_short(compute: &Compute) -> Option<Self> {
        let operation = compute.operation;
        let sources = compute.sources.get(..operation.sources())?;
        let [first, ..] = sources else { return None };
        let signed = match compute.lane {
            Lane::U32 => false,
            Lane::I32 => true,
            _ => return None,
        };
        let size = first.data_type.size();
        let is_short = |of: DataType| !of.is_float() && of.size() == size && size < 4;
        let are_short = sources.iter().all(|source| is_short(source.data_type))
            && (compute.sets.is_some() || is_short(compute.destination.data_type));
        let of_sign = |source: &Source| source.data_type.is_signed() == signed;
        let fits = are_short
            && match operation {
                // Of these the lower bits are the same.
                Operation::Add
                | Operation::Mul
                | Operation::Add3
                | Operation::And
                | Operation::Or
                | Operation::Xor => !signed,
                Operation::Shr => !signed && of_sign(first),
                Operation::Min | Operation::Max | Operation::Compare(_) => {
                    sources.iter().all(of_sign)
                }
                _ => false,
            };
        fits.then_some(Self::Short(size, operation, signed))
    }
}

/// One in how many elements a source uses.
fn spacing(region: &Region, of: DataType) -> Option<u8> {
    match *region {
        Region::Scalar | Region::Packed => Some(1),
        Region::Strided(stride) => every(stride, of),
        _ => None,
    }
}

/// How many elements this many bytes are.
fn every(stride: u16, of: DataType) -> Option<u8> {
    let size = u16::from(of.size());
    let whole = stride.checked_rem(size) == Some(0);
    whole.then(|| u8::try_from(stride / size).ok()).flatten()
}
