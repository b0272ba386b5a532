//! Arguments that nobody knows: the contents of buffers, and scalars of any value.

use crate::machine::Failed;
use crate::prove::Options;
use crate::unknown::Unknown;
use hashbrown::HashSet;
use visakit_exec::{Group, Limits};
use visakit_launch::{Argument, LaunchError, Prepared};

/// Which arguments nobody knows.
#[derive(Clone, Debug)]
pub(crate) struct Inputs {
    /// Buffers whose content is given.
    pub(crate) known: HashSet<usize>,
    /// Scalars of any value.
    pub(crate) symbolic: HashSet<usize>,
}

impl Inputs {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            known: options.known.iter().copied().collect(),
            symbolic: options.symbolic.iter().copied().collect(),
        }
    }

    /// The bytes of an argument, if nobody knows them.
    pub(crate) fn bytes<'b>(
        &self,
        number: usize,
        argument: &'b mut Argument,
    ) -> Option<&'b mut Vec<u8>> {
        let known = self.known.contains(&number);
        match argument {
            Argument::Buffer(bytes) if !known => Some(bytes),
            Argument::Image(image) if !known => Some(&mut image.bytes),
            Argument::Value(bytes) if self.symbolic.contains(&number) => Some(bytes),
            _ => None,
        }
    }

    /// The arguments with other scalars in place of those of any value: each byte as a function says for its number,
    /// counted from 1.
    fn marked(&self, arguments: &[Argument], byte: impl Fn(usize) -> u8) -> Vec<Argument> {
        let (mut arguments, mut number) = (arguments.to_vec(), 0);
        for (place, argument) in arguments.iter_mut().enumerate() {
            if let (Argument::Value(bytes), true) = (argument, self.symbolic.contains(&place)) {
                for to in bytes {
                    number += 1;
                    *to = byte(number);
                }
            }
        }
        arguments
    }

    /// The arguments with zeros in place of scalars of any value.
    pub(crate) fn zero(&self, arguments: &[Argument]) -> Vec<Argument> {
        self.marked(arguments, |_| 0)
    }

    /// The arguments with the number of each byte in its place; `None` if there are more numbers than a byte has.
    pub(crate) fn numbered(&self, arguments: &[Argument]) -> Option<Vec<Argument>> {
        let last = std::cell::Cell::new(0);
        let numbered = self.marked(arguments, |number| {
            last.set(number);
            u8::try_from(number).unwrap_or(0)
        });
        (last.get() <= usize::from(u8::MAX)).then_some(numbered)
    }
}

/// A byte of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Byte {
    pub(crate) argument: u32,
    pub(crate) offset: u64,
    /// Bytes of the argument.
    pub(crate) bytes: u64,
    value: u8,
}

/// Where scalars of any value are when threads start: two launches differ in nothing else. In one of them all their
/// bytes are zero, in the other one each has its number, from 1 on.
pub(crate) struct Scalars {
    zero: Prepared,
    numbered: Prepared,
    bytes: Vec<Byte>,
}

impl Scalars {
    /// `None` if there are no such scalars.
    pub(crate) fn new(
        inputs: &Inputs,
        arguments: &[Argument],
        launch: impl Fn(&[Argument]) -> Result<Prepared, LaunchError>,
    ) -> Result<Option<Self>, Failed> {
        let mut all = Vec::new();
        for (number, argument) in arguments.iter().enumerate() {
            if let (Argument::Value(bytes), true) = (argument, inputs.symbolic.contains(&number)) {
                all.extend(bytes.iter().zip(0..).map(|(value, offset)| Byte {
                    argument: u32::try_from(number).unwrap_or(u32::MAX),
                    offset,
                    bytes: bytes.len() as u64,
                    value: *value,
                }));
            }
        }
        if all.is_empty() {
            return Ok(None);
        }
        let numbered = inputs.numbered(arguments);
        let numbered =
            numbered.ok_or_else(|| Unknown::new("scalars of any value of more than 255 bytes"))?;
        let scalars = Self {
            zero: launch(&inputs.zero(arguments))?,
            numbered: launch(&numbered)?,
            bytes: all,
        };
        if !scalars.zero.memory().is_like(scalars.numbered.memory()) {
            return Err(Unknown::new("a scalar of any value is in memory").into());
        }
        Ok(Some(scalars))
    }

    /// A group of both launches.
    pub(crate) fn start(&self, number: u64, limits: &Limits) -> Result<[Group; 2], LaunchError> {
        Ok([
            self.zero.start(number, limits)?,
            self.numbered.start(number, limits)?,
        ])
    }

    /// The byte of an argument at a place of the register file of a thread; `None` if none is there. Besides, its value
    /// there.
    pub(crate) fn byte(
        &self,
        [zero, numbered]: &[Group; 2],
        (thread, place): (usize, usize),
        value: u8,
    ) -> Result<Option<Byte>, Unknown> {
        let at = |group: &Group| {
            let thread = group.threads().get(thread)?;
            thread.registers().get(place).copied()
        };
        match (at(zero), at(numbered)) {
            (a, b) if a == b => Ok(None),
            (Some(0), Some(number)) => {
                let byte = usize::from(number).checked_sub(1);
                let byte = byte.and_then(|n| self.bytes.get(n)).copied();
                let byte = byte.filter(|byte| byte.value == value);
                byte.map(Some).ok_or_else(changed)
            }
            _ => Err(changed()),
        }
    }
}

fn changed() -> Unknown {
    Unknown::new("a scalar of any value does not come to the kernel as it is")
}
