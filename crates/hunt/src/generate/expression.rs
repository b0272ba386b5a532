//! Expressions.

use super::Generator;
use crate::ast::{Binary, Builtin, Expr, Id, Kind, Node, OWN, Place, Relation, Returned, Unary};
use crate::features::Feature;
use crate::types::{Scalar, Type, Value};

#[derive(Clone, Copy)]
enum Form {
    Leaf,
    Unary,
    Binary,
    Compare,
    Choose,
    Convert,
    Builtin,
    Swizzle,
    Build,
    Function,
    Idiom,
    Exact,
    Pixel,
}

pub(super) const RELATIONS: [Relation; 6] = [
    Relation::Less,
    Relation::LessEqual,
    Relation::Greater,
    Relation::GreaterEqual,
    Relation::Equal,
    Relation::NotEqual,
];

fn boxed(expr: Expr) -> Box<Expr> {
    Box::new(expr)
}

impl Generator {
    /// An expression of a type, at most so deep.
    pub(super) fn expr(&mut self, ty: Type, depth: usize) -> Expr {
        if depth == 0 {
            return self.leaf(ty);
        }
        let truth = ty == Type::INT || ty.is_vector() && ty.scalar.is_signed();
        let when = |yes: bool, weight: usize| if yes { weight } else { 0 };
        let forms = [
            (Form::Leaf, 20),
            (Form::Unary, 5),
            (Form::Binary, 34),
            (Form::Compare, when(truth, 10)),
            (Form::Choose, 7),
            (Form::Convert, when(self.has(Feature::Conversions), 10)),
            (Form::Builtin, when(self.has(Feature::Builtins), 18)),
            (Form::Swizzle, when(self.has(Feature::Vectors), 5)),
            (Form::Build, when(ty.is_vector() && ty.lanes <= 4, 3)),
            (Form::Function, when(!self.program.functions.is_empty(), 6)),
            (Form::Idiom, when(self.has(Feature::Idioms), 20)),
            (
                Form::Exact,
                when(self.has(Feature::Exact), self.exactness(ty)),
            ),
            (Form::Pixel, when(self.has(Feature::Images), 10)),
        ];
        let form = self.choices.weighted(&forms).unwrap_or(Form::Leaf);
        let node = match form {
            Form::Leaf => return self.leaf(ty),
            Form::Unary => {
                let op = match ty.scalar.is_float() || self.choices.percent(50) {
                    true => Unary::Negate,
                    false => Unary::Not,
                };
                Node::Unary(op, boxed(self.expr(ty, depth - 1)))
            }
            Form::Binary => {
                let op = self.operator(ty.scalar);
                let a = self.expr(ty, depth - 1);
                let b = self.right(op, ty, depth - 1);
                Node::Binary(op, boxed(a), boxed(b))
            }
            Form::Compare => {
                let of = self.compared(ty);
                let relation = self.choices.of_or(&RELATIONS, Relation::Less);
                let a = self.expr(of, depth - 1);
                let b = self.expr(of, depth - 1);
                Node::Compare(relation, boxed(a), boxed(b))
            }
            Form::Choose => {
                let condition = self.condition(depth - 1);
                let yes = self.expr(ty, depth - 1);
                let no = self.expr(ty, depth - 1);
                Node::Choose(boxed(condition), boxed(yes), boxed(no))
            }
            Form::Convert => {
                let from = self.some_type().scalar;
                let inner = self.expr(ty.of(from), depth - 1);
                return self.converted(inner, ty);
            }
            Form::Builtin => match self.builtin(ty, depth - 1) {
                Some(node) => node,
                None => return self.leaf(ty),
            },
            Form::Swizzle => {
                let lanes = self.choices.of_or(&[2, 4, 8], 4);
                let from = Type {
                    scalar: ty.scalar,
                    lanes,
                };
                let inner = self.expr(from, depth - 1);
                return self.adapted(inner, ty);
            }
            Form::Build => {
                let count = if self.choices.percent(40) {
                    1
                } else {
                    ty.count()
                };
                let parts = (0..count).map(|_| self.expr(ty.element(), depth.min(2) - 1));
                Node::Build(parts.collect())
            }
            Form::Idiom => return self.idiom(ty).unwrap_or_else(|| self.leaf(ty)),
            Form::Exact => match self.exact(ty, depth - 1) {
                Some(node) => node,
                None => return self.leaf(ty),
            },
            Form::Pixel => return self.pixel(ty, depth - 1).unwrap_or_else(|| self.leaf(ty)),
            Form::Function => match self.called(ty, depth - 1) {
                Some(expr) => return expr,
                None => return self.leaf(ty),
            },
        };
        Expr { ty, node }
    }

