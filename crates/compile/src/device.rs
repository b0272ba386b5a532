//! Devices as the compiler knows them.

use std::path::Path;
use std::process::Command;
use visakit_isa::{Device, Platform};

/// The device where none is named: every compiler since 2022 knows it.
pub const DEFAULT_DEVICE: &str = "dg2";

/// The compiler's name of a device: of those it is sold under the one that the compiler takes, and others as they are,
/// since compilers know more than this crate.
#[must_use]
pub fn compiler_name(given: &str) -> String {
    let own = given.to_ascii_lowercase().replace('_', "-");
    let is_own = Platform::ALL.iter().any(|platform| {
        let mut names = platform.aliases().iter().copied();
        platform.name().eq_ignore_ascii_case(given) || names.any(|name| name == own)
    });
    match Device::from_name(given) {
        Some(device) if !is_own => device.name.to_owned(),
        _ => given.to_owned(),
    }
}

/// Whether the compiler's complaint is about the device.
pub(crate) fn is_unknown(said: &str) -> bool {
    said.contains("Cannot get HW Info for device")
        || said.contains("Could not determine device target")
}

/// The devices that a compiler lists in its help.
pub(crate) fn known_to(compiler: &Path) -> Vec<String> {
    let help = Command::new(compiler).args(["compile", "--help"]).output();
    let help = help.map(|output| [output.stdout, output.stderr].concat());
    let help = help.unwrap_or_default();
    let help = String::from_utf8_lossy(&help);
    let list = help.split_once("<device_type> can be:");
    let list = list.and_then(|(_, rest)| rest.lines().next());
    let list = list.unwrap_or_default().split(',').map(str::trim);
    let name = |name: &&str| !name.is_empty() && !name.contains(' ');
    list.filter(name).map(str::to_owned).collect()
}

/// The name that is most like the one given, of products and of these others.
#[must_use]
pub fn like(given: &str, known: &[String]) -> Option<String> {
    let lower = given.to_lowercase();
    let sold = Device::all().iter().flat_map(|d| d.sold_as.iter().copied());
    let names = sold.chain(known.iter().map(String::as_str));
    let rated = names.map(|name| (strsim::jaro_winkler(&lower, name), name));
    let best = rated.max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(likeness, _)| *likeness > 0.8)
        .map(|(_, name)| name.to_owned())
}
