//! Listings of translated code.

use super::{
    Action, Code, Combine, Compute, Destination, Edge, Flag, Lane, Modify, Operation, Region,
    Source, Step, Systolic, Target,
};
use std::fmt::{self, Display, Formatter, Write as _};

impl Display for Code {
    /// Routines, blocks with the blocks that follow them, and a line for each step:
    /// `place operation.lane(lanes, mask) destination = sources ; instruction`. Operands are
    /// `r`, their first byte in the register file, their region in bytes and their type; data of
    /// messages reach up to the byte after `..`, and addresses are in brackets. Steps that do
    /// different things are listed differently.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (number, block) in self.blocks().iter().enumerate() {
            for routine in self
                .routines
                .iter()
                .filter(|r| r.entry == block.steps.start)
            {
                writeln!(f, "routine {:?}:", routine.name)?;
            }
            write!(f, "b{number}:")?;
            for (place, edge) in block.edges.iter().enumerate() {
                let separator = if place == 0 { " ->" } else { "," };
                let how = match edge {
                    Edge::Next(_) => "",
                    Edge::Jump(_) => "jump ",
                    Edge::Call(_) => "call ",
                };
                write!(f, "{separator} {how}b{}", edge.block())?;
            }
            writeln!(f)?;
            for place in block.steps.clone() {
                if let Some(step) = self.steps.get(place) {
                    writeln!(f, "{place:>6}  {}", Line { code: self, step })?;
                }
            }
        }
        Ok(())
    }
}

impl Code {
    /// The line of a step in the listing of the code.
    #[must_use]
    pub fn line(&self, place: usize) -> Option<impl Display> {
        let step = self.steps.get(place)?;
        Some(Line { code: self, step })
    }
}

struct Line<'a> {
    code: &'a Code,
    step: &'a Step,
}

impl Display for Line<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        if let Some(flag) = &self.step.predicate {
            write!(text, "({}) ", Predicate(flag))?;
        }
        self.action(&mut text)?;
        let origin = self.step.origin;
        write!(f, "{text:<63} ; {}", origin.instruction)?;
        let mnemonic = origin.op.map(|op| op.def().mnemonic());
        mnemonic.map_or(Ok(()), |mnemonic| write!(f, " {mnemonic}"))
    }
}

