//! The cost model: the time that instructions and messages take on an execution unit, and a launch on a device.
//!
//! It is simple on purpose, and fully described in `docs/profiling.md`: what matters is where two kernels, two lines or
//! two versions differ, not the absolute number. The data come from two public sources. Rates of the units and
//! latencies are those of the table by which Intel's open compiler schedules code (`visa/LocalScheduler/LatencyTable`);
//! numbers of units, threads, clocks and bandwidths are those of a product in Intel's published specifications and its
//! optimization guide for GPUs. What neither states is an estimate, and marked as such.

use visakit_exec::code::{Action, Compute, Lane, Operation, Region, Step, Target};
use visakit_isa::{DataType, Platform};

/// Bytes of a cache line.
pub const LINE_BYTES: u64 = 64;

/// Banks of shared local memory, four bytes wide each (an estimate; Intel's guides call it banked).
pub const BANKS: usize = 16;

/// A product that represents a platform.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Device {
    /// The platform.
    pub platform: Platform,
    /// The product.
    pub product: &'static str,
    /// Execution units (vector engines).
    pub units: u32,
    /// Threads that a unit holds at the same time.
    pub threads: u32,
    /// Clock in MHz.
    pub megahertz: u32,
    /// Lanes of 32 bits that a unit computes in a cycle.
    pub lanes: u32,
    /// Cycles in which a unit's share of the data port moves a cache line, or 64 bytes of local memory.
    pub line_cycles: u32,
    /// Bandwidth of memory in GB/s.
    pub bandwidth: u32,
    /// KiB of the largest cache that all units share.
    pub cache: u32,
}

/// Of a platform: product, units, threads, MHz, lanes, cycles for a line, GB/s, KiB of its largest cache.
const fn product(platform: Platform) -> (&'static str, [u32; 7]) {
    match platform {
        Platform::Bdw => ("HD Graphics 5500", [24, 7, 950, 8, 8, 25, 768]),
        Platform::Chv => ("HD Graphics 405", [16, 7, 700, 8, 8, 25, 384]),
        Platform::Skl | Platform::Cnl => ("HD Graphics 530", [24, 7, 1150, 8, 8, 34, 768]),
        Platform::Bxt => ("HD Graphics 505", [18, 6, 750, 8, 8, 29, 384]),
        Platform::Icllp => ("Iris Plus Graphics G7", [64, 7, 1100, 8, 8, 59, 3072]),
        Platform::Tgllp => ("Iris Xe Graphics G7", [96, 7, 1350, 8, 8, 68, 3840]),
        Platform::XeHpSdv => ("XeHP SDV", [512, 8, 1300, 8, 8, 716, 16_384]),
        Platform::Dg2 => ("Arc A770", [512, 8, 2100, 8, 4, 560, 16_384]),
        Platform::Mtl => (
            "Arc Graphics of Core Ultra 7 155H",
            [128, 8, 2250, 8, 4, 120, 4096],
        ),
        Platform::Arl => ("Arc 140T", [128, 8, 2350, 8, 4, 134, 4096]),
        Platform::Pvc | Platform::PvcXt => (
            "Data Center GPU Max 1550",
            [1024, 8, 1600, 16, 1, 3277, 417_792],
        ),
        Platform::Xe2 => ("Arc B580", [160, 8, 2670, 16, 2, 456, 18_432]),
        // Figures of one device with twelve cores, for want of others.
        Platform::Xe3 | Platform::Xe3pCri | Platform::Xe3p => {
            ("Xe3 with 12 cores", [96, 8, 2500, 16, 2, 153, 16_384])
        }
    }
}

impl Device {
    /// The product that represents a platform.
    #[must_use]
    pub const fn of(platform: Platform) -> Self {
        let (
            product,
            [
                units,
                threads,
                megahertz,
                lanes,
                line_cycles,
                bandwidth,
                cache,
            ],
        ) = product(platform);
        Self {
            platform,
            product,
            units,
            threads,
            megahertz,
            lanes,
            line_cycles,
            bandwidth,
            cache,
        }
    }

    /// Whether the compiler's table of latencies for newer devices applies.
    fn is_xe(&self) -> bool {
        self.platform >= Platform::Tgllp
    }

    /// Cycles in which a unit issues a step: passes of the lanes that it computes at once.
    #[must_use]
    pub fn issue(&self, step: &Step) -> u32 {
        let lanes = u32::from(step.lanes.count);
        let passes = |bytes: u32| (lanes * bytes).div_ceil(4 * self.lanes).max(1);
        match &step.action {
            Action::Compute(compute) => {
                passes(element_bytes(compute)).saturating_mul(factor(compute))
            }
            // A row of the result each cycle.
            Action::Systolic(systolic) => {
                let bytes = u32::try_from(systolic.result_bytes()).unwrap_or(u32::MAX);
                bytes.div_ceil(4 * self.lanes).max(1)
            }
            action if action.is_instruction() => 1,
            _ => 0,
        }
    }

    /// Cycles that a thread waits for the result of a message to this memory.
    #[must_use]
    pub(crate) fn latency(&self, message: &str, local: bool, lanes: u32) -> u32 {
        match (self.is_xe(), message) {
            // Nothing waits for these.
            (_, "store" | "prefetch" | "nothing") => 0,
            (true, "fence") => 35,
            (true, "texture") => 214,
            (true, _) if local => {
                if lanes > 16 {
                    45
                } else {
                    28
                }
            }
            (true, _) if self.platform.has_lsc() => 200,
            (true, _) => 146,
            (false, "texture") => 300,
            (false, "fence") => 200,
            (false, _) if local => 200,
            (false, _) => 400,
        }
    }

