//! The libraries for the explorer in the browser (`web/`).
//!
//! [`Explorer`] holds up to two open files and a run. Requests go through [`Explorer::call`]: a method and its
//! arguments as JSON in, `{"ok": …}` or `{"error": "…"}` out, so that everything that the browser sees can be tested
//! without one. Files are passed in and out as bytes. Places in texts are counted in UTF-16 units, as in JavaScript;
//! routines are numbered, kernels first.
//!
//! ```
//! let mut explorer = visakit_wasm::Explorer::new();
//! let text = b".version 4.1\n.kernel \"k\"\n    ret (M1, 1)\n";
//! let opened = explorer.open(0, "k.visaasm", text);
//! assert!(opened.contains(r#""assembles":true"#), "{opened}");
//! let [from, to, ..] = explorer.links(0, 0)[..] else { panic!() };
//! assert_eq!(&explorer.text(0, 0)[from as usize..to as usize], "ret (M1, 1)");
//! ```

mod code;
mod compare;
mod declarations;
mod fields;
mod file;
mod flow;
mod kept;
mod panes;
mod run;
mod units;

use file::File;
use run::Run;
use serde_json::{Value as Json, json};
use std::path::PathBuf;
use visakit::launch::{Dump, Source};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen::prelude::wasm_bindgen;

/// Open files and a run of one of them.
#[cfg_attr(target_arch = "wasm32", wasm_bindgen)]
#[derive(Debug, Default)]
pub struct Explorer {
    files: [Option<File>; 2],
    run: Option<Run>,
    /// Files of a folder, until it is opened.
    offered: Vec<Source>,
}

/// The answer to a request; errors are for display.
type Answer = Result<Json, String>;

#[cfg_attr(target_arch = "wasm32", wasm_bindgen)]
impl Explorer {
    /// An explorer without files.
    #[cfg_attr(target_arch = "wasm32", wasm_bindgen(constructor))]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens a file in slot 0 or 1: an object, a text or a zebin. The answer describes its content.
    pub fn open(&mut self, slot: usize, name: &str, bytes: &[u8]) -> String {
        let opened = File::open(name, bytes);
        answer(opened.and_then(|file| {
            let place = self.files.get_mut(slot).ok_or("there are slots 0 and 1")?;
            let file = place.insert(file);
            Ok(file.summary())
        }))
    }

    /// Takes a file of a folder that a compiler dumped into, unpacked; the request `dump` opens the folder.
    pub fn offer(&mut self, path: &str, bytes: &[u8]) {
        self.offered.push(Source {
            path: PathBuf::from(path),
            bytes: bytes.to_vec(),
        });
    }

    /// The bytes of the object in a slot; of a text those of its last version that assembled.
    #[must_use]
    pub fn data(&self, slot: usize) -> Vec<u8> {
        let file = self.files.get(slot).and_then(Option::as_ref);
        file.map(|file| file.bytes.clone()).unwrap_or_default()
    }

    /// The text of a slot: the whole one where it can be edited, else that of a routine.
    #[must_use]
    pub fn text(&self, slot: usize, routine: usize) -> String {
        let file = self.files.get(slot).and_then(Option::as_ref);
        file.map(|file| file.text_of(routine)).unwrap_or_default()
    }

    /// The places of a routine's instructions, four numbers for each: start and end in the text, offset and length in
    /// the file.
    #[must_use]
    pub fn links(&self, slot: usize, routine: usize) -> Vec<u32> {
        let file = self.files.get(slot).and_then(Option::as_ref);
        file.map(|file| file.links(routine)).unwrap_or_default()
    }

    /// Answers a request: an object with `method` and its arguments.
    pub fn call(&mut self, request: &str) -> String {
        let request: Result<Json, String> =
            serde_json::from_str(request).map_err(|error| error.to_string());
        answer(request.and_then(|request| self.respond(&request)))
    }
}

