//! The machine code of small kernels, as `visakit run --show-machine-code` lists it: a template that writes other code
//! shows as a difference. What the code does is tested elsewhere.

use super::translated;
use std::fmt::Write as _;
use visakit_exec::code::Liveness;
use visakit_exec::{Options, Program};
use visakit_jit::{Features, Verdict, listing, verdict};

/// A kernel with these lines, whose variables are read by nobody but itself.
fn listed(lanes: u32, lines: &str, features: Features) -> String {
    let tiles = match lines.contains("dpas") {
        true => {
            ".decl X v_type=G type=ud num_elts=128 align=GRF\n\
             .decl Y v_type=G type=f num_elts=128 align=GRF\n\
             .decl Z v_type=G type=d num_elts=128 align=GRF alias=<Y, 0>\n"
        }
        false => "",
    };
    let text = format!(
        ".version 4.1\n.kernel \"k\"\n\
         .decl A v_type=G type=ud num_elts=32 align=GRF\n\
         .decl B v_type=G type=ud num_elts=32 align=GRF\n\
         .decl C v_type=G type=ud num_elts=32 align=GRF\n\
         .decl D v_type=G type=d num_elts=32 align=GRF alias=<A, 0>\n\
         .decl E v_type=G type=d num_elts=32 align=GRF alias=<B, 0>\n\
         .decl F v_type=G type=f num_elts=32 align=GRF alias=<A, 0>\n\
         .decl G v_type=G type=f num_elts=32 align=GRF alias=<B, 0>\n\
         .decl H v_type=G type=hf num_elts=32 align=GRF\n\
         .decl Q v_type=G type=uq num_elts=32 align=GRF\n\
         .decl R v_type=G type=uq num_elts=32 align=GRF\n\
         .decl S v_type=G type=ud num_elts=1 align=dword\n\
         .decl W v_type=G type=uw num_elts=32 align=GRF\n\
         .decl P1 v_type=P num_elts=32\n\
         {tiles}\
         .kernel_attr SimdSize={lanes}\n{lines}\nret (M1, 1)\n"
    );
    let program = translated(&text);
    // As if it were examined at its end, so that no store is superfluous.
    let live = Liveness::new(program.code(), program.addressed(), true);
    listing(program.code(), live.as_ref(), features).unwrap()
}

/// The code for full masks, without what all kernels have after their last step, and the constants.
fn full(listing: &str) -> String {
    let mut shown = String::new();
    for part in listing.split("\n\n") {
        if part.contains(", all lanes\n") {
            let (steps, rest) = part.split_once("  end\n").unwrap_or((part, ""));
            let (_, detours) = rest.split_once("  detour").unwrap_or_default();
            let (detours, _) = detours.split_once("  exit").unwrap_or((detours, ""));
            shown += steps;
            if !detours.is_empty() {
                let _ = write!(shown, "  detour{detours}");
            }
        } else if part.starts_with("constants") {
            shown += part;
        }
    }
    shown
}

/// The listing for hosts of both kinds.
fn both(lanes: u32, lines: &str) -> String {
    let mut text = String::new();
    for (name, features) in [("AVX2", Features::Avx2), ("AVX-512", Features::Avx512)] {
        let _ = writeln!(
            text,
            "{name}\n\n{}\n",
            full(&listed(lanes, lines, features))
        );
    }
    text
}

/// A snapshot of each kernel: its name, the number of its lanes, its lines.
macro_rules! kernels {
    ($($name:ident($lanes:literal) = $lines:expr;)*) => {$(
        #[test]
        fn $name() {
            insta::with_settings!({ description => $lines, omit_expression => true }, {
                insta::assert_snapshot!(both($lanes, $lines));
            });
        }
    )*};
}

