//! Load/store-cache messages, after the pseudo-code of their definition.

use super::{Machine, SIZES};
use crate::fault::FaultKind;
use crate::memory::{BufferId, ChannelOrder, ChannelType, Format, Image, Surface};
use crate::observe::Space;
use half::bf16;
use visakit_isa::{FieldName, Value};

fn numbers(count: u32) -> Vec<u32> {
    (0..count).map(|i| 0x1000 + i).collect()
}

fn bytes(count: u32) -> Vec<u8> {
    (0..count).map(|i| i.to_le_bytes()[0]).collect()
}

#[test]
fn load_of_every_size() {
    for (data, expected) in [
        ("d8", vec![5u8, 9, 13, 0x77]),
        ("d16", vec![5, 6, 9, 10, 13, 14, 0x77, 0x77]),
        ("d32", vec![5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 0x77]),
        (
            "d64",
            vec![
                5, 6, 7, 8, 9, 10, 11, 12, 9, 10, 11, 12, 13, 14, 15, 16, 13, 14, 15, 16, 17, 18,
                19, 20, 0x77,
            ],
        ),
        ("d8c32", vec![5, 0, 0, 0, 9, 0, 0, 0, 13, 0, 0, 0, 0x77]),
        ("d16c32", vec![5, 6, 0, 0, 9, 10, 0, 0, 13, 14, 0, 0, 0x77]),
        ("d16c32h", vec![0, 0, 5, 6, 0, 0, 9, 10, 0, 0, 13, 14, 0x77]),
    ] {
        let mut m = Machine::new(&format!("lsc_load.ugm (M1, 4) D:{data} flat[UQ+0x1]:a64"));
        let (_, base) = m.buffer(&bytes(64));
        m.set("UQ", &[base + 4, base + 8, base + 12, base + 63]);
        m.set("D", &[0x77u8; 64]).run(0b0111);
        assert_eq!(m.get::<u8>("D", expected.len()), expected, "{data}");
    }
}

/// All lanes side by side, by the way that takes them at once, for every size and both storages.
#[test]
fn runs() {
    for (data, size, register) in SIZES {
        let mut load =
            Machine::with_grf(&format!("lsc_load.ugm (M1, 32) D:{data} flat[UQ]:a64"), 64);
        let mut store =
            Machine::with_grf(&format!("lsc_store.ugm (M1, 32) flat[UQ]:a64 D:{data}"), 64);
        let contents = bytes(256 + 8);
        let (_, from) = load.buffer(&contents);
        let (to_buffer, to) = store.buffer(&vec![0xccu8; 264]);
        let addresses = |base: u64| (0..32).map(|i| base + 3 + i * size).collect::<Vec<u64>>();
        load.set("UQ", &addresses(from)).run(u32::MAX);
        let all: Vec<u8> = load.get("D", 32 * register);
        // The same lane by lane: a run broken by its last lane.
        let mut broken = addresses(from);
        broken[31] = from;
        load.set("UQ", &broken).run(u32::MAX);
        assert_eq!(load.get::<u8>("D", 31 * register), all[..31 * register]);
        store.set("D", &all).set("UQ", &addresses(to)).run(u32::MAX);
        let length = usize::try_from(32 * size).unwrap();
        let written: Vec<u8> = store.read(to_buffer);
        assert_eq!(written[3..3 + length], contents[3..3 + length], "{data}");
        assert_eq!(written[..3], [0xcc; 3]);
        assert!(written[3 + length..].iter().all(|b| *b == 0xcc));
    }
}

