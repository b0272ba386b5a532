//! Machine code for loads and stores of all lanes.
//!
//! Addresses are checked as vectors before anything is read or written. Everything the code does not handle (lanes in
//! different buffers, an address outside or not aligned, too few lanes) is left to the interpreter, which runs the
//! whole step, or finds the fault.

use crate::Features;
use crate::kept::Content;
use crate::linear::Recipe;
use crate::masks::mask_register;
use crate::pages::place;
use crate::path::Path;
use crate::pending::Holder;
use crate::run::row_of;
use crate::vector::{Chunks, Done, MASK, NoTemplate, Writer, field};
use crate::x64::{
    Condition, EAX, ECX, Index, Label, Mask, Memory, Number, R8, R9, R9D, R10, RAX, RCX, RDI, RDX,
    Width, ops, xmm, ymm,
};
use visakit_exec::code::{Element, LaneMessage, LaneSpace};
use visakit_exec::memory::Region;
use visakit_isa::DataType;

/// The size of a [`Region`], as a shift.
const REGION_SHIFT: u32 = size_of::<Region>().trailing_zeros();
const _: () = assert!(size_of::<Region>().is_power_of_two(), "a shift");

/// Where the lanes of a message are in memory: the offsets that were compared with its bounds.
///
/// This is the only way to lanes that lie anywhere. The offsets are in vector registers, which hold them until all lanes
/// have been moved; addresses in the register file are never read again, as what is loaded may be written over them.
pub(crate) struct Places {
    pub(crate) c: Chunks,
    /// The register of each chunk.
    pub(crate) offsets: Vec<u32>,
    /// The register with the address of the memory.
    pub(crate) base: Number,
}

/// Registers that a load fills, with what they hold afterwards. Bytes that have none go through the file alone.
pub(crate) type Loaded = Vec<(u32, Content)>;

pub(crate) fn at(base: Number, offset: usize) -> Result<Memory, NoTemplate> {
    let offset = i32::try_from(offset).map_err(|_| NoTemplate)?;
    Ok(Memory::at(base, offset.into()))
}

pub(crate) fn indexed(base: Number, index: impl Into<Index>, offset: u32) -> Memory {
    Memory::at(base, offset.into()).indexed(index, Width::Byte)
}

impl Writer {
    /// Emits code for a message whose lanes are all enabled, or, if it is masked, those in [`MASK`], at least one. It
    /// jumps to `slow` if the interpreter has to run the step, and to `done` or past its end otherwise. Clobbers the
    /// vector registers that hold nothing, and mask registers. For the number see [`crate::apart`], for `linear`
    /// [`crate::linear`].
    pub(crate) fn message(
        &mut self,
        m: &LaneMessage,
        number: Option<u32>,
        linear: Option<&Recipe>,
        masked: bool,
        slow: Label,
        done: Label,
    ) -> Done {
        let bytes = m.element.register * m.lanes;
        let writes = !m.store && m.atomic.is_none();
        let result = m.atomic.as_ref().and_then(|atomic| atomic.result);
        let data = m.parts.iter().map(|(_, part)| m.data + *part as usize);
        for data in data.clone() {
            self.place(data, bytes)?;
        }
        // Of these some lanes stay.
        for data in data.clone().filter(|_| writes).chain(result) {
            if masked {
                self.file(data, bytes)?;
            }
        }
        self.place(m.addresses, m.width * m.lanes)?;
        self.loads.clear();
        self.begin();
        self.forget_masks();
        let loaded = match (m.space, m.width) {
            _ if m.lanes == 1 => self.block(m, slow)?,
            _ if m.lanes < 8 => return Err(NoTemplate),
            (LaneSpace::Global, 8) if linear.is_some() => {
                self.linear_lanes(m, linear.ok_or(NoTemplate)?, slow)?
            }
            (LaneSpace::Global, 8) => {
                self.global_lanes(m, number.filter(|_| !masked), masked, slow, done)?
            }
            (LaneSpace::Local | LaneSpace::Surface { .. }, 4) => {
                self.window_lanes(m, masked, slow)?
            }
            _ => return Err(NoTemplate),
        };
        // What was written to the file, before what registers hold of it.
        for data in data.filter(|_| writes).chain(result) {
            self.overwritten(data, bytes);
        }
        let stores = std::mem::take(&mut self.loads);
        for (n, content) in loaded {
            self.set(n, Some(content));
            if let Content::Bytes { offset, bytes } = content {
                let own = stores.iter().filter(|(of, _)| *of == content);
                let own = own.map(|(_, instruction)| *instruction).collect();
                self.stored_by(Holder::Vector(n), offset..offset + bytes, own);
            }
        }
        Ok(())
    }

