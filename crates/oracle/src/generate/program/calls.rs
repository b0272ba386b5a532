//! Calls of subroutines and functions, and functions.

use super::{VECTORS, Writer};
use crate::generate::pool::immediate;
use visakit_isa::object::{Alignment, LabelKind, Variable, VariableProperties};
use visakit_isa::operand::GeneralOperand;
use visakit_isa::{
    DataType, FieldName as F, Instruction, Op, Predicate, PredicateId, StringId, Value,
    VectorOperand, enums,
};

impl Writer<'_> {
    /// Calls a subroutine or a function, often by some lanes only.
    pub(super) fn call(&mut self) {
        if let Some(label) = self.rng.choice(&self.subroutines).copied() {
            let exec = self.all_lanes();
            let pred = if self.rng.bool() {
                self.predicate()
            } else {
                Predicate::NONE
            };
            self.branch(Op::CALL, exec, pred, label);
            return;
        }
        let Some(name) = self.rng.choice(&self.functions).cloned() else {
            return;
        };
        let level = Value::Vector(immediate(DataType::D, self.rng.u64(..4)));
        self.call_function(&name, level);
    }

    /// Passes a level and a vector, takes a vector back.
    pub(super) fn call_function(&mut self, name: &str, level: Value) {
        let (vector, result) = (self.any_vector(), self.any_vector());
        let wide = self.exec(self.lanes, 0, true);
        let exec = self.all_lanes();
        let pred = if self.rng.bool() {
            self.predicate()
        } else {
            Predicate::NONE
        };
        let second = Self::shifted(Self::destination(self.arg), 8);
        // Every lane, so that no old values are left.
        self.mov(wide, Self::destination(self.arg), level);
        self.mov(wide, second, Self::source(vector, false));
        let zero = Value::Vector(immediate(DataType::D, 0));
        self.mov(wide, Self::destination(self.retval), zero);
        let string = self.body.add_string(name.to_owned().into_bytes());
        let sizes = |i: Instruction| {
            i.with(F::ArgSize, Value::U8(8))
                .with(F::RetSize, Value::U8(4))
        };
        let call = if self.rng.u8(..3) == 0 {
            self.by_address(string, exec, pred)
        } else {
            Instruction::new(Op::FCALL)
                .with(F::ExecSize, exec)
                .with(F::Pred, Value::Predicate(pred))
                .with(F::FuncName, Value::String(string))
        };
        self.push(sizes(call));
        self.binary(
            Op::XOR,
            exec,
            Value::Predicate(Predicate::NONE),
            [
                Self::destination(result),
                Self::source(result, false),
                Self::source(self.retval, false),
            ],
        );
    }

    pub(super) fn by_address(
        &mut self,
        name: StringId,
        exec: Value,
        pred: Predicate,
    ) -> Instruction {
        let index = self.body.variables.len();
        let string = self
            .body
            .add_string(format!("V{}", index + 32).into_bytes());
        self.body.variables.push(Variable {
            name: string,
            properties: VariableProperties::new(DataType::Uq, Alignment(5)),
            elements: 1,
            ..Variable::default()
        });
        let address = self.id(index);
        self.push(
            Instruction::new(Op::FADDR)
                .with(F::Symbol, Value::String(name))
                .with(F::Dst, Self::destination(address)),
        );
        let mut call = Instruction::new(Op::IFCALL)
            .with(F::ExecSize, exec)
            .with(F::Pred, Value::Predicate(pred));
        if Op::IFCALL
            .def()
            .fields_in(self.format)
            .any(|f| f.name == F::Flags)
        {
            call = call.with(F::Flags, Value::U8(0));
        }
        call.with(F::FuncAddr, Self::source(address, true))
    }

    /// An operand, moved by a number of rows.
    pub(super) fn shifted(operand: Value, rows: u8) -> Value {
        match operand {
            Value::Vector(VectorOperand::General(o)) => Value::Vector(
                GeneralOperand {
                    row: o.row + rows,
                    ..o
                }
                .into(),
            ),
            other => other,
        }
    }

    /// A function: it takes a level, and calls itself or others with a lower one.
    pub(super) fn write_function(&mut self) {
        self.begin();
        let wide = self.exec(self.lanes, 0, true);
        let own = self.functions.clone();
        for index in 0..VECTORS {
            let from = Self::shifted(Self::source(self.arg, false), 8);
            self.mov(wide, Self::destination(self.id(index)), from);
        }
        // The level stays in a variable of the activation.
        self.variable(usize::from(self.lanes));
        let level = self.id(self.body.variables.len() - 1);
        self.mov(
            wide,
            Self::destination(level),
            Self::source(self.arg, false),
        );
        self.functions.clear();
        self.unstructured(4, Op::FRET);
        self.functions = own;
        let end = self.label(LabelKind::BLOCK);
        let id = PredicateId(1);
        let zero = Value::Vector(immediate(DataType::D, 0));
        let exec = self.all_lanes();
        self.compare(
            exec,
            enums::relation::LE,
            id,
            Self::source(level, false),
            zero,
        );
        self.branch(Op::GOTO, exec, Predicate::of(id), end);
        if let Some(name) = self.rng.choice(&self.functions).cloned() {
            let minus = Value::Vector(immediate(DataType::D, u64::from(u32::MAX)));
            self.binary(
                Op::ADD,
                wide,
                Value::Predicate(Predicate::NONE),
                [Self::destination(level), Self::source(level, false), minus],
            );
            self.call_function(&name, Self::source(level, false));
        }
        self.push(Instruction::new(Op::LABEL).with(F::Label, Value::Label(end)));
        self.compute();
        let result = self.any_vector();
        self.binary(
            Op::ADD,
            exec,
            Value::Predicate(Predicate::NONE),
            [
                Self::destination(self.retval),
                Self::source(result, false),
                Self::source(level, false),
            ],
        );
        self.leave(Op::FRET, false);
    }
}
