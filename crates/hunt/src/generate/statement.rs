//! Statements.

use super::Generator;
use crate::ast::{
    Binary, Branch, Buffer, Count, Expr, Id, Kind, Matrix, Node, Place, Reduction, Returned,
    Statement, Together,
};
use crate::features::Feature;
use crate::types::{Scalar, Type};

/// Deepest nesting.
const DEPTH: usize = 3;

/// What work-items of a group do together.
const MEETINGS: [Feature; 6] = [
    Feature::Barriers,
    Feature::SubGroups,
    Feature::WorkGroups,
    Feature::Blocks,
    Feature::Surfaces,
    Feature::Matrices,
];

#[derive(Clone, Copy)]
enum Form {
    Assign,
    Update,
    If,
    Loop,
    Leave,
    Switch,
    Copy,
    Call,
    Atomic,
    Draw,
    Together,
}

/// Where a block is.
#[derive(Clone, Copy)]
struct At {
    depth: usize,
    /// All work-items of a group are there.
    uniform: bool,
    /// A loop may be left.
    leaves: bool,
}

impl Generator {
    /// The body of the kernel or of a function.
    pub(super) fn body(&mut self, kernel: bool) -> Vec<Statement> {
        let at = At {
            depth: 0,
            uniform: kernel,
            leaves: false,
        };
        let mut body = Vec::new();
        while self.left > 0 {
            body.extend(self.statements(at));
        }
        body
    }

    fn block(&mut self, at: At, most: usize) -> Vec<Statement> {
        let count = 1 + self.choices.below(most);
        let mut block = Vec::new();
        for _ in 0..count {
            if self.left > 0 {
                block.extend(self.statements(at));
            }
        }
        block
    }

    /// A statement, or those of an idiom.
    fn statements(&mut self, at: At) -> Vec<Statement> {
        if self.has(Feature::Idioms) && self.choices.percent(12) {
            self.left = self.left.saturating_sub(2);
            return self.idioms();
        }
        self.statement(at).into_iter().collect()
    }

    fn statement(&mut self, at: At) -> Option<Statement> {
        self.left = self.left.saturating_sub(1);
        let nests = at.depth < DEPTH;
        let structures = !self.program.structs.is_empty();
        let meets = at.uniform && MEETINGS.iter().any(|feature| self.has(*feature));
        let when = |yes: bool, weight: usize| if yes { weight } else { 0 };
        let forms = [
            (Form::Assign, 30),
            (Form::Update, 18),
            (Form::If, when(nests, 10)),
            (
                Form::Loop,
                when(nests && self.loops < 2 && self.has(Feature::Loops), 9),
            ),
            (Form::Leave, when(at.leaves, 6)),
            (Form::Switch, when(nests && self.has(Feature::Switches), 5)),
            (Form::Copy, when(structures, 3)),
            (
                Form::Call,
                when(structures && !self.program.functions.is_empty(), 4),
            ),
            (
                Form::Atomic,
                when(!self.in_function && !self.program.shared.is_empty(), 4),
            ),
            (
                Form::Draw,
                when(!self.in_function && !self.program.drawn.is_empty(), 6),
            ),
            (Form::Together, when(meets, 8)),
        ];
        match self.choices.weighted(&forms)? {
            Form::Assign => {
                let (place, ty) = self.target()?;
                let value = self.expr(ty, 4);
                // What a variable had stays a part of the results often.
                Some(match !ty.scalar.is_float() && self.choices.percent(45) {
                    true => {
                        let op = self.choices.of_or(&[Binary::Xor, Binary::Add], Binary::Xor);
                        Statement::Update(place, op, value)
                    }
                    false => Statement::Assign(place, value),
                })
            }
            Form::Update => self.update(),
            Form::If => Some(self.branches(at)),
            Form::Loop => Some(self.repeat(at)),
            Form::Leave => {
                let condition = self.condition(2);
                Some(match self.choices.percent(60) {
                    true => Statement::Break(condition),
                    false => Statement::Continue(condition),
                })
            }
            Form::Switch => Some(self.switch(at)),
            Form::Copy => self.copy(),
            Form::Call => self.call(),
            Form::Atomic => {
                let shared = self.choices.below(self.program.shared.len());
                let ty = self.program.shared.get(shared)?.buffer.ty;
                let index = self.expr(Type::UINT, 2);
                let value = self.expr(ty, 2);
                Some(Statement::Atomic(shared, index, value))
            }
            Form::Draw => self.draw(),
            Form::Together => self.together(),
        }
    }

    fn update(&mut self) -> Option<Statement> {
        let (place, ty) = self.target()?;
        let op = self.operator(ty.scalar);
        let value = self.expr(ty, 3);
        let plain = matches!(op, Binary::Halves | Binary::Highs);
        let op = if plain { Binary::Add } else { op };
        Some(Statement::Update(place, op, value))
    }

