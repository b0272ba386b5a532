//! Images.

use super::Generator;
use crate::arithmetic;
use crate::ast::{Expr, Guard, Image, Node, Pixel, ROW, Statement};
use crate::features::Feature;
use crate::types::{Scalar, Type};

impl Generator {
    /// Images that are read and one that is written.
    pub(super) fn images(&mut self) {
        if !self.has(Feature::Images) {
            return;
        }
        for _ in 0..1 + self.choices.below(2) {
            let rows = self.choices.of_or(&[4, 8, 16], 8);
            let image = self.image(rows * ROW, true);
            self.program.images.push(image);
        }
        let image = self.image(self.program.items(), false);
        self.program.drawn.push(image);
    }

    fn image(&mut self, pixels: usize, read: bool) -> Image {
        use Scalar::{Char, Float, Half, Int, Short, Uchar, Uint, Ushort};
        let mut channels = vec![Uchar, Ushort, Uint, Char, Short, Int];
        if self.has(Feature::Floats) {
            channels.extend([Float, Float]);
            // How a write rounds is open.
            channels.extend(read.then_some(Half));
        }
        let channel = self.choices.of_or(&channels, Uint);
        let ty = Type {
            scalar: channel,
            lanes: 4,
        };
        let data = (0..pixels).map(|_| {
            let value = self.choices.value(ty);
            match channel.is_float() {
                true => arithmetic::guarded(Guard::Normal, value),
                false => value,
            }
        });
        Image {
            channel,
            data: data.collect(),
        }
    }

    /// A pixel, or the size of an image.
    pub(super) fn pixel(&mut self, ty: Type, depth: usize) -> Option<Expr> {
        if self.in_function {
            return None;
        }
        let image = self.choices.below(self.program.images.len());
        let of = self.program.images.get(image)?.pixel();
        let (of, node) = if self.choices.percent(10) {
            let rows = self.choices.percent(50);
            (Type::INT, Node::Extent(image, rows))
        } else {
            let depth = depth.min(2);
            let x = self.expr(Type::INT, depth);
            let y = self.expr(Type::INT, depth);
            let clamped = self.choices.percent(50);
            let pixel = Pixel { image, clamped };
            (of, Node::Pixel(pixel, Box::new(x), Box::new(y)))
        };
        Some(self.adapted(Expr { ty: of, node }, ty))
    }

    /// A pixel that is written.
    pub(super) fn draw(&mut self) -> Option<Statement> {
        let image = self.choices.below(self.program.drawn.len());
        let ty = self.program.drawn.get(image)?.pixel();
        Some(Statement::Draw(image, self.expr(ty, 3)))
    }
}
