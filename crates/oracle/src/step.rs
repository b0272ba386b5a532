//! One instruction that is neither control flow nor a message.

mod sums;

use crate::compute::bits::Bits;
use crate::compute::{self, Setting};
use crate::operand::{Element, Lanes, number, raw, tainted, vector};
use crate::rows::{Execution, execution};
use crate::state::{Halt, Place, Result, View};
use crate::value::{Outcome, Precision, Value, format_of, truncate};
use visakit_isa::operand::{Modifier, StateClass, StateOperand};
use visakit_isa::table::FieldName as F;
use visakit_isa::{Instruction, PredicateId, VectorOperand};

const SOURCES: [F; 4] = [F::Src0, F::Src1, F::Src2, F::Src3];

impl View<'_, '_> {
    /// Executes an instruction for the running lanes.
    ///
    /// # Errors
    /// What is undefined or unknown.
    pub fn step(&mut self, instruction: &Instruction, running: u32) -> Result<()> {
        match execution(instruction.op) {
            Execution::Nothing => Ok(()),
            Execution::Lane(function) => self.by_lane(instruction, running, function),
            Execution::Whole(function) => function(self, instruction, running),
            Execution::Flow | Execution::Message(_) | Execution::Undefined(_) => {
                Err(Halt::Unknown(instruction.op.name()))
            }
        }
    }

    /// A copy of a predicate or of numbers.
    pub(crate) fn move_any(&mut self, instruction: &Instruction, running: u32) -> Result<()> {
        if let VectorOperand::Predicate(_) = vector(instruction, F::Src0)? {
            return self.move_predicate(instruction, running);
        }
        self.by_lane(instruction, running, |sources, setting| {
            let source = compute::one(sources)?;
            if source.ty.is_text_only() || setting.dst.is_text_only() {
                return compute::bits::small_move(sources, setting);
            }
            Ok(compute::mov(source, setting))
        })
    }

    /// Logic of predicates or of numbers.
    pub(crate) fn logic(
        &mut self,
        instruction: &Instruction,
        running: u32,
        what: Bits,
    ) -> Result<()> {
        if let Ok(VectorOperand::Predicate(_)) = vector(instruction, F::Dst) {
            return self.predicate_logic(instruction, running, what);
        }
        self.by_lane(instruction, running, |sources, setting| {
            compute::bits::bits(what, sources, setting)
        })
    }

    /// Execution size, enabled lanes and predicate together.
    fn enabled(&self, instruction: &Instruction, running: u32) -> Result<Lanes> {
        let mut lanes = self.lanes(instruction, running)?;
        lanes.mask &= self.predication(instruction, lanes)?;
        Ok(lanes)
    }

    fn by_lane(
        &mut self,
        instruction: &Instruction,
        running: u32,
        function: impl Fn(&[Element], Setting) -> Result<Outcome>,
    ) -> Result<()> {
        let lanes = self.enabled(instruction, running)?;
        let dst = vector(instruction, F::Dst)?;
        let setting = Setting {
            dst: self.destination_type(&dst)?,
            saturate: dst.modifier() == Modifier::SAT,
            mode: self.mode(),
            control: control_of(instruction),
        };
        let operands: Vec<VectorOperand> = SOURCES
            .iter()
            .filter_map(|name| vector(instruction, *name).ok())
            .collect();
        let mut results = Vec::new();
        for lane in (0..lanes.count).filter(|l| lanes.has(*l)) {
            let sources = operands
                .iter()
                .map(|o| self.source(o, lane))
                .collect::<Result<Vec<Element>>>()?;
            results.push((lane, tainted(function(&sources, setting)?, &sources)));
        }
        self.store(&dst, &results)
    }

