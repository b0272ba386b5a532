//! The layouts of operands and of the values of fields, each defined once.

use super::control::{RawOperand, SamplerOp};
use super::vector::{
    AddressOperand, GeneralOperand, ImmediateOperand, IndirectOperand, Modifier, OperandClass,
    PredicateOperand, StateOperand, VectorOperand,
};
use crate::instruction::Value;
use crate::table::FieldKind;
use crate::version::Features;
use crate::wire::layout;
use crate::wire::{Number, Record, Sink, Source, Undescribed, Width, announce};

layout! {
    record GeneralOperand {
        number variable: Width::Index;
        number row: Width::U8;
        number column: Width::U8;
        number region: Width::U16;
    }
}

layout! {
    record AddressOperand {
        number address: Width::U16;
        number offset: Width::U8;
        number width: Width::U8;
    }
}

layout! {
    record PredicateOperand {
        number predicate: Width::U16;
    }
}

layout! {
    record IndirectOperand {
        number address: Width::U16;
        number address_offset: Width::U8;
        number offset: Width::I16;
        number property: Width::U8;
        number region: Width::U16;
    }
}

layout! {
    record ImmediateOperand {
        number property: Width::U8;
        number low: Width::U32;
        number high: Width::U32, where is_wide;
    }
}

layout! {
    record StateOperand {
        number class: Width::U8;
        number index: Width::U16;
        number offset: Width::U8;
    }
}

layout! {
    record RawOperand {
        number variable: Width::Index;
        number offset: Width::U16;
    }
}

/// The tag byte selects the layout: bits 0-2 class, bits 3-7 modifier.
macro_rules! tagged {
    ($($class:ident($ty:ident)),* $(,)?) => {
        /// A vector operand of a known class, as passed to a source while it is read.
        #[derive(Clone, Copy, Debug)]
        pub enum OperandRef<'o> {
            $(
                #[doc = concat!("[`VectorOperand::", stringify!($class), "`]")]
                $class(&'o $ty),
            )*
        }

        impl VectorOperand {
            /// Reads tag and operand.
            ///
            /// # Errors
            /// The input ends, or the class has no layout.
            #[cfg_attr(not(debug_assertions), inline(always))]
            pub fn read<'a, S: Source<'a>>(source: &mut S) -> Result<Self, S::Error> {
                let mut operand = Self::General(GeneralOperand::default());
                Self::read_to(source, |read| operand = read)?;
                Ok(operand)
            }

            /// Reads tag and operand into a slot. Each class has its own `put`, so that the parts of the
            /// operand are stored one by one; storing the whole at once would wait for them.
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn read_to<'a, S: Source<'a>>(source: &mut S, put: impl FnOnce(Self)) -> Result<(), S::Error> {
                #[allow(clippy::cast_possible_truncation)] // one byte
                let tag = source.number("tag", Width::U8)? as u8;
                let modifier = Modifier::from_tag(tag);
                match OperandClass::from_tag(tag) {
                    $(Some(OperandClass::$class) => {
                        let mut operand = $ty { modifier, ..$ty::default() };
                        source.expect($ty::least_bytes(source.index_bytes()))?;
                        operand.read(source)?;
                        let seen = OperandRef::$class(&operand);
                        if let OperandRef::Immediate(immediate) = seen
                            && ImmediateOperand::wire_size(immediate.data_type()).is_none()
                        {
                            return Err(source.invalid(Undescribed::BoolImmediate));
                        }
                        source.vet_operand(tag, seen)?;
                        put(Self::$class(operand));
                        Ok(())
                    })*
                    None => Err(source.invalid(Undescribed::OperandClass(tag))),
                }
            }

            /// Writes tag and operand.
            ///
            /// # Errors
            /// Something does not fit the format.
            #[cfg_attr(not(debug_assertions), inline(always))]
            pub fn write<K: Sink>(&self, sink: &mut K) -> Result<(), K::Error> {
                if let Self::Immediate(immediate) = self
                    && ImmediateOperand::wire_size(immediate.data_type()).is_none()
                {
                    // Readers could not determine where it ends.
                    return sink.absent("property");
                }
                sink.number("tag", Width::U8, self.tag().into())?;
                match self {
                    $(Self::$class(operand) => operand.write(sink),)*
                }
            }
        }
    };
}

