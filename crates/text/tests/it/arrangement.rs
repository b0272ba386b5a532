//! The assembler gives the order of pieces in the file the same name as a reader of that file.

#![allow(clippy::unwrap_used)] // texts of this test are right

use visakit_isa::Version;
use visakit_isa::object::{Arrangement, NativeBinary, NativeCode, NativePlatform, Object};
use visakit_text::{Form, asm};

const TWO: &str = ".version 3.1\n.kernel \"a\"\nret (M1, 1)\n.kernel \"b\"\nret (M1, 1)\n";

fn assembled(text: &str, version: Version) -> Object<'_> {
    let options = asm::Options {
        version: Some(version),
        ..asm::Options::default()
    };
    asm::assemble(text.as_bytes(), &options).unwrap()
}

fn written_and_read(object: &Object<'_>) -> Object<'static> {
    let bytes = visakit_encode::write(object).unwrap();
    visakit_parse::read(&bytes).unwrap().into_owned()
}

#[test]
fn without_native_code_the_order_is_called_interleaved() {
    for version in [Version::V3_1, Version::V4_1] {
        let object = assembled(TWO, version);
        assert_eq!(object.arrangement, Arrangement::Interleaved);
        assert_eq!(object, written_and_read(&object));
    }
}

#[test]
fn native_code_follows_all_routines_in_old_versions() {
    for (version, usual) in [
        (Version::V3_1, Arrangement::Grouped),
        (Version::V4_1, Arrangement::Interleaved),
    ] {
        for (code, wanted) in [(&[][..], Arrangement::Interleaved), (&[1, 2], usual)] {
            let mut object = assembled(TWO, version);
            object.kernels[0].binaries.push(NativeBinary {
                platform: NativePlatform::default(),
                code: NativeCode::Bytes(code.into()),
            });
            object.arrangement = object.usual_arrangement();
            assert_eq!(object.arrangement, wanted);
            let read = written_and_read(&object);
            assert_eq!(read.arrangement, wanted);
            let text = crate::text_of(&read, Form::Exact);
            let again = asm::assemble(&text, &asm::Options::default()).unwrap();
            assert_eq!(again, read);
        }
    }
}
