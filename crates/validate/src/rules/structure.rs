//! Files, references, names.

use super::source::{CONTAINER, READER, TABLE, VERIFIER};
use crate::rule::rules;

rules! {
    UNDECODABLE = 1 "undecodable" Error {
        what: "Every byte of a routine decodes as tables and instructions.",
        action: "The file is damaged, cut by a faulty writer, or newer than this tool. What follows the place in this routine was not checked.",
        source: READER,
    }
    TEXT_FAULT = 2 "text-fault" Error {
        what: "Text assembles.",
        action: "Correct the text; nothing else was checked.",
        source: "vISA specification, assembly syntax",
    }
    INCONSISTENT_NUMBER = 3 "inconsistent-number" Error {
        what: "Offsets, sizes and counts that the file states agree with what is there.",
        action: "The file was edited or damaged. Write it again from its content.",
        source: CONTAINER,
    }
    MISPLACED_PIECE = 4 "misplaced-piece" Error {
        what: "Routines and native binaries lie inside of the file and do not overlap.",
        action: "The file is cut, or its header damaged.",
        source: CONTAINER,
    }
    UNCLAIMED_BYTES = 5 "unclaimed-bytes" Warning {
        what: "Every byte of the file belongs to a part of the object.",
        action: "No reader uses these bytes; write the object again to be rid of them.",
        source: CONTAINER,
    }
    INDEX = 6 "index-out-of-range" Error {
        what: "An index names an entry of its table.",
        action: "Declare what is missing, or correct the index.",
        source: CONTAINER,
    }
    FIELDS = 7 "fields" Error {
        what: "An instruction has the fields of its row of the instruction table, in that order.",
        action: "Such an instruction comes from an edit: add what is missing, remove what is too much.",
        source: TABLE,
    }
    NOT_IN_VERSION = 8 "not-in-version" Error {
        what: "An instruction exists in the version and dialect of its object.",
        action: "Replace it, or choose a version that has it: `visakit isa` lists them.",
        source: TABLE,
    }
    ROUTINE_NAME = 9 "routine-name" Warning {
        what: "The file header calls a routine what the routine calls itself, and the name is not empty.",
        action: "Give both the same name: some tools go by one, some by the other.",
        source: CONTAINER,
    }
    DUPLICATE_NAME = 10 "duplicate-name" Warning {
        what: "Routines of an object have different names.",
        action: "Rename one: runtimes and calls find routines by name.",
        source: CONTAINER,
    }
    RELOCATION = 11 "relocation" Error {
        what: "A relocation resolves to a file-scope variable or function that the file has.",
        action: "Correct the index, or add what is missing to the file header.",
        source: CONTAINER,
    }
    ATTRIBUTE_REPEATED = 12 "attribute-repeated" Error {
        what: "A routine has the attributes SLMSize and NBarrierCnt once at most.",
        action: "Keep one of them.",
        source: VERIFIER,
    }
    ATTRIBUTE_SIZE = 13 "attribute-size" Warning {
        what: "An attribute that holds a number has up to 4 bytes.",
        action: "Store the number in 1, 2 or 4 bytes.",
        source: "vISA specification, object format, attributes",
    }
    TABLE_FULL = 14 "table-too-long" Warning {
        what: "A table has no more entries than instructions can name.",
        action: "Declare fewer: the last ones cannot be used.",
        source: "vISA specification, object format, variables",
    }
    NATIVE_PLATFORM = 15 "unknown-native-platform" Warning {
        what: "Native code is for a platform that has a name.",
        action: "Correct the platform byte, or remove the binary: a driver passes it over.",
        source: CONTAINER,
    }
    TEXT_WARNING = 16 "text-warning" Warning {
        what: "Text says what it is likely to mean.",
        action: "Look at the line: the text was assembled, but perhaps not as it was meant.",
        source: "this assembler",
    }
}
