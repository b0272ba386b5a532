//! Texels of images: of those that are only read, what a sampler makes of them is a function of the coordinates.

use crate::machine::Machine;
use crate::memory::Access;
use crate::message::Sent;
use crate::term::{Function, Term};
use crate::thread::{Mask, Thread};
use crate::unknown::Unknown;
use visakit_exec::code::Message;
use visakit_exec::{ImageMessage, MemoryAccess};

/// Channels that are moved, red first.
fn channels(image: &ImageMessage) -> impl Iterator<Item = u8> {
    let moved = image.channels;
    (0..4).filter(move |channel| moved >> channel & 1 != 0)
}

impl Machine<'_> {
    /// What a message does with texels, if it does. The scalars that it reads are in the probe.
    pub(crate) fn image(&self, message: &Message) -> Result<Option<ImageMessage>, Unknown> {
        let found = self.probe.image(message, self.launch.memory());
        found.map_err(|fault| Unknown::new(fault.to_string()))
    }

    /// A message to a sampler, in lanes whose conditions hold; lane after lane.
    pub(crate) fn texture(
        &mut self,
        thread: &mut Thread,
        message: &Message,
        placed: &[(usize, u8)],
        enabled: &Mask,
    ) -> Result<(), Unknown> {
        self.set_scalars(placed);
        let Some(image) = self.image(message)? else {
            return Ok(());
        };
        if image.with_mask {
            return Err(Unknown::new("which texels are resident"));
        }
        let argument = match image.property {
            Some(_) => 0,
            None => self.global.sampled(image.bytes.clone())?,
        };
        let width = u8::try_from(8 * image.size).unwrap_or(32);
        for (lane, condition) in enabled.iter().enumerate() {
            if self.terms.number(*condition) == Some(0) {
                continue;
            }
            let mut sources = Vec::new();
            for (first, bytes) in &image.coordinates {
                sources.push(thread.element(self.terms, first + lane * bytes, *bytes)?);
            }
            for (slot, channel) in channels(&image).enumerate() {
                let value = match (image.property, image.sampling) {
                    (Some(rgba), _) => {
                        let bits = rgba.get(usize::from(channel)).copied();
                        self.terms.constant(bits.unwrap_or(0).into(), width)
                    }
                    (None, Some(sampling)) => {
                        let function = Function::Sampled(sampling, argument, channel);
                        self.terms.symbol(function, &sources, width)
                    }
                    (None, None) => return Err(Unknown::new("a message: texture")),
                };
                let at = image.data + slot * image.pitch + lane * image.size;
                thread.set_element(self.terms, at, value, *condition)?;
            }
        }
        Ok(())
    }

    /// An access of a lane to a texel, where a condition holds.
    pub(crate) fn texel(
        &mut self,
        thread: &mut Thread,
        sent: &mut Sent<'_>,
        image: &ImageMessage,
        access: &MemoryAccess,
        condition: Term,
    ) -> Result<(), Unknown> {
        let place = self.place(access)?;
        let bytes = u8::try_from(access.bytes).unwrap_or(0);
        let mut operands = access.operands.into_iter().flatten();
        if access.write {
            if !image.format.is_whole(image.channels) {
                return Err(Unknown::new("a part of a texel is written"));
            }
            let mut rgba = [self.terms.constant(0, 32); 4];
            for channel in channels(image) {
                let at = operands.next();
                let at = at.ok_or_else(|| Unknown::new("a channel without a register"))?;
                if let Some(to) = rgba.get_mut(usize::from(channel)) {
                    *to = thread.element(self.terms, at, 4)?;
                }
            }
            for by in 0..bytes {
                let function = Function::Encoded(image.format, by);
                let value = self.terms.symbol(function, &rgba, 8);
                self.store_byte(sent, access.lane, place.after(by.into()), value, condition)?;
            }
            return Ok(());
        }
        let mut texel = Vec::new();
        for by in 0..bytes {
            texel.push(self.read(place, by.into(), Access::Read)?);
        }
        for channel in channels(image) {
            let at = operands.next();
            let at = at.ok_or_else(|| Unknown::new("a channel without a register"))?;
            let function = Function::Decoded(image.format, channel);
            let value = self.terms.symbol(function, &texel, 32);
            thread.set_element(self.terms, at, value, condition)?;
        }
        Ok(())
    }
}
