//! Translation of the load/store-cache messages.

use super::dataport::Shape;
use super::fields::{Fields, LscBase};
use crate::fault::Unsupported;
use crate::message::Message;
use crate::message::addresses::{Addresses, Width};
use crate::message::atomics::{AtomicAccess, AtomicData, AtomicWidth, CounterAccess};
use crate::message::block::Edge;
use crate::message::block2d::Block2d;
use crate::message::lanes::Part;
use crate::message::media::{FieldRows, MediaAccess};
use crate::message::reach::{Index, Reach};
use crate::message::status::Status;
use crate::message::typed::{Coordinates, TypedAtomic, TypedStatus};
use crate::message::unit::UnitKind;
use crate::operands::{RawPlace, Scalar};
use visakit_isa::enums::{
    lsc_addr_size as addr_size, lsc_addr_type as addr_type, lsc_data_order, lsc_data_size, lsc_sfid,
};
use visakit_isa::semantics::{
    AtomicOp, BlockAddress, BlockShape, Count, DataLayout, rectangle_pitch,
};
use visakit_isa::{DataType, FieldName as F, RawOperand, Value, VarId, VectorOperand};

const NOTHING: Scalar = Scalar::Constant(0);

impl Fields<'_, '_> {
    /// The storage and the 64-bit base that is added to flat addresses.
    fn lsc_reach(&self) -> Result<(Reach, Scalar), Unsupported> {
        match self.byte(F::Sfid) {
            lsc_sfid::UGM | lsc_sfid::UGML => {}
            // The address type says flat; there is only one local memory.
            lsc_sfid::SLM => {
                return Ok(match self.lsc_base()? {
                    LscBase::Number(base) => (Reach::Local, base),
                    LscBase::Variable(_) => (Reach::Local, NOTHING),
                });
            }
            other => {
                return Err(self.refuse(format!("untyped access of shared function {other}")));
            }
        }
        let base = self.lsc_base()?;
        let kind = self.byte(F::AddrType);
        match (kind, base) {
            (addr_type::FLAT, LscBase::Number(base)) => Ok((Reach::Flat, base)),
            (addr_type::ARG, LscBase::Number(base)) => Ok((Reach::Arguments(self.header()), base)),
            _ => Ok((self.lsc_surface()?, NOTHING)),
        }
    }

    /// The surface of a stateful address.
    fn lsc_surface(&self) -> Result<Reach, Unsupported> {
        let add = u32::try_from(self.number(F::SurfaceIndex)).unwrap_or(0);
        let base = match self.lsc_base()? {
            LscBase::Variable(reach) => return Ok(reach),
            LscBase::Number(base) => base,
        };
        let index = Index { base, add };
        match self.byte(F::AddrType) {
            addr_type::BTI => Ok(Reach::Table(index)),
            addr_type::SURF => Ok(Reach::Surface(index)),
            addr_type::BSS => Ok(Reach::Bindless(index)),
            addr_type::SS => Ok(Reach::State(index)),
            other => Err(self.refuse(format!("address type {other} names no surface"))),
        }
    }

    fn address_width(&self) -> Result<(Width, u64), Unsupported> {
        match self.byte(F::AddrSize) {
            addr_size::A16 => Ok((Width::W16, u32::MAX.into())),
            addr_size::A32 => Ok((Width::W32, u32::MAX.into())),
            addr_size::A64 => Ok((Width::W64, u64::MAX)),
            addr_size::A32U => Ok((Width::W32, u64::MAX)),
            addr_size::A32S => Ok((Width::S32, u64::MAX)),
            other => Err(self.refuse(format!("address size {other} has no meaning"))),
        }
    }

    fn lsc_addresses(&self, name: F, reach: Reach, base: Scalar) -> Result<Addresses, Unsupported> {
        let (width, mask) = self.address_width()?;
        let scale = u64::try_from(self.number(F::AddrScale)).unwrap_or(1);
        // A base of 64 bits makes addresses of 64 bits of narrow offsets.
        let mask = if base == NOTHING { mask } else { u64::MAX };
        Ok(Addresses {
            elements: self.needed_data(name)?,
            width,
            pitch: None,
            scalar: base,
            scalar_scale: 1,
            // The finalizer multiplies only by factors above 1.
            scale: scale.max(1),
            add: self.number(F::AddrOffset).cast_unsigned(),
            mask: mask & reach.mask(),
            align: 1,
        })
    }

    fn lsc_unit(&self) -> Result<UnitKind, Unsupported> {
        Ok(match self.byte(F::DataSize) {
            lsc_data_size::D8 => UnitKind::D8,
            lsc_data_size::D16 => UnitKind::D16,
            lsc_data_size::D32 => UnitKind::D32,
            lsc_data_size::D64 => UnitKind::D64,
            lsc_data_size::D8C32 => UnitKind::D8In32,
            lsc_data_size::D16C32 => UnitKind::D16In32,
            lsc_data_size::D16C32H => UnitKind::D16High,
            other => return Err(self.refuse(format!("data size {other} has no meaning"))),
        })
    }

