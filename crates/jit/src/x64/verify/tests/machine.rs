//! A host that computes what instructions do, and looks at all that they access.

use super::super::state::{MASKS, VECTORS};
use super::super::tables::low;
use super::*;
use iced_x86::{Instruction, OpKind, Register};

/// What a register is.
pub(super) trait Named: Copy {
    /// Its number among those of its size.
    fn number(self) -> usize;
    /// Its bytes; 2 of a mask.
    fn size(self) -> usize;
    /// The register of 64 bits, or of 32, that it is a part of.
    fn full_register(self) -> Register;
    fn full_register32(self) -> Register;
}

impl Named for Register {
    fn number(self) -> usize {
        match slot(self).unwrap() {
            n if n < VECTORS => n,
            n if n < MASKS => n - VECTORS,
            n => n - MASKS,
        }
    }

    fn size(self) -> usize {
        match self {
            n if n.is_gpr8() => 1,
            n if n.is_gpr16() || n.is_k() => 2,
            n if n.is_gpr32() => 4,
            n if n.is_gpr64() => 8,
            n if n.is_xmm() => 16,
            n if n.is_ymm() => 32,
            _ => 64,
        }
    }

    fn full_register(self) -> Register {
        match self.is_gpr() {
            true => Register::RAX + u32::try_from(self.number()).unwrap(),
            false => self,
        }
    }

    fn full_register32(self) -> Register {
        Register::EAX + u32::try_from(self.number()).unwrap()
    }
}

/// What code did that it must not do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Stop {
    /// It ended as it should, or was not done after many instructions.
    Ended,
    /// It has an instruction that is not computed here.
    Unknown,
    Unsafe(String),
}

