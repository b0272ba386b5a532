//! The text forms of the rows of `lsc.rs`.

use super::field::short::*;

/// Switches of loads and of atomic operations on texels.
const OVERFETCH: Part = Part::Flags(F::Overfetch, &[(0, ".ov")]);
const MULTI_SAMPLED: Part = Part::Flags(F::MultiSampled, &[(0, ".msaa")]);

/// `flat`, `bti(0x5)`
const MODEL: Part = Part::MayOmit(&[Part::Named(F::AddrType)]);

/// The base surface of the models that have one.
const BASE: Part = Part::If(
    Test::OneOf(F::AddrType, 0b101_1100),
    &[
        Part::Text("("),
        Part::Bare(F::Surface),
        Part::If(
            Test::Not(F::SurfaceIndex, 0),
            &[Part::Text(","), Part::Hex(F::SurfaceIndex)],
        ),
        Part::Text(")"),
    ],
);

/// What is added to flat addresses and arguments; printers of 2023 omit it.
const FLAT_BASE: Part = Part::If(
    Test::OneOf(F::AddrType, 0b10_0010),
    &[Part::NotIntel(&[Part::If(
        Test::NotZero(F::Surface),
        &[Part::Text("("), Part::Bare(F::Surface), Part::Text(")")],
    )])],
);

const SCALE: Part = Part::If(
    Test::Above(F::AddrScale, 1),
    &[Part::Hex(F::AddrScale), Part::Text("*")],
);

const NUMBER: Part = Part::Choice(&Choice {
    field: F::DataElems,
    mask: 0xff,
    cases: &[
        (1, ""),
        (2, "x2"),
        (3, "x3"),
        (4, "x4"),
        (5, "x8"),
        (6, "x16"),
        (7, "x32"),
        (8, "x64"),
    ],
    otherwise: "<<0?>>",
});

const ORDER: Part = Part::Choice(&Choice {
    field: F::DataOrder,
    mask: 0xff,
    cases: &[(1, ""), (2, "t")],
    otherwise: "<<0?>>",
});

/// No number of elements was written.
const PLAIN: Test = Test::OneOf(F::DataElems, 0b10);

/// `x4t`, and what Intel's assemblers accept in addition: `x1`, and the channels of quads, whose mask
/// they store in place of the number of elements.
const VECTOR: Part = Part::If(
    Test::Present(F::DataElems),
    &[
        NUMBER,
        Part::InputOnly(&[Part::If(PLAIN, &[Part::InputOnly(&[Part::Text("x1")])])]),
        ORDER,
        Part::InputOnly(&[Part::If(
            PLAIN,
            &[Part::InputOnly(&[
                Part::Text("."),
                Part::Channels(F::DataElems, "xyzw"),
            ])],
        )]),
    ],
);

/// `.xyzw`, and what Intel's assemblers accept in addition: a number of elements, which they store in
/// place of the mask.
const ENABLED: Part = Part::If(
    Test::Present(F::ChMask),
    &[
        Part::MayOmit(&[Part::Text("."), Part::Channels(F::ChMask, "xyzw")]),
        Part::InputOnly(&[Part::If(
            Test::NoBits(F::ChMask, 0xf),
            &[Part::InputOnly(&[NUMBER]), Part::InputOnly(&[ORDER])],
        )]),
    ],
);

const ORDER_2D: Part = Part::Choice(&Choice {
    field: F::DataOrder,
    mask: 0xff,
    cases: &[(1, "n"), (2, "t")],
    otherwise: "n",
});

const VNNI: Part = Part::Choice(&Choice {
    field: F::Vnni,
    mask: 0xff,
    cases: &[(0, "n")],
    otherwise: "t",
});

const COLON: Part = Part::Text(":");
const GAP: Part = Part::Text("  ");
const ELEMENT: Part = Part::Named(F::DataSize);
const TARGET: Part = Part::Bare(F::Dst);
const DATA: Part = Part::Bare(F::Src1Data);
const MORE_DATA: Part = Part::Bare(F::Src2Data);

