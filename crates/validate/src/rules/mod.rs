//! Every rule, declared once. Reports, `visakit explain`, `docs/rules.md` and the rules of SARIF output come
//! from here.

mod declarations;
mod flow;
mod instructions;
mod operands;
mod platform;
mod structure;

pub use declarations::*;
pub use flow::*;
pub use instructions::*;
pub use operands::*;
pub use platform::*;
pub use structure::*;

use crate::rule::Rule;

/// Every rule, by number.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    [
        structure::ALL,
        declarations::ALL,
        operands::ALL,
        instructions::ALL,
        flow::ALL,
        platform::ALL,
    ]
    .into_iter()
    .flatten()
    .copied()
}

/// Rules that were retired: the number, the name, and the rule that says the same today. Numbers are
/// not given a second time.
pub static RETIRED: [(u16, &str, &Rule); 4] = [
    (369, "lsc-data-bounds", &RAW_SIZE),
    (504, "sad", &NO_LONGER),
    (508, "switch", &NO_LONGER),
    (515, "plane", &NO_LONGER),
];

/// Places that rules come from.
mod source {
    pub(super) const CONTAINER: &str = "vISA specification, object format";
    pub(super) const READER: &str = "the layout that readers of objects take apart";
    pub(super) const OPERANDS: &str = "vISA specification, operands";
    pub(super) const REGIONS: &str = "vISA specification, operands, region restrictions";
    pub(super) const HEADER: &str = "vISA specification, object format, variables";
    pub(super) const INPUTS: &str = "vISA specification, object format, inputs";
    pub(super) const EXECUTION: &str = "vISA specification, execution model";
    pub(super) const INSTRUCTION: &str = "vISA specification, the instruction's page";
    pub(super) const TABLE: &str = "instruction table: classes, types and codes of the specification and of the reference implementation";
    pub(super) const VERIFIER: &str = "verifier of the reference implementation";
    pub(super) const LSC: &str =
        "vISA specification, LSC_UNTYPED and LSC_TYPED; verifier of the reference implementation";
    pub(super) const PLATFORMS: &str =
        "vISA specification, instructions by platform; verifier of the reference implementation";
}
