//! OpenCL kernels, as their compiler left them, against direct computation: grids, arguments, constants, faults.

#![allow(missing_docs)]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "tests"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use visakit_exec::Pass;
use visakit_launch::{
    Argument, Config, Kernel, LaunchError, NdRange, Outcome, Source, Variables, ZeInfo, Zebin,
};

const DEVICES: [(&str, u32); 2] = [("pvc", 64), ("acm-g10", 32)];

fn fixture(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/kernels")
        .join(file)
}

fn launch(
    kernel: &str,
    device: (&str, u32),
    range: &NdRange,
    arguments: &[Argument],
) -> Result<Outcome, LaunchError> {
    launch_with(kernel, device, range, arguments, &Config::default())
}

fn launch_with(
    kernel: &str,
    device: (&str, u32),
    range: &NdRange,
    arguments: &[Argument],
    config: &Config<'_>,
) -> Result<Outcome, LaunchError> {
    let zeinfo = std::fs::read_to_string(fixture(&format!("bench.{}.zeinfo", device.0))).unwrap();
    let source = Source::open(&fixture(&format!("{kernel}.{}.visaasm", device.0)))?;
    let object = source.object(device.1)?;
    let kernel = Kernel::new(&object, kernel, &ZeInfo::parse(&zeinfo)?)?;
    assert_eq!(kernel.grf_bytes, device.1, "found out from the object");
    kernel.run(range, arguments, config)
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes
        .as_chunks()
        .0
        .iter()
        .map(|b| u32::from_le_bytes(*b))
        .collect()
}

