//! The parts of the register file that a message reads and writes, determined without running it.

use super::Message;
use super::addresses::Addresses;
use super::atomics::AtomicData;
use super::data::Data;
use super::plain::{LaneOperand, MessageOperands};
use super::reach::Reach;
use super::reach::SamplerReach;
use super::typed::Coordinates;
use crate::operands::{Moved, Scalar};

impl Message {
    /// The operands of the message.
    pub(crate) fn operands(&self) -> MessageOperands {
        let mut to = MessageOperands::default();
        match self {
            Self::Lanes(m) => {
                m.reach.operands(&mut to);
                m.addresses.operands(&mut to);
                to.data(m.data.as_ref(), m.store);
            }
            Self::Block(m) => {
                m.reach.operands(&mut to);
                to.scalar(m.address);
                to.data(m.data.as_ref(), m.store);
            }
            Self::Media(m) => {
                m.reach.operands(&mut to);
                to.scalar(m.x.at);
                to.scalar(m.y.at);
                to.data(m.data.as_ref(), m.store);
            }
            Self::Block2d(m) => {
                let surface = [m.surface_width, m.surface_height, m.surface_pitch];
                for scalar in surface.into_iter().chain([m.base, m.x.at, m.y.at]) {
                    to.scalar(scalar);
                }
                to.data(m.data.as_ref(), m.store);
            }
            Self::Atomic(m) => {
                m.reach.operands(&mut to);
                m.addresses.operands(&mut to);
                to.atomic(&m.data);
            }
            Self::Counter(m) => {
                m.reach.operands(&mut to);
                to.atomic(&m.data);
            }
            Self::Status(m) => {
                m.reach.operands(&mut to);
                m.addresses.operands(&mut to);
                to.data(m.dst.as_ref(), false);
            }
            Self::Typed(m) => {
                m.reach.operands(&mut to);
                m.coordinates.operands(&mut to);
                to.data(m.data.as_ref(), m.store);
            }
            Self::TypedAtomic(m) => {
                m.reach.operands(&mut to);
                m.coordinates.operands(&mut to);
                to.atomic(&m.data);
            }
            Self::TypedStatus(m) => {
                m.reach.operands(&mut to);
                m.coordinates.operands(&mut to);
                to.data(m.dst.as_ref(), false);
            }
            Self::Texture(m) => {
                m.reach.operands(&mut to);
                if let Some(SamplerReach::Table(index) | SamplerReach::Handle(index)) = m.sampler {
                    to.scalar(index.base);
                }
                to.scalar(m.offsets);
                for parameter in m.coordinates.iter().flatten() {
                    to.lanes(&parameter.data, parameter.size);
                }
                to.data(m.dst.as_ref(), false);
            }
            Self::Fence { .. } | Self::Nothing => {}
        }
        to
    }
}

impl Message {
    /// The operands are at other places of the register file from now on.
    pub(crate) fn relocate(&mut self, moved: Moved<'_>) {
        let data = |data: &mut Option<Data>| data.iter_mut().for_each(|d| d.relocate(moved));
        match self {
            Self::Lanes(m) => {
                m.reach.relocate(moved);
                m.addresses.relocate(moved);
                data(&mut m.data);
                m.find_shape();
            }
            Self::Block(m) => {
                m.reach.relocate(moved);
                m.address.relocate(moved);
                data(&mut m.data);
            }
            Self::Media(m) => {
                m.reach.relocate(moved);
                m.x.at.relocate(moved);
                m.y.at.relocate(moved);
                data(&mut m.data);
            }
            Self::Block2d(m) => {
                m.base.relocate(moved);
                m.surface_width.relocate(moved);
                m.surface_height.relocate(moved);
                m.surface_pitch.relocate(moved);
                m.x.at.relocate(moved);
                m.y.at.relocate(moved);
                data(&mut m.data);
            }
            Self::Atomic(m) => {
                m.reach.relocate(moved);
                m.addresses.relocate(moved);
                m.data.relocate(moved);
            }
            Self::Counter(m) => {
                m.reach.relocate(moved);
                m.data.relocate(moved);
            }
            Self::Status(m) => {
                m.reach.relocate(moved);
                m.addresses.relocate(moved);
                data(&mut m.dst);
            }
            Self::Typed(m) => {
                m.reach.relocate(moved);
                m.coordinates.sources.iter_mut().for_each(data);
                data(&mut m.data);
            }
            Self::TypedAtomic(m) => {
                m.reach.relocate(moved);
                m.coordinates.sources.iter_mut().for_each(data);
                m.data.relocate(moved);
            }
            Self::TypedStatus(m) => {
                m.reach.relocate(moved);
                m.coordinates.sources.iter_mut().for_each(data);
                data(&mut m.dst);
            }
            Self::Texture(m) => {
                m.reach.relocate(moved);
                if let Some(SamplerReach::Table(index) | SamplerReach::Handle(index)) =
                    &mut m.sampler
                {
                    index.base.relocate(moved);
                }
                m.offsets.relocate(moved);
                for parameter in m.coordinates.iter_mut().flatten() {
                    parameter.data.relocate(moved);
                }
                data(&mut m.dst);
            }
            Self::Fence { .. } | Self::Nothing => {}
        }
    }
}