    pub(crate) fn select(&mut self, instruction: &Instruction, running: u32) -> Result<()> {
        let lanes = self.lanes(instruction, running)?;
        if instruction
            .predicate()
            .is_none_or(visakit_isa::Predicate::is_none)
        {
            return Err(Halt::Undefined("sel without a predicate"));
        }
        let chosen = self.predication(instruction, lanes)?;
        let dst = vector(instruction, F::Dst)?;
        let setting = Setting {
            dst: self.destination_type(&dst)?,
            saturate: dst.modifier() == Modifier::SAT,
            mode: self.mode(),
            control: 0,
        };
        let mut mixed = false;
        for name in [F::Src0, F::Src1] {
            let element = self.source(&vector(instruction, name)?, 0)?;
            mixed |= element.ty != setting.dst || element.modified;
        }
        let mut results = Vec::new();
        for lane in (0..lanes.count).filter(|l| lanes.has(*l)) {
            let name = if chosen >> lane & 1 != 0 {
                F::Src0
            } else {
                F::Src1
            };
            let element = self.source(&vector(instruction, name)?, lane)?;
            let float = matches!(element.value, Value::Real(_));
            if float != format_of(setting.dst).is_some() {
                return Err(Halt::Undefined("sel does not convert to or from integers"));
            }
            let outcome = compute::mov(element, setting);
            let converted = |value: crate::float::Real| {
                let format = format_of(setting.dst).unwrap_or(value.format);
                value.to(format, setting.mode.round)
            };
            let outcome = match element.value {
                // With two types or a modifier it is no plain copy.
                Value::Real(value)
                    if mixed
                        && (compute::flushes(value, setting.mode)
                            || compute::flushes(converted(value), setting.mode)) =>
                {
                    Outcome::undefined()
                }
                _ => outcome,
            };
            results.push((lane, tainted(outcome, &[element])));
        }
        self.store(&dst, &results)
    }

    pub(crate) fn compare(&mut self, instruction: &Instruction, running: u32) -> Result<()> {
        let lanes = self.lanes(instruction, running)?;
        let dst = vector(instruction, F::Dst)?;
        let mode = self.mode();
        let relation = control_of(instruction);
        let (a, b) = (vector(instruction, F::Src0)?, vector(instruction, F::Src1)?);
        let mut results = Vec::new();
        let mut bits = 0;
        let to_predicate = matches!(dst, VectorOperand::Predicate(_));
        for lane in (0..lanes.count).filter(|l| lanes.has(*l)) {
            let sources = [self.source(&a, lane)?, self.source(&b, lane)?];
            let order = compute::compare(&sources, mode)?;
            let defined = sources.iter().all(|s| s.defined);
            let Some(order) = order.ok().filter(|_| defined) else {
                if to_predicate {
                    return Err(Halt::Undefined("comparison"));
                }
                results.push((lane, Outcome::undefined()));
                continue;
            };
            let holds = compute::holds(relation, order)?;
            bits |= u32::from(holds) << lane;
            results.push((lane, Outcome::from(-i128::from(holds))));
        }
        match dst {
            VectorOperand::Predicate(p) => {
                self.store_predicate(p.predicate.id(), lanes, lanes.mask, bits);
                Ok(())
            }
            _ => {
                // All ones or zero as bits, whatever the type.
                for (lane, outcome) in results {
                    let (place, ty) = self.destination_place(&dst, lane)?;
                    let Value::Integer(value) = outcome.value else {
                        continue;
                    };
                    self.write(place, truncate(value, ty.size()), ty, outcome.precision)?;
                }
                Ok(())
            }
        }
    }

    pub(crate) fn set_predicate(&mut self, instruction: &Instruction, running: u32) -> Result<()> {
        let lanes = self.lanes(instruction, running)?;
        let VectorOperand::Predicate(dst) = vector(instruction, F::Dst)? else {
            return Err(Halt::Undefined("destination of setp"));
        };
        let src = vector(instruction, F::Src0)?;
        let scalar = match src {
            VectorOperand::Immediate(_) => true,
            VectorOperand::General(o) => o.region == visakit_isa::Region::SCALAR,
            _ => false,
        };
        let mut bits = 0;
        if scalar {
            if lanes.count < 16 && self.lanes(instruction, 0)?.mask == 0 {
                return Err(Halt::Undefined("setp of few lanes"));
            }
            let value = self.scalar_integer(&src)?;
            bits = u32::try_from(value & 0xffff_ffff).unwrap_or(0);
        } else {
            for lane in (0..lanes.count).filter(|l| lanes.has(*l)) {
                let element = self.source(&src, lane)?;
                if !element.defined {
                    return Err(Halt::Undefined("setp"));
                }
                bits |= u32::from(element.bits & 1 != 0) << lane;
            }
        }
        self.store_predicate(dst.predicate.id(), lanes, lanes.mask, bits & lanes.mask);
        Ok(())
    }

