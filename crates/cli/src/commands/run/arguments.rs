//! The arguments of a launch: those that were given, and others that are generated.

use super::Args;
use super::generate::{Factor, generate};
use super::spec::ArgSpec;
use crate::output::{Failure, count};
use crate::render;
use std::collections::BTreeMap;
use visakit_check::{Checks, Finding, Kind};
use visakit_launch::{ArgInfo, Argument, Kernel, NdRange};

/// What is known of the arguments before there are any.
pub(crate) struct Arguments<'a> {
    args: &'a Args,
    kernel: &'a Kernel<'a>,
    parameters: Vec<ArgInfo>,
    range: &'a NdRange,
}

/// How many elements generated buffers have, by the numbers of their arguments; one for each work-item by default.
type Factors = BTreeMap<usize, Factor>;

impl<'a> Arguments<'a> {
    pub(super) fn new(
        args: &'a Args,
        kernel: &'a Kernel<'a>,
        parameters: Vec<ArgInfo>,
        range: &'a NdRange,
    ) -> Self {
        Self {
            args,
            kernel,
            parameters,
            range,
        }
    }

    /// The specifications: where none was given at all, all are generated.
    fn specs(&self) -> Vec<ArgSpec> {
        if self.args.launching.args.is_empty() {
            return vec![ArgSpec::Auto; self.parameters.len()];
        }
        self.args.launching.args.clone()
    }

    /// The arguments; says what was assumed of those that were not given.
    pub(crate) fn all(&self) -> Result<Vec<Argument>, Failure> {
        let (arguments, assumed) = self.with(&self.fit()?)?;
        self.tell(&assumed);
        Ok(arguments)
    }

    /// Says what was assumed of arguments, and with them the size of groups if none was given.
    fn tell(&self, assumed: &[Assumed]) {
        if assumed.is_empty() {
            return;
        }
        let lines = assumed.iter();
        let mut list: String = lines
            .map(|one| format!("\n  {} {}", one.index, one.text))
            .collect();
        if self.args.launching.local.is_empty() {
            let sizes = self.range.local.iter().zip(&self.args.launching.global);
            let sizes: Vec<_> = sizes.map(|(size, _)| size.to_string()).collect();
            let sizes = sizes.join(" x ");
            list.push_str(&format!(
                "\n  groups of {sizes} work-items, --local gives others"
            ));
        }
        let number = count(assumed.len(), "argument");
        let verb = if assumed.len() == 1 { "was" } else { "were" };
        render::note(&format!(
            "{number} {verb} generated, --arg gives others{list}"
        ));
    }

    /// Arguments with generated buffers of these sizes, and what was assumed.
    fn with(&self, factors: &Factors) -> Result<(Vec<Argument>, Vec<Assumed>), Failure> {
        let limit = self.args.config().max_memory;
        let mut arguments = Vec::new();
        let mut assumed = Vec::new();
        for (index, spec) in self.specs().iter().enumerate() {
            let info = self.parameters.get(index);
            let fail = |error| Failure::Other(format!("argument {index}: {error}"));
            let (ArgSpec::Auto, Some(info)) = (spec, info) else {
                arguments.push(spec.argument(limit, index, info).map_err(fail)?);
                continue;
            };
            let factor = factors.get(&index).copied().unwrap_or(Factor::ONE);
            let made = generate(info, self.range, factor, limit).map_err(fail)?;
            arguments.push(made.argument);
            assumed.push(Assumed {
                index,
                text: made.assumed,
                sized: made.sized,
            });
        }
        Ok((arguments, assumed))
    }

    /// Sizes of generated buffers: one that is accessed past its end is taken to have more elements for each work-item,
    /// if some multiple is enough. Accesses that half an element more would satisfy remain outside: no kernel is meant to
    /// need that.
    fn fit(&self) -> Result<Factors, Failure> {
        let mut factors = Factors::new();
        let (arguments, assumed) = self.with(&factors)?;
        let sized: Vec<_> = assumed
            .iter()
            .filter(|a| a.sized)
            .map(|a| a.index)
            .collect();
        if sized.is_empty() {
            return Ok(factors);
        }
        let mut open = self.overrun(&arguments, &sized)?;
        for halves in [3, 4, 6, 8, 16, 32, 64, 128] {
            if open.is_empty() {
                break;
            }
            let mut tried = factors.clone();
            tried.extend(open.iter().map(|index| (*index, Factor { halves })));
            // More than memory has is not tried.
            let Ok((arguments, _)) = self.with(&tried) else {
                break;
            };
            let still = self.overrun(&arguments, &open)?;
            let ended = open.iter().filter(|index| !still.contains(index));
            let whole = ended.filter(|_| halves % 2 == 0);
            factors.extend(whole.map(|index| (*index, Factor { halves })));
            open = still;
        }
        Ok(factors)
    }

    /// Those of the arguments that a launch accesses past their ends.
    fn overrun(&self, arguments: &[Argument], of: &[usize]) -> Result<Vec<usize>, Failure> {
        let config = visakit_check::config(self.args.config());
        let memory = Checks::NONE.with("memory").unwrap_or(Checks::ALL);
        let launch = self.kernel.prepare(self.range, arguments, &config)?;
        let report = visakit_check::check(self.kernel, launch, &config, memory, &[])?;
        let past = |finding: &&Finding| finding.kind == Kind::OutOfBounds;
        let targets = report.findings.iter().filter(past);
        let targets = targets.filter_map(|finding| finding.target.as_ref());
        let past = targets.filter(|target| target.offset >= 0);
        let mut indices: Vec<_> = past.filter_map(|target| target.argument).collect();
        indices.retain(|index| of.contains(index));
        indices.sort_unstable();
        indices.dedup();
        Ok(indices)
    }
}

/// What was assumed of an argument.
struct Assumed {
    index: usize,
    text: String,
    sized: bool,
}