impl AtomicData {
    fn relocate(&mut self, moved: Moved<'_>) {
        for data in [&mut self.a, &mut self.b, &mut self.dst] {
            data.iter_mut().for_each(|d| d.relocate(moved));
        }
    }
}

impl MessageOperands {
    fn scalar(&mut self, scalar: Scalar) {
        match scalar {
            Scalar::Constant(_) => {}
            Scalar::Register { offset, data_type } => {
                let end = offset + usize::from(data_type.size());
                self.scalars.push(offset..end);
            }
            Scalar::Indirect { address, .. } => {
                self.scalars.push(address..address + 2);
                self.indirect = true;
            }
        }
    }

    fn atomic(&mut self, data: &AtomicData) {
        let sources = data.a.iter().chain(&data.b);
        self.sources.extend(sources.filter_map(Data::range));
        self.data(data.dst.as_ref(), false);
    }

    fn lanes(&mut self, data: &Data, bytes: usize) {
        if let Some(range) = data.range() {
            self.addresses.push(LaneOperand {
                offset: range.start,
                bytes,
                lanes: range.len() / bytes.max(1),
            });
        }
    }

    fn data(&mut self, data: Option<&Data>, store: bool) {
        let range = data.and_then(Data::range);
        if store {
            self.stored = range;
        } else {
            self.loaded = range;
        }
    }
}

impl Reach {
    fn relocate(&mut self, moved: Moved<'_>) {
        match self {
            Self::Flat | Self::Local | Self::Scratch => {}
            Self::Arguments(header) => header.relocate(moved),
            Self::Table(index)
            | Self::Bindless(index)
            | Self::State(index)
            | Self::Surface(index) => index.base.relocate(moved),
        }
    }

    fn operands(&self, to: &mut MessageOperands) {
        match self {
            Self::Flat | Self::Local | Self::Scratch => {}
            Self::Arguments(header) => to.scalar(*header),
            Self::Table(index)
            | Self::Bindless(index)
            | Self::State(index)
            | Self::Surface(index) => to.scalar(index.base),
        }
    }
}

impl Addresses {
    fn relocate(&mut self, moved: Moved<'_>) {
        self.scalar.relocate(moved);
        self.elements.relocate(moved);
        self.pitch.iter_mut().for_each(|p| p.relocate(moved));
    }

    fn operands(&self, to: &mut MessageOperands) {
        to.scalar(self.scalar);
        match self.pitch {
            Some(pitch) => {
                to.scalar(pitch);
                if let Some(range) = self.elements.range() {
                    to.scalars.push(range);
                }
            }
            None => to.lanes(&self.elements, self.width.bytes()),
        }
    }
}

impl Coordinates {
    fn operands(&self, to: &mut MessageOperands) {
        for source in self.sources.iter().flatten() {
            to.lanes(source, self.width.bytes());
        }
    }
}