    fn move_predicate(&mut self, instruction: &Instruction, running: u32) -> Result<()> {
        let lanes = self.lanes(instruction, running)?;
        let VectorOperand::Predicate(src) = vector(instruction, F::Src0)? else {
            return Err(Halt::Unknown("mov"));
        };
        let id = src.predicate.id();
        let index = usize::from(id.0).wrapping_sub(1);
        let declared = self
            .scope
            .body
            .predicates
            .get(index)
            .map_or(0, |p| p.elements);
        let dst = vector(instruction, F::Dst)?;
        let size = u16::from(self.destination_type(&dst)?.size()) * 8;
        if lanes.count != 1 || lanes.first != 0 || declared < 16 || size < declared {
            return Err(Halt::Undefined("mov of a predicate"));
        }
        if lanes.has(0) {
            let all = Lanes::all(usize::from(declared));
            let value = i128::from(self.predicate(id) & all);
            self.store(&dst, &[(0, value.into())])?;
        }
        Ok(())
    }

    fn predicate_logic(
        &mut self,
        instruction: &Instruction,
        running: u32,
        what: Bits,
    ) -> Result<()> {
        let lanes = self.lanes(instruction, running)?;
        if lanes.mask != Lanes::all(lanes.count) {
            return Err(Halt::Undefined("logic of predicates under a mask"));
        }
        let bits = |operand: VectorOperand| match operand {
            VectorOperand::Predicate(p)
                if p.predicate.combine() == visakit_isa::operand::PredicateCombine::PerLane
                    && !p.predicate.is_inverted() =>
            {
                Ok(self.predicate(p.predicate.id()) >> lanes.first)
            }
            _ => Err(Halt::Undefined("logic of predicates and others")),
        };
        let a = bits(vector(instruction, F::Src0)?)?;
        let b = match what {
            Bits::Not => 0,
            _ => bits(vector(instruction, F::Src1)?)?,
        };
        let result = match what {
            Bits::Not => !a,
            Bits::And => a & b,
            Bits::Or => a | b,
            Bits::Xor => a ^ b,
            Bits::Table => return Err(Halt::Undefined("a function of three predicates")),
        };
        let VectorOperand::Predicate(dst) = vector(instruction, F::Dst)? else {
            return Err(Halt::Undefined("logic of predicates and others"));
        };
        self.store_predicate(dst.predicate.id(), lanes, lanes.mask, result & lanes.mask);
        Ok(())
    }

    fn state_value(&mut self, state: StateOperand, element: usize) -> Result<&mut u32> {
        let table = match state.class {
            StateClass::SURFACE => &mut self.locals.surfaces,
            StateClass::SAMPLER => &mut self.locals.samplers,
            _ => return Err(Halt::Undefined("state class")),
        };
        table
            .get_mut(&state.index)
            .and_then(|e| e.get_mut(usize::from(state.offset) + element))
            .ok_or(Halt::Undefined("state variable"))
    }

    pub(crate) fn move_state(&mut self, instruction: &Instruction) -> Result<()> {
        let lanes = self.lanes(instruction, u32::MAX)?;
        let dst = vector(instruction, F::Dst)?;
        let src = vector(instruction, F::Src0)?;
        let mut values = Vec::new();
        for element in 0..lanes.count {
            values.push(match src {
                VectorOperand::State(state) => *self.state_value(state, element)?,
                VectorOperand::Immediate(value) => {
                    u32::try_from(value.bits() & 0xffff_ffff).unwrap_or(0)
                }
                _ => {
                    let (place, ty) = self.contiguous(&src, element)?;
                    let read = self.element(place, ty)?;
                    if !read.defined {
                        return Err(Halt::Undefined("movs"));
                    }
                    u32::try_from(read.bits & 0xffff_ffff).unwrap_or(0)
                }
            });
        }
        for (element, value) in values.into_iter().enumerate() {
            if let VectorOperand::State(state) = dst {
                *self.state_value(state, element)? = value;
            } else {
                let (place, ty) = self.contiguous(&dst, element)?;
                self.write(place, value.into(), ty, Precision::Exact)?;
            }
        }
        Ok(())
    }