    /// Registers for bytes of the file that are about to be loaded, as many as there are besides those that are
    /// `needed` for other things.
    fn registers_for(&mut self, offset: usize, bytes: usize, needed: usize) -> Loaded {
        let size = match self.features {
            Features::Avx512 if bytes >= 64 => 64,
            _ => 32,
        };
        let c = Chunks::new(self.features, 4, size / 4);
        let parts = (0..bytes / size).map(|n| Content::Bytes {
            offset: offset + n * size,
            bytes: size,
        });
        let mut loaded = Vec::new();
        for content in parts {
            if self.free(c) <= needed {
                break;
            }
            match self.take(c) {
                Ok(n) => loaded.push((n, content)),
                Err(NoTemplate) => break,
            }
        }
        loaded
    }

    /// The same for a message, if its elements are moved as vectors.
    fn loaded_registers(&mut self, m: &LaneMessage, needed: usize) -> Loaded {
        if m.store || !Self::is_vector(m) {
            return Vec::new();
        }
        let parts = m.parts.iter();
        let data = parts.map(|(_, register)| m.data + *register as usize);
        data.flat_map(|data| self.registers_for(data, 4 * m.lanes, needed))
            .collect()
    }

    /// Whether elements are moved as vectors of 32-bit lanes.
    fn is_vector(m: &LaneMessage) -> bool {
        m.atomic.is_none() && m.element == Element::DWORD
    }

    /// Sets `rax` to the address of the first enabled lane, including the added offset.
    fn first_address(&mut self, m: &LaneMessage, masked: bool) -> Done {
        let c = Chunks::new(self.features, m.width, m.lanes);
        let content = Content::Bytes {
            offset: m.addresses,
            bytes: c.lanes * m.width,
        };
        let held = self.find(c, content).filter(|_| !masked);
        let mut from = self.place(m.addresses, m.width)?;
        if masked {
            self.asm.lowest_bit(ECX, MASK);
            from = self.lane_of_file(m.addresses, m.width, m.lanes)?;
        }
        match held {
            Some(n) => self.first_lane(c, n),
            None => {
                self.file(m.addresses, m.width)?;
                self.asm.extend(RAX, m.width, from);
            }
        }
        self.add_to_address(m)
    }

    /// Adds what a message adds to each address, sign-extended.
    fn add_to_address(&mut self, m: &LaneMessage) -> Done {
        if m.add != 0 {
            let add_by = i32::try_from(m.add.cast_signed()).map_err(|_| NoTemplate)?;
            self.asm.add(RAX, add_by);
        }
        Ok(())
    }

    /// Of the buffer that may have the address in `rax`: its address in `r8`, its bytes in `r9`, its place in `r10`. If it
    /// is another one, or none, the address is outside of it.
    fn buffer(&mut self) {
        let [address, bytes, storage] =
            Region::LAYOUT.map(|offset| Memory::at(RCX, i64::try_from(offset).unwrap_or(0)));
        let asm = &mut self.asm;
        asm.mov(RCX, RAX);
        asm.shr(RCX, 32);
        asm.and(RCX, field(place::STORAGE_MASK));
        asm.shl(RCX, REGION_SHIFT);
        asm.add(RCX, field(place::STORAGE));
        asm.mov(R8, address);
        asm.mov(R9, bytes);
        asm.mov(R10, storage);
    }

    /// Of shared local memory or of a surface: its address in `rdi`, its bytes in `r9`.
    fn window(&mut self, space: LaneSpace, slow: Label) -> Done {
        let LaneSpace::Surface { place: index, add } = space else {
            self.asm.mov(RDI, field(place::LOCAL));
            self.asm.mov(R9, field(place::LOCAL_BYTES));
            return Ok(());
        };
        let [_, bytes, storage] =
            Region::LAYOUT.map(|offset| Memory::at(RCX, i64::try_from(offset).unwrap_or(0)));
        if let Some(index) = index {
            let index = self.file(index, 4)?;
            self.asm.mov(ECX, index);
            if add != 0 {
                self.asm.add(ECX, add);
            }
            self.takes(Path::SurfaceIndex);
        } else {
            self.asm.mov(ECX, add);
        }
        let asm = &mut self.asm;
        asm.cmp(RCX, field(place::SURFACE_COUNT));
        asm.jump_if(Condition::AboveOrEqual, slow);
        asm.shl(RCX, REGION_SHIFT);
        asm.add(RCX, field(place::SURFACES));
        asm.mov(RDI, storage);
        asm.mov(R9, bytes);
        // Offsets are used as numbers of 32 bits with a sign.
        asm.mov(EAX, 0x7fff_ffff);
        asm.cmp(R9, RAX);
        asm.mov_if(Condition::Above, R9, RAX);
        Ok(())
    }

