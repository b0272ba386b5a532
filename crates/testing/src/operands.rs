//! An operand of each class with its bytes, for reader and writer.

#![allow(missing_docs)]

use visakit_isa::operand::{
    AddressOperand, GeneralOperand, IndirectOperand, Modifier, PredicateOperand, StateClass,
    StateOperand,
};
use visakit_isa::{AddressId, DataType, Format, Predicate, Region, VarId, VectorOperand};

/// Operands of every class but immediates, each number different from the others.
#[must_use]
pub fn samples(format: Format) -> Vec<(VectorOperand, Vec<u8>)> {
    let general = GeneralOperand {
        modifier: Modifier::NEG,
        variable: VarId(0x1234),
        row: 5,
        column: 6,
        region: Region::from_bits(0x0243),
    };
    let address = AddressOperand {
        modifier: Modifier::NONE,
        address: AddressId(0x1234),
        offset: 5,
        width: 3,
    };
    let predicate = PredicateOperand {
        modifier: Modifier::NOT,
        predicate: Predicate::from_bits(0x0234),
    };
    let indirect = IndirectOperand {
        modifier: Modifier::SAT,
        address: AddressId(0x1234),
        address_offset: 5,
        offset: -2,
        property: DataType::W.into(),
        region: Region::from_bits(0x0243),
    };
    let state = StateOperand {
        modifier: Modifier::NONE,
        class: StateClass::SAMPLER,
        index: 0x1234,
        offset: 5,
    };
    let wide: &[u8] = if format.wide_indices() { &[0, 0] } else { &[] };
    vec![
        (
            general.into(),
            [&[0x10, 0x34, 0x12], wide, &[5, 6, 0x43, 0x02]].concat(),
        ),
        (address.into(), vec![0x01, 0x34, 0x12, 5, 3]),
        (predicate.into(), vec![0x2a, 0x34, 0x02]),
        (
            indirect.into(),
            vec![0x23, 0x34, 0x12, 5, 0xfe, 0xff, 0x03, 0x43, 0x02],
        ),
        (state.into(), vec![0x06, 0x01, 0x34, 0x12, 5]),
    ]
}
