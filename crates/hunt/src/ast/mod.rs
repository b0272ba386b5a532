//! Programs as trees: a kernel with its functions, its arguments and their content.

mod builtin;
mod image;
mod parts;

pub use builtin::{Builtin, Guard};
pub use image::{Image, MARGIN, OUTSIDE, Pixel, ROW};

use crate::types::{Scalar, Type, Value};
use std::collections::BTreeSet;

/// A program of one kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Program {
    /// The seed that it was made of.
    pub seed: u64,
    /// Work-groups.
    pub groups: u32,
    /// Work-items of a group.
    pub local: u32,
    /// Fields of the structures.
    pub structs: Vec<Vec<Type>>,
    /// Arrays in constant memory. Numbers of elements are powers of two, here and below.
    pub tables: Vec<Buffer>,
    /// Buffers that are read at any index.
    pub inputs: Vec<Buffer>,
    /// Buffers of which each work-item reads and writes its own [`OWN`] elements.
    pub own: Vec<Buffer>,
    /// Buffers that all work-items change by atomic operations, whose results are unused.
    pub shared: Vec<Shared>,
    /// Images of which each work-item writes its own pixel.
    pub drawn: Vec<Image>,
    /// Images that are read.
    pub images: Vec<Image>,
    /// Arguments by value.
    pub scalars: Vec<Value>,
    /// Functions; each calls only those before it.
    pub functions: Vec<Function>,
    /// Variables of the kernel.
    pub variables: Vec<Variable>,
    /// The code of the kernel.
    pub body: Vec<Statement>,
    /// What each work-item writes to the end, each into a buffer of its own.
    pub outputs: Vec<Expr>,
}

/// Elements of a buffer that belong to a work-item.
pub const OWN: usize = 4;

/// The content of a buffer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Buffer {
    /// The type of an element.
    pub ty: Type,
    /// The elements.
    pub data: Vec<Value>,
}

/// Atomic operations whose order does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of OpenCL C")]
pub enum Atomic {
    Add,
    Sub,
    And,
    Or,
    Xor,
    Min,
    Max,
}

/// A buffer that is changed by one kind of atomic operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shared {
    /// The operation.
    pub atomic: Atomic,
    /// The initial content, of type `int` or `uint`.
    pub buffer: Buffer,
}

/// What a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A scalar or vector.
    Plain(Type),
    /// A `uint` that counts the iterations of loops and is not assigned otherwise.
    Counter,
    /// An array in private memory, of a power of two elements.
    Array(Type, u8),
    /// A structure.
    Struct(usize),
}

/// A variable in private memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Variable {
    /// What it is.
    pub kind: Kind,
    /// Its initial value: of an array each element, of a structure each field. Empty for parameters.
    pub initial: Vec<Value>,
}

/// A function without effects besides its result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Function {
    /// Whether the compiler must not inline it.
    pub noinline: bool,
    /// Number of parameters: the first ones of the variables.
    pub parameters: usize,
    /// The variables.
    pub variables: Vec<Variable>,
    /// The code.
    pub body: Vec<Statement>,
    /// The result.
    pub result: Returned,
}

/// The result of a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Returned {
    /// A scalar or vector.
    Plain(Expr),
    /// A variable that is a structure.
    Struct(usize),
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Argument {
    /// A scalar or vector.
    Plain(Expr),
    /// A variable that is a structure.
    Struct(usize),
}

/// What can be read and assigned.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// A scalar or vector.
    Variable(usize),
    /// A lane of a vector.
    Lane(usize, u8),
    /// An element of an array; the index is taken modulo the length.
    Element(usize, Box<Expr>),
    /// A field of a structure.
    Field(usize, u8),
    /// An element of a buffer that belongs to the work-item; the index is taken modulo [`OWN`].
    Own(usize, Box<Expr>),
}

/// An expression with its type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Expr {
    /// The type.
    pub ty: Type,
    /// What computes it.
    pub node: Node,
}

/// Numbers of a work-item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Id {
    /// `get_global_id(0)`
    Global,
    /// `get_local_id(0)`
    Local,
    /// `get_group_id(0)`
    Group,
}

/// Operators of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of C")]
pub enum Unary {
    Negate,
    Not,
}