    /// Continues if this many bytes from the offset in `rax` are below `r9`, which is clobbered, and the offset is
    /// aligned.
    fn check_offset(&mut self, bytes: u64, align: u64, slow: Label) -> Done {
        let bytes = u32::try_from(bytes)
            .ok()
            .filter(|b| *b < 1 << 31)
            .ok_or(NoTemplate)?;
        let asm = &mut self.asm;
        asm.sub(R9, bytes);
        asm.jump_if(Condition::Below, slow);
        asm.cmp(RAX, R9);
        asm.jump_if(Condition::Above, slow);
        if align > 1 {
            let low = u32::try_from(align - 1).map_err(|_| NoTemplate)?;
            asm.test(RAX, low);
            asm.jump_if(Condition::NotEqual, slow);
        }
        Ok(())
    }

    /// The only lane's elements: one after the other, or one by one.
    fn block(&mut self, m: &LaneMessage, slow: Label) -> Result<Loaded, NoTemplate> {
        let packed = Self::is_vector(m)
            && (0..)
                .step_by(4)
                .zip(&m.parts)
                .all(|(n, part)| *part == (n, n));
        let bytes = m.span;
        if bytes > 512 {
            return Err(NoTemplate);
        }
        self.first_address(m, false)?;
        if m.space == LaneSpace::Global {
            if m.mask != u64::MAX {
                return Err(NoTemplate);
            }
            self.buffer();
            self.asm.sub(RAX, R8);
            self.check_offset(bytes, m.align, slow)?;
            self.takes(Path::Block);
            self.asm.add(RAX, R10);
        } else {
            if m.mask != u64::MAX {
                // The upper half becomes zero, too.
                let mask = u32::try_from(m.mask).map_err(|_| NoTemplate)?;
                self.asm.and(EAX, mask);
            }
            // The address is in the way.
            self.asm.mov(R8, RAX);
            self.window(m.space, slow)?;
            self.asm.mov(RAX, R8);
            self.check_offset(bytes, m.align, slow)?;
            self.takes(Path::BlockWindow);
            self.asm.add(RAX, RDI);
        }
        if packed {
            let bytes = usize::try_from(bytes).map_err(|_| NoTemplate)?;
            let to = if m.store {
                Vec::new()
            } else {
                self.registers_for(m.data, bytes, 0)
            };
            self.copy(m.store, m.data, bytes, &to)?;
            return Ok(to);
        }
        self.takes(Path::BlockElements);
        self.asm.mov(RDX, RAX);
        self.asm.xor(ECX, ECX);
        self.one_lane(m, &m.parts, |memory| {
            let memory = i64::from(memory);
            Ok(Memory::at(RDX, memory))
        })?;
        Ok(Vec::new())
    }

    /// The enabled lanes of a chunk; the others become zero: their address is as good as any. With AVX-512 the mask
    /// register of the chunk holds its lanes from here on.
    fn only_enabled(&mut self, c: Chunks, chunk: usize, to: u32, n: u32) {
        if self.features == Features::Avx512 {
            self.lanes_of(c, chunk, MASK, mask_register(chunk));
            self.v2(
                c,
                c.of(ops::MASKED_MOVE_D, ops::MASKED_MOVE_Q),
                to,
                c.register(n),
            );
            self.asm.mask_or_zero(mask_register(chunk));
        } else {
            self.spread(c, chunk, MASK, 6);
            self.v3(c, ops::AND, to, n, 6);
        }
    }