    fn lsc_elements(&self) -> Result<usize, Unsupported> {
        let code = self.byte(F::DataElems);
        Count::of_data_elems(code)
            .map(|count| count as usize)
            .ok_or_else(|| self.refuse(format!("vector size code {code} has no meaning")))
    }

    /// Elements of a lane: each vector component in its own registers, or transposed.
    fn lsc_shape(&self, lanes: usize) -> Result<Shape, Unsupported> {
        let unit = self.lsc_unit()?;
        let count = self.lsc_elements()?;
        let transposed = self.byte(F::DataOrder) == lsc_data_order::TRANSPOSE;
        let (pitch, lane_pitch) = if transposed {
            (unit.register(), self.round(count * unit.register()))
        } else {
            (self.round(lanes * unit.register()), unit.register())
        };
        Ok(Shape {
            unit,
            parts: (0..count)
                .map(|i| Part {
                    memory: i * unit.memory(),
                    register: i * pitch,
                })
                .collect(),
            lane_pitch,
        })
    }

    pub(super) fn lsc_access(
        &self,
        layout: DataLayout,
        store: bool,
    ) -> Result<Message, Unsupported> {
        let lanes = self.count()?;
        let (reach, base) = self.lsc_reach()?;
        let addresses = self.lsc_addresses(F::Src0Addrs, reach, base)?;
        let shape = if layout == DataLayout::Channels {
            self.channel_parts(self.byte(F::ChMask), self.lsc_unit()?, lanes)
        } else {
            self.lsc_shape(lanes)?
        };
        self.lane_access(reach, addresses, shape, lanes, lsc_data(store), store)
    }

    pub(super) fn lsc_strided(&self, store: bool) -> Result<Message, Unsupported> {
        let lanes = self.count()?;
        let (reach, base) = self.lsc_reach()?;
        let shape = self.lsc_shape(lanes)?;
        let mut addresses = self.lsc_addresses(F::Src0AddrBase, reach, base)?;
        let packed = shape.parts.len() * shape.unit.memory();
        addresses.pitch = Some(match self.instruction.get(F::Src0AddrPitch) {
            // Without a pitch lanes follow each other.
            Some(Value::Vector(VectorOperand::General(g))) if g.variable == VarId::NULL => {
                Scalar::Constant(packed as u64)
            }
            _ => self.scalar(F::Src0AddrPitch)?,
        });
        self.lane_access(reach, addresses, shape, lanes, lsc_data(store), store)
    }

    fn lsc_atomic_data(&self, op: AtomicOp, first: F) -> Result<AtomicData, Unsupported> {
        let width = match self.byte(F::DataSize) {
            lsc_data_size::D16 | lsc_data_size::D16C32 => AtomicWidth::W16,
            lsc_data_size::D32 => AtomicWidth::W32,
            lsc_data_size::D64 => AtomicWidth::W64,
            other => return Err(self.refuse(format!("atomic operation on data size {other}"))),
        };
        Ok(AtomicData {
            op,
            width,
            a: if op.operands() > 0 {
                self.data(first)?
            } else {
                None
            },
            b: if op.operands() > 1 {
                self.data(F::Src2Data)?
            } else {
                None
            },
            dst: self.data(F::Dst)?,
        })
    }

    pub(super) fn lsc_atomic(&self, op: AtomicOp) -> Result<Message, Unsupported> {
        let lanes = self.count()?;
        let (reach, base) = self.lsc_reach()?;
        if self.byte(F::DataElems) > 1 || self.byte(F::DataOrder) == lsc_data_order::TRANSPOSE {
            return Err(self.refuse("atomic operations take one element for each lane"));
        }
        let data = self.lsc_atomic_data(op, F::Src1Data)?;
        let mut addresses = self.lsc_addresses(F::Src0Addrs, reach, base)?;
        addresses.align = data.width.memory() as u64;
        Ok(Message::Atomic(Box::new(AtomicAccess {
            reach,
            addresses,
            lanes,
            data,
        })))
    }

    pub(super) fn lsc_counter(&self, op: AtomicOp) -> Result<Message, Unsupported> {
        let lanes = self.count()?;
        Ok(Message::Counter(Box::new(CounterAccess {
            reach: self.lsc_surface()?,
            lanes,
            data: self.lsc_atomic_data(op, F::Src0Data)?,
        })))
    }

    pub(super) fn lsc_status(&self) -> Result<Message, Unsupported> {
        let lanes = self.count()?;
        let (reach, base) = self.lsc_reach()?;
        let bytes = self.lsc_unit()?.memory() * self.lsc_elements()?;
        Ok(Message::Status(Box::new(Status {
            reach,
            addresses: self.lsc_addresses(F::Src0Addrs, reach, base)?,
            lanes,
            bytes,
            dst: self.data(F::Dst)?,
        })))
    }

