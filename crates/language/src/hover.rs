//! Hover texts.

use crate::hints::hexadecimal;
use crate::line::What;
use crate::symbols::Space;
use crate::{Definition, Document};
use std::fmt::Write;
use std::ops::Range;
use visakit_isa::operand::OperandClass;
use visakit_isa::table::{InstructionDef, Role, entry};
use visakit_isa::{DataType, SurfaceId, VarId};
use visakit_text::Token;
use visakit_text::vocabulary::rows_at;

/// The description of a piece of text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hover {
    /// The piece.
    pub span: Range<usize>,
    /// The description, as Markdown.
    pub markdown: String,
}

/// More rows than this are named only.
const DESCRIBED: usize = 2;

impl Document {
    /// The description of the place at an offset: instruction, declaration, label, type, attribute or
    /// directive.
    #[must_use]
    pub fn hover(&self, offset: usize) -> Option<Hover> {
        let line = self.line_at(offset);
        let touches = |(_, span): &(Token, Range<usize>)| span.start <= offset && offset < span.end;
        let mut tokens = self.line_tokens(line);
        let (token, span) = tokens.find(touches)?;
        let what = self.lines().get(line)?.what;
        if token == Token::Mnemonic {
            return self.instruction(line, span);
        }
        if let Some(name) = self.name_at(offset) {
            let said = match &name.definition {
                Some(definition) => Some(self.declared(definition)),
                None => self.predefined(self.said(&name.span)),
            };
            if let Some(markdown) = said {
                return Some(Hover {
                    span: name.span,
                    markdown,
                });
            }
        }
        let word = self.said(&span);
        let markdown = match token {
            Token::Directive => directive(word)?.to_string(),
            Token::Type => data_type(word.trim_start_matches(':'))?,
            Token::Name if matches!(what, What::Declaration(_) | What::FileDeclaration) => {
                data_type(word).or_else(|| property(word).map(ToString::to_string))?
            }
            Token::Name if what == What::Instruction => mask(word)?,
            _ => return None,
        };
        Some(Hover { span, markdown })
    }

    fn instruction(&self, line: usize, span: Range<usize>) -> Option<Hover> {
        let text = self.text().get(span.start..self.line_start(line + 1))?;
        let analysis = self.analysis();
        let made = analysis.instruction_at(span.start);
        let mut rows: Vec<&'static InstructionDef> = Vec::new();
        match made {
            Some((.., instruction)) if self.line_at(analysis_start(self, span.start)) == line => {
                rows.push(instruction.op.def());
            }
            _ => {
                for (row, _) in rows_at(text.as_bytes()) {
                    if !rows.contains(&row) {
                        rows.push(row);
                    }
                }
            }
        }
        let mut markdown = String::new();
        for row in rows.iter().take(DESCRIBED) {
            markdown.push_str(entry(row).trim_start());
            operands(&mut markdown, row);
        }
        if rows.len() > DESCRIBED {
            let names: Vec<_> = rows.iter().skip(DESCRIBED).map(|row| row.name).collect();
            let _ = writeln!(markdown, "\nor {}", names.join(", "));
        }
        let encoded = analysis.encoded();
        let at = encoded.partition_point(|e| e.span.end <= span.start);
        if let Some(e) = encoded.get(at).filter(|e| e.span.start <= span.start) {
            let bytes = hexadecimal(&e.bytes);
            let _ = write!(
                markdown,
                "\nOffset `{:#x}`, {} bytes: `{bytes}`\n",
                e.offset,
                e.bytes.len()
            );
        }
        (!markdown.is_empty()).then_some(Hover { span, markdown })
    }

    /// Of a declared name.
    fn declared(&self, definition: &Definition) -> String {
        let line = self.line_text(definition.line).trim();
        let mut markdown = format!("```visa\n{line}\n```\n");
        let _ = write!(
            markdown,
            "{}, line {}",
            capital(definition.kind.name()),
            definition.line + 1
        );
        if definition.kind.space() != Space::Variable {
            let uses = self.uses(definition).len().saturating_sub(1);
            let _ = write!(markdown, ", used {}", counted(uses, "time"));
            return markdown;
        }
        if let Some(size) = self.size(line) {
            let _ = write!(markdown, ", {size}");
        }
        if let Some(life) = self.life(definition) {
            let _ = write!(
                markdown,
                "\n\nWritten by {} and read by {}",
                counted(life.writes, "instruction"),
                counted(life.reads, "instruction")
            );
            if let Some(lines) = life.lines {
                let _ = write!(
                    markdown,
                    ", live from line {} to line {}",
                    lines.start + 1,
                    lines.end
                );
            }
            match life.aliases {
                0 => {}
                n => {
                    let _ = write!(
                        markdown,
                        "; {} with the same storage",
                        counted(n, "more variable")
                    );
                }
            }
        }
        markdown
    }

