//! Fills the tables from objects.

use crate::column::Name;
use crate::describe::{describe, describe_operand};
use crate::fingerprint;
use crate::schema::{
    AttributeRow, DeclarationRow, FindingRow, InputRow, InstructionRow, ObjectRow, OperandRow,
    RoutineRow, Select, Tables,
};
use sha2::{Digest, Sha256};
use visakit_isa::object::{Body, NativeCode, Object, Routine, RoutineId, RoutineKind};
use visakit_isa::semantics::Flow;
use visakit_isa::{AnyInstruction, Dialect, FieldName, Format, Instruction, Platform, Value};
use visakit_parse::{Container, Error, ReadOptions, read_with};
use visakit_validate::{Options, Report, Scope};

/// A file.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Where it was found.
    pub path: &'a str,
    /// Its content.
    pub bytes: &'a [u8],
    /// SHA-256 of the content.
    pub sha256: [u8; 32],
    /// Dialect of a binary object. `None`: found out.
    pub dialect: Option<Dialect>,
}

impl<'a> Source<'a> {
    /// A file of this content.
    #[must_use]
    pub fn new(path: &'a str, bytes: &'a [u8]) -> Self {
        let sha256 = Sha256::digest(bytes).into();
        Self {
            path,
            bytes,
            sha256,
            dialect: None,
        }
    }
}

/// The key of an object in all tables.
#[must_use]
pub fn key_of(sha256: &[u8; 32]) -> i64 {
    let [a, b, c, d, e, f, g, h, ..] = *sha256;
    i64::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// A hash in hexadecimal digits.
#[must_use]
pub fn sha256_hex(sha256: &[u8; 32]) -> String {
    use std::fmt::Write;
    sha256.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Adds the rows of a binary object, which is read leniently.
///
/// # Errors
/// Nothing can be read; the row of `objects` says so as well.
pub fn fill(source: &Source<'_>, select: Select, tables: &mut Tables) -> Result<(), Error> {
    let options = ReadOptions {
        lenient: true,
        dialect: source.dialect,
    };
    let decoded = read_with(source.bytes, options).inspect_err(|error| {
        unreadable(source, &error.to_string(), select, tables);
    })?;
    let read = Read {
        form: "binary",
        object: &decoded.object,
        container: Container::parse(source.bytes).ok(),
        faults: decoded.errors.len(),
    };
    read.fill(source, select, tables);
    if select.findings {
        let options = Options::default();
        let report = visakit_validate::decoded_from(source.bytes, &decoded, &options);
        findings(source, &decoded.object, &report, tables);
    }
    Ok(())
}

/// Adds the rows of an object that does not stand in the file as it is: texts, and what holds texts. Its parts have no
/// offsets.
pub fn fill_text(source: &Source<'_>, object: &Object<'_>, select: Select, tables: &mut Tables) {
    let read = Read {
        form: "text",
        object,
        container: None,
        faults: 0,
    };
    read.fill(source, select, tables);
    if select.findings {
        let report = visakit_validate::object(object, &Options::default());
        findings(source, object, &report, tables);
    }
}

/// Adds the row of a file that holds no object, and why.
pub fn unreadable(source: &Source<'_>, error: &str, select: Select, tables: &mut Tables) {
    if select.objects {
        tables.objects.push(ObjectRow {
            error: Some(error),
            ..object_row(source, &sha256_hex(&source.sha256))
        });
    }
}

/// The row of a file of which nothing is known yet.
fn object_row<'r>(source: &Source<'r>, sha256: &'r str) -> ObjectRow<'r> {
    ObjectRow {
        object: key_of(&source.sha256),
        sha256,
        path: source.path,
        bytes: long(source.bytes.len()),
        form: None,
        version: None,
        dialect: None,
        kernels: 0,
        functions: 0,
        instructions: 0,
        faults: 0,
        error: None,
        compiler: None,
    }
}

/// An object that was read.
struct Read<'a> {
    form: &'static str,
    object: &'a Object<'a>,
    /// Where its parts stand in the file, if they do.
    container: Option<Container<'a>>,
    faults: usize,
}

impl Read<'_> {
    fn fill(&self, source: &Source<'_>, select: Select, tables: &mut Tables) {
        let object = self.object;
        if select.objects {
            let paths = Some(paths(object)).filter(|paths| !paths.is_empty());
            let bodies = object.routines().filter_map(|(_, routine)| routine.body());
            let instructions = bodies.map(|body| body.instructions().count());
            tables.objects.push(ObjectRow {
                form: Some(Name(self.form)),
                version: Some(&object.version.to_string()),
                dialect: Some(Name(object.dialect.name())),
                kernels: int(object.kernels.len()),
                functions: int(object.functions.len()),
                instructions: long(instructions.sum::<usize>()),
                faults: int(self.faults),
                compiler: paths.as_deref(),
                ..object_row(source, &sha256_hex(&source.sha256))
            });
        }
        for (number, (id, routine)) in object.routines().enumerate() {
            Rows {
                object: key_of(&source.sha256),
                number: int(number),
                id,
                routine,
                format: object.format(),
                container: self.container.as_ref(),
            }
            .fill(select, tables);
        }
    }
}

