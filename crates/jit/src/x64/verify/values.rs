//! What instructions compute, as far as it matters for addresses.

use super::super::registers::slot;
use super::memory::Place;
use super::state::{Fact, Flags, Id, Lanes, Operand, Region, Room, State};
use super::tables::*;
use super::{Def, Field, LaneOp, Reason, Verifier};
use iced_x86::{Code, Instruction};

impl Verifier<'_> {
    /// The value that an instruction computes.
    pub(super) fn computed(
        &mut self,
        place: usize,
        instruction: &Instruction,
        state: &mut State,
        there: Option<Place>,
    ) -> Result<Id, Reason> {
        use Code::*;
        let code = instruction.code();
        let from = Self::register(instruction, 1, state).map(|(_, value)| value);
        match (code, from, there) {
            (Mov_r64_rm64, Some(from), _) => return Ok(from),
            (Mov_r32_rm32, Some(from), _) if self.bits_of(from) <= low(4) => return Ok(from),
            (Mov_r64_rm64, None, _) => return self.loaded(place, instruction, state, (there, 8)),
            (Mov_r32_rm32, None, _) => return self.loaded(place, instruction, state, (there, 4)),
            (EVEX_Vmovdqu32_zmm_k1z_zmmm512, Some(from), _) if !instruction.has_op_mask() => {
                return Ok(from);
            }
            (VEX_Vmovdqu_ymm_ymmm256, None, Some(Place::Shared(Field::Own))) => return Ok(Id::OWN),
            _ => {}
        }
        let (def, bits) = match self.number_of(instruction, state, from) {
            Some(number) => number,
            None => (self.vector_of(instruction, state, from, there), u64::MAX),
        };
        let own = self.define(place, def, bits)?;
        if let (VEX_Vextracti128_xmmm128_ymm_imm8, Some(from)) = (code, from) {
            // What is true of all lanes is true of either half.
            for lane in [4, 8] {
                if let Some(room) = state.all_inside(from, Lanes { lane, bytes: 32 }) {
                    state.learn(own, Fact::AllInside(Lanes { lane, bytes: 16 }, room));
                }
            }
        }
        if code == VEX_Blsr_r32_rm32 {
            state.flags = Flags::Result(own);
        }
        Ok(own)
    }

    /// How a number is computed, and its bits that may be set.
    fn number_of(
        &self,
        instruction: &Instruction,
        state: &State,
        from: Option<Id>,
    ) -> Option<(Def, u64)> {
        use Code::*;
        let code = instruction.code();
        let bytes = |value: Id| self.bits_of(value);
        Some(match code {
            Mov_r32_imm32 => {
                let number = instruction.immediate(1) & low(4);
                (Def::Number(number), number)
            }
            Mov_r32_rm32 => (Def::Unknown, low(4)),
            Movzx_r32_rm8 => (Def::Unknown, low(1)),
            Movzx_r32_rm16 => (Def::Unknown, low(2)),
            Cmova_r64_rm64 => self.smaller(instruction, state),
            Cmova_r32_rm32 | Cmove_r32_rm32 | Cmovne_r32_rm32 | Not_rm32 | Imul_r32_rm32_imm32
            | Movsx_r32_rm8 | Movsx_r32_rm16 => (Def::Unknown, low(4)),
            Popcnt_r32_rm32 => (Def::Unknown, 63),
            Bsf_r32_rm32 => match from {
                Some(from) if self.is_not_zero(state, from) => {
                    let most = bytes(from).checked_ilog2().unwrap_or(63);
                    (Def::Unknown, up_to(most.into()))
                }
                _ => (Def::Unknown, u64::MAX),
            },
            VEX_Blsr_r32_rm32 => (Def::Unknown, from.map_or(low(4), bytes)),
            VEX_Andn_r32_r32_rm32 => (
                Def::Unknown,
                Self::register(instruction, 2, state).map_or(low(4), |(_, value)| bytes(value))
                    & low(4),
            ),
            VEX_Vmovmskpd_r32_ymm => (from.map_or(Def::Unknown, Def::SignsOf), 0xf),
            VEX_Vmovmskps_r32_ymm => (Def::Unknown, 0xff),
            VEX_Kmovd_r32_kr => (from.map_or(Def::Unknown, Def::BitsOf), low(4)),
            VEX_Vmovd_rm32_xmm | EVEX_Vmovd_rm32_xmm => (Self::lane(from, 0, 4), low(4)),
            VEX_Vmovq_rm64_xmm | EVEX_Vmovq_rm64_xmm => (Self::lane(from, 0, 8), u64::MAX),
            VEX_Vpextrd_rm32_xmm_imm8 | EVEX_Vpextrd_rm32_xmm_imm8 => {
                let number = instruction.immediate(2) & 3;
                (Self::lane(from, 4 * number, 4), low(4))
            }
            VEX_Vpextrq_rm64_xmm_imm8 | EVEX_Vpextrq_rm64_xmm_imm8 => {
                let number = instruction.immediate(2) & 1;
                (Self::lane(from, 8 * number, 8), u64::MAX)
            }
            _ => return None,
        })
    }

    /// How a vector or a mask is computed.
    fn vector_of(
        &self,
        instruction: &Instruction,
        state: &State,
        from: Option<Id>,
        there: Option<Place>,
    ) -> Def {
        use Code::*;
        let code = instruction.code();
        let is_masked = instruction.has_op_mask();
        let value = |operand| Self::register(instruction, operand, state).map(|(_, value)| value);
        let of = |def: &dyn Fn(Id) -> Def| from.map_or(Def::Unknown, def);
        match code {
            _ if is_masked && !is_comparison(code) => Def::Unknown,
            VEX_Vmovdqu_xmm_xmmm128
            | VEX_Vmovdqu_ymm_ymmm256
            | EVEX_Vmovdqu32_ymm_k1z_ymmm256
            | EVEX_Vmovdqu32_zmm_k1z_zmmm512 => match (from, there) {
                // The rest of a longer one becomes zero.
                (Some(from), _) if code != VEX_Vmovdqu_xmm_xmmm128 => {
                    Def::Lanes(LaneOp::Or, from, Operand::Value(from), 32)
                }
                (None, Some(Place::Constant(Some(at)))) => Def::Constant(at),
                _ => Def::Unknown,
            },
            VEX_Vmovd_xmm_rm32 | EVEX_Vmovd_xmm_rm32 => match from {
                Some(from) if self.bits_of(from) <= low(4) || self.is_small(state, from) => {
                    Def::First(from, 4)
                }
                _ => Def::Unknown,
            },
            VEX_Vmovq_xmm_rm64 | EVEX_Vmovq_xmm_rm64 => of(&|from| Def::First(from, 8)),
            VEX_Vpbroadcastd_ymm_xmmm32 | EVEX_Vpbroadcastd_zmm_k1z_xmmm32 => {
                of(&|from| self.each(from, 4))
            }
            VEX_Vpbroadcastq_ymm_xmmm64 | EVEX_Vpbroadcastq_zmm_k1z_xmmm64 => {
                of(&|from| self.each(from, 8))
            }
            EVEX_Vpbroadcastq_zmm_k1z_r64 => of(&|from| Def::Each(from, 8)),
            EVEX_Vpcmpuq_kr_k1_zmm_zmmm512b64_imm8 if instruction.immediate(3) == 2 => {
                let before = is_masked.then(|| slot(instruction.op_mask())).flatten();
                let before = before.map(|slot| state.get(slot));
                match (from, value(2)) {
                    (Some(a), Some(b)) => Def::AtMost(a, b, before),
                    _ => Def::Unknown,
                }
            }
            EVEX_Vptestmd_kr_k1_zmm_zmmm512b32 | EVEX_Vptestmq_kr_k1_zmm_zmmm512b64 => {
                of(&|from| Def::Common(from, self.source(instruction, 2, state)))
            }
            _ => match (lanes(code), from) {
                (Some((op, size)), Some(from)) => {
                    Def::Lanes(op, from, self.source(instruction, 2, state), size)
                }
                _ => Def::Unknown,
            },
        }
    }

    /// Whether a limit has no more than 32 bits.
    fn is_small(&self, state: &State, value: Id) -> bool {
        self.limit(state, value)
            .is_some_and(|(_, most)| most <= low(4))
    }

    /// A lane of a vector.
    fn lane(from: Option<Id>, at: u64, lane: u8) -> Def {
        let Some((from, at)) = from.zip(u8::try_from(at).ok()) else {
            return Def::Unknown;
        };
        Def::Lane(from, at, lane)
    }

    /// The first lane of a vector in all lanes.
    fn each(&self, from: Id, lane: u8) -> Def {
        match self.def(from) {
            Def::First(number, own) if own == lane => Def::Each(number, lane),
            _ => Def::FirstOf(from, lane),
        }
    }

    /// The smaller of two numbers, if that is what a conditional move computes.
    fn smaller(&self, instruction: &Instruction, state: &State) -> (Def, u64) {
        let value = |operand| Self::register(instruction, operand, state).map(|(_, value)| value);
        let (Some(to), Some(from)) = (value(0), value(1)) else {
            return (Def::Unknown, u64::MAX);
        };
        if state.flags != Flags::Compared(to, from) {
            return (Def::Unknown, u64::MAX);
        }
        let most = match self.def(from) {
            Def::Number(number) => number,
            _ => self.bits_of(from),
        };
        match self.limit(state, to) {
            Some((room, own)) if room.bytes == 0 => (Def::Limit(room, own.min(most)), up_to(most)),
            _ => (Def::Unknown, up_to(most)),
        }
    }

    /// A number that is loaded from memory.
    fn loaded(
        &mut self,
        at: usize,
        instruction: &Instruction,
        state: &mut State,
        (there, width): (Option<Place>, usize),
    ) -> Result<Id, Reason> {
        const LOCAL: u64 = i32::MAX as u64;
        const BYTES: u64 = i64::MAX as u64;
        let room = |region| Room { region, bytes: 0 };
        let bits = low(width);
        let (def, bits) = match there {
            Some(Place::Shared(Field::File)) if width == 8 => return Ok(Id::FILE),
            Some(Place::Shared(Field::Constants)) if width == 8 => return Ok(Id::CONSTANTS),
            Some(Place::Shared(Field::Code)) if width == 8 => return Ok(Id::CODE),
            Some(Place::Shared(Field::Follower)) if width == 8 => return Ok(Id::FOLLOWER),
            Some(Place::Shared(Field::Lanes)) => (Def::Unknown, self.frame.lanes),
            Some(Place::Shared(Field::Local)) if width == 8 => (Def::Storage(Region::Local), bits),
            Some(Place::Shared(Field::LocalBytes)) if width == 8 => {
                (Def::Limit(room(Region::Local), LOCAL), LOCAL)
            }
            Some(Place::RegionBytes(of)) => (Def::Limit(room(Region::At(of)), BYTES), BYTES),
            Some(Place::RegionStorage(of)) => (Def::Storage(Region::At(of)), bits),
            Some(Place::Offsets(from, Some(index))) => {
                let fact = self.loaded_offset(state, from, index, width);
                let value = self.define(at, Def::Unknown, bits)?;
                if let Some(fact) =
                    fact.filter(|_| instruction.memory_index_scale() as usize == width)
                {
                    state.learn(value, fact);
                }
                return Ok(value);
            }
            _ => (Def::Unknown, bits),
        };
        self.define(at, def, bits)
    }
}
