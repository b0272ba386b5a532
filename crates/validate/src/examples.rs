//! Examples for rules: lines that break one, and lines that do not.
//!
//! Tests hold that each breaks its rule and no other, and that its right form breaks none.

use crate::rule::Rule;
use crate::rules as r;
use alloc::string::String;

/// An example for a rule.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// The rule.
    pub rule: &'static Rule,
    /// The platform that it is about; empty for any.
    pub platform: &'static str,
    /// Declarations besides [`DECLARATIONS`].
    pub declarations: &'static str,
    /// Lines of code that break the rule.
    pub wrong: &'static str,
    /// Declarations and lines that do not, where there is a right form.
    pub right: Option<(&'static str, &'static str)>,
}

/// The variables of all examples.
pub const DECLARATIONS: &str = "\
.decl D0 v_type=G type=d num_elts=128 align=GRF
.decl D1 v_type=G type=d num_elts=128 align=GRF
.decl U0 v_type=G type=ud num_elts=128 align=GRF
.decl U1 v_type=G type=ud num_elts=128 align=GRF
.decl W0 v_type=G type=w num_elts=64 align=GRF
.decl B0 v_type=G type=ub num_elts=64 align=GRF
.decl F0 v_type=G type=f num_elts=128 align=GRF
.decl F1 v_type=G type=f num_elts=64 align=GRF
.decl H0 v_type=G type=hf num_elts=64 align=GRF
.decl N0 v_type=G type=bf num_elts=64 align=GRF
.decl X0 v_type=G type=df num_elts=32 align=GRF
.decl Q0 v_type=G type=q num_elts=32 align=GRF
.decl Z0 v_type=G type=uq num_elts=32 align=GRF
.decl I0 v_type=G type=d num_elts=1 align=dword
.decl O0 v_type=G type=uq num_elts=1 align=qword
.decl A0 v_type=A num_elts=16
.decl A1 v_type=A num_elts=2
.decl P1 v_type=P num_elts=16
.decl P2 v_type=P num_elts=32
.decl S0 v_type=S num_elts=1
.decl T6 v_type=T num_elts=1
";

/// The example of a rule, if there is one.
#[must_use]
pub fn of(rule: &Rule) -> Option<&'static Example> {
    ALL.iter().find(|example| example.rule == rule)
}

impl Example {
    /// How one of its forms is shown: the relevant declarations, and the lines.
    #[must_use]
    pub fn shown(declarations: &str, lines: &str) -> String {
        let mut text = String::new();
        let named = |declaration: &&str| {
            let name = declaration.split(' ').nth(1).unwrap_or_default();
            let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let mut words = declarations
                .split(|c| !is_word(c))
                .chain(lines.split(|c| !is_word(c)));
            words.any(|word| word == name)
        };
        for line in DECLARATIONS
            .lines()
            .filter(named)
            .chain(declarations.lines())
        {
            text.push_str(line);
            text.push('\n');
        }
        for line in lines.lines() {
            text.push_str(line);
            text.push('\n');
        }
        text
    }
}

/// Operands of block-scaled products.
const BLOCK_SCALED: &str = "\
.decl SUM v_type=G type=f num_elts=128 align=GRF
.decl HALVES v_type=G type=hf num_elts=256 align=GRF";

