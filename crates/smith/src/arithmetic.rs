//! Arithmetic, logic, moves, selections and comparisons: rows of the table whose fields are all
//! operands, filled in by the classes and types that each field allows.

use crate::choice::Choices;
use crate::kernel::{Kernel, exec_size, immediate};
use crate::rows::{destination, writes};
use visakit_isa::TypeSet;
use visakit_isa::operand::{Modifier, OperandClasses, PredicateCombine, PredicateOperand};
use visakit_isa::semantics::Traits;
use visakit_isa::table::{FieldKind, Group, InstructionDef, Role, Saturation};
use visakit_isa::{
    DataType, ExecMask, FieldName, Instruction, Op, Platform, Predicate, Value, VectorOperand,
};

/// The rows that this file fills in.
fn is_computation(def: &InstructionDef) -> bool {
    matches!(
        def.group,
        Group::Arithmetic | Group::Logic | Group::Move | Group::Compare
    ) && !writes(def, OperandClasses::STATE)
}

impl Kernel<'_> {
    pub(crate) fn arithmetic(&mut self, choices: &mut Choices<'_>) {
        let Some(def) = choices.of(&self.rows(is_computation)) else {
            return;
        };
        let to_predicate = writes(def, OperandClasses::PREDICATE);
        let made = match def.group {
            Group::Compare => self.compare(def, choices),
            _ if to_predicate && !writes(def, OperandClasses::GENERAL) => {
                self.set_predicate(def, choices)
            }
            _ if to_predicate && choices.once_in(5) => Some(self.predicate_logic(def, choices)),
            _ => self.operation(def, choices),
        };
        if let Some(instruction) = made {
            self.push(instruction);
        }
    }

    /// One type for the computation, related ones for its operands.
    fn operation(
        &mut self,
        def: &'static InstructionDef,
        choices: &mut Choices<'_>,
    ) -> Option<Instruction> {
        let computed = self.common_types(def);
        let ty = choices.of(&computed)?;
        let mut lanes = self.lanes_of(def, ty, choices);
        let result = self.result_type(def, ty, choices)?;
        lanes = lanes.min(self.widest(result));
        let mut instruction = Instruction::new(def.op);
        let exec = self.size_and_mask(lanes, choices);
        for field in def.fields_in(self.format) {
            let value = match (field.kind, field.role) {
                (FieldKind::ExecSize, _) => exec,
                (FieldKind::Predicate, _) => {
                    let always = def.traits.contains(Traits::SELECTS);
                    let predicate = self.predicate(always, choices);
                    Value::Predicate(predicate)
                }
                (FieldKind::U8, _) => match field.enumeration {
                    // Minimum or maximum.
                    Some(_) => Value::U8(u8::from(choices.once_in(2))),
                    None => Value::U8(choices.u8()),
                },
                (FieldKind::Vector, Role::Destination) => {
                    let value = if def.traits.contains(Traits::WIDE_RESULT) {
                        self.wide_destination(ty, choices)?
                    } else {
                        self.written(result, lanes, choices)?
                    };
                    self.saturated(def, value, result, ty, choices)
                }
                (FieldKind::Vector, _) => {
                    let ty = self.source_type(def, field.types, ty, choices);
                    let value = self.operand_of(def, field, ty, lanes, choices)?;
                    self.modified(def, value, ty, choices)
                }
                _ => return None,
            };
            instruction = instruction.with(field.name, value);
        }
        Some(instruction)
    }

    fn operand_of(
        &self,
        def: &InstructionDef,
        field: &visakit_isa::table::FieldDef,
        ty: DataType,
        lanes: u8,
        choices: &mut Choices<'_>,
    ) -> Option<Value> {
        let divisor = def.traits.contains(Traits::DIVIDES) && field.name == FieldName::Src1;
        if self.config.executable && divisor && !ty.is_float() {
            // Division by zero has no defined result.
            return Some(immediate(ty, 1 + u64::from(choices.u8() & 0x3f)));
        }
        if def.traits.contains(Traits::REGIONS_IGNORED) {
            return self.in_order(ty, lanes, choices);
        }
        let three = def.fields.iter().any(|f| f.name == FieldName::Src2);
        let constant = field.classes.contains(OperandClasses::IMMEDIATE)
            // A three-source instruction takes a constant of at most 16 bits.
            && !(three && field.name != FieldName::Src0)
            && !(three && ty.size() > 2);
        self.source(ty, lanes, constant, choices)
    }

    /// The types that all sources have in common and that the platform computes in.
    fn common_types(&self, def: &InstructionDef) -> Vec<DataType> {
        let any = TypeSet::ALL_NUMBERS.difference(TypeSet::BF);
        let sources = def
            .fields
            .iter()
            .filter(|f| f.role == Role::Source && f.kind == FieldKind::Vector);
        let mut types = any;
        for field in sources {
            if !field.types.is_empty() {
                types = types.intersection(field.types);
            }
        }
        types = types.difference(not_computed(def));
        if def.traits.contains(Traits::DIVIDES) && !self.config.platform.divides_integers() {
            types = types.difference(TypeSet::INTEGERS);
        }
        if def.traits.contains(Traits::ROTATES) && self.config.platform < Platform::Pvc {
            types = types.difference(TypeSet::Q.union(TypeSet::UQ));
        }
        let declared = |ty: &DataType| self.pool.iter().any(|v| v.ty == *ty);
        types.types().filter(declared).collect()
    }

    fn source_type(
        &self,
        def: &InstructionDef,
        allowed: TypeSet,
        ty: DataType,
        choices: &mut Choices<'_>,
    ) -> DataType {
        if ty.is_float() || def.traits.contains(Traits::ONE_TYPE) {
            return ty;
        }
        let other = opposite(ty);
        let listed = allowed.is_empty() || allowed.has(other);
        if listed && self.pool.iter().any(|v| v.ty == other) && choices.once_in(4) {
            other
        } else {
            ty
        }
    }

    fn result_type(
        &self,
        def: &InstructionDef,
        ty: DataType,
        choices: &mut Choices<'_>,
    ) -> Option<DataType> {
        let allowed = destination(def)?.types;
        let declared = |t: DataType| self.pool.iter().any(|v| v.ty == t);
        let listed = |t: DataType| (allowed.is_empty() || allowed.has(t)) && declared(t);
        // The one operation that converts between any types, of which no column speaks.
        if def.op == Op::MOV {
            let types: Vec<DataType> = self
                .pool
                .iter()
                .map(|v| v.ty)
                .filter(|t| listed(*t) && convertible(ty, *t))
                .collect();
            return choices.of(&types);
        }
        if ty.is_float() || def.traits.contains(Traits::WIDE_RESULT) {
            return listed(ty).then_some(ty);
        }
        let types: Vec<DataType> = [ty, opposite(ty), DataType::D, DataType::Ud]
            .into_iter()
            .filter(|t| {
                listed(*t)
                    && (t.size() == ty.size()
                        || widens(def.op) && t.size() > ty.size() && ty.size() < 4)
            })
            .collect();
        choices.of(&types)
    }

    fn lanes_of(&self, def: &InstructionDef, ty: DataType, choices: &mut Choices<'_>) -> u8 {
        let most = match def.traits {
            // The result takes two registers for each register of a source.
            traits if traits.contains(Traits::WIDE_RESULT) => 8,
            // The carry is an accumulator of one register.
            _ if results(def) > 1 => 16,
            _ => 32,
        };
        let most = most.min(self.widest(ty)).min(self.simd);
        let sizes: Vec<u8> = [1, 2, 4, 8, 16, 32]
            .into_iter()
            .filter(|s| *s <= most)
            // Bit fields are taken one by one or by the register: their operands are aligned.
            .filter(|s| !def.traits.contains(Traits::BIT_FIELDS) || !matches!(s, 2 | 4))
            .collect();
        // Kernels mostly use wide ones.
        if choices.once_in(2) {
            sizes.last().copied().unwrap_or(1)
        } else {
            choices.of_or(&sizes, 1)
        }
    }

    /// The execution size with a mask that the kernel's SIMD size has room for.
    pub(crate) fn size_and_mask(&self, lanes: u8, choices: &mut Choices<'_>) -> Value {
        let places = if lanes >= 4 { self.simd / lanes } else { 1 };
        let first_lane = u8::try_from(choices.below(usize::from(places))).unwrap_or(0) * lanes;
        let mask = ExecMask {
            first_lane,
            no_mask: choices.once_in(3),
        };
        exec_size(lanes, mask, self.format)
    }

    pub(crate) fn predicate(&self, always: bool, choices: &mut Choices<'_>) -> Predicate {
        if !always && !choices.once_in(3) {
            return Predicate::NONE;
        }
        let id = self.predicate_id(choices);
        let combine = match choices.below(8) {
            6 if !always => PredicateCombine::Any,
            7 if !always => PredicateCombine::All,
            _ => PredicateCombine::PerLane,
        };
        Predicate::new(id, combine, choices.once_in(2)).unwrap_or_default()
    }

    fn saturated(
        &self,
        def: &InstructionDef,
        value: Value,
        result: DataType,
        ty: DataType,
        choices: &mut Choices<'_>,
    ) -> Value {
        let allowed = match def.saturation {
            Saturation::Yes => true,
            Saturation::Float | Saturation::FloatOnly => result.is_float(),
            Saturation::No | Saturation::Unlisted | Saturation::Unspecified => false,
        } && result.size() <= 4
            && ty.size() <= 4
            && !def.traits.contains(Traits::SHIFTS)
            && results(def) == 1;
        let Value::Vector(VectorOperand::General(mut operand)) = value else {
            return value;
        };
        if allowed && choices.once_in(5) {
            operand.modifier = Modifier::SAT;
        }
        Value::Vector(operand.into())
    }

    /// Low halves in one register, high halves in the next.
    fn wide_destination(&self, ty: DataType, choices: &mut Choices<'_>) -> Option<Value> {
        let variable = self.of_type(ty, choices)?;
        Some(self.destination(variable, ty, 0))
    }

    fn set_predicate(
        &self,
        def: &InstructionDef,
        choices: &mut Choices<'_>,
    ) -> Option<Instruction> {
        let ty = DataType::Ud;
        let variable = self.of_type(ty, choices)?;
        let target = self.predicate_target(choices);
        let at = u16::try_from(choices.below(usize::from(self.elements(ty)))).unwrap_or(0);
        Some(
            Instruction::new(def.op)
                .with(FieldName::ExecSize, self.no_mask(self.simd))
                .with(FieldName::Dst, target)
                .with(FieldName::Src0, self.element(variable, ty, at)),
        )
    }

    fn predicate_target(&self, choices: &mut Choices<'_>) -> Value {
        let id = self.predicate_id(choices);
        let predicate = Predicate::new(id, PredicateCombine::PerLane, false).unwrap_or_default();
        Value::Vector(VectorOperand::Predicate(PredicateOperand {
            modifier: Modifier::NONE,
            predicate,
        }))
    }

    /// A comparison into a predicate, or into a variable (all ones or zero for each lane).
    fn compare(&self, def: &InstructionDef, choices: &mut Choices<'_>) -> Option<Instruction> {
        let into_variable = choices.once_in(4);
        let declared: Vec<DataType> = self
            .pool
            .iter()
            .map(|v| v.ty)
            .filter(|t| t.size() > 1)
            .collect();
        let ty = choices.of(&declared)?;
        let lanes = self.lanes_of(def, ty, choices);
        let into_variable = into_variable && ty.size() <= 4;
        let destination = if into_variable {
            self.written(ty, lanes, choices)?
        } else {
            self.predicate_target(choices)
        };
        let relation = u8::try_from(choices.below(6)).unwrap_or(0);
        let src0 = self.source(ty, lanes, false, choices)?;
        let src0 = self.modified(def, src0, ty, choices);
        let src1 = self.source(ty, lanes, true, choices)?;
        Some(
            Instruction::new(def.op)
                .with(FieldName::ExecSize, self.size_and_mask(lanes, choices))
                .with(FieldName::RelOp, Value::U8(relation))
                .with(FieldName::Dst, destination)
                .with(FieldName::Src0, src0)
                .with(FieldName::Src1, src1),
        )
    }

    fn predicate_logic(&self, def: &InstructionDef, choices: &mut Choices<'_>) -> Instruction {
        let mut instruction = Instruction::new(def.op);
        for field in def.fields_in(self.format) {
            let value = match field.kind {
                FieldKind::ExecSize => self.no_mask(self.simd),
                FieldKind::Predicate => Value::Predicate(Predicate::NONE),
                _ => self.predicate_target(choices),
            };
            instruction = instruction.with(field.name, value);
        }
        instruction
    }
}

