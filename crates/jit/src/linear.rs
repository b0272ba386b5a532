//! Addresses that grow by the same number from lane to lane, because of how they are computed: sums, shifts and
//! extensions of one vector of numbers that follow each other, such as local identifiers.
//!
//! A segment with messages at such addresses has a further form for full masks, which begins with looking at that
//! vector. In it the address of the first lane is computed as a number, and vectors that nothing but such messages reads
//! are not computed at all, except where the interpreter runs a message.

use crate::assembler::{Label, Operand};
use crate::flow::{Compiler, Counts};
use crate::kept::Content;
use crate::load::widening;
use crate::ops;
use crate::pending::meet;
use crate::run::row_of;
use crate::vector::{Chunks, Done, NoTemplate, Writer, xmm, ymm};
use iced_x86::{Code as Op, Register};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use visakit_exec::code::{
    Action, Code, Compute, Lane, LaneMessage, LaneSpace, Liveness, Modify, Operation, Region,
    Source, Step, Target,
};
use visakit_isa::DataType;

use Register::{EAX, ECX, RAX};

/// The vector of numbers that follow each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Root {
    offset: usize,
    /// Bytes of an element: 2 or 4.
    size: usize,
    lanes: usize,
}

impl Root {
    fn bytes(&self) -> Range<usize> {
        self.offset..self.offset + self.size * self.lanes
    }
}

/// How a vector is computed from the root: with numbers that are added to elements of 32 bits, then extended, then
/// shifted, then with numbers that are added to elements of 64 bits.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    words: Vec<usize>,
    /// Whether they are extended, and with their sign.
    signed: Option<bool>,
    shift: u32,
    longs: Vec<usize>,
    /// The steps that compute it, in order.
    steps: Vec<usize>,
}

impl Recipe {
    /// The numbers that are added.
    fn numbers(&self) -> impl Iterator<Item = Range<usize>> {
        let words = self.words.iter().map(|at| *at..at + 4);
        words.chain(self.longs.iter().map(|at| *at..at + 8))
    }
}

/// What is known of a segment.
#[derive(Clone, Debug)]
pub(crate) struct Linear {
    pub(crate) root: Root,
    /// The messages, by their steps, and their addresses.
    messages: BTreeMap<usize, Recipe>,
    /// Steps that are not computed.
    pub(crate) deferred: BTreeSet<usize>,
}

/// Most steps of a segment that is looked at: each is compared with those after it.
const MOST_STEPS: usize = 128;

/// The messages of a segment whose addresses are known to follow each other if a vector does.
pub(crate) fn linear(
    code: &Code,
    live: &Liveness,
    full: u32,
    steps: Range<usize>,
) -> Option<Linear> {
    if live.includes_end() || steps.len() > MOST_STEPS {
        return None;
    }
    let lanes = full.count_ones() as usize;
    let mut search = Search {
        code,
        lanes,
        root: None,
        known: Vec::new(),
        written: Vec::new(),
    };
    let mut messages = BTreeMap::new();
    for place in steps.clone() {
        let step = code.steps.get(place)?;
        if let Action::Message(message) = &step.action
            && step.predicate.is_none()
            && let Some(message) = message.lanes()
            && let Some(recipe) = search.message(&message)
        {
            messages.insert(place, recipe);
        }
        search.step(place, step)?;
    }
    let root = search.root?;
    let mut walk = live.walk(code, steps.start)?;
    walk.go(steps.end);
    let is_live = |bytes: &Range<usize>| walk.live().any(bytes) || live.anywhere().any(bytes);
    let deferred = deferred(code, &steps, &messages, is_live);
    (!messages.is_empty()).then_some(Linear {
        root,
        messages,
        deferred,
    })
}

