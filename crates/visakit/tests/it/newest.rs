//! The texts of the newest compiler, of which some can be said in text only.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};
use visakit::encode::ErrorKind;
use visakit::isa::Version;
use visakit::isa::object::Object;
use visakit::text::asm::{Options, assemble_in_any_dialect};
use visakit::text::{Form, Options as PrintOptions, Printer, Style};
use visakit::validate::{self, Platform};

/// The packed texts of the cases, each with its device.
fn texts(root: &Path) -> Vec<(Platform, PathBuf)> {
    let inside = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    };
    let mut found = Vec::new();
    for kernel in inside(root) {
        for device in inside(&kernel) {
            let name = device.file_name().unwrap().to_string_lossy().into_owned();
            let Some(platform) = Platform::from_name(&name) else {
                continue;
            };
            let texts = inside(&device).into_iter();
            let texts = texts.filter(|path| path.to_string_lossy().ends_with(".visaasm.gz"));
            found.extend(texts.map(|path| (platform, path)));
        }
    }
    found.sort_by(|a, b| a.1.cmp(&b.1));
    found
}

fn assembled(text: &[u8], platform: Platform) -> Result<Object<'static>, String> {
    let options = Options {
        grf_bytes: Some(platform.grf_bytes()),
        ..Options::default()
    };
    let made = assemble_in_any_dialect(text, &options).map_err(|faults| faults.to_string())?;
    Ok(made.object.into_owned())
}

/// The fault of a text, or whether its object has no binary form.
fn check(text: &[u8], platform: Platform) -> Result<bool, String> {
    let object = assembled(text, platform)?;
    let routines = |object: Object<'static>| (object.version, object.kernels, object.functions);
    let wanted = routines(object.clone());
    for form in [Form::Plain, Form::Exact] {
        let options = PrintOptions {
            form,
            grf_bytes: Some(platform.grf_bytes()),
        };
        let mut printed = Vec::new();
        let Ok(()) = Printer::new(&object, options).object(&mut printed);
        if routines(assembled(&printed, platform)?) != wanted {
            return Err(format!("{form:?} text makes another object"));
        }
    }
    let options = Options::default();
    let tidy = visakit::text::format(text, &options).map_err(|faults| faults.to_string())?;
    if routines(assembled(&tidy, platform)?) != wanted {
        return Err("formatted text makes another object".to_owned());
    }
    if visakit::text::format(&tidy, &options).as_ref() != Ok(&tidy) {
        return Err("formatted text is not in form".to_owned());
    }
    let dumped = visakit::text::format_as(text, &options, Style::Compiler);
    if dumped.as_deref() != Ok(text) {
        return Err("the compiler's own spacing is not its style".to_owned());
    }
    for platform in [Some(platform), None] {
        let options = validate::Options {
            platform,
            ..validate::Options::default()
        };
        let report = validate::object(&object, &options);
        if report.errors > 0 {
            let finding = report.findings.first().unwrap();
            return Err(format!("with platform {platform:?}: {finding}"));
        }
    }
    match visakit::encode::write(&object) {
        Ok(_) if object.version == Version::V4_1 => Ok(false),
        Ok(_) => Err("written, although no version has a binary form".to_owned()),
        Err(error) => match error.kind() {
            ErrorKind::TextOnly { .. } if error.context().instruction.is_some() => Ok(true),
            _ => Err(error.to_string()),
        },
    }
}

#[test]
fn texts_are_kept_whole() {
    let name = "texts_are_kept_whole";
    let Some(root) = visakit_testing::shared(name, "cases240") else {
        return;
    };
    let all = texts(&root);
    let (mut text_only, mut wrong) = (0, Vec::new());
    for (platform, path) in &all {
        let text = visakit_testing::corpus::unpacked(path).unwrap();
        match check(&text, *platform) {
            Ok(no_binary_form) => text_only += usize::from(no_binary_form),
            Err(message) => wrong.push(format!("{}: {message}", path.display())),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(all.len() >= 798, "{} texts only", all.len());
    assert!(text_only > 0);
}
