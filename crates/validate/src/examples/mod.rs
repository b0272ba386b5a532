//! Examples for rules: lines that break one, and lines that do not.
//!
//! Tests hold that each breaks its rule and no other, and that its right form breaks none.

mod instructions;
mod operands;
mod programs;

use crate::rule::Rule;
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

/// All examples, in the order of their rules.
pub fn all() -> impl Iterator<Item = &'static Example> {
    let groups = [
        operands::EXAMPLES,
        instructions::EXAMPLES,
        programs::EXAMPLES,
    ];
    groups.into_iter().flatten()
}

/// The example of a rule, if there is one.
#[must_use]
pub fn of(rule: &Rule) -> Option<&'static Example> {
    all().find(|example| example.rule == rule)
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