/// Operators of two operands of equal type. Overflow wraps; the renderer writes what makes that so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a * b`
    Mul,
    /// `a / b`, with both changed where that is undefined, as [`Binary::guarded`] tells.
    Div,
    /// `a % b`, as above.
    Rem,
    /// `a & b`
    And,
    /// `a | b`
    Or,
    /// `a ^ b`
    Xor,
    /// `a << b`, which takes `b` modulo the size.
    Shl,
    /// `a >> b`, as above.
    Shr,
    /// `(a >> 1) + (b >> 1)`, which cannot overflow.
    Halves,
    /// `(a >> N / 2) * (b >> N / 2)` of `N` bits, which cannot overflow.
    Highs,
}

impl Binary {
    /// Whether operands of a division are changed: the divisor gets its lowest bit set, and a signed dividend is halved.
    #[must_use]
    pub fn guarded(self, divisor: &Expr) -> bool {
        if !matches!(self, Self::Div | Self::Rem) {
            return false;
        }
        let Node::Constant(value) = &divisor.node else {
            return true;
        };
        let ones = divisor.ty.scalar.mask();
        let signed = divisor.ty.scalar.is_signed();
        value
            .lanes()
            .iter()
            .any(|b| *b == 0 || signed && *b == ones)
    }
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are usual")]
pub enum Relation {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
}

/// What computes an expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A value.
    Constant(Value),
    /// The content of a place.
    Load(Place),
    /// An element of an input; the index is taken modulo the length.
    Input(usize, Box<Expr>),
    /// An element of a table, as above.
    Table(usize, Box<Expr>),
    /// An argument by value.
    Scalar(usize),
    /// A number of the work-item.
    Id(Id),
    /// A byte of an array of integers, as above.
    Byte(usize, Box<Expr>),
    /// An operator of one operand.
    Unary(Unary, Box<Expr>),
    /// An operator of two operands.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// A comparison.
    Compare(Relation, Box<Expr>, Box<Expr>),
    /// One of two: the first if an `int` is not 0.
    Choose(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A conversion by `convert_TYPE`, to the nearest value in the range of the type with `_sat`, which conversions from
    /// floats to integers always have; NaN is then 0.
    Convert(bool, Box<Expr>),
    /// The bits as another type; NaN is then 0.
    As(Box<Expr>),
    /// A built-in function.
    Call(Builtin, Vec<Expr>),
    /// Lanes of a vector.
    Swizzle(Box<Expr>, Vec<u8>),
    /// A vector of scalars: one for each lane, or one for all.
    Build(Vec<Expr>),
    /// A pixel of an image by its coordinates.
    Pixel(Pixel, Box<Expr>, Box<Expr>),
    /// The width of an image, or its height.
    Extent(usize, bool),
    /// A function of the program.
    Function(usize, Vec<Argument>),
}

/// How often a loop runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Count {
    /// This often.
    Fixed(u8),
    /// As often as a `uint` modulo 8 says.
    Modulo8(Expr),
}

/// A branch of a switch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Branch {
    /// The value; `None` for the default, which is the last one.
    pub value: Option<i32>,
    /// The code.
    pub body: Vec<Statement>,
    /// Whether it goes on with the next branch.
    pub falls: bool,
}

/// Reductions of work-groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of OpenCL C")]
pub enum Reduction {
    Add,
    Min,
    Max,
    InclusiveAdd,
    ExclusiveAdd,
}

/// A product of matrices of bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Matrix {
    /// An input whose first [`DEPTH`] bytes are the row.
    pub input: usize,
    /// A vector of as many bytes, the column.
    pub column: Expr,
    /// Whether the bytes of each have signs.
    pub signed: [bool; 2],
}

/// Products of a sum.
pub const DEPTH: usize = 32;

/// Elements of a row of a surface: 64 bytes, the fewest that there may be.
pub const SURFACE: usize = 32;

