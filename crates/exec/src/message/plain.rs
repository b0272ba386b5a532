//! Messages of lanes as compilers see them: plain data, without a way to run it.

use super::addresses::{Addresses, Width};
use super::lanes::{LaneAccess, Part};
use super::reach::{Index, Reach};
use crate::code::{Element, LaneMessage, LaneSpace, Scalar};
use visakit_isa::DataType;

/// A message that reaches this at these addresses, if compilers have code for them; it has no elements yet.
pub(super) fn plain(reach: &Reach, addresses: &Addresses) -> Option<LaneMessage> {
    let Scalar::Constant(scalar) = addresses.scalar else {
        return None;
    };
    let simple = addresses.scale == 1
        && addresses.pitch.is_none()
        && matches!(addresses.width, Width::W32 | Width::W64);
    let space = match *reach {
        Reach::Local => LaneSpace::Local,
        Reach::Flat => LaneSpace::Global,
        Reach::Table(Index {
            base:
                Scalar::Register {
                    offset,
                    data_type: DataType::Ud,
                },
            add,
        }) => LaneSpace::Surface {
            place: Some(offset),
            add,
        },
        Reach::Table(Index {
            base: Scalar::Constant(index),
            add,
        }) => LaneSpace::Surface {
            place: None,
            add: add.wrapping_add(u32::try_from(index).ok()?),
        },
        _ => return None,
    };
    simple.then_some(LaneMessage {
        space,
        store: false,
        lanes: 0,
        element: Element::DWORD,
        atomic: None,
        parts: Vec::new(),
        data: 0,
        addresses: addresses.elements.place()?,
        width: addresses.width.bytes(),
        add: scalar
            .wrapping_mul(addresses.scalar_scale)
            .wrapping_add(addresses.add),
        mask: addresses.mask,
        align: addresses.align,
        span: 0,
    })
}

impl LaneAccess {
    /// As an access that compilers have code for.
    pub(crate) fn plain(&self) -> Option<LaneMessage> {
        // The only lane's elements one after the other are dwords, whatever their size.
        let first = self.parts.first().is_some_and(|p| p.memory == 0);
        let block =
            self.lanes == 1 && first && self.run_bytes != 0 && self.run_bytes.is_multiple_of(4);
        let rows = self.lane_pitch == self.unit.register();
        if !block && !rows {
            return None;
        }
        let part = |part: &Part| {
            Some((
                u32::try_from(part.memory).ok()?,
                u32::try_from(part.register).ok()?,
            ))
        };
        let (element, parts) = if block {
            let bytes = u32::try_from(self.run_bytes).ok()?;
            let parts = (0..bytes).step_by(4).map(|at| (at, at)).collect();
            (Element::DWORD, parts)
        } else {
            let parts = self.parts.iter().map(part).collect::<Option<_>>()?;
            (self.unit.element(), parts)
        };
        Some(LaneMessage {
            store: self.store,
            lanes: self.lanes,
            element,
            parts,
            data: self.data.as_ref()?.place()?,
            span: self.span as u64,
            ..plain(&self.reach, &self.addresses)?
        })
    }
}
