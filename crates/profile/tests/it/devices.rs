use std::fmt::Write;
use visakit_isa::Platform;
use visakit_profile::Device;

const BEGIN: &str = "<!-- devices -->\n";
const END: &str = "<!-- /devices -->\n";

#[test]
fn the_page_has_the_devices() {
    let path = visakit_testing::root().join("docs/profiling.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (head, rest) = page.split_once(BEGIN).unwrap();
    let (_, tail) = rest.split_once(END).unwrap();
    let mut table = String::from(
        "| platform | product | units | threads of a unit | MHz | GB/s | KiB of cache |\n|---|---|---|---|---|---|---|\n",
    );
    for platform in Platform::ALL {
        let device = Device::of(*platform);
        writeln!(
            table,
            "| {platform} | {} | {} | {} | {} | {} | {} |",
            device.product,
            device.units,
            device.threads,
            device.megahertz,
            device.bandwidth,
            device.cache
        )
        .unwrap();
    }
    visakit_testing::page::holds(&path, &format!("{head}{BEGIN}{table}{END}{tail}"));
}