    /// The size of the variable that a line declares.
    fn size(&self, line: &str) -> Option<String> {
        let value = |key: &str| {
            let at = line.find(key)? + key.len();
            let rest = line.get(at..)?.trim_start();
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric());
            rest.get(..end.unwrap_or(rest.len()))
        };
        let ty = type_named(value(" type=")?)?;
        let elements: u32 = value("num_elts=")?.parse().ok()?;
        let bytes = elements.checked_mul(ty.size().into())?;
        let registers = self.platform().map(visakit_isa::Platform::grf_bytes);
        let registers = registers.map(|grf| {
            let count = usize::try_from(bytes.div_ceil(grf)).unwrap_or(usize::MAX);
            format!(", {} of {grf}", counted(count, "register"))
        });
        Some(format!("{bytes} bytes{}", registers.unwrap_or_default()))
    }

    /// Of a name that every routine has.
    fn predefined(&self, name: &str) -> Option<String> {
        let format = self.layout();
        let variables = format.predefined_variables();
        let number = name.strip_prefix('V').and_then(|n| n.parse().ok());
        let variable = match (name.strip_prefix('%'), number) {
            (Some(plain), _) => variables.iter().find(|v| v.name == plain),
            (None, Some(n)) => format.predefined_variable(VarId(n)),
            (None, None) => None,
        };
        if let Some(v) = variable {
            let elements = v.elements;
            return Some(format!(
                "`%{}`: predefined variable, {elements} elements of type `{}`",
                v.name, v.data_type
            ));
        }
        let mut surfaces = (0..format.predefined_surface_count())
            .filter_map(|n| format.predefined_surface(SurfaceId(n)));
        let surface = surfaces.find(|s| s.name == name || s.old_name == name)?;
        Some(format!(
            "`{}`: predefined surface, index {} in the binding table: {}",
            surface.name, surface.binding_table_index, surface.summary
        ))
    }

    pub(crate) fn is_predefined(&self, name: &str) -> bool {
        self.predefined(name).is_some()
    }
}

/// The start of the statement that produced the instruction at a place.
fn analysis_start(document: &Document, offset: usize) -> usize {
    let analysis = document.analysis();
    let made = analysis.instruction_at(offset);
    let place = made.and_then(|(id, number, _)| analysis.place_of(id, number));
    place.map_or(offset, |place| place.start)
}

/// The operands that a row accepts.
fn operands(markdown: &mut String, row: &InstructionDef) {
    for field in row.fields.iter().filter(|f| f.role != Role::Control) {
        let classes: Vec<_> = field.classes.classes().map(OperandClass::name).collect();
        let types: Vec<_> = field.types.types().map(DataType::name).collect();
        if classes.is_empty() && types.is_empty() {
            continue;
        }
        let types = (!types.is_empty()).then(|| format!("types {}", types.join(" ")));
        let classes = (!classes.is_empty()).then(|| classes.join(", "));
        let said: Vec<_> = classes.into_iter().chain(types).collect();
        let _ = writeln!(markdown, "* `{}`: {}", field.name, said.join("; "));
    }
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

fn type_named(name: &str) -> Option<DataType> {
    let mut all = DataType::ALL.into_iter().chain(DataType::TEXT_ONLY);
    all.find(|ty| ty.name().eq_ignore_ascii_case(name))
}

fn data_type(name: &str) -> Option<String> {
    let ty = type_named(name)?;
    let bytes = ty.size();
    let unit = if bytes == 1 { "byte" } else { "bytes" };
    Some(format!("`{ty}`: type of {bytes} {unit} an element"))
}

/// A description of `M1_NM` and the like.
fn mask(name: &str) -> Option<String> {
    let number = name.strip_prefix('M')?;
    let (number, no_mask) = match number.strip_suffix("_NM") {
        Some(number) => (number, true),
        None => (number, false),
    };
    let group: u8 = number.parse().ok().filter(|n| (1..=8).contains(n))?;
    let lane = (group - 1) * 4;
    let whose = if no_mask {
        "all of them, whatever the exec mask says"
    } else {
        "those that the exec mask enables"
    };
    Some(format!("`{name}`: lanes from lane {lane} on, {whose}"))
}

/// The purpose of a directive.
pub(crate) fn directive(word: &str) -> Option<&'static str> {
    Some(match word {
        ".version" => "Version of the language: `.version 4.1`, before the first routine",
        ".kernel" => "Begins a kernel: `.kernel \"name\"`",
        ".global_function" => "Begins a function that other routines call with a stack",
        ".function" => "Begins a subroutine of the routine",
        ".funcdecl" => "Declares a function of another object",
        ".decl" => {
            "Declares a variable, a sampler or a surface: `.decl V32 v_type=G type=d num_elts=16 align=GRF`"
        }
        ".file_decl" => "Declares a variable that all routines share (3.0 to 3.2)",
        ".label" => "Declares a label before its use",
        ".op" => "An instruction number by number",
        ".bytes" => "Bytes of the instruction area",
        ".input" | ".parameter" => "An input of the kernel: `.input V33 offset=32 size=8`",
        ".kernel_attr" => "An attribute of the routine: `.kernel_attr SimdSize=16`",
        ".file" => "The source file of the instructions that follow",
        ".loc" => "The source line of the instructions that follow",
        _ if word.starts_with(".implicit_") => "An input that the driver fills in",
        _ => return None,
    })
}

/// The purpose of a property of a declaration.
fn property(word: &str) -> Option<&'static str> {
    Some(match word {
        "v_type" => "Kind of variable: G general, A address, P predicate, S sampler, T surface",
        "type" => "Type of an element",
        "num_elts" => "Number of elements",
        "align" => "Alignment of the first element",
        "alias" => "The variable whose storage this one shares, and an offset in bytes",
        "attrs" => "Attributes in braces",
        "v_name" => "The name that the object stores",
        _ => return None,
    })
}
