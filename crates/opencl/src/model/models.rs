//! The kinds of GPU.

/// A kind of GPU.
#[derive(Debug)]
pub struct Model {
    /// The name for `VISAKIT_DEVICE`, which the compiler knows, too.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Number on the PCI bus.
    pub(crate) pci: u32,
    /// Architecture and release.
    pub(crate) ip: (u32, u32),
    /// Vector engines.
    pub(crate) units: u32,
    /// MHz.
    pub(crate) clock: u32,
    /// Sizes of subgroups.
    pub subgroups: &'static [u32],
    /// Whether it has samplers, and its compiler supports images.
    pub images: bool,
}

const NARROW: &[u32] = &[8, 16, 32];
const WIDE: &[u32] = &[16, 32];

/// All kinds, the default first.
pub const MODELS: [Model; 11] = [
    row(
        "acm-g10",
        "Intel Arc (visakit)",
        0x56a0,
        (12, 55),
        512,
        2400,
        NARROW,
        true,
    ),
    row(
        "bmg",
        "Intel Arc B-Series (visakit)",
        0xe20b,
        (20, 1),
        160,
        2850,
        WIDE,
        true,
    ),
    row(
        "pvc",
        "Intel Data Center GPU Max (visakit)",
        0x0bd5,
        (12, 60),
        512,
        1600,
        WIDE,
        false,
    ),
    row(
        "lnl",
        "Intel Arc 140V (visakit)",
        0x64a0,
        (20, 4),
        64,
        2050,
        WIDE,
        true,
    ),
    row(
        "ptl",
        "Intel Xe3 (visakit)",
        0xb080,
        (30, 0),
        96,
        2500,
        WIDE,
        true,
    ),
    row(
        "mtl",
        "Intel Arc, Meteor Lake (visakit)",
        0x7d55,
        (12, 70),
        128,
        2350,
        NARROW,
        true,
    ),
    row(
        "arl-h",
        "Intel Arc, Arrow Lake (visakit)",
        0x7d51,
        (12, 74),
        128,
        2350,
        NARROW,
        true,
    ),
    row(
        "tgllp",
        "Intel Iris Xe (visakit)",
        0x9a49,
        (12, 0),
        96,
        1350,
        NARROW,
        true,
    ),
    row(
        "icllp",
        "Intel Iris Plus (visakit)",
        0x8a52,
        (11, 0),
        64,
        1100,
        NARROW,
        true,
    ),
    row(
        "skl",
        "Intel HD Graphics 530 (visakit)",
        0x1912,
        (9, 0),
        24,
        1150,
        NARROW,
        true,
    ),
    row(
        "dg1",
        "Intel Iris Xe MAX (visakit)",
        0x4905,
        (12, 10),
        96,
        1650,
        NARROW,
        true,
    ),
];

#[expect(clippy::too_many_arguments, reason = "a row of a table")]
const fn row(
    name: &'static str,
    title: &'static str,
    pci: u32,
    ip: (u32, u32),
    units: u32,
    clock: u32,
    subgroups: &'static [u32],
    images: bool,
) -> Model {
    Model {
        name,
        title,
        pci,
        ip,
        units,
        clock,
        subgroups,
        images,
    }
}