    /// An operator for such operands.
    pub(super) fn operator(&mut self, scalar: Scalar) -> Binary {
        use Binary::{Add, And, Div, Halves, Highs, Mul, Or, Rem, Shl, Shr, Sub, Xor};
        if scalar.is_float() {
            return self.choices.of_or(&[Add, Sub, Mul], Add);
        }
        let division = if self.has(Feature::Division) { 5 } else { 0 };
        let operators = [
            (Add, 14),
            (Sub, 12),
            (Mul, 9),
            (Div, division),
            (Rem, division),
            (And, 10),
            (Or, 9),
            (Xor, 9),
            (Shl, 10),
            (Shr, 10),
            (Halves, 3),
            (Highs, 3),
        ];
        self.choices.weighted(&operators).unwrap_or(Add)
    }

    /// The right operand: compilers do most with constants.
    fn right(&mut self, op: Binary, ty: Type, depth: usize) -> Expr {
        let constant = match op {
            Binary::Shl | Binary::Shr => 50,
            Binary::Div | Binary::Rem => 60,
            _ => 25,
        };
        if !self.choices.percent(constant) {
            return self.expr(ty, depth);
        }
        if matches!(op, Binary::Shl | Binary::Shr) {
            let bits = u64::from(ty.scalar.bits());
            let by = self.choices.bits() % bits;
            return Expr::constant(Value::splat(ty, by));
        }
        Expr::constant(self.choices.value(ty))
    }

    /// The type of operands whose comparison has a type.
    fn compared(&mut self, truth: Type) -> Type {
        if !truth.is_vector() {
            return self.some_type().element();
        }
        let signed = truth.scalar;
        let mut all = vec![signed, signed.unsigned()];
        for (feature, scalar) in [
            (Feature::Floats, Scalar::Float),
            (Feature::Halves, Scalar::Half),
            (Feature::Doubles, Scalar::Double),
        ] {
            if scalar.bits() == signed.bits() && self.has(feature) {
                all.push(scalar);
            }
        }
        truth.of(self.choices.of_or(&all, signed))
    }

    /// A condition that all work-items of a group agree on: a comparison of an argument, or of what differs among groups.
    pub(super) fn compare_scalar(&mut self, scalar: usize) -> Expr {
        let value = self.program.scalars.get(scalar).copied();
        let ty = value.map_or(Type::INT, |v| v.ty);
        let scalar = Expr {
            ty,
            node: Node::Scalar(scalar),
        };
        if self.choices.percent(70) {
            let scalar = self.converted(scalar, Type::UINT);
            return self.low_bits(scalar, Id::Group);
        }
        let relation = self.choices.of_or(&RELATIONS, Relation::Less);
        let other = Expr::constant(self.choices.value(ty));
        Expr {
            ty: Type::INT,
            node: Node::Compare(relation, boxed(scalar), boxed(other)),
        }
    }

    /// A condition that some work-items meet and others do not, mostly.
    pub(super) fn condition(&mut self, depth: usize) -> Expr {
        if self.choices.percent(30) {
            return self.expr(Type::INT, depth);
        }
        let number = self.expr(Type::UINT, depth.min(2));
        let id = self.choices.of_or(&[Id::Global, Id::Local], Id::Global);
        self.low_bits(number, id)
    }