    /// A place that is assigned.
    pub(super) fn target(&mut self) -> Option<(Place, Type)> {
        if !self.in_function && !self.program.own.is_empty() && self.choices.percent(10) {
            let own = self.choices.below(self.program.own.len());
            let ty = self.program.own.get(own)?.ty;
            let index = self.expr(Type::UINT, 1);
            return Some((Place::Own(own, Box::new(index)), ty));
        }
        let all = self.of_kind(|kind| kind != Kind::Counter);
        let variable = self.choices.of(&all)?;
        Some(match self.variables.get(variable)?.kind {
            Kind::Plain(ty) if ty.is_vector() && self.choices.percent(20) => {
                let lane = self.choices.below(ty.count());
                let lane = u8::try_from(lane).unwrap_or(0);
                (Place::Lane(variable, lane), ty.element())
            }
            Kind::Plain(ty) => (Place::Variable(variable), ty),
            Kind::Counter => return None,
            Kind::Array(ty, _) => {
                let index = self.expr(Type::UINT, 1);
                (Place::Element(variable, Box::new(index)), ty)
            }
            Kind::Struct(s) => {
                let (field, ty) = self.field(s)?;
                (Place::Field(variable, field), ty)
            }
        })
    }

    /// A field of a structure.
    pub(super) fn field(&mut self, structure: usize) -> Option<(u8, Type)> {
        let fields = self.program.structs.get(structure)?;
        let field = self.choices.below(fields.len());
        let ty = *fields.get(field)?;
        Some((u8::try_from(field).unwrap_or(0), ty))
    }

    fn branches(&mut self, at: At) -> Statement {
        let shared = at.uniform && !self.program.scalars.is_empty() && self.choices.percent(40);
        let condition = match shared {
            true => self.shared_condition(),
            false => self.condition(3),
        };
        let inner = At {
            depth: at.depth + 1,
            uniform: shared,
            ..at
        };
        let yes = self.block(inner, 3);
        let no = match self.choices.percent(50) {
            true => self.block(inner, 3),
            false => Vec::new(),
        };
        Statement::If(condition, yes, no)
    }

    fn repeat(&mut self, at: At) -> Statement {
        let counter = self.variable(Kind::Counter);
        let uniform = at.uniform && self.choices.percent(50);
        let count = if uniform || self.choices.percent(60) {
            let count = 1 + self.choices.below(if self.loops > 0 { 4 } else { 11 });
            Count::Fixed(u8::try_from(count).unwrap_or(0))
        } else {
            let count = self.expr(Type::UINT, 2);
            Count::Modulo8(self.varied(count, Id::Local))
        };
        let last = self.choices.percent(20);
        let inner = At {
            depth: at.depth + 1,
            uniform,
            leaves: !uniform,
        };
        self.loops += 1;
        let body = self.block(inner, 4);
        self.loops -= 1;
        Statement::Loop {
            counter,
            count,
            last,
            body,
        }
    }

    fn switch(&mut self, at: At) -> Statement {
        let on = self.expr(Type::UINT, 2);
        let on = self.varied(on, Id::Global);
        let on = Expr {
            ty: Type::INT,
            node: Node::As(Box::new(on)),
        };
        // Values near zero are met.
        let on = self.masked(on, 7);
        let inner = At {
            depth: at.depth + 1,
            uniform: false,
            leaves: false,
        };
        let mut branches = Vec::new();
        for value in 0..2 + self.choices.below(4) {
            let value = i32::try_from(value).unwrap_or(0);
            let value = value * self.choices.of_or(&[1, 1, 2], 1) + 1;
            if branches.iter().any(|b: &Branch| b.value == Some(value)) {
                continue;
            }
            branches.push(Branch {
                value: Some(value),
                body: self.block(inner, 2),
                falls: self.choices.percent(30),
            });
        }
        if self.choices.percent(70) {
            branches.push(Branch {
                value: None,
                body: self.block(inner, 2),
                falls: false,
            });
        }
        Statement::Switch(on, branches)
    }

    fn copy(&mut self) -> Option<Statement> {
        let all = self.of_kind(|kind| matches!(kind, Kind::Struct(_)));
        let to = self.choices.of(&all)?;
        let kind = self.variables.get(to)?.kind;
        let same = self.of_kind(|k| k == kind);
        let from = self.choices.of(&same)?;
        (to != from).then_some(Statement::Copy(to, from))
    }

