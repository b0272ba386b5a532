//! Running whatever can be read.

use crate::bytes::lenient;
use visakit_exec::memory::{ChannelOrder, ChannelType, Format, Image, Surface};
use visakit_exec::{Group, Limits, Memory, Options, Program, ThreadStart};
use visakit_isa::object::{Object, RoutineId, RoutineKind};
use visakit_parse as parse;
use visakit_smith::{FuzzInput, ROW_BYTES, SURFACE_BYTES, SURFACES, SurfaceKind};

/// Whatever can be read is translated and run, kernel after kernel, with little memory and few steps. Nothing panics,
/// nothing runs forever, and resources stay within the limits.
pub fn executed(data: &[u8]) {
    let Ok(decoded) = parse::read_with(data, lenient(None)) else {
        return;
    };
    let object = &decoded.object;
    let kernels = object
        .routines()
        .filter(|(id, _)| id.kind == RoutineKind::Kernel);
    // Many entries may point at the same bytes; the first ones will do.
    for (id, _) in kernels.take(4) {
        for grf_bytes in [32, 64] {
            run(object, id, grf_bytes);
        }
    }
}

fn run(object: &Object<'_>, kernel: RoutineId, grf_bytes: u32) {
    const LIMITS: Limits = Limits {
        max_steps: 20_000,
        max_bytes: 16 << 20,
        max_call_depth: 50,
    };
    let options = Options {
        grf_bytes,
        max_register_bytes: 4 << 20,
        ..Options::default()
    };
    let Ok(program) = Program::new(object, kernel, &options) else {
        return;
    };
    // Addresses and sizes in the inputs: pointers at the buffers in turn with small numbers.
    let mut memory = Memory::new(1 << 20);
    let mut image = vec![0; 64];
    for (index, size) in (0_u8..).zip([4096, 64, 1000, 0]) {
        let Ok(buffer) = memory.add_zeroed(size) else {
            continue;
        };
        let surface = match index {
            1 => Surface::Image2d(Image::new_2d(buffer, 8, 4, 16, Format::R8_UINT)),
            _ => Surface::whole(buffer),
        };
        let bound = memory.bind(index, surface);
        assert!(bound.is_ok());
        image.extend(memory.address(buffer).to_le_bytes());
        image.extend((u64::from(index) + 3).to_le_bytes());
    }
    image.resize(4096, 1);
    let start = |mask| ThreadStart {
        image: image.clone(),
        mask,
        scratch_bytes: 4096,
        ..ThreadStart::default()
    };
    // A thread with all lanes and one with a few.
    let threads = [start(u32::MAX), start(0x0000_0105)];
    let Ok(mut group) = Group::new(&program, 4096, &threads, &LIMITS) else {
        return;
    };
    match group.run(&program, &memory, &LIMITS, &mut ()) {
        Ok(counters) => {
            assert!(counters.instructions <= LIMITS.max_steps);
            assert!(counters.lane_operations <= counters.instructions * 32);
        }
        Err(fault) => assert!(!fault.to_string().is_empty()),
    }
}

/// Four unsigned numbers of 32 bits.
const TEXELS: Format = Format {
    order: ChannelOrder::Rgba,
    channel: ChannelType::Uint32,
};

/// What the generator calls executable ends without a fault.
pub(crate) fn to_the_end(shaped: &FuzzInput) {
    const LIMITS: Limits = Limits {
        max_steps: 1_000_000,
        max_bytes: 16 << 20,
        max_call_depth: 50,
    };
    let kernel = RoutineId::new(RoutineKind::Kernel, 0);
    let options = Options {
        grf_bytes: shaped.config.platform.grf_bytes(),
        strict: true,
        ..Options::default()
    };
    let program = match Program::new(&shaped.object, kernel, &options) {
        Ok(program) => program,
        Err(error) => unreachable!("a generated object is not translated: {error}"),
    };
    let bytes = usize::try_from(SURFACE_BYTES).unwrap_or(0);
    let mut memory = Memory::new(1 << 20);
    for (entry, kind) in SURFACES {
        let rows = SURFACE_BYTES / ROW_BYTES;
        let image = |buffer, width, format| {
            Surface::Image2d(Image::new_2d(buffer, width, rows, ROW_BYTES, format))
        };
        let surface = |buffer| match kind {
            SurfaceKind::Linear => Surface::whole(buffer),
            SurfaceKind::Bytes => image(buffer, ROW_BYTES, Format::R8_UINT),
            SurfaceKind::Texels => image(buffer, ROW_BYTES / 16, TEXELS),
        };
        let bound = memory
            .add_zeroed(bytes as u64)
            .and_then(|buffer| memory.bind(entry, surface(buffer)));
        assert!(bound.is_ok());
    }
    let lanes = program.simd_size().clamp(1, 32);
    let start = ThreadStart {
        mask: u32::MAX >> (32 - lanes),
        ..ThreadStart::default()
    };
    let mut group = match Group::new(&program, bytes, &[start], &LIMITS) {
        Ok(group) => group,
        Err(fault) => unreachable!("a generated object does not start: {fault}"),
    };
    if let Err(fault) = group.run(&program, &memory, &LIMITS, &mut ()) {
        unreachable!("a generated object faults: {fault}");
    }
}