    /// A number with low bits that differ among work-items. Functions know only what they are given.
    pub(super) fn varied(&mut self, number: Expr, id: Id) -> Expr {
        if self.in_function {
            return number;
        }
        let op = self.choices.of_or(&[Binary::Xor, Binary::Add], Binary::Xor);
        let id = Expr {
            ty: Type::UINT,
            node: Node::Id(id),
        };
        Expr {
            ty: Type::UINT,
            node: Node::Binary(op, boxed(number), boxed(id)),
        }
    }

    /// A comparison of the low bits of a number and of where the work-item is, which is true for some values of them.
    fn low_bits(&mut self, number: Expr, id: Id) -> Expr {
        let mask = self.choices.of_or(&[1, 3, 3, 7], 3);
        let varied = self.varied(number, id);
        let low = self.masked(varied, mask);
        let relation = self.choices.of_or(&RELATIONS, Relation::Less);
        let least = u64::from(matches!(relation, Relation::Less | Relation::GreaterEqual));
        let count = match relation {
            Relation::Equal | Relation::NotEqual => mask + 1,
            _ => mask,
        };
        let with = least + self.choices.bits() % count;
        let with = Expr::constant(Value::splat(Type::UINT, with));
        Expr {
            ty: Type::INT,
            node: Node::Compare(relation, boxed(low), boxed(with)),
        }
    }

    /// The lowest bits of a value.
    pub(super) fn masked(&mut self, expr: Expr, mask: u64) -> Expr {
        let ty = expr.ty;
        let mask = Expr::constant(Value::splat(ty, mask));
        Expr {
            ty,
            node: Node::Binary(Binary::And, boxed(expr), boxed(mask)),
        }
    }

    /// Something that is read, or a constant.
    pub(super) fn leaf(&mut self, ty: Type) -> Expr {
        if self.choices.percent(18) {
            return Expr::constant(self.choices.value(ty));
        }
        // Of the right type, if there is one in a few.
        let mut found = None;
        for _ in 0..4 {
            let leaf = self.read();
            let fits = leaf.as_ref().is_some_and(|l| l.ty == ty);
            found = leaf.or(found);
            if fits {
                break;
            }
        }
        match found {
            Some(leaf) => self.adapted(leaf, ty),
            None => Expr::constant(self.choices.value(ty)),
        }
    }

    /// Something that is read.
    fn read(&mut self) -> Option<Expr> {
        if !self.in_function {
            let index = match self.choices.below(3) {
                0 => Id::Local,
                _ => Id::Global,
            };
            let index = Expr {
                ty: Type::UINT,
                node: Node::Id(index),
            };
            match self.choices.below(12) {
                0 | 1 if !self.program.inputs.is_empty() => {
                    let input = self.choices.below(self.program.inputs.len());
                    let ty = self.program.inputs.get(input)?.ty;
                    let node = Node::Input(input, boxed(index));
                    return Some(Expr { ty, node });
                }
                2 if !self.program.scalars.is_empty() => {
                    let scalar = self.choices.below(self.program.scalars.len());
                    let ty = self.program.scalars.get(scalar)?.ty;
                    let node = Node::Scalar(scalar);
                    return Some(Expr { ty, node });
                }
                3 if !self.program.own.is_empty() => {
                    let own = self.choices.below(self.program.own.len());
                    let ty = self.program.own.get(own)?.ty;
                    let at = self.small(OWN);
                    let node = Node::Load(Place::Own(own, boxed(at)));
                    return Some(Expr { ty, node });
                }
                4 => {
                    let id = self
                        .choices
                        .of_or(&[Id::Global, Id::Local, Id::Group], Id::Global);
                    let node = Node::Id(id);
                    return Some(Expr {
                        ty: Type::UINT,
                        node,
                    });
                }
                _ => {}
            }
        }
        if !self.program.tables.is_empty() && self.choices.percent(8) {
            let at = self.small(16);
            let table = self.program.tables.first()?;
            let (ty, node) = (table.ty, Node::Table(0, boxed(at)));
            return Some(Expr { ty, node });
        }
        let variable = self.choices.below(self.variables.len());
        let (ty, node) = match self.variables.get(variable)?.kind {
            Kind::Plain(ty) if ty.is_vector() && self.choices.percent(15) => {
                let lane = u8::try_from(self.choices.below(ty.count())).unwrap_or(0);
                (ty.element(), Node::Load(Place::Lane(variable, lane)))
            }
            Kind::Plain(ty) => (ty, Node::Load(Place::Variable(variable))),
            Kind::Counter => (Type::UINT, Node::Load(Place::Variable(variable))),
            Kind::Array(ty, length) => {
                let at = self.small(length.into());
                let bytes = !ty.scalar.is_float() && ty.lanes != 3;
                if bytes && self.has(Feature::Bytes) && self.choices.percent(20) {
                    let node = Node::Byte(variable, boxed(at));
                    (Type::scalar(Scalar::Uchar), node)
                } else {
                    (ty, Node::Load(Place::Element(variable, boxed(at))))
                }
            }
            Kind::Struct(s) => {
                let (field, ty) = self.field(s)?;
                (ty, Node::Load(Place::Field(variable, field)))
            }
        };
        Some(Expr { ty, node })
    }

