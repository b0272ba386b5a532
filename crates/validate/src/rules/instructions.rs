//! Instructions as wholes.

use super::source::{INSTRUCTION, LSC, TABLE, VERIFIER};
use crate::rule::rules;

rules! {
    ENUMERATION = 300 "unknown-code" Error {
        what: "A code of an instruction is one that has a meaning.",
        action: "`visakit isa` lists the codes of the instruction.",
        source: TABLE,
    }
    SAMPLER_OPERATION = 301 "unknown-sampler-operation" Warning {
        what: "A sampler sub-operation is one that has a name.",
        action: "Check the number; it may be newer than this tool.",
        source: TABLE,
    }
    PREDICATION = 302 "predication" Error {
        what: "DPAS is not predicated.",
        action: "Jump around the instruction, or select afterwards.",
        source: VERIFIER,
    }
    SELECTOR = 303 "selector" Warning {
        what: "SEL has a predicate: it selects.",
        action: "Use mov where there is nothing to select.",
        source: INSTRUCTION,
    }
    PREDICATE_COPY = 304 "predicate-copy" Error {
        what: "MOV from a predicate has execution size 1 and an integer destination of up to 32 bits without saturation.",
        action: "Copy into ud with execution size 1.",
        source: VERIFIER,
    }
    PREDICATE_LOGIC = 305 "predicate-logic" Error {
        what: "If one operand of a logic instruction is a predicate, all are.",
        action: "Copy the predicate with mov or sel first.",
        source: VERIFIER,
    }
    BIT_FIELD_SIZE = 306 "bit-field-size" Warning {
        what: "BFI and BFE do not have execution size 2.",
        action: "Use two instructions of size 1, or size 4.",
        source: INSTRUCTION,
    }
    BIT_FIELD_ALIGNMENT = 307 "bit-field-alignment" Warning {
        what: "Operands of BFI and BFE are aligned to 16 bytes unless the execution size is 1.",
        action: "Align the variable, or move the operand's origin.",
        source: INSTRUCTION,
    }
    SETP_MASK = 308 "setp-mask" Warning {
        what: "SETP of a scalar has the mask M1_NM, or M5_NM with fewer than 32 lanes.",
        action: "Use the NoMask form: the bits are set for all lanes.",
        source: INSTRUCTION,
    }
    ADDRESS_OF = 309 "address-of" Error {
        what: "ADDR_ADD does not take the address of a predefined variable (except arg and retval) or surface.",
        action: "Copy into a variable of your own and take its address.",
        source: VERIFIER,
    }
    ADDRESS_LANES = 310 "address-lanes" Error {
        what: "ADDR_ADD writes to elements below the 16th (32nd from Xe3P on) of its destination.",
        action: "Make the execution size or the offset smaller.",
        source: VERIFIER,
    }
    STATE_COPY = 311 "state-copy" Error {
        what: "MOVS copies between states of one kind, or between a state and ud.",
        action: "One side must be a state.",
        source: INSTRUCTION,
    }
    BRAIN_FLOAT = 312 "brain-float" Error {
        what: "bf is allowed in MOV, ADD, MUL, MAD, SEL, CMP and, on newer platforms, in mathematics, and only together with f.",
        action: "Convert to f first.",
        source: VERIFIER,
    }
    CONVERSION = 313 "conversion" Error {
        what: "FCVT converts between ub or b and hf, or from f to ud, without source modifiers; SRND from hf to ub or b, or from f to hf, with NoMask and without source modifiers.",
        action: "Use mov for other conversions.",
        source: VERIFIER,
    }
    PREDICATED_LOGIC = 314 "predicated-logic" Warning {
        what: "Logic on predicates and copies of predicates are not predicated.",
        action: "Jump around the instruction, or combine with a third predicate.",
        source: INSTRUCTION,
    }
    SMALL_FLOAT = 315 "small-float" Error {
        what: "MOV converts tf32 from and to f only (from PVC_XT on), bf8 (from PVC on) and hf8 (from Xe3 on) from and to hf only, without predicate and source modifier, into tf32 without saturation.",
        action: "Convert in two steps, with what the conversion does not take in the other one.",
        source: VERIFIER,
    }
    PIXEL_MASK = 320 "channels" Error {
        what: "A message enables one of its channels at least.",
        action: "Remove the message, or enable what it is for.",
        source: VERIFIER,
    }
    LOCAL_SURFACE = 321 "slm-surface" Error {
        what: "Media, typed and sampler messages do not access shared local memory (T0), typed ones not the stateless surface (T5) either.",
        action: "Use gather4_scaled or dword_atomic for SLM.",
        source: VERIFIER,
    }
    MEDIA_BLOCK = 322 "media-block" Error {
        what: "A media block is up to 64 bytes wide and 64 rows high, up to 256 bytes large, and no higher than its width allows (64 rows up to 4 bytes, 32 up to 8, 16 up to 16, 8 up to 32, 4 up to 64).",
        action: "Split the block.",
        source: VERIFIER,
    }
    DATA_SIZE = 323 "data-size" Error {
        what: "GATHER and SCATTER move variables whose elements have 4 bytes.",
        action: "Declare an alias of type ud.",
        source: VERIFIER,
    }
    ATOMIC_OPERANDS = 324 "atomic-operands" Error {
        what: "A DWORD_ATOMIC has the data operands that its operation takes, the others null: none for inc, dec and predec, two for cmpxchg and fcmpwr, else one.",
        action: "Set what is not used to null.",
        source: VERIFIER,
    }
    ATOMIC_TYPES = 325 "atomic-types" Error {
        what: "Operands of a DWORD_ATOMIC are of the type of its operation: f for the float ones, d for the signed minimum and maximum, ud or d for add and sub, else ud; offsets are ud.",
        action: "Declare an alias of the right type.",
        source: VERIFIER,
    }
    BLOCK_SIZE = 326 "block-size" Warning {
        what: "GATHER_SCALED and SCATTER_SCALED move blocks of bytes.",
        action: "Set the block size to 0 (byte).",
        source: INSTRUCTION,
    }
    SCALE = 327 "scale" Warning {
        what: "The scale of a scaled message is 0.",
        action: "Multiply the offsets before: no platform scales.",
        source: INSTRUCTION,
    }
    BLOCK_LANES = 328 "block-lanes" Warning {
        what: "SVM_GATHER and SVM_SCATTER of more than one block have 8 lanes at least.",
        action: "Use one block, or more lanes.",
        source: INSTRUCTION,
    }
    MESSAGE_LANES = 329 "message-lanes" Warning {
        what: "SVM messages have fewer than 32 lanes.",
        action: "Split the message.",
        source: VERIFIER,
    }
    URB_WRITE = 330 "urb-write" Error {
        what: "URB_WRITE writes 1 to 8 rows at an offset up to 2047, with execution size 1 or 8.",
        action: "Split the message.",
        source: VERIFIER,
    }
    SEND_LENGTH = 331 "send-length" Error {
        what: "A RAW_SEND has 1 to 15 source registers and up to 16 for its result; a RAW_SENDS 1 to 32, up to 32 and up to 32; and no less than its constant descriptor says.",
        action: "Correct the lengths.",
        source: VERIFIER,
    }
    LIFETIME = 332 "lifetime" Error {
        what: "LIFETIME names a general, address or predicate variable.",
        action: "Correct bits 4 and 5 of its properties.",
        source: VERIFIER,
    }
    DPAS_TYPES = 333 "dpas-types" Error {
        what: "DPAS accumulates ud, d or f (on PVC also hf, bf, uw, w) and multiplies ud or d; its last source has no modifier.",
        action: "Declare aliases of these types: the precision follows from them.",
        source: VERIFIER,
    }
    DPAS_LANES = 334 "dpas-lanes" Error {
        what: "DPAS has execution size 8 or 16.",
        action: "Use 8 before PVC, 16 from PVC on.",
        source: VERIFIER,
    }
    SAMPLE_LANES = 335 "sample-lanes" Error {
        what: "SAMPLE and LOAD have 8 or 16 lanes.",
        action: "Set bits 4 and 5 of the mode to 0 or 1.",
        source: VERIFIER,
    }
    COARSE_PIXELS = 336 "coarse-pixels" Error {
        what: "Coarse pixel compensation has 8 or 16 lanes, and is for sample, sample_b, sample_c, sample_b_c, lod and their sample_po forms.",
        action: "Clear the switch.",
        source: VERIFIER,
    }
    SAMPLER_PARAMETERS = 337 "sampler-parameters" Warning {
        what: "A sampler message has one parameter at least and no more than 12.",
        action: "Give the coordinates.",
        source: INSTRUCTION,
    }
    SCALED_LANES = 338 "scaled-lanes" Warning {
        what: "Scaled and typed gather and scatter messages, atomics and QWord messages have 1, 8 or 16 lanes.",
        action: "Split the message, or widen it and mask lanes off.",
        source: INSTRUCTION,
    }
    CMP_DESTINATION = 339 "compare-destination" Warning {
        what: "CMP of floats into a general variable has a destination of the type of its sources.",
        action: "Compare into a predicate and select.",
        source: INSTRUCTION,
    }
    DPAS_ALIGNMENT = 340 "dpas-alignment" Error {
        what: "Result and accumulator of DPAS begin at a multiple of the bytes of a row, weights at a register, activations at a multiple of the bytes that one row of the result uses (BDPAS: at a register). Both the place of its variable (a register, if it fills one) and the offset count.",
        action: "Align the variable, or move the operand.",
        source: VERIFIER,
    }
    DPAS_SCALES = 341 "dpas-scales" Error {
        what: "Scales of BDPAS begin at a multiple of 16 bytes (src3) or 8 bytes (src4); of e2m1 in the first 32 bytes of a register, and their variable at a register.",
        action: "Move the scales.",
        source: VERIFIER,
    }
    DPAS_DECLARED_ALIGNMENT = 342 "dpas-declared-alignment" Warning {
        what: "Variables of DPAS are declared with the alignment that it needs.",
        action: "Declare it: newer releases of the verifier require it, although the finalizer aligns what fills a register.",
        source: VERIFIER,
    }
    LSC_DATA_SIZE = 350 "lsc-data-size" Error {
        what: "Vectors of an LSC message have elements of 32 or 64 bits; atomics have d16c32 (dg2 and pvc: d16u32), d32 or d64.",
        action: "Use one element for each address, or wider ones.",
        source: LSC,
    }
    LSC_VECTOR = 351 "lsc-vector" Error {
        what: "An LSC message that is not transposed has vectors of 1, 2, 3, 4 or 8 elements (ugml: 1, 2, 4); atomics have one.",
        action: "Use a transposed message of execution size 1 for more.",
        source: LSC,
    }
    LSC_TRANSPOSE = 352 "lsc-transpose" Error {
        what: "Transposed LSC messages have execution size 1 and are neither atomics nor quad messages.",
        action: "Use execution size 1, or the order that is not transposed.",
        source: LSC,
    }
    LSC_CACHING = 353 "lsc-caching" Error {
        what: "The caching controls of an LSC message are a combination that exists for what it does: .df.df, .uc.uc; loads .uc.ca, .ca.uc, .ca.ca, .st.uc, .st.ca, .ri.ca; stores .uc.wb, .wt.uc, .wt.wb, .st.uc, .st.wb, .wb.wb; atomics .uc.wb. (.ri.ri, .uc.cc and .ca.cc exist for loads on newer platforms.) Of three, loads have .ri.ri.ri, or .uc, .ca or .st and then .uc or .ca twice; stores .uc, .wt, .st or .wb and then .uc or .wb twice, but not .st.wb.wb and .wb.wb.wb; atomics .uc and then .uc.uc, .uc.wb or .wb.uc.",
        action: "Choose one of these.",
        source: LSC,
    }
    LSC_ADDRESS_SIZE = 354 "lsc-address-size" Error {
        what: "a16 addresses are for slm, a64 addresses not for slm and tgm; an immediate offset of a16 addresses fits into 16 bits.",
        action: "Use a32.",
        source: LSC,
    }
    LSC_ADDRESS_MODEL = 355 "lsc-address-model" Error {
        what: "slm is addressed flat, tgm is not; a flat address has the base 0 or null (any base from Xe3P on), every other one a surface.",
        action: "Correct the address model or the surface.",
        source: LSC,
    }
    LSC_OPERANDS = 356 "lsc-operands" Error {
        what: "Loads have no data operand, stores no result and one data operand, atomics as many data operands as their operation takes; the others are null.",
        action: "Set what is not used to null.",
        source: LSC,
    }
    LSC_PAYLOAD = 357 "lsc-payload" Error {
        what: "The data of an LSC message fills 8 registers at most.",
        action: "Split the message.",
        source: LSC,
    }
    LSC_CHANNELS = 358 "lsc-channels" Error {
        what: "A quad message enables one of the channels X to W at least; a quad store enables them from X on without gaps (from Xe3P on only to tgm).",
        action: "Correct the mask, or split the store.",
        source: LSC,
    }
    LSC_SCALE = 359 "lsc-scale" Error {
        what: "The scale of LSC addresses is 0 or a power of two (any number from Xe3P on).",
        action: "Multiply the addresses before.",
        source: LSC,
    }
    LSC_ATOMIC = 360 "lsc-atomic" Error {
        what: "Of the 64-bit atomics slm has icas only; fadd and fsub are for ugm and ugml, from Xe2 on for tgm too, from Xe3P on for slm instead of ugml.",
        action: "Use icas in a loop.",
        source: LSC,
    }
    LSC_FENCE = 361 "lsc-fence" Error {
        what: "A fence of slm has no operation and the scope of the group.",
        action: "Use lsc_fence.slm.none.group.",
        source: LSC,
    }
    LSC_BLOCK = 362 "lsc-block" Error {
        what: "A block2d message has blocks of at least one row and one column, at most 64 bytes for each row of all blocks of a load (512 of a store) and 32 rows; from Xe3P on 64 rows, and prefetches have rows of 256 bytes, too.",
        action: "Split the message.",
        source: LSC,
    }
    LSC_BLOCK_COUNT = 363 "lsc-block-count" Error {
        what: "A block2d load has 1, 2 or 4 blocks of 8- or 16-bit elements, 1 or 2 of 32 bits, 1 of 64 bits (prefetches from Xe3P on up to 4 of any size); transposed ones and stores have 1; stores are not transformed.",
        action: "Split the message.",
        source: LSC,
    }
    LSC_TYPED_BLOCK = 364 "lsc-typed-block" Error {
        what: "A typed block2d message is 1 to 64 bytes wide, has 1 row at least, and 256 bytes at most.",
        action: "Split the message.",
        source: LSC,
    }
    LSC_PITCH = 365 "lsc-pitch" Error {
        what: "The pitch of a strided message is a variable or a constant of 16 bits.",
        action: "Use lsc_load or lsc_store with addresses.",
        source: LSC,
    }
    LSC_COORDINATES = 366 "lsc-coordinates" Error {
        what: "A typed message has the coordinate u.",
        action: "Give the coordinates that the surface has.",
        source: LSC,
    }
    LSC_BLOCK_ORIGIN = 367 "lsc-block-origin" Error {
        what: "Base, size, pitch and origin of a block2d message are variables or constants, not null; if one register has them all, it is not null.",
        action: "Use constants for what is not needed.",
        source: LSC,
    }
    LSC_CACHING_DEFAULT = 368 "lsc-caching-default" Error {
        what: "Messages to tgm and ugml have the default caching before Xe2.",
        action: "Remove the caching controls.",
        source: LSC,
    }
    LSC_ADDRESS_TYPE = 370 "lsc-address-type" Error {
        what: "Variables of a64 addresses are of type q or uq, of a32, a32u and a32s addresses of type d or ud.",
        action: "Declare an alias of the right type.",
        source: LSC,
    }
}
