//! `VISAKIT_DUMP`: every launch as a case folder, which `visakit run --case` takes.

use crate::binary;
use crate::watch::{Ending, Launching, Watcher};
use serde_json::{Value, json};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use visakit_exec::memory::{Addressing, Filter};
use visakit_launch::{Argument, Compare, Element, ImageKind, Shared};

/// A folder for one launch.
#[derive(Debug)]
pub(crate) struct Dump {
    folder: PathBuf,
    /// The description, which gets its outputs when the launch has ended.
    case: Mutex<Value>,
}

/// Makes a case of every launch.
#[derive(Debug)]
pub(crate) struct Dumps {
    base: PathBuf,
}

impl Dumps {
    /// As the environment asks for it.
    pub(crate) fn asked() -> Option<Self> {
        let base = std::env::var_os("VISAKIT_DUMP").filter(|f| !f.is_empty())?;
        Some(Self { base: base.into() })
    }
}

impl Watcher for Dumps {
    fn launch(&self, launching: &Launching<'_>, go_on: &mut dyn FnMut() -> Ending) -> Ending {
        let dump = Dump::open(&self.base, launching);
        let ending = go_on();
        if let (Some(dump), Ok(_)) = (&dump, &ending) {
            dump.after(launching.arguments);
        }
        ending
    }
}

