//! Functions that take and return a vector, and calls of them.

use crate::choice::Choices;
use crate::kernel::{Kernel, immediate};
use crate::rows::of_flow;
use visakit_isa::object::{Alignment, Attribute, Routine, Variable, VariableProperties};
use visakit_isa::semantics::{Callee, Flow};
use visakit_isa::{DataType, FieldName, Instruction, Op, Predicate, Value, VarId};

/// Bytes of the unit in which sizes of arguments and results are stated.
const UNIT: u16 = 32;

/// What a kernel needs to call its functions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Calls {
    /// The part of `%arg` that a call passes.
    argument: VarId,
    /// The part of `%retval` that a call returns.
    result: VarId,
}

impl Kernel<'_> {
    /// Declares what calls need, before the statements.
    pub(crate) fn prepare_calls(&mut self) {
        self.calls = Some(Calls {
            argument: self.part_of("arg"),
            result: self.part_of("retval"),
        });
    }

    /// A vector of a dword for each lane at the beginning of a predefined variable.
    fn part_of(&mut self, predefined: &str) -> VarId {
        let known = self.format.predefined_variables();
        let index = known.iter().position(|v| v.name == predefined);
        let alias = VarId(u32::try_from(index.unwrap_or(0)).unwrap_or(0));
        let id = self.variable(DataType::D, u16::from(self.simd));
        if let Some(variable) = self.body.variables.last_mut() {
            *variable = Variable {
                name: variable.name,
                properties: VariableProperties::new(DataType::D, Alignment(5)),
                elements: variable.elements,
                alias,
                ..Variable::default()
            };
        }
        id
    }

    /// Passes a vector, calls, and takes a vector back.
    pub(crate) fn call_function(&mut self, choices: &mut Choices<'_>) {
        let (Some(calls), Some(from), Some(to)) = (
            self.calls,
            self.of_type(DataType::D, choices),
            self.of_type(DataType::D, choices),
        ) else {
            return;
        };
        let name = function_name(choices.below(self.functions.max(1)));
        self.copy(calls.argument, from);
        let size = u8::try_from(u16::from(self.simd) * 4 / UNIT).unwrap_or(1);
        let name = self.body.add_string(name.into_bytes());
        let call = Instruction::new(of_flow(Flow::Call(Callee::Name)))
            .with(FieldName::ExecSize, self.masked(self.simd))
            .with(FieldName::Pred, Value::Predicate(Predicate::NONE))
            .with(FieldName::FuncName, Value::String(name))
            .with(FieldName::ArgSize, Value::U8(size))
            .with(FieldName::RetSize, Value::U8(size));
        self.push(call);
        self.copy(to, calls.result);
    }

    /// All lanes of a vector of dwords.
    fn copy(&mut self, to: VarId, from: VarId) {
        let source = self.packed(from, DataType::D, 0, self.simd);
        let moved = self.moved(self.simd, to, DataType::D, 0, source);
        self.push(moved);
    }

    /// The routine of a function: some arithmetic on the vector.
    pub(crate) fn function(&self, number: usize, kind: u8, constant: u8) -> Routine<'static> {
        let name = function_name(number);
        let mut own = Kernel::empty(self.config);
        own.simd = self.simd;
        own.body.name = own.body.add_string(name.clone().into_bytes());
        let vector = own.variable(DataType::D, u16::from(own.simd));
        let (argument, result) = (own.part_of("arg"), own.part_of("retval"));
        own.copy(vector, argument);
        // Any arithmetic will do, as long as the results of the functions differ.
        let op = match kind % 3 {
            0 => Op::ADD,
            1 => Op::XOR,
            _ => Op::MUL,
        };
        let to = own.destination(vector, DataType::D, 0);
        let from = own.packed(vector, DataType::D, 0, own.simd);
        let constant = immediate(DataType::W, constant.into());
        own.push(own.computed(op, own.simd, to, from, constant));
        own.copy(result, vector);
        let leaves = Instruction::new(of_flow(Flow::Return { function: true }))
            .with(FieldName::ExecSize, own.masked(own.simd))
            .with(FieldName::Pred, Value::Predicate(Predicate::NONE));
        own.push(leaves);
        let size = u8::try_from(u16::from(own.simd) * 4 / UNIT).unwrap_or(1);
        for (attribute, value) in [
            ("Target", 0),
            ("SimdSize", own.simd),
            ("ArgSize", size),
            ("RetValSize", size),
        ] {
            let name = own.body.add_string(attribute.as_bytes());
            own.body.attributes.push(Attribute {
                name,
                value: vec![value].into(),
            });
        }
        Routine::new(name.into_bytes(), own.body)
    }
}

fn function_name(number: usize) -> String {
    format!("smith_f{number}")
}