impl Explorer {
    fn respond(&mut self, request: &Json) -> Answer {
        let method = text(request, "method")?;
        if let Some(method) = method.strip_prefix("run_") {
            return self.respond_run(method, request);
        }
        if method == "dump" {
            return self.dump(request.get("kernel").and_then(Json::as_str));
        }
        if method == "diff" {
            let [Some(old), Some(new)] = &self.files else {
                return Err(
                    "two files are compared; open the second one beside the first".to_owned(),
                );
            };
            return Ok(compare::compare(old, new));
        }
        let slot = optional(request, "slot").unwrap_or(0);
        let file = self.files.get_mut(slot).and_then(Option::as_mut);
        let file = file.ok_or("no file is open")?;
        let routine = || number(request, "routine");
        let range = || Ok::<_, String>(number(request, "from")?..number(request, "to")?);
        match method {
            "edit" => file.edit(text(request, "text")?),
            "attach" => file.attach(text(request, "text")?),
            "platform" => file.set_platform(text(request, "name")?),
            "summary" => Ok(file.summary()),
            "patch" => file.patch(number(request, "offset")?, text(request, "hex")?),
            "highlights" => file.highlights(optional(request, "routine").unwrap_or(0), range()?),
            "hover" => file.hover(number(request, "at")?),
            "complete" => file.complete(number(request, "at")?),
            "definition" => file.definition(number(request, "at")?),
            "format" => file.format(),
            "tree" => file.tree(
                number(request, "part")?,
                optional(request, "chunk"),
                optional(request, "node"),
            ),
            "tree_path" => file.tree_path(number(request, "offset")?),
            "fields" => file.fields(range()?),
            "flow" => {
                let folded = request.get("folded").and_then(Json::as_array);
                let folded = folded.map(|list| {
                    let blocks = list.iter().filter_map(Json::as_u64);
                    blocks.filter_map(|n| usize::try_from(n).ok()).collect()
                });
                flow::flow(file, routine()?, &folded.unwrap_or_default())
            }
            "declarations" => declarations::declarations(file, routine()?),
            "lines" => panes::source_lines(file, routine()?),
            "statistics" => Ok(panes::statistics(file)),
            "findings" => Ok(panes::findings(file)),
            _ => Err(format!("there is no method `{method}`")),
        }
    }

    /// Opens a kernel of the files that were offered; without a name the only one there is. Names of kernels where
    /// there are several.
    fn dump(&mut self, kernel: Option<&str>) -> Answer {
        let dump = Dump::of(self.offered.clone()).map_err(|e| e.to_string())?;
        let kernels = dump.kernels();
        if kernel.is_none() && kernels.len() > 1 {
            return Ok(json!({ "kernels": kernels }));
        }
        let kernel = dump.kernel(kernel).map_err(|e| e.to_string())?;
        let file = File::of_dump(kernel)?;
        self.offered.clear();
        let [slot, _] = &mut self.files;
        Ok(slot.insert(file).summary())
    }

    fn respond_run(&mut self, method: &str, request: &Json) -> Answer {
        let slot = optional(request, "slot").unwrap_or(0);
        if let "form" | "start" = method {
            let file = self.files.get(slot).and_then(Option::as_ref);
            let file = file.ok_or("no file is open")?;
            let routine = number(request, "routine")?;
            if method == "form" {
                return run::form(file, routine);
            }
            // The previous run is dropped first: two runs at a time would need twice the memory.
            self.run = None;
            let run = self.run.insert(Run::start(file, routine, request)?);
            return Ok(run.state());
        }
        let run = self.run.as_mut().ok_or("nothing runs; start a run first")?;
        match method {
            "step" => run.step(request.get("by").and_then(Json::as_i64).unwrap_or(1)),
            "seek" => run.seek(request.get("to").and_then(Json::as_u64).unwrap_or(0)),
            "end" => run.finish(),
            "until" => run.until(number(request, "routine")?, number(request, "instruction")?),
            "moment" => {
                let of = |name: &str| request.get(name).and_then(Json::as_u64).unwrap_or(0);
                run.moment(of("group"), of("step"))
            }
            "state" => Ok(run.state()),
            "values" => Ok(run.values(optional(request, "thread").unwrap_or(0))),
            "memory" => run.memory(
                text(request, "space")?,
                optional(request, "number").unwrap_or(0),
                optional(request, "offset").unwrap_or(0),
                text(request, "type")?,
            ),
            "heat" => run.heat(optional(request, "routine").unwrap_or(0)),
            "check" => run.check(),
            "stop" => {
                self.run = None;
                Ok(Json::Null)
            }
            _ => Err(format!("there is no method `run_{method}`")),
        }
    }
}

fn answer(result: Answer) -> String {
    match result {
        Ok(value) => json!({ "ok": value }),
        Err(error) => json!({ "error": error }),
    }
    .to_string()
}

fn text<'r>(request: &'r Json, name: &str) -> Result<&'r str, String> {
    let value = request.get(name).and_then(Json::as_str);
    value.ok_or_else(|| format!("`{name}` is missing or no string"))
}

fn number(request: &Json, name: &str) -> Result<usize, String> {
    optional(request, name).ok_or_else(|| format!("`{name}` is missing or no number"))
}

fn optional(request: &Json, name: &str) -> Option<usize> {
    usize::try_from(request.get(name)?.as_u64()?).ok()
}
