//! `visakit prove`: whether two kernels compute the same, whatever is in their buffers.

pub(super) mod witness;

use super::run;
use crate::output::{self, Failure, count, heading, printable, stdout};
use crate::{Status, input};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use visakit_launch::{Argument, Kernel, LaunchError, NdRange};
use visakit_prove::{Difference, Method, Mode, Options, Proof, Side, Verdict, prove};

#[derive(clap::Args)]
#[command(after_long_help = "Examples:
  visakit prove old.isa new.isa --zeinfo k.zeinfo --global 64 \\
      --arg zeros:256 --arg u32:7
  visakit prove --case cases/vecadd/dg2 cases240/vecadd/dg2
  visakit prove old.isa new.isa --zeinfo k.zeinfo --global 64 \\
      --arg zeros:256 --witness apart
  visakit run --case apart/old apart/new
      what they do on the inputs that tell them apart

The grid, the sizes of buffers, and all arguments that are no buffers are as given, unless they are named by --any-value;
what is in the buffers is not known.
docs/proving.md says what a proof means. The exit code is 0 if the kernels are proven equal, 1 otherwise, 2 for input
that cannot be used.")]
pub(crate) struct ProveArgs {
    #[command(flatten)]
    run: run::Args,
    /// Launch metadata of the second program, if they are not those of the first.
    #[arg(long, value_name = "FILE")]
    new_zeinfo: Option<PathBuf>,
    /// The compiled program (zebin) that has the launch metadata of the second program.
    #[arg(long, value_name = "FILE", conflicts_with = "new_zeinfo")]
    new_zebin: Option<PathBuf>,
    /// The content of the buffer of argument N is as given, such as that of a table of indices.
    #[arg(long, value_name = "N", value_delimiter = ',')]
    known: Vec<usize>,
    /// The scalar argument N has any value; the given one is only tried first.
    #[arg(long, value_name = "N", value_delimiter = ',')]
    any_value: Vec<usize>,
    /// How many generated contents both kernels run on before anything is proven.
    #[arg(long, value_name = "N", default_value_t = 48)]
    trials: u64,
    /// Most seconds for a pair of kernels.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    time: u64,
    /// Write inputs that tell the kernels apart into a new folder: two cases, old and new, for `visakit run --case`.
    #[arg(long, value_name = "DIR")]
    witness: Option<PathBuf>,
    /// Write each question that is left to a solver into a folder, in SMT-LIB.
    #[arg(long, value_name = "DIR")]
    smt2: Option<PathBuf>,
    /// What counts as equal: the same bits, or also floats that differ in contracted products and sums, and in the order
    /// of their operands, or in everything that makes no difference to real numbers.
    #[arg(long, value_enum, value_name = "MODE", default_value_t)]
    mode: Equality,
    /// Leave out the solver inside.
    #[arg(long)]
    no_sat: bool,
    /// Ask this command for what rules leave open: it reads SMT-LIB on its standard input, as `z3 -in` does.
    #[arg(long, value_name = "COMMAND")]
    solver: Option<String>,
}

/// What counts as equal.
#[derive(Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Equality {
    /// Equal bits.
    #[default]
    Bits,
    /// Products and sums of floats may be contracted, and their operands exchanged.
    Contracted,
    /// Products and sums of floats are those of real numbers.
    Reassociated,
}

impl Equality {
    const fn mode(self) -> Mode {
        match self {
            Self::Bits => Mode::Bits,
            Self::Contracted => Mode::Contracted,
            Self::Reassociated => Mode::Reassociated,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Bits => "bits",
            Self::Contracted => "contracted",
            Self::Reassociated => "reassociated",
        }
    }
}

/// A kernel with its grid and arguments.
#[derive(Clone, Copy)]
struct Given<'a> {
    kernel: &'a Kernel<'a>,
    range: NdRange,
    arguments: &'a [Argument],
}

