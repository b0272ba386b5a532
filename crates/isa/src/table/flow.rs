//! Control flow.

use super::field::short::*;
use super::{Group, instructions};

const GROUP: Group = Group::Flow;

/// Functions have their arguments and their result in predefined variables.
const CALLS: Implicit = Implicit::READS_ARGUMENTS.union(Implicit::WRITES_RESULT);

/// Platforms on which two execution units share the control flow.
const FUSED: Platforms = Platforms::TGLLP
    .union(Platforms::XEHP_SDV)
    .union(Platforms::DG2)
    .union(Platforms::MTL)
    .union(Platforms::ARL);

const JUMP: &[Part] = &[
    Part::Predicate,
    Part::Mnemonic,
    Part::Text(" "),
    Part::ExecSize,
    Part::Text(" "),
    Part::Target(F::Label),
];

const GOTO_LABEL: &[Part] = &[
    Part::Predicate,
    Part::Mnemonic,
    Part::Text(" "),
    Part::ExecSize,
    Part::Text(" "),
    Part::BareTarget(F::Label),
];

const CALL_LABEL: &[Part] = &[
    Part::Predicate,
    Part::CallMnemonic(F::Label),
    Part::Text(" "),
    Part::ExecSize,
    Part::Text(" "),
    Part::CallTarget(F::Label),
];

const CALL_ADDRESS: &[Part] = &[
    Part::Predicate,
    Part::Mnemonic,
    Part::Flags(F::Flags, &[(0, ".uniform"), (1, ".noreturn")]),
    Part::Text(" "),
    Part::ExecSize,
    Part::Operand(F::FuncAddr),
    Part::Text(" "),
    Part::Number(F::ArgSize),
    Part::Text(" "),
    Part::Number(F::RetSize),
];

const CALL_NAME: &[Part] = &[
    Part::Predicate,
    Part::Mnemonic,
    Part::Text(" "),
    Part::ExecSize,
    Part::Text(" "),
    Part::Name(F::FuncName),
    Part::Text(" "),
    Part::Number(F::ArgSize),
    Part::Text(" "),
    Part::Number(F::RetSize),
];

const ADDRESS_OF_SYMBOL: &[Part] = &[
    Part::Mnemonic,
    Part::Text(" "),
    Part::Symbol(F::Symbol),
    Part::Operand(F::Dst),
];

const SWITCH: &[Part] = &[
    Part::Mnemonic,
    Part::Text(" "),
    Part::ExecSize,
    Part::Operand(F::Index),
    Part::Text(" ("),
    Part::Targets(F::Labels),
    Part::Text(")"),
];

