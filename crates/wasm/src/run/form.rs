//! The start of a run: the file at that time, and the values in the browser's form.

use super::{MOST_BYTES, MOST_STEPS};
use crate::Answer;
use crate::file::File;
use serde_json::{Value as Json, json};
use visakit::exec::Limits;
use visakit::isa::object::{Object, RoutineId};
use visakit::launch::{
    Argument, Bare, Config, DataSection, DataSymbol, Image, ImageKind, Kernel, LaunchError,
    NdRange, Prepared, ZeInfo, format, sampler, value,
};

/// The file as it was when the run began: it may be edited since.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) object: Object<'static>,
    pub(super) id: RoutineId,
    pub(super) routine: usize,
    pub(super) grf_bytes: u32,
    zeinfo: Option<ZeInfo>,
    data: Vec<DataSection>,
    symbols: Vec<DataSymbol>,
    /// The values in the form.
    form: Json,
}

impl Source {
    pub(super) fn of(file: &File, routine: usize, form: &Json) -> Result<Self, String> {
        Ok(Self {
            object: file.object.clone(),
            id: file.id(routine)?,
            routine,
            grf_bytes: file.grf_bytes(),
            zeinfo: file.zeinfo.clone(),
            data: file.data.clone(),
            symbols: file.symbols.clone(),
            form: form.clone(),
        })
    }

    /// Whether a single thread runs without a launch.
    pub(super) fn is_bare(&self) -> bool {
        self.form.get("mode").and_then(Json::as_str) == Some("bare")
    }

    pub(super) fn limits(&self) -> Limits {
        let steps = self.form.get("steps").and_then(Json::as_u64);
        Limits {
            max_steps: steps.unwrap_or(MOST_STEPS),
            max_bytes: MOST_BYTES,
            ..Limits::default()
        }
    }

    pub(super) fn config(&self) -> Config<'static> {
        Config {
            limits: self.limits(),
            max_memory: MOST_BYTES,
            // Whoever tries a program here wants to see where it leaves a buffer.
            exact_ends: true,
            ..Config::default()
        }
    }

    /// The routine with its variables set.
    pub(super) fn bare(&self, counting: bool) -> Result<Bare, String> {
        let config = Config {
            count: counting,
            ..self.config()
        };
        let mut bare = Bare::new(&self.object, self.id, self.grf_bytes, &config).map_err(told)?;
        let sets = self.form.get("sets").and_then(Json::as_object);
        for (name, set) in sets.into_iter().flatten() {
            let text = set.as_str().unwrap_or_default();
            if !text.trim().is_empty() {
                bare.set(name, text).map_err(told)?;
            }
        }
        Ok(bare)
    }

    /// The kernel with its metadata.
    pub(super) fn kernel(&self) -> Result<Kernel<'_>, String> {
        let zeinfo = self.zeinfo.as_ref().ok_or(
            "launching a kernel needs its metadata (.zeinfo); open it beside the object, or run the routine bare",
        )?;
        let name = self.object.routine(self.id);
        let name = name.map(|r| r.display_name().into_owned());
        let mut kernel =
            Kernel::new(&self.object, &name.unwrap_or_default(), zeinfo).map_err(told)?;
        kernel.grf_bytes = self.grf_bytes;
        kernel.data.clone_from(&self.data);
        kernel.symbols.clone_from(&self.symbols);
        Ok(kernel)
    }

    /// The kernel on its grid, with its arguments.
    pub(super) fn launch(
        &self,
        kernel: &Kernel<'_>,
        config: &Config<'_>,
    ) -> Result<Prepared, String> {
        let sizes = |name: &str| -> Vec<u32> {
            let list = self.form.get(name).and_then(Json::as_array);
            let list = list.into_iter().flatten().filter_map(Json::as_u64);
            list.filter_map(|n| u32::try_from(n).ok()).collect()
        };
        let global = sizes("global");
        let mut local = sizes("local");
        if local.is_empty() {
            local = NdRange::default_local(&global);
        }
        let range = NdRange::new(&global, &local, &[]).map_err(told)?;
        let arguments = self.form.get("arguments").and_then(Json::as_array);
        let arguments = arguments.into_iter().flatten().enumerate();
        let arguments = arguments.map(|(number, form)| {
            argument(form).map_err(|error| format!("argument {number}: {error}"))
        });
        let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
        kernel.prepare(&range, &arguments, config).map_err(told)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "as map_err gives it")]
pub(super) fn told(error: LaunchError) -> String {
    error.to_string()
}

