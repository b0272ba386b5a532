//! What programs are made of, to be looked at and to be changed.

use super::{Argument, Count, Expr, Node, Place, Statement, Together};

/// The parts of each kind, by reference or by mutable reference.
macro_rules! parts {
    ($children:ident, $index:ident, $blocks:ident, $expressions:ident, $iter:ident $(, $mut:tt)?) => {
        impl Expr {
            /// Its operands.
            #[must_use]
            pub fn $children(&$($mut)? self) -> Vec<&$($mut)? Self> {
                match &$($mut)? self.node {
                    Node::Constant(_) | Node::Scalar(_) | Node::Id(_) | Node::Extent(..) => {
                        Vec::new()
                    }
                    Node::Load(place) => place.$index().into_iter().collect(),
                    Node::Input(_, a)
                    | Node::Table(_, a)
                    | Node::Byte(_, a)
                    | Node::Unary(_, a)
                    | Node::Convert(_, a)
                    | Node::As(a)
                    | Node::Swizzle(a, _) => vec![a],
                    Node::Binary(_, a, b) | Node::Compare(_, a, b) | Node::Pixel(_, a, b) => {
                        vec![a, b]
                    }
                    Node::Choose(a, b, c) => vec![a, b, c],
                    Node::Call(_, all) | Node::Build(all) => all.$iter().collect(),
                    Node::Function(_, all) => all.$iter().filter_map(Argument::$index).collect(),
                }
            }
        }

        impl Argument {
            /// The expression, unless it is a structure.
            fn $index(&$($mut)? self) -> Option<&$($mut)? Expr> {
                match self {
                    Self::Plain(expr) => Some(expr),
                    Self::Struct(_) => None,
                }
            }
        }

        impl Place {
            /// The index.
            #[must_use]
            pub fn $index(&$($mut)? self) -> Option<&$($mut)? Expr> {
                match self {
                    Self::Element(_, index) | Self::Own(_, index) => Some(index),
                    _ => None,
                }
            }
        }

        impl Statement {
            /// The lists of statements in it.
            #[must_use]
            pub fn $blocks(&$($mut)? self) -> Vec<&$($mut)? Vec<Self>> {
                match self {
                    Self::If(_, a, b) => vec![a, b],
                    Self::Loop { body, .. } => vec![body],
                    Self::Switch(_, branches) => {
                        branches.$iter().map(|b| &$($mut)? b.body).collect()
                    }
                    _ => Vec::new(),
                }
            }

            /// The expressions directly in it.
            #[must_use]
            pub fn $expressions(&$($mut)? self) -> Vec<&$($mut)? Expr> {
                match self {
                    Self::Assign(place, e) | Self::Update(place, _, e) => {
                        place.$index().into_iter().chain([e]).collect()
                    }
                    Self::Draw(_, e) => vec![e],
                    Self::If(e, ..) | Self::Break(e) | Self::Continue(e) | Self::Switch(e, _) => {
                        vec![e]
                    }
                    Self::Loop { count, .. } => match count {
                        Count::Fixed(_) => Vec::new(),
                        Count::Modulo8(e) => vec![e],
                    },
                    Self::Copy(..) => Vec::new(),
                    Self::Call(_, _, all) => all.$iter().filter_map(Argument::$index).collect(),
                    Self::Atomic(_, index, value) => vec![index, value],
                    Self::Together(_, value, Together::Exchange(from)) => vec![value, from],
                    Self::Together(_, value, Together::Matrix(matrix)) => {
                        vec![value, &$($mut)? matrix.column]
                    }
                    Self::Together(_, value, _) => vec![value],
                }
            }
        }
    };
}

parts!(children, index, blocks, expressions, iter);
parts!(
    children_mut,
    index_mut,
    blocks_mut,
    expressions_mut,
    iter_mut,
    mut
);
