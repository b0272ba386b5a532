//! Inputs that tell two kernels apart, as cases.

use crate::output::{self, Failure};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use visakit::isa::object::RoutineKind;
use visakit_launch::{Argument, Kernel, NdRange};

/// The text of the metadata that a case names.
pub(in crate::commands) fn zeinfo_of_case(path: &Path) -> Result<String, Failure> {
    let path = match path.is_dir() {
        true => path.join("case.json"),
        false => path.to_owned(),
    };
    let case: Value = serde_json::from_slice(&visakit_files::read(&path, u64::MAX)?)
        .map_err(|error| Failure::Other(error.to_string()))?;
    let name = case
        .get("zeinfo")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let folder = path.parent().map(Path::to_owned).unwrap_or_default();
    Ok(String::from_utf8_lossy(&visakit_files::read(&folder.join(name), u64::MAX)?).into_owned())
}

/// What a run leaves.
#[derive(Default)]
pub(in crate::commands) struct Left<'l> {
    /// The content of each argument that is a buffer.
    pub(in crate::commands) expected: &'l [Option<Vec<u8>>],
    /// What it prints, if that is compared, and whether the order of its lines counts.
    pub(in crate::commands) printed: Option<(&'l str, bool)>,
}

/// Writes a case: inputs and expected outputs beside it, as both share them. Of a launch it is said whether accesses end where
/// buffers do.
pub(in crate::commands) fn write(
    folder: &Path,
    name: &str,
    (kernel, range, exact_ends): (&Kernel<'_>, &NdRange, bool),
    arguments: &[Argument],
    left: &Left<'_>,
    zeinfo: &str,
) -> Result<(), Failure> {
    let own = folder.join(name);
    fs::create_dir_all(&own)?;
    let object = visakit::encode::write(kernel.object())
        .map_err(|error| Failure::Other(error.to_string()))?;
    output::file(&own.join("k.isa"), &object)?;
    output::file(&own.join("k.zeinfo"), zeinfo.as_bytes())?;
    let mut args = Vec::new();
    let mut outputs = Vec::new();
    for (index, argument) in arguments.iter().enumerate() {
        let mut arg = match argument {
            Argument::Buffer(bytes) => {
                let file = format!("arg{index}.bin");
                output::file(&folder.join(&file), bytes)?;
                json!({ "kind": "buffer", "size": bytes.len(), "file": format!("../{file}") })
            }
            Argument::Value(bytes) => {
                let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                json!({ "kind": "scalar", "bytes": digits })
            }
            Argument::Local(size) => json!({ "kind": "local", "size": size }),
            Argument::SameAs(other) => json!({ "kind": "same", "arg": other }),
            Argument::Null => json!({ "kind": "null" }),
            other => {
                let kind = other.kind();
                return Err(Failure::Other(format!(
                    "--witness writes no case with an argument that is a {kind}"
                )));
            }
        };
        if let Some(arg) = arg.as_object_mut() {
            arg.insert("index".to_owned(), index.into());
        }
        args.push(arg);
        if let (Argument::Buffer(_), Some(Some(expected))) = (argument, left.expected.get(index)) {
            let file = format!("expect{index}.bin");
            output::file(&folder.join(&file), expected)?;
            outputs.push(json!({ "arg": index, "type": "uchar", "file": format!("../{file}"), "compare": "exact" }));
        }
    }
    let mut sections = Vec::new();
    let mut relocations = Vec::new();
    for (number, data) in kernel.data.iter().enumerate() {
        let file = PathBuf::from(format!("data{number}.bin"));
        output::file(&own.join(&file), &data.bytes)?;
        sections.push(json!({ "section": data.name, "file": file, "address": data.address }));
        for relocation in &data.relocations {
            relocations.push(json!({
                "section": data.name,
                "offset": relocation.offset,
                "symbol": relocation.symbol,
                "addend": relocation.addend,
                "type": match relocation.part {
                    visakit_launch::AddressPart::Whole => "SYM_ADDR",
                    visakit_launch::AddressPart::Low => "SYM_ADDR_32",
                    visakit_launch::AddressPart::High => "SYM_ADDR_32_HI",
                },
            }));
        }
    }
    let symbols = kernel.symbols.iter();
    let symbols: Vec<Value> = symbols
        .map(|s| json!({ "name": s.name, "section": s.section, "offset": s.offset }))
        .collect();
    let routines = kernel.object().routines();
    let kernels = routines
        .filter(|(id, _)| id.kind == RoutineKind::Kernel)
        .count();
    let mut case = json!({
        "name": kernel.info().name,
        "kernel": kernel.info().name,
        "kernels": kernels,
        "device": name,
        "grf_bytes": kernel.grf_bytes,
        "work_dim": 3,
        "global_size": range.global,
        "local_size": range.local,
        "exact_ends": exact_ends,
        "global_offset": range.offset,
        "isa": "k.isa",
        "zeinfo": "k.zeinfo",
        "args": args,
        "outputs": outputs,
        "data_sections": sections,
        "data_relocations": relocations,
        "data_symbols": symbols,
    });
    if let (Some((text, in_order)), Some(case)) = (left.printed, case.as_object_mut()) {
        case.insert("printf".to_owned(), text.into());
        case.insert("printf_in_order".to_owned(), in_order.into());
    }
    let text =
        serde_json::to_string_pretty(&case).map_err(|error| Failure::Other(error.to_string()))?;
    output::file(&own.join("case.json"), (text + "\n").as_bytes())?;
    Ok(())
}