#[test]
fn vectors() {
    // SIMD4 on 32-byte registers: each component has a register, of which half is used.
    let mut m = Machine::new("lsc_load.ugm (M1, 4) D:d32x3 flat[UQ]:a64");
    let (_, base) = m.buffer(&numbers(16));
    m.set("UQ", &[base, base + 4, base + 8, base + 12]);
    m.set("D", &[7u32; 24]).run(0b1011);
    let d: Vec<u32> = m.get("D", 24);
    assert_eq!(d[..5], [0x1000, 0x1001, 7, 0x1003, 7]);
    assert_eq!(d[8..13], [0x1001, 0x1002, 7, 0x1004, 7]);
    assert_eq!(d[16..21], [0x1002, 0x1003, 7, 0x1005, 7]);
    // The components of a lane have separate registers, and so are separate accesses.
    assert_eq!((m.events()[0].bytes, m.events().len()), (4, 9));

    let mut m = Machine::new("lsc_store.ugm (M1, 4) flat[UQ]:a64 D:d16c32x2");
    let (buffer, base) = m.buffer(&[0u16; 8]);
    m.set("UQ", &[base + 8, base + 2]);
    m.set("D", &[0xffff_0001u32, 2, 0, 0, 0, 0, 0, 0, 3, 4])
        .run(0b11);
    assert_eq!(m.read::<u16>(buffer), [0, 2, 4, 0, 1, 3, 0, 0]);
}

#[test]
fn every_vector_length_transposed() {
    for (code, count) in [
        ("", 1usize),
        ("x2", 2),
        ("x3", 3),
        ("x4", 4),
        ("x8", 8),
        ("x16", 16),
        ("x32", 32),
        ("x64", 64),
    ] {
        for (size, bytes_each) in [("d32", 4usize), ("d64", 8)] {
            let length = count * bytes_each;
            let mut m = Machine::new(&format!(
                "lsc_load.ugm (M1_NM, 1) D:{size}{code}t flat[UQ]:a64"
            ));
            let contents = bytes(600);
            let (_, base) = m.buffer(&contents);
            m.set("UQ", &[base + 4]).set("D", &[0x77u8; 600]).run(1);
            let d: Vec<u8> = m.get("D", 600);
            assert_eq!(d[..length], contents[4..4 + length]);
            assert!(d[length..].iter().all(|b| *b == 0x77));

            let mut m = Machine::new(&format!(
                "lsc_store.ugm (M1_NM, 1) flat[UQ]:a64 D:{size}{code}t"
            ));
            let (buffer, base) = m.buffer(&[0u8; 600]);
            m.set("UQ", &[base + 4]).set("D", &contents).run(1);
            let stored: Vec<u8> = m.read(buffer);
            assert_eq!(stored[4..4 + length], contents[..length]);
            assert!(stored[4 + length..].iter().all(|b| *b == 0));
        }
    }
}

/// A transposed load of more than one lane puts each lane into separate registers.
#[test]
fn transposed_lanes() {
    let mut m = Machine::new("lsc_load.ugm (M1, 2) D:d32x2t flat[UQ]:a64");
    let (_, base) = m.buffer(&numbers(16));
    m.set("UQ", &[base, base + 8]).run(0b11);
    let d: Vec<u32> = m.get("D", 16);
    assert_eq!([d[0], d[1], d[8], d[9]], [0x1000, 0x1001, 0x1002, 0x1003]);
}

#[test]
fn scale_and_offset() {
    let mut m = Machine::new("lsc_load.slm (M1, 4) D:d32 flat[0x4*U-0x10]:a32");
    for i in 0..8u8 {
        m.slm[usize::from(i) * 4] = i;
    }
    m.set("U", &[4u32, 5, 11, 0]).run(0b111);
    assert_eq!(m.get::<u32>("D", 3), [0, 1, 7]);
    // A scale of 0 means none.
    let mut unscaled = Machine::edited("4.1", "lsc_load.slm (M1, 4) D:d32 flat[U]:a32", |i| {
        *i.get_mut(FieldName::AddrScale).unwrap() = Value::U16(0);
    });
    unscaled.slm[8] = 3;
    unscaled.set("U", &[8u32]).run(1);
    assert_eq!(unscaled.get::<u32>("D", 1), [3]);
    // A negative address is outside: it reads zero.
    m.set("D", &[7u32; 4]).run(0b1000);
    assert_eq!(m.get::<u32>("D", 4), [7, 7, 7, 0]);
}

