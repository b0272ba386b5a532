//! Small kernels, written for what they are asked about.

use std::time::Duration;
use visakit_isa::object::Object;
use visakit_launch::{Argument, Config, Kernel, NdRange, ZeInfo};
use visakit_prove::{Difference, Method, Options, Proof, Side, Unknown, Verdict, examine, prove};
use visakit_text::asm;

/// Bytes of the only buffer.
const BYTES: usize = 64;

/// A launch of kernels with a buffer, argument 0, and scalars.
#[derive(Clone, Default)]
pub(crate) struct Asked {
    /// The value of each scalar.
    scalars: Vec<Vec<u8>>,
    /// Work-items of the only group, 8 of a thread.
    items: u32,
    pub(crate) options: Options,
}

impl Asked {
    pub(crate) fn of_threads(threads: u32) -> Self {
        Self {
            items: 8 * threads,
            options: Options {
                time: Duration::from_secs(10),
                ..Options::default()
            },
            ..Self::default()
        }
    }

    fn metadata(&self) -> ZeInfo {
        let mut text = "---\nversion: '1.20'\nkernels:\n  - name: k\n    execution_env:\n      barrier_count: 1\n      \
                        grf_count: 128\n      simd_size: 8\n      slm_size: 1024\n    payload_arguments:\n      \
                        - arg_type: arg_bypointer\n        offset: 0\n        size: 0\n        arg_index: 0\n        \
                        addrmode: stateful\n        addrspace: global\n        access_type: readwrite\n"
            .to_owned();
        for (number, (scalar, at)) in self.scalars.iter().zip(self.places()).enumerate() {
            text += &format!(
                "      - arg_type: arg_byvalue\n        offset: {}\n        size: {}\n        arg_index: {}\n",
                at - 32,
                scalar.len(),
                number + 1
            );
        }
        text += "    binding_table_indices:\n      - bti_value: 0\n        arg_index: 0\n";
        ZeInfo::parse(&text).unwrap()
    }

    /// Where scalars are in the payload, a register or more each.
    fn places(&self) -> Vec<usize> {
        let mut next = 32;
        let sizes = self.scalars.iter().map(|scalar| {
            let at = next;
            next += scalar.len().next_multiple_of(32);
            at
        });
        sizes.collect()
    }

    /// A kernel of these lines; scalar N is the variable `SN`, of bytes.
    fn text(&self, lines: &str) -> String {
        let mut text = ".version 4.1\n.kernel \"k\"\n".to_owned();
        for name in ["AT", "X", "Y", "SPARE", "N"] {
            text += &format!(".decl {name} v_type=G type=ud num_elts=8 align=GRF\n");
        }
        text += ".decl Q v_type=G type=uq num_elts=4 align=GRF\n.decl P1 v_type=P num_elts=8\n\
                 .decl W v_type=G type=uw num_elts=1 align=GRF\n.decl A0 v_type=A num_elts=1\n";
        for (number, scalar) in self.scalars.iter().enumerate() {
            let count = scalar.len();
            text += &format!(".decl S{number} v_type=G type=ub num_elts={count} align=GRF\n");
        }
        for (number, (scalar, at)) in self.scalars.iter().zip(self.places()).enumerate() {
            text += &format!(".input S{number} offset={at} size={}\n", scalar.len());
        }
        let lines: Vec<&str> = lines.lines().map(str::trim).collect();
        format!(
            "{text}.kernel_attr SimdSize=8\n.function \"k_0\"\nk_0:\nmov (M1_NM, 8) AT(0,0)<1> 0x0:ud\n\
             mov (M1_NM, 8) X(0,0)<1> 0x1:ud\nmov (M1_NM, 4) Q(0,0)<1> 0xffffffff:ud\n{}\nret (M1, 1)\n",
            lines.join("\n")
        )
    }

