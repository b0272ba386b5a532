//! The generator: programs whose results are defined, out of seeds.
//!
//! Each program uses some of the features and a small palette of types, so that values meet often; which ones differs
//! from program to program.

mod exact;
mod expression;
mod idiom;
mod image;
mod statement;

use crate::ast::{
    Argument, Atomic, Binary, Buffer, Expr, Function, Kind, Node, OWN, Place, Program, Returned,
    Shared, Variable,
};
use crate::choices::Choices;
use crate::features::Feature;
use crate::types::{Scalar, Type, Value};
use std::collections::BTreeSet;

/// How programs are made.
#[derive(Clone, Debug)]
pub struct Options {
    /// What they may use.
    pub features: Vec<Feature>,
    /// About how many statements they have.
    pub statements: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            features: Feature::all(),
            statements: 24,
        }
    }
}

/// The program of a seed.
#[must_use]
pub fn generate(seed: u64, options: &Options) -> Program {
    let mut choices = Choices::new(seed);
    let mut features: BTreeSet<Feature> = options.features.iter().copied().collect();
    // Each part of the language is in two of three programs, those that few devices have in fewer.
    features.retain(|feature| {
        let percent = match feature {
            Feature::Doubles | Feature::Halves => 20,
            Feature::WorkGroups | Feature::SubGroups | Feature::Blocks => 30,
            Feature::Images => 20,
            Feature::Surfaces | Feature::Matrices => 10,
            _ => 65,
        };
        choices.percent(percent)
    });
    let mut generator = Generator {
        palette: palette(&mut choices, &features),
        choices,
        features,
        program: Program {
            seed,
            ..Program::default()
        },
        variables: Vec::new(),
        parameters: 0,
        in_function: false,
        left: 0,
        loops: 0,
    };
    generator.program(options.statements);
    generator.program
}

/// The types that are most common in a program.
fn palette(choices: &mut Choices, features: &BTreeSet<Feature>) -> Vec<Type> {
    let mut scalars: Vec<Scalar> = Scalar::INTEGERS.into();
    if !features.contains(&Feature::Longs) {
        scalars.retain(|s| s.bits() < 64);
    }
    scalars.extend([Scalar::Int, Scalar::Uint]);
    for (feature, scalar) in [
        (Feature::Floats, Scalar::Float),
        (Feature::Halves, Scalar::Half),
        (Feature::Doubles, Scalar::Double),
    ] {
        if features.contains(&feature) {
            scalars.extend([scalar; 4]);
        }
    }
    let lanes: Vec<u8> = match features.contains(&Feature::Vectors) {
        true => {
            let wide = choices.of_or(&[2, 2, 3, 4, 4, 8, 16], 4);
            vec![1, 1, wide]
        }
        false => vec![1],
    };
    let count = 3 + choices.below(4);
    (0..count)
        .map(|_| Type {
            scalar: choices.of_or(&scalars, Scalar::Int),
            lanes: choices.of_or(&lanes, 1),
        })
        .collect()
}

struct Generator {
    choices: Choices,
    features: BTreeSet<Feature>,
    palette: Vec<Type>,
    program: Program,
    /// The variables of the function that is made, or of the kernel.
    variables: Vec<Variable>,
    parameters: usize,
    in_function: bool,
    /// Statements that may still be made.
    left: usize,
    /// Loops around the place.
    loops: usize,
}

impl Generator {
    fn has(&self, feature: Feature) -> bool {
        self.features.contains(&feature)
    }

    fn some_type(&mut self) -> Type {
        self.choices.of_or(&self.palette.clone(), Type::INT)
    }

    /// A type whose elements are contiguous in buffers.
    fn stored_type(&mut self) -> Type {
        let ty = self.some_type();
        match ty.lanes {
            3 => ty.element(),
            _ => ty,
        }
    }

    fn buffer(&mut self, ty: Type, length: usize) -> Buffer {
        let data = (0..length).map(|_| self.choices.value(ty)).collect();
        Buffer { ty, data }
    }