    /// An index: a constant, a counter, or a number that is computed.
    fn small(&mut self, length: usize) -> Expr {
        let counters = self.of_kind(|kind| kind == Kind::Counter);
        if let Some(counter) = self.choices.of(&counters)
            && self.choices.percent(60)
        {
            let node = Node::Load(Place::Variable(counter));
            return Expr {
                ty: Type::UINT,
                node,
            };
        }
        let uints = self.of_kind(|kind| kind == Kind::Plain(Type::UINT));
        match self.choices.of(&uints) {
            Some(uint) if self.choices.percent(50) => Expr {
                ty: Type::UINT,
                node: Node::Load(Place::Variable(uint)),
            },
            _ => {
                let at = self.choices.below(length);
                Expr::constant(Value::splat(Type::UINT, at as u64))
            }
        }
    }

    /// An expression as another type of as many lanes.
    fn converted(&mut self, expr: Expr, ty: Type) -> Expr {
        if expr.ty == ty {
            return expr;
        }
        let same = expr.ty.scalar.bits() == ty.scalar.bits();
        let node = match same && self.choices.percent(50) {
            true => Node::As(boxed(expr)),
            false => {
                let floats = expr.ty.scalar.is_float() || ty.scalar.is_float();
                let saturate = !floats && self.choices.percent(40);
                Node::Convert(saturate, boxed(expr))
            }
        };
        Expr { ty, node }
    }

    /// An expression as another type.
    pub(super) fn adapted(&mut self, expr: Expr, ty: Type) -> Expr {
        let from = expr.ty;
        if from.lanes == ty.lanes {
            return self.converted(expr, ty);
        }
        if !from.is_vector() {
            let element = self.converted(expr, ty.element());
            return Expr {
                ty,
                node: Node::Build(vec![element]),
            };
        }
        let lanes = (0..ty.lanes).map(|_| u8::try_from(self.choices.below(from.count())));
        let lanes = lanes.map(|lane| lane.unwrap_or(0)).collect();
        let chosen = Expr {
            ty: ty.of(from.scalar),
            node: Node::Swizzle(boxed(expr), lanes),
        };
        self.converted(chosen, ty)
    }

    /// A call of a function of the program.
    fn called(&mut self, ty: Type, depth: usize) -> Option<Expr> {
        let function = self.choices.below(self.program.functions.len());
        let Returned::Plain(result) = &self.program.functions.get(function)?.result else {
            return None;
        };
        let of = result.ty;
        let arguments = self.arguments(function, depth.min(2))?;
        let node = Node::Function(function, arguments);
        Some(self.adapted(Expr { ty: of, node }, ty))
    }

