//! Fills the tables from objects.

use crate::column::Name;
use crate::fingerprint::{self, operand_type, type_of};
use crate::names;
use crate::schema::{
    AttributeRow, DeclarationRow, FindingRow, InputRow, InstructionRow, ObjectRow, OperandRow,
    RoutineRow, Select, Tables,
};
use sha2::{Digest, Sha256};
use visakit_isa::object::{Body, NativeCode, Object, Routine, RoutineId, RoutineKind};
use visakit_isa::operand::{ImmediateValue, Modifier, Predicate, Region, StateClass};
use visakit_isa::semantics::{AddressSpace, Flow};
use visakit_isa::table::FieldDef;
use visakit_isa::{
    AnyInstruction, DataType, FieldName, Format, Instruction, Platform, Value, VectorOperand,
};
use visakit_parse::{Container, Decoded, ReadOptions, read_with};
use visakit_validate::Scope;

/// A file.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Where it was found.
    pub path: &'a str,
    /// Its content.
    pub bytes: &'a [u8],
    /// SHA-256 of the content.
    pub sha256: [u8; 32],
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

/// Adds the rows of a file. What cannot be decoded is told in its row of `objects`; the rest is there.
pub fn fill(source: &Source<'_>, select: Select, tables: &mut Tables) {
    let options = ReadOptions {
        lenient: true,
        dialect: None,
    };
    let decoded = read_with(source.bytes, options);
    let error = decoded.as_ref().err().map(ToString::to_string);
    let object = key_of(&source.sha256);
    if select.objects {
        let object_of = decoded.as_ref().ok().map(|decoded| &decoded.object);
        let version = object_of.map(|o| o.version.to_string());
        let paths = object_of.map(paths).filter(|paths| !paths.is_empty());
        let count = |count: fn(&Object<'_>) -> usize| object_of.map_or(0, |o| int(count(o)));
        tables.objects.push(ObjectRow {
            object,
            sha256: &sha256_hex(&source.sha256),
            path: source.path,
            bytes: long(source.bytes.len()),
            version: version.as_deref(),
            dialect: object_of.map(|o| Name(o.dialect.name())),
            kernels: count(|o| o.kernels.len()),
            functions: count(|o| o.functions.len()),
            instructions: object_of.map_or(0, |o| {
                let bodies = o.routines().filter_map(|(_, routine)| routine.body());
                long(
                    bodies
                        .map(|body| body.instructions().count())
                        .sum::<usize>(),
                )
            }),
            faults: decoded
                .as_ref()
                .map_or(0, |decoded| int(decoded.errors.len())),
            error: error.as_deref(),
            compiler: paths.as_deref(),
        });
    }
    let Ok(decoded) = decoded else {
        return;
    };
    let container = Container::parse(source.bytes).ok();
    for (number, (id, routine)) in decoded.object.routines().enumerate() {
        Rows {
            object,
            number: int(number),
            id,
            routine,
            format: decoded.object.format(),
            container: container.as_ref(),
        }
        .fill(select, tables);
    }
    if select.findings {
        findings(source, &decoded, object, tables);
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

/// What an instruction alone tells; its place is not filled in.
#[must_use]
pub fn describe(instruction: &Instruction, body: &Body<'_>, format: Format) -> InstructionRow {
    let def = instruction.def();
    let flow = instruction.flow();
    // A field would be sought in vain in most instructions.
    let memory = def.memory.and_then(|_| instruction.memory());
    let (mut exec_size, mut predicate, mut label, mut saturate) = (None, None, None, false);
    let (mut destination, mut source) = (None, None);
    for field in &instruction.fields {
        match field.value {
            Value::ExecSize(size) => exec_size = Some(size),
            Value::Predicate(word) if !word.is_none() => predicate = Some(word),
            Value::Label(id) => label = label.or(Some(i32::from(id.0))),
            Value::Vector(operand) => {
                let place = if field.name.is_destination() {
                    saturate |= operand.modifier() == Modifier::SAT;
                    &mut destination
                } else {
                    &mut source
                };
                if place.is_none() {
                    *place = operand_type(body, format, &operand);
                }
            }
            _ => {}
        }
    }
    let named = |name| match instruction.value(name) {
        Some(Value::U8(byte)) => {
            let field = def.fields.iter().find(|field| field.name == name);
            field
                .and_then(|field| field.enumeration?.name_of(byte))
                .map(Name)
        }
        _ => None,
    };
    let (cache_l1, cache_l3) = match memory {
        Some(_) => (named(FieldName::CacheL1), named(FieldName::CacheL3)),
        None => (None, None),
    };
    InstructionRow {
        object: 0,
        routine: 0,
        instruction: 0,
        offset: None,
        bytes: None,
        name: Name(def.name),
        mnemonic: Name(def.mnemonic()),
        opcode: instruction.op.opcode().into(),
        sub_op: def.sub_op.map(i32::from),
        group: Name(def.group.name()),
        exec_size: exec_size
            .and_then(visakit_isa::ExecSize::lanes)
            .map(i32::from),
        mask: exec_size
            .and_then(|size| size.mask(format))
            .map(|mask| Name(names::mask(mask))),
        predicate: predicate.map(|p| p.id().0.into()),
        inverted: predicate.is_some_and(Predicate::is_inverted),
        combine: predicate.map(|p| Name(names::combine(p.combine()))),
        ty: destination.or(source).map(|ty: DataType| Name(ty.name())),
        saturate,
        flow: Name(names::flow(flow.flow)),
        diverges: flow.diverges,
        label,
        memory: memory.map(|m| Name(names::action(m.action))),
        space: memory.map(|m| Name(names::space(m.space))),
        surface: memory.and_then(|m| match m.space {
            AddressSpace::Surface(surface) => Some(surface.0.into()),
            _ => None,
        }),
        layout: memory.map(|m| Name(names::layout(m.layout))),
        element_bytes: memory.and_then(|m| m.element_bytes).map(int),
        elements: memory.and_then(|m| m.elements).map(int),
        address_bits: memory.and_then(|m| m.address_bits).map(i32::from),
        access_bytes: memory.and_then(|m| m.bytes()).map(int),
        cache_l1,
        cache_l3,
        line: None,
    }
}

/// Vertical stride, width and horizontal stride in elements, where they are given.
fn region(region: Region, row: &mut OperandRow) {
    row.vertical = region.vertical_stride().elements().map(i32::from);
    row.width = region.width().elements().map(i32::from);
    row.horizontal = region.horizontal_stride().elements().map(i32::from);
}

/// What a field of an instruction tells; its place is not filled in.
#[must_use]
pub fn describe_operand(
    def: &FieldDef,
    value: &Value,
    body: &Body<'_>,
    format: Format,
) -> OperandRow {
    let mut row = OperandRow {
        object: 0,
        routine: 0,
        instruction: 0,
        operand: 0,
        field: Name(def.name.as_str()),
        role: Name(names::role(def.role)),
        class: Name(names::class(value)),
        ty: None,
        modifier: None,
        index: None,
        row: None,
        column: None,
        vertical: None,
        width: None,
        horizontal: None,
        value: None,
        number: None,
        value_name: None,
    };
    operand_row(body, format, value, &mut row);
    if let (Some(enumeration), Value::U8(byte)) = (def.enumeration, value) {
        row.value_name = enumeration.name_of(*byte).map(Name);
    }
    row
}

fn operand_row(body: &Body<'_>, format: Format, value: &Value, row: &mut OperandRow) {
    match value {
        Value::Vector(operand) => {
            row.ty = operand_type(body, format, operand).map(|ty| Name(ty.name()));
            row.modifier = names::modifier(operand.modifier()).map(Name);
            match operand {
                VectorOperand::General(o) => {
                    row.index = Some(int(o.variable.0));
                    row.row = Some(o.row.into());
                    row.column = Some(o.column.into());
                    region(o.region, row);
                }
                VectorOperand::Address(o) => {
                    row.index = Some(o.address.0.into());
                    row.row = Some(o.offset.into());
                    row.width = 1i32.checked_shl(o.width.into());
                }
                VectorOperand::Predicate(o) => row.index = Some(o.predicate.id().0.into()),
                VectorOperand::Indirect(o) => {
                    row.index = Some(o.address.0.into());
                    row.row = Some(o.address_offset.into());
                    row.column = Some(o.offset.into());
                    region(o.region, row);
                }
                VectorOperand::Immediate(o) => match o.value() {
                    // Bits of unsigned ones of 64 bits are kept.
                    ImmediateValue::Integer(_) if o.data_type() == DataType::Uq => {
                        row.value = Some(o.bits().cast_signed());
                    }
                    ImmediateValue::Integer(n) => row.value = i64::try_from(n).ok(),
                    ImmediateValue::Float(n) => row.number = Some(n),
                    ImmediateValue::Packed(n) => row.value = Some(n.into()),
                },
                VectorOperand::State(o) => {
                    row.index = Some(o.index.into());
                    row.row = Some(o.offset.into());
                    let surface = o.class == StateClass::SURFACE;
                    row.class = Name(if surface { "surface" } else { "sampler" });
                }
            }
        }
        Value::Raw(o) => {
            row.ty = type_of(body, format, o.variable).map(|ty| Name(ty.name()));
            row.index = Some(int(o.variable.0));
            row.column = Some(o.offset.into());
        }
        Value::Predicate(p) => row.index = Some(p.id().0.into()),
        Value::ExecSize(size) => row.value = size.lanes().map(i64::from),
        Value::U8(_) | Value::U16(_) | Value::U32(_) | Value::I32(_) => {
            row.value = value.as_number();
        }
        Value::Label(id) => row.index = Some(id.0.into()),
        Value::String(id) => row.index = Some(int(id.0)),
        Value::Surface(id) => row.index = Some(id.0.into()),
        Value::Sampler(id) => row.index = Some(id.0.into()),
        Value::Lifetime(id) => row.index = Some(int(id.0)),
        Value::ElementCount(count) => row.value = count.lanes().map(i64::from),
        Value::SamplerOp(op) => row.value = Some(op.bits().into()),
    }
}

fn findings(source: &Source<'_>, decoded: &Decoded<'_>, object: i64, tables: &mut Tables) {
    let options = visakit_validate::Options::default();
    let report = visakit_validate::decoded_from(source.bytes, decoded, &options);
    let kernels = decoded.object.kernels.len();
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
            object,
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
