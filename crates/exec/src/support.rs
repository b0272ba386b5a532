//! Which instructions run, and why others do not.

use visakit_isa::enums::{self, Enumeration, sampler_op};
use visakit_isa::semantics::{Action, DataLayout, Storage};
use visakit_isa::{InstructionDef, Op, table};

/// Whether and how an instruction runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Support {
    /// The operation.
    pub op: Op,
    /// Why it does not run; `None` if it does.
    pub reason: Option<&'static str>,
}

/// Every instruction of the table, in its order.
pub fn table() -> impl Iterator<Item = Support> {
    table::rows().map(|row| Support {
        op: row.op,
        reason: reason(row.op),
    })
}

/// Why an instruction does not run, as its row says; `None` if it does. Single forms of an
/// instruction may still be refused.
#[must_use]
pub fn reason(op: Op) -> Option<&'static str> {
    let reason = op.def().unsupported;
    (!reason.is_empty()).then_some(reason)
}

/// Values of a field with which instructions do not run that do with others.
#[derive(Clone, Copy, Debug)]
pub struct RefusedForm {
    /// A description of the instructions.
    pub instructions: &'static str,
    /// Whether it concerns an instruction.
    pub applies: fn(&InstructionDef) -> bool,
    /// The enumeration of the field.
    pub enumeration: &'static Enumeration,
    /// The values.
    pub codes: &'static [u8],
    /// The reason, which the error repeats verbatim.
    pub reason: &'static str,
}

/// Messages of the load/store cache that access something.
fn is_lsc(def: &InstructionDef) -> bool {
    def.memory.is_some_and(|memory| {
        let controls = [Action::Fence, Action::CacheControl, Action::Compression];
        matches!(memory.storage, Storage::Lsc | Storage::LscImage)
            && !controls.contains(&memory.action)
    })
}

fn is_untyped(def: &InstructionDef) -> bool {
    is_lsc(def) && def.memory.is_some_and(|m| m.storage == Storage::Lsc)
}

/// Messages with an address for each lane.
fn is_addressed(def: &InstructionDef) -> bool {
    let layout = def.memory.map(|memory| memory.layout);
    let others = [Some(DataLayout::Rectangle), Some(DataLayout::Counter)];
    is_untyped(def) && !others.contains(&layout)
}

/// Loads and stores that say how many elements a lane has.
fn has_elements(def: &InstructionDef) -> bool {
    let layout = def.memory.map(|memory| memory.layout);
    let counted = matches!(layout, Some(DataLayout::PerLane | DataLayout::Strided));
    is_untyped(def) && !is_atomic(def) && counted
}

fn is_atomic(def: &InstructionDef) -> bool {
    is_lsc(def) && matches!(def.memory.map(|m| m.action), Some(Action::Atomic(_)))
}

const fn refused(
    instructions: &'static str,
    applies: fn(&InstructionDef) -> bool,
    enumeration: &'static Enumeration,
    codes: &'static [u8],
    reason: &'static str,
) -> RefusedForm {
    RefusedForm {
        instructions,
        applies,
        enumeration,
        codes,
        reason,
    }
}

const fn sampler(codes: &'static [u8], reason: &'static str) -> RefusedForm {
    let applies = |def: &InstructionDef| {
        matches!(
            def.op,
            Op::SAMPLE_3D | Op::LOAD_3D | Op::GATHER4_3D | Op::INFO_3D
        )
    };
    let of = "sampler messages";
    refused(of, applies, &enums::SAMPLER_OP, codes, reason)
}