impl ProveArgs {
    /// What is asked of two programs that another command names.
    pub(super) fn of(run: run::Args, time: u64, witness: Option<PathBuf>) -> Result<Self, Failure> {
        #[derive(clap::Parser)]
        struct Words {
            #[command(flatten)]
            args: ProveArgs,
        }
        let words = <Words as clap::Parser>::try_parse_from(["prove"]);
        let words = words.map_err(|error| Failure::Other(error.to_string()))?;
        Ok(Self {
            run,
            time,
            witness,
            ..words.args
        })
    }

    /// Whether inputs that tell kernels apart are written.
    pub(super) const fn has_witness(&self) -> bool {
        self.witness.is_some()
    }
}

/// An answer, and what it takes for granted.
pub(super) struct Answer {
    kernel: String,
    assumed: Vec<String>,
    pub(super) proof: Proof,
}

pub(crate) fn run(args: &ProveArgs) -> Result<Status, Failure> {
    let pool = args.run.pool()?;
    let answer = pool.install(|| match args.run.cases() {
        [] => programs(args),
        [old, new] => cases(args, old, new),
        _ => Err(Failure::Other(
            "--case takes two folders: the old and the new case".to_owned(),
        )),
    })?;
    if args.run.json() {
        output::json(&json!({ "kernels": [answer.document(args)] }))?;
    } else {
        let mut out = stdout();
        let title = format!("kernel {}: {}", answer.kernel, verdict(&answer.proof));
        writeln!(out, "{}", heading(&title))?;
        answer.print(&mut out, args)?;
        out.flush()?;
    }
    Ok(match answer.proof.verdict {
        Verdict::Proven => Status::Clean,
        _ => Status::Findings,
    })
}

/// Proves the pair of two programs.
pub(super) fn programs(args: &ProveArgs) -> Result<Answer, Failure> {
    let Some([old, mut new]) = args.run.halves() else {
        return Err(Failure::Other(
            "name two programs, the old and the new one, or two cases with --case".to_owned(),
        ));
    };
    if args.new_zeinfo.is_some() || args.new_zebin.is_some() {
        new.set_metadata(args.new_zeinfo.clone(), args.new_zebin.clone());
    }
    run::kernel::with_kernel(&old, |first, range, arguments| {
        let arguments = arguments.all()?;
        run::kernel::with_kernel(&new, |second, _, _| {
            let given = |kernel| Given {
                kernel,
                range: *range,
                arguments: &arguments,
            };
            let texts = || {
                Ok([
                    run::kernel::zeinfo_text(&old)?,
                    run::kernel::zeinfo_text(&new)?,
                ])
            };
            pair(args, given(first), given(second), &texts)
        })
    })
}

fn cases(args: &ProveArgs, old: &Path, new: &Path) -> Result<Answer, Failure> {
    let (first, second) = (args.run.open_case(old)?, args.run.open_case(new)?);
    let texts = || Ok([witness::zeinfo_of_case(old)?, witness::zeinfo_of_case(new)?]);
    let (config, from_text) = (args.run.config(), args.run.takes_texts());
    let mut done = None;
    // Errors of the command go by the side of those of launches.
    let ran = first.launch(
        from_text,
        &config,
        |o| o,
        |kernel, arguments, launch| {
            let old = Given {
                kernel,
                range: *launch.range(),
                arguments,
            };
            second.launch(
                from_text,
                &config,
                |o| o,
                |kernel, _, launch| {
                    let new = Given {
                        kernel,
                        range: *launch.range(),
                        arguments,
                    };
                    done = Some(pair(args, old, new, &texts));
                    Ok::<(), LaunchError>(())
                },
            )
        },
    );
    ran?;
    done.unwrap_or_else(|| Err(Failure::Other("the case has no launch".to_owned())))
}