/// What a computation writes, if it is all of a vector.
fn whole(step: &Step) -> Option<Range<usize>> {
    let Action::Compute(compute) = &step.action else {
        return None;
    };
    let to = &compute.destination;
    let is_whole = step.predicate.is_none()
        && to.target == Target::Packed
        && !to.saturate
        && !to.data_type.is_float()
        && compute.second.is_none()
        && compute.sets.is_none();
    let bytes = usize::from(step.lanes.count) * usize::from(to.data_type.size());
    is_whole.then_some(to.offset..to.offset + bytes)
}

/// The steps of recipes whose results nothing but these messages needs.
fn deferred(
    code: &Code,
    steps: &Range<usize>,
    messages: &BTreeMap<usize, Recipe>,
    is_live: impl Fn(&Range<usize>) -> bool,
) -> BTreeSet<usize> {
    let candidates: BTreeSet<usize> = messages
        .values()
        .flat_map(|recipe| recipe.steps.iter().copied())
        .collect();
    let mut deferred = BTreeSet::new();
    for place in candidates.into_iter().rev() {
        let Some(result) = code.steps.get(place).and_then(whole) else {
            continue;
        };
        // One of its elements may be a number that is added.
        let mut numbers = messages.values().flat_map(Recipe::numbers);
        if numbers.any(|number| meet(&number, &result)) {
            continue;
        }
        let mut replaced = false;
        let needed = (place + 1..steps.end).any(|other| {
            let Some(step) = code.steps.get(other).filter(|_| !replaced) else {
                return false;
            };
            let own = match messages.get(&other) {
                // It reads its addresses as what they are.
                Some(_) => match &step.action {
                    Action::Message(message) => message.lanes().map(|message| message.addresses),
                    _ => None,
                },
                None => None,
            };
            let mut reads = step.read();
            reads.retain(|bytes| Some(bytes.start) != own);
            if !deferred.contains(&other) && reads.iter().any(|bytes| meet(bytes, &result)) {
                return true;
            }
            let Some(written) = step.written() else {
                return true;
            };
            // Without a predicate all lanes are written here.
            let is_whole = whole(step).is_some()
                || matches!(&step.action, Action::Message(m) if m.lanes().is_some());
            let covers =
                |bytes: &Range<usize>| bytes.start <= result.start && result.end <= bytes.end;
            replaced = is_whole && step.predicate.is_none() && written.iter().any(covers);
            false
        });
        if !needed && (replaced || !is_live(&result)) {
            deferred.insert(place);
        }
    }
    deferred
}

/// Follows the vectors that are computed from the root.
struct Search<'c> {
    code: &'c Code,
    lanes: usize,
    root: Option<Root>,
    known: Vec<(Range<usize>, Recipe)>,
    /// What the segment has written so far.
    written: Vec<Range<usize>>,
}

