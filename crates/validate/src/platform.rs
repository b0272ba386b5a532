//! Platforms, and the rules about them.

use crate::checker::{Checker, Looked, Slot, slots};
use crate::rules;
use alloc::vec::Vec;
use visakit_isa::object::Object;
use visakit_isa::operand::VectorOperand;
use visakit_isa::table::{Group, Platforms, Role};
use visakit_isa::{DataType, FieldName, Op, Value};

/// One of the platforms that the instruction table knows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Platform(u16);

/// Names of platforms beside those of the table.
const ALIASES: &[(&str, Platforms)] = &[
    ("chv", Platforms::BDW),
    ("gen8", Platforms::BDW),
    ("gen9", Platforms::SKL),
    ("icl", Platforms::ICLLP),
    ("gen11", Platforms::ICLLP),
    ("tgl", Platforms::TGLLP),
    ("gen12lp", Platforms::TGLLP),
    ("dg1", Platforms::TGLLP),
    ("xehp", Platforms::XEHP_SDV),
    ("acmg10", Platforms::DG2),
    ("mtl", Platforms::DG2),
    ("arl", Platforms::DG2),
    ("lnl", Platforms::XE2),
    ("bmg", Platforms::XE2),
    ("ptl", Platforms::XE3),
];

fn plain(name: &str) -> Vec<u8> {
    let letters = name.bytes().filter(u8::is_ascii_alphanumeric);
    letters.map(|b| b.to_ascii_lowercase()).collect()
}

impl Platform {
    /// The platform of this name: letters of either case, with or without `_` and `-`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let wanted = plain(name);
        let listed = Platforms::all().iter_names();
        let others = ALIASES.iter().copied();
        let mut found = listed.chain(others);
        let (_, platform) = found.find(|(name, _)| plain(name) == wanted)?;
        Some(Self(platform.bits()))
    }

    /// The names of the instruction table, oldest platform first.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Platforms::all().iter_names().map(|(name, _)| name)
    }

    /// The platform in the set that the instruction table uses.
    #[must_use]
    pub const fn in_table(self) -> Platforms {
        Platforms::from_bits_truncate(self.0)
    }

    /// Bytes of a register.
    #[must_use]
    pub const fn grf_bytes(self) -> u32 {
        self.in_table().grf_bytes()
    }

    pub(crate) const fn at_least(self, other: Platforms) -> bool {
        self.0 >= other.bits()
    }

    const fn is(self, set: Platforms) -> bool {
        self.0 & set.bits() != 0
    }
}

/// What is known of the size of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Registers {
    /// The smallest that it can be.
    pub(crate) least: u32,
    /// The largest that it can be.
    pub(crate) most: u32,
    /// Address registers.
    pub(crate) addresses: u32,
}

impl Registers {
    pub(crate) fn of(object: &Object<'_>, platform: Option<Platform>) -> Self {
        // Only Xe3P has more; without a platform its limit is the limit.
        let addresses = match platform {
            Some(platform) if platform.at_least(Platforms::XE3P) => 32,
            _ => 16,
        };
        if let Some(platform) = platform {
            let bytes = platform.grf_bytes();
            return Self {
                least: bytes,
                most: bytes,
                addresses,
            };
        }
        let binaries = object.kernels.iter().flat_map(|k| &k.binaries);
        let mut sizes = binaries
            .filter(|b| b.platform.name().is_some())
            .map(|b| b.platform.grf_bytes());
        let (least, most) = match sizes.next() {
            Some(first) => sizes.fold((first, first), |(a, b), n| (a.min(n), b.max(n))),
            None => (32, 64),
        };
        Self {
            least,
            most,
            addresses,
        }
    }
}

/// Platforms without 64-bit arithmetic.
const NARROW: Platforms = Platforms::ICLLP
    .union(Platforms::TGLLP)
    .union(Platforms::DG2);
/// Platforms whose execution units work in pairs.
const FUSED: Platforms = Platforms::TGLLP
    .union(Platforms::XEHP_SDV)
    .union(Platforms::DG2);

pub(crate) fn check(checker: &mut Checker<'_, '_>, at: &Looked<'_>, platform: Platform) {
    let (def, name) = (at.def, at.def.mnemonic());
    let platform_name = platform
        .in_table()
        .iter_names()
        .next()
        .map_or("?", |(n, _)| n);
    if !def.since_platform.is_empty() && !platform.at_least(def.since_platform) {
        checker.add(&rules::NOT_YET, || {
            let first = def
                .since_platform
                .iter_names()
                .next()
                .map_or("?", |(n, _)| n);
            alloc::format!("{name} exists since {first}, {platform_name} has none")
        });
    } else if !def.platforms.is_empty()
        && platform.is(Platforms::SPECIFIED)
        && !platform.is(def.platforms)
    {
        checker.add(&rules::NOT_LISTED, || {
            alloc::format!("{name} is not listed for {platform_name}")
        });
    }
    operation(checker, at, platform, platform_name);
    operand_types(checker, at, platform, platform_name);
}

