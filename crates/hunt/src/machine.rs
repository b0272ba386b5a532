//! Runs compiled programs.

use crate::ast::{Image, Program, ROW};
use crate::evaluate::Buffers;
use crate::types::Value;
use visakit_check::{Checks, Level};
use visakit_exec::{FaultKind, Limits, Pass};
use visakit_jit::Jit;
use visakit_launch::{
    Argument, Case, Compile, Config, DumpedKernel, ImageKind, Kernel, LaunchError, NdRange, format,
};

/// Instructions that a launch may run: programs that the evaluator ends are far below.
const STEPS: u64 = 2_000_000_000;

/// The buffers of a program as bytes, in the order of the kernel's arguments.
pub(crate) type Memory = Vec<Vec<u8>>;

/// What came of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ran {
    /// It ended.
    Ended(Memory),
    /// An access outside of memory, or no end.
    Faulted(String),
    /// The executor cannot run it.
    Not(String),
}

fn bytes(values: &[Value]) -> Vec<u8> {
    values.iter().flat_map(Value::to_bytes).collect()
}

/// The expected buffers.
pub(crate) fn memory(buffers: &Buffers) -> Memory {
    let all = buffers.outputs.iter().chain(&buffers.own);
    let all = all.chain(&buffers.shared).chain(&buffers.drawn);
    all.map(|b| bytes(b)).collect()
}

/// An image as an argument.
fn image(image: &Image) -> Argument {
    let sizes = [ROW, image.rows()].map(|size| u32::try_from(size).unwrap_or(1));
    let format = format("RGBA", image.channel_name());
    let made = format.and_then(|format| {
        let data = bytes(&image.data);
        visakit_launch::Image::new(ImageKind::Image2d, &sizes, None, format, data)
    });
    made.map_or(Argument::Null, Argument::Image)
}

/// The arguments of the kernel.
pub(crate) fn arguments(program: &Program) -> Vec<Argument> {
    let items = program.items();
    let outputs = program.outputs.iter();
    let outputs = outputs.map(|o| Argument::Buffer(vec![0; o.ty.bytes() * items]));
    let own = program.own.iter().map(|b| bytes(&b.data));
    let shared = program.shared.iter().map(|s| bytes(&s.buffer.data));
    let inputs = program.inputs.iter().map(|b| bytes(&b.data));
    let scalars = program
        .scalars
        .iter()
        .map(|s| Argument::Value(s.to_bytes()));
    let drawn = program.drawn.iter().map(image);
    let images = program.images.iter().map(image);
    let buffers = own.chain(shared).map(Argument::Buffer).chain(drawn);
    let read = images.chain(inputs.map(Argument::Buffer));
    outputs.chain(buffers).chain(read).chain(scalars).collect()
}

/// Number of the buffers that are compared: outputs, own and shared ones, and images that are written.
pub(crate) fn compared(program: &Program) -> usize {
    program.outputs.len() + program.own.len() + program.shared.len() + program.drawn.len()
}

/// A launch: a grid and arguments, and which of them are compared.
#[derive(Clone, Debug)]
pub(crate) struct Launching {
    pub(crate) range: NdRange,
    pub(crate) arguments: Vec<Argument>,
    /// Buffers whose contents are results.
    pub(crate) compared: Vec<usize>,
    /// Buffers that the kernel must not read before it has written them.
    pub(crate) uninitialized: Vec<usize>,
}

impl Launching {
    /// That of a program.
    pub(crate) fn of(program: &Program) -> Result<Self, LaunchError> {
        let global = program.groups.saturating_mul(program.local);
        Ok(Self {
            range: NdRange::new(&[global], &[program.local], &[])?,
            arguments: arguments(program),
            compared: (0..compared(program)).collect(),
            uninitialized: (0..program.outputs.len()).collect(),
        })
    }

    /// That of a case; its results are all buffers.
    pub(crate) fn of_case(case: &Case) -> Result<Self, LaunchError> {
        let config = config();
        case.launch(
            false,
            &config,
            |object| object,
            |_, arguments, launch| {
                let arguments = arguments.to_vec();
                Ok(Self {
                    range: *launch.range(),
                    compared: buffers(&arguments),
                    arguments,
                    uninitialized: case.uninitialized(),
                })
            },
        )
    }
}

/// The numbers of the buffers among arguments.
pub(crate) fn buffers(arguments: &[Argument]) -> Vec<usize> {
    let all = arguments.iter().enumerate();
    let buffers = all.filter(|(_, a)| matches!(a, Argument::Buffer(_)));
    buffers.map(|(number, _)| number).collect()
}

