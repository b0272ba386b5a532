//! Machine code for people to read.

use crate::compiled::Compiled;
use crate::x64::Note;
use iced_x86::{Decoder, DecoderOptions, Formatter as _, Instruction, IntelFormatter, OpKind};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter, Write as _};
use visakit_exec::code::Code;

/// The machine code of a program, disassembled; see [`crate::listing`].
pub(crate) struct Listing<'c> {
    pub(crate) code: &'c Code,
    pub(crate) compiled: Compiled,
}

impl Listing<'_> {
    /// The line before the code that a note is about.
    fn note(&self, note: Note, f: &mut Formatter<'_>) -> fmt::Result {
        let lanes = |full: bool| if full { "all lanes" } else { "some lanes" };
        match note {
            Note::Entry => writeln!(f, "entry"),
            Note::Segment { start, full } => {
                writeln!(f, "\nsegment of step {start}, {}", lanes(full))
            }
            Note::Loop { start, full } => writeln!(f, "\nloop of step {start}, {}", lanes(full)),
            Note::Form(form) => writeln!(f, "  form: {form}"),
            Note::Step(place) => match self.code.line(place) {
                Some(line) => writeln!(f, "{place:>6}  {line}"),
                None => Ok(()),
            },
            Note::End => writeln!(f, "  end"),
            Note::Detour(place) => writeln!(f, "  detour of step {place}"),
            Note::Exit(place) => writeln!(f, "  exit of step {place}"),
            Note::Follower => writeln!(f, "\nnext thread"),
        }
    }
}

/// The places that jumps go to, with the names of their labels.
fn labels(instructions: &[Instruction]) -> BTreeMap<u64, String> {
    let targets = instructions.iter().filter_map(target);
    let mut labels: BTreeMap<u64, String> = targets.map(|at| (at, String::new())).collect();
    for (number, name) in labels.values_mut().enumerate() {
        *name = format!("L{number}");
    }
    labels
}

/// Where a jump goes.
fn target(instruction: &Instruction) -> Option<u64> {
    (instruction.op0_kind() == OpKind::NearBranch64).then(|| instruction.near_branch_target())
}

fn formatter() -> IntelFormatter {
    let mut formatter = IntelFormatter::new();
    let options = formatter.options_mut();
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_uppercase_hex(false);
    options.set_space_after_operand_separator(true);
    options.set_branch_leading_zeros(false);
    options.set_show_branch_size(false);
    formatter
}

impl Display for Listing<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let decoder = Decoder::with_ip(64, &self.compiled.bytes, 0, DecoderOptions::NONE);
        let instructions: Vec<Instruction> = decoder.into_iter().collect();
        let labels = labels(&instructions);
        let mut formatter = formatter();
        let mut notes = self.compiled.notes.iter().peekable();
        let mut line = String::new();
        for instruction in &instructions {
            let at = instruction.ip();
            while let Some((_, note)) = notes.next_if(|(place, _)| *place as u64 <= at) {
                self.note(*note, f)?;
            }
            if let Some(label) = labels.get(&at) {
                writeln!(f, "{label}:")?;
            }
            line.clear();
            match target(instruction).and_then(|target| labels.get(&target)) {
                Some(label) => {
                    formatter.format_mnemonic(instruction, &mut line);
                    write!(line, " {label}")?;
                }
                None => formatter.format(instruction, &mut line),
            }
            writeln!(f, "        {line}")?;
        }
        self.constants(f)
    }
}

impl Listing<'_> {
    fn constants(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (number, vector) in self.compiled.constants.chunks(64).enumerate() {
            if number == 0 {
                writeln!(f, "\nconstants")?;
            }
            write!(f, "  0x{:x}:", 64 * number)?;
            let (dwords, _) = vector.as_chunks::<4>();
            // One for all lanes is shown once.
            let shown = match dwords {
                [first, others @ ..] if others.iter().all(|other| other == first) => 1,
                _ => dwords.len(),
            };
            for dword in dwords.iter().take(shown) {
                write!(f, " {:08x}", u32::from_le_bytes(*dword))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
