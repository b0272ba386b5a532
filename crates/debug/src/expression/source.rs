//! Source variables in expressions: their members, elements, and what they point to.

use super::{Access, Number, Scope, Spot};
use crate::error::DebugError;
use crate::symbols::{Found, Part, PartPlace, Site, SourceType};
use visakit_isa::DataType;
use visakit_launch::value;

/// Elements and members that are shown.
const SHOWN: usize = 32;
/// Structures in structures that are shown.
const DEPTH: usize = 4;

/// A source variable, or a part of one.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// As it was asked for.
    pub(crate) name: String,
    pub(crate) of: SourceType,
    pub(crate) parts: Vec<Part>,
}

impl Source {
    /// Bytes of it from a place on, as another type.
    fn part(&self, name: String, of: SourceType, from: u64) -> Self {
        let end = from.saturating_add(of.bytes());
        let mut parts = Vec::new();
        let mut at = 0_u64;
        for part in &self.parts {
            let (start, stop) = (at.max(from), at.saturating_add(part.bytes).min(end));
            if start < stop {
                let place = moved(&part.place, start - at);
                let bytes = stop - start;
                parts.push(Part { bytes, place });
            }
            at = at.saturating_add(part.bytes);
        }
        Self { name, of, parts }
    }
}

/// A place so many bytes further on.
fn moved(place: &PartPlace, by: u64) -> PartPlace {
    let small = usize::try_from(by).unwrap_or(usize::MAX);
    match place {
        PartPlace::Register(at) => PartPlace::Register(at.saturating_add(small)),
        PartPlace::Memory(address) => PartPlace::Memory(address.wrapping_add(by)),
        PartPlace::Local(at) => PartPlace::Local(at.saturating_add(by)),
        PartPlace::Value(value) => PartPlace::Value(value.get(small..).unwrap_or(&[]).to_vec()),
        PartPlace::Nowhere => PartPlace::Nowhere,
    }
}

