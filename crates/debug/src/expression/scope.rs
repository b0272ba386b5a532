//! The meaning of names in expressions where the run has stopped.

use super::{Access, Number, truth};
use crate::error::DebugError;
use crate::listing::{Listing, Place};
use crate::symbols::Symbols;
use crate::target::Target;
use visakit_exec::{BufferId, VariableClass, VariableSlot};
use visakit_isa::DataType;
use visakit_launch::value;

/// The state that an expression is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope<'a> {
    pub(crate) target: &'a Target,
    pub(crate) listing: &'a Listing,
    pub(crate) symbols: Option<&'a Symbols>,
    /// The instruction that runs next, in the routine whose variables are meant.
    pub(crate) place: Place,
    pub(crate) registers: &'a [u8],
    /// `None` while the program runs.
    pub(crate) slm: Option<&'a [u8]>,
    pub(crate) scratch: Option<&'a [u8]>,
    pub(crate) group: u64,
    pub(crate) step: u64,
    pub(crate) thread: usize,
    pub(crate) lane: u32,
    pub(crate) running: u32,
    pub(crate) enabled: u32,
    /// Lane of the thread that is lane 0 here.
    pub(crate) first_lane: u32,
}

/// A place that can be read and set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Spot {
    Register(usize),
    /// A lane of a predicate: its word, and the bit.
    Bit(usize, u32),
    Slm(usize),
    Scratch(usize),
    Global(BufferId, u64),
    /// A value of the source that is nowhere.
    Value(Vec<u8>),
}

/// The unit of an index.
enum Base {
    Register(VariableSlot),
    Slm,
    Scratch,
    Global,
    Buffer(BufferId, usize),
}

impl<'a> Scope<'a> {
    pub(super) fn fact(&self, name: &str) -> Result<i128, DebugError> {
        let item = || {
            let lane = self.lane + self.first_lane;
            let item = self.target.work_item(self.group, self.thread, lane);
            item.ok_or_else(|| DebugError::NoName(format!("${name}")))
        };
        let dimension = |ids: [u32; 3], digit: &str| {
            let dimension: Option<usize> = digit.parse().ok();
            let id = dimension.and_then(|d| ids.get(d)).copied();
            id.map(i128::from)
                .ok_or_else(|| DebugError::NoName(format!("${name}")))
        };
        Ok(match name {
            "lane" => (self.lane + self.first_lane).into(),
            "thread" => i128::try_from(self.thread).unwrap_or(0),
            "group" => self.group.into(),
            "step" => self.step.into(),
            "mask" => self.running.into(),
            "enabled" => self.enabled.into(),
            _ => {
                if let Some(digit) = name.strip_prefix("gid") {
                    return dimension(item()?.global, digit);
                }
                if let Some(digit) = name.strip_prefix("lid") {
                    return dimension(item()?.local, digit);
                }
                return Err(DebugError::NoName(format!("${name}")));
            }
        })
    }

    /// A variable by its declared name, or by its class and number whatever the zeroes before it.
    pub(crate) fn variable(&self, name: &str) -> Option<VariableSlot> {
        variable(self.target, self.place.routine, name)
    }

    fn base(&self, name: &str) -> Option<(Base, DataType)> {
        if let Some(slot) = self.variable(name) {
            let ty = slot.data_type;
            return Some((Base::Register(slot), ty));
        }
        let buffers = self.target.buffers();
        if let Some(found) = buffers.iter().find(|b| b.name == name) {
            let ty = found.data_type.unwrap_or(DataType::Ud);
            return Some((Base::Buffer(found.buffer, found.bytes), ty));
        }
        let base = match name {
            "slm" => Base::Slm,
            "scratch" => Base::Scratch,
            "global" => Base::Global,
            _ => return None,
        };
        Some((base, DataType::Ud))
    }