/// An argument as given in the form.
fn argument(form: &Json) -> Result<Argument, String> {
    let text = |name: &str| form.get(name).and_then(Json::as_str).unwrap_or_default();
    let size = |name: &str| form.get(name).and_then(Json::as_u64).unwrap_or(0);
    let data_type = || {
        let name = text("type");
        let known = visakit::launch::value::type_of(name);
        known.ok_or_else(|| {
            format!("there is no type `{name}`; known are u8 to u64, i8 to i64, f16, f32, f64")
        })
    };
    let bytes = || -> Result<Vec<u8>, String> {
        if let Some(hex) = form.get("hex").and_then(Json::as_str) {
            return from_hex(hex).ok_or_else(|| "no bytes in hex".to_owned());
        }
        let ty = data_type()?;
        let count = usize::try_from(size("count")).unwrap_or(0);
        let length = count.saturating_mul(usize::from(ty.size()));
        if length as u64 > MOST_BYTES {
            return Err(format!("{length} bytes are more than a run may have"));
        }
        let values = match text("values").trim() {
            "" => Vec::new(),
            "iota" => {
                let numbers: Vec<String> = (0..count).map(|n| n.to_string()).collect();
                value::parse(&numbers.join(","), ty)?
            }
            values => value::parse(values, ty)?,
        };
        let mut bytes = values;
        bytes.resize(length.max(bytes.len()), 0);
        Ok(bytes)
    };
    match text("kind") {
        "buffer" => Ok(Argument::Buffer(bytes()?)),
        "value" => Ok(Argument::Value(bytes()?)),
        "null" => Ok(Argument::Null),
        "local" => Ok(Argument::Local(usize::try_from(size("count")).unwrap_or(0))),
        "sampler" => {
            let normalized = form
                .get("normalized")
                .and_then(Json::as_bool)
                .unwrap_or(false);
            Ok(Argument::Sampler(sampler(
                normalized,
                text("addressing"),
                text("filter"),
            )?))
        }
        "image" => {
            let kind = ImageKind::by_name(text("image")).ok_or("there is no such kind of image")?;
            let sizes = form
                .get("sizes")
                .and_then(Json::as_array)
                .into_iter()
                .flatten();
            let sizes: Vec<u32> = sizes
                .filter_map(|n| u32::try_from(n.as_u64()?).ok())
                .collect();
            let format = format(text("order"), text("channel"))?;
            let mut bytes = bytes()?;
            let mut image = Image::new(kind, &sizes, None, format, Vec::new())?;
            let span = image.span();
            if span > MOST_BYTES {
                return Err(format!("{span} bytes are more than a run may have"));
            }
            bytes.resize(usize::try_from(span).unwrap_or(0).max(bytes.len()), 0);
            image.bytes = bytes;
            Ok(Argument::Image(image))
        }
        kind => Err(format!("there is no kind of argument `{kind}`")),
    }
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |c: &u8| u8::try_from(char::from(*c).to_digit(16)?).ok();
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let mut bytes = pairs
        .iter()
        .map(|[high, low]| Some(digit(high)? << 4 | digit(low)?));
    rest.is_empty().then(|| bytes.by_ref().collect())?
}

/// The fields of the form for running a routine.
pub(crate) fn form(file: &File, routine: usize) -> Answer {
    let id = file.id(routine)?;
    let found = file.object.routine(id);
    let name = found
        .map(|r| r.display_name().into_owned())
        .unwrap_or_default();
    let info = file
        .zeinfo
        .as_ref()
        .and_then(|z| Some((z, z.kernel(&name).ok()?)));
    let arguments = info.map(|(zeinfo, info)| {
        let named = zeinfo.args_info(&name);
        let count = usize::try_from(info.argument_count())
            .unwrap_or(0)
            .max(named.len());
        let rows = (0..count).map(|index| {
            let arg = named.get(index);
            let payload = info.payload_arguments.iter();
            let mut payload = payload
                .filter(|p| p.arg_index.and_then(|i| usize::try_from(i).ok()) == Some(index));
            let first = payload.next();
            let kind = arg.map_or_else(String::new, |a| a.type_name.clone());
            let space = first.and_then(|p| p.addrspace.as_ref());
            json!({
                "name": arg.map_or_else(|| format!("argument {index}"), |a| a.name.clone()),
                "type": kind.split(';').next().unwrap_or_default(),
                "pointer": first.is_some_and(|p| p.addrmode.is_some()) || kind.contains('*'),
                "space": space.map(visakit::launch::AddrSpace::name),
                "bytes": first.map_or(0, |p| p.size),
            })
        });
        rows.collect::<Vec<_>>()
    });
    let program = Bare::new(&file.object, id, file.grf_bytes(), &Config::default())
        .map_err(|e| e.to_string())?;
    let inputs = program.program().inputs().iter().map(|input| {
        let slot = program.program().variable(&input.name);
        json!({
            "name": input.name,
            "type": slot.as_ref().map_or("ud", |s| s.data_type.name()),
            "elements": slot.as_ref().map_or(0, |s| s.elements),
            "implicit": input.kind.implicit_name(),
        })
    });
    Ok(json!({
        "arguments": arguments,
        "inputs": inputs.collect::<Vec<_>>(),
        "lanes": program.program().simd_size(),
        "required": info.map(|(_, i)| i.execution_env.required_work_group_size.clone()),
    }))
}
