//! Launches with unusual metadata, grids and arguments.

use crate::made::made;
use visakit_exec::Limits;
use visakit_isa::object::RoutineKind;
use visakit_launch::{
    AddrMode, ArgType, Argument, Config, Kernel, NdRange, PayloadArgument, ZeInfo,
};
use visakit_parse as parse;

/// Sizes, offsets and counts: ordinary ones, and those at which something overflows.
const NUMBERS: [u32; 20] = [
    0,
    1,
    2,
    4,
    8,
    16,
    32,
    33,
    64,
    96,
    128,
    1000,
    4096,
    65_535,
    1 << 20,
    1_000_000_000,
    1 << 31,
    u32::MAX - 63,
    u32::MAX - 1,
    u32::MAX,
];

/// Pieces of a payload.
const PIECES: [&str; 13] = [
    "global_id_offset",
    "local_size",
    "enqueued_local_size",
    "global_size",
    "group_count",
    "private_base_stateless",
    "printf_buffer",
    "arg_byvalue",
    "arg_bypointer",
    "buffer_size",
    "buffer_offset",
    "image_width",
    "const_base",
];

/// Draws from the input, again and again.
struct Draw<'d> {
    data: &'d [u8],
    at: usize,
}

impl Draw<'_> {
    fn byte(&mut self) -> u8 {
        // From the end: the beginning shapes the object.
        let count = self.data.len().max(1);
        let from = self.data.iter().rev().nth(self.at % count);
        let round = u8::try_from(self.at / count % 251).unwrap_or(0);
        self.at += 1;
        from.copied().unwrap_or(0).wrapping_add(round)
    }

    fn of<T: Copy>(&mut self, list: &[T], default: T) -> T {
        let number = usize::from(self.byte());
        list.get(number % list.len().max(1))
            .copied()
            .unwrap_or(default)
    }

    fn number(&mut self) -> u32 {
        self.of(&NUMBERS, 0)
    }

    /// One that is plausible fifteen times in sixteen, so that launches come further.
    fn or(&mut self, plausible: u32) -> u32 {
        if self.byte().is_multiple_of(16) {
            self.number()
        } else {
            plausible
        }
    }

    fn metadata(&mut self) -> String {
        let mut text = String::from("kernels:\n  - name: k\n    execution_env:\n");
        text += &format!("      simd_size: {}\n", self.or(16));
        text += &format!("      slm_size: {}\n", self.or(64));
        text += &format!("      inline_data_payload_size: {}\n", self.or(0));
        text += "    payload_arguments:\n";
        for index in 0..self.byte() % 6 {
            let (kind, offset) = (self.of(&PIECES, ""), self.or(u32::from(index) * 16));
            let size = self.or(8);
            let mode = self.of(&["stateless", "stateful", "bindless", "slm"], "slm");
            text += &format!(
                "      - {{arg_type: {kind}, offset: {offset}, size: {size}, arg_index: {index}, addrmode: {mode}}}\n"
            );
        }
        if self.byte().is_multiple_of(2) {
            let (offset, size) = (self.or(0), self.or(96));
            text += "    per_thread_payload_arguments:\n";
            text += &format!("      - {{arg_type: local_id, offset: {offset}, size: {size}}}\n");
        }
        text += "    per_thread_memory_buffers:\n";
        for _ in 0..self.byte() % 3 {
            let kind = self.of(&["scratch", "global"], "scratch");
            let simt = self.byte().is_multiple_of(2);
            let size = self.or(256);
            text += &format!(
                "      - {{type: {kind}, usage: x, size: {size}, is_simt_thread: {simt}}}\n"
            );
        }
        text
    }

    fn grid(&mut self) -> NdRange {
        NdRange {
            dimensions: self.or(1),
            global: [self.number(), self.or(3), self.or(1)],
            local: [self.or(16), self.or(1), self.or(1)],
            offset: [self.or(0), self.or(0), self.or(0)],
        }
    }

    fn argument(&mut self, piece: &PayloadArgument) -> Argument {
        let fits = !self.byte().is_multiple_of(16);
        match self.byte() % 6 {
            _ if fits && piece.addrmode == Some(AddrMode::Slm) => Argument::Local(100),
            _ if fits && piece.arg_type == ArgType::ArgByvalue => Argument::Value(vec![1; 8]),
            _ if fits => Argument::Buffer(vec![self.byte(); usize::from(self.byte())]),
            0 => Argument::Null,
            1 => Argument::Local(usize::try_from(self.number()).unwrap_or(0)),
            2 => Argument::Local(usize::MAX),
            3 => Argument::SameAs(usize::from(self.byte() % 4)),
            4 => Argument::Value(vec![self.byte(); 8]),
            _ => Argument::Buffer(vec![self.byte(); usize::from(self.byte())]),
        }
    }
}

/// Any object is launched with any metadata, grid and arguments: no panic, and no more steps and memory than there may
/// be.
pub fn launched(data: &[u8]) {
    const STEPS: u64 = 20_000;
    let (_, bytes) = made(data);
    let Ok(decoded) = parse::read_with(&bytes, crate::bytes::lenient(None)) else {
        return;
    };
    let mut draw = Draw { data, at: 0 };
    let Ok(mut info) = ZeInfo::parse(&draw.metadata()) else {
        unreachable!("the metadata are of the form");
    };
    let mut routines = decoded.object.routines();
    let Some((_, kernel)) = routines.find(|(id, _)| id.kind == RoutineKind::Kernel) else {
        return;
    };
    let name = kernel.display_name().to_string();
    for kernel in &mut info.kernels {
        kernel.name.clone_from(&name);
    }
    let Ok(kernel) = Kernel::new(&decoded.object, &name, &info) else {
        return;
    };
    let range = draw.grid();
    let pieces = &kernel.info().payload_arguments;
    let count = usize::from(draw.byte() % 6);
    let count = if count == 0 { 0 } else { pieces.len() };
    let pieces = pieces.iter().take(count);
    let arguments: Vec<_> = pieces.map(|piece| draw.argument(piece)).collect();
    let config = Config {
        limits: Limits {
            max_steps: STEPS / 4,
            max_bytes: 16 << 20,
            max_call_depth: 50,
        },
        max_steps: STEPS,
        max_memory: 16 << 20,
        ..Config::default()
    };
    match kernel.run(&range, &arguments, &config) {
        Ok(outcome) => {
            assert!(outcome.counters.instructions <= STEPS);
            assert!(outcome.end.is_complete());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