impl Search<'_> {
    /// The addresses of a message, if they are known and elements follow each other.
    fn message(&self, m: &LaneMessage) -> Option<Recipe> {
        let addresses = m.addresses..m.addresses + 8 * m.lanes;
        let (_, recipe) = self.known.iter().find(|(bytes, _)| *bytes == addresses)?;
        let is_row = m.space == LaneSpace::Global
            && m.width == 8
            && m.lanes == self.lanes
            && m.mask == u64::MAX
            && row_of(m).is_some()
            && 1usize.checked_shl(recipe.shift) == Some(m.element.memory);
        // Its own data are not its addresses.
        let data = m.data..m.data + m.element.register * m.lanes;
        (is_row && !meet(&data, &addresses)).then(|| recipe.clone())
    }

    /// `None` if it is not known what a step writes.
    fn step(&mut self, place: usize, step: &Step) -> Option<()> {
        let recipe = self.recipe(place, step);
        for bytes in step.written()? {
            self.known.retain(|(known, recipe)| {
                !meet(known, &bytes) && !recipe.numbers().any(|number| meet(&number, &bytes))
            });
            if self
                .root
                .as_ref()
                .is_some_and(|root| meet(&root.bytes(), &bytes))
            {
                self.known.clear();
            }
            self.written.push(bytes);
        }
        if let (Some(recipe), Some(to), Some(root)) = (recipe, whole(step), &self.root) {
            // It is computed again from these.
            let inputs = recipe.numbers().chain([root.bytes()]);
            if !inputs.into_iter().any(|input| meet(&input, &to)) {
                self.known.push((to, recipe));
            }
        }
        Some(())
    }

    /// How a step computes its result from the root.
    fn recipe(&mut self, place: usize, step: &Step) -> Option<Recipe> {
        let Action::Compute(compute) = &step.action else {
            return None;
        };
        whole(step)?;
        let size = usize::from(compute.destination.data_type.size());
        if usize::from(step.lanes.count) != self.lanes || step.lanes.first != 0 {
            return None;
        }
        let sources = compute.sources.iter().take(compute.operation.sources());
        let is_vector = |source: &&Source| source.region == Region::Packed;
        let mut vectors = sources.clone().filter(is_vector);
        let (Some(vector), None) = (vectors.next(), vectors.next()) else {
            return None;
        };
        let mut recipe = self.of(vector)?;
        let numbers: Vec<&Source> = sources.filter(|source| !is_vector(source)).collect();
        let from = usize::from(vector.data_type.size());
        match (compute.operation, compute.lane) {
            (Operation::Copy, Lane::U32) if size == 4 => {}
            (Operation::Add | Operation::Add3, Lane::U32)
                if size == 4 && from == 4 && recipe.signed.is_none() =>
            {
                for number in numbers {
                    recipe.words.push(added(number, 4)?);
                }
            }
            (Operation::Copy, Lane::U64) if size == 8 && from == 4 && recipe.signed.is_none() => {
                recipe.signed = Some(vector.data_type.is_signed());
            }
            (Operation::Shl, Lane::U64)
                if size == 8 && from == 8 && recipe.signed.is_some() && recipe.longs.is_empty() =>
            {
                recipe.shift += self.count(compute)?;
            }
            (Operation::Add, Lane::U64) if size == 8 && from == 8 && recipe.signed.is_some() => {
                for number in numbers {
                    recipe.longs.push(added(number, 8)?);
                }
            }
            _ => return None,
        }
        recipe.steps.push(place);
        Some(recipe)
    }

    /// How a vector is computed; from itself, if it may be the root.
    fn of(&mut self, vector: &Source) -> Option<Recipe> {
        if vector.modify != Modify::None || vector.data_type.is_float() || vector.constant.is_some()
        {
            return None;
        }
        let size = usize::from(vector.data_type.size());
        let bytes = vector.offset..vector.offset + size * self.lanes;
        if let Some((_, recipe)) = self.known.iter().find(|(known, _)| *known == bytes) {
            return Some(recipe.clone());
        }
        let own = Root {
            offset: vector.offset,
            size,
            lanes: self.lanes,
        };
        // Words are extended with zeros, as they are read.
        let is_number = size == 4 || size == 2 && !vector.data_type.is_signed();
        let is_root = is_number
            && matches!(self.lanes, 16 | 32)
            && !self.written.iter().any(|written| meet(written, &bytes));
        if !is_root || *self.root.get_or_insert_with(|| own.clone()) != own {
            return None;
        }
        Some(Recipe {
            words: Vec::new(),
            signed: None,
            shift: 0,
            longs: Vec::new(),
            steps: Vec::new(),
        })
    }

    /// The number of bits of a shift that is part of the program.
    fn count(&self, compute: &Compute) -> Option<u32> {
        let [_, count, ..] = &compute.sources;
        count.constant?;
        let (_, bytes) = self
            .code
            .constants
            .iter()
            .find(|(at, _)| *at == count.offset)?;
        let count = u64::from_le_bytes(*bytes.first_chunk()?);
        u32::try_from(count).ok().filter(|count| *count < 8)
    }
}

/// The place of a number with this many bytes that is added to each element.
fn added(source: &Source, bytes: usize) -> Option<usize> {
    let is_plain = source.region == Region::Scalar
        && source.modify == Modify::None
        && !source.data_type.is_float()
        && (source.constant.is_some() || usize::from(source.data_type.size()) == bytes);
    is_plain.then_some(source.offset)
}

