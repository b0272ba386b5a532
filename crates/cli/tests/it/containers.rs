//! Files that hold vISA among other things: compiled programs that carry their text, archives of them, packed files.

use crate::{file, text, visakit};
use std::fs;

const KERNELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/kernels");

/// An ELF file with these sections, as compilers write a zebin.
fn zebin(sections: &[(&str, &[u8])]) -> Vec<u8> {
    let mut names = b"\0.strtab\0".to_vec();
    let mut data = Vec::new();
    // Name, type, offset and size of each section; the first one is empty.
    let mut headers = vec![(0, 0_u32, 0, 0)];
    for (name, bytes) in sections {
        headers.push((names.len(), 1, 64 + data.len(), bytes.len()));
        names.extend(name.bytes());
        names.push(0);
        data.extend_from_slice(bytes);
    }
    headers.push((1, 3, 64 + data.len(), names.len()));
    data.extend(&names);
    let table = 64 + data.len() as u64;
    let count = u16::try_from(headers.len()).unwrap();
    let mut out = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    // A zebin's type, the machine of Intel's GPUs, version.
    out.extend([0x12, 0xff, 205, 0, 1, 0, 0, 0]);
    for word in [0, 0, table] {
        out.extend(word.to_le_bytes());
    }
    out.extend([0; 4]);
    for half in [64, 0, 0, 64, count, count - 1] {
        out.extend(half.to_le_bytes());
    }
    out.extend(data);
    for (name, kind, offset, size) in headers {
        out.extend(u32::try_from(name).unwrap().to_le_bytes());
        out.extend(kind.to_le_bytes());
        for word in [0, 0, offset as u64, size as u64, 0, 1, 0] {
            out.extend(word.to_le_bytes());
        }
    }
    out
}

/// An archive, as the compiler writes one for several devices.
fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        out.extend(format!("{:<48}{:<10}`\n", format!("{name}/"), bytes.len()).bytes());
        out.extend(*bytes);
        out.resize(out.len().next_multiple_of(2), b'\n');
    }
    out
}

fn kernel(name: &str) -> Vec<u8> {
    fs::read(format!("{KERNELS}/{name}")).unwrap()
}

/// The output of the tool for a file with this content.
fn asked(name: &str, bytes: &[u8], args: &[&str]) -> (i32, String, String) {
    let path = file(name);
    fs::write(&path, bytes).unwrap();
    let path = path.display().to_string();
    let args: Vec<_> = args.iter().map(|a| a.replace("{}", &path)).collect();
    let args: Vec<_> = args.iter().map(String::as_str).collect();
    let done = visakit(&args);
    let code = done.status.code().unwrap();
    (code, text(&done.stdout), text(&done.stderr))
}

#[test]
fn a_program_that_carries_its_text_is_taken_by_every_verb() {
    let (visaasm, zeinfo) = (kernel("blur.dg2.visaasm"), kernel("blur.dg2.zeinfo"));
    let sections = [
        (".text.blur", &[0; 64][..]),
        (".ze_info", &zeinfo),
        (".visaasm.blur", &visaasm),
    ];
    let program = zebin(&sections);
    let both = archive(&[("pad_0", b"-"), ("dg2", &program)]);
    let (_, plain, _) = asked("blur.plain", &visaasm, &["dis", "{}"]);
    assert!(plain.contains(".kernel \"blur\""));
    for (name, bytes) in [("blur.zebin", &program), ("blur.ar", &both)] {
        assert_eq!(
            asked(name, bytes, &["dis", "{}"]),
            (0, plain.clone(), String::new())
        );
        for args in [
            &["info", "{}"][..],
            &["stats", "{}"],
            &["cfg", "{}"],
            &["pressure", "{}"],
            &["validate", "{}"],
            &["search", "* memory=load", "{}"],
            &["similar", "{}", "{}"],
        ] {
            let (code, out, err) = asked(name, bytes, args);
            assert_eq!((code, err), (0, String::new()), "{args:?}");
            assert!(!out.is_empty(), "{args:?}");
        }
        // The metadata is in it, too.
        let run = "run {} --global 64 --local 64 --arg zeros:256 --arg zeros:256 --arg local:264 --arg i32:64 --json";
        let (code, out, err) = asked(name, bytes, &run.split(' ').collect::<Vec<_>>());
        assert_eq!((code, err), (0, String::new()), "{out}");
        assert!(out.contains("\"groups\": 1"), "{out}");
    }
}

#[test]
fn a_program_without_text_says_how_to_get_it() {
    let zeinfo = kernel("blur.dg2.zeinfo");
    let program = zebin(&[(".text.blur", &[0; 64]), (".ze_info", &zeinfo)]);
    let both = archive(&[("dg2", &program), ("pvc", &program)]);
    for (name, bytes, what) in [("bare.zebin", &program, "blur"), ("bare.ar", &both, "dg2")] {
        let (code, out, err) = asked(name, bytes, &["dis", "{}"]);
        assert_eq!((code, out), (2, String::new()));
        assert!(err.contains(what) && err.contains("help:"), "{err}");
        // What its metadata say is shown all the same.
        if name == "bare.zebin" {
            let (code, out, _) = asked(name, bytes, &["info", "{}"]);
            assert!(code == 0 && out.contains("blur"), "{out}");
        }
    }
}
