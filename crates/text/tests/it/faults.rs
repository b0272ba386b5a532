//! What the assembler says about faulty texts.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // helpers of tests

use visakit_isa::{Dialect, Version, table::Op};
use visakit_testing::effort::spent;
use visakit_text::asm::{
    Declarations, Diagnostic, DiagnosticKind, Options, assemble, assemble_with_source_map,
};

const HEAD: &str = ".version 4.1
.kernel \"k\"
.decl V1x v_type=G type=d num_elts=32 align=GRF
.decl V2x v_type=G type=d num_elts=32 align=GRF
.decl VQ v_type=G type=uq num_elts=8 align=GRF
.decl P1 v_type=P num_elts=16
.decl A0 v_type=A num_elts=8
.decl T6 v_type=T num_elts=1
";

fn faults(text: &str) -> Vec<Diagnostic> {
    let errors = assemble(text.as_bytes(), &Options::default()).unwrap_err();
    errors.into_vec()
}

/// The only fault of a line after the header, which must be at `place`.
fn fault(line: &str, place: &str) -> Diagnostic {
    let text = format!("{HEAD}    {line}\n    ret (M1, 1)\n");
    let all = faults(&text);
    assert_eq!(all.len(), 1, "{line}: {all:?}");
    let fault = all.into_iter().next().unwrap();
    assert_eq!(&text[fault.span.start..fault.span.end()], place, "{fault}");
    fault
}

macro_rules! kinds {
    ($($name:ident $line:literal at $place:literal => $kind:ident $message:literal;)*) => {$(
        #[test]
        fn $name() {
            let fault = fault($line, $place);
            assert_eq!(fault.kind, DiagnosticKind::$kind);
            assert_eq!(fault.to_string(), $message);
        }
    )*};
}