    fn call(&mut self) -> Option<Statement> {
        let function = self.choices.below(self.program.functions.len());
        let callee = self.program.functions.get(function)?;
        let Returned::Struct(result) = callee.result else {
            return None;
        };
        let kind = callee.variables.get(result)?.kind;
        let same = self.of_kind(|k| k == kind);
        let to = self.choices.of(&same)?;
        let arguments = self.arguments(function, 2)?;
        Some(Statement::Call(to, function, arguments))
    }

    fn together(&mut self) -> Option<Statement> {
        let forms = MEETINGS.into_iter().filter(|feature| self.has(*feature));
        let forms: Vec<Feature> = forms.collect();
        let form = self.choices.of(&forms)?;
        match form {
            Feature::Blocks => return self.block_read(),
            Feature::Surfaces => return self.surface_read(),
            Feature::Matrices => return Some(self.product()),
            _ => {}
        }
        let fits = |ty: Type| match form {
            Feature::Barriers => ty.lanes != 3,
            Feature::SubGroups => !ty.is_vector() && ty.scalar.bits() >= 16,
            _ => !ty.is_vector() && !ty.scalar.is_float() && ty.scalar.bits() >= 32,
        };
        let all = self.of_kind(|kind| matches!(kind, Kind::Plain(ty) if fits(ty)));
        let to = self.choices.of(&all)?;
        let Kind::Plain(ty) = self.variables.get(to)?.kind else {
            return None;
        };
        let value = self.expr(ty, 2);
        let together = match form {
            Feature::Barriers => Together::Exchange(self.expr(Type::UINT, 2)),
            Feature::SubGroups => {
                let bits = 1 + self.choices.below(7);
                Together::Shuffle(u8::try_from(bits).unwrap_or(1))
            }
            _ => {
                // Sums of signed numbers might overflow.
                let sums: &[Reduction] = match ty.scalar {
                    Scalar::Uint | Scalar::Ulong => &[
                        Reduction::Add,
                        Reduction::InclusiveAdd,
                        Reduction::ExclusiveAdd,
                        Reduction::Min,
                        Reduction::Max,
                    ],
                    _ => &[Reduction::Min, Reduction::Max],
                };
                Together::Reduce(self.choices.of_or(sums, Reduction::Max))
            }
        };
        Some(Statement::Together(to, value, together))
    }

    /// A block of an input into a variable of its type.
    fn block_read(&mut self) -> Option<Statement> {
        let words = [Scalar::Ushort, Scalar::Uint, Scalar::Ulong];
        let words = words.get(..if self.has(Feature::Longs) { 3 } else { 2 })?;
        let input = self.input_of(words)?;
        let ty = self.program.inputs.get(input)?.ty;
        let to = self.plain(ty);
        let value = self.expr(ty, 2);
        Some(Statement::Together(to, value, Together::Block(input)))
    }

    /// The same of a surface.
    fn surface_read(&mut self) -> Option<Statement> {
        let input = self.input_of(&[Scalar::Ushort])?;
        let ty = Type::scalar(Scalar::Ushort);
        let to = self.plain(ty);
        let value = self.expr(ty, 2);
        Some(Statement::Together(to, value, Together::Block2(input)))
    }

    fn product(&mut self) -> Statement {
        let input = self.input_of(&[Scalar::Int]).unwrap_or(0);
        let to = self.plain(Type::INT);
        let value = self.expr(Type::INT, 2);
        let matrix = Matrix {
            input,
            column: self.expr(
                Type {
                    lanes: 8,
                    ..Type::INT
                },
                2,
            ),
            signed: [self.choices.percent(50), self.choices.percent(50)],
        };
        Statement::Together(to, value, Together::Matrix(matrix))
    }

    /// An input of one of these types that has an element for each work-item of a group, made for it if there is none.
    fn input_of(&mut self, scalars: &[Scalar]) -> Option<usize> {
        let local = usize::try_from(self.program.local).ok()?;
        let fits = |b: &Buffer| {
            scalars.contains(&b.ty.scalar) && !b.ty.is_vector() && b.data.len() >= local
        };
        if let Some(input) = self.program.inputs.iter().position(fits) {
            return Some(input);
        }
        let scalar = self.choices.of(scalars)?;
        let buffer = self.buffer(Type::scalar(scalar), local);
        self.program.inputs.push(buffer);
        Some(self.program.inputs.len() - 1)
    }

    /// A variable of a type, made if there is none.
    fn plain(&mut self, ty: Type) -> usize {
        match self.of_kind(|kind| kind == Kind::Plain(ty)).first() {
            Some(variable) => *variable,
            None => self.variable(Kind::Plain(ty)),
        }
    }

    /// A condition on arguments alone.
    fn shared_condition(&mut self) -> Expr {
        let scalar = self.choices.below(self.program.scalars.len());
        self.compare_scalar(scalar)
    }
}