fn bytes(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn value(value: u32) -> Argument {
    Argument::Value(value.to_le_bytes().to_vec())
}

/// Registers of a thread, where every variable has a place for itself and where those of a block share places.
#[test]
fn variables_of_a_block_share_places() {
    let name = "sha256";
    for device in DEVICES {
        let zeinfo = std::fs::read_to_string(fixture(&format!("bench.{}.zeinfo", device.0)));
        let source = Source::open(&fixture(&format!("{name}.{}.visaasm", device.0))).unwrap();
        let object = source.object(device.1).unwrap();
        let kernel = Kernel::new(&object, name, &ZeInfo::parse(&zeinfo.unwrap()).unwrap()).unwrap();
        let bytes = |passes| {
            let config = Config {
                passes,
                ..Config::default()
            };
            let loaded = kernel.load(&Default::default(), &config).unwrap();
            loaded.program().register_bytes()
        };
        let (own, shared) = (bytes(&Pass::UNNOTICED), bytes(&Pass::ALL));
        assert!(
            3 * shared < own,
            "{name}: {own} bytes, {shared} where places are shared"
        );
    }
}

#[test]
fn xorshift_in_groups_that_do_not_divide_the_grid() {
    let count = 1000_u32;
    let want: Vec<u32> = (0..count)
        .map(|i| {
            let mut x = i.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            (0..10).fold(0_u32, |sum, _| {
                x ^= x << 13;
                x ^= x >> 17;
                x ^= x << 5;
                sum.wrapping_add(x)
            })
        })
        .collect();
    for device in DEVICES {
        for local in [1, 7, 32, 100, 256] {
            let range = NdRange::new(&[count], &[local], &[]).unwrap();
            let arguments = [Argument::Buffer(vec![0; 4000]), value(10)];
            let outcome = launch("xorshift", device, &range, &arguments).unwrap();
            assert_eq!(
                words(outcome.memory(0).unwrap()),
                want,
                "{device:?}, groups of {local}"
            );
            assert_eq!(outcome.groups, u64::from(count.div_ceil(local)));
        }
    }
}

#[test]
fn global_offsets_shift_ids() {
    for device in DEVICES {
        let range = NdRange::new(&[64], &[16], &[32]).unwrap();
        let from: Vec<u32> = (0..128).map(|i| i * 3).collect();
        let arguments = [
            Argument::Buffer(vec![0; 512]),
            Argument::Buffer(bytes(&from)),
        ];
        let outcome = launch("copy", device, &range, &arguments).unwrap();
        let want: Vec<u32> = (0..128)
            .map(|i| if (32..96).contains(&i) { i * 3 } else { 0 })
            .collect();
        assert_eq!(words(outcome.memory(0).unwrap()), want, "{device:?}");
        assert_eq!(outcome.memory(1).unwrap(), bytes(&from));
    }
}

#[test]
fn mandelbrot_diverges_as_it_should() {
    let (width, height, limit) = (64_u32, 32_u32, 100_u32);
    let (x0, y0, step) = (-2.0_f32, -1.0_f32, 0.0625_f32 * 0.75);
    for device in DEVICES {
        let range = NdRange::new(&[width * height], &[64], &[]).unwrap();
        let float = |v: f32| Argument::Value(v.to_le_bytes().to_vec());
        let size = (width * height * 4) as usize;
        let arguments = [
            Argument::Buffer(vec![0; size]),
            value(width),
            value(limit),
            float(x0),
            float(y0),
            float(step),
        ];
        let outcome = launch("mandelbrot", device, &range, &arguments).unwrap();
        let got = words(outcome.memory(0).unwrap());
        let mut apart = 0;
        for i in 0..width * height {
            let cx = f64::from(step).mul_add(f64::from(i % width), f64::from(x0));
            let cy = f64::from(step).mul_add(f64::from(i / width), f64::from(y0));
            let (mut x, mut y, mut n) = (0.0_f64, 0.0_f64, 0);
            while n < limit && x * x + y * y < 4.0 {
                (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
                n += 1;
            }
            apart += u32::from(got[i as usize] != n);
        }
        // Single precision may decide differently where the orbit is chaotic.
        assert!(
            apart < width * height / 50,
            "{device:?}: {apart} points differ"
        );
    }
}

#[test]
fn matrices_in_tiles_of_local_memory() {
    let n = 48_u32;
    // Small whole numbers: every sum is exact.
    let a: Vec<f32> = (0..n * n).map(|i| (i * 7 % 11) as f32 - 5.0).collect();
    let b: Vec<f32> = (0..n * n).map(|i| (i * 5 % 13) as f32 - 6.0).collect();
    let raw = |m: &[f32]| -> Vec<u8> { m.iter().flat_map(|v| v.to_le_bytes()).collect() };
    let size = n as usize;
    let want: Vec<f32> = (0..size * size)
        .map(|i| {
            (0..size)
                .map(|k| a[i / size * size + k] * b[k * size + i % size])
                .sum()
        })
        .collect();
    for device in DEVICES {
        let range = NdRange::new(&[n, n], &[16, 16], &[]).unwrap();
        let arguments = [
            Argument::Buffer(raw(&a)),
            Argument::Buffer(raw(&b)),
            Argument::Buffer(vec![0; size * size * 4]),
            value(n),
        ];
        let outcome = launch("matmul", device, &range, &arguments).unwrap();
        assert_eq!(outcome.memory(2).unwrap(), raw(&want), "{device:?}");
        let range = NdRange::new(&[n, n], &[8, 8], &[]).unwrap();
        let fault = launch("matmul", device, &range, &arguments)
            .unwrap_err()
            .to_string();
        assert!(fault.contains("groups of [16, 16, 1] only"), "{fault}");
    }
}

/// Constants, a table of pointers among them, come from the zebin with their relocations. Code for `pvc` accesses them
/// by address, that of a newer compiler for `tgllp` through an entry of the binding table.
#[test]
fn program_scope_constants() {
    for (device, grf_bytes) in [("pvc", 64), ("tgllp", 32)] {
        let path = fixture(&format!("lookup.{device}.zebin"));
        let zebin = Zebin::parse(&std::fs::read(path).unwrap()).unwrap();
        assert_eq!(zebin.grf_bytes, Some(grf_bytes));
        let data = &zebin.data[0];
        assert_eq!(
            (data.name.as_str(), data.relocations.len()),
            (".data.const", 2)
        );
        let names: Vec<_> = zebin
            .symbols
            .iter()
            .map(|s| (s.name.as_str(), s.offset))
            .collect();
        assert_eq!(names, [("SQUARES", 0), ("CUBES", 32), ("TABLES", 64)]);

        let source = Source::open(&fixture(&format!("lookup.{device}.visaasm"))).unwrap();
        let object = source.object(grf_bytes).unwrap();
        let mut kernel =
            Kernel::new(&object, "lookup", &ZeInfo::parse(&zebin.zeinfo).unwrap()).unwrap();
        kernel.data = zebin.data;
        kernel.symbols = zebin.symbols;
        let which: Vec<u32> = (0..64).map(|i| i / 3).collect();
        let arguments = [
            Argument::Buffer(vec![0; 256]),
            Argument::Buffer(bytes(&which)),
            value(100),
        ];
        let range = NdRange::new(&[64], &[32], &[]).unwrap();
        let outcome = kernel.run(&range, &arguments, &Config::default()).unwrap();
        let want: Vec<u32> = (0..64_u32)
            .map(|i| (i & 7).pow(if which[i as usize] & 1 == 1 { 3 } else { 2 }) + 100)
            .collect();
        assert_eq!(words(outcome.memory(0).unwrap()), want, "{device}");
    }
}

/// Variables without initial values come right after the others, and code addresses them from the start of those.
#[test]
fn zeroed_variables() {
    let zebin = Zebin::parse(&std::fs::read(fixture("zeroed.bmg.zebin")).unwrap()).unwrap();
    let sections: Vec<_> = zebin
        .data
        .iter()
        .map(|d| (d.name.as_str(), d.bytes.len()))
        .collect();
    assert_eq!(sections, [(".data.global", 32 + 160)]);
    let place = |name: &str| {
        zebin
            .symbols
            .iter()
            .find(|s| s.name == name)
            .unwrap()
            .offset
    };
    assert_eq!(
        [place("counts"), place("last"), place("zeroed")],
        [0, 24, 32]
    );

    let source = Source::open(&fixture("accumulate.bmg.visaasm")).unwrap();
    let object = source.object(64).unwrap();
    let zeinfo = ZeInfo::parse(&zebin.zeinfo).unwrap();
    let kernel = Kernel::new(&object, "accumulate", &zeinfo).unwrap();
    let variables = Arc::new(Variables::new(&zebin.data, &zebin.symbols).unwrap());
    let config = Config::default();
    let loaded = kernel.load(&variables, &config).unwrap();
    let range = NdRange::new(&[40], &[40], &[]).unwrap();
    // The second launch finds what the first one left.
    for round in 1..3 {
        let arguments = [Argument::Buffer(vec![0; 160])];
        let launch = loaded.launch(&range, &arguments, None, &config).unwrap();
        let outcome = launch.run(&config).unwrap();
        let mut want: Vec<u32> = (0..40).map(|i| round * (i % 5 + 1 + i)).collect();
        want[39] *= 2;
        assert_eq!(words(outcome.memory(0).unwrap()), want);
    }
}

/// Arguments in local memory lie after the program's own variables; the kernel itself adds the size of those.
#[test]
fn own_and_given_local_memory() {
    for device in DEVICES {
        let zeinfo =
            std::fs::read_to_string(fixture(&format!("local.{}.zeinfo", device.0))).unwrap();
        let source = Source::open(&fixture(&format!("two_local.{}.visaasm", device.0))).unwrap();
        let object = source.object(device.1).unwrap();
        let kernel = Kernel::new(&object, "two_local", &ZeInfo::parse(&zeinfo).unwrap()).unwrap();
        let arguments = [
            Argument::Buffer(vec![0; 512]),
            Argument::Local(256),
            Argument::Local(128),
            value(5),
        ];
        let range = NdRange::new(&[128], &[64], &[]).unwrap();
        let outcome = kernel.run(&range, &arguments, &Config::default()).unwrap();
        let want: Vec<u32> = (0..128)
            .map(|g| {
                let (first, l) = (g / 64 * 64, g % 64);
                (first + (l + 1) % 64) * 3 + (first + 63 - l + 5) + (l % 16) * 7
            })
            .collect();
        assert_eq!(words(outcome.memory(0).unwrap()), want, "{device:?}");
    }
}

#[test]
fn what_is_wrong_with_a_launch() {
    let range = NdRange::new(&[64], &[16], &[]).unwrap();
    let buffer = || Argument::Buffer(vec![0; 256]);
    let fault = |arguments: &[Argument]| {
        let errors = DEVICES.map(|device| {
            launch("copy", device, &range, arguments)
                .unwrap_err()
                .to_string()
        });
        errors[0].clone()
    };
    let count = fault(&[buffer()]);
    assert_eq!(
        count,
        "the kernel takes 2 arguments and was given 1: uint* out, uint* in"
    );
    assert_eq!(
        fault(&[buffer(), value(1)]),
        "argument 1: the kernel wants a buffer, not a value"
    );

    // A buffer that is too small: access by address outside of its last page is a fault, inside of it if ends are exact;
    // access outside through a surface is dropped.
    let small = [Argument::Buffer(vec![0; 128]), buffer()];
    let page = NdRange::new(&[2048], &[16], &[]).unwrap();
    let large = [
        Argument::Buffer(vec![0; 128]),
        Argument::Buffer(vec![0; 8192]),
    ];
    let exact = Config {
        exact_ends: true,
        ..Config::default()
    };
    for (range, arguments, config, faults) in [
        (&range, &small, Config::default(), false),
        (&range, &small, exact, true),
        (&page, &large, Config::default(), true),
    ] {
        let outcome = launch_with("copy", DEVICES[0], range, arguments, &config);
        let message = outcome
            .as_ref()
            .map_or_else(ToString::to_string, |_| String::new());
        assert_eq!(
            message.contains("outside of every buffer"),
            faults,
            "{message}"
        );
        let kept = outcome.as_ref().map(|o| o.memory(0).unwrap().len());
        assert!(faults || kept.is_ok_and(|bytes| bytes == 128));
        assert!(launch_with("copy", DEVICES[1], range, arguments, &config).is_ok());
    }

    let zeinfo = ZeInfo::parse("kernels:\n  - name: other\n").unwrap();
    let source = Source::open(&fixture("copy.pvc.visaasm")).unwrap();
    let object = source.object(64).unwrap();
    let unknown = Kernel::new(&object, "copy", &zeinfo)
        .unwrap_err()
        .to_string();
    assert_eq!(unknown, "the metadata has no kernel `copy`; it has: other");
    assert!(ZeInfo::parse("kernels: [").is_err());
    assert!(Zebin::parse(b"\x7fELF").is_err());
}

/// Results do not depend on how many threads the host has.
#[test]
fn one_thread_and_many() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let range = NdRange::new(&[4096], &[64], &[]).unwrap();
            let arguments = [Argument::Buffer(vec![0; 16384]), value(20)];
            let outcome = launch("xorshift", DEVICES[1], &range, &arguments).unwrap();
            (outcome.memory(0).unwrap().to_vec(), outcome.counters)
        })
    };
    assert_eq!(run(1), run(5));
}