    fn object(&self, lines: &str) -> Object<'static> {
        let text = self.text(lines);
        let object = asm::assemble(text.as_bytes(), &asm::Options::default());
        object
            .unwrap_or_else(|e| panic!("{e}\n{text}"))
            .into_owned()
    }

    pub(crate) fn proof(&self, lines: [&str; 2]) -> Proof {
        self.launched(lines, |[old, new], arguments| {
            prove(old, new, arguments, &Config::default(), &self.options).unwrap()
        })
    }

    /// What one kernel never does.
    fn examined(&self, lines: &str) -> Proof {
        self.launched([lines], |[side], arguments| {
            examine(side, arguments, &Config::default(), &self.options).unwrap()
        })
    }

    fn launched<const N: usize, R>(
        &self,
        lines: [&str; N],
        then: impl FnOnce([Side<'_>; N], &[Argument]) -> R,
    ) -> R {
        let metadata = self.metadata();
        let objects = lines.map(|lines| self.object(lines));
        let kernels = objects
            .each_ref()
            .map(|object| Kernel::new(object, "k", &metadata).unwrap());
        let items = self.items;
        let range = NdRange::new(&[items], &[items], &[]).unwrap();
        let sides = kernels.each_ref().map(|kernel| Side { kernel, range });
        let mut arguments = vec![Argument::Buffer(vec![0; BYTES])];
        arguments.extend(self.scalars.iter().cloned().map(Argument::Value));
        then(sides, &arguments)
    }
}

pub(crate) fn why(proof: &Proof) -> &str {
    match &proof.verdict {
        Verdict::Unknown(Unknown { why, .. }) => why,
        other => panic!("{other:?}"),
    }
}

/// Stores a byte of a scalar.
pub(crate) fn stored(byte: &str) -> String {
    format!(
        "mov (M1_NM, 1) X(0,0)<1> {byte}<0;1,0>
         lsc_store.ugm (M1_NM, 1) bti(0x0)[AT]:a32 X:d32"
    )
}

/// An output that is what was never written, always or for some contents of the buffer, is not clean, although the kernel
/// does the same as itself; and it is where that is written first.
#[test]
fn outputs_of_what_was_never_written() {
    let asked = Asked::of_threads(1);
    let kernel = |first: &str| {
        format!(
            "lsc_load.ugm (M1_NM, 1) Y:d32 bti(0x0)[AT]:a32
             cmp.ne (M1, 8) P1 Y(0,0)<0;1,0> 0x7:ud
             {first}
             lsc_load.slm (M1, 8) N:d32 flat[AT]:a32
             lsc_store.ugm (M1, 8) bti(0x0)[AT]:a32 N:d32"
        )
    };
    let store = "lsc_store.slm (M1, 8) flat[AT]:a32 X:d32";
    let never = asked.examined(&kernel(""));
    assert!(why(&never).contains("never written"), "{never:?}");
    let some = asked.examined(&kernel(&format!("(P1) {store}")));
    assert!(why(&some).contains("never written"), "{some:?}");
    let written = asked.examined(&kernel(store));
    assert_eq!(written.verdict, Verdict::Proven, "{written:?}");
    // Beside another kernel it may be anything.
    let mut asked = asked;
    asked.options.by_steps = false;
    let both = asked.proof([&kernel(""), &kernel(store)]);
    assert_eq!(both.verdict, Verdict::Proven, "{both:?}");
}

/// A given scalar is none of any value, whatever its value is.
#[test]
fn a_given_scalar_is_not_one_of_any_value() {
    for value in [0, 1, 2] {
        let mut asked = Asked::of_threads(1);
        asked.scalars = vec![vec![value], vec![value]];
        asked.options.symbolic = vec![1];
        asked.options.trials = 0;
        let proof = asked.proof([&stored("S0(0,0)"), &stored("S1(0,0)")]);
        assert_ne!(proof.verdict, Verdict::Proven, "{value}");
        let proof = asked.proof([&stored("S0(0,0)"), &stored("S0(0,0)")]);
        assert!(proof.method == Method::Steps, "{value}");
    }
}

/// Bytes of many scalars are told apart, or nothing is said.
#[test]
fn bytes_of_many_scalars_are_not_confused() {
    let mut asked = Asked::of_threads(1);
    asked.scalars = vec![vec![0; 256], vec![0], vec![0]];
    asked.options.symbolic = vec![1, 2, 3];
    asked.options.trials = 0;
    let proof = asked.proof([&stored("S1(0,0)"), &stored("S2(0,0)")]);
    assert!(why(&proof).contains("more than 255 bytes"), "{proof:?}");
}

/// A part of what an atomic operation changes is changed by itself: carries show the order.
#[test]
fn atomics_of_different_sizes_do_not_commute() {
    let mut asked = Asked::of_threads(2);
    asked.options.by_steps = false;
    asked.options.trials = 0;
    let add = |size: &str, data: &str| {
        format!("lsc_atomic_iadd.ugm (M1_NM, 1) %null:{size} bti(0x0)[AT]:a32 {data} %null\n")
    };
    let same = |lines: &str| asked.proof([lines, lines]);
    let dword = add("d32", "X");
    assert_eq!(same(&dword).verdict, Verdict::Proven);
    let proof = same(&(dword.clone() + &add("d64", "Q")));
    assert!(why(&proof).contains("without an order"), "{proof:?}");
    let moved = dword.replace("[AT]", "[AT+0x4]");
    let proof = same(&(moved + &add("d64", "Q")));
    assert!(why(&proof).contains("without an order"), "{proof:?}");
}

/// Sums commute whatever is added, also where only some threads add it.
#[test]
fn atomic_sums_commute() {
    let mut asked = Asked::of_threads(2);
    asked.options.by_steps = false;
    asked.options.trials = 0;
    let same = |lines: &str| asked.proof([lines, lines]);
    let sum = |op: &str, memory: &str, data: &str| {
        let place = match memory {
            "ugm" => "bti(0x0)[AT]:a32",
            _ => "flat[AT]:a32",
        };
        format!("lsc_atomic_{op}.{memory} (M1, 8) %null:d32 {place} {data} %null\n")
    };
    let sums =
        sum("iinc", "ugm", "%null") + &sum("iadd", "ugm", "X") + &sum("idec", "ugm", "%null");
    assert_eq!(same(&sums).verdict, Verdict::Proven);
    let proof = same(&(sums + &sum("umax", "ugm", "X")));
    assert!(why(&proof).contains("without an order"), "{proof:?}");
    // In local memory, under a condition that depends on data.
    let some = format!(
        "lsc_store.slm (M1, 8) flat[AT]:a32 AT:d32
         lsc_fence.slm.none.group
         barrier
         lsc_load.ugm (M1_NM, 1) Y:d32 bti(0x0)[AT]:a32
         cmp.lt (M1, 8) P1 Y(0,0)<0;1,0> 0x7:ud
         (P1) {}
         lsc_fence.slm.none.group
         barrier
         lsc_load.slm (M1_NM, 1) Y:d32 flat[AT]:a32
         lsc_store.ugm (M1_NM, 1) bti(0x0)[AT+0x10]:a32 Y:d32",
        sum("iadd", "slm", "X")
    );
    let proof = same(&some);
    assert_eq!(proof.verdict, Verdict::Proven, "{proof:?}");
    // Without the barrier they race, and without one of the fences.
    let fence = "lsc_fence.slm.none.group\n";
    let (first, last) = (some.replacen(fence, "", 1), some.rsplit_once(fence));
    let last = last.map(|(before, after)| before.to_owned() + after);
    let barrier = some.rsplit_once("barrier\n");
    let barrier = barrier.map(|(before, after)| before.to_owned() + after);
    for without in [Some(first), last, barrier] {
        let proof = same(&without.unwrap());
        assert!(why(&proof).contains("without an order"), "{proof:?}");
    }
}

/// An exchange by compared values with the same operands is the same once as often as threads like.
#[test]
fn equal_exchanges_commute() {
    let mut asked = Asked::of_threads(2);
    asked.options.by_steps = false;
    asked.options.trials = 0;
    let same = |lines: &str| asked.proof([lines, lines]);
    let exchange = |result: &str, old: &str, new: &str| {
        format!("lsc_atomic_icas.ugm (M1, 8) {result}:d32 bti(0x0)[AT]:a32 {old} {new}\n")
    };
    let once = exchange("%null", "AT", "X");
    assert_eq!(same(&once).verdict, Verdict::Proven);
    assert_eq!(same(&once.repeat(2)).verdict, Verdict::Proven);
    // Another value, other operands in each lane, or what the message returns, shows which came first.
    let ids = "mov (M1_NM, 8) Y(0,0)<1> 0x76543210:uv\n";
    for lines in [
        once.clone() + &exchange("%null", "X", "AT"),
        ids.to_owned() + &exchange("%null", "AT", "Y"),
        exchange("N", "AT", "X"),
    ] {
        let proof = same(&lines);
        assert!(matches!(proof.verdict, Verdict::Unknown(_)), "{proof:?}");
    }
}

/// Where a solver tells kernels apart and no run does, checks are asked about the contents that it found.
#[test]
fn what_is_undefined_for_few_contents_is_refuted() {
    let asked = Asked::of_threads(1);
    let lines = |set: &str| {
        format!(
            "lsc_load.ugm (M1_NM, 1) Y:d32 bti(0x0)[AT]:a32
             mul (M1_NM, 1) X(0,0)<1> Y(0,0)<0;1,0> 0x9e3779b1:ud
             cmp.{set} (M1_NM, 1) P1 X(0,0)<0;1,0> 0x12345678:ud
             (P1) mov (M1_NM, 1) N(0,0)<1> 0x0:ud
             lsc_store.ugm (M1_NM, 1) bti(0x0)[AT+0x4]:a32 N:d32"
        )
    };
    let proof = asked.proof([&lines("ge").replace("(P1) mov", "mov"), &lines("ne")]);
    let Verdict::Refuted(found) = &proof.verdict else {
        panic!("{proof:?}");
    };
    assert!(
        matches!(found.difference, Difference::Finding(_)),
        "{found:?}"
    );
}

/// The new kernel runs for longer than anybody waits, which is no fault.
#[test]
fn a_limit_of_the_executor_is_no_difference() {
    let mut asked = Asked::of_threads(1);
    asked.options.trials = 1;
    asked.options.steps = 10_000;
    let long = "mov (M1_NM, 1) N(0,0)<1> 0x0:ud
                again:
                add (M1_NM, 1) N(0,0)<1> N(0,0)<0;1,0> 0x1:ud
                cmp.lt (M1_NM, 1) P1 N(0,0)<0;1,0> 0xffffffff:ud
                (P1) jmp (M1, 1) again
                lsc_store.ugm (M1_NM, 1) bti(0x0)[AT]:a32 X:d32";
    let store = "lsc_store.ugm (M1_NM, 1) bti(0x0)[AT]:a32 X:d32";
    let proof = asked.proof([store, long]);
    assert!(why(&proof).contains("more than 10000 steps"), "{proof:?}");
}

/// Threads that write the same value may do so in any order, and lanes may read what they wrote.
#[test]
fn writes_of_equal_values_do_not_refute() {
    let mut asked = Asked::of_threads(2);
    asked.options.known = vec![0];
    let zero = "mov (M1_NM, 8) X(0,0)<1> 0x0:ud
                mov (M1_NM, 8) AT(0,0)<1> 0x76543210:uv
                shl (M1_NM, 8) AT(0,0)<1> AT(0,0)<1;1,0> 0x2:ud\n";
    let write = "lsc_store.ugm (M1, 8) bti(0x0)[AT]:a32 X:d32\n";
    let read = "lsc_load.ugm (M1, 8) Y:d32 bti(0x0)[AT]:a32\n\
                lsc_store.ugm (M1, 8) bti(0x0)[AT+0x20]:a32 Y:d32\n";
    for lines in [write.to_owned(), format!("{write}{read}")] {
        let proof = asked.proof([zero, &format!("{zero}{lines}")]);
        let refuted = matches!(proof.verdict, Verdict::Refuted(_));
        assert!(!refuted, "{lines}: {proof:?}");
    }
    // Of elements of any size.
    let bytes = "lsc_store.ugm (M1, 8) bti(0x0)[AT+0x1]:a32 X:d8u32\n\
                 lsc_store.ugm (M1, 8) bti(0x0)[AT+0x2]:a32 X:d16u32\n";
    let proof = asked.proof([zero, &format!("{zero}{write}{bytes}")]);
    assert!(!matches!(proof.verdict, Verdict::Refuted(_)), "{proof:?}");
    // Each its own value is a race.
    let own = "mov (M1_NM, 8) X(0,0)<1> AT(0,0)<1;1,0>\n\
               mov (M1_NM, 8) AT(0,0)<1> 0x0:ud\n";
    let proof = asked.proof([zero, &format!("{zero}{own}{write}")]);
    assert!(matches!(proof.verdict, Verdict::Refuted(_)), "{proof:?}");
}

/// Lanes may write to one place where but one of them does.
#[test]
fn lanes_that_exclude_each_other_write_to_one_place() {
    let mut asked = Asked::of_threads(1);
    asked.options.by_steps = false;
    asked.options.by_induction = false;
    asked.options.trials = 0;
    let lines = |relation: &str| {
        format!(
            "lsc_load.ugm (M1_NM, 1) Y:d32 bti(0x0)[AT]:a32
             and (M1_NM, 8) Y(0,0)<1> Y(0,0)<0;1,0> 0x7:ud
             mov (M1_NM, 8) N(0,0)<1> 0x76543210:uv
             cmp.{relation} (M1, 8) P1 Y(0,0)<1;1,0> N(0,0)<1;1,0>
             (P1) lsc_store.ugm (M1, 8) bti(0x0)[AT]:a32 N:d32"
        )
    };
    let same = |relation: &str| {
        let lines = lines(relation);
        asked.proof([&lines, &lines])
    };
    assert_eq!(same("eq").verdict, Verdict::Proven);
    let proof = same("le");
    assert!(why(&proof).contains("different values"), "{proof:?}");
}

/// How long a thread runs before another one has its turn shows in the results of atomic operations: steps that are left
/// out are not without effect there.
#[test]
fn steps_that_are_left_out_change_the_order_of_threads() {
    let looped = |lines: &str| {
        format!(
            "mov (M1_NM, 1) N(0,0)<1> 0x0:ud
             again:
             {lines}
             add (M1_NM, 1) N(0,0)<1> N(0,0)<0;1,0> 0x1:ud
             cmp.lt (M1_NM, 1) P1 N(0,0)<0;1,0> 0x2000:ud
             (P1) jmp (M1, 1) again
             lsc_store.ugm (M1_NM, 1) bti(0x0)[AT+0x10]:a32 Y:d32"
        )
    };
    let spare = "add (M1_NM, 1) SPARE(0,0)<1> X(0,0)<0;1,0> 0x1:ud\n";
    let atomic = |result: &str| {
        format!("lsc_atomic_iadd.ugm (M1_NM, 1) {result}:d32 bti(0x0)[AT]:a32 X %null\n")
    };
    let by_steps = |threads: u32, old: &str, new: &str| {
        let mut asked = Asked::of_threads(threads);
        asked.options.trials = 0;
        asked.options.steps = 0;
        asked.proof([old, new]).method == Method::Steps
    };
    let ordered = atomic("Y");
    let (old, new) = (looped(&ordered), looped(&format!("{ordered}{spare}")));
    assert!(by_steps(2, &old, &old));
    assert!(!by_steps(2, &old, &new));
    // One thread has its order for itself, and so have operations that commute, or threads that end soon.
    assert!(by_steps(1, &old, &new));
    let free = atomic("%null");
    let (old, new) = (looped(&free), looped(&format!("{free}{spare}")));
    assert!(by_steps(2, &old, &new));
    assert!(by_steps(2, &ordered, &format!("{ordered}{spare}")));
}

/// Whether two kernels of these lines, with a load before them and a store after them, are the same by steps.
fn same_steps(asked: &Asked, old: &str, new: &str) -> bool {
    let around = |lines: &str| {
        format!(
            "lsc_load.ugm (M1_NM, 1) X:d32x8t bti(0x0)[AT]:a32
             {lines}
             lsc_store.ugm (M1_NM, 1) bti(0x0)[AT]:a32 X:d32x8t"
        )
    };
    let mut asked = asked.clone();
    asked.options.trials = 0;
    asked.options.steps = 0;
    asked.proof([&around(old), &around(new)]).method == Method::Steps
}

/// Steps that compute the same in another way are the same.
#[test]
fn steps_of_equal_results_are_the_same() {
    let asked = Asked::of_threads(1);
    let pairs = [
        (
            "mul (M1, 8) X(0,0)<1> X(0,0)<1;1,0> 0x2000:ud",
            "shl (M1, 8) X(0,0)<1> X(0,0)<1;1,0> 0xd:ud",
            true,
        ),
        (
            "mul (M1, 8) X(0,0)<1> X(0,0)<1;1,0> 0x2000:ud",
            "shl (M1, 8) X(0,0)<1> X(0,0)<1;1,0> 0xe:ud",
            false,
        ),
        (
            "add (M1, 8) X(0,0)<1> X(0,0)<1;1,0> 0x5:ud",
            "add (M1, 8) X(0,0)<1> X(0,0)<1;1,0> 0x5:uw",
            true,
        ),
        (
            "add (M1, 8) X(0,0)<1> X(0,0)<1;1,0> 0x5:ud",
            "add (M1, 8) X(0,0)<1> X(0,0)<1;1,0> 0x6:uw",
            false,
        ),
        (
            "and (M1, 8) X(0,0)<1> X(0,0)<1;1,0> 0x0:ud",
            "mov (M1, 8) X(0,0)<1> 0x0:ud",
            true,
        ),
        (
            "shr (M1, 8) X(0,0)<1> X(0,0)<1;1,0> 0x1:ud",
            "asr (M1, 8) X(0,0)<1> X(0,0)<1;1,0> 0x1:ud",
            true,
        ),
        (
            "cmp.eq (M1, 8) P1 X(0,0)<1;1,0> 0x0:ud
             (P1) sel (M1, 8) X(0,0)<1> 0x7:d X(0,0)<1;1,0>",
            "cmp.eq (M1, 8) P1 X(0,0)<1;1,0> 0x0:ud
             (P1) sel (M1, 8) X(0,0)<1> 0x7:w X(0,0)<1;1,0>",
            true,
        ),
        (
            "mov (M1, 8) X(0,0)<1> 0x0:d",
            "mov (M1, 8) X(0,0)<1> 0x0:w",
            true,
        ),
        // Of what nobody has written yet.
        (
            "add (M1, 8) X(0,0)<1> Y(0,0)<1;1,0> 0x5:ud",
            "add (M1, 8) X(0,0)<1> Y(0,0)<1;1,0> 0x5:uw",
            true,
        ),
        (
            "addc (M1, 8) X(0,0)<1> Y(0,0)<1> X(0,0)<1;1,0> 0x5:ud",
            "addc (M1, 8) X(0,0)<1> Y(0,0)<1> X(0,0)<1;1,0> 0x5:uw",
            true,
        ),
        (
            "mov (M1, 8) X(0,0)<1> X(0,0)<1;1,0>",
            "mov (M1, 8) X(0,0)<1> X(0,0)<0;1,0>",
            false,
        ),
        (
            "mov (M1, 8) X(0,0)<1> X(0,0)<1;1,0>",
            "mov (M1, 8) Y(0,0)<1> X(0,0)<1;1,0>",
            false,
        ),
    ];
    for (old, new, expected) in pairs {
        assert_eq!(same_steps(&asked, old, new), expected, "{old} | {new}");
    }
}

/// A mask that enables all lanes that there are is none.
#[test]
fn masks_of_all_lanes_make_no_difference() {
    let add = |mask: &str| format!("add ({mask}, 8) X(0,0)<1> X(0,0)<1;1,0> 0x5:ud");
    let mut asked = Asked::of_threads(1);
    assert!(same_steps(&asked, &add("M1"), &add("M1_NM")));
    // Lanes may be elsewhere, or there are fewer.
    let apart = |lines: &str| {
        format!(
            "cmp.eq (M1, 8) P1 X(0,0)<1;1,0> 0x0:ud
             (P1) goto (M1, 8) on
             {lines}
             on:"
        )
    };
    assert!(!same_steps(
        &asked,
        &apart(&add("M1")),
        &apart(&add("M1_NM"))
    ));
    asked.items = 12;
    assert!(!same_steps(&asked, &add("M1"), &add("M1_NM")));
}

/// What lanes would compute that run in no thread makes no difference.
#[test]
fn lanes_that_never_run_make_no_difference() {
    let add = "add (M2, 4) X(0,4)<1> X(0,4)<1;1,0> 0x5:ud";
    let mut asked = Asked::of_threads(1);
    assert!(!same_steps(&asked, add, ""));
    asked.items = 4;
    assert!(same_steps(&asked, add, ""));
    assert!(!same_steps(&asked, &add.replace("M2", "M1"), ""));
    assert!(!same_steps(&asked, &add.replace("M2", "M2_NM"), ""));
    // In the first of two threads they do.
    asked.items = 12;
    assert!(!same_steps(&asked, add, ""));
}

/// A part of a variable that nothing reads makes no difference.
#[test]
fn parts_that_nothing_reads_make_no_difference() {
    let asked = Asked::of_threads(1);
    let lines = |part: &str| {
        format!(
            "mov (M1, 8) Y(0,0)<1> 0x3:ud
             {part}
             add (M1, 4) X(0,0)<1> X(0,0)<1;1,0> Y(0,0)<1;1,0>"
        )
    };
    for (part, equal) in [
        ("mov (M1, 4) Y(0,4)<1> 0x9:ud", true),
        ("mov (M1, 4) Y(0,3)<1> 0x9:ud", false),
    ] {
        assert_eq!(
            same_steps(&asked, &lines(""), &lines(part)),
            equal,
            "{part}"
        );
    }
}

/// A barrier of one thread orders nothing.
#[test]
fn barriers_of_one_thread_are_left_out() {
    let barrier = "barrier";
    assert!(same_steps(&Asked::of_threads(1), barrier, ""));
    assert!(!same_steps(&Asked::of_threads(2), barrier, ""));
}

/// What the launch decides and nobody writes is a number, unless it is of any value.
#[test]
fn steps_may_be_the_same_for_one_value_of_a_scalar() {
    let mut asked = Asked::of_threads(2);
    asked.scalars = vec![vec![5]];
    let select = |relation: &str| {
        format!(
            "cmp.{relation} (M1_NM, 8) P1 S0(0,0)<0;1,0> 0x0:ub
             (P1) sel (M1, 8) X(0,0)<1> X(0,0)<1;1,0> 0x7:ud"
        )
    };
    assert!(same_steps(&asked, &select("gt"), &select("ge")));
    assert!(!same_steps(&asked, &select("gt"), &select("lt")));
    asked.options.symbolic = vec![1];
    assert!(!same_steps(&asked, &select("gt"), &select("ge")));
    // What is written is no number any more.
    asked.options.symbolic = Vec::new();
    let written = |relation: &str| {
        format!(
            "mov (M1_NM, 1) S0(0,0)<1> X(0,0)<0;1,0>
             {}",
            select(relation)
        )
    };
    assert!(!same_steps(&asked, &written("gt"), &written("ge")));
}

/// Contents that show a difference are made smaller, but not into what the old kernel leaves open.
#[test]
fn smaller_contents_do_not_lose_a_difference() {
    let asked = Asked::of_threads(1);
    // A variable that was never written, where the first dword is 0.
    let old = "lsc_load.ugm (M1_NM, 1) Y:d32 bti(0x0)[AT]:a32
               cmp.eq (M1_NM, 1) P1 Y(0,0)<0;1,0> 0x0:ud
               (P1) mov (M1_NM, 1) Y(0,0)<1> N(0,0)<0;1,0>
               lsc_store.ugm (M1_NM, 1) bti(0x0)[AT+0x4]:a32 Y:d32";
    let new = old.replace(
        "lsc_store",
        "add (M1_NM, 1) Y(0,0)<1> Y(0,0)<0;1,0> 0x1:ud\nlsc_store",
    );
    let Verdict::Refuted(found) = asked.proof([old, &new]).verdict else {
        panic!("not refuted");
    };
    let Argument::Buffer(bytes) = &found.arguments[0] else {
        panic!("{found:?}");
    };
    assert_ne!(bytes[..4], [0; 4]);
}

/// An address that is chosen by another condition than that of its access, which follows from it: there is but one.
#[test]
fn what_chooses_an_address_follows_from_where_it_is_used() {
    let asked = Asked::of_threads(1);
    let text = |address: &str| {
        format!(
            "lsc_load.ugm (M1_NM, 1) Y:d32 bti(0x0)[AT]:a32
             cmp.lt (M1_NM, 1) P1 Y(0,0)<0;1,0> 0x10:ud
             {address}
             cmp.lt (M1_NM, 1) P1 Y(0,0)<0;1,0> 0x8:ud
             (P1) lsc_store.ugm (M1, 1) bti(0x0)[N]:a32 Y:d32"
        )
    };
    let old = text("(P1) sel (M1_NM, 1) N(0,0)<1> 0x4:ud 0x8:ud");
    for (number, proven) in [("0x4", true), ("0x8", false)] {
        let new = text(&format!("mov (M1_NM, 1) N(0,0)<1> {number}:ud"));
        let verdict = asked.proof([&old, &new]).verdict;
        assert_eq!(verdict == Verdict::Proven, proven, "{number}: {verdict:?}");
    }
}