    /// A call of a built-in function with a result of that type.
    fn builtin(&mut self, ty: Type, depth: usize) -> Option<Node> {
        use Builtin as B;
        let scalar = ty.scalar;
        let builtin = if scalar.is_float() {
            let all = [
                B::Fma,
                B::Fabs,
                B::Floor,
                B::Ceil,
                B::Trunc,
                B::Rint,
                B::Select,
            ];
            self.choices.of(&all)?
        } else {
            let mut all = vec![
                B::AddSat,
                B::SubSat,
                B::Hadd,
                B::Rhadd,
                B::Clz,
                B::Popcount,
                B::MadHi,
                B::MadSat,
                B::MulHi,
                B::Min,
                B::Max,
                B::Rotate,
                B::Rotate,
                B::Bitselect,
                B::Select,
            ];
            if !scalar.is_signed() {
                all.extend([B::Abs, B::AbsDiff]);
            }
            if scalar.bits() > 8 {
                all.push(B::Upsample);
            }
            if scalar == Scalar::Uint {
                all.push(B::Mul24);
            }
            if ty == Type::INT {
                all.extend([B::Any, B::All, B::Isnan, B::Isinf]);
            }
            self.choices.of(&all)?
        };
        let builtin = match ty.is_vector() && ty.lanes != 3 && self.choices.percent(12) {
            true if self.choices.percent(50) => B::Shuffle,
            true => B::Shuffle2,
            false => builtin,
        };
        // `fma` of halves is rounded twice by an evaluation in doubles.
        let builtin = match (builtin, scalar) {
            (B::Fma, Scalar::Half) => B::Fabs,
            (other, _) => other,
        };
        let types = self.parameters_of(builtin, ty)?;
        let arguments = types.into_iter().map(|ty| self.expr(ty, depth)).collect();
        Some(Node::Call(builtin, arguments))
    }

    /// The types of arguments.
    fn parameters_of(&mut self, builtin: Builtin, ty: Type) -> Option<Vec<Type>> {
        use Builtin as B;
        let scalar = ty.scalar;
        Some(match builtin {
            B::Abs | B::AbsDiff => {
                let of = match self.choices.percent(70) {
                    true => ty.of(scalar.signed()),
                    false => ty,
                };
                match builtin {
                    B::Abs => vec![of],
                    _ => vec![of, of],
                }
            }
            B::Clz | B::Popcount | B::Fabs | B::Floor | B::Ceil | B::Trunc | B::Rint => vec![ty],
            B::MadHi | B::MadSat | B::Fma | B::Bitselect => vec![ty, ty, ty],
            B::Select => vec![ty, ty, ty.of(scalar.signed())],
            B::Upsample => {
                let half = narrower(scalar)?;
                vec![ty.of(half), ty.of(half.unsigned())]
            }
            B::Shuffle => vec![ty, ty.of(scalar.unsigned())],
            B::Shuffle2 => vec![ty, ty, ty.of(scalar.unsigned())],
            B::Any | B::All => {
                let lanes = self.choices.of_or(&[2, 4, 8], 4);
                let signed = Scalar::INTEGERS.into_iter().filter(|s| s.is_signed());
                let signed: Vec<_> = signed.collect();
                let scalar = self.choices.of_or(&signed, Scalar::Int);
                vec![Type { scalar, lanes }]
            }
            B::Isnan | B::Isinf => {
                let floats = self.palette.iter().copied();
                let floats: Vec<Type> = floats.filter(|t| t.scalar.is_float()).collect();
                vec![self.choices.of(&floats)?.element()]
            }
            _ => vec![ty, ty],
        })
    }
}

/// The integer of half the size and equal sign.
fn narrower(scalar: Scalar) -> Option<Scalar> {
    Scalar::INTEGERS
        .into_iter()
        .find(|s| s.wider() == Some(scalar))
}