impl<'a> Scope<'a> {
    pub(crate) fn site(&self) -> Site<'a> {
        Site {
            listing: self.listing,
            program: self.target.program(),
            place: self.place,
            lane: self.lane + self.first_lane,
            registers: self.registers,
        }
    }

    /// The source variable of a name, which may go on with members; `None` if the source has none.
    pub(super) fn source(&self, name: &str, path: &[Access]) -> Result<Option<Source>, DebugError> {
        let mut words = name.split('.');
        let head = words.next().unwrap_or_default();
        let found = self.symbols.and_then(|s| s.find(head, &self.site()));
        // A variable of another kind that hides the argument is not the argument.
        let found = match found {
            Some(found) if found.is_pointer_without_place() => {
                self.local_argument(head).or(Some(found))
            }
            None => self.local_argument(head),
            other => other,
        };
        let Some(Found { of, parts }) = found else {
            return Ok(None);
        };
        let name = head.to_owned();
        let mut source = Source { name, of, parts };
        for member in words {
            source = self.member(&source, member)?;
        }
        for access in path {
            source = match access {
                Access::Member(member) => self.member(&source, member)?,
                Access::Index(index) => {
                    let index = index.value(self)?.int();
                    self.element(&source, index)?
                }
            };
        }
        Ok(Some(source))
    }

    /// What an argument in local memory points to, which the launch knows: compilers tell no place.
    fn local_argument(&self, name: &str) -> Option<Found> {
        let mut all = self.target.local_arguments().into_iter();
        let own = all.find(|argument| argument.name == name)?;
        (self.place.routine == 0).then_some(())?;
        let (data_type, type_name) = match own.data_type {
            Some(data_type) => (data_type, own.type_name.trim_end_matches('*')),
            None => (DataType::Ub, "uchar"),
        };
        let element = SourceType::Number {
            name: type_name.to_owned(),
            data_type,
        };
        let size = u64::from(data_type.size()).max(1);
        let (bytes, place) = (own.bytes, PartPlace::Local(own.start));
        Some(Found {
            of: SourceType::Array {
                element: Box::new(element),
                count: own.bytes / size,
            },
            parts: vec![Part { bytes, place }],
        })
    }

    fn member(&self, source: &Source, member: &str) -> Result<Source, DebugError> {
        let name = format!("{}.{member}", source.name);
        if let SourceType::Pointer { to, .. } = &source.of
            && matches!(**to, SourceType::Record { .. })
        {
            let target = self.element(source, 0)?;
            return self.member(&target, member);
        }
        let SourceType::Record { members, .. } = &source.of else {
            return Err(DebugError::NoMember(source.name.clone(), source.of.name()));
        };
        let found = members.iter().find(|(known, ..)| known == member);
        let (_, start, of) = found
            .ok_or_else(|| DebugError::NoName(format!("{member}` in `{}", source.of.name())))?;
        Ok(source.part(name, of.clone(), *start))
    }

    fn element(&self, source: &Source, index: i128) -> Result<Source, DebugError> {
        let name = format!("{}[{index}]", source.name);
        match &source.of {
            SourceType::Array { element, count } => {
                let inside = u64::try_from(index).ok().filter(|index| index < count);
                let inside = inside.ok_or_else(|| DebugError::NoElement {
                    name: source.name.clone(),
                    index,
                    count: *count,
                })?;
                let start = inside.saturating_mul(element.bytes());
                Ok(source.part(name, (**element).clone(), start))
            }
            SourceType::Pointer { to, .. } => {
                let address = self.pointer(source)?;
                let bytes = to.bytes();
                let missing = || DebugError::NoMemory(format!("`{name}` is outside of memory"));
                let by = i64::try_from(index)
                    .ok()
                    .and_then(|n| n.checked_mul(i64::try_from(bytes).ok()?));
                let by = by.ok_or_else(missing)?;
                Ok(Source {
                    name,
                    of: (**to).clone(),
                    parts: vec![Part {
                        bytes,
                        place: PartPlace::Memory(address.wrapping_add_signed(by)),
                    }],
                })
            }
            of => Err(DebugError::NoMember(source.name.clone(), of.name())),
        }
    }

    /// The address in a pointer. An argument that is in no register is where its buffer is.
    fn pointer(&self, source: &Source) -> Result<u64, DebugError> {
        match self.bytes(source) {
            Ok(bytes) => Ok(bytes.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b))),
            Err(error) => {
                let buffers = self.target.buffers();
                let own = buffers.iter().find(|buffer| buffer.name == source.name);
                own.map(|buffer| buffer.address).ok_or(error)
            }
        }
    }

    /// The content of a source variable.
    pub(crate) fn bytes(&self, source: &Source) -> Result<Vec<u8>, DebugError> {
        let mut all = Vec::new();
        for part in &source.parts {
            let count = usize::try_from(part.bytes).unwrap_or(usize::MAX);
            let missing =
                || DebugError::NoMemory(format!("`{}` is outside of memory", source.name));
            let of = |from: &[u8], at: usize| {
                let end = at.checked_add(count)?;
                from.get(at..end).map(<[u8]>::to_vec)
            };
            let bytes = match &part.place {
                PartPlace::Register(at) => of(self.registers, *at),
                PartPlace::Local(at) => {
                    let slm = self.slm.ok_or(DebugError::NotInCondition("local memory"))?;
                    of(slm, usize::try_from(*at).unwrap_or(usize::MAX))
                }
                PartPlace::Value(value) => of(value, 0),
                PartPlace::Memory(address) => self.memory(*address, count),
                PartPlace::Nowhere => return Err(DebugError::NoValue(source.name.clone())),
            };
            all.extend(bytes.ok_or_else(missing)?);
        }
        Ok(all)
    }

    fn memory(&self, address: u64, count: usize) -> Option<Vec<u8>> {
        let memory = self.target.memory();
        let (buffer, at) = memory.find(address)?;
        let at = usize::try_from(at).ok()?;
        let end = at.checked_add(count)?;
        (end <= memory.len(buffer)).then_some(())?;
        let mut bytes = vec![0; count];
        memory.read_into(buffer, at, &mut bytes);
        Some(bytes)
    }

    /// The place of a number of the source, and its type.
    pub(super) fn source_spot(&self, source: &Source) -> Result<(Spot, DataType), DebugError> {
        let ty = source.of.number();
        let ty = ty.ok_or_else(|| DebugError::NoNumber(source.name.clone(), source.of.name()))?;
        let [part] = source.parts.as_slice() else {
            return Ok((Spot::Value(self.bytes(source)?), ty));
        };
        let spot = match &part.place {
            PartPlace::Register(at) => Spot::Register(*at),
            PartPlace::Local(at) => Spot::Slm(usize::try_from(*at).unwrap_or(usize::MAX)),
            PartPlace::Memory(address) => {
                let missing = || {
                    DebugError::NoMemory(format!("`{}`: no buffer is at {address:#x}", source.name))
                };
                let found = self.target.memory().find(*address);
                let (buffer, at) = found.ok_or_else(missing)?;
                Spot::Global(buffer, at)
            }
            PartPlace::Value(_) | PartPlace::Nowhere => Spot::Value(self.bytes(source)?),
        };
        Ok((spot, ty))
    }

    /// The content as text, in the notation of C's initializers.
    pub(crate) fn source_text(&self, source: &Source) -> Result<String, DebugError> {
        self.text(source, DEPTH)
    }

    fn text(&self, source: &Source, depth: usize) -> Result<String, DebugError> {
        let Some(deeper) = depth.checked_sub(1) else {
            return Ok("{…}".to_owned());
        };
        let joined = |inner: Vec<String>, more: bool| {
            let more = if more { ", …" } else { "" };
            format!("{{{}{more}}}", inner.join(", "))
        };
        let optional = |part: Source| match self.text(&part, deeper) {
            Err(DebugError::NoValue(_)) => Ok("?".to_owned()),
            other => other,
        };
        match &source.of {
            SourceType::Number { data_type, .. } => {
                let bytes = self.bytes(source)?;
                Ok(value::show(&bytes, *data_type).next().unwrap_or_default())
            }
            SourceType::Pointer { .. } => Ok(format!("{:#x}", self.pointer(source)?)),
            SourceType::Array { count, .. } => {
                let shown = usize::try_from(*count).unwrap_or(usize::MAX).min(SHOWN);
                let elements = (0..shown).map(|n| {
                    let index = i128::try_from(n).unwrap_or(0);
                    optional(self.element(source, index)?)
                });
                let elements = elements.collect::<Result<Vec<_>, _>>()?;
                Ok(joined(elements, *count > shown as u64))
            }
            SourceType::Record { members, .. } => {
                let shown = members.iter().take(SHOWN).map(|(name, start, of)| {
                    let part = source.part(format!("{}.{name}", source.name), of.clone(), *start);
                    Ok(format!("{name} = {}", optional(part)?))
                });
                let shown = shown.collect::<Result<Vec<_>, DebugError>>()?;
                Ok(joined(shown, members.len() > SHOWN))
            }
            SourceType::Other { .. } => {
                let bytes = self.bytes(source)?;
                Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
            }
        }
    }

    /// A number of the source.
    pub(super) fn number(bytes: &[u8], ty: DataType) -> Number {
        let text = value::show(bytes, ty).next();
        Number::of(text.as_deref().unwrap_or("0"))
    }
}