#[test]
fn address_models() {
    // A buffer by binding table, immediate and variable.
    let mut m = Machine::new("lsc_load.ugm (M1, 2) D:d32 bti(0x3)[U]:a32");
    m.surface(&numbers(4));
    m.set("U", &[4u32, 16]).run(0b11);
    assert_eq!(m.get::<u32>("D", 2), [0x1001, 0]);
    assert_eq!(m.events()[0].space, Space::Surface(3));
    let mut m = Machine::new("lsc_load.ugm (M1, 2) D:d32 bti(U2(0,0))[U]:a32");
    m.surface(&numbers(4));
    m.set("U2", &[3u32]).run(1);
    assert_eq!(m.get::<u32>("D", 1), [0x1000]);
    m.set("U2", &[4u32]);
    assert_eq!(m.fault(1).0, FaultKind::UnknownSurface(4));

    // A handle.
    let mut m = Machine::new("lsc_load.ugm (M1, 2) D:d32 bss(U2(0,0))[U]:a32");
    let (buffer, _) = m.buffer(&numbers(4));
    m.memory.bind_handle(0x40, Surface::whole(buffer)).unwrap();
    m.set("U2", &[0x40u32]).set("U", &[8u32, 0]).run(0b11);
    assert_eq!(m.get::<u32>("D", 2), [0x1002, 0x1000]);

    // An offset of the surface-state heap: a surface where one is bound, else scratch.
    let mut m = Machine::new("lsc_store.ugm (M1, 2) ss(U2(0,0))[U]:a32 D:d32");
    let (buffer, _) = m.buffer(&[0u32; 2]);
    m.memory.bind_state(0x80, Surface::whole(buffer)).unwrap();
    m.set("U", &[4u32, 0]).set("D", &[5u32, 6]);
    m.set("U2", &[0x80u32]).run(0b11);
    assert_eq!(m.read::<u32>(buffer), [6, 5]);
    m.set("U2", &[0x100u32]).run(0b11);
    assert_eq!(m.scratch[..5], [6, 0, 0, 0, 5]);
    assert_eq!(m.events()[0].space, Space::Scratch);

    // Kernel arguments.
    let mut m = Machine::new("lsc_load.ugm (M1_NM, 1) D:d32t arg[U]:a32");
    let (_, base) = m.buffer(&numbers(4));
    m.memory.set_argument_base(base);
    m.set("U", &[12u32]).run(1);
    assert_eq!(m.get::<u32>("D", 1), [0x1003]);

    // The header of a thread says where its own begin; the lower bits of that are something else.
    let mut m = Machine::new("lsc_load.ugm (M1_NM, 1) D:d32t arg[U]:a32");
    let (_, base) = m.buffer(&numbers(64));
    m.memory.set_argument_base(base);
    m.set("U", &[12u32]).set("%r0", &[0x43u32]).run(1);
    assert_eq!(m.get::<u32>("D", 1), [0x1013]);

    // The state of a surface by its address: a handle, or the scratch memory of the thread.
    let mut m = Machine::old(
        "4.2",
        "lsc_store.ugm.wb.wb.uc (M1, 2) surf(UQ)[U]:a32u D:d32",
    );
    let (buffer, _) = m.buffer(&[0u32; 2]);
    m.memory.bind_handle(0x80, Surface::whole(buffer)).unwrap();
    m.set("U", &[4u32, 0]).set("D", &[5u32, 6]);
    m.set("UQ", &[0x80u64]).run(0b11);
    assert_eq!(m.read::<u32>(buffer), [6, 5]);
    m.set("UQ", &[u64::from(crate::Memory::SCRATCH_STATE)])
        .run(0b11);
    assert_eq!(m.scratch[..5], [6, 0, 0, 0, 5]);
    m.set("UQ", &[0u64]);
    assert_eq!(m.fault(1).0, FaultKind::UnknownSurface(0));

    // Addresses in local memory have a base, too.
    let mut m = Machine::new("lsc_load.slm (M1, 2) D:d32 flat(S)[0x2*U+0x4]:a32");
    m.slm[16..24].copy_from_slice(&[1, 0, 0, 0, 2, 0, 0, 0]);
    m.set("S", &[8u32]).set("U", &[2u32, 4]).run(0b11);
    assert_eq!(m.get::<u32>("D", 2), [1, 2]);

    // An address that lost its upper half is no address.
    let mut m = Machine::new("lsc_load.ugm (M1, 2) D:d32 flat[U]:a32");
    let (_, base) = m.buffer(&numbers(4));
    m.set("U", &[u32::try_from(base & 0xffff_ffff).unwrap()]);
    assert_eq!(m.fault(1).2, Some(base & 0xffff_ffff));
}