/// All examples, in the order of their rules.
pub static ALL: &[Example] = &[
    Example {
        rule: &r::ALIAS_OFFSET_ALIGNMENT,
        platform: "",
        declarations: ".decl V9 v_type=G type=d num_elts=1 align=dword alias=<W0,2>",
        wrong: "mov (M1, 1) I0(0,0)<1> 0x1:d",
        right: Some((
            ".decl V9 v_type=G type=d num_elts=1 align=dword alias=<W0,4>",
            "mov (M1, 1) I0(0,0)<1> 0x1:d",
        )),
    },
    Example {
        rule: &r::ALIAS_ALIGNMENT,
        platform: "",
        declarations: ".decl VB v_type=G type=ub num_elts=8 align=byte\n.decl V9 v_type=G type=d num_elts=1 align=dword alias=<VB,0>",
        wrong: "mov (M1, 1) I0(0,0)<1> 0x1:d",
        right: Some((
            ".decl VB v_type=G type=ub num_elts=8 align=dword\n.decl V9 v_type=G type=d num_elts=1 align=dword alias=<VB,0>",
            "mov (M1, 1) I0(0,0)<1> 0x1:d",
        )),
    },
    Example {
        rule: &r::ALIAS_PREDEFINED,
        platform: "",
        declarations: ".decl V9 v_type=G type=ud num_elts=1 align=dword alias=<%hw_id,0>",
        wrong: "mov (M1, 1) I0(0,0)<1> 0x1:d",
        right: Some((
            ".decl V9 v_type=G type=ud num_elts=1 align=dword alias=<U0,0>",
            "mov (M1, 1) I0(0,0)<1> 0x1:d",
        )),
    },
    Example {
        rule: &r::ADDRESS_ELEMENTS,
        platform: "",
        declarations: ".decl A9 v_type=A num_elts=33",
        wrong: "",
        right: Some((".decl A9 v_type=A num_elts=32", "")),
    },
    Example {
        rule: &r::PREDICATE_ELEMENTS,
        platform: "",
        declarations: ".decl P9 v_type=P num_elts=5",
        wrong: "",
        right: Some((".decl P9 v_type=P num_elts=4", "")),
    },
    Example {
        rule: &r::STATE_ELEMENTS,
        platform: "",
        declarations: ".decl S9 v_type=S num_elts=129",
        wrong: "",
        right: Some((".decl S9 v_type=S num_elts=128", "")),
    },
    Example {
        rule: &r::INPUT_OVERLAP,
        platform: "",
        declarations: ".input D0 offset=32 size=512\n.input D1 offset=64 size=512",
        wrong: "",
        right: Some((
            ".input D0 offset=32 size=512\n.input D1 offset=544 size=512",
            "",
        )),
    },
    Example {
        rule: &r::INPUT_SIZE,
        platform: "",
        declarations: ".input D0 offset=32 size=256",
        wrong: "",
        right: Some((".input D0 offset=32 size=512", "")),
    },
    Example {
        rule: &r::INPUT_STRADDLES,
        platform: "",
        declarations: ".decl V9 v_type=G type=w num_elts=8 align=word\n.input V9 offset=120 size=16",
        wrong: "",
        right: Some((
            ".decl V9 v_type=G type=w num_elts=8 align=word\n.input V9 offset=96 size=16",
            "",
        )),
    },
    Example {
        rule: &r::INPUT_OUTSIDE,
        platform: "",
        declarations: ".input D0 offset=16352 size=512",
        wrong: "",
        right: Some((".input D0 offset=1024 size=512", "")),
    },
    Example {
        rule: &r::INPUT_ALIGNMENT,
        platform: "",
        declarations: ".decl V9 v_type=G type=w num_elts=1 align=word\n.input V9 offset=33 size=2",
        wrong: "",
        right: Some((
            ".decl V9 v_type=G type=w num_elts=1 align=word\n.input V9 offset=34 size=2",
            "",
        )),
    },
    Example {
        rule: &r::OPERAND_TYPE,
        platform: "",
        declarations: "",
        wrong: "avg (M1, 8) Z0(0,0)<1> D0(0,0)<1;1,0> D0(0,0)<1;1,0>",
        right: Some(("", "avg (M1, 8) D0(0,0)<1> D0(0,0)<1;1,0> D0(0,0)<1;1,0>")),
    },
    Example {
        rule: &r::UNUSUAL_TYPE,
        platform: "",
        declarations: "",
        wrong: "fbl (M1, 8) D0(0,0)<1> U0(0,0)<1;1,0>",
        right: Some(("", "fbl (M1, 8) U0(0,0)<1> U0(0,0)<1;1,0>")),
    },
    Example {
        rule: &r::MIXED_TYPES,
        platform: "",
        declarations: "",
        wrong: "add (M1, 8) F0(0,0)<1> D0(0,0)<1;1,0> F0(0,0)<1;1,0>",
        right: Some(("", "add (M1, 8) F0(0,0)<1> F1(0,0)<1;1,0> F0(0,0)<1;1,0>")),
    },
    Example {
        rule: &r::MODIFIER_PLACE,
        platform: "",
        declarations: "",
        wrong: "cbit (M1, 8) U0(0,0)<1> (-)U0(0,0)<1;1,0>",
        right: Some(("", "cbit (M1, 8) U0(0,0)<1> U0(0,0)<1;1,0>")),
    },
    Example {
        rule: &r::MODIFIER_UNEXPECTED,
        platform: "",
        declarations: "",
        wrong: "and (M1, 8) D0(0,0)<1> (-)D0(0,0)<1;1,0> D1(0,0)<1;1,0>",
        right: Some((
            "",
            "and (M1, 8) D0(0,0)<1> (~)D0(0,0)<1;1,0> D1(0,0)<1;1,0>",
        )),
    },
    Example {
        rule: &r::SATURATION,
        platform: "",
        declarations: "",
        wrong: "mulh.sat (M1, 8) D0(0,0)<1> D0(0,0)<1;1,0> D1(0,0)<1;1,0>",
        right: Some(("", "mulh (M1, 8) D0(0,0)<1> D0(0,0)<1;1,0> D1(0,0)<1;1,0>")),
    },
    Example {
        rule: &r::SATURATION_UNEXPECTED,
        platform: "",
        declarations: "",
        wrong: "mul.sat (M1, 8) D0(0,0)<1> D0(0,0)<1;1,0> D1(0,0)<1;1,0>",
        right: Some(("", "mul (M1, 8) D0(0,0)<1> D0(0,0)<1;1,0> D1(0,0)<1;1,0>")),
    },
    Example {
        rule: &r::REGION_EXEC_SIZE,
        platform: "",
        declarations: "",
        wrong: "mov (M1, 4) D0(0,0)<1> D0(0,0)<8;8,1>",
        right: Some(("", "mov (M1, 8) D0(0,0)<1> D1(0,0)<8;8,1>")),
    },
    Example {
        rule: &r::DESTINATION_STRIDE,
        platform: "",
        declarations: "",
        wrong: "mov (M1, 4) D0(0,0)<0> D0(0,0)<4;4,1>",
        right: Some(("", "mov (M1, 4) D0(0,0)<1> D1(0,0)<4;4,1>")),
    },
    Example {
        rule: &r::REGION_BOUNDS,
        platform: "",
        declarations: "",
        wrong: "mov (M1, 16) D0(0,0)<1> D0(15,0)<1;1,0>",
        right: Some(("", "mov (M1, 8) D0(0,0)<1> D0(15,0)<1;1,0>")),
    },
    Example {
        rule: &r::COLUMN,
        platform: "",
        declarations: "",
        wrong: "mov (M1, 1) D0(0,0)<1> D0(0,16)<0;1,0>",
        right: Some(("", "mov (M1, 1) D0(0,0)<1> D0(2,0)<0;1,0>")),
    },
    Example {
        rule: &r::ADDRESS_COUNT,
        platform: "pvc",
        declarations: "",
        wrong: "mov (M1, 32) D0(0,0)<1> r[A0(0),0]<1,0>:d",
        right: Some(("", "mov (M1, 16) D0(0,0)<1> r[A0(0),0]<1,0>:d")),
    },
    Example {
        rule: &r::ADDRESS_BOUNDS,
        platform: "",
        declarations: "",
        wrong: "mov (M1, 4) D0(0,0)<1> r[A1(0),0]<1,0>:d",
        right: Some(("", "mov (M1, 2) D0(0,0)<1> r[A1(0),0]<1,0>:d")),
    },
    Example {
        rule: &r::MASK_RANGE,
        platform: "",
        declarations: "",
        wrong: "mov (M8, 16) D0(0,0)<1> D1(0,0)<1;1,0>",
        right: Some(("", "mov (M5, 16) D0(0,0)<1> D1(0,0)<1;1,0>")),
    },
    Example {
        rule: &r::MASK_ALIGNMENT,
        platform: "",
        declarations: "",
        wrong: "mov (M2, 8) D0(0,0)<1> D1(0,0)<1;1,0>",
        right: Some(("", "mov (M3, 8) D0(0,0)<1> D1(0,0)<1;1,0>")),
    },
    Example {
        rule: &r::RAW_ALIGNMENT,
        platform: "",
        declarations: "",
        wrong: "oword_ld (1) T6 0x0:ud D0.16",
        right: Some(("", "oword_ld (1) T6 0x0:ud D0.32")),
    },
    Example {
        rule: &r::RAW_BOUNDS,
        platform: "",
        declarations: "",
        wrong: "oword_ld (1) T6 0x0:ud D0.512",
        right: Some(("", "oword_ld (1) T6 0x0:ud D0.0")),
    },
    Example {
        rule: &r::RAW_SIZE,
        platform: "",
        declarations: ".decl SMALL v_type=G type=ud num_elts=8 align=GRF",
        wrong: "lsc_load.ugm (M1, 16) SMALL:d32 flat[U0]:a32",
        right: Some((
            ".decl SMALL v_type=G type=ud num_elts=16 align=GRF",
            "lsc_load.ugm (M1, 16) SMALL:d32 flat[U0]:a32",
        )),
    },
    Example {
        rule: &r::READ_ONLY,
        platform: "",
        declarations: "",
        wrong: "mov (M1, 1) %group_id_x(0,0)<1> 0x1:ud",
        right: Some(("", "mov (M1, 1) U0(0,0)<1> 0x1:ud")),
    },
    Example {
        rule: &r::PREDICATE_SIZE,
        platform: "",
        declarations: "",
        wrong: "(P1) mov (M1, 32) D0(0,0)<1> D1(0,0)<1;1,0>",
        right: Some(("", "(P2) mov (M1, 32) D0(0,0)<1> D1(0,0)<1;1,0>")),
    },
    Example {
        rule: &r::PACKED_LANES,
        platform: "",
        declarations: "",
        wrong: "mov (M1, 16) W0(0,0)<1> 0x76543210:v",
        right: Some(("", "mov (M1, 8) W0(0,0)<1> 0x76543210:v")),
    },
    Example {
        rule: &r::PREDICATED_LOGIC,
        platform: "",
        declarations: "",
        wrong: "(P1) and (M1, 16) P1 P1 P1",
        right: Some(("", "and (M1, 16) P1 P1 P1")),
    },
    Example {
        rule: &r::SELECTOR,
        platform: "",
        declarations: "",
        wrong: "sel (M1, 8) D0(0,0)<1> D0(0,0)<1;1,0> D1(0,0)<1;1,0>",
        right: Some((
            "",
            "(P1) sel (M1, 8) D0(0,0)<1> D0(0,0)<1;1,0> D1(0,0)<1;1,0>",
        )),
    },
    Example {
        rule: &r::PREDICATE_COPY,
        platform: "",
        declarations: "",
        wrong: "mov (M1, 1) F0(0,0)<1> P2",
        right: Some(("", "mov (M1, 1) U0(0,0)<1> P2")),
    },
    Example {
        rule: &r::PREDICATE_LOGIC,
        platform: "",
        declarations: "",
        wrong: "and (M1, 16) P1 P1 D0(0,0)<1;1,0>",
        right: Some(("", "and (M1, 16) P1 P1 P1")),
    },
    Example {
        rule: &r::BIT_FIELD_SIZE,
        platform: "",
        declarations: "",
        wrong: "bfi (M1, 2) D0(0,0)<1> D0(0,0)<1;1,0> D0(0,0)<1;1,0> D0(0,0)<1;1,0> D0(0,0)<1;1,0>",
        right: Some((
            "",
            "bfi (M1, 4) D0(0,0)<1> D0(0,0)<1;1,0> D0(0,0)<1;1,0> D0(0,0)<1;1,0> D0(0,0)<1;1,0>",
        )),
    },
    Example {
        rule: &r::BIT_FIELD_ALIGNMENT,
        platform: "",
        declarations: "",
        wrong: "bfi (M1, 4) D0(0,1)<1> 0x1:d 0x2:d 0x3:d D0(0,0)<1;1,0>",
        right: Some((
            "",
            "bfi (M1, 4) D0(0,4)<1> 0x1:d 0x2:d 0x3:d D0(0,0)<1;1,0>",
        )),
    },
    Example {
        rule: &r::SETP_MASK,
        platform: "",
        declarations: "",
        wrong: "setp (M1, 16) P1 0x1:ud",
        right: Some(("", "setp (M1_NM, 16) P1 0x1:ud")),
    },
    Example {
        rule: &r::ADDRESS_OF,
        platform: "",
        declarations: "",
        wrong: "addr_add (M1, 1) A0(0)<1> &%r0 0x0:w",
        right: Some(("", "addr_add (M1, 1) A0(0)<1> &D0 0x0:w")),
    },
    Example {
        rule: &r::ADDRESS_LANES,
        platform: "pvc",
        declarations: "",
        wrong: "addr_add (M1, 16) A0(2)<16> &D0 0x0:w",
        right: Some(("", "addr_add (M1, 16) A0(0)<16> &D0 0x0:w")),
    },
    Example {
        rule: &r::BRAIN_FLOAT,
        platform: "",
        declarations: "",
        wrong: "avg (M1, 8) N0(0,0)<1> N0(0,0)<1;1,0> N0(0,0)<1;1,0>",
        right: Some(("", "mul (M1, 8) F0(0,0)<1> N0(0,0)<1;1,0> F1(0,0)<1;1,0>")),
    },
    Example {
        rule: &r::CONVERSION,
        platform: "",
        declarations: "",
        wrong: "fcvt (M1_NM, 16) D0(0,0)<1> F0(0,0)<1;1,0>",
        right: Some(("", "mov (M1_NM, 16) D0(0,0)<1> F0(0,0)<1;1,0>")),
    },
    Example {
        rule: &r::SMALL_FLOAT,
        platform: "",
        declarations: ".decl SMALL v_type=G type=bf8 num_elts=16 align=GRF",
        wrong: "mov (M1_NM, 16) SMALL(0,0)<1> F0(0,0)<1;1,0>",
        right: Some((
            ".decl SMALL v_type=G type=bf8 num_elts=16 align=GRF",
            "mov (M1_NM, 16) SMALL(0,0)<1> H0(0,0)<1;1,0>",
        )),
    },
    Example {
        rule: &r::LOCAL_SURFACE,
        platform: "",
        declarations: "",
        wrong: "media_ld.nomod (16,4) %slm 0x0:ud 0x0:ud D0.0",
        right: Some(("", "media_ld.nomod (16,4) T6 0x0:ud 0x0:ud D0.0")),
    },
    Example {
        rule: &r::MEDIA_BLOCK,
        platform: "",
        declarations: "",
        wrong: "media_ld.nomod (32,9) T6 0x0:ud 0x0:ud D0.0",
        right: Some(("", "media_ld.nomod (32,8) T6 0x0:ud 0x0:ud D0.0")),
    },
    Example {
        rule: &r::DATA_SIZE,
        platform: "",
        declarations: "",
        wrong: "gather.4 (M1, 16) T6 0x0:ud U0.0 Q0.0",
        right: Some(("", "gather.4 (M1, 16) T6 0x0:ud U0.0 D0.0")),
    },
    Example {
        rule: &r::ATOMIC_OPERANDS,
        platform: "",
        declarations: "",
        wrong: "dword_atomic.inc (M1, 16) T6 U0.0 U1.0 %null.0 U1.0",
        right: Some(("", "dword_atomic.inc (M1, 16) T6 U0.0 %null.0 %null.0 U1.0")),
    },
    Example {
        rule: &r::ATOMIC_TYPES,
        platform: "",
        declarations: "",
        wrong: "dword_atomic.minsint (M1, 16) T6 U0.0 U1.0 %null.0 D1.0",
        right: Some((
            "",
            "dword_atomic.minsint (M1, 16) T6 U0.0 D0.0 %null.0 D1.0",
        )),
    },
    Example {
        rule: &r::MESSAGE_LANES,
        platform: "",
        declarations: "",
        wrong: "svm_gather.4.1 (M1, 32) Z0.0 D0.0",
        right: Some(("", "svm_gather.4.1 (M1, 16) Z0.0 D0.0")),
    },
    Example {
        rule: &r::BLOCK_LANES,
        platform: "",
        declarations: "",
        wrong: "svm_gather.4.2 (M1, 4) Z0.0 D0.0",
        right: Some(("", "svm_gather.4.2 (M1, 8) Z0.0 D0.0")),
    },
    Example {
        rule: &r::SCALED_LANES,
        platform: "",
        declarations: "",
        wrong: "gather4_scaled.R (M1, 4) T6 0x0:ud U0.0 D0.0",
        right: Some(("", "gather4_scaled.R (M1, 8) T6 0x0:ud U0.0 D0.0")),
    },
    Example {
        rule: &r::SEND_LENGTH,
        platform: "",
        declarations: "",
        wrong: "raw_send (M1, 8) 0x5 16 1 0x2100000:ud D0.0 D1.0",
        right: Some(("", "raw_send (M1, 8) 0x5 1 1 0x2100000:ud D0.0 D1.0")),
    },
    Example {
        rule: &r::CMP_DESTINATION,
        platform: "",
        declarations: "",
        wrong: "cmp.eq (M1, 8) D0(0,0)<1> X0(0,0)<1;1,0> X0(0,0)<1;1,0>",
        right: Some((
            "",
            "cmp.eq (M1, 8) Q0(0,0)<1> X0(0,0)<1;1,0> X0(0,0)<1;1,0>",
        )),
    },
    Example {
        rule: &r::DPAS_ALIGNMENT,
        platform: "",
        declarations: "",
        wrong: "dpas.s8.s8.8.4 (M1, 8) D0.0 D1.0 U0.0 U1(0,4)",
        right: Some(("", "dpas.s8.s8.8.4 (M1, 8) D0.0 D1.0 U0.0 U1(1,0)")),
    },
    Example {
        rule: &r::DPAS_SCALES,
        platform: "",
        declarations: BLOCK_SCALED,
        wrong: "bdpas.hf.hf.8.8 (M1, 16) SUM.0 SUM.0 HALVES.0 HALVES.0 B0(0,8) B0(0,0)",
        right: Some((
            BLOCK_SCALED,
            "bdpas.hf.hf.8.8 (M1, 16) SUM.0 SUM.0 HALVES.0 HALVES.0 B0(0,16) B0(0,8)",
        )),
    },
    Example {
        rule: &r::DPAS_DECLARED_ALIGNMENT,
        platform: "",
        declarations: ".decl ROWS v_type=G type=ud num_elts=64 align=dword",
        wrong: "dpas.s8.s8.8.8 (M1, 8) D0.0 D1.0 U0.0 ROWS(0,0)",
        right: Some((
            ".decl ROWS v_type=G type=ud num_elts=64 align=hword",
            "dpas.s8.s8.8.8 (M1, 8) D0.0 D1.0 U0.0 ROWS(0,0)",
        )),
    },
    Example {
        rule: &r::LSC_DATA_SIZE,
        platform: "",
        declarations: "",
        wrong: "lsc_load.ugm (M1, 16) D0:d16x2 flat[Z0]:a64",
        right: Some(("", "lsc_load.ugm (M1, 16) D0:d32x2 flat[Z0]:a64")),
    },
    Example {
        rule: &r::LSC_VECTOR,
        platform: "",
        declarations: "",
        wrong: "lsc_load.ugml (M1, 16) D0:d32x3 flat[Z0]:a64",
        right: Some(("", "lsc_load.ugm (M1, 16) D0:d32x3 flat[Z0]:a64")),
    },
    Example {
        rule: &r::LSC_TRANSPOSE,
        platform: "",
        declarations: "",
        wrong: "lsc_load.ugm (M1, 16) D0:d32x2t flat[Z0]:a64",
        right: Some(("", "lsc_load.ugm (M1, 1) D0:d32x2t flat[O0]:a64")),
    },
    Example {
        rule: &r::LSC_CACHING,
        platform: "",
        declarations: "",
        wrong: "lsc_load.ugm.wt.wb (M1, 16) D0:d32 flat[Z0]:a64",
        right: Some(("", "lsc_load.ugm.ca.ca (M1, 16) D0:d32 flat[Z0]:a64")),
    },
    Example {
        rule: &r::LSC_ADDRESS_SIZE,
        platform: "",
        declarations: "",
        wrong: "lsc_load.slm (M1, 16) D0:d32 flat[Z0]:a64",
        right: Some(("", "lsc_load.slm (M1, 16) D0:d32 flat[U0]:a32")),
    },
    Example {
        rule: &r::LSC_ADDRESS_MODEL,
        platform: "",
        declarations: "",
        wrong: "lsc_load.slm (M1, 16) D0:d32 bti(0x4)[U0]:a32",
        right: Some(("", "lsc_load.slm (M1, 16) D0:d32 flat[U0]:a32")),
    },
    Example {
        rule: &r::LSC_PAYLOAD,
        platform: "",
        declarations: ".decl LARGE v_type=G type=d num_elts=512 align=GRF",
        wrong: "lsc_load.ugm (M1, 32) LARGE:d64x8 flat[U0]:a32",
        right: Some((
            ".decl LARGE v_type=G type=d num_elts=512 align=GRF",
            "lsc_load.ugm (M1, 16) LARGE:d32x4 flat[U0]:a32",
        )),
    },
    Example {
        rule: &r::LSC_CHANNELS,
        platform: "pvc",
        declarations: "",
        wrong: "lsc_store_quad.ugm (M1, 16) flat[U0]:a32 D0:d32.xz",
        right: Some(("", "lsc_store_quad.ugm (M1, 16) flat[U0]:a32 D0:d32.xy")),
    },
    Example {
        rule: &r::LSC_SCALE,
        platform: "pvc",
        declarations: "",
        wrong: "lsc_load.ugm (M1, 16) D0:d32 flat[0x3*U0]:a32",
        right: Some(("", "lsc_load.ugm (M1, 16) D0:d32 flat[0x4*U0]:a32")),
    },
    Example {
        rule: &r::LSC_ATOMIC,
        platform: "pvc",
        declarations: "",
        wrong: "lsc_atomic_fadd.slm (M1, 16) F0:d32 flat[U0]:a32 F1 %null",
        right: Some((
            "",
            "lsc_atomic_fadd.ugm (M1, 16) F0:d32 flat[U0]:a32 F1 %null",
        )),
    },
    Example {
        rule: &r::LSC_FENCE,
        platform: "",
        declarations: "",
        wrong: "lsc_fence.slm.evict.group",
        right: Some(("", "lsc_fence.slm.none.group")),
    },
    Example {
        rule: &r::LSC_BLOCK,
        platform: "",
        declarations: "",
        wrong: "lsc_load_block2d.ugm (M1, 1) D0:d32.17x2nn flat[O0,0x100,0x100,0x100,0x0,0x0]",
        right: Some((
            "",
            "lsc_load_block2d.ugm (M1, 1) D0:d32.16x4nn flat[O0,0x100,0x100,0x100,0x0,0x0]",
        )),
    },
    Example {
        rule: &r::LSC_BLOCK_COUNT,
        platform: "",
        declarations: "",
        wrong: "lsc_load_block2d.ugm (M1, 1) D0:d32.4x4x4nn flat[O0,0x100,0x100,0x100,0x0,0x0]",
        right: Some((
            "",
            "lsc_load_block2d.ugm (M1, 1) D0:d32.1x4x4nn flat[O0,0x100,0x100,0x100,0x0,0x0]",
        )),
    },
    Example {
        rule: &r::LSC_CACHING_DEFAULT,
        platform: "dg2",
        declarations: "",
        wrong: "lsc_load_quad.tgm.ca.ca (M1, 16) D0:d32.x bti(0x4)[U0]:a32",
        right: Some((
            "",
            "lsc_load_quad.tgm.df.df (M1, 16) D0:d32.x bti(0x4)[U0]:a32",
        )),
    },
    Example {
        rule: &r::LSC_ADDRESS_TYPE,
        platform: "",
        declarations: "",
        wrong: "lsc_load.ugm (M1, 16) D0:d32 flat[U0]:a64",
        right: Some(("", "lsc_load.ugm (M1, 16) D0:d32 flat[Z0]:a64")),
    },
    Example {
        rule: &r::JUMP_OUT,
        platform: "",
        declarations: "",
        wrong: "jmp (M1, 1) inside\nret (M1, 1)\n.function \"sub\"\nsub:\ninside:\nret (M1, 1)",
        right: Some(("", "jmp (M1, 1) inside\ninside:\nret (M1, 1)")),
    },
    Example {
        rule: &r::RECURSION,
        platform: "",
        declarations: "",
        wrong: "call (M1, 1) sub\nret (M1, 1)\n.function \"sub\"\nsub:\ncall (M1, 1) sub\nret (M1, 1)",
        right: Some((
            "",
            "call (M1, 1) sub\nret (M1, 1)\n.function \"sub\"\nsub:\nret (M1, 1)",
        )),
    },
    Example {
        rule: &r::NO_RETURN,
        platform: "",
        declarations: "",
        wrong: "call (M1, 1) sub\n.function \"sub\"\nsub:\nret (M1, 1)",
        right: Some((
            "",
            "call (M1, 1) sub\nret (M1, 1)\n.function \"sub\"\nsub:\nret (M1, 1)",
        )),
    },
    Example {
        rule: &r::FUNCTION_RETURN,
        platform: "",
        declarations: "",
        wrong: "(P1) fret (M1, 16)",
        right: None,
    },
    Example {
        rule: &r::CALLEE,
        platform: "",
        declarations: "",
        wrong: "fcall (M1, 1) elsewhere 1 1",
        right: None,
    },
    Example {
        rule: &r::NOT_YET,
        platform: "skl",
        declarations: "",
        wrong: "rol (M1, 8) U0(0,0)<1> U0(0,0)<1;1,0> U1(0,0)<1;1,0>",
        right: Some(("", "rol (M1, 8) U0(0,0)<1> U0(0,0)<1;1,0> U1(0,0)<1;1,0>")),
    },
    Example {
        rule: &r::NOT_LISTED,
        platform: "icllp",
        declarations: "",
        wrong: "lrp (M1, 8) F0(0,0)<1> F0(0,0)<1;1,0> F1(0,0)<1;1,0> F1(0,0)<1;1,0>",
        right: Some((
            "",
            "mad (M1, 8) F0(0,0)<1> F0(0,0)<1;1,0> F1(0,0)<1;1,0> F1(0,0)<1;1,0>",
        )),
    },
    Example {
        rule: &r::INTEGER_DIVISION,
        platform: "pvc",
        declarations: "",
        wrong: "div (M1, 8) D0(0,0)<1> D0(0,0)<1;1,0> D1(0,0)<1;1,0>",
        right: Some(("", "div (M1, 8) F0(0,0)<1> F0(0,0)<1;1,0> F1(0,0)<1;1,0>")),
    },
    Example {
        rule: &r::EXACT_MATHS,
        platform: "dg2",
        declarations: "",
        wrong: "sqrtm (M1, 8) F0(0,0)<1> F0(0,0)<1;1,0>",
        right: Some(("", "sqrt (M1, 8) F0(0,0)<1> F0(0,0)<1;1,0>")),
    },
    Example {
        rule: &r::NO_LONGER,
        platform: "xehp",
        declarations: "",
        wrong: "sad2 (M1, 8) W0(0,0)<1> B0(0,0)<1;1,0> B0(0,0)<1;1,0>",
        right: Some(("", "add (M1, 8) W0(0,0)<1> W0(0,0)<1;1,0> B0(0,0)<1;1,0>")),
    },
    Example {
        rule: &r::PACKED_FLOATS,
        platform: "xe2",
        declarations: "",
        wrong: "add (M1, 4) F0(0,0)<1> F1(0,0)<1;1,0> 0x30303030:vf",
        right: Some(("", "add (M1, 4) F0(0,0)<1> F1(0,0)<1;1,0> F0(0,0)<1;1,0>")),
    },
    Example {
        rule: &r::BRAIN_FLOAT_PLATFORM,
        platform: "tgllp",
        declarations: "",
        wrong: "mul (M1, 8) F0(0,0)<1> N0(0,0)<1;1,0> F1(0,0)<1;1,0>",
        right: Some(("", "mul (M1, 8) F0(0,0)<1> F0(0,0)<1;1,0> F1(0,0)<1;1,0>")),
    },
    Example {
        rule: &r::WIDE_ROTATE,
        platform: "xehp",
        declarations: "",
        wrong: "rol (M1, 4) Z0(0,0)<1> U0(0,0)<1;1,0> 0x1:ud",
        right: Some(("", "rol (M1, 4) U0(0,0)<1> U0(0,0)<1;1,0> 0x1:ud")),
    },
    Example {
        rule: &r::WIDE_SHIFT,
        platform: "dg2",
        declarations: "",
        wrong: "shl (M1, 4) Q0(0,0)<1> D0(0,0)<1;1,0> 0x1:ud",
        right: Some(("", "shl (M1, 4) D0(0,0)<1> D0(0,0)<1;1,0> 0x1:ud")),
    },
    Example {
        rule: &r::LOCAL_BLOCKS,
        platform: "skl",
        declarations: "",
        wrong: "oword_ld (1) %slm 0x0:ud D0.0",
        right: Some(("", "oword_ld (1) T6 0x0:ud D0.0")),
    },
    Example {
        rule: &r::WIDE_INTEGERS,
        platform: "tgllp",
        declarations: "",
        wrong: "add (M1, 4) Q0(0,0)<1> Q0(0,0)<1;1,0> Q0(0,0)<1;1,0>",
        right: Some(("", "add (M1, 4) D0(0,0)<1> D0(0,0)<1;1,0> D0(0,0)<1;1,0>")),
    },
    Example {
        rule: &r::DOUBLE,
        platform: "tgllp",
        declarations: "",
        wrong: "add (M1, 4) X0(0,0)<1> X0(0,0)<1;1,0> X0(0,0)<1;1,0>",
        right: Some(("", "add (M1, 4) F0(0,0)<1> F0(0,0)<1;1,0> F0(0,0)<1;1,0>")),
    },
    Example {
        rule: &r::DPAS_PLATFORM,
        platform: "xehp",
        declarations: "",
        wrong: "dpas.s8.s8.8.8 (M1, 16) D0.0 D1.0 U0.0 U1(0,0)",
        right: None,
    },
    Example {
        rule: &r::ACCUMULATOR_TYPE,
        platform: "xehp",
        declarations: "",
        wrong: "dpas.bf.bf.8.8 (M1, 8) H0.0 F0.0 U0.0 U1(0,0)",
        right: Some(("", "dpas.bf.bf.8.8 (M1, 8) F0.0 F0.0 U0.0 U1(0,0)")),
    },
    Example {
        rule: &r::LSC_TYPED_BLOCK,
        platform: "",
        declarations: "",
        wrong: "lsc_load_block2d.tgm (M1, 1) D0:65x2 bti(0x4)[I0,I0]",
        right: Some(("", "lsc_load_block2d.tgm (M1, 1) D0:64x2 bti(0x4)[I0,I0]")),
    },
];
