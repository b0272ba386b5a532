//! The metadata of a real program, read into types.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use visakit_launch::{ArgType, ZeInfo};

#[test]
fn a_real_one() {
    let path = visakit_testing::fixtures().join("kernels/bench.pvc.zeinfo");
    let zeinfo = ZeInfo::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
    insta::assert_debug_snapshot!(zeinfo.kernel("matmul").unwrap());
    assert_eq!(zeinfo.args_info("matmul").len(), 4);
    assert_eq!(
        zeinfo.kernel("nothing").unwrap_err().to_string(),
        "the metadata has no kernel `nothing`; it has: mandelbrot, nbody, sha256, xorshift, matmul, copy"
    );
}

#[test]
fn programs_without_kernels() {
    assert_eq!(ZeInfo::parse("\0").unwrap(), ZeInfo::default());
}

#[test]
fn what_is_new_is_skipped() {
    let text = "
version: '9.9'
something_new: [1, 2, {a: b}]
kernels:
  - name: k
    execution_env: {simd_size: 16, quantum_flux: true}
    payload_arguments:
      - {arg_type: a_new_kind, offset: 0, size: 8, arg_index: 0, addrmode: sideways}
    per_thread_memory_buffers:
...
";
    let zeinfo = ZeInfo::parse(text).unwrap();
    let kernel = zeinfo.kernel("k").unwrap();
    assert_eq!(
        kernel.payload_arguments.first().unwrap().arg_type,
        ArgType::Unknown("a_new_kind".into())
    );
    assert!(kernel.per_thread_memory_buffers.is_empty());
}

/// Aliases of aliases would unfold to more than memory holds.
#[test]
fn growth_without_bound_is_refused() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..30 {
        let before = format!("*a{}, ", level - 1).repeat(9);
        text += &format!("a{level}: &a{level} [{before}]\n");
    }
    text += "kernels: []\n";
    assert!(ZeInfo::parse(&text).is_err());
}

/// All files with this ending under a folder.
fn files(folder: &std::path::Path, ending: &str, to: &mut Vec<std::path::PathBuf>) {
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, ending, to);
        } else if path.extension().is_some_and(|e| e == ending) {
            to.push(path);
        }
    }
}

/// What the payload says of arguments agrees with what the compiler wrote down about them.
#[test]
fn parameters_without_names() {
    let mut found = Vec::new();
    files(&visakit_testing::fixtures(), "zeinfo", &mut found);
    if let Some(cases) = visakit_testing::shared("parameters without names", "cases") {
        files(&cases, "zeinfo", &mut found);
    }
    let mut compared = 0;
    for path in found {
        let text = std::fs::read_to_string(&path).unwrap();
        let zeinfo = ZeInfo::parse(&text).unwrap();
        let mut bare = zeinfo.clone();
        bare.kernels_misc_info.clear();
        for kernel in &zeinfo.kernels {
            let derived = bare.parameters(&kernel.name);
            for info in zeinfo.args_info(&kernel.name) {
                let used = |p: &&visakit_launch::PayloadArgument| p.arg_index == Some(info.index);
                if !kernel.payload_arguments.iter().any(|p| used(&p)) {
                    continue;
                }
                let own = derived.iter().find(|own| own.index == info.index).unwrap();
                let (name, size) = info.type_name.rsplit_once(';').unwrap();
                let (own_name, own_size) = own.type_name.rsplit_once(';').unwrap();
                let place = format!("{}: {} {}", path.display(), kernel.name, info.name);
                let kind = |name: &str| {
                    (
                        name.starts_with("image") && name.contains("_t"),
                        name == "sampler_t",
                    )
                };
                assert_eq!(kind(name), kind(own_name), "{place}");
                if name != "sampler_t" {
                    let global = info.address_qualifier.replace("__constant", "__global");
                    assert_eq!(global, own.address_qualifier, "{place}");
                }
                let (size, own_size): (u32, u32) =
                    (size.parse().unwrap(), own_size.parse().unwrap());
                // Pieces are dwords, and those of unused members are missing.
                assert!(
                    own_size <= size.next_multiple_of(4),
                    "{place}: {own_size}, {size}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 200, "{compared}");
}

/// Memory of a thread is stated by older compilers in buffers, private memory for each work-item, and by newer ones in the
/// environment, spills apart from it.
#[test]
fn memory_of_a_thread() {
    let buffers = "    per_thread_memory_buffers:\n      \
                   - {type: scratch, usage: spill_fill_space, size: 704}\n      \
                   - {type: scratch, usage: private_space, size: 64, is_simt_thread: true}\n      \
                   - {type: global, usage: private_space, size: 32}\n";
    for (text, private, spilled) in [
        ("      simd_size: 16\n", 0, 0),
        (
            &format!("      simd_size: 16\n{buffers}"),
            64 * 16 + 32,
            704,
        ),
        (
            "      simd_size: 32\n      private_size: 320\n      spill_size: 192\n",
            320,
            192,
        ),
        // Both in one: the larger.
        (
            &format!(
                "      simd_size: 16\n      spill_size: 1024\n      private_size: 8\n{buffers}"
            ),
            64 * 16 + 32,
            1024,
        ),
    ] {
        let text = format!("kernels:\n  - name: k\n    execution_env:\n{text}");
        let zeinfo = ZeInfo::parse(&text).unwrap();
        let kernel = &zeinfo.kernels[0];
        let found = (kernel.private_bytes(), kernel.spill_bytes());
        assert_eq!(found, (private, spilled), "{text}");
    }
}
