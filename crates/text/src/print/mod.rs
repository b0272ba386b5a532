//! The printer: objects and routines.
//!
//! [`header`], [`instruction`], [`parts`] and [`operand`] write the form of Intel's printer and, where the lines are
//! the same, the plain form. [`plain`] writes routines in the plain and the exact form, with [`declarations`], [`code`]
//! and what [`exact`] adds. No text is assembled to check it: what the assembler will read in a line is noted while it
//! is written ([`reading`]), by the same rules that the assembler uses ([`language`](crate::language)).

mod attribute;
mod code;
mod declarations;
mod exact;
mod files;
mod header;
mod instruction;
mod label;
mod line;
mod names;
mod operand;
mod output;
mod parts;
mod plain;
mod plan;
mod reading;

pub use files::file_name;
pub use output::{LineKind, Output, Utf8};

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::convert::Infallible;
use line::Line;
use names::Names;
use plan::LabelNote;
use visakit_isa::object::{Body, Content, Item, Object, RoutineId, RoutineKind};
use visakit_isa::{Features, Format, Value, VarId, VectorOperand};

/// Which text to print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Readable text with the names stored in the object; the assembler accepts it.
    #[default]
    Plain,
    /// Plain text with directives in comments for everything the language cannot express: it assembles to the same
    /// object, byte for byte.
    Exact,
    /// What Intel's printer writes.
    Intel,
}

/// How to print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Which text.
    pub form: Form,
    /// Bytes of a register, 32 or 64, which the offset of an address-of operand depends on. If `None`: that of the
    /// platform of the object's native binaries, or else 32.
    pub grf_bytes: Option<u32>,
}

/// Prints the routines of an object.
#[derive(Clone, Copy, Debug)]
pub struct Printer<'o, 'a> {
    object: &'o Object<'a>,
    form: Form,
    grf_bytes: u32,
    rows_by_number: bool,
    tables: OwnTables,
}

/// What the lines of a routine are generated from.
#[derive(Debug)]
pub(crate) struct Context<'o> {
    pub(crate) object: &'o Object<'o>,
    pub(crate) id: RoutineId,
    pub(crate) body: &'o Body<'o>,
    pub(crate) format: Format,
    /// Whether this is not the form of Intel's printer.
    pub(crate) is_plain: bool,
    pub(crate) grf_bytes: u32,
    /// Rows of address-of operands are not given in bytes, as nothing states for the assembler how many a row has.
    pub(crate) rows_by_number: bool,
    /// Which predefined symbols are listed with the numbers of the object's version.
    pub(crate) tables: OwnTables,
    pub(crate) names: Names<'o>,
    pub(crate) first_variable: u32,
    pub(crate) first_surface: u8,
    /// How plain text shows the labels.
    pub(crate) labels: Vec<LabelNote>,
}

impl<'o, 'a> Printer<'o, 'a> {
    /// Creates a printer of this object.
    #[must_use]
    pub fn new(object: &'o Object<'a>, options: Options) -> Self {
        let native = object.kernels.iter().find_map(|k| k.binaries.first());
        let native = native.map_or(32, |b| b.platform.grf_bytes());
        let is_plain = options.form != Form::Intel;
        Self {
            object,
            form: options.form,
            grf_bytes: options
                .grf_bytes
                .unwrap_or(if is_plain { 32 } else { native }),
            rows_by_number: is_plain && options.grf_bytes.is_none(),
            tables: OwnTables::of(object),
        }
    }

    /// Prints the whole object: what all routines share, then the routines, kernels first.
    ///
    /// # Errors
    /// The output could not take the text.
    pub fn object<O: Output>(&self, mut out: O) -> Result<(), O::Error> {
        if self.form != Form::Intel {
            return self.plain_object(&mut out);
        }
        for (id, _) in self.object.routines() {
            self.routine(id, &mut out)?;
        }
        Ok(())
    }

    /// Prints one routine as a complete text; prints nothing if the object has no such routine.
    ///
    /// Only whole objects have an exact text; a single routine is printed in the plain form instead.
    ///
    /// # Errors
    /// The output could not take the text.
    pub fn routine<O: Output>(&self, id: RoutineId, mut out: O) -> Result<(), O::Error> {
        let mut line = Line::new();
        if self.form != Form::Intel {
            self.preamble(&mut line, &mut out)?;
            return self.plain_routine(id, false, &mut line, &mut out);
        }
        let Some(routine) = self.object.routine(id) else {
            return Ok(());
        };
        let body = match &routine.content {
            Content::Body(body) => body,
            Content::Raw(raw) => return undecoded(&mut line, &mut out, &routine.name, &raw.reason),
            Content::Missing(reason) => {
                return undecoded(&mut line, &mut out, &routine.name, reason);
            }
        };
        let context = self.context(id, body);
        context.header(&mut line, &mut out)?;
        for (index, item) in body.code.iter().enumerate() {
            line.clear();
            match item {
                Item::Instruction(instruction) => {
                    context.instruction(&mut line, index, instruction);
                    out.line(LineKind::Instruction(index), line.bytes())?;
                }
                Item::Raw(raw) => {
                    line.text("    /// undecoded, ");
                    line.number(raw.bytes.len() as u64);
                    line.text(" bytes: ");
                    line.text(&raw.reason);
                    line.byte(b'\n');
                    out.line(LineKind::Undecoded(index), line.bytes())?;
                }
            }
        }
        Ok(())
    }

