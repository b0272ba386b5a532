//! Formatted texts keep their meaning, and formatting them again changes nothing.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout
)]

use visakit_testing::corpus::{Corpus, objects};
use visakit_text::asm::{Options, assemble, assemble_in_any_dialect};
use visakit_text::{Form, format};

fn formatted(text: &str) -> String {
    let tidy = format(text.as_bytes(), &Options::default());
    String::from_utf8(tidy.unwrap_or_else(|f| panic!("{}", f[0]))).unwrap()
}

/// Formats a text and checks the laws.
fn check(name: &str, text: &[u8]) -> bool {
    let options = Options::default();
    let Ok(before) = assemble_in_any_dialect(text, &options) else {
        return false;
    };
    let tidy = format(text, &options).unwrap_or_else(|f| panic!("{name}: {}", f[0]));
    let after = assemble_in_any_dialect(&tidy, &options);
    let after = after.unwrap_or_else(|f| {
        let (line, column) = f[0].span.place(&tidy);
        let line = String::from_utf8_lossy(tidy.split(|c| *c == b'\n').nth(line - 1).unwrap());
        panic!("{name}: {} at {column} of {line}", f[0])
    });
    assert!(before.object == after.object, "{name}: says something else");
    let again = format(&tidy, &options).unwrap_or_else(|f| panic!("{name}: {}", f[0]));
    if tidy != again {
        let same = tidy.iter().zip(&again).take_while(|(a, b)| a == b).count();
        let around = |t: &[u8]| {
            let end = t.len().min(same + 40);
            String::from_utf8_lossy(&t[same.saturating_sub(80)..end]).into_owned()
        };
        panic!("{name}: {:?} becomes {:?}", around(&tidy), around(&again));
    }
    true
}

#[test]
fn nothing_else_changes() {
    let (mut count, mut bytes) = (0, 0);
    for (name, text) in visakit_testing::corpus::texts() {
        if check(&name, &text) {
            count += 1;
            bytes += text.len();
        }
    }
    println!("{count} texts, {bytes} bytes: formatted, and the same when assembled");
    assert!(count >= 6);
}

#[test]
fn every_production_keeps_its_meaning() {
    for line in include_str!("grammar/accepted.txt").lines() {
        let line = line
            .rsplit('|')
            .next()
            .unwrap_or_default()
            .replace("\\n", "\n");
        for line in [
            line.to_ascii_uppercase(),
            line.clone(),
            line.replace(' ', " /* x */ "),
        ] {
            let text = format!(
                ".version 4.1\n.kernel \"k\"\n.decl U v_type=G type=ud num_elts=256 align=GRF\n\
                 .decl D v_type=G type=d num_elts=256\n.decl F v_type=G type=f num_elts=256\n\
                 .decl H v_type=G type=hf num_elts=256\n.decl DF v_type=G type=df num_elts=64\n\
                 .decl Q v_type=G type=uq num_elts=64\n.decl W v_type=G type=uw num_elts=256\n\
                 .decl B v_type=G type=ub num_elts=256\n.decl A0 v_type=A num_elts=16\n\
                 .decl A1 v_type=A num_elts=1\n.decl P1 v_type=P num_elts=16\n\
                 .decl P2 v_type=P num_elts=16\n.decl P3 v_type=P num_elts=16\n\
                 .decl S0 v_type=S num_elts=1\n.decl T6 v_type=T num_elts=1\n\
                 .kernel_attr SimdSize=16\n    {line}\nL1:\n"
            );
            check(&line, text.as_bytes());
        }
    }
}

#[test]
fn freedoms_become_one_form() {
    let free = "\u{feff}// head\n\n\n.version   4.1\r\n.kernel k  // the kernel\n\n\n\
        .decl  V1x v_type = G type=d\tnum_elts = 1 ? 8 : 4 align=GRF alias = < %null , 0 > attrs = \
        {Output,NoWidening = 1}/* both */\n.decl P1 v_type=P num_elts=16\n\
        .kernel_attr Target=\"3d\" MOV(8)V1x<1>0x2a:D   /// $0\n  L1 :   // here\n\
        (!P1)ADD.SAT( m1_nm ,16)V1x( 0, 1-1 )<1>(-)V1x(0,(0))<8;(4+4),1> \\\n (0x20/2):D /* a\n \
        b */\n{\n// inner\nRET /* c */ (1) // end\n}\n\n\n// last";
    let tidy = "// head\n\n.version 4.1\n.kernel k // the kernel\n\n\
        .decl V1x v_type=G type=d num_elts=1 ? 8 : 4 align=GRF alias=<%null, 0> \
        attrs={Output, NoWidening=1} /* both */\n.decl P1 v_type=P num_elts=16\n\
        .kernel_attr Target=\"3d\"\n    mov (M1, 8) V1x<1> 0x2a:D\nL1: // here\n    \
        (!P1) add.sat (M1_NM, 16) V1x(0,1-1)<1> (-)V1x(0,(0))<8;(4+4),1> (0x20/2):D /* a\n b */\n\
        {\n        // inner\n        ret (M1, 1) /* c */ // end\n}\n\n// last\n";
    assert_eq!(formatted(free), tidy);
    assert!(check("free", free.as_bytes()));
}