    /// Shared local memory, or a surface, at addresses of 32 bits.
    fn window_lanes(
        &mut self,
        m: &LaneMessage,
        masked: bool,
        slow: Label,
    ) -> Result<Loaded, NoTemplate> {
        let c = Chunks::new(self.features, 4, m.lanes);
        let full = if c.zmm { 16 } else { 8 };
        if c.lanes != full {
            return Err(NoTemplate);
        }
        let span = u32::try_from(m.span).ok().filter(|n| *n < 1 << 30);
        let span = span.ok_or(NoTemplate)?;
        // Sums are of as many bits as lanes have.
        let mask = u32::try_from(m.mask).map_err(|_| NoTemplate)?;
        self.window(m.space, slow)?;
        self.asm.sub(R9, span);
        self.asm.jump_if(Condition::Below, slow);
        let (limit, most, any) = (7, 3, 4);
        let mut offsets = Vec::with_capacity(c.count);
        for chunk in 0..c.count {
            let bytes = c.lanes * m.width;
            let place = m.addresses + chunk * bytes;
            let (n, mut from) = self.result_and_source(c, place, bytes)?;
            if m.add != 0 {
                #[expect(clippy::cast_possible_truncation, reason = "addresses have 32 bits")]
                let add = self.dwords(m.add as u32);
                self.v3m(c, ops::ADD_D, n, from, add);
                from = n;
            }
            let mask = self.dwords(mask);
            self.v3m(c, ops::AND, n, from, mask);
            if masked {
                self.only_enabled(c, chunk, n, n);
            }
            offsets.push(n);
            if chunk == 0 {
                self.v2(c, ops::MOVE, most, c.register(n));
                self.v2(c, ops::MOVE, any, c.register(n));
            } else {
                self.v3(c, ops::MAX_UD, most, most, n);
                self.v3(c, ops::OR, any, any, n);
            }
        }
        self.asm.v2(ops::LOAD_D, xmm(limit), R9D);
        self.v2(c, ops::BROADCAST_D, limit, xmm(limit));
        self.v3(c, ops::MIN_UD, 5, most, limit);
        self.v3(c, ops::XOR, 5, 5, most);
        if m.align > 1 {
            let low = self.dwords(u32::try_from(m.align - 1).map_err(|_| NoTemplate)?);
            self.v3m(c, ops::AND, any, any, low);
            self.v3(c, ops::OR, 5, 5, any);
        }
        // Anything left is an address outside, or one that is not aligned.
        if c.zmm {
            let n = c.register(5);
            self.asm.v3(ops::MASK_OF_BITS_D, Mask::K2, n, n);
            self.asm.mask_any(Mask::K2);
        } else {
            self.asm.v2(ops::TEST, ymm(5), ymm(5));
        }
        self.asm.jump_if(Condition::NotEqual, slow);
        self.takes(match (m.space, masked) {
            (LaneSpace::Local, false) => Path::Local,
            (LaneSpace::Local, true) => Path::LocalMasked,
            (_, false) => Path::Surface,
            (_, true) => Path::SurfaceMasked,
        });
        let loaded = self.loaded_registers(m, 0);
        let base = RDI;
        self.move_lanes(m, &Places { c, offsets, base }, masked, &loaded)?;
        Ok(loaded)
    }

    /// Global memory at addresses of 64 bits: one run of bytes, or all lanes in one buffer.
    fn global_lanes(
        &mut self,
        m: &LaneMessage,
        number: Option<u32>,
        masked: bool,
        slow: Label,
        done: Label,
    ) -> Result<Loaded, NoTemplate> {
        let avx512 = self.features == Features::Avx512;
        let c = Chunks::new(self.features, 8, m.lanes);
        let full = if c.zmm { 8 } else { 4 };
        if c.lanes != full || c.zmm != avx512 || m.mask != u64::MAX {
            return Err(NoTemplate);
        }
        self.first_address(m, masked)?;
        self.buffer();
        let loaded = self.loaded_registers(m, c.count);
        if let Some((memory, extended)) = row_of(m).filter(|_| !masked) {
            let scattered = self.asm.label();
            self.is_run(c, m, number, scattered)?;
            self.takes(Path::Run);
            self.global_row(m, (memory, extended), &loaded, slow)?;
            self.asm.jump(done);
            self.asm.place(scattered);
        }
        self.global_scattered(c, m, masked, slow, &loaded)?;
        Ok(loaded)
    }

    /// Lanes whose addresses follow each other, because of how they are computed.
    fn linear_lanes(
        &mut self,
        m: &LaneMessage,
        recipe: &Recipe,
        slow: Label,
    ) -> Result<Loaded, NoTemplate> {
        let row = row_of(m).ok_or(NoTemplate)?;
        self.first_of(recipe, slow)?;
        self.add_to_address(m)?;
        self.buffer();
        let loaded = self.loaded_registers(m, 0);
        self.global_row(m, row, &loaded, slow)?;
        self.takes(Path::Linear);
        if recipe.root.size == 2 {
            self.takes(Path::LinearWords);
        }
        if recipe.has_rows() {
            self.takes(Path::LinearRows);
        }
        if !recipe.words.is_empty() {
            self.takes(Path::LinearTerms);
        }
        Ok(loaded)
    }