/// Every form that is refused although its row runs.
pub static REFUSED_FORMS: [RefusedForm; 16] = {
    use enums::{block_count, lsc_addr_size, lsc_addr_type, lsc_data_elems};
    use enums::{lsc_data_order, lsc_data_size, lsc_sfid};
    let on_surfaces = |def: &InstructionDef| {
        let counter = def.memory.is_some_and(|m| m.layout == DataLayout::Counter);
        is_lsc(def) && (counter || !is_untyped(def))
    };
    let for_lanes = |def: &InstructionDef| is_addressed(def) && is_atomic(def);
    let scaled = |def: &InstructionDef| matches!(def.op, Op::GATHER_SCALED | Op::SCATTER_SCALED);
    [
        sampler(
            &[
                sampler_op::SAMPLE_C,
                sampler_op::SAMPLE_B_C,
                sampler_op::SAMPLE_L_C,
                sampler_op::SAMPLE4_C,
                sampler_op::SAMPLE_C_MLOD,
                sampler_op::SAMPLE_D_C,
                sampler_op::SAMPLE4_I_C,
                sampler_op::SAMPLE4_L_C,
                sampler_op::SAMPLE_C_LZ,
            ],
            "it needs depth comparison",
        ),
        sampler(
            &[
                sampler_op::SAMPLE4_PO,
                sampler_op::SAMPLE4_PO_C,
                sampler_op::SAMPLE_PO,
                sampler_op::SAMPLE_PO_B,
                sampler_op::SAMPLE_PO_L,
                sampler_op::SAMPLE_PO_C,
                sampler_op::SAMPLE_PO_D,
                sampler_op::SAMPLE_PO_L_C,
                sampler_op::SAMPLE4_PO_40,
                sampler_op::SAMPLE4_PO_L,
                sampler_op::SAMPLE4_PO_B,
                sampler_op::SAMPLE4_PO_I,
                sampler_op::SAMPLE4_PO_C_48,
                sampler_op::SAMPLE4_PO_I_C,
                sampler_op::SAMPLE4_PO_L_C,
                sampler_op::SAMPLE_PO_LZ,
                sampler_op::SAMPLE_PO_C_LZ,
                sampler_op::SAMPLE_PO_B_C,
                sampler_op::SAMPLE_PO_D_C,
            ],
            "it needs programmable offsets",
        ),
        sampler(
            &[sampler_op::LOD, sampler_op::SAMPLE4_I],
            "it needs derivatives of neighbouring pixels",
        ),
        sampler(
            &[sampler_op::LOAD_2DMS_W, sampler_op::LOAD_MCS],
            "it needs images with several samples a pixel",
        ),
        sampler(
            &[sampler_op::SAMPLE_KILLPIX],
            "it discards pixels of a render target",
        ),
        sampler(
            &[sampler_op::LOAD_L],
            "the order of its parameters is not publicly defined",
        ),
        refused(
            "load/store cache",
            is_lsc,
            &enums::LSC_ADDR_TYPE,
            &[lsc_addr_type::INVALID],
            "names no surface",
        ),
        refused(
            "typed messages and append counters",
            on_surfaces,
            &enums::LSC_ADDR_TYPE,
            &[lsc_addr_type::FLAT, lsc_addr_type::ARG],
            "names no surface",
        ),
        refused(
            "load/store cache",
            is_lsc,
            &enums::LSC_ADDR_SIZE,
            &[lsc_addr_size::INVALID],
            "has no meaning",
        ),
        refused(
            "loads and stores of the load/store cache",
            |def| is_lsc(def) && !is_atomic(def),
            &enums::LSC_DATA_SIZE,
            &[lsc_data_size::INVALID],
            "has no meaning",
        ),
        refused(
            "atomics of the load/store cache",
            is_atomic,
            &enums::LSC_DATA_SIZE,
            &[
                lsc_data_size::INVALID,
                lsc_data_size::D8,
                lsc_data_size::D8C32,
                lsc_data_size::D16C32H,
            ],
            "atomic operation on data size",
        ),
        refused(
            "loads and stores of the load/store cache",
            has_elements,
            &enums::LSC_DATA_ELEMS,
            &[lsc_data_elems::INVALID],
            "has no meaning",
        ),
        refused(
            "atomics of the load/store cache",
            for_lanes,
            &enums::LSC_DATA_ELEMS,
            &[2, 3, 4, 5, 6, 7, 8],
            "one element for each lane",
        ),
        refused(
            "atomics of the load/store cache",
            for_lanes,
            &enums::LSC_DATA_ORDER,
            &[lsc_data_order::TRANSPOSE],
            "one element for each lane",
        ),
        refused(
            "untyped messages of the load/store cache",
            is_addressed,
            &enums::LSC_SFID,
            &[lsc_sfid::TGM, lsc_sfid::URB],
            "untyped access of shared function",
        ),
        refused(
            "gather_scaled, scatter_scaled",
            scaled,
            &enums::BLOCK_COUNT,
            &[block_count::N8],
            "eight bytes for each lane have no definition",
        ),
    ]
};

/// Why an operation of the sampler does not run; `None` if it does, or if there is no such operation.
pub(crate) fn sampler_reason(op: u8) -> Option<&'static str> {
    let mut forms = REFUSED_FORMS.iter();
    let form = forms.find(|form| {
        std::ptr::eq(form.enumeration, &raw const enums::SAMPLER_OP) && form.codes.contains(&op)
    });
    form.map(|form| form.reason)
}
