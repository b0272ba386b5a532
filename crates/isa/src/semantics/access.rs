//! What an instruction reads and writes.

use super::flow::Flow;
use super::memory::Action;
use super::traits::Traits;
use crate::any::AnyInstruction;
use crate::ids::{AddressId, PredicateId, SamplerId, SurfaceId, VarId};
use crate::instruction::Value;
use crate::operand::{StateClass, VectorOperand};
use crate::table::{FieldDef, FieldName, Group, Role};
use bitflags::bitflags;

bitflags! {
    /// What an instruction reads and writes without an operand naming it.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub struct Implicit: u16 {
        /// Reads the arguments of a function, the predefined variable `arg`.
        const READS_ARGUMENTS = 1 << 0;
        /// Reads the result of a function, the predefined variable `retval`.
        const READS_RESULT = 1 << 1;
        /// Writes the result of a function, the predefined variable `retval`.
        const WRITES_RESULT = 1 << 2;
    }
}

/// One thing that an instruction reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    /// The field that names it; `None` if no field does.
    pub field: Option<FieldName>,
    /// What it is.
    pub resource: Resource,
}

/// What can be read and written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Resource {
    /// A general variable, declared or predefined.
    General(VarId),
    /// Some general variable, selected by an address variable at run time.
    AnyGeneral,
    /// An address variable.
    Address(AddressId),
    /// A predicate variable.
    Predicate(PredicateId),
    /// A surface variable: the state that describes a surface, not its content.
    Surface(SurfaceId),
    /// A sampler variable.
    Sampler(SamplerId),
    /// Memory, described by [`AnyInstruction::memory`].
    Memory,
    /// The lanes that are enabled.
    ExecMask,
    /// The modes of floating-point arithmetic in the control register `cr0`.
    FloatMode,
    /// The arguments of a function, predefined variable `arg`.
    Arguments,
    /// The result of a function, predefined variable `retval`.
    Result,
}

/// What the instruction reads, or if `written` what it writes, in the order of its fields.
pub(crate) fn accesses(
    instruction: &(impl AnyInstruction + ?Sized),
    written: bool,
) -> impl Iterator<Item = Access> {
    let def = instruction.def();
    let named = instruction.operands().flat_map(move |(field, value)| {
        let found = if written {
            [writes_of(field, value, def.traits), None]
        } else {
            reads_of(field, value, def.group, def.traits)
        };
        found.into_iter().flatten().map(|resource| Access {
            field: Some(field.name),
            resource,
        })
    });
    let memory = instruction.memory().map(|memory| memory.action);
    let implicit = |set: Implicit| def.implicit.contains(set);
    // Versions differ in the name of NoMask forms; they count as reading the mask, too.
    let masked = instruction.exec_size().is_some();
    let unnamed = if written {
        [
            (memory.is_some_and(Action::writes), Resource::Memory),
            (
                matches!(
                    def.flow,
                    Flow::Jump { by_lane: true } | Flow::Structured(_) | Flow::Return { .. }
                ),
                Resource::ExecMask,
            ),
            (implicit(Implicit::WRITES_RESULT), Resource::Result),
            (false, Resource::FloatMode),
            (false, Resource::Arguments),
        ]
    } else {
        let computes = matches!(def.group, Group::Arithmetic | Group::Move | Group::Compare);
        [
            (memory.is_some_and(Action::reads), Resource::Memory),
            (masked, Resource::ExecMask),
            (implicit(Implicit::READS_RESULT), Resource::Result),
            (computes, Resource::FloatMode),
            (implicit(Implicit::READS_ARGUMENTS), Resource::Arguments),
        ]
    };
    let unnamed = unnamed.into_iter().filter(|(there, _)| *there);
    named.chain(unnamed.map(|(_, resource)| Access {
        field: None,
        resource,
    }))
}

fn general(variable: VarId) -> Option<Resource> {
    (variable != VarId::NULL).then_some(Resource::General(variable))
}

fn state(operand: &VectorOperand) -> Option<Resource> {
    let VectorOperand::State(state) = operand else {
        return None;
    };
    let index = u8::try_from(state.index).ok()?;
    if state.class == StateClass::SURFACE {
        Some(Resource::Surface(SurfaceId(index)))
    } else {
        Some(Resource::Sampler(SamplerId(index)))
    }
}

fn reads_of(field: &FieldDef, value: Value, group: Group, traits: Traits) -> [Option<Resource>; 2] {
    let source = field.role == Role::Source;
    match value {
        Value::Vector(operand) => match operand {
            // The address of a variable is taken, not its content.
            VectorOperand::General(_) | VectorOperand::State(_)
                if group == Group::Address && source && field.name == FieldName::Src0 =>
            {
                [None, None]
            }
            VectorOperand::General(o) if source => [general(o.variable), None],
            VectorOperand::Indirect(o) => [
                Some(Resource::Address(o.address)),
                source.then_some(Resource::AnyGeneral),
            ],
            VectorOperand::Address(o) if source => [Some(Resource::Address(o.address)), None],
            VectorOperand::Predicate(o) if source => {
                [Some(Resource::Predicate(o.predicate.id())), None]
            }
            VectorOperand::State(_) if source => [state(&operand), None],
            _ => [None, None],
        },
        Value::Raw(raw) if source => [general(raw.variable), None],
        Value::Predicate(predicate)
            if !predicate.is_none() && !traits.contains(Traits::WRITES_PREDICATE) =>
        {
            [Some(Resource::Predicate(predicate.id())), None]
        }
        Value::Surface(surface) => [Some(Resource::Surface(surface)), None],
        Value::Sampler(sampler) => [Some(Resource::Sampler(sampler)), None],
        _ => [None, None],
    }
}

fn writes_of(field: &FieldDef, value: Value, traits: Traits) -> Option<Resource> {
    match value {
        Value::Predicate(predicate) if traits.contains(Traits::WRITES_PREDICATE) => {
            (!predicate.is_none()).then_some(Resource::Predicate(predicate.id()))
        }
        _ if field.role != Role::Destination => None,
        Value::Raw(raw) => general(raw.variable),
        Value::Vector(operand) => match operand {
            VectorOperand::General(o) => general(o.variable),
            VectorOperand::Indirect(_) => Some(Resource::AnyGeneral),
            VectorOperand::Address(o) => Some(Resource::Address(o.address)),
            VectorOperand::Predicate(o) => Some(Resource::Predicate(o.predicate.id())),
            VectorOperand::State(_) => state(&operand),
            VectorOperand::Immediate(_) => None,
        },
        _ => None,
    }
}
