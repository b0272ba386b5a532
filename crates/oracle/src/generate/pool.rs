//! Variables for random operands.

use super::Case;
use super::edges;
use fastrand::Rng;
use visakit_isa::object::{
    Alignment, Body, Declaration, Item, Object, Routine, Variable, VariableProperties,
};
use visakit_isa::operand::RegionCode;
use visakit_isa::operand::{
    AddressOperand, GeneralOperand, ImmediateOperand, IndirectOperand, Modifier, PredicateOperand,
    PropertyByte,
};
use visakit_isa::{
    AddressId, DataType, Dialect, ExecMask, ExecSize, FieldName as F, Format, Instruction, Op,
    Predicate, PredicateId, Region, Value, VarId, VectorOperand, Version,
};

/// Types of variables.
pub(super) const TYPES: [DataType; 12] = [
    DataType::Ud,
    DataType::D,
    DataType::Uw,
    DataType::W,
    DataType::Ub,
    DataType::B,
    DataType::Df,
    DataType::F,
    DataType::Uq,
    DataType::Q,
    DataType::Hf,
    DataType::Bf,
];

/// Predicates that instructions read, and those that they write.
pub(super) const READ_PREDICATES: u16 = 4;

/// A variable that operands may name.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Identifier.
    pub id: VarId,
    /// Type.
    pub ty: DataType,
    /// Number of elements that are certain to be there.
    pub elements: usize,
}

/// A routine under construction.
#[derive(Debug)]
pub struct Pool {
    /// Layout.
    pub format: Format,
    /// Bytes of a register.
    pub grf: usize,
    /// Source of randomness.
    pub rng: Rng,
    /// The routine.
    pub body: Body<'static>,
    /// Variables with edges.
    pub sources: Vec<Known>,
    /// First content.
    pub sets: Vec<(String, Vec<u8>)>,
    /// Whether memory holds ordinary numbers only.
    pub gentle: bool,
}

impl Pool {
    /// The layout of all generated objects.
    #[must_use]
    pub fn format() -> Format {
        Format::new(Version::V4_1, Dialect::Writer2018)
    }

    /// A routine with variables of every type, aliases of other types, and set predicates.
    #[must_use]
    pub fn new(mut rng: Rng) -> Self {
        let grf = if rng.bool() { 32 } else { 64 };
        let mut pool = Self {
            format: Self::format(),
            grf,
            rng: Rng::with_seed(0),
            body: Body::default(),
            sources: Vec::new(),
            sets: Vec::new(),
            gentle: rng.bool(),
        };
        pool.body.name = pool.body.add_string(&b"oracle"[..]);
        for ty in TYPES {
            for _ in 0..2 {
                let bytes = edges::fill(&mut rng, ty, 320);
                let known = pool.variable(ty, &bytes);
                pool.sources.push(known);
            }
        }
        for _ in 0..6 {
            let target = pool.sources[rng.usize(..24)];
            let ty = TYPES[rng.usize(..TYPES.len())];
            let size = usize::from(ty.size());
            let offset = rng.usize(..64 / size) * size;
            let known = pool.alias(ty, target.id, offset, 320 - offset);
            pool.sources.push(known);
        }
        pool.rng = rng;
        for _ in 0..READ_PREDICATES {
            let id = pool.predicate();
            let bits = if pool.rng.u8(..4) == 0 {
                *pool.rng.choice(&[0, u32::MAX]).unwrap_or(&0)
            } else {
                pool.rng.u32(..)
            };
            pool.set_predicate(id, bits);
        }
        pool
    }

    /// Declares a general variable with a first content.
    pub fn variable(&mut self, ty: DataType, bytes: &[u8]) -> Known {
        let index = self.body.variables.len();
        let name = format!("V{}", index + 32);
        let string = self.body.add_string(name.clone().into_bytes());
        let elements = bytes.len() / usize::from(ty.size());
        self.body.variables.push(Variable {
            name: string,
            properties: VariableProperties::new(ty, Alignment(5)),
            elements: u16::try_from(elements).unwrap_or(u16::MAX),
            ..Variable::default()
        });
        self.sets.push((name, bytes.to_vec()));
        Known {
            id: self.id(index),
            ty,
            elements,
        }
    }

    fn id(&self, index: usize) -> VarId {
        VarId(self.format.predefined_variable_count() + u32::try_from(index).unwrap_or(0))
    }

    /// Declares a variable that shares the storage of another one.
    pub fn alias(&mut self, ty: DataType, of: VarId, offset: usize, bytes: usize) -> Known {
        let index = self.body.variables.len();
        let string = self
            .body
            .add_string(format!("V{}", index + 32).into_bytes());
        let elements = bytes / usize::from(ty.size());
        self.body.variables.push(Variable {
            name: string,
            properties: VariableProperties::new(ty, Alignment(0)),
            elements: u16::try_from(elements).unwrap_or(u16::MAX),
            alias: of,
            alias_offset: u16::try_from(offset).unwrap_or(0),
            ..Variable::default()
        });
        Known {
            id: self.id(index),
            ty,
            elements,
        }
    }

    /// Declares a predicate of 32 lanes.
    pub fn predicate(&mut self) -> PredicateId {
        let index = self.body.predicates.len() + 1;
        let name = self.body.add_string(format!("P{index}").into_bytes());
        self.body.predicates.push(Declaration {
            name,
            elements: 32,
            attributes: Vec::new(),
        });
        PredicateId(u16::try_from(index).unwrap_or(u16::MAX))
    }

    /// Appends an instruction.
    pub fn push(&mut self, instruction: Instruction) {
        self.body.code.push(Item::Instruction(instruction));
    }

