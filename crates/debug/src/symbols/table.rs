//! The finalizer's table of a kernel (`KERNEL.dbg`): which vISA instruction each native one is of, and which native
//! registers a vISA variable is in. The layout is that of the public finalizer's debug format, all little-endian.

/// The first word of the file.
const MAGIC: u32 = 0xdead_d010;
/// A place in the registers; others are address registers, flags and memory.
const REGISTERS: u8 = 2;

/// Where a routine's variables are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) routines: Vec<RoutineTable>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RoutineTable {
    pub(super) name: String,
    /// Pairs of an offset in the native code and the number of the vISA instruction that the code there is of; sorted by
    /// offsets, which are those of debug information.
    native: Vec<(u64, u32)>,
    pub(super) places: Vec<RegisterPlace>,
}

/// A general variable in native registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RegisterPlace {
    /// Its number in the text.
    pub(super) variable: u32,
    /// The vISA instructions, both included, for which this holds.
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) register: u16,
    /// Bytes from the start of the register.
    pub(super) byte: u16,
}

impl Table {
    /// Reads a table; `None` if it is cut or something else.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        if reader.long()? != MAGIC {
            return None;
        }
        let count = reader.short()?;
        let mut table = Self::default();
        for _ in 0..count {
            table.routines.push(RoutineTable::read(&mut reader)?);
        }
        Some(table)
    }
}

impl RoutineTable {
    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let mut table = Self {
            name: reader.name()?,
            ..Self::default()
        };
        let start = reader.long()?;
        // Offsets of subroutines in the kernel.
        reader.long()?;
        let count = reader.long()?;
        for _ in 0..count {
            let instruction = reader.long()?;
            let offset = u64::from(start) + u64::from(reader.long()?);
            table.native.push((offset, instruction));
        }
        table.native.sort_unstable();
        let count = reader.long()?;
        for _ in 0..count {
            table.variable(reader)?;
        }
        Some(table)
    }

    fn variable(&mut self, reader: &mut Reader<'_>) -> Option<()> {
        let name = reader.name()?;
        let number = name.strip_prefix('V').and_then(|n| n.parse().ok());
        let count = reader.short()?;
        for _ in 0..count {
            let (first, last) = (reader.short()?, reader.short()?);
            // The kind of the variable, which its name says as well.
            reader.byte()?;
            let kind = reader.byte()?;
            let (register, byte) = (reader.short()?, reader.short()?);
            if let (Some(variable), REGISTERS) = (number, kind) {
                self.places.push(RegisterPlace {
                    variable,
                    first: first.into(),
                    last: last.into(),
                    register,
                    byte,
                });
            }
        }
        Some(())
    }

    /// The native code's offset at which all instructions before this one have run, as the finalizer ordered them.
    pub(super) fn offset(&self, instruction: u32) -> u64 {
        let done = self.native.iter().rposition(|(_, of)| *of < instruction);
        let next = done.map_or(0, |at| at + 1);
        let last = self.native.last().map_or(0, |(offset, _)| offset + 1);
        self.native.get(next).map_or(last, |(offset, _)| *offset)
    }

    /// The first instruction at whose start the native code has come to an offset.
    pub(super) fn instruction(&self, offset: u64) -> u32 {
        // Offsets grow with instructions.
        let last = self.native.iter().map(|(_, of)| *of).max();
        let (mut low, mut high) = (0, last.map_or(0, |last| last.saturating_add(1)));
        while low < high {
            let middle = low + (high - low) / 2;
            if self.offset(middle) >= offset {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }
}

struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn short(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.take(2)?.try_into().ok()?))
    }

    fn long(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn name(&mut self) -> Option<String> {
        let length = self.short()?.into();
        Some(String::from_utf8_lossy(self.take(length)?).into_owned())
    }
}