impl Compiler<'_> {
    /// A step that is computed where the interpreter needs it. What it reads is in the file then.
    pub(crate) fn defer(&mut self, step: &Step, counts: &mut Counts) {
        counts.instructions += 1;
        counts.lanes += u32::from(step.lanes.count);
        for bytes in step.read() {
            self.writer.need_bytes(&bytes);
        }
        if let Some(bytes) = whole(step) {
            self.writer.certain = true;
            self.writer.overwritten(bytes.start, bytes.len());
        }
    }

    /// Numbers that a step adds to addresses are in the file when messages need them.
    pub(crate) fn keep_numbers(&mut self, place: usize) {
        let recipes = self.linear.iter().flat_map(|plan| plan.messages.values());
        for recipe in recipes.filter(|recipe| recipe.steps.contains(&place)) {
            for number in recipe.numbers() {
                self.writer.need_bytes(&number);
            }
        }
    }

    /// Computes the addresses of a message for the interpreter.
    pub(crate) fn compute_addresses(&mut self, place: usize) {
        let step = self.code.steps.get(place);
        let linear = self.linear.as_ref().and_then(|plan| plan.message(place));
        if let (Some((root, recipe)), Some(Action::Message(message))) =
            (linear, step.map(|step| &step.action))
        {
            let to = message.lanes().map(|message| message.addresses);
            let done = to.ok_or(NoTemplate);
            let done = done.and_then(|to| self.writer.addresses(root, recipe, to));
            if done.is_err() {
                self.writer.asm.give_up();
            }
        }
    }

    /// What is known of a segment.
    pub(crate) fn find_linear(&self, steps: Range<usize>) -> Option<Linear> {
        linear(self.code, self.live?, self.full, steps)
    }
}

impl Linear {
    /// The root and the addresses of a message.
    pub(crate) fn message(&self, place: usize) -> Option<(&Root, &Recipe)> {
        Some((&self.root, self.messages.get(&place)?))
    }
}

impl Writer {
    /// Goes on if the elements of the root follow each other.
    pub(crate) fn is_root(&mut self, root: &Root, otherwise: Label) -> Done {
        let (broadcast, subtract) = match root.size {
            2 => (
                Op::VEX_Vpbroadcastw_ymm_xmmm16,
                Op::VEX_Vpsubw_ymm_ymm_ymmm256,
            ),
            _ => (
                Op::VEX_Vpbroadcastd_ymm_xmmm32,
                Op::VEX_Vpsubd_ymm_ymm_ymmm256,
            ),
        };
        let first = self.file(root.offset, 4)?;
        self.asm.op2(broadcast, ymm(0), first);
        let elements = 32 / root.size;
        for (number, part) in root.bytes().step_by(32).enumerate() {
            let first = number * elements;
            let number_of = |element: usize| u32::try_from(first + element).unwrap_or(0);
            let steps = match root.size {
                2 => self.each_dword(|n| number_of(2 * n) | number_of(2 * n + 1) << 16),
                _ => self.each_dword(number_of),
            };
            let there = self.file(part, 32)?;
            self.load_bytes(1, there, 32)?;
            self.asm.op3(subtract, ymm(1), ymm(1), steps);
            let to = if number == 0 { 2 } else { 1 };
            let differ = Op::VEX_Vpxor_ymm_ymm_ymmm256;
            self.asm.op3(differ, ymm(to), ymm(1), ymm(0));
            if number != 0 {
                self.asm
                    .op3(Op::VEX_Vpor_ymm_ymm_ymmm256, ymm(2), ymm(2), ymm(1));
            }
        }
        self.asm.op2(Op::VEX_Vptest_ymm_ymmm256, ymm(2), ymm(2));
        self.asm.jump(Op::Jne_rel32_64, otherwise);
        Ok(())
    }

