//! The kinds of GPU.

/// A kind of GPU.
#[derive(Debug)]
pub struct Model {
    /// The name for `VISAKIT_DEVICE`, which the compiler knows, too.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Number on the PCI bus.
    pub pci: u32,
    /// Architecture, release and revision, as `ocloc ids` prints them.
    pub ip: (u32, u32, u32),
    /// Slices, subslices of each, and vector engines of each of those.
    pub engines: (u32, u32, u32),
    /// MHz.
    pub clock: u32,
    /// Sizes of subgroups.
    pub subgroups: &'static [u32],
}

impl Model {
    /// Vector engines.
    #[must_use]
    pub const fn units(&self) -> u32 {
        self.engines.0 * self.engines.1 * self.engines.2
    }

    /// Threads of a vector engine.
    #[must_use]
    pub const fn threads(&self) -> u32 {
        match self.ip {
            (..12, ..) | (12, ..50, _) => 7,
            (30, ..) | (35, 10, _) => 10,
            _ => 8,
        }
    }

    /// Whether it has memory of its own.
    #[must_use]
    pub const fn is_discrete(&self) -> bool {
        matches!(self.ip, (12, 10 | 55..=60, _) | (20, 1, _) | (35, 11, _))
    }

    /// Bytes up to which Intel's driver for Level Zero itself copies from memory of the device to what is memory of the host
    /// alone, and from there, before the call returns; its `getCpuCopyThreshold`. Programs come to rely on it.
    #[must_use]
    pub const fn copied_at_once(&self) -> (usize, usize) {
        match self.ip {
            (20, 1, _) => (64 << 10, 10 << 20),
            _ if self.is_discrete() => (1 << 10, 4 << 20),
            _ => (0, 0),
        }
    }

    /// Its place on the PCI bus: domain, bus, device, function. Part of the processor it is device 2 of the first bus; the
    /// others have a bus each.
    #[must_use]
    pub fn bus(&self) -> [u32; 4] {
        let earlier = MODELS.iter().take_while(|model| model.name != self.name);
        match u32::try_from(earlier.count()) {
            Ok(number) if self.is_discrete() => [0, 3 + number, 0, 0],
            _ => [0, 0, 2, 0],
        }
    }

    /// KiB of local memory that a group may use.
    #[must_use]
    pub const fn local_memory(&self) -> u64 {
        match self.ip {
            (12, 60, _) | (20 | 30, ..) => 128,
            (35, 10, _) => 192,
            (35, ..) => 384,
            _ => 64,
        }
    }
}

const NARROW: &[u32] = &[8, 16, 32];
const WIDE: &[u32] = &[16, 32];

/// All kinds, the default first.
pub static MODELS: [Model; 19] = [
    row(
        "acm-g10",
        "Intel Arc (visakit)",
        0x56a0,
        (12, 55, 8),
        (8, 8, 8),
        2400,
        NARROW,
    ),
    row(
        "acm-g11",
        "Intel Arc A380 (visakit)",
        0x56a5,
        (12, 56, 5),
        (2, 8, 8),
        2450,
        NARROW,
    ),
    row(
        "acm-g12",
        "Intel Arc A570M (visakit)",
        0x5696,
        (12, 57, 0),
        (4, 8, 8),
        2000,
        NARROW,
    ),
    row(
        "bmg",
        "Intel Arc B-Series (visakit)",
        0xe20b,
        (20, 1, 0),
        (5, 4, 8),
        2850,
        WIDE,
    ),
    row(
        "pvc",
        "Intel Data Center GPU Max (visakit)",
        0x0bd5,
        (12, 60, 7),
        (8, 8, 8),
        1600,
        WIDE,
    ),
    row(
        "lnl",
        "Intel Arc 140V (visakit)",
        0x64a0,
        (20, 4, 4),
        (2, 4, 8),
        2050,
        WIDE,
    ),
    row(
        "ptl",
        "Intel Xe3 (visakit)",
        0xb080,
        (30, 0, 4),
        (2, 6, 8),
        2500,
        WIDE,
    ),
    row(
        "wcl",
        "Intel Graphics, Wildcat Lake (visakit)",
        0xfd80,
        (30, 3, 1),
        (1, 2, 8),
        2500,
        WIDE,
    ),
    row(
        "nvl-s",
        "Intel Graphics, Nova Lake S (visakit)",
        0xd740,
        (30, 4, 4),
        (1, 2, 8),
        2500,
        WIDE,
    ),
    row(
        "nvl-u",
        "Intel Graphics, Nova Lake U (visakit)",
        0xd741,
        (30, 5, 4),
        (1, 4, 8),
        2500,
        WIDE,
    ),
    row(
        "nvl-p",
        "Intel Xe3P (visakit)",
        0xd750,
        (35, 10, 4),
        (2, 6, 8),
        2500,
        WIDE,
    ),
    row(
        "cri",
        "Intel Crescent Island (visakit)",
        0x674c,
        (35, 11, 0),
        (8, 4, 8),
        2000,
        WIDE,
    ),
    row(
        "mtl",
        "Intel Arc, Meteor Lake (visakit)",
        0x7d55,
        (12, 71, 4),
        (2, 8, 8),
        2350,
        NARROW,
    ),
    row(
        "arl-s",
        "Intel Graphics, Arrow Lake S (visakit)",
        0x7d67,
        (12, 70, 4),
        (1, 8, 8),
        2000,
        NARROW,
    ),
    row(
        "arl-h",
        "Intel Arc, Arrow Lake (visakit)",
        0x7d51,
        (12, 74, 4),
        (2, 8, 8),
        2350,
        NARROW,
    ),
    row(
        "tgllp",
        "Intel Iris Xe (visakit)",
        0x9a49,
        (12, 0, 0),
        (1, 6, 16),
        1350,
        NARROW,
    ),
    row(
        "icllp",
        "Intel Iris Plus (visakit)",
        0x8a52,
        (11, 0, 0),
        (1, 8, 8),
        1100,
        NARROW,
    ),
    row(
        "skl",
        "Intel HD Graphics 530 (visakit)",
        0x1912,
        (9, 0, 9),
        (1, 3, 8),
        1150,
        NARROW,
    ),
    row(
        "dg1",
        "Intel Iris Xe MAX (visakit)",
        0x4905,
        (12, 10, 0),
        (1, 6, 16),
        1650,
        NARROW,
    ),
];

const fn row(
    name: &'static str,
    title: &'static str,
    pci: u32,
    ip: (u32, u32, u32),
    engines: (u32, u32, u32),
    clock: u32,
    subgroups: &'static [u32],
) -> Model {
    Model {
        name,
        title,
        pci,
        ip,
        engines,
        clock,
        subgroups,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use visakit_isa::Platform;

    #[test]
    fn some_have_memory_of_their_own() {
        let discrete = MODELS.iter().filter(|model| model.is_discrete());
        let mut names: Vec<_> = discrete.clone().map(|model| model.name).collect();
        names.sort_unstable();
        let known = ["acm-g10", "acm-g11", "acm-g12", "bmg", "cri", "dg1", "pvc"];
        assert_eq!(names, known);
        let mut buses: Vec<_> = discrete.map(Model::bus).collect();
        buses.sort_unstable();
        buses.dedup();
        assert_eq!(buses.len(), known.len());
    }

    #[test]
    fn every_model_has_a_family() {
        for model in &MODELS {
            assert!(Platform::from_name(model.name).is_some(), "{}", model.name);
            let same = MODELS
                .iter()
                .filter(|m| m.name == model.name || m.pci == model.pci);
            assert_eq!(same.count(), 1, "{}", model.name);
        }
    }
}