kinds! {
    unknown_opcode "mvo (M1, 16) V1x(0,0)<1> 0:d" at "mvo"
        => UnknownOpcode "no instruction is called `mvo` (did you mean `mov`?)";
    illegal_execution_size "mov (M1, 12) V1x(0,0)<1> 0:d" at "12"
        => IllegalExecSize "12 lanes are not a legal execution size, expected 1, 2, 4, 8, 16 or 32";
    illegal_mask "mov (M9, 16) V1x(0,0)<1> 0:d" at "M9"
        => IllegalExecSize "no execution mask is called `M9`, expected M1 to M8, with _NM for all lanes";
    undeclared_variable "mov (M1, 16) V1y(0,0)<1> 0:d" at "V1y"
        => Undeclared "`V1y` is not declared (did you mean `V1x`?)";
    duplicate_declaration ".decl V1x v_type=G type=d num_elts=1" at "V1x"
        => DuplicateDeclaration "`V1x` is declared twice";
    missing_label "goto (M1, 16) nowhere" at "nowhere"
        => MissingLabel "label `nowhere` is never placed, expected a line `nowhere:`";
    missing_region "mov (M1, 16) V1x(0,0)<1> V2x(0,0)" at "V2x(0,0)"
        => MissingRegion "the operand has no region, expected a region such as `<1;1,0>`, or `<0;1,0>` for one element";
    missing_destination_region "mov (M1, 16) V1x(0,0) 0:d" at "V1x(0,0) "
        => MissingRegion "the operand has no region, expected a region such as `<1>`";
    region_value "mov (M1, 16) V1x(0,0)<1> V2x(0,0)<3;1,0>" at "3"
        => RegionValue "no region has 3 here, expected 0 or a power of two up to 32";
    destination_stride "mov (M1, 16) V1x(0,0)<8> 0:d" at "8"
        => RegionValue "no destination has this stride, expected 0, 1, 2 or 4";
    immediate_range "mov (M1, 16) V1x(0,0)<1> 70000:w" at "70000"
        => ImmediateRange "70000 does not fit into the type w, expected a number from -32768 to 65535";
    immediate_type "and (M1, 16) V1x(0,0)<1> V2x(0,0)<1;1,0> 1.5:f" at "1.5:f"
        => ImmediateType "src1 cannot be a constant of type f, expected one of the types ud d uw w ub b uq q";
    immediate_with_fraction "mov (M1, 16) V1x(0,0)<1> 1.5:d" at "1.5"
        => ImmediateType "a number with a fraction cannot be of type d, expected the type f or df, or the bits as `0x3c00:hf`";
    too_few_operands "add (M1, 16) V1x(0,0)<1> V2x(0,0)<1;1,0>" at ""
        => OperandCount "`add` takes 3 operands, here are 2, expected the operand src1";
    too_many_operands "mov (M1, 16) V1x(0,0)<1> 0:d 0:d" at "0"
        => OperandCount "`mov` takes no more than 2 operands, expected the end of the line";
    wrong_operand_class "add (M1, 16) V1x(0,0)<1> P1 0:d" at "P1"
        => OperandClass "src0 cannot be of class predicate, expected class general or indirect or immediate";
    modifier_of_a_constant "shl (M1, 16) V1x(0,0)<1> V2x(0,0)<1;1,0> (-)0x2:d" at "(-)"
        => OperandClass "constants and addresses take no source modifier, expected the value itself, such as `-2:d`";
    modifier_of_an_address "mov (M1, 1) A0(0)<1> (-)&V1x" at "(-)"
        => OperandClass "constants and addresses take no source modifier, expected the value itself, such as `-2:d`";
    saturated_return "ret.sat (M1, 1)" at ".sat"
        => Syntax "`ret` has no destination that saturates, expected the instruction without `.sat`";
    aligned_predicate ".decl P2 v_type=P align=GRF num_elts=8" at "P2"
        => Syntax "only general variables are aligned or aliases, expected a declaration without `align=` and `alias=`";
    raw_operand "add (M1, 16) V1x(0,0)<1> V2x.0 0:d" at "V2x."
        => OperandClass "a raw operand where one with a region is taken, expected an operand such as `V32(0,0)<1;1,0>`";
    surface_class "oword_ld (1) V1x 0:ud V2x.0" at "V1x"
        => OperandClass "`V1x` is a general variable, expected a surface";
    unknown_attribute ".decl V3x v_type=G type=d num_elts=1 attrs={Ouptut}" at "Ouptut"
        => UnknownAttribute "no attribute is called `Ouptut` (did you mean `Output`?)";
    unterminated_string ".file \"kernel.cm" at "\"kernel.cm"
        => UnterminatedString "the string has no end, expected `\"` on the same line";
    unterminated_comment "barrier /* and *" at "/*"
        => UnterminatedComment "the comment has no end, expected `*/` after it";
    unterminated_short_comment "/*/ barrier" at "/*"
        => UnterminatedComment "the comment has no end, expected `*/` after it";
    no_break_space "mov (M1, 16)\u{a0}V1x(0,0)<1> 0:d" at "\u{a0}"
        => Syntax "unexpected `\u{a0}`, expected an operand";
    name_in_another_script "öse (M1, 16)" at "ö"
        => Syntax "unexpected `ö`, expected an instruction, a label or a directive";
    too_small_for_64_bits "mov (M1, 1) VQ(0,0)<1> -9223372036854775809:q" at "-9223372036854775809"
        => ImmediateRange "-9223372036854775809 does not fit into the type q, expected a number from -9223372036854775808 to 18446744073709551615";
    too_large_for_32_bits "mov (M1, 1) V1x(0,0)<1> 18446744073709551615:d" at "18446744073709551615"
        => ImmediateRange "18446744073709551615 does not fit into the type d, expected a number from -2147483648 to 4294967295";
    trailing_text "barrier now" at "now"
        => TrailingText "text after the end of `barrier`, expected the end of the line";
    trailing_text_of_a_directive ".input T6 offset=32 size=4 )" at ")"
        => Syntax "unexpected `)`, expected `offset=` or `size=`";
    brace_behind_an_instruction "mov (M1, 1) V1x(0,0)<1> 0:d }" at "}"
        => Misplaced "no scope is open here";
    no_predicate "(P1) cmp.lt (M1, 16) P1 V1x(0,0)<1;1,0> 0:d" at "(P1)"
        => NotPredicable "`cmp` cannot be predicated";
    no_binary_form "breakpoint" at "breakpoint"
        => NotInVersion "version 4.1 has no `breakpoint` (4.2 has it, and exists as text only)";
    unknown_directive ".dcel V3 v_type=G" at ".dcel"
        => Syntax "no directive is called `.dcel` (did you mean `.decl`?)";
    division_by_zero "mov (M1, 16) V1x(0,0)<1/0> 0:d" at "1/0"
        => ImmediateRange "division by zero";
}