    /// An execution size, ignoring the execution mask.
    #[must_use]
    pub fn no_mask(&self, lanes: u8) -> ExecSize {
        let mask = ExecMask {
            first_lane: 0,
            no_mask: true,
        };
        ExecSize::new(lanes, mask, self.format).unwrap_or_default()
    }

    /// An execution size, with the execution mask.
    #[must_use]
    pub fn masked(&self, lanes: u8) -> ExecSize {
        ExecSize::new(lanes, ExecMask::M1, self.format).unwrap_or_default()
    }

    /// Sets all bits of a predicate.
    pub fn set_predicate(&mut self, id: PredicateId, bits: u32) {
        let instruction = Instruction::new(Op::SETP)
            .with(F::ExecSize, Value::ExecSize(self.no_mask(32)))
            .with(F::Dst, Value::Vector(predicate_operand(id)))
            .with(F::Src0, Value::Vector(immediate(DataType::Ud, bits.into())));
        self.push(instruction);
    }

    /// Declares an address variable.
    pub fn address(&mut self, elements: u16) -> AddressId {
        let index = self.body.addresses.len();
        let name = self.body.add_string(format!("A{index}").into_bytes());
        self.body.addresses.push(Declaration {
            name,
            elements,
            attributes: Vec::new(),
        });
        AddressId(u16::try_from(index).unwrap_or(u16::MAX))
    }

    /// Points the elements of a fresh address variable at byte offsets of a variable.
    pub fn point(&mut self, target: Known, offsets: &[u16]) -> AddressId {
        let count = offsets.len().next_power_of_two();
        let id = self.address(u16::try_from(count).unwrap_or(1));
        let bytes: Vec<u8> = offsets
            .iter()
            .chain(std::iter::repeat(&0))
            .take(count)
            .flat_map(|o| o.to_le_bytes())
            .collect();
        let offset = if count == 1 {
            immediate(DataType::Uw, u64::from(offsets[0]))
        } else {
            let table = self.variable(DataType::Uw, &bytes);
            VectorOperand::General(GeneralOperand {
                variable: table.id,
                region: Region::source(1, 1, 0).unwrap_or(Region::SCALAR),
                ..GeneralOperand::default()
            })
        };
        let base = GeneralOperand {
            variable: target.id,
            region: Region::SCALAR,
            ..GeneralOperand::default()
        };
        let lanes = u8::try_from(count).unwrap_or(1);
        let dst = AddressOperand {
            address: id,
            width: lanes.trailing_zeros().to_le_bytes()[0],
            ..AddressOperand::default()
        };
        let instruction = Instruction::new(Op::ADDR_ADD)
            .with(F::ExecSize, Value::ExecSize(self.no_mask(lanes)))
            .with(F::Dst, Value::Vector(dst.into()))
            .with(F::Src0, Value::Vector(base.into()))
            .with(F::Src1, Value::Vector(offset));
        self.push(instruction);
        id
    }

    /// A general operand that begins at an element.
    #[must_use]
    pub fn at(&self, known: Known, element: usize, region: Region) -> GeneralOperand {
        let size = usize::from(known.ty.size());
        let byte = element * size;
        GeneralOperand {
            modifier: Modifier::NONE,
            variable: known.id,
            row: u8::try_from(byte / self.grf).unwrap_or(0),
            column: u8::try_from(byte % self.grf / size).unwrap_or(0),
            region,
        }
    }

    /// An indirect operand.
    #[must_use]
    pub fn through(address: AddressId, ty: DataType, offset: i16, region: Region) -> VectorOperand {
        IndirectOperand {
            modifier: Modifier::NONE,
            address,
            address_offset: 0,
            offset,
            property: PropertyByte::from(ty),
            region,
        }
        .into()
    }

    /// The finished case; a return is appended.
    #[must_use]
    pub fn finish(mut self, mask: u32, cr0: u32) -> Case {
        let end = Instruction::new(Op::RET)
            .with(F::ExecSize, Value::ExecSize(self.masked(1)))
            .with(F::Pred, Value::Predicate(Predicate::NONE));
        self.push(end);
        let mut object = Object::new(self.format.version(), self.format.dialect());
        object.kernels.push(Routine::new(&b"oracle"[..], self.body));
        Case {
            grf: self.grf,
            cr0,
            ..Case::of_thread(object, mask, self.sets)
        }
    }
}

/// An immediate.
#[must_use]
pub(super) fn immediate(ty: DataType, bits: u64) -> VectorOperand {
    ImmediateOperand::new(PropertyByte::from(ty), bits).into()
}

/// A predicate as an operand.
#[must_use]
pub(super) fn predicate_operand(id: PredicateId) -> VectorOperand {
    PredicateOperand {
        modifier: Modifier::NONE,
        predicate: Predicate::of(id),
    }
    .into()
}

/// A region whose vertical stride is absent: one address for each row.
#[must_use]
pub(super) fn multi_address(width: u8, horizontal: u8) -> Region {
    let code = |n| RegionCode::from_elements(n).unwrap_or(RegionCode::ABSENT);
    Region::of_codes(RegionCode::ABSENT, code(width), code(horizontal))
}

/// An operand with another modifier.
#[must_use]
pub(super) fn modified(operand: VectorOperand, modifier: Modifier) -> VectorOperand {
    match operand {
        VectorOperand::General(o) => GeneralOperand { modifier, ..o }.into(),
        VectorOperand::Indirect(o) => IndirectOperand { modifier, ..o }.into(),
        other => other,
    }
}
