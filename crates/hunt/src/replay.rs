//! Cases that `visakit run --case` replays: the arguments and the expected results, and a folder for each build.

use crate::configuration::{Configuration, Made};
use crate::machine::{Launching, Memory};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use visakit_launch::{
    AddressPart, Argument, DumpedKernel, Element, Image, ImageKind, Zebin, names,
};

/// A launch whose results are known.
pub(crate) struct Replay<'r> {
    pub(crate) name: String,
    pub(crate) launching: &'r Launching,
    pub(crate) expected: &'r Memory,
    /// The types of the elements of the results.
    pub(crate) elements: &'r [Element],
}

impl Replay<'_> {
    /// Writes the files into a folder. Returns the folders there of the cases of what was made.
    pub(crate) fn write(
        &self,
        made: &[(Configuration, Made)],
        at: &Path,
    ) -> io::Result<Vec<Option<String>>> {
        let file = |name: &str, bytes: &[u8]| visakit_files::scratch(&at.join(name), bytes);
        for (number, argument) in self.launching.arguments.iter().enumerate() {
            if let Argument::Buffer(bytes) | Argument::Image(Image { bytes, .. }) = argument {
                file(&format!("arg{number}.bin"), bytes)?;
            }
        }
        for (number, bytes) in self.launching.compared.iter().zip(self.expected) {
            file(&format!("expect{number}.bin"), bytes)?;
        }
        let mut names = BTreeSet::new();
        let mut cases = Vec::new();
        for (configuration, made) in made {
            cases.push(match made.kernel() {
                Some(kernel) => {
                    let name = unused(slug(configuration), &mut names);
                    let case = at.join(&name);
                    std::fs::create_dir(&case)?;
                    self.case(configuration, kernel, &case)?;
                    Some(name)
                }
                None => None,
            });
        }
        Ok(cases)
    }

    fn case(
        &self,
        configuration: &Configuration,
        kernel: &DumpedKernel,
        folder: &Path,
    ) -> io::Result<()> {
        let file = |name: &str, bytes: &[u8]| visakit_files::scratch(&folder.join(name), bytes);
        let mut texts = Vec::new();
        for (number, text) in kernel.sources.iter().enumerate() {
            let name = match number {
                0 => "k.visaasm".to_owned(),
                _ => format!("f{}.visaasm", number - 1),
            };
            file(&name, &text.bytes)?;
            texts.push(name);
        }
        let zebin = kernel.metadata.as_ref().and_then(|m| m.zebin.as_ref());
        let none = Zebin::default();
        let zebin = zebin.unwrap_or(&none);
        file("k.zeinfo", zebin.zeinfo.as_bytes())?;
        let mut sections = Vec::new();
        let mut relocations = Vec::new();
        for (number, data) in zebin.data.iter().enumerate() {
            let name = format!("data{number}.bin");
            file(&name, &data.bytes)?;
            sections.push(json!({"section": data.name, "file": name, "address": data.address}));
            relocations.extend(data.relocations.iter().map(|r| {
            let kind = match r.part {
                AddressPart::Whole => "SYM_ADDR",
                AddressPart::Low => "SYM_ADDR_32",
                AddressPart::High => "SYM_ADDR_32_HI",
            };
            json!({
                "section": data.name, "offset": r.offset, "symbol": r.symbol, "addend": r.addend, "type": kind,
            })
        }));
        }
        let symbols = zebin.symbols.iter();
        let symbols =
            symbols.map(|s| json!({"name": s.name, "section": s.section, "offset": s.offset}));
        let range = &self.launching.range;
        let dimensions = usize::try_from(range.dimensions).unwrap_or(3).min(3);
        let list = |all: [u32; 3]| all.into_iter().take(dimensions).collect::<Vec<_>>();
        let case = json!({
            "name": self.name,
            "kernel": kernel.name,
            "device": configuration.device,
            "options": configuration.options,
            "grf_bytes": zebin.grf_bytes.unwrap_or(32),
            "work_dim": dimensions,
            "global_size": list(range.global),
            "local_size": list(range.local),
            "global_offset": list(range.offset),
            "args": self.arguments(),
            "outputs": self.outputs(),
            "visaasm": texts.first(),
            "function_visaasm": texts.iter().skip(1).collect::<Vec<_>>(),
            "zeinfo": "k.zeinfo",
            "data_sections": sections,
            "data_symbols": symbols.collect::<Vec<_>>(),
            "data_relocations": relocations,
        });
        file("case.json", format!("{case:#}\n").as_bytes())
    }

    fn arguments(&self) -> Vec<Value> {
        let described = self.launching.arguments.iter().enumerate().map(|(index, argument)| {
        match argument {
            Argument::Value(bytes) => {
                let hex = bytes.iter().fold(String::new(), |mut hex, byte| {
                    let _ = write!(hex, "{byte:02x}");
                    hex
                });
                json!({"index": index, "kind": "scalar", "bytes": hex})
            }
            Argument::Buffer(bytes) => {
                let uninitialized = self.launching.uninitialized.contains(&index);
                json!({
                    "index": index, "kind": "buffer", "size": bytes.len(), "file": format!("../arg{index}.bin"),
                    "uninitialized": uninitialized,
                })
            }
            Argument::Image(image) if image.kind == ImageKind::Image2d => {
                let [order, channel] = names(image.format);
                json!({
                    "index": index, "kind": "image2d", "width": image.width, "height": image.height,
                    "row_pitch": image.row_pitch, "channel_order": order, "channel_type": channel,
                    "size": image.bytes.len(), "file": format!("../arg{index}.bin"),
                })
            }
            Argument::Local(bytes) => json!({"index": index, "kind": "local", "size": bytes}),
            _ => json!({"index": index, "kind": "null"}),
        }
    });
        described.collect()
    }

    fn outputs(&self) -> Vec<Value> {
        let results = self
            .launching
            .compared
            .iter()
            .zip(self.expected)
            .zip(self.elements);
        let outputs = results.map(|((number, bytes), element)| {
        let element = format!("{element:?}").to_lowercase();
        json!({
            "arg": number, "type": element, "size": bytes.len(), "file": format!("../expect{number}.bin"),
            "compare": "exact",
        })
    });
        outputs.collect()
    }
}

/// The name, with a number if it was used before: options that differ in other characters than letters have one slug.
fn unused(name: String, used: &mut BTreeSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    let name = names.find(|name| !used.contains(name)).unwrap_or(name);
    used.insert(name.clone());
    name
}

/// A name for a folder.
fn slug(configuration: &Configuration) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '.';
    let name = configuration.name();
    let words = name.split(|c| !plain(c)).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}
