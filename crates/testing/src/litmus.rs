//! Two kernels at once, and what each may observe of the other's accesses to global memory.

/// Bytes of the buffer that both access, which is zeroed.
pub const BYTES: u64 = 160;

/// The address of the buffer.
pub const ADDRESS: u64 = 0x1_0001_0000;

/// Two texts of kernels of one lane, without inputs, that run at once and go through some rounds.
#[derive(Debug)]
pub struct Litmus {
    /// What it is about.
    pub name: String,
    /// Both texts.
    pub kernels: [String; 2],
    rounds: u32,
    check: fn(&[u8], [u32; 2], u32),
}

impl Litmus {
    /// Checks the buffer after both have ended.
    pub fn check(&self, bytes: &[u8]) {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        (self.check)(bytes, [word(0x60), word(0x80)], self.rounds);
    }

    /// `check` gets the buffer, what each counted in `X`, and the number of rounds.
    fn new(
        name: impl Into<String>,
        rounds: u32,
        [one, two]: [&str; 2],
        check: fn(&[u8], [u32; 2], u32),
    ) -> Self {
        let kernels = [
            kernel(one, "0x100010060", rounds),
            kernel(two, "0x100010080", rounds),
        ];
        Self {
            name: name.into(),
            kernels,
            rounds,
            check,
        }
    }
}

