//! Labels, jumps and calls.

use super::source::{EXECUTION, INSTRUCTION, VERIFIER};
use crate::rule::rules;

rules! {
    LABEL_MISSING = 400 "label-missing" Error {
        what: "A label that is jumped to or called is placed.",
        action: "Place it, or remove what refers to it.",
        source: VERIFIER,
    }
    LABEL_REPEATED = 401 "label-repeated" Error {
        what: "A label is placed once.",
        action: "Rename one of the two.",
        source: VERIFIER,
    }
    LABEL_PLACE = 402 "label-place" Warning {
        what: "SUBROUTINE places labels of the kind subroutine, LABEL the others.",
        action: "Correct the kind of the label. Objects of the Cm compiler place subroutines by LABEL, and run.",
        source: INSTRUCTION,
    }
    CALL_TARGET = 403 "call-target" Error {
        what: "CALL calls a label of the kind subroutine (or fast composite).",
        action: "Use jmp or goto inside of a routine, or make the label a subroutine.",
        source: INSTRUCTION,
    }
    JUMP_TARGET = 404 "jump-target" Error {
        what: "JMP, GOTO and SWITCHJMP jump to labels that are no subroutines.",
        action: "Use call.",
        source: EXECUTION,
    }
    RECURSION = 405 "recursion" Error {
        what: "Subroutines do not call themselves, directly or through others.",
        action: "Make the subroutine a function with fcall: functions may recurse.",
        source: EXECUTION,
    }
    JUMP_OUT = 406 "jump-out" Error {
        what: "A jump stays in its subroutine.",
        action: "Return from the subroutine, and jump then.",
        source: EXECUTION,
    }
    NO_RETURN = 407 "no-return" Warning {
        what: "A routine or subroutine ends in a return, an unconditional jump, or a message that ends the thread.",
        action: "Add ret or fret: execution runs into what follows.",
        source: EXECUTION,
    }
    FUNCTION_RETURN = 408 "function-return" Warning {
        what: "FRET is allowed in functions only.",
        action: "Use ret: a kernel has no caller.",
        source: INSTRUCTION,
    }
    NESTING = 409 "nesting" Error {
        what: "IF, ELSE, ENDIF, DO, WHILE, BREAK and CONT nest.",
        action: "Open what is closed, and close what is open.",
        source: "the structured control flow of versions before 3.8",
    }
    CALLEE = 410 "callee" Warning {
        what: "FCALL calls a function of the object.",
        action: "Link the object that has it.",
        source: INSTRUCTION,
    }
    SWITCH_LANES = 411 "switch-lanes" Warning {
        what: "SWITCHJMP has execution size 1 and 1 to 32 labels.",
        action: "Jump with goto where lanes differ.",
        source: INSTRUCTION,
    }
}
