//! Images.

use super::{Frame, Machine, Result, Undefined, index};
use crate::arithmetic;
use crate::ast::{Expr, Guard, Image, MARGIN, OUTSIDE, Pixel, ROW};
use crate::types::{Type, Value};

impl Machine<'_> {
    pub(super) fn draw(&mut self, image: usize, value: Value) -> Result<()> {
        let [global, ..] = self.item;
        let declared = self.program.drawn.get(image).ok_or(Undefined::Malformed)?;
        if value.ty != declared.pixel() {
            return Err(Undefined::Malformed);
        }
        let stored = declared.stored();
        let value = arithmetic::guarded(Guard::Normal, value);
        let value = arithmetic::convert(stored, true, value);
        let pixels = self.drawn.get_mut(image).ok_or(Undefined::Malformed)?;
        let pixel = pixels.get_mut(usize::try_from(global).unwrap_or(usize::MAX));
        *pixel.ok_or(Undefined::Malformed)? = value;
        Ok(())
    }

    pub(super) fn pixel(
        &mut self,
        frame: &mut Frame,
        pixel: Pixel,
        at: [&Expr; 2],
    ) -> Result<Value> {
        let image = self.program.images.get(pixel.image);
        let image: &Image = image.ok_or(Undefined::Malformed)?;
        let mut place = [0; 2];
        for ((to, at), size) in place.iter_mut().zip(at).zip([ROW, image.rows()]) {
            let at = self.value(frame, at)?.lane(0);
            *to = match pixel.clamped {
                true => {
                    let outside = at & OUTSIDE;
                    let inside = outside.saturating_sub(MARGIN);
                    usize::try_from(inside)
                        .unwrap_or(0)
                        .min(size.saturating_sub(1))
                }
                false => index(Value::splat(Type::UINT, at), size),
            };
        }
        let [x, y] = place;
        let stored = image.data.get(y * ROW + x).copied();
        Ok(arithmetic::convert(
            image.pixel(),
            false,
            stored.ok_or(Undefined::Malformed)?,
        ))
    }
}