#[test]
fn compilers_write_constants_where_variables_are_listed() {
    let text =
        format!("{HEAD}    dp4a (M1, 16) V1x(0,0)<1> 0x0:d V2x(0,0)<1;1,0> V2x(0,0)<1;1,0>\n");
    assert!(assemble(text.as_bytes(), &Options::default()).is_ok());
}

/// A comment that has no end would swallow the rest of the text, wherever it begins.
#[test]
fn comments_have_an_end() {
    let text = format!(
        "{HEAD}    barrier // /* no comment\n    barrier /* a\n comment */ /**/\n    ret (M1, 1)\n"
    );
    assert!(assemble(text.as_bytes(), &Options::default()).is_ok());
    for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
        // Within a comment to the end of the line, it is none; in a comment, the end of that ends it.
        let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let open = text[..at].rfind("/*") > text[..at].rfind("*/");
        if text[line..at].contains("/") || open {
            continue;
        }
        let cut = format!("{}/* {}", &text[..at], text[at..].replace("*/", ""));
        let errors = assemble(cut.as_bytes(), &Options::default()).unwrap_err();
        assert!(!errors.into_vec().is_empty(), "{cut}");
        assert!(visakit_text::format(cut.as_bytes(), &Options::default()).is_err());
    }
    let head = HEAD.as_bytes();
    let mut known = Declarations::new(head, &Options::default()).unwrap();
    for fragment in ["barrier /*", "/* barrier", "/**/ barrier /* *"] {
        assert!(
            known.instruction(fragment.as_bytes()).is_err(),
            "{fragment}"
        );
    }
    assert!(known.instruction(b"barrier /* */").is_ok());
    assert!(known.source(b"0x1:d /*").is_err());
}

/// Whatever stands in a line that is no text: the places of faults are between characters.
#[test]
fn faults_are_whole_characters() {
    for c in ["\u{a0}", "é", "→", "𝄞", "\u{301}", "\u{feff}"] {
        let line = "    mov (M1, 16) V1x(0,0)<1> V2x(0,0)<1;1,0>\n";
        for at in 0..line.len() {
            let text = format!("{HEAD}{}{c}{}    ret (M1, 1)\n", &line[..at], &line[at..]);
            for fault in faults(&text) {
                let (start, end) = (fault.span.start, fault.span.end());
                assert!(
                    text.is_char_boundary(start) && text.is_char_boundary(end),
                    "{text}: {fault}"
                );
                assert!(!fault.to_string().contains('\u{fffd}'), "{fault}");
            }
        }
    }
    // What is too long to be shown is cut between characters, too.
    let long = format!("{HEAD}    {}\n", "é".repeat(100));
    assert!(
        !faults(&long)
            .iter()
            .any(|f| f.to_string().contains('\u{fffd}'))
    );
    // Bytes that are no characters stand for themselves.
    let mut text = HEAD.as_bytes().to_vec();
    text.extend(b"    mov (M1, 16) \xff\xfe\n");
    assert!(assemble(&text, &Options::default()).is_err());
}

#[test]
fn duplicate_label() {
    let all = faults(&format!("{HEAD}L1:\nL2:\nL1:\n"));
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].kind, DiagnosticKind::DuplicateLabel);
    assert!(all[0].related.is_some());
}

