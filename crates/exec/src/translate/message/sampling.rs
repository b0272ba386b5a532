//! Translation of the sampler messages.

use super::fields::Fields;
use crate::fault::Unsupported;
use crate::message::Message;
use crate::message::texture::{Parameter, Query, Texture};
use crate::operands::Scalar;
use crate::support::sampler_reason;
use visakit_isa::enums::sampler_op;
use visakit_isa::operand::SamplerOpFlags;
use visakit_isa::{FieldName as F, SamplerOp, Value};

impl Fields<'_, '_> {
    fn sampler_op(&self) -> SamplerOp {
        match self.instruction.get(F::Op) {
            Some(Value::SamplerOp(op)) => *op,
            _ => SamplerOp::new(self.byte(F::Op), SamplerOpFlags::empty()),
        }
    }

    /// The parameters of the message; trailing ones may be missing, null ones are absent.
    fn parameters(&self) -> Result<Vec<Option<Parameter>>, Unsupported> {
        self.instruction
            .all(F::Params)
            .map(|value| match value {
                Value::Raw(operand) => {
                    let place = self.cx.raw(*operand)?;
                    let parameter = place.map(|place| {
                        let size = usize::from(place.data_type.size()).clamp(2, 4);
                        let data = self.data_at(F::Params, place)?;
                        Ok(Parameter { data, size })
                    });
                    parameter.transpose()
                }
                _ => Ok(None),
            })
            .collect()
    }

    fn texel_offsets(&self) -> Result<Scalar, Unsupported> {
        match self.instruction.get(F::Aoffimmi) {
            Some(_) => self.scalar(F::Aoffimmi),
            None => Ok(Scalar::Constant(
                u64::try_from(self.number(F::Aoffimmi16)).unwrap_or(0),
            )),
        }
    }

    /// The positions of U, V and R among the parameters of an operation.
    fn query(&self, op: u8) -> Result<(Query, [Option<usize>; 3]), Unsupported> {
        let at = |u, v, r| [Some(u), Some(v), Some(r)];
        Ok(match op {
            sampler_op::SAMPLE_3D | sampler_op::SAMPLE_LZ => (Query::Sample, at(0, 1, 2)),
            sampler_op::SAMPLE_B | sampler_op::SAMPLE_L => (Query::Sample, at(1, 2, 3)),
            // U, V and R, each followed by its two gradients.
            sampler_op::SAMPLE_D => (Query::Sample, at(0, 3, 6)),
            sampler_op::LOAD_3D => (Query::Load, at(0, 1, 3)),
            sampler_op::LOAD_LZ => (Query::Load, at(0, 1, 2)),
            sampler_op::SAMPLE4 => (Query::Gather(self.byte(F::SrcChannel) & 3), at(0, 1, 2)),
            sampler_op::SAMPLE4_L | sampler_op::SAMPLE4_B => {
                (Query::Gather(self.byte(F::SrcChannel) & 3), at(1, 2, 3))
            }
            sampler_op::RESINFO => (Query::Size, [None; 3]),
            sampler_op::SAMPLEINFO => (Query::Samples, [None; 3]),
            _ => {
                let name = visakit_isa::enums::SAMPLER_OP.name_of(op);
                let name = name.map_or_else(|| format!("operation {op}"), str::to_owned);
                let reason = sampler_reason(op).unwrap_or("there is no such operation");
                return Err(self.refuse(format!("{name}: {reason}")));
            }
        })
    }

    pub(super) fn texture(&self) -> Result<Message, Unsupported> {
        let op = self.sampler_op();
        let lanes = self.count()?;
        let (query, places) = self.query(op.code())?;
        let parameters = self.parameters()?;
        let coordinates = places.map(|at| *parameters.get(at?)?);
        let reach = self.surface()?;
        let sampler = match query {
            Query::Sample | Query::Gather(_) => Some(self.sampler()?),
            _ => None,
        };
        let channels = match query {
            Query::Gather(_) => 0xf,
            _ => self.byte(F::Channels) & 0xf,
        };
        let null_mask = op.flags().contains(SamplerOpFlags::PIXEL_NULL_MASK);
        let dst = self.raw(F::Dst)?;
        let size = dst.map_or(4, |d| usize::from(d.data_type.size()).clamp(2, 4));
        let channel_pitch = self.round(lanes * size);
        Ok(Message::Texture(Box::new(Texture {
            reach,
            query,
            sampler,
            coordinates,
            offsets: match query {
                Query::Size | Query::Samples => Scalar::Constant(0),
                _ => self.texel_offsets()?,
            },
            lanes,
            channels,
            dst: self.data(F::Dst)?,
            size,
            channel_pitch,
            null_mask,
        })))
    }
}
