//! An open file: its bytes, its object and its text.

use crate::Answer;
use crate::code::Piece;
use crate::kept::Kept;
use crate::units::{self, Units};
use serde_json::{Value as Json, json};
use std::ops::Range;
use std::path::PathBuf;
use visakit::isa::Platform;
use visakit::isa::object::{Object, Routine, RoutineId, RoutineKind};
use visakit::launch::{DataSection, DataSymbol, DumpedKernel, LaunchError, Source, ZeInfo, Zebin};
use visakit::parse::{Container, MAGIC, ReadOptions, read_with};
use visakit::text::{Form, Options, Printer};
use visakit_language::{CompletionKind, Document, Highlight, Settings, Severity};

/// Larger objects are shown and not edited: their text would be assembled after every keystroke.
const EDITABLE: usize = 512 << 10;

/// An open file.
#[derive(Debug)]
pub(crate) struct File {
    name: String,
    /// The object; of a text that does not assemble the last one that did.
    pub(crate) bytes: Vec<u8>,
    /// The content of the bytes.
    pub(crate) object: Object<'static>,
    /// The text, where it can be edited.
    pub(crate) document: Option<Document>,
    pub(crate) units: Units,
    /// Counts changes, to recognise outdated answers.
    version: u32,
    pub(crate) zeinfo: Option<ZeInfo>,
    pub(crate) data: Vec<DataSection>,
    pub(crate) symbols: Vec<DataSymbol>,
    grf_bytes: Option<u32>,
    /// Every line of the file ends with a carriage return and a line feed.
    crlf: bool,
    /// Why the file cannot be edited, and its faults.
    notes: Vec<String>,
    pub(crate) kept: Kept,
}