/// Proves a pair, and writes what is to be written.
fn pair(
    args: &ProveArgs,
    old: Given<'_>,
    new: Given<'_>,
    zeinfo: &dyn Fn() -> Result<[String; 2], Failure>,
) -> Result<Answer, Failure> {
    let options = Options {
        known: args.known.clone(),
        symbolic: args.any_value.clone(),
        trials: args.trials,
        time: Duration::from_secs(args.time),
        mode: args.mode.mode(),
        sat: !args.no_sat,
        smt2: args.smt2.is_some(),
        solver: args.solver.clone(),
        ..Options::default()
    };
    fit((&args.known, &args.any_value), old.arguments)?;
    let config = args.run.config();
    let proof = prove(
        Side {
            kernel: old.kernel,
            range: old.range,
        },
        Side {
            kernel: new.kernel,
            range: new.range,
        },
        old.arguments,
        &config,
        &options,
    )?;
    if let Some(folder) = &args.smt2 {
        std::fs::create_dir_all(folder)?;
        for (number, query) in proof.queries.iter().enumerate() {
            output::file(&folder.join(format!("{number}.smt2")), query.as_bytes())?;
        }
    }
    if let (Some(folder), Verdict::Refuted(found)) = (&args.witness, &proof.verdict) {
        let sides = [(old, "old"), (new, "new")];
        for ((given, name), zeinfo) in sides.into_iter().zip(&zeinfo()?) {
            let printed = match &found.difference {
                Difference::Printed { old, in_order, .. } => Some((old.as_str(), *in_order)),
                _ => None,
            };
            let left = witness::Left {
                expected: &found.expected,
                printed,
            };
            let launch = (given.kernel, &given.range, true);
            witness::write(folder, name, launch, &found.arguments, &left, zeinfo)?;
        }
    }
    let mut assumed = assumptions((&args.known, &args.any_value), &old.range, old.arguments);
    if let Method::Induction { .. } = proof.method {
        assumed.push(DEFINED.to_owned());
    }
    Ok(Answer {
        kernel: printable(old.kernel.info().name.as_bytes()),
        assumed,
        proof,
    })
}

/// Refuses numbers of arguments that are none, or of another kind.
pub(super) fn fit(
    (known, symbolic): (&[usize], &[usize]),
    arguments: &[Argument],
) -> Result<(), Failure> {
    let is_memory = |a: &Argument| matches!(a, Argument::Buffer(_) | Argument::Image(_));
    let is_value = |a: &Argument| matches!(a, Argument::Value(_));
    let known = known
        .iter()
        .map(|n| (n, "--known", "a buffer", arguments.get(*n).map(is_memory)));
    let symbolic = symbolic
        .iter()
        .map(|n| (n, "--any-value", "a value", arguments.get(*n).map(is_value)));
    for (number, option, wanted, fits) in known.chain(symbolic) {
        let why = match fits {
            Some(true) => continue,
            Some(false) => format!("argument {number} is not {wanted}"),
            None => format!(
                "there is no argument {number}: the kernel has {}",
                arguments.len()
            ),
        };
        return Err(Failure::Other(format!("{option} {number}: {why}")));
    }
    Ok(())
}

/// What is assumed where kernels are compared by induction.
const DEFINED: &str =
    "in the old kernel no two threads race, and no access is outside of all objects";

/// What was compared of kernels that are the same step by step.
const SAME: &str =
    "all instructions: each does the same, but for names and for what nothing depends on";

pub(super) const fn verdict(proof: &Proof) -> &'static str {
    match proof.verdict {
        Verdict::Proven => "proven",
        Verdict::Refuted(_) => "refuted",
        Verdict::Unknown(_) => "unknown",
    }
}

/// Why it is so.
fn reason(proof: &Proof) -> Option<String> {
    match &proof.verdict {
        Verdict::Proven => None,
        Verdict::Refuted(found) => Some(match &found.difference {
            Difference::Byte {
                argument,
                offset,
                old,
                new,
            } => format!("argument {argument}, byte {offset}: old {old:#04x}, new {new:#04x}"),
            Difference::Fault(fault) => format!("only the new one has a fault: {fault}"),
            Difference::Printed { old, new, .. } => format!("printed: old {old:?}, new {new:?}"),
            Difference::Finding(found) => format!("checks find only in the new one: {found}"),
        }),
        Verdict::Unknown(unknown) => Some(unknown.to_string()),
    }
}

