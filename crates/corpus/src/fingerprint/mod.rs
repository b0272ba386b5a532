//! Hashes of routines that show which of them are similar.
//!
//! They depend only on the code, and are the same on every machine and in all releases with the same [version of the
//! schema](crate::schema::VERSION).

mod hash;
mod minhash;
mod scan;

pub use minhash::{MINHASH, minhash};
pub(crate) use scan::Scan;
use visakit_isa::object::Body;
use visakit_isa::semantics::Flow;
use visakit_isa::{DataType, Format, VarId, VectorOperand};

/// What distinguishes a routine from others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// Equal where code, numbers and names of all declarations are.
    pub exact: u64,
    /// Equal if the code is, whatever names and numbers the declarations have. Debug information is ignored.
    pub text: u64,
    /// Equal where the graphs of blocks are.
    pub flow: u64,
    /// Single instructions and pairs, ascending, without duplicates. Variables, execution sizes and the kind of
    /// memory message are ignored: they change with the device.
    pub features: Vec<u64>,
    /// [`minhash`] of the features: the share of equal numbers in two routines estimates the share of features they
    /// have in common.
    pub minhash: [u32; MINHASH],
}

fn own<'b>(
    body: &'b Body<'_>,
    format: Format,
    id: VarId,
) -> Option<&'b visakit_isa::object::Variable<'b>> {
    let index = id.0.checked_sub(format.predefined_variable_count())?;
    body.variables.get(usize::try_from(index).ok()?)
}

/// The type of a variable.
pub(crate) fn type_of(body: &Body<'_>, format: Format, id: VarId) -> Option<DataType> {
    match format.predefined_variable(id) {
        Some(predefined) => Some(predefined.data_type),
        None => own(body, format, id).map(|variable| variable.properties.data_type()),
    }
}

/// The element type of an operand.
pub(crate) fn operand_type(
    body: &Body<'_>,
    format: Format,
    operand: &VectorOperand,
) -> Option<DataType> {
    match operand {
        VectorOperand::General(o) => type_of(body, format, o.variable),
        VectorOperand::Indirect(o) => Some(o.property.data_type()),
        VectorOperand::Immediate(o) => Some(o.data_type()),
        VectorOperand::Predicate(_) => Some(DataType::Bool),
        VectorOperand::Address(_) => Some(DataType::Uw),
        VectorOperand::State(_) => None,
    }
}

/// Whether a thread does anything for the instruction.
fn counts(flow: Flow) -> bool {
    !matches!(flow, Flow::Marker | Flow::Label { .. })
}

impl Fingerprint {
    /// The fingerprint of a routine.
    #[must_use]
    pub fn of(body: &Body<'_>, format: Format) -> Self {
        let mut scan = Scan::default();
        scan.begin(body, format);
        for instruction in body.instructions() {
            scan.instruction(instruction, body, format);
        }
        let mut features: Vec<u64> = scan.features().collect();
        features.sort_unstable();
        features.dedup();
        Self {
            exact: scan.exact(body),
            text: scan.text(),
            flow: scan.flow(),
            minhash: minhash(features.iter().copied()),
            features,
        }
    }
}