/// Passes the rows of this group to a macro. Use [`for_each_op!`](crate::for_each_op).
#[doc(hidden)]
#[macro_export]
macro_rules! __flow_rows {
    ([$($then:tt)+] $($state:tt)*) => {
        $($then)+! {
            $($state)*
    /// Begins a subroutine.
    SUBROUTINE = plain(0x30) [".function", "func"]
        .flow(Flow::Label { subroutine: true }) .syntax(Syntax::subroutine()) .spec(NO_SAT, NO_MODS, ALL)
        => &[field(F::Label, FieldKind::Label)];

    /// Marks the begin of a block.
    LABEL = plain(0x31) ["label"]
        .flow(Flow::Label { subroutine: false }) .syntax(Syntax::label()) .spec(NO_SAT, NO_MODS, ALL)
        => &[field(F::Label, FieldKind::Label)];

    /// Uniform jump.
    JMP = plain(0x32) ["jmp"]
        .flow(Flow::Jump { by_lane: false }) .text(JUMP) .spec(NO_SAT, NO_MODS, ALL)
        => &[EXEC, PRED, field(F::Label, FieldKind::Label)];

    /// Calls a subroutine.
    CALL = plain(0x33) ["call"]
        .flow(Flow::Call(Callee::Label)) .text(CALL_LABEL) .spec(NO_SAT, NO_MODS, ALL)
        .note("The spec also lists FCCALL with this opcode number; it differs only in the label kind (LABEL_FC).")
        => &[EXEC, PRED, field(F::Label, FieldKind::Label)];

    /// Returns from a subroutine or ends the kernel.
    RET = plain(0x34) ["ret"]
        .flow(Flow::Return { function: false }) .spec(NO_SAT, NO_MODS, ALL)
        => &[EXEC, PRED];

    /// Calls the function at an address.
    IFCALL = plain(0x4f) ["ifcall"]
        .flow(Flow::Call(Callee::Address)).implicit(CALLS).ending(Ending::IfBit(F::Flags, 1)) .text(CALL_ADDRESS) .spec(NO_SAT, NO_MODS, ALL).since("2018-10")
        => &[
            EXEC, PRED,
            u8(F::Flags).when(since(Features::IFCALL_FLAGS)).note("bit 0 uniform, bit 1 noreturn"),
            scalar(F::FuncAddr, T::UD.union(T::UQ)), u8(F::ArgSize), u8(F::RetSize),
        ];

    /// Address of a function or global symbol.
    FADDR = plain(0x50) ["faddr"] .text(ADDRESS_OF_SYMBOL) .spec(UNLISTED_SAT, NO_MODS, ALL).since("2018-10")
        .note("No exec size, no pred.")
        => &[field(F::Symbol, FieldKind::StringIndex16), dst(G, T::UD.union(T::UQ))];

    /// Begins a SIMD conditional.
    IF = reused(0x60) ["if"]
        .flow(Flow::Structured(Structure::If)) .group(Group::SimdFlow).retired(before(Features::SINCE_3_8))
        .note("Structured SIMD control flow of the 2018 sources; no label. Removed before 3.8.")
        => &[EXEC, PRED];

    /// Other lanes of the innermost conditional.
    ELSE = plain(0x61) ["else"]
        .flow(Flow::Structured(Structure::Else)) .group(Group::SimdFlow).retired(before(Features::SINCE_3_8))
        .note("Structured SIMD control flow of the 2018 sources; no label. Removed before 3.8.")
        => &[EXEC];

    /// Ends a SIMD conditional.
    ENDIF = plain(0x62) ["endif"]
        .flow(Flow::Structured(Structure::EndIf)) .group(Group::SimdFlow).retired(before(Features::SINCE_3_8))
        .note("Structured SIMD control flow of the 2018 sources; no label. Removed before 3.8.")
        => &[EXEC];

    /// Begins a SIMD loop.
    DO = plain(0x63) ["do"]
        .flow(Flow::Structured(Structure::Do)) .group(Group::SimdFlow).retired(before(Features::SINCE_3_8))
        .note("Structured SIMD control flow of the 2018 sources; no label. Removed before 3.8.")
        => &[EXEC];

    /// Ends a SIMD loop; enabled lanes repeat it.
    WHILE = plain(0x64) ["while"]
        .flow(Flow::Structured(Structure::While)) .group(Group::SimdFlow).retired(before(Features::SINCE_3_8))
        .note("Structured SIMD control flow of the 2018 sources; no label. Removed before 3.8.")
        => &[EXEC, PRED];

    /// Enabled lanes leave the loop.
    BREAK = plain(0x65) ["break"]
        .flow(Flow::Structured(Structure::Break)) .group(Group::SimdFlow).retired(before(Features::SINCE_3_8))
        .note("Structured SIMD control flow of the 2018 sources; no label. Removed before 3.8.")
        => &[EXEC, PRED];

    /// Enabled lanes go to the end of the loop.
    CONT = plain(0x66) ["cont"]
        .flow(Flow::Structured(Structure::Continue)) .group(Group::SimdFlow).retired(before(Features::SINCE_3_8))
        .note("Structured SIMD control flow of the 2018 sources; no label. Removed before 3.8.")
        => &[EXEC, PRED];

    /// Calls a function by name.
    FCALL = plain(0x67) ["fcall"]
        .flow(Flow::Call(Callee::Name)).implicit(CALLS) .text(CALL_NAME) .spec(NO_SAT, NO_MODS, ALL)
        .note("Callee is identified by name string since 2019-06 (commit f07b87b2c); before that the 16-bit field was a function id.")
        => &[
            EXEC, PRED, field(F::FuncName, FieldKind::StringIndex16), u8(F::ArgSize),
            u8(F::RetSize),
        ];

    /// Returns from a function.
    FRET = plain(0x68) ["fret"]
        .flow(Flow::Return { function: true }).implicit(Implicit::READS_RESULT) .spec(NO_SAT, NO_MODS, ALL)
        => &[EXEC, PRED];

    /// Uniform jump to one of several labels.
    SWITCHJMP = plain(0x69) ["switchjmp"]
        .flow(Flow::Switch).lacking(FUSED) .text(SWITCH) .spec(NO_SAT, NO_MODS, UP_TO_ICL)
        .note("No pred field.")
        => &[
            EXEC, field(F::NumLabels, FieldKind::Count), scalar(F::Index, T::UB),
            field(F::Labels, FieldKind::Labels),
        ];

    /// Divergent jump: enabled lanes continue at the label.
    GOTO = plain(0x6c) ["goto"]
        .flow(Flow::Jump { by_lane: true }) .text(GOTO_LABEL) .group(Group::SimdFlow).spec(NO_SAT, NO_MODS, ALL)
        => &[EXEC, PRED, field(F::Label, FieldKind::Label)];
        }
    };
}
__flow_rows! { [instructions] }