    pub(crate) fn add_address(&mut self, instruction: &Instruction, running: u32) -> Result<()> {
        let lanes = self.lanes(instruction, running)?;
        let VectorOperand::Address(dst) = vector(instruction, F::Dst)? else {
            return Err(Halt::Undefined("destination of addr_add"));
        };
        let (base, offset) = (vector(instruction, F::Src0)?, vector(instruction, F::Src1)?);
        let mut results = Vec::new();
        for lane in (0..lanes.count).filter(|l| lanes.has(*l)) {
            let mut place = match base {
                VectorOperand::General(_) => self.contiguous(&base, 0)?.0,
                VectorOperand::Address(a) => {
                    // Elements repeat if the operand is narrower than the instruction.
                    let width = 1usize << a.width;
                    let element = usize::from(a.offset) + lane % width;
                    let elements = self.locals.addresses.get(&a.address);
                    elements
                        .and_then(|e| e.get(element).copied().flatten())
                        .ok_or(Halt::Undefined("address without a value"))?
                }
                _ => return Err(Halt::Undefined("base of addr_add")),
            };
            let element = self.source(&offset, lane)?;
            match element.value {
                Value::Integer(value) if element.defined => {
                    place.offset += i64::try_from(value).unwrap_or(0);
                }
                _ => return Err(Halt::Undefined("offset of addr_add")),
            }
            results.push((usize::from(dst.offset) + lane, place));
        }
        let elements = self.locals.addresses.get_mut(&dst.address);
        let elements = elements.ok_or(Halt::Undefined("address variable"))?;
        for (element, place) in results {
            *elements
                .get_mut(element)
                .ok_or(Halt::Undefined("address element"))? = Some(place);
        }
        Ok(())
    }

    /// Results of two destinations.
    pub(crate) fn carry(
        &mut self,
        instruction: &Instruction,
        running: u32,
        add: bool,
    ) -> Result<()> {
        let lanes = self.enabled(instruction, running)?;
        let dst = vector(instruction, F::Dst)?;
        let second = vector(instruction, if add { F::Carry } else { F::Borrow })?;
        let (a, b) = (vector(instruction, F::Src0)?, vector(instruction, F::Src1)?);
        let (mut sums, mut carries) = (Vec::new(), Vec::new());
        if dst.modifier() == Modifier::SAT {
            return Err(Halt::Undefined("saturation with a borrow"));
        }
        for lane in (0..lanes.count).filter(|l| lanes.has(*l)) {
            let sources = [self.source(&a, lane)?, self.source(&b, lane)?];
            let [Value::Integer(x), Value::Integer(y)] = sources.map(|s| s.value) else {
                return Err(Halt::Undefined("types"));
            };
            if sources.iter().any(|s| s.ty != visakit_isa::DataType::Ud) {
                return Err(Halt::Undefined("types"));
            }
            let (sum, carry) = if add {
                (x + y, x + y > i128::from(u32::MAX))
            } else {
                (x - y, x < y)
            };
            sums.push((lane, tainted(sum.into(), &sources)));
            carries.push((lane, tainted(i128::from(carry).into(), &sources)));
        }
        self.store(&dst, &sums)?;
        self.store(&second, &carries)
    }

    /// The predicate of this instruction is a destination.
    pub(crate) fn add_overflow(&mut self, instruction: &Instruction, running: u32) -> Result<()> {
        let lanes = self.lanes(instruction, running)?;
        let dst = vector(instruction, F::Dst)?;
        let ty = self.destination_type(&dst)?;
        let (low, high) = crate::value::range(ty);
        let id = instruction
            .predicate()
            .map_or(PredicateId(0), visakit_isa::Predicate::id);
        let mut results = Vec::new();
        let mut bits = 0;
        for lane in (0..lanes.count).filter(|l| lanes.has(*l)) {
            let mut sum = 0;
            for name in [F::Src0, F::Src1, F::Src2] {
                let element = self.source(&vector(instruction, name)?, lane)?;
                let Value::Integer(value) = element.value else {
                    return Err(Halt::Undefined("types"));
                };
                if element.ty != ty || element.modified || !element.defined {
                    return Err(Halt::Undefined("overflow of mixed types"));
                }
                sum += value;
            }
            bits |= u32::from(sum < low || sum > high) << lane;
            results.push((lane, sum.into()));
        }
        self.store(&dst, &results)?;
        self.store_predicate(id, lanes, lanes.mask, bits);
        Ok(())
    }