#[test]
fn null_destination_is_a_prefetch() {
    let mut m = Machine::new("lsc_load.ugm (M1, 4) %null:d32 flat[UQ]:a64");
    m.set("UQ", &[0x1234u64; 4]).run(0xf);
    let mut m = Machine::new("lsc_load_quad.ugm (M1, 4) %null:d32.xy flat[UQ]:a64");
    m.set("UQ", &[0x1234u64; 4]).run(0xf);
}

#[test]
fn quads() {
    let mut m = Machine::new("lsc_load_quad.ugm (M1, 4) D:d32.xzw flat[UQ]:a64");
    let (_, base) = m.buffer(&numbers(16));
    m.set("UQ", &[base, base + 16])
        .set("D", &[7u32; 32])
        .run(0b11);
    let d: Vec<u32> = m.get("D", 32);
    // Y is left out of memory, not of the registers.
    assert_eq!(d[..3], [0x1000, 0x1004, 7]);
    assert_eq!(d[8..11], [0x1002, 0x1006, 7]);
    assert_eq!(d[16..19], [0x1003, 0x1007, 7]);
    assert_eq!(d[24], 7);

    let mut m = Machine::new("lsc_store_quad.ugm (M1, 4) bti(0x3)[U]:a32 D:d32.yw");
    let buffer = m.surface(&[0u32; 8]);
    m.set("U", &[16u32, 0]);
    m.set("D", &[1u32, 2, 0, 0, 0, 0, 0, 0, 3, 4]).run(0b11);
    assert_eq!(m.read::<u32>(buffer), [0, 2, 0, 4, 0, 1, 0, 3]);
}

/// base + scale * address + lane * pitch + immediate.
#[test]
fn strided() {
    let mut m = Machine::new("lsc_load_strided.ugm (M1, 4) D:d32 flat[UQ+0x4,0x8]:a64");
    let (_, base) = m.buffer(&numbers(16));
    m.set("UQ", &[base]).set("D", &[7u32; 4]).run(0b1101);
    assert_eq!(m.get::<u32>("D", 4), [0x1001, 7, 0x1005, 0x1007]);
    // Scale applies to the address alone.
    let mut m = Machine::new("lsc_load_strided.ugm (M1, 4) D:d32 bti(0x3)[0x4*U+0x4,U2]:a32");
    m.surface(&numbers(16));
    m.set("U", &[2u32]).set("U2", &[4u32]).run(0xf);
    assert_eq!(m.get::<u32>("D", 4), [0x1003, 0x1004, 0x1005, 0x1006]);
    // A pitch of zero is a broadcast, a negative one goes back.
    m.set("U2", &[0u32]).run(0xf);
    assert_eq!(m.get::<u32>("D", 4), [0x1003; 4]);
    m.set("U2", &[(-4i32).cast_unsigned()]).run(0xf);
    assert_eq!(m.get::<u32>("D", 4), [0x1003, 0x1002, 0x1001, 0x1000]);
    // Without a pitch the vectors of the lanes follow each other.
    let mut m = Machine::new("lsc_store_strided.ugm (M1, 2) flat[UQ]:a64 D:d32x2");
    let (buffer, base) = m.buffer(&[0u32; 4]);
    m.set("UQ", &[base]);
    m.set("D", &[1u32, 2, 0, 0, 0, 0, 0, 0, 3, 4]).run(0b11);
    assert_eq!(m.read::<u32>(buffer), [1, 3, 2, 4]);
}

#[test]
fn status() {
    let mut m = Machine::new("lsc_load_status.ugm (M1, 8) D:d32x2 flat[UQ]:a64");
    let (_, base) = m.buffer(&numbers(4));
    m.set("UQ", &[base, 0, base + 8, base + 12, base + 16, base]);
    m.set("D", &[u32::MAX, 7]).run(0b01_1111);
    // The second element of lane 3 is outside, lane 5 is disabled.
    assert_eq!(m.get::<u32>("D", 2), [0b00101, 7]);
}

