//! Platforms, and the rules about them.

use crate::checker::{Checker, Looked, Slot, slots};
use crate::rules;
use visakit_isa::object::Object;
use visakit_isa::operand::VectorOperand;
use visakit_isa::table::{Group, Lack, Role};
use visakit_isa::{DataType, FieldName, Op, Platform, Platforms, Value};

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
        let addresses = platform.map_or(16, Platform::address_elements);
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

pub(crate) fn check(checker: &mut Checker<'_, '_>, at: &Looked<'_>, platform: Platform) {
    let (def, name) = (at.def, at.def.mnemonic());
    match def.runs_on(platform) {
        Err(Lack::NotYet(first)) => checker.add(&rules::NOT_YET, || {
            alloc::format!("{name} exists since {first}, {platform} has none")
        }),
        Err(Lack::NotListed) if Platforms::SPECIFIED.contains(platform.set()) => {
            checker.add(&rules::NOT_LISTED, || {
                alloc::format!("{name} is not listed for {platform}")
            });
        }
        _ => {}
    }
    let platform_name = platform.name();
    operation(checker, at, platform, platform_name);
    operand_types(checker, at, platform, platform_name);
}

fn operation(checker: &mut Checker<'_, '_>, at: &Looked<'_>, platform: Platform, on: &str) {
    let name = at.def.mnemonic();
    let dst = at.vector(FieldName::Dst).and_then(|o| checker.type_of(o));
    match at.op {
        Op::DIV | Op::MOD
            if dst.is_some_and(|t| !t.is_float()) && (platform >= Platform::XeHpSdv) =>
        {
            checker.add(&rules::INTEGER_DIVISION, || {
                alloc::format!("{on} divides no integers")
            });
        }
        Op::SAD2 | Op::SAD2ADD if (platform >= Platform::Tgllp) => {
            checker.add(&rules::SAD, || alloc::format!("{on} has no {name}"));
        }
        Op::PLANE if (platform >= Platform::Xe3pCri) => {
            checker.add(&rules::PLANE, || alloc::format!("{on} has no {name}"));
        }
        Op::SWITCHJMP if def_lacks(at, platform) => {
            checker.add(&rules::SWITCH, || alloc::format!("{on} has no {name}"));
        }
        Op::OWORD_LD | Op::OWORD_ST | Op::OWORD_LD_UNALIGNED if platform < Platform::Icllp => {
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
            if platform < Platform::Xe2
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
    if !platform.has_type(DataType::Df) {
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
    let new = platform >= Platform::Pvc;
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
    let rotates = matches!(at.op, Op::ROL | Op::ROR) && platform < Platform::Pvc;
    let narrow = !(platform.has_type(DataType::Df) && platform.has_type(DataType::Q))
        && matches!(group, Group::Arithmetic | Group::Logic);
    let brain = !platform.has_type(DataType::Bf);
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
        if wide && shifts && platform == Platform::Dg2 {
            checker.add_to(&rules::WIDE_SHIFT, slot, || {
                alloc::format!("{on} does not shift {ty}")
            });
            said = true;
        } else if wide
            && !platform.has_type(ty)
            && !matches!(operand, VectorOperand::Immediate(_))
            && !rotates
        {
            checker.add_to(&rules::WIDE_INTEGERS, slot, || {
                alloc::format!("{on} has no arithmetic of {ty}")
            });
            said = true;
        } else if ty == DataType::Df && !platform.has_type(ty) {
            checker.add_to(&rules::DOUBLE, slot, || alloc::format!("{on} has no df"));
            said = true;
        }
    }
}

fn def_lacks(at: &Looked<'_>, platform: Platform) -> bool {
    at.def.runs_on(platform) == Err(Lack::NoLonger)
}