/// What all work-items of a group do together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Together {
    /// Through local memory between barriers: what the work-item of that number, modulo the size, has.
    Exchange(Expr),
    /// A sub-group operation: what the work-item has whose number differs in these bits, below 8.
    Shuffle(u8),
    /// A work-group function.
    Reduce(Reduction),
    /// A block of an input that a sub-group reads at once, exclusive or of the value. A work-item gets the element of its
    /// local number, whatever the size of sub-groups.
    Block(usize),
    /// As [`Together::Block`], of a surface of [`SURFACE`] elements a row.
    Block2(usize),
    /// The sum of products of the first bytes of an input and those of a vector, and of half of the value: a work-item's
    /// column of a product of matrices, whatever the size of sub-groups.
    Matrix(Matrix),
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Statement {
    /// `place = value`
    Assign(Place, Expr),
    /// `place op= value`
    Update(Place, Binary, Expr),
    /// Both branches.
    If(Expr, Vec<Statement>, Vec<Statement>),
    /// A loop with its counter; with the condition at the end, it runs at least once.
    Loop {
        /// The variable that counts.
        counter: usize,
        /// How often it runs.
        count: Count,
        /// Whether the condition is at the end.
        last: bool,
        /// The code.
        body: Vec<Statement>,
    },
    /// Leaves the loop if an `int` is not 0.
    Break(Expr),
    /// Goes on with the next iteration if an `int` is not 0.
    Continue(Expr),
    /// On an `int`.
    Switch(Expr, Vec<Branch>),
    /// A structure assigned to a structure.
    Copy(usize, usize),
    /// A structure returned by a function.
    Call(usize, usize, Vec<Argument>),
    /// A shared buffer, the index modulo its length, the value.
    Atomic(usize, Expr, Expr),
    /// The work-item's own pixel of an image: the nearest value that the channels can have, without NaN and what is too small
    /// for all digits.
    Draw(usize, Expr),
    /// A variable gets what others have; all work-items of the group are there.
    Together(usize, Expr, Together),
}

impl Expr {
    /// A constant.
    #[must_use]
    pub const fn constant(value: Value) -> Self {
        Self {
            ty: value.ty,
            node: Node::Constant(value),
        }
    }

    /// Zero.
    #[must_use]
    pub fn zero(ty: Type) -> Self {
        Self::constant(Value::splat(ty, 0))
    }
}

impl Statement {
    /// Whether work-items of a group meet in it.
    #[must_use]
    pub fn meets(&self) -> bool {
        matches!(self, Self::Together(..)) || self.blocks().into_iter().flatten().any(Self::meets)
    }
}

impl Program {
    /// Whether the size of its sub-groups is that of the device's matrices.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        let mut fixed = false;
        self.each_statement(&mut |statement| {
            fixed |= matches!(
                statement,
                Statement::Together(_, _, Together::Block2(_) | Together::Matrix(_))
            );
        });
        fixed
    }

    /// Work-items.
    #[must_use]
    pub const fn items(&self) -> usize {
        (self.groups as usize) * (self.local as usize)
    }

    /// Statements, expressions and variables: what a reduction makes smaller.
    #[must_use]
    pub fn size(&self) -> usize {
        let mut size = self.structs.len() + self.outputs.len() + self.variables.len();
        for function in &self.functions {
            size += 1 + function.variables.len();
        }
        self.each_statement(&mut |_| size += 1);
        self.each_expression(&mut |_| size += 1);
        size
    }

    /// Visits all statements.
    pub fn each_statement<'p>(&'p self, visit: &mut dyn FnMut(&'p Statement)) {
        fn all<'p>(block: &'p [Statement], visit: &mut dyn FnMut(&'p Statement)) {
            for statement in block {
                visit(statement);
                for inner in statement.blocks() {
                    all(inner, visit);
                }
            }
        }
        for function in &self.functions {
            all(&function.body, visit);
        }
        all(&self.body, visit);
    }

    /// Visits all expressions.
    pub fn each_expression<'p>(&'p self, visit: &mut dyn FnMut(&'p Expr)) {
        fn all<'p>(expr: &'p Expr, visit: &mut dyn FnMut(&'p Expr)) {
            visit(expr);
            for child in expr.children() {
                all(child, visit);
            }
        }
        self.each_statement(&mut |statement| {
            for expr in statement.expressions() {
                all(expr, visit);
            }
        });
        for function in &self.functions {
            if let Returned::Plain(expr) = &function.result {
                all(expr, visit);
            }
        }
        for expr in &self.outputs {
            all(expr, visit);
        }
    }

    /// The scalar types that it uses.
    #[must_use]
    pub fn scalars_used(&self) -> BTreeSet<Scalar> {
        let mut used = BTreeSet::new();
        self.each_expression(&mut |e| {
            used.insert(e.ty.scalar);
        });
        let buffers = self.tables.iter().chain(&self.inputs).chain(&self.own);
        used.extend(buffers.map(|b| b.ty.scalar));
        used.extend(self.scalars.iter().map(|s| s.ty.scalar));
        used.extend(self.structs.iter().flatten().map(|t| t.scalar));
        let functions = self.functions.iter().flat_map(|f| &f.variables);
        for variable in self.variables.iter().chain(functions) {
            if let Kind::Plain(ty) | Kind::Array(ty, _) = variable.kind {
                used.insert(ty.scalar);
            }
        }
        used
    }
}