/// The files that debug information names, and the paths that compilers leave in attributes.
fn paths(object: &Object<'_>) -> String {
    let mut paths: Vec<String> = Vec::new();
    for (_, routine) in object.routines() {
        let Some(body) = routine.body() else {
            continue;
        };
        let files = body.instructions().filter_map(|instruction| {
            match (instruction.def().flow, instruction.get(FieldName::FileName)) {
                (Flow::Marker, Some(Value::String(name))) => body.string(*name),
                _ => None,
            }
        });
        let attribute = |name| body.attribute(name).map(|a| a.value.as_ref());
        let attributes = ["OutputAsmPath", "AsmName"]
            .into_iter()
            .filter_map(attribute);
        for path in files.chain(attributes) {
            let path = String::from_utf8_lossy(path);
            if !path.is_empty() && !paths.iter().any(|known| *known == path) {
                paths.push(path.into_owned());
            }
        }
    }
    paths.join("\n")
}

fn int(number: impl TryInto<i32>) -> i32 {
    number.try_into().unwrap_or(i32::MAX)
}

fn long(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// The rows of one routine.
struct Rows<'a> {
    object: i64,
    number: i32,
    id: RoutineId,
    routine: &'a Routine<'a>,
    format: Format,
    container: Option<&'a Container<'a>>,
}