/// Destinations.
fn results(def: &InstructionDef) -> usize {
    let fields = def.fields.iter();
    fields.filter(|f| f.role == Role::Destination).count()
}

/// Types that the table lists because the reference implementation accepts them, but in which the
/// hardware does not compute.
fn not_computed(def: &InstructionDef) -> TypeSet {
    let qwords = TypeSet::Q.union(TypeSet::UQ);
    let bytes = TypeSet::B.union(TypeSet::UB);
    let mut types = TypeSet::empty();
    if def.traits.contains(Traits::DIVIDES) {
        let dwords = TypeSet::UD.union(TypeSet::D);
        types = TypeSet::ALL_NUMBERS.difference(dwords);
    }
    if def.traits.contains(Traits::EXACT_DOUBLE) {
        types = types.union(TypeSet::DF);
    }
    if def
        .traits
        .intersects(Traits::SHIFTS.union(Traits::NO_QWORDS))
    {
        types = types.union(qwords);
    }
    // Their products are expanded into several instructions, which no column describes.
    if matches!(def.op, Op::MUL | Op::MAD) {
        types = types.union(qwords).union(bytes);
    }
    types
}

/// Whether the operation may have a result wider than its sources. No column states this: the table
/// lists what the reference implementation accepts.
fn widens(op: Op) -> bool {
    matches!(op, Op::ADD | Op::MUL)
}

/// Conversions that one move does.
fn convertible(from: DataType, to: DataType) -> bool {
    // Between halves and bytes, and between halves and 64 bits, it takes two.
    let far = |a: DataType, b: DataType| {
        matches!(a, DataType::Hf) && (b.size() == 1 || b.size() == 8)
            || a.size() == 1 && b.size() == 8
    };
    !far(from, to) && !far(to, from)
}

fn opposite(ty: DataType) -> DataType {
    match ty {
        DataType::Ud => DataType::D,
        DataType::D => DataType::Ud,
        DataType::Uw => DataType::W,
        DataType::W => DataType::Uw,
        DataType::Ub => DataType::B,
        DataType::B => DataType::Ub,
        DataType::Uq => DataType::Q,
        DataType::Q => DataType::Uq,
        other => other,
    }
}