impl Dump {
    /// A folder for a launch, with its initial state.
    pub(crate) fn open(base: &Path, launching: &Launching<'_>) -> Option<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let kernel = &launching.kernel.name;
        loop {
            let number = NUMBER.fetch_add(1, Relaxed);
            let plain = kernel
                .chars()
                .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
            let folder = base.join(format!(
                "{number:05}-{}",
                plain.take(80).collect::<String>()
            ));
            let made = fs::create_dir_all(base).and_then(|()| fs::create_dir(&folder));
            match made {
                Ok(()) => {
                    let dump = Self {
                        folder,
                        case: Mutex::new(Value::Null),
                    };
                    dump.before(launching);
                    return Some(dump);
                }
                // Another process, or an earlier run.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    crate::say(&format!("VISAKIT_DUMP: {}: {error}", folder.display()));
                    return None;
                }
            }
        }
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        if let Err(error) = visakit_files::write(&self.folder.join(name), bytes) {
            crate::say(&format!(
                "VISAKIT_DUMP: {}/{name}: {error}",
                self.folder.display()
            ));
        }
    }

    /// Its path.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Takes it away again.
    pub(crate) fn remove(self) {
        if let Err(error) = fs::remove_dir_all(&self.folder) {
            crate::say(&format!("{}: {error}", self.folder.display()));
        }
    }

    /// Writes the initial state of the launch.
    fn before(&self, launching: &Launching<'_>) {
        let Launching {
            binary,
            arguments,
            range,
            ..
        } = launching;
        let kernel = &launching.kernel.name;
        let mut texts = Vec::new();
        for (index, text) in binary.texts(kernel).iter().enumerate() {
            let name = if index == 0 {
                "k.visaasm".to_owned()
            } else {
                format!("f{}.visaasm", index - 1)
            };
            self.write(&name, &text.bytes);
            texts.push(name);
        }
        self.write("k.zeinfo", binary.zeinfo_text.as_bytes());
        let mut sections = Vec::new();
        for (index, (name, storage, address)) in binary.variables.sections().enumerate() {
            let file = format!("data{index}.bin");
            self.write(&file, &storage.read());
            sections.push(json!({"section": name, "file": file, "address": address}));
        }
        let symbols = binary.symbols.iter();
        let symbols =
            symbols.map(|s| json!({"name": s.name, "section": s.section, "offset": s.offset}));
        let args = arguments.iter().enumerate();
        let args: Vec<_> = args
            .map(|(index, arg)| self.argument(index, arg, arguments))
            .collect();
        let dimensions = usize::try_from(range.dimensions).unwrap_or(3);
        let case = json!({
            "name": kernel,
            "kernel": kernel,
            "device": launching.device.model.name,
            "grf_bytes": binary.grf_bytes,
            "work_dim": range.dimensions,
            "global_size": range.global.iter().take(dimensions).collect::<Vec<_>>(),
            "local_size": range.local,
            "global_offset": range.offset,
            "args": args,
            "outputs": [],
            "visaasm": texts.first(),
            "function_visaasm": texts.iter().skip(1).collect::<Vec<_>>(),
            "zeinfo": "k.zeinfo",
            "drops_outside": binary::config().drops_outside,
            "data_sections": sections,
            "data_symbols": symbols.collect::<Vec<_>>(),
        });
        self.describe(case);
    }

    fn describe(&self, case: Value) {
        self.write("case.json", format!("{case:#}\n").as_bytes());
        *super::context::lock(&self.case) = case;
    }

    fn argument(&self, index: usize, argument: &Argument, all: &[Argument]) -> Value {
        let file = format!("arg{index}.bin");
        match argument {
            Argument::Shared(part) => {
                let same = |other: &&Argument| matches!(other, Argument::Shared(p) if p == part);
                if let Some(first) = all.iter().take(index).position(|a| same(&a)) {
                    return json!({"index": index, "kind": "same", "arg": first});
                }
                let bytes = bytes(part);
                self.write(&file, &bytes);
                json!({"index": index, "kind": "buffer", "size": bytes.len(), "file": file})
            }
            Argument::SharedImage(image, part) => {
                let all = bytes(part);
                self.write(&file, &all);
                let (kind, sizes) = match image.kind {
                    ImageKind::Image1d => ("image1d", json!({})),
                    ImageKind::Image1dBuffer => ("image1d_buffer", json!({})),
                    ImageKind::Image1dArray => {
                        ("image1d_array", json!({"array_size": image.height}))
                    }
                    ImageKind::Image2d => ("image2d", json!({"height": image.height})),
                    ImageKind::Image2dArray => (
                        "image2d_array",
                        json!({"height": image.height, "array_size": image.depth}),
                    ),
                    ImageKind::Image3d => (
                        "image3d",
                        json!({"height": image.height, "depth": image.depth}),
                    ),
                };
                let (order, channel) = super::format::names(image.format);
                let mut description = json!({
                    "index": index,
                    "kind": kind,
                    "width": image.width,
                    "row_pitch": image.row_pitch,
                    "slice_pitch": image.slice_pitch,
                    "channel_order": order,
                    "channel_type": channel,
                    "file": file,
                });
                if let (Some(to), Value::Object(from)) = (description.as_object_mut(), sizes) {
                    to.extend(from);
                }
                description
            }
            Argument::Sampler(sampler) => json!({
                "index": index,
                "kind": "sampler",
                "normalized": sampler.normalized,
                "addressing": match sampler.addressing {
                    Addressing::Unchecked => "NONE",
                    Addressing::ClampToEdge => "CLAMP_TO_EDGE",
                    Addressing::ClampToBorder => "CLAMP",
                    Addressing::Repeat => "REPEAT",
                    Addressing::Mirror => "MIRRORED_REPEAT",
                },
                "filter": match sampler.filter {
                    Filter::Nearest => "NEAREST",
                    Filter::Linear => "LINEAR",
                },
            }),
            Argument::Local(size) => json!({"index": index, "kind": "local", "size": size}),
            Argument::Value(value) => {
                let hex: String = value.iter().map(|b| format!("{b:02x}")).collect();
                json!({"index": index, "kind": "scalar", "bytes": hex})
            }
            _ => json!({"index": index, "kind": "null"}),
        }
    }

    /// Writes the results of the launch as the expected ones.
    fn after(&self, arguments: &[Argument]) {
        let mut outputs = Vec::new();
        for (index, argument) in arguments.iter().enumerate() {
            let (Argument::Shared(part) | Argument::SharedImage(_, part)) = argument else {
                continue;
            };
            let after = bytes(part);
            let before = fs::read(self.folder.join(format!("arg{index}.bin")));
            // If no input was written, the argument is an earlier one.
            if before.is_ok_and(|before| before != after) {
                let file = format!("expect{index}.bin");
                self.write(&file, &after);
                outputs.push(json!({
                    "arg": index, "type": "uchar", "size": after.len(), "file": file, "compare": "exact",
                }));
            }
        }
        self.expect(outputs);
    }

    fn expect(&self, outputs: Vec<Value>) {
        let mut case = super::context::lock(&self.case).clone();
        if let Some(case) = case.as_object_mut() {
            case.insert("outputs".to_owned(), Value::Array(outputs));
        }
        self.describe(case);
    }

    /// Writes what an argument should have become.
    pub(crate) fn expect_one(&self, index: usize, element: Element, rule: Compare, wanted: &[u8]) {
        let file = format!("expect{index}.bin");
        let kind = format!("{element:?}").to_lowercase();
        let compare = match rule {
            Compare::Close { abs, rel } => json!({"abs": abs, "rel": rel}),
            Compare::Ulp { ulp } => json!({"ulp": ulp}),
            Compare::ExactNan => json!("exact_nan"),
            Compare::Exact => json!("exact"),
        };
        self.write(&file, wanted);
        self.expect(vec![json!({
            "arg": index, "type": kind, "size": wanted.len(), "file": file, "compare": compare,
        })]);
    }
}

/// The bytes of a part now.
pub(crate) fn bytes(part: &Shared) -> Vec<u8> {
    let size = usize::try_from(part.size).unwrap_or(0);
    let offset = usize::try_from(part.offset).unwrap_or(usize::MAX);
    let mut bytes = vec![0; size.min(part.storage.bytes())];
    part.storage.read_into(offset, &mut bytes);
    bytes
}