    /// Moves the elements of all lanes, which follow each other. The address of the first is in `rax`, its buffer as
    /// [`Self::buffer`] leaves it.
    fn global_row(
        &mut self,
        m: &LaneMessage,
        (memory, extended): (u32, Option<DataType>),
        loaded: &Loaded,
        slow: Label,
    ) -> Done {
        let bytes = m.element.memory * m.lanes;
        self.asm.sub(RAX, R8);
        if memory != 0 {
            self.asm.add(RAX, memory);
        }
        self.check_offset(bytes as u64, m.align, slow)?;
        self.asm.add(RAX, R10);
        match extended {
            None => self.copy(m.store, m.data, bytes, loaded),
            Some(ty) => {
                self.takes(Path::RunExtended);
                self.extend(m, ty)
            }
        }
    }

    /// Lanes anywhere in the buffer of the first one.
    fn global_scattered(
        &mut self,
        c: Chunks,
        m: &LaneMessage,
        masked: bool,
        slow: Label,
        loaded: &Loaded,
    ) -> Done {
        let span = u32::try_from(m.span)
            .ok()
            .filter(|s| *s < 1 << 31)
            .ok_or(NoTemplate)?;
        self.asm.sub(R9, span);
        self.asm.jump_if(Condition::Below, slow);
        if m.add != 0 {
            let add = i32::try_from(m.add.cast_signed()).map_err(|_| NoTemplate)?;
            self.asm.sub(R8, add);
        }
        let avx512 = self.features == Features::Avx512;
        let (base, limit, any, bad) = (5, 2, 4, 3);
        for (n, from) in [(base, R8), (limit, R9)] {
            if avx512 {
                self.asm.v2(ops::BROADCAST_NUMBER_Q, c.register(n), from);
            } else {
                self.asm.v2(ops::FROM_Q, xmm(n), from);
                self.v2(c, ops::BROADCAST_Q, n, xmm(n));
            }
        }
        let mut offsets = Vec::with_capacity(c.count);
        for chunk in 0..c.count {
            let bytes = c.lanes * m.width;
            let (n, from) = self.result_and_source(c, m.addresses + chunk * bytes, bytes)?;
            self.v3(c, ops::SUB_Q, n, from, base);
            if masked {
                self.only_enabled(c, chunk, n, n);
            }
            offsets.push(n);
            if chunk == 0 {
                self.v2(c, ops::MOVE, any, c.register(n));
            } else {
                self.v3(c, ops::OR, any, any, n);
            }
            if avx512 {
                // Not greater than the limit.
                self.asm.v3i(
                    ops::MASK_OF_UQ,
                    Mask::K2,
                    c.register(n),
                    c.register(limit),
                    2,
                );
                if chunk != 0 {
                    self.asm.mask(Mask::K2);
                }
            } else {
                // Greater, as signed numbers; negative ones are outside, too.
                let to = if chunk == 0 { bad } else { 6 };
                self.asm.v3(ops::GREATER_Q, ymm(to), ymm(n), ymm(limit));
                if chunk != 0 {
                    self.v3(c, ops::OR, bad, bad, to);
                }
            }
        }
        let ecx = ECX;
        if avx512 {
            self.asm.mask_to(ecx, Mask::K2);
            self.asm.cmp(ecx, 0xff);
        } else {
            self.v3(c, ops::OR, bad, bad, any);
            self.asm.v2(ops::SIGNS_PD, ecx, ymm(bad));
            self.asm.test(ecx, ecx);
        }
        self.asm.jump_if(Condition::NotEqual, slow);
        if m.align > 1 {
            let low = self.qwords(m.align - 1);
            if avx512 {
                self.asm
                    .v3(ops::MASK_OF_BITS_Q, Mask::K2, c.register(any), low);
                self.asm.mask_any(Mask::K2);
            } else {
                self.asm.v2(ops::TEST, ymm(any), low);
            }
            self.asm.jump_if(Condition::NotEqual, slow);
        }
        self.takes(match masked {
            false => Path::Scattered,
            true => Path::ScatteredMasked,
        });
        let base = R10;
        self.move_lanes(m, &Places { c, offsets, base }, masked, loaded)
    }

    /// Moves lanes, as vectors or one after the other.
    fn move_lanes(
        &mut self,
        m: &LaneMessage,
        places: &Places,
        masked: bool,
        loaded: &Loaded,
    ) -> Done {
        match Self::is_vector(m) {
            true => self.move_chunks(m, places, masked, loaded),
            false => self.each_lane(m, places, masked),
        }
    }
}