fn operation(checker: &mut Checker<'_, '_>, at: &Looked<'_>, platform: Platform, on: &str) {
    let name = at.def.mnemonic();
    let dst = at.vector(FieldName::Dst).and_then(|o| checker.type_of(o));
    match at.op {
        Op::DIV | Op::MOD
            if dst.is_some_and(|t| !t.is_float()) && platform.at_least(Platforms::XEHP_SDV) =>
        {
            checker.add(&rules::INTEGER_DIVISION, || {
                alloc::format!("{on} divides no integers")
            });
        }
        Op::SAD2 | Op::SAD2ADD if platform.at_least(Platforms::TGLLP) => {
            checker.add(&rules::SAD, || alloc::format!("{on} has no {name}"));
        }
        Op::PLANE if platform.at_least(Platforms::XE3P) => {
            checker.add(&rules::PLANE, || alloc::format!("{on} has no {name}"));
        }
        Op::SWITCHJMP if platform.is(FUSED) => {
            checker.add(&rules::SWITCH, || alloc::format!("{on} has no {name}"));
        }
        Op::OWORD_LD | Op::OWORD_ST | Op::OWORD_LD_UNALIGNED
            if !platform.at_least(Platforms::ICLLP) =>
        {
            if let Some(Value::Surface(visakit_isa::SurfaceId(0))) =
                at.instruction.get(FieldName::Surface)
            {
                checker.add_named(&rules::LOCAL_BLOCKS, at, FieldName::Surface, || {
                    alloc::format!("{on} reaches no shared local memory by {name}")
                });
            }
        }
        Op::DPAS | Op::DPASW => dpas(checker, at, platform, on),
        Op::SAMPLE_3D | Op::LOAD_3D | Op::GATHER4_3D
            if !platform.at_least(Platforms::XE2)
                && at
                    .raw(FieldName::PairedSurface)
                    .is_some_and(|r| !r.is_null()) =>
        {
            checker.add_named(&rules::PAIRED_SURFACE, at, FieldName::PairedSurface, || {
                alloc::format!("{on} has no paired surfaces")
            });
        }
        _ => {}
    }
    if platform.is(NARROW) {
        let exact = matches!(at.op, Op::DIVM | Op::SQRTM | Op::INVM | Op::RSQTM);
        let double = matches!(at.op, Op::DIV | Op::INV | Op::SQRT) && dst == Some(DataType::Df);
        if exact || double {
            checker.add(&rules::EXACT_MATHS, || {
                alloc::format!("{on} has no {name}{}", if double { " of df" } else { "" })
            });
        }
    }
}

fn dpas(checker: &mut Checker<'_, '_>, at: &Looked<'_>, platform: Platform, on: &str) {
    let new = platform.at_least(Platforms::PVC);
    let wanted = if new { 16 } else { 8 };
    if at.lanes != wanted {
        checker.add_named(&rules::DPAS_PLATFORM, at, FieldName::ExecSize, || {
            alloc::format!("execution size {}, {on} has {wanted}", at.lanes)
        });
    }
    if new && at.op == Op::DPASW {
        checker.add(&rules::DPAS_PLATFORM, || {
            alloc::format!("{on} has no dpasw")
        });
    }
    if new {
        return;
    }
    for name in [FieldName::Dst, FieldName::Src0] {
        let ty = at.raw(name).filter(|r| !r.is_null());
        let ty = ty
            .and_then(|r| checker.general(r.variable))
            .filter(|g| g.declared.is_some());
        if let Some(ty) = ty.map(|g| g.ty)
            && !matches!(ty, DataType::Ud | DataType::D | DataType::F)
        {
            checker.add_named(&rules::ACCUMULATOR_TYPE, at, name, || {
                alloc::format!("{on} does not accumulate {ty}")
            });
        }
    }
}

fn operand_types(checker: &mut Checker<'_, '_>, at: &Looked<'_>, platform: Platform, on: &str) {
    let group = at.def.group;
    let rotates = matches!(at.op, Op::ROL | Op::ROR) && !platform.at_least(Platforms::PVC);
    let narrow = platform.is(NARROW) && matches!(group, Group::Arithmetic | Group::Logic);
    let brain = !platform.at_least(Platforms::XEHP_SDV);
    if !rotates && !narrow && !brain {
        return;
    }
    let mut said = false;
    for (position, def, value) in slots(at.instruction) {
        let (Some(def), Value::Vector(operand)) = (def, value) else {
            continue;
        };
        let Some(ty) = checker.type_of(operand) else {
            continue;
        };
        let slot = Slot {
            def,
            value,
            position,
        };
        let wide = matches!(ty, DataType::Q | DataType::Uq);
        if rotates && wide {
            checker.add_to(&rules::WIDE_ROTATE, slot, || {
                alloc::format!("{on} does not rotate {ty}")
            });
        }
        if brain
            && ty == DataType::Bf
            && operand.class() != visakit_isa::operand::OperandClass::Immediate
        {
            checker.add_to(&rules::BRAIN_FLOAT_PLATFORM, slot, || {
                alloc::format!("{on} has no bf")
            });
        }
        if !narrow || said {
            continue;
        }
        let shifts = matches!(at.op, Op::SHL | Op::SHR) && def.role == Role::Destination;
        if wide && shifts && platform.is(Platforms::DG2) {
            checker.add_to(&rules::WIDE_SHIFT, slot, || {
                alloc::format!("{on} does not shift {ty}")
            });
            said = true;
        } else if wide && !matches!(operand, VectorOperand::Immediate(_)) && !rotates {
            checker.add_to(&rules::WIDE_INTEGERS, slot, || {
                alloc::format!("{on} has no arithmetic of {ty}")
            });
            said = true;
        } else if ty == DataType::Df {
            checker.add_to(&rules::DOUBLE, slot, || alloc::format!("{on} has no df"));
            said = true;
        }
    }
}
