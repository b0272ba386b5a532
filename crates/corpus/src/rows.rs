//! Fills the tables from objects.

use crate::column::Name;
use crate::describe::{describe, describe_operand};
use crate::fingerprint::minhash;
use crate::schema::{
    AttributeRow, DeclarationRow, FindingRow, InputRow, InstructionRow, ObjectRow, OperandRow,
    RoutineRow, Select, Tables,
};
use hashbrown::HashSet;
use sha2::{Digest, Sha256};
use visakit_isa::object::{Attribute, Body, NativeCode, Object, Routine, RoutineId, RoutineKind};
use visakit_isa::semantics::Flow;
use visakit_isa::{AnyInstruction, Dialect, FieldName, Format, Instruction, Op, Platform, Value};
use visakit_parse::{Container, Error, Extent, ExtentId, ReadOptions, read_with};
use visakit_validate::{Options, Report, Scope};

/// A file.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The path where it was found.
    pub path: &'a str,
    /// Its content.
    pub bytes: &'a [u8],
    /// SHA-256 of the content.
    pub sha256: [u8; 32],
    /// Dialect of a binary object. If `None`, it is determined.
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
    let digit = |number: u8| char::from_digit(number.into(), 16).unwrap_or('0');
    let digits = |byte: &u8| [digit(byte >> 4), digit(byte & 0xf)];
    sha256.iter().flat_map(digits).collect()
}

/// Adds the rows of a binary object, which is read leniently.
///
/// # Errors
/// Nothing can be read; the row of `objects` states this too.
pub fn fill(source: &Source<'_>, select: Select, tables: &mut Tables) -> Result<(), Error> {
    // Only findings need the whole object at once, and only unsound objects need lenient reading.
    if !select.findings {
        let before = tables.lengths();
        if stream(source, select, tables).is_ok() {
            return Ok(());
        }
        tables.truncate(&before);
    }
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

/// Adds the rows of a sound object, one instruction at a time without keeping them. If the object is not sound, the
/// caller has to remove the rows added so far.
fn stream(source: &Source<'_>, select: Select, tables: &mut Tables) -> Result<(), Error> {
    let container = Container::parse(source.bytes)?;
    let readers = container.sound_routines()?;
    let header = container.header();
    let mut native_bytes = vec![0; header.kernels.len()];
    for extent in container.extents() {
        if let ExtentId::Binary { kernel, .. } = extent.id
            && !container.is_placeholder(extent)
            && let Some(bytes) = native_bytes.get_mut(kernel)
        {
            *bytes += i64::from(extent.size);
        }
    }
    let mut summary = Summary::default();
    let mut instruction = Instruction::new(Op::LABEL);
    for (number, reader) in readers.into_iter().enumerate() {
        let reader = match source.dialect {
            Some(dialect) => reader.with_dialect(dialect),
            None => reader,
        };
        let Some(entry) = container.entry(reader.id()) else {
            continue;
        };
        let kernel = reader.id().kind == RoutineKind::Kernel;
        let mut rows = Rows {
            object: key_of(&source.sha256),
            number: int(number),
            id: reader.id(),
            entry,
            body: reader.tables(),
            format: reader.format(),
            place: container.extent(reader.id()),
            native_bytes: native_bytes
                .get(reader.id().index)
                .filter(|_| kernel)
                .map_or(0, |bytes| *bytes),
            select,
            instructions: 0,
            line: None,
        };
        let mut instructions = reader.instructions();
        rows.begin(tables);
        while let Some(next) = instructions.next_into(&mut instruction) {
            let next = next?;
            let place = Some((next.offset(), next.len()));
            rows.instruction(&instruction, place, &mut summary, tables);
        }
        rows.end(&mut summary, tables);
    }
    let dialect = source.dialect.unwrap_or(header.dialect);
    summary.object_row(source, header, ("binary", dialect, 0), select, tables);
    Ok(())
}

/// Adds the rows of an object that is not stored in the file verbatim: texts, and files that contain texts. Its parts
/// have no offsets.
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

/// The row of a file about which nothing is known yet.
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
    /// Where its parts are in the file, if they are.
    container: Option<Container<'a>>,
    faults: usize,
}

impl Read<'_> {
    fn fill(&self, source: &Source<'_>, select: Select, tables: &mut Tables) {
        let object = self.object;
        let mut summary = Summary::default();
        let nothing = Body::default();
        for (number, (id, routine)) in object.routines().enumerate() {
            let native = routine.binaries.iter().map(|binary| match &binary.code {
                NativeCode::Bytes(bytes) => long(bytes.len()),
                NativeCode::Placeholder { .. } => 0,
            });
            let mut rows = Rows {
                object: key_of(&source.sha256),
                number: int(number),
                id,
                entry: routine,
                body: routine.body().unwrap_or(&nothing),
                format: object.format(),
                place: self.container.as_ref().and_then(|c| c.extent(id)),
                native_bytes: native.sum(),
                select,
                instructions: 0,
                line: None,
            };
            let container = self.container.as_ref();
            let reader = container.and_then(|c| c.routine(id).ok());
            // An object that was changed or generated has no places.
            let mut places =
                reader.map(|reader| reader.with_dialect(object.dialect).instructions());
            rows.begin(tables);
            for instruction in rows.body.instructions() {
                let place = places
                    .as_mut()
                    .and_then(Iterator::next)
                    .and_then(Result::ok)
                    .filter(|place| place.op() == instruction.op);
                if place.is_none() {
                    places = None;
                }
                let place = place.map(|place| (place.offset(), place.len()));
                rows.instruction(instruction, place, &mut summary, tables);
            }
            rows.end(&mut summary, tables);
        }
        let read = (self.form, object.dialect, self.faults);
        summary.object_row(source, object, read, select, tables);
    }
}

