//! Registers and places in memory, as instructions name them.

use iced_x86::{MemoryOperand, Register};

/// Bytes of a number in a register or in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Width {
    Byte,
    Word,
    Dword,
    Qword,
}

/// The low bytes of a register of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Number {
    /// The number of the register in the code of instructions.
    pub(super) register: u8,
    pub(super) width: Width,
}

macro_rules! numbers {
    ($($number:literal = $dword:ident $qword:ident;)*) => {$(
        #[allow(dead_code, reason = "the list is complete")]
        pub(crate) const $dword: Number = Number { register: $number, width: Width::Dword };
        #[allow(dead_code, reason = "the list is complete")]
        pub(crate) const $qword: Number = Number { register: $number, width: Width::Qword };
    )*};
}

numbers! {
    0 = EAX RAX;
    1 = ECX RCX;
    2 = EDX RDX;
    3 = EBX RBX;
    4 = ESP RSP;
    5 = EBP RBP;
    6 = ESI RSI;
    7 = EDI RDI;
    8 = R8D R8;
    9 = R9D R9;
    10 = R10D R10;
    11 = R11D R11;
    12 = R12D R12;
    13 = R13D R13;
    14 = R14D R14;
    15 = R15D R15;
}

impl Number {
    /// The register among all.
    pub(super) const fn slot(self) -> usize {
        self.register as usize
    }

    /// The low bytes of the same register.
    pub(crate) const fn low(self, width: Width) -> Self {
        Self { width, ..self }
    }

    pub(super) fn register(self) -> Register {
        let first = match self.width {
            // Four registers of bytes are others than these.
            Width::Byte if self.register < 4 => Register::AL,
            Width::Byte => return Register::SPL + u32::from(self.register - 4),
            Width::Word => Register::AX,
            Width::Dword => Register::EAX,
            Width::Qword => Register::RAX,
        };
        first + u32::from(self.register)
    }
}

/// A register among all: numbers, then vectors, then masks. `None` if code never names it.
#[inline]
pub(super) fn slot(register: Register) -> Option<usize> {
    let slot = SLOTS.get(register as usize).copied();
    slot.filter(|slot| *slot != NO_SLOT).map(usize::from)
}

const NO_SLOT: u8 = u8::MAX;

/// The slots of registers, by their numbers.
#[expect(clippy::indexing_slicing, reason = "the compiler evaluates it")]
static SLOTS: [u8; 256] = {
    let mut slots = [NO_SLOT; 256];
    // Registers that follow each other, their number, and the slot of the first one.
    let rows = [
        (Register::AL, 4, 0),
        (Register::SPL, 12, 4),
        (Register::AX, 16, 0),
        (Register::EAX, 16, 0),
        (Register::RAX, 16, 0),
        (Register::XMM0, 32, 16),
        (Register::YMM0, 32, 16),
        (Register::ZMM0, 32, 16),
        (Register::K0, 8, 48),
    ];
    let mut row = 0;
    while row < rows.len() {
        let (first, count, slot) = rows[row];
        let mut n = 0;
        while n < count {
            slots[first as usize + n as usize] = slot + n;
            n += 1;
        }
        row += 1;
    }
    slots
};

/// How much of a vector register an instruction works on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Shape {
    /// 128 bits.
    Xmm,
    /// 256 bits.
    Ymm,
    /// 512 bits.
    Zmm,
}

/// A vector register, or its low half or quarter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Vector {
    pub(super) number: u32,
    pub(super) shape: Shape,
}

/// The low 128 bits of a vector register.
pub(crate) const fn xmm(number: u32) -> Vector {
    Vector {
        number,
        shape: Shape::Xmm,
    }
}

/// The low 256 bits of a vector register.
pub(crate) const fn ymm(number: u32) -> Vector {
    Vector {
        number,
        shape: Shape::Ymm,
    }
}

/// A vector register of hosts with AVX-512.
pub(crate) const fn zmm(number: u32) -> Vector {
    Vector {
        number,
        shape: Shape::Zmm,
    }
}

impl Vector {
    /// Whether only AVX-512 has instructions that name it.
    pub(super) const fn is_new(self) -> bool {
        self.number >= 16 || matches!(self.shape, Shape::Zmm)
    }

    pub(super) fn register(self) -> Register {
        let first = match self.shape {
            Shape::Xmm => Register::XMM0,
            Shape::Ymm => Register::YMM0,
            Shape::Zmm => Register::ZMM0,
        };
        match self.number {
            0..32 => first + self.number,
            // Refused by the encoder.
            _ => Register::None,
        }
    }
}

/// A mask register of AVX-512.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mask {
    K1 = 1,
    K2,
    K3,
    K4,
    K5,
    K6,
    K7,
}

impl Mask {
    pub(super) fn register(self) -> Register {
        Register::K0 + self as u32
    }
}

/// What the address of a memory operand is computed from, besides its base.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Index {
    /// A number for all lanes.
    Number(Number),
    /// A number for each lane.
    Lanes(Vector),
}

impl From<Number> for Index {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

impl From<Vector> for Index {
    fn from(vector: Vector) -> Self {
        Self::Lanes(vector)
    }
}

/// A place in memory: a base, an index times a scale, a displacement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Memory {
    base: Number,
    index: Option<(Index, Width)>,
    displacement: i64,
}

impl Memory {
    /// The place at this distance from an address in a register.
    pub(crate) const fn at(base: Number, displacement: i64) -> Self {
        Self {
            base,
            index: None,
            displacement,
        }
    }

    /// The place further by that many numbers of this width.
    pub(crate) fn indexed(self, index: impl Into<Index>, width: Width) -> Self {
        Self {
            index: Some((index.into(), width)),
            ..self
        }
    }

    /// The place that is this many bytes further.
    pub(crate) const fn further(self, bytes: i64) -> Self {
        Self {
            // One that has no code is refused.
            displacement: self.displacement.saturating_add(bytes),
            ..self
        }
    }

    pub(super) fn operand(self) -> MemoryOperand {
        let (index, scale) = match self.index {
            None => (Register::None, 1),
            Some((Index::Number(number), width)) => (number.register(), 1 << width as u32),
            Some((Index::Lanes(vector), width)) => (vector.register(), 1 << width as u32),
        };
        // No byte of a displacement, one, or four.
        let size = u32::from(self.displacement != 0);
        let (base, displacement) = (self.base.register(), self.displacement);
        MemoryOperand::with_base_index_scale_displ_size(base, index, scale, displacement, size)
    }

    /// Whether an index is a register that only AVX-512 names.
    pub(super) const fn is_new(self) -> bool {
        matches!(self.index, Some((Index::Lanes(vector), _)) if vector.is_new())
    }

    /// How wide the vector of indices is.
    pub(super) const fn shape(self) -> Option<Shape> {
        match self.index {
            Some((Index::Lanes(vector), _)) => Some(vector.shape),
            _ => None,
        }
    }
}

/// An operand of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operand {
    Number(Number),
    Vector(Vector),
    Mask(Mask),
    Memory(Memory),
    /// A number that is part of the code.
    Immediate(i64),
}

macro_rules! operands {
    ($($variant:ident from $ty:ty;)*) => {$(
        impl From<$ty> for Operand {
            fn from(operand: $ty) -> Self {
                Self::$variant(operand.into())
            }
        }
    )*};
}

operands! {
    Number from Number;
    Vector from Vector;
    Mask from Mask;
    Memory from Memory;
    Immediate from u32;
    Immediate from i32;
}
