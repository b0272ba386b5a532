//! Devices: the products that Intel's offline compiler builds for, with the names they are sold under.

use crate::platform::{Platform, plain};

/// A product that the offline compiler builds for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Device {
    /// The compiler's name, as its option `-device` takes it.
    pub name: &'static str,
    /// The first name it is sold under, for people.
    pub title: &'static str,
    /// Names it is sold under and code names.
    pub sold_as: &'static [&'static str],
}

/// Words that names of products have or lack without a difference.
const FILLERS: [&str; 7] = ["intel", "arc", "graphics", "gpu", "series", "tm", "r"];

/// The products, for each family the usual one first. Names are those of the compiler's list of devices
/// (`ocloc compile --help`) and of Intel's product pages.
#[rustfmt::skip]
static DEVICES: &[Device] = &[
    device("bdw", "HD Graphics 5500", &["hd 5500", "hd 6000", "iris 6100", "iris pro 6200", "broadwell"]),
    device("skl", "HD Graphics 530", &["hd 510", "hd 515", "hd 520", "hd 530", "iris 540", "iris 550", "iris pro 580", "skylake"]),
    device("kbl", "HD Graphics 630", &["hd 610", "hd 615", "hd 620", "hd 630", "uhd 620", "iris plus 640", "iris plus 650", "kaby lake"]),
    device("cfl", "UHD Graphics 630", &["uhd 610", "uhd 630", "iris plus 655", "coffee lake"]),
    device("icllp", "Iris Plus Graphics G7", &["iris plus", "iris plus g4", "iris plus g7", "ice lake"]),
    device("tgllp", "Iris Xe Graphics", &["iris xe", "iris xe g7", "tiger lake"]),
    device("rkl", "UHD Graphics 750", &["uhd 750", "rocket lake"]),
    device("adl-s", "UHD Graphics 770", &["uhd 710", "uhd 730", "uhd 770", "alder lake"]),
    device("adl-n", "UHD Graphics of N100", &["n100", "n95", "n200", "n305", "alder lake n"]),
    device("dg1", "Iris Xe MAX", &["iris xe max"]),
    device("acm-g10", "Arc A770", &["dg2", "a770", "a750", "a580", "a770m", "a730m", "a550m", "a60", "alchemist"]),
    device("acm-g11", "Arc A380", &["a380", "a310", "a370m", "a350m", "a30m", "a40", "a50"]),
    device("acm-g12", "Arc A570M", &["a570m", "a530m"]),
    device("ats-m150", "Data Center GPU Flex 170", &["flex 170", "data center flex 170"]),
    device("ats-m75", "Data Center GPU Flex 140", &["flex 140", "data center flex 140"]),
    device("mtl-h", "Arc Graphics of Core Ultra 100", &["core ultra 100", "core ultra 7 155h", "155h", "meteor lake", "mtl"]),
    device("arl-h", "Arc 140T", &["140t", "130t", "arrow lake h"]),
    device("arl-s", "Graphics of Core Ultra 200S", &["core ultra 200s", "arrow lake", "arrow lake s"]),
    device("pvc", "Data Center GPU Max", &["max 1100", "max 1550", "max 1450", "data center max", "data center max 1100", "data center max 1550", "ponte vecchio"]),
    device("bmg-g21", "Arc B580", &["bmg", "b580", "b570", "b50", "b60", "pro b50", "pro b60", "battlemage"]),
    device("bmg-g31", "Arc B770", &["b770", "b65", "b70", "pro b65", "pro b70"]),
    device("lnl-m", "Arc 140V", &["140v", "130v", "lunar lake", "lnl"]),
    device("ptl-h", "Arc B390", &["b390", "b370", "panther lake", "ptl"]),
    device("wcl", "Graphics, Wildcat Lake", &["wildcat lake"]),
    device("nvl-s", "Graphics, Nova Lake S", &["nova lake", "nova lake s"]),
    device("nvl-u", "Graphics, Nova Lake U", &["nova lake u"]),
    device("nvl-p", "Graphics, Nova Lake P", &["nova lake p"]),
    device("cri", "Crescent Island", &["crescent island"]),
];

const fn device(
    name: &'static str,
    title: &'static str,
    sold_as: &'static [&'static str],
) -> Device {
    Device {
        name,
        title,
        sold_as,
    }
}

impl Device {
    /// All devices, the oldest families first.
    #[must_use]
    pub fn all() -> &'static [Self] {
        DEVICES
    }

    /// The device that is sold under this name, or that the compiler calls so; case, blanks, hyphens and words such as
    /// "Intel" and "Arc" do not matter.
    ///
    /// ```
    /// use visakit_isa::Device;
    ///
    /// let name = |sold: &str| Device::from_name(sold).map(|device| device.name);
    /// assert_eq!(name("Intel(R) Arc(TM) A770 Graphics"), Some("acm-g10"));
    /// assert_eq!(name("arc-b580"), Some("bmg-g21"));
    /// assert_eq!(name("PVC"), Some("pvc"));
    /// assert_eq!(name("a"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<&'static Self> {
        let is = |known: &str| bare(known).eq(bare(name));
        let compiler = DEVICES.iter().find(|d| plain(d.name).eq(plain(name)));
        // Fillers alone name nothing.
        bare(name).next()?;
        compiler.or_else(|| {
            DEVICES
                .iter()
                .find(|d| is(d.title) || d.sold_as.iter().any(|known| is(known)))
        })
    }

    /// The usual device of a platform.
    #[must_use]
    pub fn of_platform(platform: Platform) -> Option<&'static Self> {
        DEVICES.iter().find(|d| d.platform() == Some(platform))
    }

    /// Its platform.
    #[must_use]
    pub fn platform(&self) -> Option<Platform> {
        Platform::from_name(self.name)
    }
}

/// Letters and digits of a name without its fillers, in lower case.
fn bare(name: &str) -> impl Iterator<Item = u8> {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let telling = words.filter(|word| !FILLERS.iter().any(|f| f.eq_ignore_ascii_case(word)));
    // "arc770" lacks the blank between filler and number.
    telling.flat_map(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_one_device() {
        for device in DEVICES {
            assert!(device.platform().is_some(), "{}", device.name);
            for name in device.sold_as.iter().chain([&device.name, &device.title]) {
                assert_eq!(Device::from_name(name), Some(device), "{name}");
                let others = DEVICES.iter().filter(|d| d.name != device.name);
                let mut names = others.flat_map(|d| d.sold_as);
                assert!(!names.any(|other| bare(other).eq(bare(name))), "{name}");
            }
        }
        for nothing in ["", "arc", "Intel(R)", "a771", "b"] {
            assert_eq!(Device::from_name(nothing), None, "{nothing}");
        }
    }
}