kernels! {
    add(16) = "add (M1, 16) A(0,0)<1> A(0,0)<1;1,0> B(0,0)<1;1,0>";
    add_of_a_number(16) = "add (M1, 16) A(0,0)<1> A(0,0)<1;1,0> S(0,0)<0;1,0>";
    add_of_numbers(16) = "add (M1_NM, 1) S(0,0)<1> S(0,0)<0;1,0> 0x5:ud";
    add_of_floats(16) = "add (M1, 16) F(0,0)<1> F(0,0)<1;1,0> (-)G(0,0)<1;1,0>";
    mad_of_floats(16) = "mad (M1, 16) F(0,0)<1> F(0,0)<1;1,0> G(0,0)<1;1,0> F(0,0)<1;1,0>";
    min_of_floats(16) = "min (M1, 16) F(0,0)<1> F(0,0)<1;1,0> G(0,0)<1;1,0>";
    product_of_qwords(8) = "mul (M1, 8) Q(0,0)<1> Q(0,0)<1;1,0> R(0,0)<1;1,0>";
    shift_of_signed(16) = "asr (M1, 16) D(0,0)<1> D(0,0)<1;1,0> E(0,0)<1;1,0>";
    rotate(16) = "rol (M1, 16) A(0,0)<1> A(0,0)<1;1,0> B(0,0)<1;1,0>";
    truth_table(16) = "bfn.xd8 (M1, 16) A(0,0)<1> A(0,0)<1;1,0> B(0,0)<1;1,0> C(0,0)<1;1,0>";
    count_of_bits(16) = "cbit (M1, 16) A(0,0)<1> B(0,0)<1;1,0>";
    widened(16) = "mov (M1, 16) A(0,0)<1> W(0,0)<1;1,0>";
    narrowed(16) = "mov (M1, 16) W(0,0)<1> A(0,0)<1;1,0>";
    every_second(16) = "mov (M1, 16) A(0,0)<1> B(0,0)<2;1,0>";
    halves(16) = "mov (M1, 16) H(0,0)<1> F(0,0)<1;1,0>";
    float_to_integer(16) = "mov (M1, 16) D(0,0)<1> F(0,0)<1;1,0>";
    square_root(16) = "sqrt (M1, 16) F(0,0)<1> F(0,0)<1;1,0>";
    compared(16) = "cmp.lt (M1, 16) P1 D(0,0)<1;1,0> E(0,0)<1;1,0>";
    predicated(16) = "(P1) add (M1, 16) A(0,0)<1> A(0,0)<1;1,0> B(0,0)<1;1,0>";
    selected(16) = "(P1) sel (M1, 16) A(0,0)<1> A(0,0)<1;1,0> B(0,0)<1;1,0>";
    two_steps(16) = "add (M1, 16) A(0,0)<1> A(0,0)<1;1,0> B(0,0)<1;1,0>\n\
                     xor (M1, 16) A(0,0)<1> A(0,0)<1;1,0> C(0,0)<1;1,0>";
    product_of_brain_floats(16) = "dpas.bf.bf.8.8 (M1, 16) Y.0 Y.0 X.0 X(0,0)";
    product_of_bytes(16) = "dpas.s8.u8.8.8 (M1, 16) Z.0 Z.0 X.0 X(0,0)";
    load(16) = "lsc_load.ugm (M1, 16) A:d32 flat[Q]:a64";
    store(16) = "lsc_store.ugm (M1, 16) flat[Q]:a64 A:d32";
    load_of_pairs(16) = "lsc_load.ugm (M1, 16) A:d32x2 flat[Q]:a64";
    store_of_pairs(16) = "lsc_store.ugm (M1, 16) flat[Q]:a64 A:d32x2";
    load_of_bytes(16) = "lsc_load.ugm (M1, 16) A:d8u32 flat[Q]:a64";
    load_of_a_block(1) = "lsc_load.ugm (M1_NM, 1) A:d32x16t flat[Q]:a64";
    load_masked(16) = "(P1) lsc_load.ugm (M1, 16) A:d32 flat[Q]:a64";
    load_of_local_memory(16) = "lsc_load.slm (M1, 16) A:d32 flat[B]:a32";
    load_of_a_surface(16) = "lsc_load.ugm (M1, 16) A:d32 bti(0x5)[B]:a32";
    atomic_add(16) = "lsc_atomic_iadd.ugm (M1, 16) V0:d32 flat[Q]:a64 A V0";
    turns(16) = "TURN:\nadd (M1, 16) A(0,0)<1> A(0,0)<1;1,0> B(0,0)<1;1,0>\n\
                 add (M1_NM, 1) S(0,0)<1> S(0,0)<0;1,0> 0x1:ud\n\
                 cmp.lt (M1_NM, 1) P1 S(0,0)<0;1,0> 0x40:ud\n(P1) jmp (M1, 1) TURN";
}

/// The whole listing of a kernel in which lanes diverge: the way in, both versions, ways out.
#[test]
fn diverging() {
    let lines = "cmp.lt (M1, 16) P1 D(0,0)<1;1,0> E(0,0)<1;1,0>\n(P1) goto (M1, 16) NEXT\n\
                 add (M1, 16) A(0,0)<1> A(0,0)<1;1,0> B(0,0)<1;1,0>\nNEXT:\n\
                 xor (M1, 16) A(0,0)<1> A(0,0)<1;1,0> C(0,0)<1;1,0>";
    insta::with_settings!({ description => lines, omit_expression => true }, {
        insta::assert_snapshot!(listed(16, lines, Features::Avx512));
    });
}

/// The kernel of a text.
fn opened(path: &str, grf_bytes: u32) -> Program {
    let source = visakit_launch::Source::open(path.as_ref()).unwrap();
    let object = source.object(grf_bytes).unwrap();
    let (kernel, _) = visakit_launch::find_kernel(&object, None).unwrap();
    let options = Options {
        grf_bytes,
        ..Options::default()
    };
    Program::new(&object, kernel, &options).unwrap()
}

/// Listings do not depend on where code is, or on the order of a hash table.
#[test]
fn listed_the_same_again() {
    for features in [Features::Avx2, Features::Avx512] {
        for (_, grf_bytes, path) in super::kernels() {
            let again = || {
                let program = opened(&path, grf_bytes);
                let live = Liveness::new(program.code(), program.addressed(), false);
                listing(program.code(), live.as_ref(), features)
            };
            assert_eq!(again(), again(), "{path}");
            // Nor is any refused.
            let program = opened(&path, grf_bytes);
            let live = Liveness::new(program.code(), program.addressed(), false);
            for live in [None, live.as_ref()] {
                let found = verdict(program.code(), live, features);
                assert_eq!(found, Verdict::Proven, "{path}");
            }
        }
    }
}