/// What the row of an object gathers from its routines.
#[derive(Default)]
struct Summary {
    instructions: i64,
    /// The files that debug information names, and the paths that compilers leave in attributes, each once.
    paths: Vec<String>,
    known: HashSet<String>,
}

impl Summary {
    fn path(&mut self, path: &[u8]) {
        let path = String::from_utf8_lossy(path);
        if !path.is_empty() && !self.known.contains(path.as_ref()) {
            self.known.insert(path.clone().into_owned());
            self.paths.push(path.into_owned());
        }
    }

    fn object_row(
        &self,
        source: &Source<'_>,
        object: &Object<'_>,
        (form, dialect, faults): (&'static str, Dialect, usize),
        select: Select,
        tables: &mut Tables,
    ) {
        if !select.objects {
            return;
        }
        let paths = self.paths.join("\n");
        tables.objects.push(ObjectRow {
            form: Some(Name(form)),
            version: Some(&object.version.to_string()),
            dialect: Some(Name(dialect.name())),
            kernels: int(object.kernels.len()),
            functions: int(object.functions.len()),
            instructions: self.instructions,
            faults: int(faults),
            compiler: Some(paths.as_str()).filter(|paths| !paths.is_empty()),
            ..object_row(source, &sha256_hex(&source.sha256))
        });
    }
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
    /// Its entry in the header.
    entry: &'a Routine<'a>,
    body: &'a Body<'a>,
    format: Format,
    place: Option<&'a Extent>,
    native_bytes: i64,
    select: Select,
    /// Instructions so far.
    instructions: i32,
    /// The source line that they were generated from.
    line: Option<i32>,
}

impl Rows<'_> {
    fn begin(&self, tables: &mut Tables) {
        if self.select.routines {
            tables.scan.begin(self.body, self.format);
        }
    }

    /// The next instruction; `place` is its offset in the file and its number of bytes.
    #[inline]
    fn instruction(
        &mut self,
        instruction: &Instruction,
        place: Option<(u64, usize)>,
        summary: &mut Summary,
        tables: &mut Tables,
    ) {
        if instruction.def().flow == Flow::Marker {
            match instruction.get(FieldName::FileName) {
                Some(Value::String(name)) if self.select.objects => {
                    summary.path(self.body.string(*name).unwrap_or_default());
                }
                _ => {}
            }
            if let Some(Value::U32(line)) = instruction.get(FieldName::Line) {
                self.line = Some(int(*line));
            }
        }
        if self.select.routines {
            let scan = &mut tables.scan;
            scan.instruction(instruction, self.body, self.format);
        }
        if self.select.instructions {
            tables.instructions.push(InstructionRow {
                object: self.object,
                routine: self.number,
                instruction: self.instructions,
                offset: place.map(|(offset, _)| long(offset)),
                bytes: place.map(|(_, bytes)| int(bytes)),
                line: self.line,
                ..describe(instruction, self.body, self.format)
            });
        }
        if self.select.operands {
            for (operand, (def, value)) in (0..).zip(instruction.operands()) {
                tables.operands.push(OperandRow {
                    object: self.object,
                    routine: self.number,
                    instruction: self.instructions,
                    operand,
                    ..describe_operand(def, &value, self.body, self.format)
                });
            }
        }
        self.instructions = self.instructions.saturating_add(1);
    }

    /// Fills in what is known after all instructions.
    fn end(&self, summary: &mut Summary, tables: &mut Tables) {
        summary.instructions += i64::from(self.instructions);
        if self.select.objects {
            for name in Attribute::PATHS {
                if let Some(attribute) = self.body.attribute(name) {
                    summary.path(&attribute.value);
                }
            }
        }
        if self.select.routines {
            self.routine_row(tables);
        }
        if self.select.declarations {
            self.declarations(tables);
        }
        if self.select.inputs {
            self.inputs(tables);
        }
        if self.select.attributes {
            self.attributes(tables);
        }
    }

    fn routine_row(&self, tables: &mut Tables) {
        let (body, scan) = (self.body, &tables.scan);
        let number = |name| {
            let number = body.attribute(name).and_then(Attribute::number);
            number.and_then(|n| i32::try_from(n).ok())
        };
        let counts = scan.counts();
        let minhash = minhash(scan.features()).map(u32::cast_signed);
        let own = body.variables.iter().filter(|v| !v.is_alias());
        let mut platforms = self.entry.binaries.iter().map(|b| b.platform.platform());
        tables.routines.push(RoutineRow {
            object: self.object,
            routine: self.number,
            kind: Name(self.id.kind.name()),
            name: &self.entry.display_name(),
            offset: self.place.map(|place| place.offset.into()),
            bytes: self.place.map(|place| place.size.into()),
            instructions: self.instructions,
            variables: int(body.variables.len()),
            variable_bytes: own.map(|v| i64::from(v.size())).sum(),
            inputs: int(body.inputs.len()),
            exec_size: counts.exec_size,
            simd_size: number("SimdSize"),
            slm_bytes: number("SLMSize"),
            barriers: counts.barriers,
            messages: counts.messages,
            calls: counts.calls,
            loops: counts.loops,
            native_bytes: self.native_bytes,
            platform: platforms
                .find_map(|platform| platform)
                .map(|platform: Platform| Name(platform.name())),
            flow_hash: scan.flow().cast_signed(),
            text_hash: scan.text().cast_signed(),
            minhash: &minhash,
        });
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

    fn declarations(&self, tables: &mut Tables) {
        let body = self.body;
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

    fn inputs(&self, tables: &mut Tables) {
        let body = self.body;
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

    fn attributes(&self, tables: &mut Tables) {
        let body = self.body;
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
