//! Expressions as OpenCL C.

use super::Writer;
use super::prelude::{is_kept, name};
use super::tokens::{constant, narrow, symbol, unary};
use crate::ast::{
    Argument, Binary, Builtin, Expr, Guard, Id, Kind, MARGIN, Node, OUTSIDE, OWN, Pixel, Place,
    ROW, Relation,
};
use crate::types::{Scalar, Type, Value};

impl Writer<'_> {
    /// An index modulo a length.
    pub(super) fn index(&mut self, index: &Expr, length: usize) -> String {
        let mask = length.max(1) as u64 - 1;
        match &index.node {
            Node::Constant(value) => (value.lane(0) & mask).to_string(),
            _ => format!("{} & {mask}u", self.expr(index)),
        }
    }

    pub(super) fn place(&mut self, place: &Place) -> String {
        match place {
            Place::Variable(v) => format!("v{v}"),
            Place::Lane(v, lane) => format!("v{v}.s{lane:x}"),
            Place::Element(v, at) => {
                let at = self.index(at, self.array(*v).1);
                format!("v{v}[{at}]")
            }
            Place::Field(v, field) => format!("v{v}.f{field}"),
            Place::Own(g, at) => {
                let at = self.index(at, OWN);
                format!("g{g}[get_global_id(0) * {OWN} + ({at})]")
            }
        }
    }

    /// The type of the elements of an array, and its length.
    pub(super) fn array(&self, variable: usize) -> (Type, usize) {
        match self.scope.get(variable).map(|v| v.kind) {
            Some(Kind::Array(ty, length)) => (ty, length.into()),
            _ => (Type::INT, 1),
        }
    }

    /// A value whose bits are defined.
    pub(super) fn defined(&mut self, value: &Expr) -> String {
        let text = self.expr(value);
        match value.ty.scalar.is_float() {
            true => format!("no_nan({text})"),
            false => text,
        }
    }

    /// A value without what is open. Constants have nothing to be replaced mostly.
    pub(super) fn guarded(&mut self, guard: Guard, value: &Expr) -> String {
        let text = self.expr(value);
        match &value.node {
            _ if guard == Guard::None || !value.ty.scalar.is_float() => text,
            Node::Constant(constant) if is_kept(guard, constant) => text,
            _ => format!("{}({text})", name(guard)),
        }
    }

    fn pixel(&mut self, pixel: Pixel, x: &Expr, y: &Expr) -> String {
        let m = pixel.image;
        let image = self.program.images.get(m);
        let (suffix, rows) = image.map_or(("ui", 1), |i| (i.suffix(), i.rows()));
        let (x, y) = (self.expr(x), self.expr(y));
        match pixel.clamped {
            true => {
                let place = |at: &str| format!("({at} & {OUTSIDE}) - {MARGIN}");
                let (x, y) = (place(&x), place(&y));
                format!("read_image{suffix}(m{m}, near, (int2)({x}, {y}))")
            }
            false => {
                let (columns, rows) = (ROW - 1, rows.max(1) - 1);
                format!("read_image{suffix}(m{m}, (int2)({x} & {columns}, {y} & {rows}))")
            }
        }
    }

    pub(super) fn call(&mut self, function: usize, arguments: &[Argument]) -> String {
        let arguments: Vec<_> = arguments
            .iter()
            .map(|argument| match argument {
                Argument::Plain(value) => self.expr(value),
                Argument::Struct(v) => format!("v{v}"),
            })
            .collect();
        format!("p{}_f{function}({})", self.number, arguments.join(", "))
    }

    pub(super) fn expr(&mut self, expr: &Expr) -> String {
        let ty = expr.ty;
        match &expr.node {
            Node::Constant(value) => constant(value),
            Node::Load(place) => self.place(place),
            Node::Input(i, at) => {
                let length = self.program.inputs.get(*i).map_or(1, |b| b.data.len());
                format!("i{i}[{}]", self.index(at, length))
            }
            Node::Table(t, at) => {
                let length = self.program.tables.get(*t).map_or(1, |b| b.data.len());
                let at = self.index(at, length);
                format!("p{}_t{t}[{at}]", self.number)
            }
            Node::Scalar(s) => format!("s{s}"),
            Node::Id(id) => {
                let name = match id {
                    Id::Global => "global",
                    Id::Local => "local",
                    Id::Group => "group",
                };
                format!("(uint)get_{name}_id(0)")
            }
            Node::Byte(v, at) => {
                let (ty, length) = self.array(*v);
                let at = self.index(at, ty.bytes() * length);
                format!("((__private uchar *)v{v})[{at}]")
            }
            Node::Unary(op, a) => {
                let a = self.expr(a);
                unary(*op, ty, &a)
            }
            Node::Binary(op, a, b) => {
                let a = self.expr(a);
                self.binary(*op, ty, &a, b)
            }
            Node::Compare(relation, a, b) => {
                let symbol = match relation {
                    Relation::Less => "<",
                    Relation::LessEqual => "<=",
                    Relation::Greater => ">",
                    Relation::GreaterEqual => ">=",
                    Relation::Equal => "==",
                    Relation::NotEqual => "!=",
                };
                format!("({} {symbol} {})", self.expr(a), self.expr(b))
            }
            Node::Choose(condition, yes, no) => {
                let (condition, yes, no) = (self.expr(condition), self.expr(yes), self.expr(no));
                narrow(ty, format!("({condition} ? {yes} : {no})"))
            }
            Node::Convert(saturate, a) => {
                let from_float = a.ty.scalar.is_float();
                let to_integer = !ty.scalar.is_float();
                let end = if to_integer && (*saturate || from_float) {
                    "_sat"
                } else {
                    ""
                };
                let a = match to_integer {
                    true => self.defined(a),
                    false => self.expr(a),
                };
                format!("convert_{ty}{end}({a})")
            }
            Node::As(a) => format!("as_{ty}({})", self.defined(a)),
            Node::Call(builtin, arguments) => self.builtin(*builtin, ty, arguments),
            Node::Pixel(pixel, x, y) => self.pixel(*pixel, x, y),
            Node::Extent(image, rows) => {
                let size = if *rows { "height" } else { "width" };
                format!("get_image_{size}(m{image})")
            }
            Node::Swizzle(a, lanes) => {
                let lanes: String = lanes.iter().map(|l| format!("{l:x}")).collect();
                match &a.node {
                    Node::Load(_) => format!("{}.s{lanes}", self.expr(a)),
                    _ => format!("({}).s{lanes}", self.expr(a)),
                }
            }
            Node::Build(parts) => {
                let parts: Vec<_> = parts.iter().map(|part| self.expr(part)).collect();
                format!("({ty})({})", parts.join(", "))
            }
            Node::Function(function, arguments) => self.call(*function, arguments),
        }
    }

    fn builtin(&mut self, builtin: Builtin, ty: Type, arguments: &[Expr]) -> String {
        let texts = arguments.iter().enumerate();
        let texts = texts.map(|(n, a)| self.guarded(builtin.guard(n, a), a));
        let texts: Vec<_> = texts.collect();
        let texts = match builtin {
            Builtin::Mul24 => {
                let mask = |t: &String| format!("({t} & 0xffffffu)");
                let ty = arguments.first().map_or(Type::UINT, |a| a.ty);
                match ty.is_vector() {
                    true => texts
                        .iter()
                        .map(|t| format!("({t} & ({ty})(0xffffffu))"))
                        .collect(),
                    false => texts.iter().map(mask).collect(),
                }
            }
            _ => texts,
        };
        let call = format!("{}({})", builtin.name(), texts.join(", "));
        match builtin.is_neutral() {
            true => format!("({call} + {})", constant(&Value::splat(ty, 0))),
            false => call,
        }
    }

    pub(super) fn binary(&mut self, op: Binary, ty: Type, a: &str, right: &Expr) -> String {
        let guarded = op.guarded(right);
        let b = self.expr(right);
        let scalar = ty.scalar;
        let (bits, signed) = (scalar.bits(), scalar.is_signed());
        let unsigned = ty.of(scalar.unsigned());
        // Overflow of signed integers is avoided by unsigned ones. What is promoted does not overflow, but for products
        // of `ushort`.
        let as_unsigned = |x: &str| match ty.is_vector() {
            true => format!("as_{unsigned}({x})"),
            false => format!("({unsigned}){x}"),
        };
        let back = |text: String| match ty.is_vector() {
            true => format!("as_{ty}({text})"),
            false => format!("({ty})({text})"),
        };
        let promoted = scalar.is_promoted() && !ty.is_vector();
        let symbol = symbol(op).unwrap_or("");
        match op {
            _ if scalar.is_float() => format!("({a} {symbol} {b})"),
            Binary::Mul if promoted && scalar == Scalar::Ushort => {
                back(format!("(uint){a} * (uint){b}"))
            }
            Binary::Add | Binary::Sub | Binary::Mul if signed && !promoted => {
                back(format!("{} {symbol} {}", as_unsigned(a), as_unsigned(&b)))
            }
            Binary::Shl | Binary::Shr => {
                // By the size or more: what is promoted would be shifted by up to 31.
                let b = match promoted {
                    true => format!("({b} & {})", bits - 1),
                    false => b,
                };
                match (op, signed) {
                    (Binary::Shl, true) => {
                        let b = if ty.is_vector() { as_unsigned(&b) } else { b };
                        back(format!("{} << {b}", as_unsigned(a)))
                    }
                    _ => narrow(ty, format!("({a} {symbol} {b})")),
                }
            }
            Binary::Div | Binary::Rem if guarded => {
                let a = if signed {
                    format!("({a} >> 1)")
                } else {
                    a.to_owned()
                };
                let one = constant(&Value::splat(ty, 1));
                narrow(ty, format!("({a} {symbol} ({b} | {one}))"))
            }
            Binary::Halves => narrow(ty, format!("(({a} >> 1) + ({b} >> 1))")),
            Binary::Highs => {
                let by = bits / 2;
                narrow(ty, format!("(({a} >> {by}) * ({b} >> {by}))"))
            }
            _ => narrow(ty, format!("({a} {symbol} {b})")),
        }
    }
}