    fn program(&mut self, statements: usize) {
        self.program.local = self.choices.of_or(&[32, 32, 64], 32);
        self.program.groups = self.choices.of_or(&[2, 3, 4, 6], 4);
        self.structures();
        if self.has(Feature::Tables) {
            let ty = self.stored_type();
            let length = self.choices.of_or(&[4, 8, 16], 8);
            let mut table = self.buffer(ty, length);
            // Infinities have no constant expression.
            let finite = |v: &Value| Value::from_fn(ty, |l| finite(ty.scalar, v.lane(l)));
            table.data = table.data.iter().map(finite).collect();
            self.program.tables.push(table);
        }
        if self.has(Feature::Functions) {
            for _ in 0..1 + self.choices.below(3) {
                self.function();
            }
        }
        for _ in 0..1 + self.choices.below(3) {
            let ty = self.stored_type();
            let length = self.choices.of_or(&[64, 128, 256], 128);
            let input = self.buffer(ty, length);
            self.program.inputs.push(input);
        }
        if self.choices.percent(50) {
            let ty = self.stored_type();
            let own = self.buffer(ty, OWN * self.program.items());
            let without_nan = own.data.iter().map(|v| crate::arithmetic::number(*v));
            let data = without_nan.collect();
            self.program.own.push(Buffer { data, ..own });
        }
        if self.has(Feature::Atomics) {
            self.shared();
        }
        self.images();
        for _ in 0..self.choices.below(3) {
            let ty = self.some_type().element();
            let value = self.choices.value(ty);
            self.program.scalars.push(value);
        }
        let plain = 3 + self.choices.below(5);
        self.locals(plain);
        self.left = statements / 2 + self.choices.below(statements.max(1));
        let body = self.body(true);
        self.program.body = body;
        self.program.variables = std::mem::take(&mut self.variables);
        self.outputs();
    }

    fn structures(&mut self) {
        if !self.has(Feature::Structures) {
            return;
        }
        for _ in 0..1 + self.choices.below(2) {
            let fields = 1 + self.choices.below(4);
            let fields = (0..fields).map(|_| self.some_type()).collect();
            self.program.structs.push(fields);
        }
    }

    fn shared(&mut self) {
        use Atomic::{Add, And, Max, Min, Or, Sub, Xor};
        let scalar = self
            .choices
            .of_or(&[Scalar::Int, Scalar::Uint], Scalar::Int);
        let length = self.choices.of_or(&[1, 4, 8], 4);
        let atomic = self.choices.of_or(&[Add, Sub, And, Or, Xor, Min, Max], Add);
        let buffer = self.buffer(Type::scalar(scalar), length);
        self.program.shared.push(Shared { atomic, buffer });
    }

    /// A new variable.
    fn variable(&mut self, kind: Kind) -> usize {
        let initial = match kind {
            Kind::Plain(ty) => vec![self.choices.value(ty)],
            Kind::Counter => Vec::new(),
            Kind::Array(ty, length) => (0..length).map(|_| self.choices.value(ty)).collect(),
            Kind::Struct(s) => {
                let fields = self.program.structs.get(s).cloned().unwrap_or_default();
                fields.iter().map(|ty| self.choices.value(*ty)).collect()
            }
        };
        self.variables.push(Variable { kind, initial });
        self.variables.len() - 1
    }

    fn locals(&mut self, plain: usize) {
        for _ in 0..plain {
            let ty = self.some_type();
            self.variable(Kind::Plain(ty));
        }
        if self.has(Feature::Arrays) {
            for _ in 0..1 + self.choices.below(2) {
                let ty = self.some_type();
                let length = self.choices.of_or(&[4, 8, 8, 16], 8);
                self.variable(Kind::Array(ty, length));
            }
        }
        let structs = self.program.structs.len();
        for _ in 0..structs.min(2) {
            let s = self.choices.below(structs);
            self.variable(Kind::Struct(s));
            if self.choices.percent(50) {
                self.variable(Kind::Struct(s));
            }
        }
    }