tagged! {
    General(GeneralOperand),
    Address(AddressOperand),
    Predicate(PredicateOperand),
    Indirect(IndirectOperand),
    Immediate(ImmediateOperand),
    State(StateOperand),
}

/// Which width the values of each field kind have, and which variant of [`Value`] holds them.
macro_rules! values {
    ($($kind:ident => $variant:ident: $width:ident;)*) => {
        impl Value {
            /// Reads the value of a field; an entry of a list, for the list kinds.
            ///
            /// # Errors
            /// The input ends, or an operand has no layout.
            #[cfg_attr(not(debug_assertions), inline(always))]
            pub fn read<'a, S: Source<'a>>(kind: FieldKind, source: &mut S) -> Result<Self, S::Error> {
                let mut value = Self::ZERO;
                value.fill(kind, source)?;
                Ok(value)
            }

            /// Reads the value of a field into its final place, for speed: copying a value right after it
            /// was written stalls the processor.
            ///
            /// # Errors
            /// The input ends, or an operand has no layout. The value is unspecified then.
            #[cfg_attr(not(debug_assertions), inline(always))]
            pub fn fill<'a, S: Source<'a>>(&mut self, kind: FieldKind, source: &mut S) -> Result<(), S::Error> {
                let name = kind.name();
                match kind {
                    FieldKind::Vector => {
                        return VectorOperand::read_to(source, |operand| *self = Self::Vector(operand));
                    }
                    FieldKind::Raw | FieldKind::Raws => {
                        let mut operand = RawOperand::default();
                        operand.read(source)?;
                        *self = Self::Raw(operand);
                    }
                    FieldKind::SamplerOp => {
                        let wide = source.format().features().contains(Features::SINCE_4_0);
                        *self = Self::SamplerOp(if wide {
                            SamplerOp::from_bits(u16::from_wire(source.number(name, Width::U16)?))
                        } else {
                            SamplerOp::from_narrow(u8::from_wire(source.number(name, Width::U8)?))
                        });
                    }
                    $(FieldKind::$kind => {
                        let number = source.number(name, Width::$width)?;
                        *self = Self::$variant(Number::from_wire(number));
                    })*
                }
                source.vet(self)
            }

            /// Writes the value of a field; an entry of a list, for the list kinds. A value of a kind
            /// that does not match the field is [`absent`](Sink::absent).
            ///
            /// # Errors
            /// Something does not fit the format.
            #[cfg_attr(not(debug_assertions), inline(always))]
            pub fn write<K: Sink>(&self, kind: FieldKind, sink: &mut K) -> Result<(), K::Error> {
                let name = kind.name();
                match (kind, self) {
                    (FieldKind::Vector, Self::Vector(operand)) => operand.write(sink),
                    (FieldKind::Raw | FieldKind::Raws, Self::Raw(operand)) => operand.write(sink),
                    (FieldKind::SamplerOp, Self::SamplerOp(op)) => {
                        if sink.format().features().contains(Features::SINCE_4_0) {
                            sink.number(name, Width::U16, op.bits().into())
                        } else {
                            // A code of more than five bits does not fit and is rejected as such.
                            let narrow = op.to_narrow().map_or(u32::from(op.bits()) | 0x100, u32::from);
                            sink.number(name, Width::U8, narrow)
                        }
                    }
                    $((FieldKind::$kind, Self::$variant(value)) => {
                        announce(sink, *value);
                        sink.number(name, Width::$width, value.to_wire())
                    })*
                    _ => sink.absent(name),
                }
            }
        }
    };
}

values! {
    ExecSize => ExecSize: U8;
    Predicate => Predicate: U16;
    U8 => U8: U8;
    U16 => U16: U16;
    U32 => U32: U32;
    I32 => I32: U32;
    Label => Label: U16;
    Labels => Label: U16;
    StringIndex16 => String: U16;
    StringIndex => String: Index;
    Surface => Surface: U8;
    Sampler => Sampler: U8;
    Lifetime => Lifetime: Index;
    ElementCount => ElementCount: U8;
    Count => U8: U8;
}
