//! What a platform has.

use super::source::{PLATFORMS, VERIFIER};
use crate::rule::rules;

rules! {
    NOT_YET = 500 "not-yet" Error {
        what: "The platform has the instruction already.",
        action: "Replace it by instructions of older platforms: `visakit isa` lists since when it exists.",
        source: PLATFORMS,
    }
    NOT_LISTED = 501 "not-listed" Warning {
        what: "The specification lists the instruction for the platform.",
        action: "Replace it: it was removed, or is emulated slowly.",
        source: PLATFORMS,
    }
    INTEGER_DIVISION = 502 "integer-division" Error {
        what: "XeHP and later divide no integers.",
        action: "Call a function that divides.",
        source: VERIFIER,
    }
    EXACT_MATHS = 503 "exact-maths" Error {
        what: "ICLLP, TGLLP and DG2 have no DIVM, SQRTM, INVM, RSQTM, and no DIV, INV, SQRT of df.",
        action: "Call a function of a library.",
        source: VERIFIER,
    }
    BRAIN_FLOAT_PLATFORM = 505 "brain-float-platform" Error {
        what: "bf operands need XeHP or later.",
        action: "Convert with shifts.",
        source: VERIFIER,
    }
    WIDE_ROTATE = 506 "wide-rotate" Error {
        what: "ROL and ROR rotate 64 bits from PVC on.",
        action: "Rotate by two shifts.",
        source: VERIFIER,
    }
    WIDE_SHIFT = 507 "wide-shift" Warning {
        what: "DG2 shifts no 64-bit integers.",
        action: "Shift two halves.",
        source: VERIFIER,
    }
    LOCAL_BLOCKS = 509 "slm-blocks" Error {
        what: "OWord messages access shared local memory from ICLLP on.",
        action: "Use gather4_scaled.",
        source: VERIFIER,
    }
    DPAS_PLATFORM = 510 "dpas-platform" Error {
        what: "DPAS has execution size 8 before PVC and 16 from PVC on.",
        action: "Compile for the platform.",
        source: VERIFIER,
    }
    ACCUMULATOR_TYPE = 511 "dpas-accumulator" Error {
        what: "DPAS before PVC accumulates ud, d and f only.",
        action: "Accumulate f and convert.",
        source: VERIFIER,
    }
    WIDE_INTEGERS = 512 "wide-integers" Warning {
        what: "ICLLP, TGLLP and DG2 have no arithmetic of 64-bit integers.",
        action: "It is emulated: use 32 bits where they suffice.",
        source: "vISA specification, pages of SEL, SHL and SHR",
    }
    DOUBLE = 513 "double" Warning {
        what: "ICLLP, TGLLP and DG2 have no df.",
        action: "Use f, or call a library that emulates df.",
        source: "vISA specification, data types",
    }
    PAIRED_SURFACE = 514 "paired-surface" Error {
        what: "Sampler messages have a paired surface from Xe2 on.",
        action: "Set it to null.",
        source: VERIFIER,
    }
    NO_LONGER = 516 "no-longer" Error {
        what: "The platform has the instruction still: TGLLP and later have no SAD2 and SAD2ADD, TGLLP, XeHP, DG2, MTL and ARL no SWITCHJMP, PVC and later no DPASW, Xe3P and later no PLANE.",
        action: "Replace it by instructions that remain: differences and abs, comparisons and jumps, DPAS, mad.",
        source: VERIFIER,
    }
    PACKED_FLOATS = 517 "packed-floats" Error {
        what: "Sources of arithmetic are constants of type vf before Xe2 only.",
        action: "Move the constant into a variable of type f.",
        source: VERIFIER,
    }
}