#[test]
fn uncompressed_store_is_a_store() {
    let mut m = Machine::new("lsc_store_uncompressed.ugm (M1, 4) flat[UQ]:a64 D:d32");
    let (buffer, base) = m.buffer(&[0u32; 2]);
    m.set("UQ", &[base + 4, base])
        .set("D", &[1u32, 2])
        .run(0b11);
    assert_eq!(m.read::<u32>(buffer), [2, 1]);
}

#[test]
fn atomics() {
    // icas: src1 is compared, src2 stored.
    let mut m = Machine::new("lsc_atomic_icas.ugm (M1, 4) D:d32 flat[UQ]:a64 D2 D3");
    let (buffer, base) = m.buffer(&[5u32, 6]);
    m.set("UQ", &[base, base + 4, base, base]);
    m.set("D2", &[5u32, 5, 1, 0]).set("D3", &[1u32, 9, 2, 0]);
    m.run(0b0111);
    assert_eq!(m.get::<u32>("D", 4), [5, 6, 1, 0]);
    assert_eq!(m.read::<u32>(buffer), [2, 6]);

    let mut m = Machine::new("lsc_atomic_iadd.slm (M1, 4) %null:d32 flat[U]:a32 D2 %null");
    m.set("U", &[0x1000_0000u32, 0, 4, 300])
        .set("D2", &[1u32, 2, 3, 4]);
    m.run(0b1111);
    assert_eq!(m.slm[..5], [3, 0, 0, 0, 3]);

    let mut m = Machine::new("lsc_atomic_iadd.ugm (M1, 4) Q:d64 flat[UQ]:a64 D2 %null");
    let (buffer, base) = m.buffer(&[u64::MAX]);
    m.set("UQ", &[base, base]).set("D2", &[1u64, 5]);
    m.run(0b11);
    assert_eq!(m.get::<u64>("Q", 2), [u64::MAX, 0]);
    assert_eq!(m.read::<u64>(buffer), [5]);
    m.set("UQ", &[base + 4]);
    assert_eq!(m.fault(1).0, FaultKind::Misaligned);
}

/// An observer knows which lanes exchange: those that are told that nothing was different, one after the other.
#[test]
fn which_lanes_exchange() {
    for (name, equal) in [
        ("icas", (|a, b| a == b) as fn(u32, u32) -> bool),
        ("fcas", |a, b| f32::from_bits(a) == f32::from_bits(b)),
    ] {
        let mut m = Machine::new(&format!(
            "lsc_atomic_{name}.ugm (M1, 4) D:d32 flat[UQ]:a64 D2 D3"
        ));
        let (_, base) = m.buffer(&[0u32; 4]);
        let (zero, one, nan) = ((-0f32).to_bits(), 1f32.to_bits(), f32::NAN.to_bits());
        let mut exchanged = 0;
        for run in 0..625usize {
            let digits: [usize; 4] = [1, 5, 25, 125].map(|step| run / step % 5);
            let expected = digits.map(|digit| [0, zero, one, nan, 7][digit]);
            let new = digits.map(|digit| [one, 7, 0, 0, zero][digit]);
            let places: [u64; 4] = std::array::from_fn(|lane| base + 4 * (run >> lane & 1) as u64);
            m.set("UQ", &places).set("D2", &expected).set("D3", &new);
            m.run(0b1011);
            let old = m.get::<u32>("D", 4);
            for access in &m.events {
                let lane = usize::from(access.lane.unwrap());
                assert_eq!(
                    access.fails,
                    !equal(old[lane], expected[lane]),
                    "{name} {run}"
                );
                exchanged += usize::from(!access.fails);
            }
            assert_eq!(m.events.len(), 3);
        }
        assert!((100..1700).contains(&exchanged), "{name} {exchanged}");
    }
}