/// Prepends the common beginning of all untyped messages to the parts of one kind.
macro_rules! untyped {
    ($($part:expr),* $(,)?) => {
        &[
            Part::Predicate,
            Part::Mnemonic,
            Part::Text("."),
            Part::Named(F::Sfid),
            Part::Caching,
            Part::Text(" "),
            Part::ExecSize,
            GAP,
            $($part),*
        ]
    };
}

/// Loads, with their destination.
macro_rules! loaded {
    ($($part:expr),* $(,)?) => {
        &[
            Part::Predicate,
            Part::Mnemonic,
            Part::Text("."),
            Part::Named(F::Sfid),
            Part::Caching,
            OVERFETCH,
            Part::Text(" "),
            Part::ExecSize,
            GAP,
            $($part),*
        ]
    };
}

/// Prepends the common beginning of all typed messages to the parts of one kind.
macro_rules! typed {
    ($($part:expr),* $(,)?) => {
        &[
            Part::Predicate,
            Part::Mnemonic,
            Part::Caching,
            Part::Text(" "),
            Part::ExecSize,
            GAP,
            $($part),*
        ]
    };
}

/// `bti(0x5)[V32+0x10]:a32`
const ADDRESS: Part = Part::If(
    Test::Present(F::Src0Addrs),
    &[
        MODEL,
        FLAT_BASE,
        BASE,
        Part::Text("["),
        SCALE,
        Part::Bare(F::Src0Addrs),
        Part::SignedHex(F::AddrOffset),
        Part::Text("]:"),
        Part::Named(F::AddrSize),
    ],
);

/// `flat[V32, 0x8]:a32`
const STRIDED_ADDRESS: Part = Part::If(
    Test::Present(F::Src0AddrBase),
    &[
        MODEL,
        FLAT_BASE,
        BASE,
        Part::Text("["),
        SCALE,
        Part::Bare(F::Src0AddrBase),
        Part::SignedHex(F::AddrOffset),
        Part::If(
            Test::NotNull(F::Src0AddrPitch),
            &[Part::Text(", "), Part::Bare(F::Src0AddrPitch)],
        ),
        Part::Text("]:"),
        Part::Named(F::AddrSize),
    ],
);

/// What follows a payload that holds the whole address of a block.
const BLOCK_PAYLOAD: &[Part] = &[
    Part::Text(" + ("),
    Part::Number(F::UOffset),
    Part::Text(","),
    Part::Number(F::VOffset),
    Part::Text(")"),
];

/// What follows the base of a surface.
const BLOCK_PLACE: &[Part] = &[
    Part::Text(", "),
    Part::Bare(F::SurfaceWidth),
    Part::Text(", "),
    Part::Bare(F::SurfaceHeight),
    Part::Text(", "),
    Part::Bare(F::SurfacePitch),
    Part::Text(", "),
    Part::Bare(F::X),
    Part::SignedHex(F::UOffset),
    Part::Text(", "),
    Part::Bare(F::Y),
    Part::SignedHex(F::VOffset),
];

/// `flat[V32, V33, V34, V35, V36, V37]`
const BLOCK_ADDRESS: Part = Part::If(
    Test::Present(F::SurfaceBase),
    &[
        Part::Text("flat["),
        Part::Bare(F::SurfaceBase),
        Part::If(
            Test::Present(F::UOffset),
            &[
                Part::If(Test::Null(F::SurfaceWidth), BLOCK_PAYLOAD),
                Part::If(Test::NotNull(F::SurfaceWidth), BLOCK_PLACE),
            ],
        ),
        Part::If(Test::Absent(F::UOffset), &[Part::InputOnly(BLOCK_PAYLOAD)]),
        Part::If(Test::Absent(F::UOffset), BLOCK_PLACE),
        Part::Text("]"),
    ],
);