impl Line<'_> {
    fn action(&self, text: &mut String) -> fmt::Result {
        let not = |inverted: &bool| if *inverted { "_unless" } else { "" };
        let whole = |uniform: &bool| if *uniform { ".uniform" } else { "" };
        let lanes = self.step.lanes;
        match &self.step.action {
            Action::Compute(compute) => self.compute(compute, text),
            Action::Systolic(systolic) => self.systolic(systolic, text),
            Action::Message(message) => message.0.list(lanes, text),
            Action::Join => text.write_str("join"),
            Action::Nothing => text.write_str("nothing"),
            Action::UpdateMode(place) => write!(text, "update_mode r{place}"),
            Action::ExecutionMask(place) => write!(text, "execution_mask r{place}"),
            Action::Clock(place) => write!(text, "clock r{place}"),
            Action::Count(count) => {
                write!(text, "count{lanes}")?;
                let places = [count.times, count.lanes, count.parts];
                let names = ["times", "lanes", "parts"];
                let counted = names.iter().zip(places);
                counted
                    .filter_map(|(name, place)| Some((name, place?)))
                    .try_for_each(|(name, place)| write!(text, " {name} r{place}"))
            }
            Action::Jump { target, inverted } => {
                write!(text, "jump{}{lanes} {target}", not(inverted))
            }
            Action::Goto { target, inverted } => {
                write!(text, "goto{}{lanes} {target}", not(inverted))
            }
            Action::Switch { index, targets } => {
                write!(text, "switch {index}")?;
                targets
                    .iter()
                    .try_for_each(|target| write!(text, " {target}"))
            }
            Action::Call {
                target,
                function,
                uniform,
            } => {
                write!(text, "call{}{lanes} {target}", whole(uniform))?;
                function.map_or(Ok(()), |function| write!(text, " routine {function}"))
            }
            Action::CallAddress { address, uniform } => {
                write!(text, "call{}{lanes} [{address}]", whole(uniform))
            }
            Action::Return { uniform } => write!(text, "return{}{lanes}", whole(uniform)),
            Action::Barrier => text.write_str("barrier"),
            Action::Signal => text.write_str("signal"),
            Action::Wait => text.write_str("wait"),
            Action::NamedSignal(operands) => {
                text.write_str("signal")?;
                operands.iter().try_for_each(|o| write!(text, " {o}"))
            }
            Action::NamedWait(number) => write!(text, "wait {number}"),
            Action::Fault(kind) => write!(text, "fault: {kind}"),
        }
    }

    /// `systolic.8x4.hf.hf(16) r512:f = r1024:f + r2048 * r3072..3200`: depth and repeat count, formats of weights and
    /// activations; the activations end with their variable. Scales follow a colon.
    fn systolic(&self, systolic: &Systolic, text: &mut String) -> fmt::Result {
        let Systolic {
            plan,
            places,
            activations,
            available,
            fused,
        } = systolic;
        let how = if *fused { ".fused" } else { "" };
        write!(text, "systolic.{plan}{how}{}", self.step.lanes)?;
        let (result, accumulator) = plan.types();
        write!(text, " r{}:{result} =", places.result)?;
        if let Some(place) = places.accumulator {
            write!(text, " r{place}:{accumulator} +")?;
        }
        let scales = |text: &mut String, scales: Option<usize>| match scales {
            Some(place) => write!(text, ":r{place}"),
            None => Ok(()),
        };
        write!(text, " r{}", places.weights)?;
        scales(text, places.weight_scales)?;
        let end = activations.saturating_add(*available);
        write!(text, " * r{activations}..{end}")?;
        scales(text, places.activation_scales)
    }

    fn compute(&self, compute: &Compute, text: &mut String) -> fmt::Result {
        write!(text, "{}", compute.operation.name())?;
        match compute.operation {
            Operation::Convert(to) => write!(text, ".{}.{}", lane(compute.lane), lane(to))?,
            Operation::Boolean(table) => write!(text, ".0x{table:02x}")?,
            Operation::Compare(relation) => write!(text, ".{relation:?}.{}", lane(compute.lane))?,
            Operation::DotProduct(terms) => write!(text, ".{}+{}", terms.products, terms.bare)?,
            Operation::Narrow(narrowing) | Operation::NarrowByChance(narrowing) => {
                write!(text, ".{narrowing:?}")?;
            }
            Operation::ShuffleNibbles(bytes) => {
                text.write_str(if bytes { ".bytes" } else { ".words" })?;
            }
            Operation::ScaleDown(how) => write!(
                text,
                ".{}.{}.{:?}",
                if how.brain { "bf" } else { "hf" },
                if how.float { "e2m1" } else { "int4" },
                how.places
            )?,
            Operation::FlagToNumber(elements) => write!(text, ".{elements}")?,
            _ => write!(text, ".{}", lane(compute.lane))?,
        }
        if self.step.fused {
            text.write_str("+branch")?;
        }
        write!(text, "{} ", self.step.lanes)?;
        let mut separator = "";
        if compute.destination.target != Target::Null || compute.sets.is_none() {
            write!(text, "{}", To(&compute.destination))?;
            separator = ", ";
        }
        if let Some(second) = &compute.second {
            write!(text, "{separator}{}", To(second))?;
        }
        if let Some(flag) = &compute.sets {
            write!(text, "{separator}{}", Predicate(flag))?;
        }
        text.write_str(" =")?;
        separator = " ";
        for flag in compute.flags.iter().take(compute.operation.flags()) {
            write!(text, "{separator}{}", Predicate(flag))?;
            separator = ", ";
        }
        for source in compute.sources.iter().take(compute.operation.sources()) {
            write!(text, "{separator}")?;
            self.source(source, text)?;
            separator = ", ";
        }
        Ok(())
    }

    fn source(&self, source: &Source, text: &mut String) -> fmt::Result {
        let (before, after) = match source.modify {
            Modify::None => ("", ""),
            Modify::Neg => ("-", ""),
            Modify::Abs => ("|", "|"),
            Modify::NegAbs => ("-|", "|"),
            Modify::Not => ("~", ""),
        };
        text.write_str(before)?;
        let (offset, ty) = (source.offset, source.data_type);
        match &source.region {
            Region::Scalar => match self.constant(source) {
                Some(value) => write!(text, "0x{value:x}")?,
                None => write!(text, "r{offset}<0>")?,
            },
            Region::Packed => write!(text, "r{offset}")?,
            Region::Strided(stride) => write!(text, "r{offset}<{stride}>")?,
            Region::Offsets(offsets) => {
                write!(text, "r{offset}<")?;
                list(offsets, self.step.lanes.count, text)?;
                text.write_str(">")?;
            }
            Region::Indirect { immediate, offsets } => {
                write!(text, "[r{offset}{immediate:+}]<")?;
                list(offsets, self.step.lanes.count, text)?;
                text.write_str(">")?;
            }
            Region::Rows {
                immediate,
                width,
                stride,
            } => {
                write!(text, "[r{offset}{immediate:+}]<{width}x{stride}>")?;
            }
        }
        write!(text, "{after}:{ty}")
    }

    /// The bits of a constant of the program, as wide as its type.
    fn constant(&self, source: &Source) -> Option<u64> {
        source.constant?;
        let bits = self.code.constant(source.offset)?;
        let unused = 64 - 8 * u32::from(source.data_type.size());
        Some(bits << unused >> unused)
    }
}

/// The offsets of the lanes: first, and one after the other.
fn list(offsets: &[u16; 32], lanes: u8, text: &mut String) -> fmt::Result {
    for (place, offset) in offsets.iter().take(lanes.into()).enumerate() {
        write!(text, "{}{offset}", if place == 0 { "" } else { " " })?;
    }
    Ok(())
}

const fn lane(lane: Lane) -> &'static str {
    match lane {
        Lane::U8 => "u8",
        Lane::U16 => "u16",
        Lane::U32 => "u32",
        Lane::I32 => "i32",
        Lane::U64 => "u64",
        Lane::I64 => "i64",
        Lane::I128 => "i128",
        Lane::F32 => "f32",
        Lane::F64 => "f64",
    }
}

struct To<'a>(&'a Destination);

impl Display for To<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Destination {
            offset,
            data_type,
            saturate,
            target,
        } = self.0;
        match target {
            Target::Null => return f.write_str("null"),
            Target::Packed => write!(f, "r{offset}")?,
            Target::Strided(stride) => write!(f, "r{offset}<{stride}>")?,
            Target::Indirect { immediate, stride } => {
                write!(f, "[r{offset}{immediate:+}]<{stride}>")?;
            }
        }
        write!(f, ":{data_type}{}", if *saturate { ".sat" } else { "" })
    }
}

struct Predicate<'a>(&'a Flag);

impl Display for Predicate<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let how = match self.0.combine {
            Combine::PerLane => "",
            Combine::Any => ".any",
            Combine::All => ".all",
        };
        write!(
            f,
            "{}p{}{how}",
            if self.0.invert { "!" } else { "" },
            self.0.offset
        )
    }
}