impl File {
    fn empty(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            bytes: Vec::new(),
            object: Object::new(visakit::Version::V4_1, visakit::Dialect::default()),
            document: None,
            units: Units::default(),
            version: 0,
            zeinfo: None,
            data: Vec::new(),
            symbols: Vec::new(),
            grf_bytes: None,
            crlf: false,
            notes: Vec::new(),
            kept: Kept::default(),
        }
    }

    pub(crate) fn open(name: &str, bytes: &[u8]) -> Result<Self, String> {
        let mut file = Self::empty(name);
        if bytes.starts_with(&MAGIC) {
            file.open_object(bytes)?;
        } else if bytes.starts_with(b"\x7fELF") {
            file.open_zebin(bytes)?;
        } else if bytes.iter().take(4096).any(|byte| *byte == 0) {
            return Err(format!(
                "{name} is neither an object (it would begin with `CISA`), nor a zebin (ELF), nor text"
            ));
        } else {
            let text = String::from_utf8_lossy(bytes).into_owned();
            file.set_text(text);
        }
        Ok(file)
    }

    fn open_object(&mut self, bytes: &[u8]) -> Result<(), String> {
        let lenient = ReadOptions {
            lenient: true,
            ..ReadOptions::default()
        };
        let decoded = read_with(bytes, lenient).map_err(|e| format!("{}: {e}", self.name))?;
        self.bytes = bytes.to_vec();
        if !decoded.errors.is_empty() {
            let faults = decoded.errors.iter().take(100);
            self.notes
                .push("the object is damaged, so that it is shown only".to_owned());
            self.notes.extend(faults.map(ToString::to_string));
        }
        self.object = decoded.object.into_owned();
        if !self.notes.is_empty() {
            return Ok(());
        }
        if bytes.len() > EDITABLE {
            let limit = EDITABLE >> 10;
            self.notes
                .push(format!("larger than {limit} KiB, so that it is shown only"));
            return Ok(());
        }
        let document = self.new_document(exact(&self.object));
        if document.analysis().assembles()
            && visakit::write(document.analysis().object()).as_deref() == Ok(bytes)
        {
            self.set_document(document);
        } else {
            self.notes.push(
                "its text does not make the same bytes again, so that it is shown only".to_owned(),
            );
        }
        Ok(())
    }

    /// A kernel of a folder that a compiler dumped into.
    pub(crate) fn of_dump(kernel: DumpedKernel) -> Result<Self, String> {
        let mut file = Self::empty(&format!("{}.visaasm", kernel.name));
        if let Some(metadata) = kernel.metadata {
            file.zeinfo = Some(metadata.zeinfo);
            if let Some(zebin) = metadata.zebin {
                file.data = zebin.data;
                file.symbols = zebin.symbols;
                file.grf_bytes = zebin.grf_bytes;
            }
        }
        file.link(&kernel.sources).map_err(|e| e.to_string())?;
        Ok(file)
    }

    /// The text of a routine, or of several linked ones.
    fn link(&mut self, texts: &[Source]) -> Result<(), LaunchError> {
        if let [only] = texts
            && !only.is_object()
        {
            let text = String::from_utf8_lossy(&only.bytes).into_owned();
            self.set_text(text);
            return Ok(());
        }
        let object = Source::link(texts, self.grf_bytes.unwrap_or(32))?;
        self.set_text(exact(&object));
        Ok(())
    }

    fn open_zebin(&mut self, bytes: &[u8]) -> Result<(), String> {
        let zebin = Zebin::parse(bytes).map_err(|e| e.to_string())?;
        self.zeinfo = Some(ZeInfo::parse(&zebin.zeinfo).map_err(|e| e.to_string())?);
        self.data = zebin.data;
        self.symbols = zebin.symbols;
        self.grf_bytes = zebin.grf_bytes;
        let texts = zebin.texts.into_iter().map(|(name, bytes)| Source {
            path: PathBuf::from(name),
            bytes,
        });
        let texts: Vec<Source> = texts.collect();
        self.link(&texts).map_err(|error| {
            format!(
                "{}: {error}; a zebin has vISA text in it where it was compiled with IGC_DumpVISAASMToConsole or -dumpvisa",
                self.name
            )
        })
    }

    fn new_document(&self, text: String) -> Document {
        let mut settings = Settings::default();
        if let Some(grf) = self.grf_bytes {
            // Any platform with registers of that size; the text may name another.
            let newest = if grf == 64 { "pvc" } else { "dg2" };
            settings.platform = Platform::from_name(newest);
        }
        Document::with_settings(text, settings)
    }

    /// In browsers every line ends with one character. Texts that have two everywhere get them back where they are
    /// saved.
    fn set_text(&mut self, text: String) {
        let returns = text.matches("\r\n").count();
        self.crlf = returns > 0 && returns == text.matches('\n').count();
        let text = if returns > 0 {
            text.replace("\r\n", "\n")
        } else {
            text
        };
        let document = self.new_document(text);
        self.set_document(document);
    }

    fn set_document(&mut self, document: Document) {
        self.units = Units::of(document.text());
        self.document = Some(document);
        self.take_over();
    }

    /// Updates object and bytes from the text, if it assembles.
    fn take_over(&mut self) {
        self.version += 1;
        let Some(document) = &self.document else {
            return;
        };
        let analysis = document.analysis();
        if !analysis.assembles() {
            return;
        }
        self.notes.clear();
        match visakit::write(analysis.object()) {
            Ok(bytes) => {
                self.bytes = bytes;
                self.kept = Kept::default();
            }
            Err(error) => self.notes.push(format!("has no bytes: {error}")),
        }
        self.object.clone_from(analysis.object());
    }

    pub(crate) fn edit(&mut self, text: &str) -> Answer {
        let document = self.document.as_mut().ok_or("the file is shown only")?;
        let (front, back) = units::common(document.text(), text);
        let old = front..document.text().len() - back;
        let with = text.get(front..text.len() - back).unwrap_or_default();
        document.edit(old, with).map_err(|e| e.to_string())?;
        self.units = Units::of(text);
        self.take_over();
        Ok(self.status())
    }

    /// Adds the metadata that kernels are started by.
    pub(crate) fn attach(&mut self, text: &str) -> Answer {
        self.zeinfo = Some(ZeInfo::parse(text).map_err(|e| e.to_string())?);
        Ok(self.summary())
    }

    pub(crate) fn set_platform(&mut self, name: &str) -> Answer {
        let platform = match name {
            "" => None,
            name => Some(Platform::from_name(name).ok_or_else(|| format!("no platform `{name}`"))?),
        };
        if let Some(document) = &mut self.document {
            document.set_settings(Settings { platform });
            self.take_over();
        }
        Ok(self.status())
    }

    pub(crate) fn grf_bytes(&self) -> u32 {
        let platform = self.document.as_ref().and_then(Document::platform);
        let object = || self.object.kernels.iter().find_map(visakit_grf);
        let named = platform.map(Platform::grf_bytes);
        self.grf_bytes.or(named).or_else(object).unwrap_or(32)
    }

    /// The routine of a number: kernels first.
    pub(crate) fn id(&self, routine: usize) -> Result<RoutineId, String> {
        let kernels = self.object.kernels.len();
        let id = match routine.checked_sub(kernels) {
            None => RoutineId::new(RoutineKind::Kernel, routine),
            Some(index) => RoutineId::new(RoutineKind::Function, index),
        };
        let found = self.object.routine(id).map(|_| id);
        found.ok_or_else(|| format!("there is no routine {routine}"))
    }

    pub(crate) fn number_of(&self, id: RoutineId) -> usize {
        match id.kind {
            RoutineKind::Kernel => id.index,
            RoutineKind::Function => self.object.kernels.len() + id.index,
        }
    }

    pub(crate) fn container(&self) -> Option<Container<'_>> {
        let container = Container::parse(&self.bytes).ok()?;
        Some(container.with_dialect(self.object.dialect))
    }

    /// A description of the file; its text is requested separately.
    pub(crate) fn summary(&self) -> Json {
        let mut all = self.status();
        if let Some(all) = all.as_object_mut() {
            all.insert("name".to_owned(), json!(self.name));
            all.insert("editable".to_owned(), json!(self.document.is_some()));
            all.insert("metadata".to_owned(), json!(self.zeinfo.is_some()));
            all.insert("crlf".to_owned(), json!(self.crlf));
        }
        all
    }

    /// The properties that change with the text.
    fn status(&self) -> Json {
        let container = self.container();
        let routines = self.object.routines().map(|(id, routine)| {
            let place = container.as_ref().and_then(|c| c.extent(id));
            json!({
                "kind": id.kind.name(),
                "name": routine.display_name(),
                "offset": place.map_or(0, |p| p.offset),
                "size": place.map_or(0, |p| p.size),
                "instructions": routine.body().map_or(0, |b| b.code.len()),
            })
        });
        let document = self.document.as_ref();
        json!({
            "version": self.version,
            "format": self.object.version.to_string(),
            "dialect": self.object.dialect.to_string(),
            "platform": document.and_then(Document::platform).map(Platform::name),
            "assembles": document.is_none_or(|d| d.analysis().assembles()),
            "size": self.bytes.len(),
            "routines": routines.collect::<Vec<_>>(),
            "problems": self.problems(),
            "notes": self.notes,
        })
    }

    /// Everything that is wrong with the text, with places in units.
    pub(crate) fn problems(&self) -> Json {
        let Some(document) = &self.document else {
            return json!([]);
        };
        let units = &self.units;
        let problems = document.problems().iter().map(|p| {
            let fix = p.fix.as_ref().map(|fix| {
                json!({
                    "title": fix.title,
                    "from": units.units(fix.edit.range.start),
                    "to": units.units(fix.edit.range.end),
                    "text": fix.edit.text,
                })
            });
            json!({
                "from": units.units(p.span.start),
                "to": units.units(p.span.end),
                "line": document.line_at(p.span.start) + 1,
                "severity": match p.severity {
                    Severity::Error => "error",
                    Severity::Warning => "warning",
                },
                "rule": p.rule,
                "message": p.message,
                "help": p.help,
                "fix": fix,
            })
        });
        Json::Array(problems.collect())
    }

    /// Pieces of some lines that have a colour: from, to and class. Of a file that is not edited they are lines of the
    /// routine that is shown.
    pub(crate) fn highlights(&self, routine: usize, lines: Range<usize>) -> Answer {
        let units = &self.units;
        let pieces: Vec<Piece> = match &self.document {
            Some(document) => {
                let pieces = document.highlights(lines).into_iter();
                let place = |at| units.units(at);
                let pieces = pieces.map(|(s, class)| (place(s.start), place(s.end), class));
                pieces.collect()
            }
            None => self.printed(routine).highlights(lines),
        };
        let pieces = pieces.into_iter();
        let pieces = pieces.map(|(from, to, class)| json!([from, to, class_name(class)]));
        Ok(json!({ "version": self.version, "pieces": pieces.collect::<Vec<_>>() }))
    }

    fn edited(&self) -> Result<&Document, String> {
        self.document
            .as_ref()
            .ok_or_else(|| "the file is shown only".to_owned())
    }

    pub(crate) fn hover(&self, at: usize) -> Answer {
        let hover = self.edited()?.hover(self.units.bytes(at));
        Ok(hover.map_or(Json::Null, |hover| {
            json!({
                "from": self.units.units(hover.span.start),
                "to": self.units.units(hover.span.end),
                "markdown": hover.markdown,
            })
        }))
    }

    pub(crate) fn definition(&self, at: usize) -> Answer {
        let definition = self.edited()?.definition(self.units.bytes(at));
        Ok(definition.map_or(Json::Null, |d| {
            json!([self.units.units(d.name.start), self.units.units(d.name.end)])
        }))
    }

    pub(crate) fn complete(&self, at: usize) -> Answer {
        let (range, list) = self.edited()?.complete(self.units.bytes(at));
        let list = list.iter().take(300).map(|c| {
            let kind = match c.kind {
                CompletionKind::Mnemonic => "function",
                CompletionKind::Modifier | CompletionKind::Mask => "enum",
                CompletionKind::Name(_) => "variable",
                CompletionKind::Predefined => "constant",
                CompletionKind::Directive => "keyword",
                CompletionKind::Property => "property",
                CompletionKind::Type => "type",
            };
            json!({ "label": c.label, "type": kind, "detail": c.detail })
        });
        Ok(json!({
            "from": self.units.units(range.start),
            "to": self.units.units(range.end),
            "options": list.collect::<Vec<_>>(),
        }))
    }

    /// Changes that bring the text into the form of the printer, in text order.
    pub(crate) fn format(&self) -> Answer {
        let edits = self.edited()?.format();
        let edits = edits.iter().map(|edit| {
            json!({
                "from": self.units.units(edit.range.start),
                "to": self.units.units(edit.range.end),
                "insert": edit.text,
            })
        });
        Ok(Json::Array(edits.collect()))
    }

    /// The text of the object with other bytes at a place.
    pub(crate) fn patch(&self, offset: usize, hex: &str) -> Answer {
        self.edited()?;
        let digits: Vec<u32> = hex.chars().filter_map(|c| c.to_digit(16)).collect();
        let (pairs, rest) = digits.as_chunks::<2>();
        if !rest.is_empty() || digits.len() != hex.len() || pairs.is_empty() {
            return Err(format!("`{hex}` is no string of bytes in hex"));
        }
        let mut bytes = self.bytes.clone();
        let place = bytes.get_mut(offset..offset.saturating_add(pairs.len()));
        let place = place.ok_or("that place is outside of the file")?;
        for (byte, [high, low]) in place.iter_mut().zip(pairs) {
            *byte = u8::try_from(high << 4 | low).unwrap_or(0);
        }
        let object = visakit::read(&bytes)
            .map_err(|error| format!("with these bytes the object could not be read: {error}"))?;
        let text = exact(&object);
        let again = Document::new(text.clone());
        if again.analysis().assembles() {
            return Ok(json!(text));
        }
        let problem = again.problems().first().map(|p| p.message.clone());
        let problem = problem.unwrap_or_default();
        Err(format!(
            "with these bytes the object has no text: {problem}"
        ))
    }
}

fn visakit_grf(kernel: &Routine<'_>) -> Option<u32> {
    visakit::launch::grf_bytes_of(kernel)
}

/// The text that says everything of an object.
fn exact(object: &Object<'_>) -> String {
    let options = Options {
        form: Form::Exact,
        ..Options::default()
    };
    let mut text = Vec::new();
    let Ok(()) = Printer::new(object, options).object(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

const fn class_name(class: Highlight) -> &'static str {
    match class {
        Highlight::Comment => "comment",
        Highlight::Directive => "directive",
        Highlight::Mnemonic => "mnemonic",
        Highlight::Label => "label",
        Highlight::Function => "function",
        Highlight::Variable => "variable",
        Highlight::Predicate => "predicate",
        Highlight::Resource => "resource",
        Highlight::Predefined => "predefined",
        Highlight::Property => "property",
        Highlight::Number => "number",
        Highlight::Type => "type",
        Highlight::String => "string",
    }
}