    fn function(&mut self) {
        self.in_function = true;
        self.variables = Vec::new();
        let parameters = 1 + self.choices.below(3);
        for _ in 0..parameters {
            let structs = self.program.structs.len();
            let kind = if structs > 0 && self.choices.percent(30) {
                Kind::Struct(self.choices.below(structs))
            } else {
                Kind::Plain(self.some_type())
            };
            self.variables.push(Variable {
                kind,
                initial: Vec::new(),
            });
        }
        self.parameters = parameters;
        let plain = 1 + self.choices.below(2);
        self.locals(plain);
        self.left = 2 + self.choices.below(6);
        let body = self.body(false);
        let structures: Vec<usize> = self.of_kind(|kind| matches!(kind, Kind::Struct(_)));
        let result = match self.choices.of(&structures) {
            Some(structure) if self.choices.percent(40) => Returned::Struct(structure),
            _ => {
                let ty = self.some_type();
                Returned::Plain(self.expr(ty, 2))
            }
        };
        let noinline = self.choices.percent(40);
        self.program.functions.push(Function {
            noinline,
            parameters,
            variables: std::mem::take(&mut self.variables),
            body,
            result,
        });
        self.in_function = false;
        self.parameters = 0;
    }

    /// The variables of a kind.
    fn of_kind(&self, is: impl Fn(Kind) -> bool) -> Vec<usize> {
        let variables = self.variables.iter().enumerate();
        variables
            .filter(|(_, v)| is(v.kind))
            .map(|(number, _)| number)
            .collect()
    }

    /// Arguments for a function, unless there is no structure for it.
    fn arguments(&mut self, function: usize, depth: usize) -> Option<Vec<Argument>> {
        let callee = self.program.functions.get(function)?;
        let parameters = callee.variables.iter().take(callee.parameters);
        let kinds: Vec<Kind> = parameters.map(|p| p.kind).collect();
        kinds
            .into_iter()
            .map(|kind| match kind {
                Kind::Plain(ty) => Some(Argument::Plain(self.expr(ty, depth))),
                _ => {
                    let all = self.of_kind(|k| k == kind);
                    self.choices.of(&all).map(Argument::Struct)
                }
            })
            .collect()
    }

    /// All variables are results, of arrays of floats some elements.
    fn outputs(&mut self) {
        let (mut outputs, mut arrays) = (Vec::new(), Vec::new());
        for (number, variable) in self.program.variables.iter().enumerate() {
            match variable.kind {
                Kind::Plain(ty) => outputs.push((Place::Variable(number), ty)),
                Kind::Counter => {}
                Kind::Array(ty, length) => arrays.push((number, ty, length)),
                Kind::Struct(s) => {
                    let fields = self.program.structs.get(s).into_iter().flatten();
                    for (field, ty) in (0..).zip(fields) {
                        outputs.push((Place::Field(number, field), *ty));
                    }
                }
            }
        }
        let load = |(place, ty)| Expr {
            ty,
            node: Node::Load(place),
        };
        self.program.outputs = outputs.into_iter().map(load).collect();
        for (array, ty, length) in arrays {
            let element = |at: u8| {
                let at = Expr::constant(Value::splat(Type::UINT, at.into()));
                load((Place::Element(array, Box::new(at)), ty))
            };
            if ty.scalar.is_float() {
                let some = [0, length / 2 + 1, length - 1];
                self.program.outputs.extend(some.map(element));
                continue;
            }
            let rest = (1..length).map(element).reduce(|a, b| Expr {
                ty,
                node: Node::Binary(Binary::Xor, Box::new(a), Box::new(b)),
            });
            self.program.outputs.extend([element(0)]);
            self.program.outputs.extend(rest);
        }
    }
}

/// The bits of a float, or 0.
fn finite(scalar: Scalar, bits: u64) -> u64 {
    let exponent = match scalar {
        Scalar::Half => 0x7c00,
        Scalar::Float => 0x7f80_0000,
        Scalar::Double => 0x7ff0_0000_0000_0000,
        _ => return bits,
    };
    if bits & exponent == exponent { 0 } else { bits }
}