pub(crate) fn config() -> Config<'static> {
    Config {
        limits: Limits {
            max_bytes: 1 << 28,
            ..Limits::default()
        },
        max_steps: STEPS,
        max_memory: 1 << 30,
        exact_ends: true,
        compile: Jit::shared().map(Compile::when_it_pays),
        passes: &Pass::ALL,
        ..Config::default()
    }
}

/// Runs a kernel.
pub(crate) fn run(dumped: &DumpedKernel, launching: &Launching) -> Ran {
    let config = config();
    let Launching {
        range, arguments, ..
    } = launching;
    let kernel = Kernel::from_dump(dumped);
    match kernel.and_then(|kernel| kernel.run(range, arguments, &config)) {
        Ok(outcome) if outcome.end.is_complete() => {
            let buffers = launching.compared.iter().map(|n| outcome.memory(*n));
            Ran::Ended(buffers.map(|b| b.unwrap_or_default().to_vec()).collect())
        }
        Ok(_) => Ran::Faulted("it does not end".to_owned()),
        Err(LaunchError::Fault { fault, .. }) if is_of_the_launch(&fault.kind) => {
            Ran::Not(fault.kind.to_string())
        }
        Err(LaunchError::Fault { fault, .. }) => Ran::Faulted(fault.to_string()),
        Err(error) => Ran::Not(error.to_string()),
    }
}

/// Whether a fault is no fault of the code: metadata of early releases name no symbols and no samplers of the source, and not
/// all instructions are run here.
const fn is_of_the_launch(kind: &FaultKind) -> bool {
    matches!(
        kind,
        FaultKind::Unsupported(_) | FaultKind::UnknownSymbol(_) | FaultKind::UnknownSampler(_)
    )
}

/// What the checkers find in a kernel; errors are what prevents a check.
pub(crate) fn check(dumped: &DumpedKernel, launching: &Launching) -> Result<Vec<String>, String> {
    let config = visakit_check::config(config());
    let checked = || {
        let kernel = Kernel::from_dump(dumped)?;
        let launch = kernel.prepare(&launching.range, &launching.arguments, &config)?;
        let uninitialized = &launching.uninitialized;
        visakit_check::check(&kernel, launch, &config, Checks::ALL, uninitialized)
    };
    let report = checked().map_err(|error: LaunchError| error.to_string())?;
    let findings = report.findings.iter();
    let serious = findings.filter(|f| f.kind.level() >= Level::Warning);
    Ok(serious.map(|f| f.kind.name().to_owned()).collect())
}

