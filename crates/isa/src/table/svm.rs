//! Shared virtual memory.

use super::field::short::*;
use super::{Group, instructions};

const GROUP: Group = Group::Svm;

const ATOMIC_SIZE: Part = Part::Choice(&Choice {
    field: F::Op,
    mask: 0xe0,
    cases: &[(0x20, ".16"), (0x40, ".64"), (0x60, ".64")],
    otherwise: "",
});

const BLOCK: &[Part] = &[
    Part::Mnemonic,
    Part::If(Test::Bits(F::Properties, 8), &[Part::Text(".unaligned")]),
    Part::Text(" ("),
    Part::PowerOfTwo(F::Properties, 7),
    Part::Text(")"),
    Part::Operands,
];

/// An explicit word for the default.
const BLOCK_ALIGNED: &[Part] = &[
    Part::Mnemonic,
    Part::Text(".aligned ("),
    Part::PowerOfTwo(F::Properties, 7),
    Part::Text(")"),
    Part::Operands,
];

const BLOCKS: &[Part] = &[
    Part::Predicate,
    Part::Mnemonic,
    Part::Text("."),
    Part::Choice(&Choice {
        field: F::BlockSize,
        mask: 3,
        cases: &[(0, "1"), (1, "4")],
        otherwise: "8",
    }),
    Part::Text("."),
    Part::PowerOfTwo(F::NumBlocks, 3),
    Part::Text(" "),
    Part::ExecSize,
    Part::Operands,
];

const ATOMIC: &[Part] = &[
    Part::Predicate,
    Part::Mnemonic,
    Part::Text("."),
    Part::Named(F::Op),
    ATOMIC_SIZE,
    Part::Text(" "),
    Part::ExecSize,
    Part::Operand(F::Addresses),
    Part::Operand(F::Dst),
    Part::Operand(F::Src0),
    Part::Operand(F::Src1),
];

/// An explicit word for the default.
const ATOMIC_32: &[Part] = &[
    Part::Predicate,
    Part::Mnemonic,
    Part::Text("."),
    Part::Named(F::Op),
    Part::Text(".32 "),
    Part::ExecSize,
    Part::Operand(F::Addresses),
    Part::Operand(F::Dst),
    Part::Operand(F::Src0),
    Part::Operand(F::Src1),
];

const CHANNELS: &[Part] = &[
    Part::Predicate,
    Part::Mnemonic,
    Part::Text("."),
    Part::Channels(F::Channels, "RGBA"),
    Part::Text(" "),
    Part::ExecSize,
    Part::Operands,
];

/// Passes the rows of this group to a macro. Use [`for_each_op!`](crate::for_each_op).
#[doc(hidden)]
#[macro_export]
macro_rules! __svm_rows {
    ([$($then:tt)+] $($state:tt)*) => {
        $($then)+! {
            $($state)*
    /// Loads consecutive OWords from an address.
    SVM_BLOCK_LD = sub(0x4e, 0x01) ["svm_block_ld"]
        .memory(Memory::flat(Action::Load, ElementSize::Bytes(16), Count::Power(F::Properties, 7)).layout(DataLayout::Block)) .syntax(Syntax::of(BLOCK).or(&[BLOCK_ALIGNED])) .spec(UNKNOWN_SAT, UNKNOWN_MODS, ALL)
        => &[
            u8(F::Properties).note("bits 0-2 log2 of OWord count, bit 3 unaligned"),
            scalar(F::Address, T::UQ), raw_to(F::Dst, ANY),
        ];

    /// Stores consecutive OWords to an address.
    SVM_BLOCK_ST = sub(0x4e, 0x02) ["svm_block_st"]
        .memory(Memory::flat(Action::Store, ElementSize::Bytes(16), Count::Power(F::Properties, 7)).layout(DataLayout::Block)) .syntax(Syntax::of(BLOCK).or(&[BLOCK_ALIGNED])) .spec(UNKNOWN_SAT, UNKNOWN_MODS, ALL)
        => &[
            u8(F::Properties).note("bits 0-2 log2 of OWord count, bit 3 unaligned"),
            scalar(F::Address, T::UQ), raw(F::Src, ANY),
        ];

    /// Loads blocks from the address of each lane.
    SVM_GATHER = sub(0x4e, 0x03) ["svm_gather"]
        .memory(Memory::flat(Action::Load, ElementSize::BlockSize, Count::Power(F::NumBlocks, 3))) .text(BLOCKS) .spec(UNKNOWN_SAT, UNKNOWN_MODS, ALL)
        => &[
            EXEC, PRED, u8(F::BlockSize).named(&enums::BLOCK_SIZE),
            u8(F::NumBlocks).named(&enums::BLOCK_COUNT), raw(F::Addresses, T::UQ),
            raw_to(F::Dst, ANY),
        ];

    /// Stores blocks to the address of each lane.
    SVM_SCATTER = sub(0x4e, 0x04) ["svm_scatter"]
        .memory(Memory::flat(Action::Store, ElementSize::BlockSize, Count::Power(F::NumBlocks, 3))) .text(BLOCKS) .spec(UNKNOWN_SAT, UNKNOWN_MODS, ALL)
        => &[
            EXEC, PRED, u8(F::BlockSize).named(&enums::BLOCK_SIZE),
            u8(F::NumBlocks).named(&enums::BLOCK_COUNT), raw(F::Addresses, T::UQ),
            raw(F::Src, ANY),
        ];

    /// Atomic operation on the address of each lane.
    SVM_ATOMIC = sub(0x4e, 0x05) ["svm_atomic"]
        .memory(Memory::flat(Action::AtomicCode, ElementSize::AtomicCode, Count::One)) .syntax(Syntax::of(ATOMIC).or(&[ATOMIC_32])) .spec(UNKNOWN_SAT, UNKNOWN_MODS, ALL)
        .note("Op byte comes AFTER exec size and pred here, unlike dword_atomic/typed_atomic where it comes first.")
        => &[
            EXEC, PRED,
            u8(F::Op).named(&enums::ATOMIC_OP).note("bits 0-4 atomic code; bit 5 = 16-bit data, bit 6 = 64-bit data"),
            raw(F::Addresses, T::UQ), raw(F::Src0, ANY), raw(F::Src1, ANY), raw_to(F::Dst, ANY),
        ];

    /// Loads up to four dwords for each lane.
    SVM_GATHER4SCALED = sub(0x4e, 0x06) ["svm_gather4scaled"]
        .memory(Memory::flat(Action::Load, ElementSize::Bytes(4), Count::Channels(F::Channels)).layout(DataLayout::Channels)) .text(CHANNELS) .spec(UNKNOWN_SAT, UNKNOWN_MODS, ALL)
        => &[
            EXEC, PRED, u8(F::Channels), u16(F::Scale), scalar(F::Address, T::UQ),
            raw(F::ElementOffset, T::UQ), raw_to(F::Dst, ANY),
        ];

    /// Stores up to four dwords for each lane.
    SVM_SCATTER4SCALED = sub(0x4e, 0x07) ["svm_scatter4scaled"]
        .memory(Memory::flat(Action::Store, ElementSize::Bytes(4), Count::Channels(F::Channels)).layout(DataLayout::Channels)) .text(CHANNELS) .spec(UNKNOWN_SAT, UNKNOWN_MODS, ALL)
        => &[
            EXEC, PRED, u8(F::Channels), u16(F::Scale), scalar(F::Address, T::UQ),
            raw(F::ElementOffset, T::UQ), raw(F::Src, ANY),
        ];
        }
    };
}
__svm_rows! { [instructions] }