/// Numbers that follow from one number.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    pub(super) fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// A number that may well be at an end of something.
    pub(super) fn number(&mut self) -> u64 {
        let region = self.below(5) as u64;
        let low = self.one(&[0, 1, 4, 7, 8, 28, 31, 32, 60, 63, 64, 96, 0xff, 0x100]);
        match self.below(5) {
            0 => self.next(),
            1 => self.one(&[u64::MAX, 1 << 31, 0x7fff_ffff, 0xffff_ffff, 1 << 63, !3]),
            2 => region << 32 | low,
            3 => low << 32 | self.below(64) as u64,
            _ => low,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Area {
    Shared,
    File,
    Constants,
    /// Memory of the kernel.
    Lent,
    /// Where that is.
    Regions,
}

struct Bytes {
    area: Area,
    start: u64,
    /// How many there are.
    count: u64,
    /// The first of them; what is stored in others is lost.
    bytes: Vec<u8>,
}

/// Bytes of a region that offsets of 32 bits do not reach.
const LARGE: u64 = 6 << 32;

/// The address of code, and of a function.
pub(super) const CODE: u64 = 0xc0de;
const FUNCTIONS: u64 = 0xf000;

pub(super) struct Machine<'a> {
    random: &'a mut Random,
    frame: Frame,
    memory: Vec<Bytes>,
    pub(super) numbers: [u64; 16],
    pub(super) vectors: [[u8; 64]; 32],
    pub(super) masks: [u64; 8],
    pub(super) stack: Vec<u64>,
    pub(super) saved: [u64; 16],
    pub(super) carry: bool,
    pub(super) zero: bool,
    sign: bool,
    overflow: bool,
    /// Where memory is next.
    next: u64,
}

pub(super) type Step<T> = Result<T, Stop>;

pub(super) fn bad<T>(what: impl Into<String>) -> Step<T> {
    Err(Stop::Unsafe(what.into()))
}

impl<'a> Machine<'a> {
    /// A host that enters code at a label that is no end.
    pub(super) fn new(random: &'a mut Random) -> Self {
        let mut machine = Self {
            frame: frame(),
            memory: Vec::new(),
            numbers: [0; 16],
            vectors: [[0; 64]; 32],
            masks: [0; 8],
            stack: Vec::new(),
            saved: [0; 16],
            carry: false,
            zero: false,
            sign: false,
            overflow: false,
            next: 1 << 40,
            random,
        };
        machine.forget();
        machine.saved = machine.numbers;
        let saved = machine.saved;
        machine.stack = SAVED.iter().map(|register| saved[*register]).collect();
        machine.stack.push(0);
        let threads = 1 + machine.random.below(3);
        let size = field::FIRST + threads as i64 * field::THREAD_BYTES;
        let shared = machine.lend(Area::Shared, vec![0; usize::try_from(size).unwrap()]);
        for thread in 0..threads as i64 {
            let at = |place: i64| shared + (place + thread * field::THREAD_BYTES) as u64;
            let file = machine.file();
            machine.put(at(field::THREAD_FILE), file);
            machine.put(at(field::THREAD_CODE), CODE);
            let lanes = machine.random.next() & 0xff;
            machine.put(at(field::THREAD_LANES), lanes);
            let follows = thread + 1 < threads as i64;
            let companion = if follows {
                machine.random.one(&[0, CODE])
            } else {
                0
            };
            machine.put(at(field::THREAD_OWN + 24), companion);
        }
        let at = |place: i64| shared + place as u64;
        for lane in 0..32 {
            let anything = machine.random.number();
            machine.put(at(field::LANES + 8 * lane), anything);
        }
        let current = machine.random.below(threads) as u64;
        let file = machine.file();
        let constants = machine.lend(Area::Constants, constants());
        let own = machine.get(at(field::THREAD_OWN + 24) + current * 64);
        for (place, number) in [
            (field::FILE, file),
            (field::CONSTANTS, constants),
            (field::CODE, CODE),
            (field::RUNNING, 0x5a),
            (field::COMPANION, own),
            (field::FOLLOWER, (current + 1) * 64),
            (field::FOLLOWERS_END, threads as u64 * 64),
            (field::FUNCTION, FUNCTIONS),
            (field::KEEPING, FUNCTIONS + 1),
            (field::SPLIT, FUNCTIONS + 2),
        ] {
            machine.put(at(place), number);
        }
        machine.move_memory();
        let [r13, r14] = [(); 2].map(|()| machine.random.one(&[0, 1, 2, 5, u64::MAX]));
        for (register, number) in [
            (RBX, file),
            (RBP, constants),
            (R12, 0x5a),
            (R13, r13),
            (R14, r14),
            (R15, shared),
        ] {
            machine.numbers[register.slot()] = number;
        }
        machine
    }

    /// Registers hold anything.
    fn forget(&mut self) {
        for n in 0..16 {
            self.numbers[n] = self.random.number();
        }
        for n in 0..32 {
            for byte in &mut self.vectors[n] {
                *byte = self.random.next() as u8;
            }
        }
        for n in 0..8 {
            self.masks[n] = self.random.next() & 0xffff;
        }
        [self.carry, self.zero, self.sign, self.overflow] =
            [(); 4].map(|()| self.random.below(2) == 0);
    }

    fn lend(&mut self, area: Area, bytes: Vec<u8>) -> u64 {
        let start = self.next;
        self.next += 1 << 36;
        let count = bytes.len() as u64;
        self.memory.push(Bytes {
            area,
            start,
            count,
            bytes,
        });
        start
    }

    fn file(&mut self) -> u64 {
        // Vectors of it are inside of memory only if all of them are small.
        let is_small = self.random.below(2) == 0;
        let number = |random: &mut Random| match is_small {
            true => random.one(&[0, 1, 4]) | random.one(&[0, 0, 4 << 32, 1 << 31]),
            false => random.number(),
        };
        let numbers: Vec<u64> = (0..FILE_BYTES / 8).map(|_| number(self.random)).collect();
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
        self.lend(Area::File, bytes.collect())
    }

    /// Regions of memory, and a table of them.
    fn regions(&mut self, count: usize) -> u64 {
        let mut table = Vec::new();
        for number in 0..count as u64 {
            let sizes = [0, 1, 3, 4, 8, 31, 32, 64, 96, LARGE, LARGE];
            let count = self.random.one(&sizes);
            let storage = self.lend(Area::Lent, vec![0; count.min(96) as usize]);
            self.memory.last_mut().unwrap().count = count;
            table.extend([number << 32, count, storage, 0]);
        }
        let table = table.iter().flat_map(|number: &u64| number.to_le_bytes());
        let table = table.collect();
        self.lend(Area::Regions, table)
    }

    /// All that the host lends is somewhere else.
    fn move_memory(&mut self) {
        self.memory
            .retain(|own| !matches!(own.area, Area::Lent | Area::Regions));
        let bytes = self.random.one(&[0, 1, 3, 4, 5, 8, 31, 32, 64, 96]);
        let local = self.lend(Area::Lent, vec![0; bytes]);
        let storage = self.random.one(&[1, 2, 4]);
        let surfaces = self.random.below(4);
        let tables = [storage, surfaces].map(|count| self.regions(count));
        let shared = self.shared();
        for (place, number) in [
            (field::LOCAL, local),
            (field::LOCAL_BYTES, bytes as u64),
            (field::STORAGE, tables[0]),
            (field::STORAGE_MASK, storage as u64 - 1),
            (field::SURFACES, tables[1]),
            (field::SURFACE_COUNT, surfaces as u64),
        ] {
            self.put(shared + place as u64, number);
        }
    }

    pub(super) fn shared(&self) -> u64 {
        let shared = self.memory.iter().find(|own| own.area == Area::Shared);
        shared.unwrap().start
    }

    fn find(&mut self, at: u64, bytes: usize) -> Option<(Area, usize, &mut [u8])> {
        let own = self.memory.iter_mut().find(|own| {
            let first = at.wrapping_sub(own.start);
            first <= own.count && own.count - first >= bytes as u64
        })?;
        let first = usize::try_from(at - own.start).ok()?;
        let there = match first + bytes <= own.bytes.len() {
            true => first,
            false => 0,
        };
        Some((own.area, first, &mut own.bytes[there..there + bytes]))
    }

    pub(super) fn get(&mut self, at: u64) -> u64 {
        let (.., bytes) = self.find(at, 8).unwrap();
        u64::from_le_bytes(bytes.try_into().unwrap())
    }

    fn put(&mut self, at: u64, number: u64) {
        let (.., bytes) = self.find(at, 8).unwrap();
        bytes.copy_from_slice(&number.to_le_bytes());
    }

    /// Code accesses bytes.
    pub(super) fn access(&mut self, at: u64, bytes: usize, writes: bool) -> Step<&mut [u8]> {
        let frame = self.frame.clone();
        let Some((area, first, found)) = self.find(at, bytes) else {
            return bad(format!("{bytes} bytes at {at:x}"));
        };
        let is_good = match area {
            Area::File | Area::Lent => true,
            Area::Constants | Area::Regions => !writes,
            Area::Shared => (first / 8..(first + bytes).div_ceil(8)).all(|word| {
                let own = frame.fields.len();
                let threads = &frame.follower_fields;
                let field = match word.checked_sub(own) {
                    None => frame.fields[word],
                    Some(word) => threads[word % threads.len()],
                };
                match field {
                    Field::Closed => false,
                    Field::Plain | Field::File | Field::Lanes { .. } | Field::Companion => true,
                    Field::Offsets => true,
                    Field::Follower => !writes || bytes == 8,
                    _ => !writes,
                }
            }),
        };
        match is_good {
            true => Ok(found),
            false => bad(format!(
                "{area:?} {bytes} bytes at {first} (writes: {writes})"
            )),
        }
    }

    /// The host finds its data as it expects them.
    pub(super) fn is_settled(&mut self, may_be_both: bool) -> Step<()> {
        let shared = self.shared();
        let at = |place: i64| shared + place as u64;
        let mut files = vec![self.get(at(field::FILE))];
        let mut lanes = vec![self.get(at(field::OTHER_LANES))];
        let mut companions = vec![self.get(at(field::COMPANION))];
        if !may_be_both {
            lanes.extend([self.get(at(field::RUNNING)), self.get(at(field::OWN))]);
        }
        let end = self.get(at(field::FOLLOWERS_END));
        for thread in (0..end).step_by(64) {
            files.push(self.get(at(field::THREAD_FILE) + thread));
            lanes.push(self.get(at(field::THREAD_LANES) + thread));
            companions.push(self.get(at(field::THREAD_OWN + 24) + thread));
        }
        let follower = self.get(at(field::FOLLOWER));
        let is_file = |file: &u64| {
            let mut all = self.memory.iter();
            all.any(|own| own.area == Area::File && own.start == *file)
        };
        let follows = companions[0] == 0 || follower < end;
        if !files.iter().all(is_file)
            || lanes.iter().any(|lanes| *lanes > 0xff)
            || companions.iter().any(|code| !matches!(*code, 0 | CODE))
            || !follower.is_multiple_of(64)
            || !(64..=end).contains(&follower)
            || !follows
        {
            return bad("shared data are not as the host expects them");
        }
        Ok(())
    }

    /// Runs code from an item on.
    pub(super) fn run(&mut self, items: &[Item], from: Label) -> Stop {
        let place = |label: Label| {
            items
                .iter()
                .position(|item| matches!(item, Item::Label(own) if *own == label))
        };
        let mut at = place(from).unwrap();
        for _ in 0..400 {
            let done = match items.get(at) {
                None => bad("the end of the code"),
                Some(Item::Instruction(instruction)) => self.instruction(instruction),
                Some(Item::Jump(condition, target)) => {
                    let is_taken = condition.is_none_or(|condition| self.holds(condition));
                    if is_taken {
                        at = place(*target).unwrap();
                    }
                    Ok(())
                }
                Some(Item::Label(_) | Item::Note(_) | Item::Removed) => Ok(()),
            };
            if let Err(stop) = done {
                return match stop {
                    Stop::Unsafe(what) => Stop::Unsafe(format!("item {at}: {what}")),
                    stop => stop,
                };
            }
            at += 1;
        }
        Stop::Ended
    }

    pub(super) fn holds(&mut self, condition: Condition) -> bool {
        match condition {
            Condition::Overflow => self.overflow,
            Condition::Below => self.carry,
            Condition::AboveOrEqual => !self.carry,
            Condition::Equal => self.zero,
            Condition::NotEqual => !self.zero,
            Condition::BelowOrEqual => self.carry || self.zero,
            Condition::Above => !self.carry && !self.zero,
            Condition::Parity => self.random.below(2) == 0,
            Condition::Less => self.sign != self.overflow,
            Condition::GreaterOrEqual => self.sign == self.overflow,
            Condition::LessOrEqual => self.zero || self.sign != self.overflow,
            Condition::Greater => !self.zero && self.sign == self.overflow,
        }
    }

    pub(super) fn register(&self, register: Register) -> Step<u64> {
        let number = match register.full_register() {
            Register::RSP => return bad("the stack is read"),
            whole if whole.is_gpr64() => self.numbers[whole.number()],
            _ => return Ok(self.masks[register.number()]),
        };
        Ok(number & low(register.size().min(8)))
    }

    /// The address of a place; of a lane, if there is a vector of indices.
    pub(super) fn address(&self, i: &Instruction, lane: Option<(usize, usize)>) -> Step<u64> {
        let base = self.register(i.memory_base())?;
        let index = match (i.memory_index(), lane) {
            (Register::None, _) => 0,
            (index, Some((lane, size))) => {
                let bytes = &self.vectors[index.number()][lane * size..];
                match size {
                    4 => i64::from(i32::from_le_bytes(bytes[..4].try_into().unwrap())) as u64,
                    _ => u64::from_le_bytes(bytes[..8].try_into().unwrap()),
                }
            }
            (index, None) => self.register(index)?,
        };
        let scaled = index.wrapping_mul(i.memory_index_scale().into());
        let sum = base.wrapping_add(scaled);
        let sum = sum.wrapping_add(i.memory_displacement64());
        match i.memory_base().size() {
            8 => Ok(sum),
            _ => Ok(sum & 0xffff_ffff),
        }
    }

    pub(super) fn load(&mut self, i: &Instruction) -> Step<Vec<u8>> {
        let at = self.address(i, None)?;
        Ok(self.access(at, i.memory_size().size(), false)?.to_vec())
    }

    /// An operand that is a number.
    pub(super) fn number(&mut self, i: &Instruction, operand: u32) -> Step<u64> {
        match i.op_kind(operand) {
            OpKind::Register => self.register(i.op_register(operand)),
            OpKind::Memory => {
                let mut bytes = self.load(i)?;
                bytes.resize(8, 0);
                Ok(u64::from_le_bytes(bytes[..8].try_into().unwrap()))
            }
            _ => Ok(i.immediate(operand)),
        }
    }

    /// Writes the first operand.
    pub(super) fn write(&mut self, i: &Instruction, number: u64) -> Step<()> {
        if i.op0_kind() == OpKind::Memory {
            let at = self.address(i, None)?;
            let bytes = i.memory_size().size();
            let to = self.access(at, bytes, true)?;
            to.copy_from_slice(&number.to_le_bytes()[..bytes]);
            return Ok(());
        }
        self.set(i.op0_register(), number)
    }

    pub(super) fn set(&mut self, register: Register, number: u64) -> Step<()> {
        let to = match register.full_register() {
            Register::RSP => return bad("the stack is moved"),
            whole if whole.is_gpr64() => &mut self.numbers[whole.number()],
            _ => &mut self.masks[register.number()],
        };
        let own = low(register.size().min(8));
        *to = match register.size() {
            1 | 2 => *to & !own | number & own,
            _ => number & own,
        };
        Ok(())
    }

    pub(super) fn vector(&mut self, i: &Instruction, operand: u32) -> Step<[u8; 64]> {
        let mut found = [0; 64];
        if i.op_kind(operand) == OpKind::Memory {
            let bytes = self.load(i)?;
            found[..bytes.len()].copy_from_slice(&bytes);
        } else {
            let register = i.op_register(operand);
            let size = register.size();
            found[..size].copy_from_slice(&self.vectors[register.number()][..size]);
        }
        Ok(found)
    }

    /// Whether the mask of an instruction enables a lane.
    pub(super) fn enabled(&self, i: &Instruction, lane: usize) -> bool {
        !i.has_op_mask() || self.masks[i.op_mask().number()] >> lane & 1 != 0
    }

    /// Writes a vector of lanes of so many bytes to the first operand.
    pub(super) fn write_vector(
        &mut self,
        i: &Instruction,
        lane: usize,
        from: [u8; 64],
    ) -> Step<()> {
        if i.op0_kind() == OpKind::Memory {
            let at = self.address(i, None)?;
            let bytes = i.memory_size().size();
            let enabled: Vec<bool> = (0..bytes / lane).map(|n| self.enabled(i, n)).collect();
            let to = self.access(at, bytes, true)?;
            for (n, _) in enabled.iter().enumerate().filter(|(_, is)| **is) {
                to[n * lane..][..lane].copy_from_slice(&from[n * lane..][..lane]);
            }
            return Ok(());
        }
        let register = i.op0_register();
        let mut to = [0; 64];
        for n in 0..register.size() / lane {
            let own = n * lane..(n + 1) * lane;
            if self.enabled(i, n) {
                to[own.clone()].copy_from_slice(&from[own]);
            } else if !i.zeroing_masking() {
                to[own.clone()].copy_from_slice(&self.vectors[register.number()][own]);
            }
        }
        self.vectors[register.number()] = to;
        Ok(())
    }

    /// The flags of a result of so many bytes.
    pub(super) fn flags(&mut self, result: u64, bytes: usize) {
        self.zero = result & low(bytes) == 0;
        self.sign = result >> (8 * bytes - 1) & 1 != 0;
        (self.carry, self.overflow) = (false, false);
    }

    pub(super) fn subtract(&mut self, a: u64, b: u64, bytes: usize) -> u64 {
        let (a, b) = (a & low(bytes), b & low(bytes));
        let result = a.wrapping_sub(b) & low(bytes);
        self.flags(result, bytes);
        self.carry = a < b;
        self.overflow = (a ^ b) & (a ^ result) & 1 << (8 * bytes - 1) != 0;
        result
    }

    pub(super) fn size(i: &Instruction) -> usize {
        match i.op0_kind() {
            OpKind::Memory => i.memory_size().size(),
            _ => i.op0_register().size(),
        }
    }

    /// Whether the register files are where code expects them, before it goes on with other code.
    pub(super) fn is_ready(&mut self) -> bool {
        let file = self.numbers[RBX.slot()];
        let mut all = self.memory.iter();
        let is_file = all.any(|own| own.area == Area::File && own.start == file);
        is_file && self.numbers[R15.slot()] == self.shared() && self.numbers[R12.slot()] <= 0xff
    }

    pub(super) fn call(&mut self, function: u64) -> Step<()> {
        let shared = self.shared();
        let splits = function == FUNCTIONS + 2;
        if self.numbers[RDI.slot()] != shared || self.stack.len().is_multiple_of(2) {
            return bad("a call without its argument");
        }
        if !(FUNCTIONS..FUNCTIONS + 3).contains(&function) {
            return bad("a call of no function");
        }
        self.is_settled(splits)?;
        let kept = SAVED.map(|register| self.numbers[register]);
        let at = |place: i64| shared + place as u64;
        if function != FUNCTIONS + 1 {
            let old = self.get(at(field::FILE));
            let is_of_thread = (0..self.get(at(field::FOLLOWERS_END)))
                .step_by(64)
                .any(|thread| self.get(at(field::THREAD_FILE) + thread) == old);
            if !is_of_thread {
                self.memory.retain(|own| own.start != old);
            }
            let file = self.file();
            self.put(at(field::FILE), file);
        }
        if splits {
            for place in [field::RUNNING, field::OWN] {
                let lanes = self.get(at(place));
                self.put(at(place), lanes & 0xff);
            }
        }
        // The host knows better which threads follow.
        let follower = self.get(at(field::FOLLOWER));
        self.put(at(field::FOLLOWERS_END), follower);
        self.put(at(field::COMPANION), 0);
        self.move_memory();
        self.forget();
        for (register, number) in SAVED.into_iter().zip(kept) {
            self.numbers[register] = number;
        }
        if splits {
            self.numbers[RAX.slot()] = CODE;
        }
        Ok(())
    }
}

pub(super) fn lane_of(vector: &[u8; 64], n: usize, size: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes[..size].copy_from_slice(&vector[n * size..][..size]);
    u64::from_le_bytes(bytes)
}