#[test]
fn versions_that_have_an_instruction_are_named() {
    let options = Options {
        version: Some(Version::V3_6),
        ..Options::default()
    };
    let text = ".version 4.1\n.kernel \"k\"\n    nbarrier.wait 0x1:ub\n";
    let all = assemble(text.as_bytes(), &options).unwrap_err();
    assert_eq!(all[0].kind, DiagnosticKind::NotInVersion);
    let said = "version 3.6 has no `nbarrier.wait` (versions that have it: since 3.8)";
    assert_eq!(all[0].to_string(), said);
}

#[test]
fn all_faults_are_found() {
    let text =
        format!("{HEAD}    mvo (M1, 1)\n    ret (M1, 3)\n    jmp (M1, 1) L9\n    ret (M1, 1) ;\n");
    let kinds: Vec<_> = faults(&text).iter().map(|f| f.kind).collect();
    use DiagnosticKind::{IllegalExecSize, MissingLabel, TrailingText, UnknownOpcode};
    assert_eq!(
        kinds,
        [UnknownOpcode, IllegalExecSize, MissingLabel, TrailingText]
    );
}

#[test]
fn places_are_lines_and_columns() {
    let text = format!("{HEAD}    ret (M1, 3)\n");
    let all = faults(&text);
    assert_eq!(all[0].span.place(text.as_bytes()), (9, 14));
}

#[test]
fn freedoms_of_the_language() {
    let tidy = format!(
        "{HEAD}    (P1) add.sat (M1_NM, 16) V1x(0,0)<1> (-)V2x(1,2)<8;8,1> 0x10:d\n\
         \x20   mov (M1, 8) V1x(0,0)<1> 0x3f800000:f\nL1:\n    ret (M1, 1)\n"
    );
    let free = format!(
        "\n{HEAD}// nothing\n(P1)ADD.SAT( m1_nm ,16)V1x( 0, 1-1 )<1>(-)V2x(1,(2))<8;(4+4),1> \\\n  \
         (0x20/2):D /* done\n */\nmov(8)V1x<1>1.0:f // end\n  L1 :\nRET (1)"
    );
    let options = Options::default();
    let tidy = assemble(tidy.as_bytes(), &options).unwrap();
    let free = assemble(free.as_bytes(), &options).unwrap();
    assert_eq!(tidy, free);
}

#[test]
fn scopes_hide_names() {
    let text = format!(
        "{HEAD}{{\n.decl V1x v_type=G type=f num_elts=8\n    mov (M1, 8) V1x(0,0)<1> 0:f\n}}\n    \
         mov (M1, 8) V1x(0,0)<1> 0:d\n"
    );
    let object = assemble(text.as_bytes(), &Options::default()).unwrap();
    let body = object.kernels[0].body().unwrap();
    assert_eq!(body.variables.len(), 4);
    let first = |i: usize| body.instructions().nth(i).unwrap().fields[2];
    assert_ne!(first(0), first(1));
}

#[test]
fn newest_texts_become_the_newest_objects() {
    let text = b".version 4.2\n.kernel \"k\"\n    ret (M1, 1)\n";
    let object = assemble(text, &Options::default()).unwrap();
    assert_eq!(object.version, Version::V4_1);
    assert_eq!(object.dialect, Dialect::Writer2018);
}

