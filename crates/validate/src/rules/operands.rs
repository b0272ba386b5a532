//! Operands of instructions, one by one.

use super::source::{EXECUTION, OPERANDS, READER, REGIONS, TABLE, VERIFIER};
use crate::rule::rules;

rules! {
    MODIFIER_CODE = 200 "modifier-code" Error {
        what: "The tag byte of an operand holds a known modifier and no reserved bits.",
        action: "Use none, abs, neg, neg_abs, sat or not.",
        source: OPERANDS,
    }
    REGION_CODE = 201 "region-code" Error {
        what: "A region word holds known codes and no reserved bits.",
        action: "Strides and widths are 0, 1, 2, 4, 8, 16 or 32 elements.",
        source: OPERANDS,
    }
    EXEC_SIZE_CODE = 202 "exec-size-code" Error {
        what: "Execution size and mask are codes that the version knows.",
        action: "Use 1, 2, 4, 8, 16 or 32 lanes and one of the masks M1 to M8.",
        source: READER,
    }
    PREDICATE_CODE = 203 "predicate-code" Error {
        what: "Bit 12 of a predicate word is zero and its combine code is not 3.",
        action: "Combine nothing, any, or all.",
        source: OPERANDS,
    }
    IMMEDIATE_CODE = 204 "immediate-code" Error {
        what: "Bits 4 to 7 of the type byte of a constant are zero.",
        action: "Clear them.",
        source: OPERANDS,
    }
    STATE_CLASS = 205 "state-class" Error {
        what: "A state operand is a surface (0) or a sampler (1).",
        action: "Correct the class.",
        source: OPERANDS,
    }
    INDIRECT_CODE = 206 "indirect-code" Warning {
        what: "Bits 4 to 7 of the property byte of an indirect operand are zero. (Bit 4 is ignored before 3.4: the Cm compiler set it.)",
        action: "Clear them.",
        source: OPERANDS,
    }
    SAMPLER_CODE = 207 "sampler-code" Error {
        what: "Bits 11 to 15 of a sampler operation are zero.",
        action: "Clear them.",
        source: READER,
    }
    OPERAND_CLASS = 210 "operand-class" Error {
        what: "An operand is of a class that its place can take. Constants are never written to.",
        action: "Move the value into a variable of the right class first.",
        source: VERIFIER,
    }
    OPERAND_TYPE = 211 "operand-type" Error {
        what: "A vector operand has a type that its place takes.",
        action: "Convert it with mov, or declare an alias of another type.",
        source: TABLE,
    }
    UNUSUAL_TYPE = 212 "unusual-type" Warning {
        what: "An operand has a type that its place names, or, in messages, one of the same size.",
        action: "Declare an alias of the right type. The reference implementation takes the operand all the same.",
        source: TABLE,
    }
    MIXED_TYPES = 213 "mixed-types" Error {
        what: "Operands of an arithmetic instruction are all integers, or all floats of one type; f and hf may be mixed, f and bf too where mixing is allowed.",
        action: "Convert the odd one with mov.",
        source: VERIFIER,
    }
    MODIFIER_PLACE = 214 "modifier-place" Error {
        what: "Source modifiers belong on general and indirect operands; abs and neg not in logic instructions that take no modifier at all; not in logic instructions only.",
        action: "Negate or complement with an instruction of its own.",
        source: VERIFIER,
    }
    MODIFIER_UNEXPECTED = 215 "modifier-unexpected" Warning {
        what: "A source has no modifier that the page of the instruction does not allow: no abs and neg in AND, OR, XOR and NOT, none at all elsewhere.",
        action: "Apply it with a mov before. Shipped kernels negate what AND reads, and run.",
        source: TABLE,
    }
    SATURATION = 216 "saturation" Error {
        what: "A result saturates only where the instruction can.",
        action: "Use min and max.",
        source: VERIFIER,
    }
    SATURATION_UNEXPECTED = 217 "saturation-unexpected" Warning {
        what: "An instruction whose page allows no saturation does not saturate.",
        action: "Use min and max.",
        source: TABLE,
    }
    DESTINATION_MODIFIER = 218 "destination-modifier" Error {
        what: "The modifier of a destination is none or saturation.",
        action: "Apply abs, neg or not to a source.",
        source: VERIFIER,
    }
    UNUSUAL_CLASS = 219 "unusual-class" Warning {
        what: "An operand is of a class that its place lists.",
        action: "Move the value into a variable first. The reference implementation takes the operand all the same.",
        source: TABLE,
    }
    REGION_WIDTH = 220 "region-width" Error {
        what: "The width of a source region is 1, 2, 4, 8 or 16.",
        action: "Use 16 and a vertical stride.",
        source: REGIONS,
    }
    REGION_STRIDE = 221 "region-stride" Error {
        what: "The horizontal stride of a region is 0, 1, 2 or 4, and not absent.",
        action: "Use a region of more rows.",
        source: REGIONS,
    }
    REGION_EXEC_SIZE = 222 "region-exec-size" Error {
        what: "A region is not wider than the execution size.",
        action: "Make the width smaller.",
        source: REGIONS,
    }
    DESTINATION_STRIDE = 223 "destination-stride" Error {
        what: "The horizontal stride of a destination is not 0.",
        action: "Lanes must not write to the same element: use 1.",
        source: REGIONS,
    }
    REGION_ABSENT = 224 "region-absent" Error {
        what: "A direct source has a vertical stride and a width; an indirect one has a width, or is one address for each lane.",
        action: "Give the whole region.",
        source: OPERANDS,
    }
    REGION_REGISTERS = 225 "region-registers" Error {
        what: "The elements that an operand accesses span two neighbouring registers at most. (Moves, logic, comparison and arithmetic are split and exempt.)",
        action: "Split the instruction, or move the variable to a register boundary.",
        source: REGIONS,
    }
    REGION_BOUNDS = 226 "region-bounds" Warning {
        what: "All elements that an operand accesses lie inside of its variable.",
        action: "Make the variable larger, or the region smaller: what follows is undefined.",
        source: REGIONS,
    }
    COLUMN = 227 "column" Warning {
        what: "The column of an operand's origin lies in the register of its row.",
        action: "Count the row up and the column down.",
        source: OPERANDS,
    }
    MULTI_ADDRESS_DESTINATION = 230 "multi-address-destination" Warning {
        what: "A destination takes one address.",
        action: "Write lane by lane, or through one address.",
        source: REGIONS,
    }
    INDIRECT_OFFSET = 231 "indirect-offset" Warning {
        what: "The offset of an indirect operand is from -512 to 511.",
        action: "Add the rest to the address.",
        source: OPERANDS,
    }
    INDIRECT_TYPE = 232 "indirect-type" Error {
        what: "An indirect operand has an integer or floating-point type.",
        action: "Packed types are for constants only.",
        source: OPERANDS,
    }
    ADDRESS_WIDTH = 233 "address-width" Warning {
        what: "An address source has a width of 1, 2, 4, 8 or 16 elements.",
        action: "Use 16 and a second instruction.",
        source: OPERANDS,
    }
    ADDRESS_BOUNDS = 234 "address-bounds" Warning {
        what: "The elements of an address variable that are used exist.",
        action: "Give the variable more elements.",
        source: OPERANDS,
    }
    ADDRESS_COUNT = 235 "address-count" Error {
        what: "An indirect operand takes up to 16 addresses, up to 32 from Xe3P on.",
        action: "Make the rows wider, or the execution size smaller.",
        source: VERIFIER,
    }
    MASK_RANGE = 236 "mask-range" Error {
        what: "Execution size and mask stay inside of 32 lanes.",
        action: "Choose an earlier mask.",
        source: VERIFIER,
    }
    MASK_ALIGNMENT = 237 "mask-alignment" Warning {
        what: "The first lane of the mask is a multiple of the execution size.",
        action: "Split the instruction.",
        source: EXECUTION,
    }
    RAW_ALIGNMENT = 240 "raw-alignment" Error {
        what: "A raw operand begins at a register boundary of the variable with the storage, if that is a register large or more.",
        action: "Copy the data to an aligned place.",
        source: VERIFIER,
    }
    RAW_BOUNDS = 241 "raw-bounds" Warning {
        what: "A raw operand begins inside of its variable.",
        action: "Correct the offset.",
        source: OPERANDS,
    }
    NULL_OFFSET = 242 "null-offset" Warning {
        what: "The null operand has no offset.",
        action: "Set the offset to zero, or name the variable that is meant.",
        source: OPERANDS,
    }
    RAW_SIZE = 243 "raw-size" Warning {
        what: "What an instruction reads or writes of an operand without a region fits into the variable with its storage.",
        action: "Declare a larger variable, or move less.",
        source: OPERANDS,
    }
    READ_ONLY = 250 "read-only" Error {
        what: "Instructions do not write to predefined variables that are read only.",
        action: "Write to a variable of your own.",
        source: VERIFIER,
    }
    PREDEFINED_UNKNOWN = 251 "predefined-unknown" Warning {
        what: "A predefined variable is one that the version knows.",
        action: "Its number is reserved and means nothing.",
        source: "vISA specification, object format, predefined variables",
    }
    IMMEDIATE_RANGE = 252 "immediate-range" Warning {
        what: "The upper bytes of a constant of 8 or 16 bits are zero or repeat its sign.",
        action: "Clear them: they have no meaning.",
        source: OPERANDS,
    }
    PREDICATE_OPERAND = 253 "predicate-operand" Warning {
        what: "A predicate as data has no inversion and no combination.",
        action: "Only the number of the predicate counts.",
        source: OPERANDS,
    }
    PREDICATE_SIZE = 254 "predicate-size" Warning {
        what: "A predicate has an element for each lane that reads it.",
        action: "Declare it with more elements.",
        source: EXECUTION,
    }
    PACKED_LANES = 255 "packed-lanes" Warning {
        what: "A packed constant has as many elements as the instruction has lanes at least: 8 of v and uv, 4 of vf.",
        action: "Split the instruction.",
        source: OPERANDS,
    }
}