    /// The address of the first lane in `rax`. Goes to `slow` where lanes do not follow each other, as numbers of 32 bits
    /// begin anew in between. Clobbers `rcx`.
    pub(crate) fn first_of(&mut self, root: &Root, recipe: &Recipe, slow: Label) -> Done {
        let first = self.file(root.offset, root.size)?;
        let load = match root.size {
            2 => Op::Movzx_r32_rm16,
            _ => Op::Mov_r32_rm32,
        };
        self.asm.op2(load, EAX, first);
        for at in &recipe.words {
            let number = self.number(*at, 4)?;
            self.asm.op2(Op::Add_r32_rm32, EAX, number);
        }
        let last = u32::try_from(root.lanes - 1).map_err(|_| NoTemplate)?;
        let most = match recipe.signed {
            Some(true) => i32::MAX.cast_unsigned(),
            _ => u32::MAX,
        };
        self.asm.op1i(Op::Cmp_rm32_imm32, EAX, most - last);
        self.asm.jump(Op::Ja_rel32_64, slow);
        if recipe.shift != 0 {
            self.asm.op1i(Op::Shl_rm64_imm8, RAX, recipe.shift);
        }
        for at in &recipe.longs {
            let number = self.number(*at, 8)?;
            self.asm.op2(Op::Add_r64_rm64, RAX, number);
        }
        Ok(())
    }

    /// Writes all addresses to the register file.
    fn addresses(&mut self, root: &Root, recipe: &Recipe, to: usize) -> Done {
        let c = Chunks::new(self.features, 8, root.lanes);
        let dwords = c.halved();
        for chunk in 0..c.count {
            let from = self.place(
                root.offset + chunk * c.lanes * root.size,
                c.lanes * root.size,
            )?;
            let load = match root.size {
                2 => Op::VEX_Vpmovzxwd_ymm_xmmm128,
                _ => Op::VEX_Vmovdqu_ymm_ymmm256,
            };
            if c.zmm {
                self.asm.op2(load, ymm(0), from);
            } else {
                // Half of a vector, no byte more.
                self.load_bytes(0, from, c.lanes * root.size)?;
                if root.size == 2 {
                    self.asm.op2(load, ymm(0), xmm(0));
                }
            }
            for at in &recipe.words {
                let number = self.place(*at, 4)?;
                self.v2(dwords, ops::BROADCAST_D, 1, number);
                self.v3(dwords, ops::ADD_D, 0, 0, 1);
            }
            let half = if c.zmm { ymm(0) } else { xmm(0) };
            let ty = match recipe.signed {
                Some(true) => DataType::D,
                _ => DataType::Ud,
            };
            let extend = widening(ty, 8).ok_or(NoTemplate)?;
            self.v2(c, extend, 0, half);
            if recipe.shift != 0 {
                self.v2i(c, ops::SHL_Q_IMM, 0, c.register(0), recipe.shift);
            }
            for at in &recipe.longs {
                let number = self.place(*at, 8)?;
                self.v2(c, ops::BROADCAST_Q, 1, number);
                self.v3(c, ops::ADD_Q, 0, 0, 1);
            }
            let bytes = 8 * c.lanes;
            let there = self.place(to + chunk * bytes, bytes)?;
            self.store_bytes(there, 0, bytes)?;
        }
        Ok(())
    }

    /// A number of the register file: in `rcx`, if a vector register holds it.
    fn number(&mut self, offset: usize, bytes: usize) -> Result<Operand, NoTemplate> {
        let one = Chunks::new(self.features, bytes, 1);
        let Some(n) = self.find(one, Content::Bytes { offset, bytes }) else {
            return Ok(self.file(offset, bytes)?.into());
        };
        if bytes == 4 {
            self.asm.op2(Op::VEX_Vmovd_rm32_xmm, ECX, xmm(n));
            return Ok(ECX.into());
        }
        self.asm.op2(Op::VEX_Vmovq_rm64_xmm, Register::RCX, xmm(n));
        Ok(Register::RCX.into())
    }
}