/// Every operation by name, on one lane.
#[test]
fn every_atomic() {
    let one = 1f32.to_bits();
    let two = 2f32.to_bits();
    for (name, old, a, new) in [
        ("iinc", 5u32, 0u32, 6u32),
        ("idec", 5, 0, 4),
        ("load", 5, 0, 5),
        ("store", 5, 3, 3),
        ("iadd", 5, 3, 8),
        ("isub", 5, 3, 2),
        ("smin", u32::MAX, 3, u32::MAX),
        ("smax", u32::MAX, 3, 3),
        ("umin", u32::MAX, 3, 3),
        ("umax", u32::MAX, 3, u32::MAX),
        ("icas", 5, 5, 77),
        ("fadd", one, two, 3f32.to_bits()),
        ("fsub", one, two, (-1f32).to_bits()),
        ("fmin", one, two, one),
        ("fmax", one, two, two),
        ("fcas", (-0f32).to_bits(), 0, 77),
        ("and", 6, 3, 2),
        ("or", 6, 3, 7),
        ("xor", 6, 3, 5),
    ] {
        let sources = match name {
            "iinc" | "idec" | "load" => "%null %null",
            "icas" | "fcas" => "D2 D3",
            _ => "D2 %null",
        };
        let mut m = Machine::new(&format!(
            "lsc_atomic_{name}.ugm (M1, 1) D:d32 flat[UQ]:a64 {sources}"
        ));
        let (buffer, base) = m.buffer(&[old]);
        m.set("UQ", &[base]).set("D2", &[a]).set("D3", &[77u32]);
        m.run(1);
        assert_eq!(m.read::<u32>(buffer), [new], "{name}");
        assert_eq!(m.get::<u32>("D", 1), [old], "{name}");
    }
    // Brain floats are words in the lower halves of dwords.
    let brain = |v| bf16::from_f32(v).to_bits();
    let mut m = Machine::new("lsc_atomic_bfadd.ugm (M1, 1) D:d16c32 flat[UQ]:a64 D2 %null");
    let (buffer, base) = m.buffer(&[7u16, brain(1.5)]);
    m.set("UQ", &[base + 2]).set("D2", &[u32::from(brain(2.0))]);
    m.run(1);
    assert_eq!(m.read::<u16>(buffer), [7, brain(3.5)]);
    assert_eq!(m.get::<u32>("D", 1), [u32::from(brain(1.5))]);
}

#[test]
fn append_counters() {
    let mut m = Machine::new("lsc_apndctr_atomic_add.ugm (M1, 4) D:d32 bti(0x3) D2");
    m.surface(&[0u32; 4]);
    assert!(matches!(m.fault(1).0, FaultKind::WrongSurface { .. }));
    let (counter, _) = m.buffer(&[9u32, 100]);
    m.memory.bind_counter(3, counter, 4);
    m.set("D2", &[1u32, 2, 3, 4]).set("D", &[7u32; 4]);
    m.run(0b1011);
    assert_eq!(m.get::<u32>("D", 4), [100, 101, 7, 103]);
    assert_eq!(m.read::<u32>(counter), [9, 107]);
    let mut m = Machine::new("lsc_apndctr_atomic_sub.ugm (M1, 4) D:d32 bti(0x3) D2");
    m.surface(&[0u32; 4]);
    let (counter, _) = m.buffer(&[1u32]);
    m.memory.bind_counter(3, counter, 0);
    m.set("D2", &[1u32, 2]);
    m.run(0b11);
    assert_eq!(m.get::<u32>("D", 2), [1, 0]);
    assert_eq!(m.read::<u32>(counter), [(-2i32).cast_unsigned()]);
}

/// A surface of 16 bytes a row, 8 rows, each byte 16 * row + column; the block form is given.
fn block2d(form: &str, x: i32, y: i32, width: u32) -> (Machine, BufferId) {
    let mut m = Machine::new(&format!(
        "lsc_load_block2d.ugm (M1_NM, 1) D:{form} flat[UQ,U,U2,U3,D2,D3]"
    ));
    let (buffer, base) = m.buffer(&bytes(128));
    m.set("UQ", &[base]).set("U", &[width - 1]);
    m.set("U2", &[7u32]).set("U3", &[16u32]);
    m.set("D2", &[x]).set("D3", &[y]);
    m.set("D", &[0x7777_7777u32; 200]);
    (m, buffer)
}

