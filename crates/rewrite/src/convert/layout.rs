//! Instructions whose fields depend on the format.

use crate::traverse::key_of;
use visakit_isa::operand::ImmediateOperand;
use visakit_isa::table::FieldDef;
use visakit_isa::{
    DataType, ExecSize, Field, FieldName, Format, Instruction, RawOperand, Value, VectorOperand,
};

/// Changes the fields of an instruction to those of the new format.
///
/// # Errors
/// A sentence that states what the new format lacks.
pub(super) fn convert(
    instruction: &mut Instruction,
    from: Format,
    to: Format,
) -> Result<(), String> {
    let def = instruction.def();
    if !def.exists_in(to) {
        let (version, mnemonic) = (to.version(), def.mnemonic());
        return Err(format!(
            "version {version} has no {mnemonic} (exists {})",
            def.when
        ));
    }
    let present = |format: Format| move |f: &&FieldDef| f.when.holds(format);
    let differs = |f: &FieldDef| f.when.holds(from) != f.when.holds(to);
    if !def.fields.iter().any(differs) {
        return Ok(());
    }
    for field in def
        .fields
        .iter()
        .filter(|f| f.when.holds(from) && !f.when.holds(to))
    {
        if let Some(value) = instruction.get(field.name) {
            may_go(instruction, field.name, value)?;
        }
    }
    let key = key_of(instruction);
    let mut fields = Vec::with_capacity(instruction.fields.len() + 1);
    for field in def.fields.iter().filter(present(to)) {
        if field.only_if.is_some_and(|test| !test.holds(key)) {
            continue;
        }
        if differs(field) {
            let value = added(instruction, field, to)?;
            fields.push(Field {
                name: field.name,
                value,
            });
        } else {
            let same = instruction.fields.iter().filter(|f| f.name == field.name);
            fields.extend(same.copied());
        }
    }
    typed_lanes(instruction, &mut fields)?;
    instruction.fields = fields.into_iter().collect();
    Ok(())
}

fn constant(ty: DataType, bits: u64) -> Value {
    Value::Vector(VectorOperand::Immediate(ImmediateOperand::new(
        ty.into(),
        bits,
    )))
}

/// The bits of a constant, as many as its type has.
fn bits(value: &Value) -> Option<u64> {
    match value {
        Value::Vector(VectorOperand::Immediate(constant)) => {
            let unused = 64 - 8 * u32::from(constant.data_type().size());
            Some(constant.bits() << unused >> unused)
        }
        _ => None,
    }
}

/// The function of a message, according to the low bits of a constant extended descriptor.
fn function(instruction: &Instruction) -> u8 {
    let descriptor = instruction.get(FieldName::ExMsgDesc).and_then(bits);
    // Readers take 0 where the descriptor is no constant.
    descriptor.map_or(0, |bits| (bits & 0xf) as u8)
}

/// The value of a field that the old layout did not have.
fn added(instruction: &Instruction, field: &FieldDef, to: Format) -> Result<Value, String> {
    let old = |name| instruction.get(name);
    let lost = |what: &str| Err(what.to_owned());
    Ok(match field.name {
        FieldName::Ffid => Value::U8(function(instruction)),
        FieldName::Channels | FieldName::ChannelsInv => {
            let other = match field.name {
                FieldName::Channels => FieldName::ChannelsInv,
                _ => FieldName::Channels,
            };
            match old(other) {
                Some(Value::U8(channels)) => Value::U8(channels ^ 0xf),
                _ => return lost("the channels are missing"),
            }
        }
        FieldName::Aoffimmi => match old(FieldName::Aoffimmi16) {
            Some(Value::U16(offsets)) => constant(DataType::Uw, (*offsets).into()),
            _ => return lost("the texel offsets are missing"),
        },
        FieldName::Aoffimmi16 => {
            let offsets = old(FieldName::Aoffimmi).and_then(bits);
            match offsets.and_then(|bits| u16::try_from(bits).ok()) {
                Some(offsets) => Value::U16(offsets),
                None => return lost("the texel offsets must be a constant of 16 bits"),
            }
        }
        FieldName::NumProducers | FieldName::NumConsumers => match old(FieldName::NumThreads) {
            Some(threads) => *threads,
            None => return lost("the number of threads is missing"),
        },
        FieldName::NumThreads => {
            let producers = old(FieldName::NumProducers);
            let both = old(FieldName::Type).and_then(bits) == Some(0);
            match producers {
                Some(threads) if both && old(FieldName::NumConsumers) == producers => *threads,
                _ => return lost("threads that only produce or only consume cannot be expressed"),
            }
        }
        name => match instruction.def().neutral(field, to) {
            Some(value) => value,
            None => return Err(format!("the field {name} is missing")),
        },
    })
}

/// Checks that a field which the new layout lacks is neutral, or implied by another one.
fn may_go(instruction: &Instruction, name: FieldName, value: &Value) -> Result<(), String> {
    let told = match (name, value) {
        (FieldName::Pred, Value::Predicate(word)) => word.is_none(),
        (FieldName::Lod | FieldName::PairedSurface, Value::Raw(operand)) => {
            *operand == RawOperand::NULL
        }
        (FieldName::Ffid, Value::U8(id)) => *id == function(instruction),
        (FieldName::Mask, value) => bits(value) == Some(0),
        (FieldName::Channels | FieldName::ChannelsInv, Value::U8(channels)) => *channels <= 0xf,
        // Needed by `added`.
        (
            FieldName::Aoffimmi
            | FieldName::Aoffimmi16
            | FieldName::NumThreads
            | FieldName::Type
            | FieldName::NumProducers
            | FieldName::NumConsumers,
            _,
        ) => true,
        (_, value) => value.as_number() == Some(0),
    };
    if told {
        Ok(())
    } else {
        Err(format!(
            "the layout has no field {name}, which is {value} here"
        ))
    }
}

/// Typed messages with inverted channels have eight lanes, and code 0 for them.
fn typed_lanes(old: &Instruction, new: &mut [Field]) -> Result<(), String> {
    let was = old.get(FieldName::ChannelsInv).is_some();
    let is = new.iter().any(|f| f.name == FieldName::ChannelsInv);
    if was == is {
        return Ok(());
    }
    for field in new {
        if let Value::ExecSize(size) = &mut field.value {
            let code = size.bits() & 0xf;
            if is && size.lanes() != Some(8) || was && code != 0 {
                return Err("the message has eight lanes in that version".to_owned());
            }
            *size = ExecSize::from_bits(size.bits() & 0xf0 | if is { 0 } else { 3 });
        }
    }
    Ok(())
}