/// `A` and `B` are addresses 32 bytes apart, from the start of the buffer on, `L` those of eight qwords from `A` on; `I`
/// counts rounds from 1 on, `X` is 0 at the start and goes, in the end, to the kernel's own place.
fn kernel(lines: &str, own: &str, rounds: u32) -> String {
    format!(
        ".version 4.1
.kernel \"k\"
.decl I v_type=G type=ud num_elts=2 align=GRF
.decl IQ v_type=G type=uq num_elts=1 align=GRF alias=<I, 0>
.decl X v_type=G type=ud num_elts=1 align=GRF
.decl D v_type=G type=ud num_elts=2 align=GRF
.decl DQ v_type=G type=uq num_elts=1 align=GRF alias=<D, 0>
.decl F v_type=G type=ud num_elts=1 align=GRF
.decl A v_type=G type=uq num_elts=1 align=GRF
.decl B v_type=G type=uq num_elts=1 align=GRF
.decl E v_type=G type=uq num_elts=1 align=GRF
.decl V v_type=G type=ud num_elts=16 align=GRF
.decl W v_type=G type=uq num_elts=8 align=GRF alias=<V, 0>
.decl L v_type=G type=uq num_elts=8 align=GRF
.decl P1 v_type=P num_elts=1
.decl P2 v_type=P num_elts=1
.kernel_attr SimdSize=1
mov (M1_NM, 1) A(0,0)<1> 0x100010000:uq
mov (M1_NM, 1) B(0,0)<1> 0x100010020:uq
mov (M1_NM, 1) E(0,0)<1> {own}:uq
mov (M1_NM, 8) L(0,0)<1> 0x76543210:uv
shl (M1_NM, 8) L(0,0)<1> L(0,0)<1;1,0> 0x3:ud
add (M1_NM, 8) L(0,0)<1> L(0,0)<1;1,0> A(0,0)<0;1,0>
mov (M1_NM, 1) I(0,0)<1> 0x0:ud
mov (M1_NM, 1) X(0,0)<1> 0x0:ud
again:
add (M1_NM, 1) I(0,0)<1> I(0,0)<0;1,0> 0x1:ud
{lines}
cmp.lt (M1_NM, 1) P1 I(0,0)<0;1,0> {rounds:#x}:ud
(P1) jmp (M1, 1) again
lsc_store.ugm (M1_NM, 1) flat[E]:a64 X:d32
ret (M1, 1)
"
    )
}

/// Counts in `X` how often a comparison of two dwords holds.
fn count(relation: &str, one: &str, two: &str) -> String {
    format!(
        "cmp.{relation} (M1_NM, 1) P2 {one} {two}
(P2) add (M1_NM, 1) X(0,0)<1> X(0,0)<0;1,0> 0x1:ud"
    )
}

/// All of them, with so many rounds of each kernel.
#[must_use]
pub fn all(rounds: u32) -> Vec<Litmus> {
    let mut all = Vec::new();
    all.extend(
        ["lsc_fence.ugm.none.gpu", "fence_global.E"].map(|fence| message_passing(fence, rounds)),
    );
    all.push(store_buffering(rounds));
    all.extend(neighbours(rounds));
    all.extend(atomics(rounds));
    all.extend(runs(rounds));
    all
}

/// Who sees the flag sees the data that were written before the fence, and never half of an aligned qword.
fn message_passing(fence: &str, rounds: u32) -> Litmus {
    let writer = format!(
        "mov (M1_NM, 1) D(0,0)<1> I(0,0)<0;1,0>
mov (M1_NM, 1) D(0,1)<1> I(0,0)<0;1,0>
lsc_store.ugm (M1_NM, 1) flat[A]:a64 DQ:d64
{fence}
lsc_store.ugm (M1_NM, 1) flat[B]:a64 I:d32"
    );
    let reader = format!(
        "lsc_load.ugm (M1_NM, 1) F:d32 flat[B]:a64
{fence}
lsc_load.ugm (M1_NM, 1) DQ:d64 flat[A]:a64
{}
{}",
        count("lt", "D(0,0)<0;1,0>", "F(0,0)<0;1,0>"),
        count("ne", "D(0,0)<0;1,0>", "D(0,1)<0;1,0>")
    );
    let name = format!("message passing, {fence}");
    Litmus::new(name, rounds, [&writer, &reader], |_, [_, wrong], _| {
        assert_eq!(wrong, 0);
    })
}

/// Each writes a round and reads the other's: with a fence between, one of them sees the other's.
fn store_buffering(rounds: u32) -> Litmus {
    let side = |mine: &str, other: &str| {
        format!(
            "lsc_store.ugm (M1_NM, 1) flat[{mine}]:a64 I:d32
lsc_fence.ugm.none.gpu
lsc_load.ugm (M1_NM, 1) F:d32 flat[{other}]:a64
{}",
            count("eq", "F(0,0)<0;1,0>", "0x0:ud")
        )
    };
    let sides = [&*side("A", "B"), &*side("B", "A")];
    Litmus::new("store buffering", rounds, sides, |_, [a, b], _| {
        assert!(a == 0 || b == 0, "both saw nothing: {a} and {b} rounds");
    })
}

/// Neighbours below a dword: what one writes is kept, whatever the other does.
fn neighbours(rounds: u32) -> Vec<Litmus> {
    let side = |at: usize, size: &str| {
        format!(
            "and (M1_NM, 1) D(0,0)<1> I(0,0)<0;1,0> 0xff:ud
lsc_store.ugm (M1_NM, 1) flat[A+{at:#x}]:a64 D:{size}
lsc_load.ugm (M1_NM, 1) F:{size} flat[A+{at:#x}]:a64
{}",
            count("ne", "F(0,0)<0;1,0>", "D(0,0)<0;1,0>")
        )
    };
    let pairs = [("d8u32", 1, 2), ("d8u32", 4, 7), ("d16u32", 0, 2)];
    let pairs = pairs.map(|(size, one, two)| {
        let name = format!("neighbours, {size} at {one} and {two}");
        let sides = [&*side(one, size), &*side(two, size)];
        Litmus::new(name, rounds, sides, |_, wrong, _| assert_eq!(wrong, [0, 0]))
    });
    pairs.into()
}

/// Operations on the same word, or on a part of it: none is lost. Those on floats, which no processor has, compare and
/// exchange until nobody was between.
fn atomics(rounds: u32) -> Vec<Litmus> {
    // The data are a qword, of which narrower ones are the lower part.
    let side = |operation: &str, size: &str, at: u32, value: u64| {
        let data = if size == "d64" { "DQ" } else { "D" };
        format!(
            "mov (M1_NM, 1) DQ(0,0)<1> {value:#x}:uq
lsc_atomic_{operation}.ugm (M1_NM, 1) %null:{size} flat[A+{at:#x}]:a64 {data} %null"
        )
    };
    let both_halves = side("iadd", "d64", 0, 0x1_0000_0001);
    let highest_quarter = side("iadd", "d64", 0, 1 << 48);
    let upper_half = side("iadd", "d32", 4, 1);
    let second_quarter = side("iadd", "d32", 0, 1 << 16);
    let lowest_quarter = side("iadd", "d16c32", 0, 1);
    let word = side("iadd", "d16c32", 2, 1);
    let single = side("fadd", "d32", 0, 1f32.to_bits().into());
    let double = side("fadd", "d64", 0, 1f64.to_bits());
    let brain = side("bfadd", "d16c32", 0, u64::from(1f32.to_bits() >> 16));
    vec![
        Litmus::new(
            "additions of 64 bits, and of 32 to their upper half",
            rounds,
            [&both_halves, &upper_half],
            |bytes, _, rounds| {
                let sum = u64::from_le_bytes(bytes[..8].try_into().unwrap());
                assert_eq!(sum, u64::from(2 * rounds) << 32 | u64::from(rounds));
            },
        ),
        Litmus::new(
            "additions of 32 bits, and of 16 to their lower half",
            rounds,
            [&second_quarter, &lowest_quarter],
            |bytes, _, rounds| {
                let sum = u32::from_le_bytes(bytes[..4].try_into().unwrap());
                assert_eq!(sum, rounds << 16 | rounds & 0xffff);
            },
        ),
        Litmus::new(
            "additions of 64 bits, and of 16 to their lowest quarter",
            rounds,
            [&highest_quarter, &lowest_quarter],
            |bytes, _, rounds| {
                let sum = u64::from_le_bytes(bytes[..8].try_into().unwrap());
                assert_eq!(sum, u64::from(rounds) << 48 | u64::from(rounds & 0xffff));
            },
        ),
        // Exact up to 2^24.
        Litmus::new(
            "sums of singles",
            rounds,
            [&*single; 2],
            |bytes, _, rounds| {
                let sum = f32::from_le_bytes(bytes[..4].try_into().unwrap());
                assert_eq!(sum, (2 * rounds) as f32);
            },
        ),
        Litmus::new(
            "sums of doubles",
            rounds,
            [&*double; 2],
            |bytes, _, rounds| {
                let sum = f64::from_le_bytes(bytes[..8].try_into().unwrap());
                assert_eq!(sum, f64::from(2 * rounds));
            },
        ),
        // They end at 256. The neighbour in the dword is an integer: neither loses what the other adds.
        Litmus::new(
            "sums of brain floats beside a word",
            rounds,
            [&brain, &word],
            |bytes, _, rounds| {
                let sum = u16::from_le_bytes(bytes[..2].try_into().unwrap());
                let sum = f32::from_bits(u32::from(sum) << 16);
                assert_eq!(sum, rounds.min(256) as f32);
                let neighbour = u16::from_le_bytes(bytes[2..4].try_into().unwrap());
                assert_eq!(u32::from(neighbour), rounds & 0xffff);
            },
        ),
    ]
}

/// Runs of bytes: a qword of one is never seen half written, and what is beside it is kept.
fn runs(rounds: u32) -> Vec<Litmus> {
    let stores = [
        (
            "a lane",
            "lsc_store.ugm (M1_NM, 1) flat[A+0x8]:a64 V:d64x2t",
        ),
        (
            "two lanes",
            "lsc_store.ugm (M1_NM, 2) flat[L+0x8]:a64 W:d64",
        ),
    ];
    let loads = [
        ("a lane", "lsc_load.ugm (M1_NM, 1) V:d64x4t flat[A]:a64"),
        ("four lanes", "lsc_load.ugm (M1_NM, 4) W:d64 flat[L]:a64"),
    ];
    let all = stores.into_iter().zip(loads);
    let all = all.map(|((by, store), (of, load))| {
        let writer = format!("mov (M1_NM, 8) V(0,0)<1> I(0,0)<0;1,0>\n{store}");
        let reader = format!(
            "{load}\n{}\n{}",
            count("ne", "V(0,2)<0;1,0>", "V(0,3)<0;1,0>"),
            count("ne", "V(0,4)<0;1,0>", "V(0,5)<0;1,0>")
        );
        let name = format!("qwords by {by} and {of}");
        Litmus::new(name, rounds, [&writer, &reader], |bytes, [_, wrong], _| {
            assert_eq!(wrong, 0);
            let mut beside = bytes[..8].iter().chain(&bytes[24..0x60]);
            assert!(beside.all(|byte| *byte == 0));
        })
    });
    all.collect()
}
