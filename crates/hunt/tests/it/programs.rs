//! The generator and the evaluator.

use proptest::prelude::*;
use visakit_hunt::ast::{Binary, Expr, Node, Program, Statement};
use visakit_hunt::{Feature, Options, evaluate, generate, reduce, source};

/// Whether there is a loop in a statement.
fn loops(statement: &Statement) -> bool {
    matches!(statement, Statement::Loop { .. })
        || statement.blocks().into_iter().flatten().any(loops)
}

#[test]
fn programs_are_readable() {
    let small = Options {
        statements: 5,
        ..Options::default()
    };
    for seed in [3, 8] {
        let program = generate(seed, &small);
        insta::assert_snapshot!(format!("seed_{seed}"), source(&[&program], None));
    }
}

#[test]
fn every_feature_occurs() {
    // There are too many functions of floats for a few programs of all features.
    let exact = Options {
        features: [Feature::Exact, Feature::Floats, Feature::Vectors].into(),
        ..Options::default()
    };
    let all = (0..120).map(|seed| generate(seed, &Options::default()));
    let all = all.chain((0..120).map(|seed| generate(seed, &exact)));
    let text: String = all.map(|program| source(&[&program], None)).collect();
    for word in [
        "struct",
        "half",
        "double",
        "float3",
        "long",
        "__local",
        "barrier(",
        "atomic_",
        "intel_sub_group_shuffle_xor(",
        "work_group_",
        "intel_sub_group_block_read",
        "intel_sub_group_2d_block_read",
        "_matrix_mad_k32(",
        "switch",
        "default:",
        "do {",
        "for (",
        "break;",
        "continue;",
        "noinline",
        "__constant",
        "(__private uchar *)",
        "vstore3(",
        "convert_",
        "_sat(",
        "as_",
        "shuffle2(",
        "upsample(",
        "mad_sat(",
        "rotate(",
        "select(",
        "bitselect(",
        "popcount(",
        "clz(",
        "fma(",
        "rint(",
        "isnan(",
        "any(",
        "fract_part(",
        "frexp_exponent(",
        "remquo_quotient(",
        "ldexp(",
        "nextafter(",
        "fmin(",
        "isunordered(",
        "signbit(",
        "read_imageui(",
        "read_imagei(",
        "read_imagef(",
        "write_image",
        "get_image_height(",
        ", near, ",
    ] {
        assert!(text.contains(word), "{word}");
    }
    let none = Options {
        features: Vec::new(),
        ..Options::default()
    };
    let plain: String = (0..60)
        .map(|seed| source(&[&generate(seed, &none)], None))
        .collect();
    for word in [
        "struct", "float", "half", "double", "for (", "switch", "barrier", "int4",
    ] {
        assert!(!plain.contains(word), "{word}");
    }
    assert_eq!(Feature::by_name("loops"), Some(Feature::Loops));
}

/// Whether an expression joins two shifts by constants that are a rotation.
fn rotates(expr: &Expr) -> bool {
    let Node::Binary(Binary::Or | Binary::Xor | Binary::Add, a, b) = &expr.node else {
        return false;
    };
    let shift = |e: &Expr, of: Binary| match &e.node {
        Node::Binary(op, x, by) if *op == of => match &by.node {
            Node::Constant(by) => Some((x.clone(), by.lane(0))),
            _ => None,
        },
        _ => None,
    };
    let pair = |a, b| Some((shift(a, Binary::Shl)?, shift(b, Binary::Shr)?));
    let bits = u64::from(expr.ty.scalar.bits());
    pair(a, b)
        .or_else(|| pair(b, a))
        .is_some_and(|((x, up), (y, down))| x == y && up + down == bits)
}

/// Whether a loop shifts a digit out of one variable and into another.
fn reverses(statement: &Statement) -> bool {
    let Statement::Loop { body, .. } = statement else {
        return statement.blocks().into_iter().flatten().any(reverses);
    };
    let shifts = |e: &Expr| matches!(e.node, Node::Binary(Binary::Shl, ..));
    let joins = |e: &Expr| e.children().into_iter().any(shifts);
    let into = |s: &Statement| matches!(s, Statement::Assign(_, e) if joins(e));
    let out = |s: &Statement| matches!(s, Statement::Update(_, Binary::Shr, _));
    body.len() == 2 && body.iter().any(into) && body.iter().any(out)
}

/// Idioms that compilers are known to get wrong are made.
#[test]
fn idioms_occur() {
    let idioms = Options {
        features: [Feature::Idioms, Feature::Loops, Feature::Vectors].into(),
        ..Options::default()
    };
    let (mut rotations, mut vectors, mut reversals) = (0, 0, 0);
    for seed in 0..200 {
        let program = generate(seed, &idioms);
        program.each_expression(&mut |expr| {
            rotations += usize::from(rotates(expr) && !expr.ty.is_vector());
            vectors += usize::from(rotates(expr) && expr.ty.is_vector());
        });
        reversals += program.body.iter().filter(|s| reverses(s)).count();
    }
    assert!(rotations > 20, "{rotations}");
    assert!(vectors > 5, "{vectors}");
    assert!(reversals > 5, "{reversals}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// A seed always gives the same program, which has a result and a bounded size.
    #[test]
    fn programs_are_defined_and_bounded(seed: u64) {
        let options = Options::default();
        let program = generate(seed, &options);
        prop_assert_eq!(&program, &generate(seed, &options));
        prop_assert!(program.size() < 20_000, "{}", program.size());
        let text = source(&[&program], None);
        prop_assert!(text.len() < 1 << 20);
        if let Ok(buffers) = evaluate(&program) {
            prop_assert_eq!(buffers.outputs.len(), program.outputs.len());
            for (values, output) in buffers.outputs.iter().zip(&program.outputs) {
                prop_assert_eq!(values.len(), program.items());
                prop_assert!(values.iter().all(|v| v.ty == output.ty));
            }
        }
    }

    /// A reduction keeps what it is asked to keep, and little else.
    #[test]
    fn reductions_keep_the_property(seed: u64) {
        let program = generate(seed, &Options::default());
        let has_loop = |program: &Program| program.body.iter().any(loops);
        if !has_loop(&program) || evaluate(&program).is_err() {
            return Ok(());
        }
        let mut test = |candidates: &[Program]| candidates.iter().position(has_loop);
        let (small, progress) = reduce(&program, 10_000, &mut test);
        prop_assert!(has_loop(&small));
        let text = source(&[&small], None);
        prop_assert!(small.size() < 8, "{} of {}: {text}", small.size(), program.size());
        prop_assert!(progress.kept > 0);
    }
}