    pub(crate) fn wide(&mut self, instruction: &Instruction, running: u32) -> Result<()> {
        let lanes = self.enabled(instruction, running)?;
        let dst = vector(instruction, F::Dst)?;
        let stride = match dst {
            VectorOperand::General(o) => o.region.horizontal_stride().elements(),
            _ => None,
        };
        if stride != Some(1) {
            return Err(Halt::Undefined("destination of madw"));
        }
        let grf = self.scope.grf;
        let half = (lanes.count * 4).div_ceil(grf) * grf;
        let mut results = Vec::new();
        for lane in (0..lanes.count).filter(|l| lanes.has(*l)) {
            let mut values = Vec::new();
            let mut defined = true;
            let mut types = Vec::new();
            for name in [F::Src0, F::Src1, F::Src2] {
                let element = self.source(&vector(instruction, name)?, lane)?;
                let Value::Integer(value) = element.value else {
                    return Err(Halt::Undefined("types"));
                };
                if element.negated_unsigned {
                    return Err(Halt::Undefined("negated unsigned integer"));
                }
                types.push(element.ty);
                defined &= element.defined;
                values.push(value);
            }
            let ty = self.destination_type(&dst)?;
            if types.iter().any(|t| *t != ty) {
                return Err(Halt::Undefined("mixed types of madw"));
            }
            let [a, b, c] = values[..] else {
                return Err(Halt::Unknown("madw"));
            };
            let precision = if defined {
                Precision::Exact
            } else {
                Precision::Undefined
            };
            results.push((lane, truncate(a * b + c, 8), precision));
        }
        for (lane, bits, precision) in results {
            let (place, ty) = self.destination_place(&dst, lane)?;
            self.write(place, bits & 0xffff_ffff, ty, precision)?;
            let upper = Place {
                offset: place.offset + i64::try_from(half).unwrap_or(0),
                ..place
            };
            self.write(upper, bits >> 32, ty, precision)?;
        }
        Ok(())
    }

    pub(crate) fn differences(
        &mut self,
        instruction: &Instruction,
        running: u32,
        accumulates: bool,
    ) -> Result<()> {
        let lanes = self.enabled(instruction, running)?;
        let dst = vector(instruction, F::Dst)?;
        let (a, b) = (vector(instruction, F::Src0)?, vector(instruction, F::Src1)?);
        if lanes.count < 2 {
            return Err(Halt::Undefined("sad2 of one lane"));
        }
        let mut results = Vec::new();
        for lane in (0..lanes.count).filter(|l| lanes.has(*l)) {
            if lane % 2 == 1 {
                results.push((lane, Outcome::undefined()));
                continue;
            }
            let mut sum = 0;
            let mut defined = true;
            for at in [lane, lane + 1] {
                let (x, y) = (self.source(&a, at)?, self.source(&b, at)?);
                let (Value::Integer(p), Value::Integer(q)) = (x.value, y.value) else {
                    return Err(Halt::Undefined("types"));
                };
                if x.negated_unsigned || y.negated_unsigned {
                    return Err(Halt::Undefined("negated unsigned integer"));
                }
                defined &= x.defined && y.defined;
                sum += (p - q).abs();
            }
            if accumulates {
                let element = self.source(&vector(instruction, F::Src2)?, lane)?;
                let Value::Integer(value) = element.value else {
                    return Err(Halt::Undefined("types"));
                };
                defined &= element.defined;
                sum += value;
            }
            let outcome = if defined {
                sum.into()
            } else {
                Outcome::undefined()
            };
            results.push((lane, outcome));
        }
        self.store(&dst, &results)?;
        // The odd elements may be written regardless of the mask.
        for lane in (1..lanes.count).step_by(2) {
            let (place, ty) = self.destination_place(&dst, lane)?;
            let (bits, _) = self.read(place, usize::from(ty.size()))?;
            self.write(place, bits, ty, Precision::Undefined)?;
        }
        Ok(())
    }

    /// The raw operand of a name, with its type.
    ///
    /// # Errors
    /// There is none.
    pub fn raw_operand(
        &self,
        instruction: &Instruction,
        name: F,
    ) -> Result<(visakit_isa::RawOperand, visakit_isa::DataType)> {
        let operand = raw(instruction, name)?;
        Ok((operand, self.scope.type_of(operand.variable)?))
    }
}

/// The number that selects relation, minimum or maximum, or function.
fn control_of(instruction: &Instruction) -> u8 {
    [F::RelOp, F::Op, F::BooleanFunc]
        .into_iter()
        .find_map(|name| number(instruction, name).ok())
        .and_then(|n| u8::try_from(n).ok())
        .unwrap_or(0)
}