    /// Cycles that a thread waits at a barrier that all others have reached.
    #[must_use]
    pub(crate) const fn barrier(&self) -> u32 {
        30
    }

    /// The time of a launch.
    #[must_use]
    pub fn time(&self, work: &Work) -> DeviceTime {
        let threads = work.threads.max(1);
        let units = threads.min(self.units.into());
        let slots = u64::from(self.units) * u64::from(self.threads);
        // Each wave of threads is as slow as a thread that waits for every result at once.
        let waves = threads.div_ceil(slots.max(1));
        let hertz = f64::from(self.megahertz) * 1e6;
        let nanoseconds = |cycles: f64| cycles / hertz * 1e9;
        let share = |cycles: u64| nanoseconds(as_float(cycles) / as_float(units));
        let bytes = as_float(work.fetched_bytes);
        let parts = [
            (Bound::Issue, share(work.issue_cycles)),
            (Bound::DataPort, share(work.message_cycles)),
            (Bound::Memory, bytes / f64::from(self.bandwidth)),
            (
                Bound::Latency,
                nanoseconds(as_float(work.latency_cycles) / as_float(threads) * as_float(waves)),
            ),
        ];
        let mut longest = parts[0];
        for part in parts {
            if part.1 > longest.1 {
                longest = part;
            }
        }
        DeviceTime {
            nanoseconds: longest.1,
            bound: longest.0,
        }
    }
}

/// The demands of a launch on a device, all threads together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Work {
    /// Threads.
    pub threads: u64,
    /// Cycles in which units issue.
    pub issue_cycles: u64,
    /// Cycles in which data ports move lines.
    pub message_cycles: u64,
    /// Cycles that threads take sequentially: what they issue, and every wait for a message.
    pub latency_cycles: u64,
    /// Bytes of the cache lines that each work-group touches, counted once for each group; of buffers that fit into the
    /// device's cache together, no more than they have.
    pub fetched_bytes: u64,
}

/// What limits a launch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// The units issue instructions all the time.
    Issue,
    /// Between units and caches.
    DataPort,
    /// Between caches and memory.
    Memory,
    /// For results of messages, with too few threads to do something else meanwhile.
    Latency,
}

impl Bound {
    /// A description.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Issue => "issue of instructions",
            Self::DataPort => "data port",
            Self::Memory => "bandwidth of memory",
            Self::Latency => "latency of messages",
        }
    }
}

/// Simulated time of a launch.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DeviceTime {
    /// Nanoseconds on the device.
    pub nanoseconds: f64,
    /// The limiting resource.
    pub bound: Bound,
}

#[expect(
    clippy::cast_precision_loss,
    reason = "an estimate: 53 bits are more than enough"
)]
pub(crate) const fn as_float(n: u64) -> f64 {
    n as f64
}

/// Bytes of the elements that decide how fast an operation is; halves are as fast as the hardware's packed ones.
fn element_bytes(compute: &Compute) -> u32 {
    let size = |data_type: DataType| match data_type {
        DataType::Hf => 2,
        other => u32::from(other.size()).max(4),
    };
    let used = compute.sources.iter().take(compute.operation.sources());
    // A value shared by all lanes is read once.
    let wide = used.filter(|source| !matches!(source.region, Region::Scalar));
    let sources = wide.map(|source| size(source.data_type));
    let destination = match compute.destination.target {
        Target::Null => None,
        _ => Some(size(compute.destination.data_type)),
    };
    sources.chain(destination).max().unwrap_or(4)
}

/// How many times slower than an addition an operation is.
const fn factor(compute: &Compute) -> u32 {
    let float = matches!(compute.lane, Lane::F32 | Lane::F64);
    match compute.operation {
        // The unit for mathematics has a quarter of the lanes.
        Operation::Exp
        | Operation::Log
        | Operation::Sin
        | Operation::Cos
        | Operation::Tanh
        | Operation::Sigmoid
        | Operation::Inv
        | Operation::Sqrt
        | Operation::Rsqrt
        | Operation::Pow => 4,
        Operation::Div if float => 4,
        // Sequences of instructions on newer devices: an estimate.
        Operation::Div | Operation::Mod => 16,
        // Two or more multiplications of half the width: an estimate.
        Operation::MulHigh | Operation::MadWide => 4,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_part_is_the_time() {
        let device = Device::of(Platform::Dg2);
        let work = Work {
            threads: 512,
            issue_cycles: 512 * 2100,
            message_cycles: 512 * 21,
            latency_cycles: 512 * 21,
            fetched_bytes: 560,
        };
        // 2100 cycles of each unit at 2100 MHz are 1000 ns.
        let time = device.time(&work);
        assert!((time.nanoseconds - 1000.0).abs() < 1e-6);
        assert_eq!(time.bound, Bound::Issue);
        // 560 GB/s are 560 bytes in a nanosecond.
        let copy = Work {
            fetched_bytes: 5_600_000,
            ..work
        };
        let time = device.time(&copy);
        assert!((time.nanoseconds - 10_000.0).abs() < 1e-6);
        assert_eq!(time.bound, Bound::Memory);
        // One thread has one unit, and waits.
        let alone = Work {
            threads: 1,
            issue_cycles: 10,
            message_cycles: 4,
            latency_cycles: 210,
            fetched_bytes: 64,
        };
        let time = device.time(&alone);
        assert!((time.nanoseconds - 100.0).abs() < 1e-6);
        assert_eq!(time.bound, Bound::Latency);
    }

    #[test]
    fn every_platform_has_a_product() {
        for platform in Platform::ALL {
            let device = Device::of(*platform);
            assert!(device.units > 0 && device.threads > 0 && device.line_cycles > 0);
            assert_eq!(device.lanes, platform.grf_bytes() / 4);
        }
    }
}