/// No text of a length takes 50 times as long as an ordinary one.
#[test]
fn no_text_takes_long() {
    let many = 1 << 20;
    let line = |text: &str| text.repeat(many / text.len());
    let within = |text: String| format!("{HEAD}{text}");
    let mut texts = vec![
        line("(").into_bytes(),
        line("\0").into_bytes(),
        vec![0xff; many],
        line("x").into_bytes(),
        line(" ").into_bytes(),
        line("\n").into_bytes(),
        line("/*").into_bytes(),
        line("\\\n").into_bytes(),
        line("\"").into_bytes(),
        line("{").into_bytes(),
        within(line("(")).into_bytes(),
        within(line("{\n")).into_bytes(),
        within(line("{}")).into_bytes(),
        within(line("}\n")).into_bytes(),
        within(line("mvo\n")).into_bytes(),
        within(line("mov (M1, 16) V1x(0,0)<1> Vyx(0,0)<1;1,0>\n")).into_bytes(),
        within(line("    jmp (M1, 1) L\n")).into_bytes(),
        within(line("L:\n")).into_bytes(),
        within(format!("mov (M1, 16) V1x({}", line("("))).into_bytes(),
        within(format!("mov (M1, 16) V1x(0,0)<1> {}", line("-"))).into_bytes(),
        within(format!("mov (M1, 16) V1x(0,0)<1> {}", line("0"))).into_bytes(),
        within(format!("mov (M1, 16) V1x(0,0)<1> {}", line("1+"))).into_bytes(),
        within(format!("mov (M1, 16) V1x({}", line("1?"))).into_bytes(),
        within(format!("mov (M1, 16) V1x({}", line("1?2:"))).into_bytes(),
        within(format!("mov (M1, 16) V1x({}", line("(1?"))).into_bytes(),
        within(format!("mov (M1, 16) {}(0,0)<1> 0:d", line("V"))).into_bytes(),
        within(format!("{} (M1, 16)", line("mov"))).into_bytes(),
        within(format!("    jmp (M1, 1) {}", line("L.-$@?"))).into_bytes(),
        within(line("nbarrier.signal 0:ub 0:ub 0:ub 0:ub 0:ub\n")).into_bytes(),
        within(line("lsc_load.ugm.ca.ca.ca.ca\n")).into_bytes(),
        within(line("/* */ret (1)// x\n")).into_bytes(),
        within(line("ret (1)\\\n\n")).into_bytes(),
        within(format!("switchjmp (M1, 1) V1x(0,0)<0;1,0> ({}", line("L,"))).into_bytes(),
        within(format!("load_3d.RGBA (M1, 8) 0:uw T6 {}", line("V1x.0 "))).into_bytes(),
        within(format!(".file \"{}\"", line("\\\\"))).into_bytes(),
        within(format!(".decl V9 attrs={{{}", line("Output,"))).into_bytes(),
    ];
    let numbered: String = (0..many / 32)
        .map(|i| format!("    jmp (M1, 1) L{i}\n    mov (M1, 1) W{i}\n"))
        .collect();
    texts.push(within(numbered).into_bytes());
    let ordinary = within(line("mov (M1, 16) V1x(0,0)<1> V2x(0,0)<1;1,0>\n"));
    assert!(assemble(ordinary.as_bytes(), &Options::default()).is_ok());
    let limit = spent(|| read_in_every_way(ordinary.as_bytes())) * 50;
    for text in texts {
        let took = spent(|| read_in_every_way(&text));
        let name = String::from_utf8_lossy(&text[..text.len().min(400)]).into_owned();
        assert!(took < limit, "{took:?} of {limit:?} for {name}");
    }
}

/// Assembles, formats and takes apart a text, whose messages are few and short.
fn read_in_every_way(text: &[u8]) {
    let result = assemble(text, &Options::default());
    if let Err(faults) = &result {
        assert!(faults.len() <= 1001, "{} faults", faults.len());
        let longest = faults.iter().map(|f| f.to_string().len()).max();
        assert!(longest < Some(1000), "a message of {longest:?} bytes");
    }
    let formatted = visakit_text::format(text, &Options::default());
    assert_eq!(formatted.is_ok(), result.is_ok());
    assert!(visakit_text::tokens(text).count() <= text.len());
    let mut known = Declarations::new(HEAD.as_bytes(), &Options::default()).unwrap();
    let _ = (known.instruction(text), known.source(text));
}

#[test]
fn fragments_leave_no_trace_where_they_fail() {
    let mut known = Declarations::new(HEAD.as_bytes(), &Options::default()).unwrap();
    let code = known.body().code.len();
    for text in [
        "",
        "  // nothing",
        "mvo (M1, 1)",
        "ret (M1, 1)\nret (M1, 1)",
        "ret (M1, 1) x",
    ] {
        assert!(known.instruction(text.as_bytes()).is_err(), "{text}");
        assert!(known.source(text.as_bytes()).is_err(), "{text}");
        assert_eq!(known.body().code.len(), code);
    }
    let jump = known
        .instruction(b"// above\n  jmp (M1, 1) L7 // behind\n")
        .unwrap();
    assert_eq!(jump.spans.len(), 2);
    assert_eq!(known.body().labels.len(), 1);
    let placed = known.instruction(b"L7:").unwrap();
    assert_eq!(placed.instruction.op, Op::LABEL);
    let twice = known.instruction(b"L7:").unwrap_err();
    assert_eq!(twice.message, "the label is placed twice");
    assert_eq!(known.body().labels.len(), 1);
    assert_eq!(known.body().code.len(), code);
    assert!(known.destination(b"V1x(0,0)<1>").is_ok());
    assert!(known.destination(b"V1x(0,0)<1;1,0>").is_err());
    assert!(Declarations::new(b".version 4.1\n", &Options::default()).is_err());
}