#[test]
fn block2d_plain() {
    // Rows of 3 are 4 apart and filled up with zero, a block is a whole register.
    let (mut m, _) = block2d("d8.2x3x2nn", 1, 2, 16);
    m.run(1);
    let d: Vec<u8> = m.get("D", 65);
    assert_eq!(d[..8], [0x21, 0x22, 0x23, 0, 0x31, 0x32, 0x33, 0]);
    assert_eq!(d[8..32], [0; 24]);
    // The second block is right of the first.
    assert_eq!(d[32..40], [0x24, 0x25, 0x26, 0, 0x34, 0x35, 0x36, 0]);
    assert_eq!(d[40..64], [0; 24]);
    assert_eq!(d[64], 0x77);
    // A disabled lane loads nothing.
    let (mut m, _) = block2d("d8.2x3x2nn", 1, 2, 16);
    m.run(0);
    assert_eq!(m.get::<u8>("D", 1), [0x77]);
    // The pitch minus one, as the hardware has it.
    m.set("U3", &[15u32]).run(1);
    assert_eq!(m.get::<u8>("D", 2), [0x21, 0x22]);
}

/// Elements outside of the surface are zero; the surface ends where its width says.
#[test]
fn block2d_edges() {
    let (mut m, _) = block2d("d16.1x4x3nn", -1, -1, 6);
    m.run(1);
    let d: Vec<u16> = m.get("D", 16);
    assert_eq!(d[..4], [0, 0, 0, 0]);
    assert_eq!(d[4..8], [0, 0x0100, 0x0302, 0x0504]);
    assert_eq!(d[8..12], [0, 0x1110, 0x1312, 0x1514]);
    let (mut m, _) = block2d("d16.1x4x2nn", 1, 7, 6);
    m.run(1);
    let d: Vec<u16> = m.get("D", 8);
    assert_eq!(d, [0x7372, 0x7574, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn block2d_vnni() {
    // Pairs of rows are interleaved, word by word.
    let (mut m, _) = block2d("d16.1x3x4nt", 0, 0, 16);
    m.run(1);
    let d: Vec<u16> = m.get("D", 16);
    assert_eq!(
        d,
        [
            0x0100, 0x1110, 0x0302, 0x1312, 0x0504, 0x1514, 0, 0, //
            0x2120, 0x3130, 0x2322, 0x3332, 0x2524, 0x3534, 0, 0
        ]
    );
    // Four rows of bytes.
    let (mut m, _) = block2d("d8.1x2x4nt", 0, 0, 16);
    m.run(1);
    assert_eq!(
        m.get::<u8>("D", 8),
        [0x00, 0x10, 0x20, 0x30, 0x01, 0x11, 0x21, 0x31]
    );
}

#[test]
fn block2d_transposed() {
    // Columns of 3 are 4 apart.
    let (mut m, _) = block2d("d32.1x2x3tn", 1, 1, 16);
    m.run(1);
    let d: Vec<u32> = m.get("D", 8);
    let word = |row: u32, column: u32| {
        let first = 16 * row + 4 * column;
        0x0302_0100 + first * 0x0101_0101
    };
    assert_eq!(
        d,
        [
            word(1, 1),
            word(2, 1),
            word(3, 1),
            0,
            word(1, 2),
            word(2, 2),
            word(3, 2),
            0
        ]
    );
}

#[test]
fn block2d_transposed_vnni() {
    // Pairs of columns are side by side: row y has elements x and x + 1 of it.
    let (mut m, _) = block2d("d16.1x4x2tt", 0, 0, 16);
    m.run(1);
    let d: Vec<u16> = m.get("D", 8);
    assert_eq!(
        d,
        [
            0x0100, 0x0302, 0x1110, 0x1312, 0x0504, 0x0706, 0x1514, 0x1716
        ]
    );
}

/// The store mirrors the load, in rows of the data and with rows of the surface a pitch apart.
#[test]
fn block2d_store() {
    let mut m = Machine::new("lsc_store_block2d.ugm (M1_NM, 1) flat[UQ,U,U2,U3,D2,D3] D:d8.3x2nn");
    let (buffer, base) = m.buffer(&[0u8; 32]);
    m.set("UQ", &[base])
        .set("U", &[7u32])
        .set("U2", &[3u32])
        .set("U3", &[8u32]);
    m.set("D2", &[1u32]).set("D3", &[2u32]);
    m.set("D", &[1u8, 2, 3, 9, 4, 5, 6, 9]).run(1);
    let mut expected = [0u8; 32];
    expected[17..20].copy_from_slice(&[1, 2, 3]);
    expected[25..28].copy_from_slice(&[4, 5, 6]);
    assert_eq!(m.read::<u8>(buffer), expected);
    // Anything right of and below the surface is dropped.
    m.set("D2", &[6u32]).set("D3", &[3u32]).run(1);
    expected[30..].copy_from_slice(&[1, 2]);
    assert_eq!(m.read::<u8>(buffer), expected);
}

#[test]
fn block2d_faults() {
    // The surface that the message describes is larger than the buffer.
    let (mut m, _) = block2d("d8.1x4x4nn", 0, 6, 16);
    m.set("U2", &[100u32]);
    assert!(matches!(m.fault(1).0, FaultKind::MemoryOutOfBounds { .. }));
    // More data than the variable has.
    let (mut m, _) = block2d("d64.4x16x16nn", 0, 0, 16);
    assert_eq!(m.fault(1).0, FaultKind::RegisterOutOfBounds);
}

fn image(m: &mut Machine, format: Format, data: &[u8], width: u32, height: u32) -> BufferId {
    let buffer = m.surface(data);
    let pitch = width * u32::try_from(format.bytes()).unwrap();
    let image = Image::new_2d(buffer, width, height, pitch, format);
    m.memory.bind(3, Surface::Image2d(image)).unwrap();
    buffer
}

const RGBA8: Format = Format {
    order: ChannelOrder::Rgba,
    channel: ChannelType::Uint8,
};

#[test]
fn typed() {
    let mut m = Machine::new("lsc_load_quad.tgm (M1, 8) D:d32.xzw bti(0x3)[U,U2]:a32");
    image(&mut m, RGBA8, &bytes(32), 4, 2);
    m.set("U", &[0u32, 3, 4, 1]).set("U2", &[1u32, 0, 0, 0]);
    m.set("D", &[7u32; 24]).run(0b0111);
    let d: Vec<u32> = m.get("D", 24);
    // Outside: zero, alpha one.
    assert_eq!(d[..4], [16, 12, 0, 7]);
    assert_eq!(d[8..12], [18, 14, 0, 7]);
    assert_eq!(d[16..20], [19, 15, 1, 7]);

    let mut m = Machine::new("lsc_store_quad.tgm (M1, 8) bti(0x3)[U,U2]:a32 D:d32.yw");
    let buffer = image(&mut m, RGBA8, &[9; 16], 2, 2);
    m.set("U", &[1u32, 2]).set("U2", &[1u32, 0]);
    m.set("D", &[300u32, 0, 0, 0, 0, 0, 0, 0, 4]).run(0b11);
    // Too large a value is clamped, the other channels stay.
    assert_eq!(m.read::<u8>(buffer)[12..], [9, 255, 9, 4]);
    assert_eq!(m.read::<u8>(buffer)[..12], [9; 12]);

    let mut m = Machine::new("lsc_atomic_iadd.tgm (M1, 8) D:d32 bti(0x3)[U,U2]:a32 D2 %null");
    let r32 = Format {
        order: ChannelOrder::R,
        channel: ChannelType::Uint32,
    };
    let buffer = image(&mut m, r32, &[1; 16], 2, 2);
    m.set("U", &[1u32, 1, 5]).set("U2", &[1u32, 1, 1]);
    m.set("D2", &[1u32, 2, 3]).run(0b111);
    assert_eq!(m.get::<u32>("D", 3), [0x0101_0101, 0x0101_0102, 0]);
    assert_eq!(m.read::<u32>(buffer)[3], 0x0101_0104);
}

#[test]
fn typed_block2d() {
    let mut m = Machine::new("lsc_load_block2d.tgm (M1_NM, 1) D:8x2 bti(0x3)[D2,D3]");
    image(&mut m, RGBA8, &bytes(32), 4, 2);
    m.set("D2", &[12u32]).set("D3", &[1u32]).run(1);
    assert_eq!(
        m.get::<u8>("D", 16),
        [28, 29, 30, 31, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    );
}