impl Rows<'_> {
    fn fill(&self, select: Select, tables: &mut Tables) {
        let place = self.container.and_then(|c| c.extent(self.id));
        let Some(body) = self.routine.body() else {
            if select.routines {
                self.routine_row(None, place, tables);
            }
            return;
        };
        if select.routines {
            self.routine_row(Some(body), place, tables);
        }
        if select.instructions {
            self.instructions(body, tables);
        }
        if select.operands {
            self.operands(body, tables);
        }
        if select.declarations {
            self.declarations(body, tables);
        }
        if select.inputs {
            self.inputs(body, tables);
        }
        if select.attributes {
            self.attributes(body, tables);
        }
    }

    fn routine_row(
        &self,
        body: Option<&Body<'_>>,
        place: Option<&visakit_parse::Extent>,
        tables: &mut Tables,
    ) {
        let empty = Body::default();
        let body = body.unwrap_or(&empty);
        let number = |name| {
            let number = body
                .attribute(name)
                .and_then(visakit_isa::object::Attribute::number);
            number.and_then(|n| i32::try_from(n).ok())
        };
        let [
            mut exec_size,
            mut barriers,
            mut messages,
            mut calls,
            mut loops,
        ] = [0; 5];
        let mut placed = hashbrown::HashSet::new();
        let mut count = 0;
        for instruction in body.instructions() {
            count += 1;
            let def = instruction.def();
            exec_size = exec_size.max(
                instruction
                    .exec_size()
                    .and_then(visakit_isa::ExecSize::lanes)
                    .map_or(0, int),
            );
            barriers += i32::from(is_barrier(instruction));
            messages += i32::from(def.memory.is_some());
            calls += i32::from(matches!(def.flow, Flow::Call(_)));
            let label = label(instruction);
            match (def.flow, label) {
                (Flow::Label { .. }, Some(label)) => {
                    placed.insert(label);
                }
                (Flow::Jump { .. }, Some(label)) => loops += i32::from(placed.contains(&label)),
                (Flow::Structured(visakit_isa::semantics::Structure::While), _) => loops += 1,
                _ => {}
            }
        }
        let native = self.routine.binaries.iter();
        let native_bytes = native.clone().map(|binary| match &binary.code {
            NativeCode::Bytes(bytes) => long(bytes.len()),
            NativeCode::Placeholder { .. } => 0,
        });
        let features = fingerprint::features(body, self.format);
        let minhash = fingerprint::minhash(&features).map(u32::cast_signed);
        let own = body.variables.iter().filter(|v| !v.is_alias());
        tables.routines.push(RoutineRow {
            object: self.object,
            routine: self.number,
            kind: Name(self.id.kind.name()),
            name: &self.routine.display_name(),
            offset: place.map(|place| place.offset.into()),
            bytes: place.map(|place| place.size.into()),
            instructions: count,
            variables: int(body.variables.len()),
            variable_bytes: own.map(|v| i64::from(v.size())).sum(),
            inputs: int(body.inputs.len()),
            exec_size,
            simd_size: number("SimdSize"),
            slm_bytes: number("SLMSize"),
            barriers,
            messages,
            calls,
            loops,
            native_bytes: native_bytes.sum(),
            platform: native
                .filter_map(|b| b.platform.platform())
                .map(|p: Platform| Name(p.name()))
                .next(),
            flow_hash: fingerprint::flow_hash(body).cast_signed(),
            text_hash: fingerprint::code(body, self.format).1.cast_signed(),
            minhash: &minhash,
        });
    }

    fn instructions(&self, body: &Body<'_>, tables: &mut Tables) {
        let reader = self.container.and_then(|c| c.routine(self.id).ok());
        // An object that was changed or made has no places.
        let mut places =
            reader.map(|reader| reader.with_dialect(self.format.dialect()).instructions());
        let mut line = None;
        for (number, instruction) in body.instructions().enumerate() {
            let place = places
                .as_mut()
                .and_then(Iterator::next)
                .and_then(Result::ok);
            if place
                .as_ref()
                .is_none_or(|place| place.op() != instruction.op)
            {
                places = None;
            }
            let place = place.filter(|_| places.is_some());
            if let Some(Value::U32(now)) = instruction.get(FieldName::Line) {
                line = Some(int(*now));
            }
            let row = describe(instruction, body, self.format);
            tables.instructions.push(InstructionRow {
                object: self.object,
                routine: self.number,
                instruction: int(number),
                offset: place.as_ref().map(|place| long(place.offset())),
                bytes: place.as_ref().map(|place| int(place.len())),
                line,
                ..row
            });
        }
    }

    fn operands(&self, body: &Body<'_>, tables: &mut Tables) {
        for (number, instruction) in body.instructions().enumerate() {
            for (operand, (def, value)) in instruction.operands().enumerate() {
                let row = describe_operand(def, &value, body, self.format);
                tables.operands.push(OperandRow {
                    object: self.object,
                    routine: self.number,
                    instruction: int(number),
                    operand: int(operand),
                    ..row
                });
            }
        }
    }

    fn declaration<'n>(
        &self,
        kind: &'static str,
        index: usize,
        name: &'n str,
        elements: Option<u16>,
    ) -> DeclarationRow<'n> {
        DeclarationRow {
            object: self.object,
            routine: self.number,
            kind: Name(kind),
            index: int(index),
            name,
            ty: None,
            elements: elements.map(i32::from),
            bytes: None,
            alignment: None,
            alias: None,
            alias_offset: None,
        }
    }

    fn declarations(&self, body: &Body<'_>, tables: &mut Tables) {
        let name = |id| String::from_utf8_lossy(body.string(id).unwrap_or_default());
        let first = usize::try_from(self.format.predefined_variable_count()).unwrap_or(0);
        for (index, variable) in body.variables.iter().enumerate() {
            let text = name(variable.name);
            let alias = variable.is_alias();
            tables.declarations.push(DeclarationRow {
                ty: Some(Name(variable.properties.data_type().name())),
                bytes: Some(variable.size().into()),
                alignment: variable.properties.alignment().name().map(Name),
                alias: alias.then(|| int(variable.alias.0)),
                alias_offset: alias.then(|| variable.alias_offset.into()),
                ..self.declaration("general", index + first, &text, Some(variable.elements))
            });
        }
        let surfaces = usize::from(self.format.predefined_surface_count());
        for (kind, first, table) in [
            ("address", 0, &body.addresses),
            ("predicate", 1, &body.predicates),
            ("sampler", 0, &body.samplers),
            ("surface", surfaces, &body.surfaces),
        ] {
            for (index, declaration) in table.iter().enumerate() {
                let text = name(declaration.name);
                tables.declarations.push(self.declaration(
                    kind,
                    index + first,
                    &text,
                    Some(declaration.elements),
                ));
            }
        }
        for (index, label) in body.labels.iter().enumerate() {
            let text = name(label.name);
            tables
                .declarations
                .push(self.declaration("label", index, &text, None));
        }
    }

    fn inputs(&self, body: &Body<'_>, tables: &mut Tables) {
        for (number, input) in body.inputs.iter().enumerate() {
            tables.inputs.push(InputRow {
                object: self.object,
                routine: self.number,
                input: int(number),
                kind: Name(input.kind.class().name().unwrap_or("unknown")),
                implicit: input.kind.implicit_name().map(Name),
                index: int(input.index),
                offset: input.offset.into(),
                bytes: input.size.into(),
            });
        }
    }

    fn attributes(&self, body: &Body<'_>, tables: &mut Tables) {
        for attribute in &body.attributes {
            let name = body.string(attribute.name).unwrap_or_default();
            tables.attributes.push(AttributeRow {
                object: self.object,
                routine: self.number,
                name: &String::from_utf8_lossy(name),
                value: &String::from_utf8_lossy(&attribute.value),
                number: attribute.number().map(u64::cast_signed),
            });
        }
    }
}

fn label(instruction: &Instruction) -> Option<u16> {
    match instruction.get(FieldName::Label) {
        Some(Value::Label(label)) => Some(label.0),
        _ => None,
    }
}

/// Whether threads of a group wait for each other here.
fn is_barrier(instruction: &Instruction) -> bool {
    use visakit_isa::Op;
    matches!(instruction.op, Op::BARRIER | Op::NBARRIER | Op::SBARRIER)
}

fn findings(source: &Source<'_>, object: &Object<'_>, report: &Report, tables: &mut Tables) {
    let kernels = object.kernels.len();
    for finding in &report.findings {
        let routine = finding.location.routine.map(|id| match id.kind {
            RoutineKind::Kernel => int(id.index),
            RoutineKind::Function => int(kernels + id.index),
        });
        let instruction = match finding.location.scope {
            Scope::Instruction { number, .. } => Some(int(number)),
            _ => None,
        };
        tables.findings.push(FindingRow {
            object: key_of(&source.sha256),
            routine,
            instruction,
            rule: &finding.rule.id().to_string(),
            severity: Name(finding.rule.severity.name()),
            field: finding.location.field.map(|field| Name(field.name)),
            offset: finding.offset.map(long),
            message: &finding.message,
        });
    }
}