    /// All routines in one text, as Intel's finalizer (`GenX_IR`) reads it: the version stands once, and coordinates that are not
    /// there, which Intel's printer shows, are left out.
    #[must_use]
    pub fn for_finalizer(&self) -> Vec<u8> {
        const ABSENT: &[u8] = b", %null, %null]";
        let mut all = Vec::new();
        for (id, _) in self.object.routines() {
            let mut text = Vec::new();
            let Ok(()) = self.routine(id, &mut text);
            let version = text.iter().position(|b| *b == b'\n').map_or(0, |n| n + 1);
            let begin = if all.is_empty() { 0 } else { version };
            let mut rest = text.get(begin..).unwrap_or_default();
            while let Some(at) = rest.windows(ABSENT.len()).position(|w| w == ABSENT) {
                let (before, after) = rest.split_at(at);
                all.extend_from_slice(before);
                all.push(b']');
                rest = after.get(ABSENT.len()..).unwrap_or_default();
            }
            all.extend_from_slice(rest);
        }
        all
    }

    /// The text of each item of a routine's code, one line each, without indentation, number and line end; control
    /// characters in names become blanks.
    #[must_use]
    pub fn code(&self, id: RoutineId) -> Vec<String> {
        let body = self.object.routine(id).and_then(|r| r.body());
        let mut lines = CodeLines(vec![String::new(); body.map_or(0, |body| body.code.len())]);
        let Ok(()) = self.routine(id, &mut lines);
        lines.0
    }

    pub(crate) fn context(&self, id: RoutineId, body: &'o Body<'a>) -> Context<'o> {
        let format = self.object.format();
        let first_variable = format.predefined_variable_count();
        let is_plain = self.form != Form::Intel;
        Context {
            object: self.object,
            id,
            body,
            format,
            is_plain,
            grf_bytes: self.grf_bytes,
            rows_by_number: self.rows_by_number,
            tables: self.tables,
            names: if is_plain {
                Names::stored(body, format)
            } else {
                Names::of(body, first_variable)
            },
            first_variable,
            first_surface: format.predefined_surface_count(),
            labels: Vec::new(),
        }
    }

    /// Whether byte offsets depend on a register size other than the one the assembler would assume.
    pub(crate) const fn says_grf_bytes(&self) -> bool {
        self.grf_bytes != 32 && !self.rows_by_number
    }
}

/// Keeps the lines of the code alone.
struct CodeLines(Vec<String>);

impl Output for &mut CodeLines {
    type Error = Infallible;

    fn line(&mut self, kind: LineKind, text: &[u8]) -> Result<(), Infallible> {
        let (LineKind::Instruction(number) | LineKind::Undecoded(number)) = kind else {
            return Ok(());
        };
        if let Some(line) = self.0.get_mut(number) {
            let text = String::from_utf8_lossy(text);
            // Labels begin with a line end, and instructions have their number in a comment.
            let text = text.trim_end();
            let text = text.rsplit('\n').next().unwrap_or(text);
            let end = text.rfind(" /// $").unwrap_or(text.len());
            let text = text.get(..end).unwrap_or(text).trim();
            let shown = |c: char| if c.is_control() { ' ' } else { c };
            *line = text.chars().map(shown).collect();
        }
        Ok(())
    }
}

/// A routine that has no text.
pub(crate) fn undecoded<O: Output>(
    line: &mut Line,
    out: &mut O,
    name: &[u8],
    reason: &str,
) -> Result<(), O::Error> {
    line.text("/// undecoded routine ");
    line.quoted(name.iter().copied());
    line.text(": ");
    line.text(reason);
    line.byte(b'\n');
    out.line(LineKind::Undecoded(0), line.bytes())
}

/// Which tables of 3.4 and later, which Intel's printer lists for every version, would be wrong for an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnTables {
    /// The object uses a predefined variable whose number has changed.
    pub(crate) variables: bool,
    /// The object has surfaces of its own, and their numbering starts lower.
    pub(crate) surfaces: bool,
}

impl OwnTables {
    fn of(object: &Object<'_>) -> Self {
        let format = object.format();
        let features = format.features();
        if features.contains(Features::SINCE_3_4) {
            return Self {
                variables: false,
                surfaces: false,
            };
        }
        let bodies = || object.routines().filter_map(|(_, r)| r.body());
        let surfaces = !features.contains(Features::SINCE_3_1)
            && bodies().any(|body| !body.surfaces.is_empty());
        let count = format.predefined_variable_count();
        Self {
            variables: !features.contains(Features::SINCE_3_0)
                || bodies().any(|body| uses_moved(body, count)),
            surfaces,
        }
    }
}

/// The predefined variables whose numbers are the same in all versions.
const NEVER_MOVED: u32 = 3;

/// Whether a routine uses a predefined variable whose number changed in 3.4.
fn uses_moved(body: &Body<'_>, count: u32) -> bool {
    let moved = |id: VarId| (NEVER_MOVED..count).contains(&id.0);
    let used = |value: &Value| match value {
        Value::Vector(VectorOperand::General(o)) => moved(o.variable),
        Value::Raw(o) => moved(o.variable),
        _ => false,
    };
    let mut aliases = body.variables.iter().filter(|v| v.alias_scope == 0);
    let mut values = body.instructions().flat_map(|i| &i.fields);
    aliases.any(|v| moved(v.alias)) || values.any(|field| used(&field.value))
}

/// Kernels list the functions of their object.
pub(crate) const fn is_kernel(id: RoutineId) -> bool {
    matches!(id.kind, RoutineKind::Kernel)
}