/// Compiled objects contain such aliases.
#[test]
fn an_alias_that_overruns_its_parent_is_a_warning() {
    let line = ".decl V3x v_type=G type=d num_elts=32 alias=<V1x, 4>";
    let text = format!("{HEAD}{line}\n    ret (M1, 1)\n");
    let made = assemble_with_source_map(text.as_bytes(), &Options::default()).unwrap();
    assert_eq!(made.warnings.len(), 1);
    let warning = &made.warnings[0];
    assert_eq!(warning.kind, DiagnosticKind::AliasBounds);
    assert_eq!(
        warning.to_string(),
        "the alias ends at byte 132 of a variable of 128 bytes"
    );
    assert_eq!(&text[warning.span.start..warning.span.end()], "V1x, 4");
}

/// Errors can be propagated with `?`, and display the first fault with its place.
#[test]
fn errors_are_one_error() {
    fn twice() -> Result<(), Box<dyn std::error::Error>> {
        assemble(b".version 4.1\n.kernel k\nmvo\nmvo\n", &Options::default())?;
        Ok(())
    }
    let error = twice().unwrap_err();
    assert_eq!(
        error.to_string(),
        "3:1: no instruction is called `mvo` (did you mean `mov`?), and one more fault"
    );
    assert!(error.source().is_some());
}

/// The first place that depends on the size of a register is reported, unless options or the text state that
/// size.
#[test]
fn the_size_of_a_register_is_asked_for_where_it_matters() {
    let with = |line: &str, grf_bytes| {
        let text = format!("{HEAD}{line}    ret (M1, 1)\n");
        let options = Options {
            grf_bytes,
            ..Options::default()
        };
        let made = assemble_with_source_map(text.as_bytes(), &options).unwrap();
        let place = made.undecided.map(|fault| {
            assert_eq!(fault.kind, DiagnosticKind::RegisterSize);
            text[fault.span.start..fault.span.end()].to_owned()
        });
        (place, made.object.into_owned())
    };
    for (line, place) in [
        ("    mov (M1, 8) V1x(0,0)<1> %sizeof(GRF):d\n", "GRF"),
        ("    mov (M1, 8) V1x(0,0)<1> (2*%sizeof GRF + 1):d\n", "GRF"),
        (
            ".decl V3x v_type=G type=b num_elts=%sizeof(GRF) align=GRF\n",
            "GRF",
        ),
        ("    addr_add (M1, 1) A0(0)<1> &V1x[64] 0x0:uw\n", "V1x"),
    ] {
        let (undecided, small) = with(line, None);
        assert_eq!(undecided.as_deref(), Some(place), "{line}");
        let (known, large) = with(line, Some(64));
        assert_eq!(known, None, "{line}");
        assert_ne!(small, large, "{line}");
        assert_eq!(
            with(&format!("//Platform: PVC\n{line}"), None),
            (None, large)
        );
    }
    // A variable of that name has its own size, and small offsets are the same place.
    for line in [
        ".decl GRF v_type=G type=d num_elts=4\n    mov (M1, 8) V1x(0,0)<1> %sizeof(GRF):d\n",
        "    mov (M1, 8) V1x(0,0)<1> %sizeof(V2x):d\n",
        "    addr_add (M1, 1) A0(0)<1> &V1x[16] 0x0:uw\n",
    ] {
        assert_eq!(with(line, None).0, None, "{line}");
    }
}