    pub(super) fn spot(&self, name: &str, path: &[Access]) -> Result<(Spot, DataType), DebugError> {
        let typed = || {
            let (name, ty) = name.rsplit_once('.')?;
            let ty = value::type_of(ty)?;
            let (base, _) = self.base(name)?;
            Some((base, ty, true))
        };
        let index = match path {
            [] => Some(None),
            [Access::Index(index)] => Some(Some(index)),
            _ => None,
        };
        let mut found = self.base(name).map(|(base, ty)| (base, ty, false));
        if found.is_none() || index.is_none() {
            if let Some(source) = self.source(name, path)? {
                return self.source_spot(&source);
            }
            found = found.or_else(typed);
        }
        let (Some((base, ty, stated)), Some(index)) = (found, index) else {
            return Err(DebugError::NoName(name.to_owned()));
        };
        let index = index.map(|node| node.value(self).map(Number::int));
        let index = index.transpose()?;
        let size = usize::from(ty.size()).max(1);
        let within = |bytes: usize| -> Result<usize, DebugError> {
            let index = index.unwrap_or(0);
            let element = usize::try_from(index).ok();
            let offset = element.and_then(|n| n.checked_mul(size));
            let inside = offset.filter(|o| o.checked_add(size).is_some_and(|end| end <= bytes));
            inside.ok_or_else(|| DebugError::NoElement {
                name: name.to_owned(),
                index,
                count: (bytes / size) as u64,
            })
        };
        let spot = match base {
            Base::Register(slot) if slot.class == VariableClass::Predicate && !stated => {
                let bit = index.map_or(Ok(self.lane), u32::try_from).ok();
                let bit = bit.filter(|b| *b < 32).ok_or(DebugError::NoElement {
                    name: name.to_owned(),
                    index: index.unwrap_or(0),
                    count: 32,
                })?;
                Spot::Bit(slot.offset, bit)
            }
            Base::Register(slot) => {
                if index.is_some() || stated || slot.elements == 1 {
                    Spot::Register(slot.offset + within(slot.bytes)?)
                } else {
                    let element = own_element(&slot, self.lane, self.target.lanes());
                    let element = element.ok_or_else(|| DebugError::NoElement {
                        name: name.to_owned(),
                        index: self.lane.into(),
                        count: slot.elements.into(),
                    })?;
                    Spot::Register(slot.offset + element * size)
                }
            }
            Base::Slm => {
                let slm = self.slm.ok_or(DebugError::NotInCondition("local memory"));
                Spot::Slm(within(slm?.len())?)
            }
            Base::Scratch => {
                let scratch = self.scratch;
                let scratch = scratch.ok_or(DebugError::NotInCondition("scratch memory"));
                Spot::Scratch(within(scratch?.len())?)
            }
            Base::Buffer(buffer, bytes) => Spot::Global(buffer, within(bytes)? as u64),
            Base::Global => {
                let address = index.and_then(|a| u64::try_from(a).ok()).unwrap_or(0);
                let memory = self.target.memory();
                let found = memory.find(address);
                let found = found.filter(|(b, at)| at + size as u64 <= memory.len(*b) as u64);
                let (buffer, offset) = found.ok_or_else(|| {
                    DebugError::NoMemory(format!("no buffer has {size} bytes at {address:#x}"))
                })?;
                Spot::Global(buffer, offset)
            }
        };
        Ok((spot, ty))
    }

    pub(super) fn read(&self, spot: &Spot, ty: DataType) -> Result<Number, DebugError> {
        let mut bytes = [0; 8];
        let size = usize::from(ty.size()).min(8);
        let element = bytes.get_mut(..size).unwrap_or_default();
        let (from, at) = match spot {
            Spot::Bit(word, bit) => {
                let byte = self
                    .registers
                    .get(word + usize::try_from(bit / 8).unwrap_or(0));
                let set = byte.is_some_and(|byte| byte >> (bit % 8) & 1 != 0);
                return Ok(truth(set));
            }
            Spot::Register(at) => (self.registers, *at),
            Spot::Slm(at) => (self.slm.unwrap_or(&[]), *at),
            Spot::Scratch(at) => (self.scratch.unwrap_or(&[]), *at),
            Spot::Value(bytes) => (bytes.as_slice(), 0),
            Spot::Global(buffer, offset) => {
                let offset = usize::try_from(*offset).unwrap_or(usize::MAX);
                self.target.memory().read_into(*buffer, offset, element);
                return Ok(Self::number(element, ty));
            }
        };
        let from = from.get(at..at.saturating_add(size)).unwrap_or_default();
        for (to, from) in element.iter_mut().zip(from) {
            *to = *from;
        }
        Ok(Self::number(element, ty))
    }
}

/// The element of a variable that belongs to a lane: variables of as many elements as lanes, or of a multiple, have
/// one after the other. `None` if the lane has none.
pub(crate) fn own_element(slot: &VariableSlot, lane: u32, lanes: u32) -> Option<usize> {
    if slot.elements < lanes {
        return (slot.elements > 1 && lane < slot.elements)
            .then(|| usize::try_from(lane).unwrap_or(0));
    }
    slot.elements
        .is_multiple_of(lanes)
        .then(|| usize::try_from(lane).unwrap_or(0))
}

/// A variable of a routine or a predefined one.
pub(crate) fn variable(target: &Target, routine: usize, name: &str) -> Option<VariableSlot> {
    let program = target.program();
    if let Some(name) = name.strip_prefix('%') {
        let mut all = program.predefined_variables();
        return all.find(|(n, _)| *n == name).map(|(_, slot)| slot.clone());
    }
    let declared = program.declared(routine);
    let named = declared.iter().find(|v| v.name.as_deref() == Some(name));
    let numbered = || {
        let mut letters = name.chars();
        let letter = letters.next()?;
        let number: u32 = letters.as_str().parse().ok()?;
        let same = |class: VariableClass, n: u32| class.letter() == letter && n == number;
        declared.iter().find(|v| same(v.slot.class, v.number))
    };
    named.or_else(numbered).map(|v| v.slot.clone())
}

/// Numbers that are to be put at a spot of this type.
pub(crate) fn bytes_of(number: Number, ty: DataType) -> Result<Vec<u8>, DebugError> {
    let text = match (number, ty.is_float()) {
        (Number::Float(x), true) => x.to_string(),
        (Number::Int(n), true) => n.to_string(),
        (number, false) => {
            let width = u32::from(ty.size()) * 8;
            let n = number.int();
            // Bits of a signed type may be given as an unsigned number, and the other way round.
            let least = -(1_i128 << width.saturating_sub(1));
            let most = (1_i128 << width) - 1;
            if !(least..=most).contains(&n) {
                return Err(DebugError::Number(format!(
                    "{n} does not fit into type {ty}"
                )));
            }
            let bytes = n.to_le_bytes();
            return Ok(bytes
                .get(..usize::from(ty.size()))
                .unwrap_or_default()
                .to_vec());
        }
    };
    value::parse(&text, ty).map_err(DebugError::Number)
}
