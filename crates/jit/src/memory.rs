//! Machine code for loads and stores of all lanes.
//!
//! Addresses are checked as vectors before anything is read or written. Everything the code does not handle (lanes in
//! different buffers, an address outside or not aligned, too few lanes) is left to the interpreter, which runs the
//! whole step, or finds the fault.

use crate::Features;
use crate::access::Places;
use crate::elements::{first_of, is_qwords, stride_of};
use crate::kept::Content;
use crate::linear::Recipe;
use crate::path::Path;
use crate::pending::Holder;
use crate::run::row_of;
use crate::vector::{Chunks, Done, MASK, NoTemplate, Writer};
use crate::x64::{EAX, ECX, Label, RAX, RDX};
use visakit_exec::code::{Element, LaneMessage, LaneSpace};
use visakit_isa::DataType;

/// Registers that a load fills, with what they hold afterwards. Bytes that have none go through the file alone.
pub(crate) type Loaded = Vec<(u32, Content)>;

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

    /// Registers for the elements of a message, if they are moved as vectors.
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
        let checked = if m.space == LaneSpace::Global {
            if m.mask != u64::MAX {
                return Err(NoTemplate);
            }
            self.buffer();
            let checked = self.check_in_buffer(0, bytes, m.align, slow)?;
            self.takes(Path::Block);
            checked
        } else {
            if m.mask != u64::MAX {
                // The upper half becomes zero, too.
                let mask = u32::try_from(m.mask).map_err(|_| NoTemplate)?;
                self.asm.and(EAX, mask);
            }
            let checked = self.check_in_window(m.space, bytes, m.align, slow)?;
            self.takes(Path::BlockWindow);
            checked
        };
        if packed {
            let bytes = usize::try_from(bytes).map_err(|_| NoTemplate)?;
            let to = if m.store {
                Vec::new()
            } else {
                self.registers_for(m.data, bytes, 0)
            };
            self.copy(checked, m.store, m.data, bytes, &to)?;
            return Ok(to);
        }
        self.takes(Path::BlockElements);
        let checked = self.move_checked(checked, RDX);
        self.asm.xor(ECX, ECX);
        self.one_lane(m, &m.parts, checked)?;
        Ok(Vec::new())
    }

    /// Shared local memory, or a surface, at addresses of 32 bits.
    fn window_lanes(
        &mut self,
        m: &LaneMessage,
        masked: bool,
        slow: Label,
    ) -> Result<Loaded, NoTemplate> {
        let places = self.check_window_lanes(m, masked, slow)?;
        self.takes(match (m.space, masked) {
            (LaneSpace::Local, false) => Path::Local,
            (LaneSpace::Local, true) => Path::LocalMasked,
            (_, false) => Path::Surface,
            (_, true) => Path::SurfaceMasked,
        });
        let loaded = self.loaded_registers(m, 0);
        self.move_lanes(m, &places, masked, &loaded)?;
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
        self.first_of(recipe, slow)?;
        self.add_to_address(m)?;
        self.buffer();
        let loaded = self.loaded_registers(m, 0);
        if let Some(row) = row_of(m) {
            self.global_row(m, row, &loaded, slow)?;
        } else {
            let stride = stride_of(m).ok_or(NoTemplate)?;
            let first = u32::try_from(first_of(m)).map_err(|_| NoTemplate)?;
            let bytes = (stride * m.lanes) as u64;
            let checked = self.check_in_buffer(first, bytes, m.align, slow)?;
            self.move_rows(m, (checked, stride), &loaded)?;
            self.takes(Path::LinearSeveral);
        }
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
        let checked = self.check_in_buffer(memory, bytes as u64, m.align, slow)?;
        match extended {
            None => self.copy(checked, m.store, m.data, bytes, loaded),
            Some(ty) => {
                self.takes(Path::RunExtended);
                self.extend(checked, m, ty)
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
        let mut places = self.check_buffer_lanes(c, m, masked, slow)?;
        self.takes(match masked {
            false => Path::Scattered,
            true => Path::ScatteredMasked,
        });
        let large = self.asm.label();
        // AVX2 gathers, but does not scatter; it stores what follows each other.
        let is_whole =
            !m.store || self.features == Features::Avx512 || stride_of(m).is_some() && !masked;
        let narrow = match (Self::is_vector(m) || is_qwords(m)) && is_whole {
            true => self.narrow_places(&places, masked, large)?,
            false => None,
        };
        let Some(narrow) = narrow else {
            return self.move_lanes(m, &places, masked, loaded);
        };
        self.move_lanes(m, &narrow, masked, loaded)?;
        let done = self.asm.label();
        self.asm.jump(done);
        self.asm.place(large);
        self.takes(Path::Large);
        places.is_large = true;
        self.move_lanes(m, &places, masked, loaded)?;
        self.asm.place(done);
        Ok(())
    }

    /// Moves lanes, as vectors or one after the other.
    fn move_lanes(
        &mut self,
        m: &LaneMessage,
        places: &Places,
        masked: bool,
        loaded: &Loaded,
    ) -> Done {
        if Self::is_vector(m) {
            self.move_chunks(m, places, masked, loaded)
        } else if self.is_of_qwords(m, places) {
            self.move_qwords(m, places, masked)
        } else {
            self.each_lane(m, places, masked)
        }
    }
}
