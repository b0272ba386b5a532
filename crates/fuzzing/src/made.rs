//! Laws of generated objects: every input is a valid object, or one that was valid before a few
//! edits. Undamaged ones must obey more.

use crate::bytes::{decode, printed, text_of, texts_in, validate as validated, written};
use crate::run::{self, executed};
use visakit_encode as encode;
use visakit_parse::{self as parse, ReadOptions};
use visakit_smith::FuzzInput;
use visakit_text::{Form, asm};
use visakit_validate as validate;

/// The input's object and its bytes, damaged where the input says so.
pub(crate) fn made(data: &[u8]) -> (FuzzInput, Vec<u8>) {
    let shaped = FuzzInput::new(data);
    let bytes = match encode::write(&shaped.object) {
        Ok(bytes) => bytes,
        Err(error) => unreachable!("a generated object cannot be written: {error}"),
    };
    let bytes = shaped.damage(bytes);
    (shaped, bytes)
}

/// [`decode`] of a generated object.
pub fn made_decode(data: &[u8]) {
    decode(&made(data).1);
}

/// [`written`] of a generated object, which is read as it was made.
pub fn made_roundtrip(data: &[u8]) {
    let (shaped, bytes) = made(data);
    written(&bytes);
    if shaped.is_whole() {
        let options = ReadOptions {
            lenient: false,
            dialect: Some(shaped.config.dialect),
        };
        match parse::read_with(&bytes, options) {
            Ok(decoded) => assert!(decoded.object == shaped.object, "read as something else"),
            Err(error) => unreachable!("a generated object cannot be read: {error}"),
        }
    }
}

/// [`printed`] and the exact law of a generated object, whose text is the same program.
pub fn made_text(data: &[u8]) {
    let (shaped, bytes) = made(data);
    printed(&bytes);
    texts_in(&bytes, Some(shaped.config.dialect));
    if shaped.is_whole() {
        let options = asm::Options {
            version: Some(shaped.config.version),
            dialect: Some(shaped.config.dialect),
            grf_bytes: Some(shaped.config.platform.grf_bytes()),
        };
        let text = text_of(&shaped.object, Form::Exact);
        match asm::assemble(&text, &options) {
            Ok(again) => assert!(again == shaped.object, "assembled as something else"),
            Err(faults) => unreachable!("text of a generated object has faults: {faults:?}"),
        }
    }
}

/// [`validated`] for a generated object, which has no findings.
pub fn made_validate(data: &[u8]) {
    let (shaped, bytes) = made(data);
    validated(&bytes);
    if shaped.is_whole() {
        let options = validate::Options {
            platform: Some(shaped.config.platform),
            ..validate::Options::default()
        };
        assert!(options.platform.is_some());
        let report = validate::object(&shaped.object, &options);
        if let Some(finding) = report.findings.first() {
            unreachable!("a generated object is not valid: {finding}");
        }
    }
}

/// [`executed`] of a generated object, which runs to its end, or as long as there is time, where it finds its surfaces.
pub fn made_exec(data: &[u8]) {
    let (shaped, bytes) = made(data);
    executed(&bytes);
    if shaped.is_whole() {
        run::to_the_end(&shaped);
    }
}