/// `:d16.2x16x8nn`
const BLOCK_SHAPE: Part = Part::If(
    Test::Present(F::Blocks),
    &[
        COLON,
        ELEMENT,
        Part::Text("."),
        Part::If(
            Test::Not(F::Blocks, 1),
            &[Part::Number(F::Blocks), Part::Text("x")],
        ),
        Part::Number(F::BlockWidth),
        Part::Text("x"),
        Part::Number(F::BlockHeight),
        Part::MayOmit(&[ORDER_2D, Part::MayOmit(&[VNNI])]),
    ],
);

/// `bti(0x5)[V32, V33, %null, %null]:a32`
const COORDINATES: Part = Part::If(
    Test::Present(F::Src0U),
    &[
        MODEL,
        BASE,
        Part::Text("["),
        Part::Bare(F::Src0U),
        Part::SignedHex(F::UOffset),
        Part::MayOmit(&[
            Part::Text(", "),
            Part::Bare(F::Src0V),
            Part::SignedHex(F::VOffset),
            Part::MayOmit(&[
                Part::Text(", "),
                Part::Bare(F::Src0R),
                Part::SignedHex(F::ROffset),
                Part::MayOmit(&[Part::Text(", "), Part::Bare(F::Src0Lod)]),
            ]),
        ]),
        Part::Text("]:"),
        Part::Named(F::AddrSize),
    ],
);

/// `bti(0x5)[V32, V33]`
const BLOCK_COORDINATES: Part = Part::If(
    Test::Present(F::X),
    &[
        MODEL,
        BASE,
        Part::Text("["),
        Part::Bare(F::X),
        Part::SignedHex(F::UOffset),
        Part::Text(", "),
        Part::Bare(F::Y),
        Part::SignedHex(F::VOffset),
        Part::Text("]"),
    ],
);

/// `:32x8`
const TYPED_BLOCK_SHAPE: Part = Part::If(
    Test::Present(F::BlockWidth),
    &[
        COLON,
        Part::Number(F::BlockWidth),
        Part::Text("x"),
        Part::Number(F::BlockHeight),
    ],
);

pub(super) const LOAD: &[Part] = loaded!(TARGET, COLON, ELEMENT, VECTOR, GAP, ADDRESS);

pub(super) const LOAD_QUAD: &[Part] = loaded!(TARGET, COLON, ELEMENT, ENABLED, GAP, ADDRESS);

pub(super) const LOAD_STRIDED: &[Part] =
    untyped!(TARGET, COLON, ELEMENT, VECTOR, GAP, STRIDED_ADDRESS);

pub(super) const LOAD_BLOCK: &[Part] = untyped!(TARGET, BLOCK_SHAPE, GAP, BLOCK_ADDRESS);

pub(super) const STORE: &[Part] = untyped!(ADDRESS, GAP, DATA, COLON, ELEMENT, VECTOR);

/// Without data if an operation is written; forms up to 4.1 have data but no operation.
pub(super) const CACHE_CONTROL: &[Part] = &[
    Part::Predicate,
    Part::Mnemonic,
    Part::Text("."),
    Part::Named(F::Sfid),
    Part::Caching,
    Part::Choice(&Choice {
        field: F::CacheOp,
        mask: 0xff,
        cases: &[(1, ".reset"), (2, ".set")],
        otherwise: "",
    }),
    Part::Choice(&Choice {
        field: F::CacheSize,
        mask: 0xff,
        cases: &[(1, ".64B"), (2, ".128B"), (3, ".192B"), (4, ".256B")],
        otherwise: "",
    }),
    Part::Text(" "),
    Part::ExecSize,
    GAP,
    ADDRESS,
    Part::If(
        Test::NoBits(F::CacheOp, 0xff),
        &[GAP, DATA, COLON, ELEMENT, VECTOR],
    ),
];

pub(super) const STORE_QUAD: &[Part] = untyped!(ADDRESS, GAP, DATA, COLON, ELEMENT, ENABLED);

pub(super) const STORE_STRIDED: &[Part] =
    untyped!(STRIDED_ADDRESS, GAP, DATA, COLON, ELEMENT, VECTOR);

pub(super) const STORE_BLOCK: &[Part] = untyped!(BLOCK_ADDRESS, GAP, DATA, BLOCK_SHAPE);

