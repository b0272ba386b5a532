//! Variables, inputs, labels.

use super::source::{HEADER, INPUTS, VERIFIER};
use crate::rule::rules;

rules! {
    VARIABLE_TYPE = 100 "variable-type" Error {
        what: "A general variable has an integer or floating-point type: v, uv and vf are types of constants, bool one of predicates.",
        action: "Declare it with a type that has a size in registers.",
        source: HEADER,
    }
    VARIABLE_ELEMENTS = 101 "variable-elements" Error {
        what: "A general variable has 1 to 16384 elements (1 to 256 registers of bytes).",
        action: "Correct the number of elements.",
        source: VERIFIER,
    }
    ALIGNMENT = 102 "alignment" Error {
        what: "The alignment of a variable is one of the ten that have a code.",
        action: "Use byte, word, dword, qword, oword, GRF, GRFx2, hword, wordx32 or wordx64.",
        source: HEADER,
    }
    OFFSET_WITHOUT_ALIAS = 103 "offset-without-alias" Error {
        what: "A variable that is no alias has no alias offset.",
        action: "Set the offset to zero, or name the variable that it points into.",
        source: HEADER,
    }
    ALIAS_CYCLE = 104 "alias-cycle" Error {
        what: "Following aliases leads to a variable with storage of its own.",
        action: "Break the circle.",
        source: VERIFIER,
    }
    ALIAS_OFFSET = 105 "alias-offset" Error {
        what: "An alias begins inside of the variable whose storage it shares.",
        action: "Make the other variable larger, or the offset smaller.",
        source: VERIFIER,
    }
    ALIAS_OVERRUN = 106 "alias-overrun" Warning {
        what: "An alias ends inside of the variable whose storage it shares.",
        action: "Make the other variable larger, or this one smaller: its last elements may belong to something else.",
        source: HEADER,
    }
    ALIAS_ALIGNMENT = 107 "alias-alignment" Error {
        what: "The variable whose storage an alias shares is aligned at least to the type of the alias.",
        action: "Align the other variable to the type of this one.",
        source: VERIFIER,
    }
    ALIAS_OFFSET_ALIGNMENT = 108 "alias-offset-alignment" Warning {
        what: "The offset of an alias is a multiple of the size of its type.",
        action: "Move it to a multiple: accesses that are not aligned are undefined.",
        source: HEADER,
    }
    ALIAS_FORWARD = 109 "alias-forward" Warning {
        what: "An alias is of a variable that is declared before it.",
        action: "Declare the other variable first: readers go through the table once.",
        source: "every real object; readers resolve aliases while they read the table",
    }
    ALIAS_PREDEFINED = 110 "alias-predefined" Warning {
        what: "Of the predefined variables only r0, arg, retval, sp, fp and the two implicit pointers may be aliased.",
        action: "Copy the value into a variable of its own.",
        source: HEADER,
    }
    ALIAS_SCOPE = 111 "alias-scope" Error {
        what: "The scope of an alias is 0 (local), or 1 (file) in an object that has the file-scope variable.",
        action: "Correct the scope.",
        source: HEADER,
    }
    ADDRESS_ELEMENTS = 112 "address-elements" Error {
        what: "An address variable has up to 16 elements, up to 32 from Xe3P on.",
        action: "Split it: there are no more address registers.",
        source: VERIFIER,
    }
    PREDICATE_ELEMENTS = 113 "predicate-elements" Error {
        what: "A predicate variable has 1, 2, 4, 8, 16 or 32 elements.",
        action: "Round the number up.",
        source: VERIFIER,
    }
    STATE_ELEMENTS = 114 "state-elements" Error {
        what: "A sampler has up to 128 elements.",
        action: "Correct the number of elements.",
        source: VERIFIER,
    }
    EMPTY_DECLARATION = 115 "empty-declaration" Warning {
        what: "An address, sampler or surface variable has an element at least.",
        action: "Give it one, or remove it.",
        source: HEADER,
    }
    LABEL_KIND = 116 "label-kind" Warning {
        what: "The kind of a label is one that has a name.",
        action: "Use block (0) or subroutine (1).",
        source: HEADER,
    }
    INPUT_CLASS = 120 "input-class" Error {
        what: "An input is general (0), a sampler (1) or a surface (2).",
        action: "Correct bits 0 to 2 of its kind.",
        source: INPUTS,
    }
    INPUT_VARIABLE = 121 "input-variable" Error {
        what: "A general input names a declared variable, not a predefined one.",
        action: "Declare a variable for it.",
        source: VERIFIER,
    }
    INPUT_UNDECLARED = 122 "input-undeclared" Warning {
        what: "An input sampler or surface is declared, and not predefined.",
        action: "Declare it. Kernels of the Cm compiler list surfaces that they do not declare, and run.",
        source: VERIFIER,
    }
    INPUT_SIZE = 123 "input-size" Error {
        what: "An input is as large as what it fills: a general one as its variable, a surface 4 bytes for each element.",
        action: "Correct the size, or the declaration.",
        source: VERIFIER,
    }
    INPUT_OVERLAP = 124 "input-overlap" Error {
        what: "Inputs do not share bytes of the register file.",
        action: "Move one of them.",
        source: VERIFIER,
    }
    INPUT_STRADDLES = 125 "input-straddles" Error {
        what: "An input that is smaller than a register lies in one register.",
        action: "Move it to the next register.",
        source: VERIFIER,
    }
    INPUT_OUTSIDE = 126 "input-outside" Error {
        what: "Inputs lie inside of the register file.",
        action: "Correct the offset: there are 256 registers at most, and the first input must not be at a negative offset.",
        source: VERIFIER,
    }
    INPUT_ALIGNMENT = 127 "input-alignment" Warning {
        what: "The offset of a general input is a multiple of the size of its type.",
        action: "Move it to a multiple.",
        source: INPUTS,
    }
    INPUT_KIND = 128 "input-kind" Warning {
        what: "An implicit input is of a kind that has a name.",
        action: "The host fills only kinds that it knows.",
        source: INPUTS,
    }
    SIGNATURE = 129 "signature" Warning {
        what: "A function takes up to 32 registers of arguments and returns up to 12.",
        action: "Pass the rest through memory.",
        source: "vISA specification, object format, predefined variables %arg and %retval",
    }
}
