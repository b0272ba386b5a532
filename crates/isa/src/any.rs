//! What owned and borrowed instructions have in common.

use crate::instruction::{Field, Instruction, Value};
use crate::operand::{ExecSize, Predicate};
use crate::platform::Platform;
use crate::semantics::{self, Access, ControlFlow, MemoryAccess};
use crate::table::{FieldDef, FieldName, InstructionDef, Lack, Op};

/// Any instruction, owned ([`Instruction`]) or borrowed from the bytes of a file (`InstructionRef`
/// of `visakit-parse`): an operation and its fields.
///
/// Functions that only inspect an instruction take `&impl AnyInstruction`, so that they can be
/// called without building owned objects.
///
/// ```
/// use visakit_isa::{AnyInstruction, FieldName, Instruction, LabelId, Op, Value};
///
/// fn target(instruction: &impl AnyInstruction) -> Option<LabelId> {
///     match instruction.value(FieldName::Label)? {
///         Value::Label(label) => Some(label),
///         _ => None,
///     }
/// }
///
/// let jump = Instruction::new(Op::JMP).with(FieldName::Label, Value::Label(LabelId(3)));
/// assert_eq!(target(&jump), Some(LabelId(3)));
/// ```
pub trait AnyInstruction {
    /// The operation.
    fn op(&self) -> Op;

    /// The fields in stream order, each with its definition in the row; entries of a list one by
    /// one, without the count before them. A field that the row does not have is left out.
    fn operands(&self) -> impl Iterator<Item = (&'static FieldDef, Value)>;

    /// The row of the table.
    fn def(&self) -> &'static InstructionDef {
        self.op().def()
    }

    /// The value of the first field of that name.
    fn value(&self, name: FieldName) -> Option<Value> {
        self.values(name).next()
    }

    /// The values of all fields of that name: the entries of a list.
    fn values(&self, name: FieldName) -> impl Iterator<Item = Value> {
        self.operands()
            .filter(move |(def, _)| def.name == name)
            .map(|(_, value)| value)
    }

    /// Execution size and mask, if the instruction has them.
    fn exec_size(&self) -> Option<ExecSize> {
        match self.value(FieldName::ExecSize)? {
            Value::ExecSize(size) => Some(size),
            _ => None,
        }
    }

    /// Predication word, if the instruction has one.
    fn predicate(&self) -> Option<Predicate> {
        match self.value(FieldName::Pred)? {
            Value::Predicate(predicate) => Some(predicate),
            _ => None,
        }
    }

    /// Where control continues.
    fn flow(&self) -> ControlFlow {
        semantics::control_flow(self)
    }

    /// What is done to memory; `None` if nothing is.
    fn memory(&self) -> Option<MemoryAccess> {
        semantics::memory_access(self)
    }

    /// What is read, in the order of the fields, followed by what no field names. An instruction
    /// with an execution size reads the exec mask.
    fn reads(&self) -> impl Iterator<Item = Access> {
        semantics::accesses(self, false)
    }

    /// What is written, in the order of the fields, followed by what no field names. Disabled lanes
    /// keep their value.
    fn writes(&self) -> impl Iterator<Item = Access> {
        semantics::accesses(self, true)
    }

    /// Whether a platform has the instruction; like [`InstructionDef::runs_on`].
    ///
    /// # Errors
    /// The reason why it does not.
    fn runs_on(&self, platform: Platform) -> Result<(), Lack> {
        self.def().runs_on(platform)
    }

    /// Converts to an owned instruction.
    fn to_instruction(&self) -> Instruction {
        let mut instruction = Instruction::new(self.op());
        for (def, value) in self.operands() {
            let name = def.name;
            instruction.fields.push(Field { name, value });
        }
        instruction
    }
}

impl<T: AnyInstruction> AnyInstruction for &T {
    fn op(&self) -> Op {
        T::op(self)
    }

    fn operands(&self) -> impl Iterator<Item = (&'static FieldDef, Value)> {
        T::operands(self)
    }
}

impl AnyInstruction for Instruction {
    fn op(&self) -> Op {
        self.op
    }

    fn operands(&self) -> impl Iterator<Item = (&'static FieldDef, Value)> {
        let row = self.op.def().fields;
        let mut next = 0;
        self.fields.iter().filter_map(move |field| {
            // Fields are in the order of the row; entries of a list share one position in it.
            let ahead = row.get(next..).unwrap_or_default();
            let found = ahead.iter().position(|def| def.name == field.name);
            if let Some(steps) = found {
                next += steps;
            }
            let def = match found {
                Some(_) => row.get(next)?,
                None => row.iter().find(|def| def.name == field.name)?,
            };
            Some((def, field.value))
        })
    }

    fn values(&self, name: FieldName) -> impl Iterator<Item = Value> {
        self.all(name).copied()
    }

    fn to_instruction(&self) -> Instruction {
        self.clone()
    }
}