/// A kernel beside the metadata of another compilation is refused, with everything that differs.
#[test]
fn metadata_of_another_compilation_are_refused() {
    let text = |simd: u8, thread: u16, scratch: u16, input: &str| {
        format!(
            ".version 4.2\n.kernel \"k\"\n.decl V32 v_type=G type=uq num_elts=1 align=qword\n\
             .decl V33 v_type=G type=uq num_elts=1 align=qword\n.kernel_attr SimdSize={simd}\n.kernel_attr PerThreadInputSize={thread}\n\
             .kernel_attr SpillMemOffset={scratch}\n.input V32 offset=256 size=8\n{input}    ret (M1, 1)\n"
        )
    };
    let zeinfo = ZeInfo::parse(
        "kernels:
  - name: k
    execution_env: {simd_size: 32}
    payload_arguments:
      - {arg_type: arg_bypointer, offset: 0, size: 8, arg_index: 0, addrmode: stateless, addrspace: global}
    per_thread_payload_arguments:
      - {arg_type: local_id, offset: 0, size: 192}
    per_thread_memory_buffers:
      - {type: scratch, usage: spill_fill_space, size: 256}
",
    )
    .unwrap();
    let outcome = |text: String| {
        let options = visakit_text::asm::Options::default();
        let made = visakit_text::asm::assemble_in_any_dialect(text.as_bytes(), &options).unwrap();
        let mut kernel = Kernel::new(&made.object, "k", &zeinfo).unwrap();
        kernel.grf_bytes = 64;
        let arguments = [Argument::Buffer(vec![0; 64])];
        let range = NdRange::new(&[32], &[32], &[]).unwrap();
        kernel.run(&range, &arguments, &Config::default()).map(drop)
    };
    // The scratch memory of a text may be less than that of the metadata, which have the finalizer's, too.
    outcome(text(32, 192, 128, "")).unwrap();
    let error = outcome(text(16, 96, 512, ".input V33 offset=320 size=8\n")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the object and the metadata do not belong together: SIMD size: 16 in the kernel, 32 in the metadata; \
         bytes of data of each thread: 96 in the kernel, 192 in the metadata; \
         bytes of scratch memory: 512 in the kernel, 256 in the metadata; \
         an input at bytes 320 to 328 of the payload, of which the metadata know nothing; \
         take the metadata of the same compilation"
    );
}