pub(super) const ATOMIC: &[Part] = untyped!(
    TARGET, COLON, ELEMENT, VECTOR, GAP, ADDRESS, GAP, DATA, GAP, MORE_DATA
);

pub(super) const COUNTER: &[Part] = untyped!(
    TARGET,
    COLON,
    ELEMENT,
    VECTOR,
    GAP,
    MODEL,
    BASE,
    // Texts of Xe3P have the address of atomic operations, and an absent second operand.
    Part::InputOnly(&[Part::Text("[%null]")]),
    GAP,
    Part::Bare(F::Src0Data),
    Part::MayOmit(&[COLON, ELEMENT, VECTOR]),
    Part::InputOnly(&[Part::Text(" %null")]),
);

/// A store of counters with the fields of an ordinary message.
pub(super) const COUNTER_STORE: &[Part] = untyped!(
    TARGET,
    COLON,
    ELEMENT,
    VECTOR,
    GAP,
    MODEL,
    BASE,
    GAP,
    DATA,
    Part::MayOmit(&[COLON, ELEMENT, VECTOR]),
);

pub(super) const TYPED_LOAD: &[Part] = typed!(TARGET, COLON, ELEMENT, VECTOR, GAP, COORDINATES);

pub(super) const TYPED_LOAD_QUAD: &[Part] =
    typed!(TARGET, COLON, ELEMENT, ENABLED, GAP, COORDINATES);

/// No execution size: always one lane.
pub(super) const TYPED_LOAD_BLOCK_BARE: &[Part] = &[
    Part::Predicate,
    Part::Mnemonic,
    Part::Caching,
    GAP,
    TARGET,
    TYPED_BLOCK_SHAPE,
    GAP,
    BLOCK_COORDINATES,
];

/// No execution size: always one lane.
pub(super) const TYPED_STORE_BLOCK_BARE: &[Part] = &[
    Part::Predicate,
    Part::Mnemonic,
    Part::Caching,
    GAP,
    BLOCK_COORDINATES,
    GAP,
    DATA,
    TYPED_BLOCK_SHAPE,
];

pub(super) const TYPED_LOAD_BLOCK: &[Part] =
    typed!(TARGET, TYPED_BLOCK_SHAPE, GAP, BLOCK_COORDINATES);

pub(super) const TYPED_STORE: &[Part] = typed!(COORDINATES, GAP, DATA, COLON, ELEMENT, VECTOR);

pub(super) const TYPED_STORE_QUAD: &[Part] =
    typed!(COORDINATES, GAP, DATA, COLON, ELEMENT, ENABLED);

pub(super) const TYPED_STORE_BLOCK: &[Part] =
    typed!(BLOCK_COORDINATES, GAP, DATA, TYPED_BLOCK_SHAPE);

pub(super) const TYPED_ATOMIC: &[Part] = &[
    Part::Predicate,
    Part::Mnemonic,
    Part::Caching,
    MULTI_SAMPLED,
    Part::Text(" "),
    Part::ExecSize,
    GAP,
    TARGET,
    COLON,
    ELEMENT,
    VECTOR,
    GAP,
    COORDINATES,
    GAP,
    DATA,
    GAP,
    MORE_DATA,
];

/// No execution size; printers of 2023 omit the coordinates.
pub(super) const SURFACE_STATE: &[Part] = &[
    Part::Predicate,
    Part::Mnemonic,
    Part::Caching,
    GAP,
    TARGET,
    GAP,
    MODEL,
    BASE,
    Part::NotIntel(&[Part::MayOmit(&[
        Part::Text("["),
        Part::Bare(F::Src0U),
        Part::Text("]"),
    ])]),
];

pub(super) const FENCE: &[Part] = &[
    Part::Predicate,
    Part::Mnemonic,
    Part::Text("."),
    Part::Named(F::Sfid),
    Part::Text("."),
    Part::Named(F::FenceOp),
    Part::Text("."),
    Part::Named(F::Scope),
];