#[test]
fn names_stay_apart() {
    let text = ".version 4.1\n.kernel k\n.decl V v_type=G type=d num_elts=8\n\
        switchjmp (1) V(0,%sizeof  V-%sizeof V)<0;1,0> ( a-b   -c,a-b )\na-b:\n-c:\nret (1)\n";
    assert!(check("names", text.as_bytes()));
    let line = "    switchjmp (M1, 1) V(0,%sizeof V-%sizeof V)<0;1,0> (a-b, -c, a-b)";
    assert!(formatted(text).contains(line), "{}", formatted(text));
}

#[test]
fn faulty_texts_are_refused() {
    let faults = format(
        b".version 4.1\n.kernel k\nmvo (M1, 1)\n",
        &Options::default(),
    );
    assert_eq!(faults.unwrap_err().len(), 1);
}

/// Directives in comments keep their meaning: exact text is still exact.
#[test]
fn exact_text_still_carries_every_byte() {
    let lenient = visakit_parse::ReadOptions {
        lenient: true,
        dialect: None,
    };
    let (mut count, mut directives) = (0, 0);
    objects(Corpus::Real, |name, bytes| {
        let whole = bytes.len();
        for end in [whole, whole - 1, whole / 2] {
            // Larger objects are not damaged.
            if end != whole && whole > 16_000 {
                continue;
            }
            let bytes = &bytes[..end];
            let Ok(decoded) = visakit_parse::read_with(bytes, lenient) else {
                continue;
            };
            let exact = crate::text_of(&decoded.object, Form::Exact);
            let said = |text: &[u8]| text.windows(3).filter(|w| w == b"//@").count();
            let tidy = format(&exact, &Options::default());
            let tidy = tidy.unwrap_or_else(|f| panic!("{name}: {}", f[0]));
            assert_eq!(said(&exact), said(&tidy), "{name}");
            let made = assemble(&tidy, &Options::default());
            let made = made.unwrap_or_else(|f| panic!("{name}: {}", f[0]));
            let written = visakit_encode::write(&made).unwrap();
            assert!(written == bytes, "{name}: other bytes");
            let again = format(&tidy, &Options::default()).unwrap();
            assert!(again == tidy, "{name}: changes again");
            count += 1;
            directives += said(&exact);
        }
    });
    println!("{count} exact texts, {directives} directives: formatted, and every byte the same");
    assert!(count >= 6 && directives > 0);
}

#[test]
fn directives_stay_where_they_are() {
    let text = ".version 4.1\n//@   dialect reader-2024-09\n.kernel k //@ x\n";
    assert!(format(text.as_bytes(), &Options::default()).is_err());
    let text = ".version 4.1\n.kernel  \"k\"\n   //@ no_target\n.decl V v_type=G type=d num_elts=8\n\
        {\n//@  m1_code 0\nMOV(8)V(0,0)<1>5:d    //@ src1.low+0x0  \n}\nret(1)//@ exec_size+0x90\n";
    let faults = format(text.as_bytes(), &Options::default()).unwrap_err();
    assert_eq!(faults.len(), 1, "the line has no second source");
    let text = text.replace("src1.low+0x0", "src0.low+0x10");
    let tidy = ".version 4.1\n.kernel \"k\"\n//@ no_target\n.decl V v_type=G type=d num_elts=8\n\
        {\n        //@  m1_code 0\n        mov (M1, 8) V(0,0)<1> 5:d //@ src0.low+0x10\n}\n    \
        ret (M1, 1) //@ exec_size+0x90\n";
    assert_eq!(formatted(&text), tidy);
    assert!(check("directives", text.as_bytes()));
}

/// The dialect that a text states is not overruled by what its lines need.
#[test]
fn the_dialect_of_a_text_counts() {
    use visakit_isa::Dialect;
    let none = ".version 4.1\n.kernel k\nret (1)\n";
    let dialect = |text: &str| {
        let object = assemble_in_any_dialect(text.as_bytes(), &Options::default());
        object.map(|made| made.object.dialect)
    };
    assert_eq!(dialect(none), Ok(Dialect::default()));
    for stated in Dialect::ALL {
        let text = format!("//@ dialect {}\n{none}", stated.name());
        assert_eq!(dialect(&text), Ok(stated));
    }
}