/// What was examined is what is launched, whatever becomes of the files.
#[test]
fn dumps_are_read_once() {
    let folder =
        visakit_files::TemporaryFolder::new(&std::env::temp_dir(), "visakit-test").unwrap();
    let text = std::fs::read(fixture("lookup.pvc.visaasm")).unwrap();
    let path = folder.path().join("OCL_asm1_simd32_lookup.visaasm");
    visakit_files::scratch(&path, &text).unwrap();
    let dump = visakit_launch::Dump::open(folder.path()).unwrap();
    visakit_files::write(&path, b"another text").unwrap();
    let kernel = dump.kernel(Some("lookup")).unwrap();
    assert_eq!(kernel.sources.first().unwrap().bytes, text);
    assert_eq!(dump.input(folder.path()).unwrap().sources.len(), 1);
}

/// Groups that wait for each other: each reads what another one has written before.
#[test]
fn all_groups_begin_before_one_ends() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/groups");
    let source = Source::open(&folder.join("mirror.bmg.visaasm")).unwrap();
    let object = source.object(64).unwrap();
    let text = std::fs::read_to_string(folder.join("mirror.bmg.zeinfo")).unwrap();
    let zeinfo = ZeInfo::parse(&text).unwrap();
    let mut kernel = Kernel::new(&object, "mirror", &zeinfo).unwrap();
    kernel.grf_bytes = 64;
    let config = Config::default();
    let loaded = kernel
        .load(&Arc::new(Variables::default()), &config)
        .unwrap();
    assert!(loaded.needs_all_groups());
    // The last one is as many as may wait for each other.
    let most = u32::try_from(loaded.most_groups([64, 1, 1])).unwrap();
    let arguments = [Argument::Null, Argument::Null, value(0)];
    let beyond = NdRange::new(&[(most + 1) * 64], &[64], &[]).unwrap();
    let refused = loaded.launch(&beyond, &arguments, None, &config).err();
    assert!(matches!(refused, Some(LaunchError::Grid(_))), "{refused:?}");
    for (groups, rounds) in [(1, 3), (2, 1), (7, 2), (33, 3), (most.min(256), 1)] {
        for workers in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(workers);
            let items = groups * 64;
            let bytes = vec![0; items as usize * 4];
            let arguments = [
                Argument::Buffer(bytes.clone()),
                Argument::Buffer(bytes),
                value(rounds),
            ];
            let range = NdRange::new(&[items], &[64], &[]).unwrap();
            let launch = loaded.launch(&range, &arguments, None, &config).unwrap();
            let outcome = pool
                .build()
                .unwrap()
                .install(|| launch.run(&config))
                .unwrap();
            let wanted = |i: u32| {
                let turned = if rounds % 2 == 1 { items - 1 - i } else { i };
                turned + rounds
            };
            let wanted: Vec<u32> = (0..items).map(wanted).collect();
            assert_eq!(words(outcome.memory(1).unwrap()), wanted, "{groups} groups");
        }
    }
}