    /// An edge of a block with its immediate offset.
    fn edge(&self, at: Scalar, add: F) -> Edge {
        Edge {
            at,
            add: self.number(add),
        }
    }

    /// Base, width, height and pitch of the surface, and the place of the block: separate operands, or the
    /// dwords of one payload, the first two of which are the base.
    fn block_address(&self) -> Result<[Scalar; 6], Unsupported> {
        if let BlockAddress::Payload(payload) = BlockAddress::of(self.instruction) {
            let (variable, offset) = (payload.variable, 0);
            let place = self.cx.raw(RawOperand { variable, offset })?;
            let begins = payload.row == 0 && payload.column == 0;
            let fits = |place: &RawPlace| place.available >= BlockAddress::PAYLOAD_BYTES as usize;
            let Some(place) = place.filter(|place| begins && fits(place)) else {
                return Err(self.refuse("the payload of the block is no whole register"));
            };
            let at = |bytes: usize, data_type| Scalar::Register {
                offset: place.offset + bytes,
                data_type,
            };
            return Ok([
                at(0, DataType::Uq),
                at(8, DataType::Ud),
                at(12, DataType::Ud),
                at(16, DataType::Ud),
                at(20, DataType::Ud),
                at(24, DataType::Ud),
            ]);
        }
        Ok([
            self.scalar(F::SurfaceBase)?,
            self.scalar(F::SurfaceWidth)?,
            self.scalar(F::SurfaceHeight)?,
            self.scalar(F::SurfacePitch)?,
            self.scalar(F::X)?,
            self.scalar(F::Y)?,
        ])
    }

    pub(super) fn lsc_block2d(&self, store: bool) -> Result<Message, Unsupported> {
        let shape = BlockShape::of(self.instruction, self.cx.grf_bytes);
        let shape = shape.ok_or_else(|| self.refuse("the data size has no meaning"))?;
        let data = self.moved(lsc_data(store), store)?;
        let [base, surface_width, surface_height, surface_pitch, x, y] = self.block_address()?;
        Ok(Message::Block2d(Box::new(Block2d {
            base,
            surface_width,
            surface_height,
            surface_pitch,
            x: self.edge(x, F::UOffset),
            y: self.edge(y, F::VOffset),
            shape,
            data,
            store,
        })))
    }

    fn lsc_coordinates(&self) -> Result<Coordinates, Unsupported> {
        let lanes = self.count()?;
        let (width, _) = self.address_width()?;
        Ok(Coordinates {
            sources: [
                self.data(F::Src0U)?,
                self.data(F::Src0V)?,
                self.data(F::Src0R)?,
            ],
            width,
            offsets: [
                self.number(F::UOffset),
                self.number(F::VOffset),
                self.number(F::ROffset),
            ],
            lanes,
        })
    }

    pub(super) fn lsc_typed(&self, store: bool) -> Result<Message, Unsupported> {
        let coordinates = self.lsc_coordinates()?;
        let channels = self.byte(F::ChMask) & 0xf;
        self.typed_access(
            self.lsc_surface()?,
            coordinates,
            channels,
            lsc_data(store),
            store,
        )
    }

    pub(super) fn lsc_typed_atomic(&self, op: AtomicOp) -> Result<Message, Unsupported> {
        let coordinates = self.lsc_coordinates()?;
        let data = self.lsc_atomic_data(op, F::Src1Data)?;
        Ok(Message::TypedAtomic(Box::new(TypedAtomic {
            reach: self.lsc_surface()?,
            coordinates,
            data,
        })))
    }

    pub(super) fn lsc_typed_status(&self) -> Result<Message, Unsupported> {
        Ok(Message::TypedStatus(Box::new(TypedStatus {
            reach: self.lsc_surface()?,
            coordinates: self.lsc_coordinates()?,
            dst: self.data(F::Dst)?,
        })))
    }

    pub(super) fn lsc_typed_block2d(&self, store: bool) -> Result<Message, Unsupported> {
        let number = |name| u32::try_from(self.number(name)).unwrap_or(0);
        let (width, height) = (number(F::BlockWidth), number(F::BlockHeight));
        Ok(Message::Media(Box::new(MediaAccess {
            reach: self.lsc_surface()?,
            plane: 0,
            rows: FieldRows::All,
            width: width as usize,
            height: height as usize,
            pitch: rectangle_pitch(width) as usize,
            x: self.edge(self.scalar(F::X)?, F::UOffset),
            y: self.edge(self.scalar(F::Y)?, F::VOffset),
            clamps: false,
            data: self.moved(lsc_data(store), store)?,
            store,
        })))
    }
}

const fn lsc_data(store: bool) -> F {
    if store { F::Src1Data } else { F::Dst }
}