/// What the answer takes for granted.
pub(super) fn assumptions(
    (known, symbolic): (&[usize], &[usize]),
    range: &NdRange,
    arguments: &[Argument],
) -> Vec<String> {
    let NdRange { global, local, .. } = range;
    let mut all = vec![format!(
        "a grid of {global:?} work-items in groups of {local:?}"
    )];
    for (number, argument) in arguments.iter().enumerate() {
        all.push(match argument {
            Argument::Buffer(bytes) if known.contains(&number) => {
                format!(
                    "argument {number}: a buffer of {} with the content given",
                    count(bytes.len(), "byte")
                )
            }
            Argument::Buffer(bytes) => {
                format!(
                    "argument {number}: a buffer of {} with any content",
                    count(bytes.len(), "byte")
                )
            }
            Argument::Value(bytes) if symbolic.contains(&number) => {
                format!(
                    "argument {number}: any value of {}",
                    count(bytes.len(), "byte")
                )
            }
            Argument::Value(bytes) => {
                let digits: String = bytes.iter().rev().map(|b| format!("{b:02x}")).collect();
                format!("argument {number}: the value 0x{digits}")
            }
            other => format!("argument {number}: {}", other.kind()),
        });
    }
    all
}

impl Answer {
    /// For programs.
    pub(super) fn document(&self, args: &ProveArgs) -> Value {
        let proof = &self.proof;
        let outputs: Vec<Value> = proof
            .outputs
            .iter()
            .map(|o| json!({ "argument": o.argument, "bytes": o.bytes, "written": o.written, "open": o.open }))
            .collect();
        json!({
            "kernel": self.kernel,
            "verdict": verdict(proof),
            "reason": reason(proof).map(|why| printable(why.as_bytes())),
            "mode": args.mode.name(),
            "assumed": self.assumed,
            "method": match proof.method {
                Method::Steps => "steps",
                Method::Terms => "terms",
                Method::Induction { .. } => "induction",
            },
            "outputs": outputs,
            "terms": proof.terms,
            "seconds": proof.time.as_secs_f64(),
        })
    }

    /// For people, below a title.
    pub(super) fn print(&self, out: &mut impl Write, args: &ProveArgs) -> Result<(), Failure> {
        if let Some(reason) = reason(&self.proof) {
            writeln!(out, "  because    {}", printable(reason.as_bytes()))?;
        }
        for line in &self.assumed {
            writeln!(out, "  assumed    {line}")?;
        }
        writeln!(out, "  mode       {}", args.mode.name())?;
        match self.proof.method {
            Method::Steps => writeln!(out, "  compared   {SAME}")?,
            Method::Induction { places } => {
                let places = count(places, "place");
                writeln!(
                    out,
                    "  compared   {places} of both: with equal registers there, both do the same up to the next one"
                )?;
            }
            Method::Terms => {}
        }
        for o in &self.proof.outputs {
            let state = match o.open {
                0 => "all equal".to_owned(),
                open => format!("{open} open"),
            };
            let all = count(usize::try_from(o.bytes).unwrap_or(usize::MAX), "byte");
            writeln!(
                out,
                "  compared   argument {}: {} of {all} written, {state}",
                o.argument, o.written
            )?;
        }
        if let Some(folder) = &args.witness
            && matches!(self.proof.verdict, Verdict::Refuted(_))
        {
            let folder = input::name(folder);
            let verb = match &self.proof.verdict {
                Verdict::Refuted(found) if matches!(found.difference, Difference::Finding(_)) => {
                    "check"
                }
                _ => "run",
            };
            writeln!(
                out,
                "  witness    {folder}: `visakit {verb} --case {folder}/old {folder}/new`"
            )?;
        }
        Ok(())
    }
}