/// As [`check`], of a program.
pub(crate) fn check_program(
    dumped: &DumpedKernel,
    program: &Program,
) -> Result<Vec<String>, String> {
    let launching = Launching::of(program).map_err(|error| error.to_string())?;
    check(dumped, &launching)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "helpers of tests")]

    use super::*;
    use crate::ast::{
        Binary, Buffer, Expr, Guard, Id, Kind, Matrix, Node, Pixel, Place, Statement, Together,
        Variable,
    };
    use crate::evaluate::evaluate;
    use crate::render::source_for;
    use crate::types::{Scalar, Type, Value};
    use visakit_launch::Dump;

    /// Products of matrices of bytes with each pair of signs, and elements of a surface if there are some.
    fn program(surface: bool) -> Program {
        let ushort = Type::scalar(Scalar::Ushort);
        let data = |ty: Type| {
            let data =
                (0..64_u64).map(|n| Value::splat(ty, n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 17));
            Buffer {
                ty,
                data: data.collect(),
            }
        };
        let id = |ty| Expr {
            ty,
            node: Node::Convert(
                false,
                Box::new(Expr {
                    ty: Type::UINT,
                    node: Node::Id(Id::Global),
                }),
            ),
        };
        let column = |part: u64| {
            let index = [
                Expr {
                    ty: Type::UINT,
                    node: Node::Id(Id::Global),
                },
                Expr::constant(Value::splat(Type::UINT, part)),
            ];
            let [id, part] = index.map(Box::new);
            let index = Expr {
                ty: Type::UINT,
                node: Node::Binary(Binary::Add, id, part),
            };
            Expr {
                ty: Type::INT,
                node: Node::Input(0, Box::new(index)),
            }
        };
        let mut program = Program {
            groups: 2,
            local: 32,
            inputs: vec![data(Type::INT), data(ushort)],
            ..Program::default()
        };
        let mut variable = |ty: Type, together: Together| {
            let to = program.variables.len();
            program.variables.push(Variable {
                kind: Kind::Plain(ty),
                initial: vec![Value::splat(ty, 0)],
            });
            let statement = Statement::Together(to, id(ty), together);
            program.body.push(statement);
            program.outputs.push(Expr {
                ty,
                node: Node::Load(Place::Variable(to)),
            });
        };
        for signed in [[true, true], [true, false], [false, true], [false, false]] {
            let column = Expr {
                ty: Type {
                    lanes: 8,
                    ..Type::INT
                },
                node: Node::Build((0..8).map(column).collect()),
            };
            let matrix = Matrix {
                input: 0,
                column,
                signed,
            };
            variable(Type::INT, Together::Matrix(matrix));
        }
        if surface {
            variable(ushort, Together::Block2(1));
        }
        program
    }

    /// An image of each format that is read within it and around it, and one of each that is written.
    fn painting() -> Program {
        use Scalar::{Char, Float, Half, Int, Short, Uchar, Uint, Ushort};
        let mut choices = crate::choices::Choices::new(7);
        let mut program = Program {
            groups: 2,
            local: 32,
            ..Program::default()
        };
        let id = |factor: u64| {
            let [id, factor] = [
                Node::Id(Id::Global),
                Node::Constant(Value::splat(Type::UINT, factor)),
            ]
            .map(|node| Expr {
                ty: Type::UINT,
                node,
            })
            .map(Box::new);
            let node = Node::Binary(Binary::Mul, id, factor);
            let product = Expr {
                ty: Type::UINT,
                node,
            };
            Expr {
                ty: Type::INT,
                node: Node::As(Box::new(product)),
            }
        };
        for channel in [Uchar, Ushort, Uint, Char, Short, Int, Float, Half] {
            let mut image = Image {
                channel,
                data: Vec::new(),
            };
            let ty = image.stored();
            let value = |_| match channel.is_float() {
                true => crate::arithmetic::guarded(Guard::Normal, choices.value(ty)),
                false => choices.value(ty),
            };
            image.data = (0..64).map(value).collect();
            let read = |clamped: bool| Expr {
                ty: image.pixel(),
                node: Node::Pixel(
                    Pixel {
                        image: program.images.len(),
                        clamped,
                    },
                    Box::new(id(1)),
                    Box::new(id(3)),
                ),
            };
            let reads = [read(false), read(true)];
            if channel != Half {
                let [value, _] = reads.clone();
                let node = Node::Binary(Binary::Sub, Box::new(value.clone()), Box::new(value));
                let nothing = Expr {
                    ty: image.pixel(),
                    node,
                };
                let more = Expr::constant(choices.value(image.pixel()));
                let node = Node::Binary(Binary::Add, Box::new(nothing), Box::new(more));
                let value = Expr {
                    ty: image.pixel(),
                    node,
                };
                let number = program.drawn.len();
                program.body.push(Statement::Draw(number, value));
                program.drawn.push(image.clone());
            }
            program.images.push(image);
            program.outputs.extend(reads);
        }
        program
    }

    /// Reads and writes of images by the executor are those of the evaluator.
    #[test]
    fn images() {
        let program = painting();
        let folder = std::path::Path::new("tests/it/images");
        let source = source_for(&[&program], None, 8);
        let kept = std::fs::read_to_string(folder.join("program.cl")).unwrap_or_default();
        assert_eq!(source, kept, "compile this one again");
        let kernel = Dump::open(folder).unwrap().kernel(None).unwrap();
        let ran = run(&kernel, &Launching::of(&program).unwrap());
        assert_eq!(ran, Ran::Ended(memory(&evaluate(&program).unwrap())));
    }

    /// What a compiler makes of them computes what the evaluator does, whatever the size of sub-groups is.
    #[test]
    fn matrices_and_surfaces() {
        for (device, matrix, surface) in [("dg2", 8, false), ("pvc", 16, true)] {
            let program = program(surface);
            let folder = std::path::Path::new("tests/it/matrices").join(device);
            let source = source_for(&[&program], None, matrix);
            let kept = std::fs::read_to_string(folder.join("program.cl")).unwrap_or_default();
            assert_eq!(source, kept, "{device}: compile this one again");
            let kernel = Dump::open(&folder).unwrap().kernel(None).unwrap();
            let ran = run(&kernel, &Launching::of(&program).unwrap());
            assert_eq!(
                ran,
                Ran::Ended(memory(&evaluate(&program).unwrap())),
                "{device}"
            );
        }
    }
}
