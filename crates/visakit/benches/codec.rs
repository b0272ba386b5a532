//! Speed of reader and writer, next to limits and peers in the same run.
//!
//! `cargo bench -p visakit` prints the table that BENCHMARKS.md shows. The input is every
//! instruction area of the objects under `../shared/corpus/isa`, or of the committed fixtures where
//! that folder is not there.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout
)]

use divan::counter::{BytesCount, ItemsCount};
use divan::{AllocProfiler, Bencher, black_box};
use object::{Object as _, ObjectSection as _};
use std::path::Path;
use std::sync::LazyLock;
use visakit::isa::object::{Item, Object};
use visakit::isa::{Instruction, Value};
use visakit::parse::{Container, Instructions, Rules};

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

fn main() {
    let input = &*INPUT;
    println!(
        "input: {} objects from {}, {} bytes; {} routines, {} instructions, {} bytes of code",
        input.files.len(),
        input.from,
        input.files.iter().map(Vec::len).sum::<usize>(),
        input.code.len(),
        input.instructions,
        input.code_bytes
    );
    divan::main();
}

struct Code {
    bytes: Vec<u8>,
    format: visakit::isa::Format,
    rules: Rules,
}

struct Input {
    from: &'static str,
    files: Vec<Vec<u8>>,
    objects: Vec<Object<'static>>,
    code: Vec<Code>,
    code_bytes: usize,
    instructions: usize,
}

static INPUT: LazyLock<Input> = LazyLock::new(|| {
    let (from, files) = visakit_testing::corpus::measured();
    let mut input = Input {
        from,
        objects: files
            .iter()
            .map(|f| visakit::parse::read(f).unwrap().into_owned())
            .collect(),
        files,
        code: Vec::new(),
        code_bytes: 0,
        instructions: 0,
    };
    for file in &input.files {
        let container = Container::parse(file).unwrap();
        for (id, _) in container.header().routines() {
            let routine = container.routine(id).unwrap();
            input.code_bytes += routine.code().len();
            input.instructions += routine.instructions().count();
            input.code.push(Code {
                bytes: routine.code().to_vec(),
                format: routine.format(),
                rules: routine.rules(),
            });
        }
    }
    input
});

/// Bytes of code and instructions a second.
macro_rules! per_instruction {
    ($bencher:ident) => {
        $bencher
            .counter(BytesCount::new(INPUT.code_bytes))
            .counter(ItemsCount::new(INPUT.instructions))
    };
}

/// A lower bound for any decoder.
mod limit {
    use super::*;

    #[divan::bench]
    fn sum_of_bytes(bencher: Bencher) {
        per_instruction!(bencher).bench_local(|| {
            let sum = |c: &Code| c.bytes.iter().map(|b| u64::from(*b)).sum::<u64>();
            INPUT.code.iter().map(sum).sum::<u64>()
        });
    }

    /// Each step depends on the byte before it, as instruction lengths do.
    #[divan::bench]
    fn dependent_table_walk(bencher: Bencher) {
        let table: [u8; 256] = core::array::from_fn(|i| [1, 2, 3, 4, 5][i % 5]);
        let steps = || {
            let mut steps = 0usize;
            for code in &INPUT.code {
                let mut at = 0;
                while let Some(byte) = code.bytes.get(at) {
                    at += usize::from(table[usize::from(*byte)]);
                    steps += 1;
                }
            }
            steps
        };
        bencher
            .counter(BytesCount::new(INPUT.code_bytes))
            .counter(ItemsCount::new(steps()))
            .bench_local(steps);
    }
}

mod decode {
    use super::*;

    /// Boundaries, every code and index checked, a `Copy` view of each instruction.
    #[divan::bench]
    fn instructions(bencher: Bencher) {
        per_instruction!(bencher).bench_local(|| {
            for code in &INPUT.code {
                for instruction in Instructions::new(&code.bytes, 0, code.format, code.rules) {
                    black_box(instruction.unwrap());
                }
            }
        });
    }

    /// Instructions, and every field as a typed value.
    #[divan::bench]
    fn instructions_and_values(bencher: Bencher) {
        per_instruction!(bencher).bench_local(|| {
            for code in &INPUT.code {
                let mut all = Instructions::new(&code.bytes, 0, code.format, code.rules);
                while let Some(instruction) = all.next_with(|field| {
                    black_box(field.value);
                }) {
                    black_box(instruction.unwrap());
                }
            }
        });
    }

    /// Instructions that own their fields.
    #[divan::bench]
    fn owned_instructions(bencher: Bencher) {
        per_instruction!(bencher).bench_local(|| {
            for code in &INPUT.code {
                for i in Instructions::new(&code.bytes, 0, code.format, code.rules) {
                    black_box(i.unwrap().to_instruction());
                }
            }
        });
    }

    /// Whole files: header, tables, instructions, dialects.
    #[divan::bench]
    fn whole_objects(bencher: Bencher) {
        let bytes: usize = INPUT.files.iter().map(Vec::len).sum();
        bencher.counter(BytesCount::new(bytes)).bench_local(|| {
            for file in &INPUT.files {
                black_box(visakit::parse::read(file).unwrap());
            }
        });
    }

    /// Headers only.
    #[divan::bench]
    fn containers(bencher: Bencher) {
        bencher
            .counter(ItemsCount::new(INPUT.code.len()))
            .bench_local(|| {
                for file in &INPUT.files {
                    black_box(Container::parse(file).unwrap());
                }
            });
    }
}

/// One operand layout through different primitives.
mod primitives {
    use super::*;
    use nom::number::streaming::{le_u8, le_u16, le_u32};
    use nom::{IResult, Parser};

    type Operand = (u8, u32, u8, u8, u16);

    /// General operands of version 3.4 and later, one after the other.
    static OPERANDS: LazyLock<Vec<u8>> =
        LazyLock::new(|| [0, 0x27, 0, 0, 0, 2, 4, 0x21, 1].repeat(100_000));

    fn run(bencher: Bencher, mut parse: impl FnMut(&[u8]) -> Option<&[u8]>) {
        bencher
            .counter(BytesCount::new(OPERANDS.len()))
            .counter(ItemsCount::new(OPERANDS.len() / 9))
            .bench_local(|| {
                let mut rest = OPERANDS.as_slice();
                while let Some(next) = parse(rest) {
                    rest = next;
                }
            });
    }

    #[divan::bench]
    fn nom_numbers(bencher: Bencher) {
        fn operand(input: &[u8]) -> IResult<&[u8], Operand> {
            (le_u8, le_u32, le_u8, le_u8, le_u16).parse(input)
        }
        run(bencher, |input| {
            let (rest, operand) = operand(input).ok()?;
            black_box(operand);
            Some(rest)
        });
    }

    #[divan::bench]
    fn nom_numbers_unit_error(bencher: Bencher) {
        fn operand(input: &[u8]) -> IResult<&[u8], Operand, ()> {
            (le_u8, le_u32, le_u8, le_u8, le_u16).parse(input)
        }
        run(bencher, |input| {
            let (rest, operand) = operand(input).ok()?;
            black_box(operand);
            Some(rest)
        });
    }

    #[divan::bench]
    fn visakit_vector_operand(bencher: Bencher) {
        use visakit::isa::{Dialect, Format, Version};
        let format = Format::new(Version::V4_1, Dialect::Writer2018);
        run(bencher, |input| {
            let (rest, operand) = visakit::parse::vector_operand(format)(input).ok()?;
            black_box(operand);
            Some(rest)
        });
    }
}

mod encode {
    use super::*;

    #[divan::bench]
    fn whole_objects(bencher: Bencher) {
        let bytes: usize = INPUT.files.iter().map(Vec::len).sum();
        bencher.counter(BytesCount::new(bytes)).bench_local(|| {
            for object in &INPUT.objects {
                black_box(visakit::encode::write(object).unwrap());
            }
        });
    }

    /// Objects of instructions alone: no tables, no native code.
    #[divan::bench]
    fn instructions(bencher: Bencher) {
        let objects: Vec<Object<'static>> = INPUT
            .objects
            .iter()
            .map(|object| {
                let mut object = object.clone();
                for (_, routine) in object.routines_mut() {
                    routine.binaries.truncate(1);
                    for binary in &mut routine.binaries {
                        binary.code = Default::default();
                    }
                    let code = core::mem::take(&mut routine.body_mut().unwrap().code);
                    *routine.body_mut().unwrap() = visakit::isa::object::Body {
                        code,
                        ..Default::default()
                    };
                }
                object
            })
            .collect();
        per_instruction!(bencher).bench_local(|| {
            for object in &objects {
                black_box(visakit::encode::write(object).unwrap());
            }
        });
    }

    /// Read, let go of the input, write, compare.
    #[divan::bench]
    fn roundtrip(bencher: Bencher) {
        let bytes: usize = INPUT.files.iter().map(Vec::len).sum();
        bencher.counter(BytesCount::new(bytes)).bench_local(|| {
            for file in &INPUT.files {
                black_box(visakit::verify::roundtrip(file.clone(), Default::default()));
            }
        });
    }
}

mod walk {
    use super::*;

    /// Every field of every owned instruction is examined.
    #[divan::bench]
    fn owned_fields(bencher: Bencher) {
        let count = |i: &Instruction| {
            let operands = i.fields.iter();
            operands
                .filter(|f| matches!(f.value, Value::Vector(_)))
                .count()
        };
        per_instruction!(bencher).bench_local(|| {
            let mut operands = 0;
            for object in &INPUT.objects {
                for (_, routine) in object.routines() {
                    for item in &routine.body().unwrap().code {
                        if let Item::Instruction(i) = item {
                            operands += count(i);
                        }
                    }
                }
            }
            operands
        });
    }
}

mod peer {
    use super::*;

    /// wasmparser, every operator of a real module (this project compiled to WebAssembly).
    #[divan::bench]
    fn wasmparser_operators(bencher: Bencher) {
        static MODULE: &[u8] = include_bytes!("../../../fixtures/bench/visakit.wasm");
        let (mut bytes, mut operators) = (0, 0);
        let bodies: Vec<_> = wasmparser::Parser::new(0)
            .parse_all(MODULE)
            .filter_map(|payload| match payload.unwrap() {
                wasmparser::Payload::CodeSectionEntry(body) => Some(body),
                _ => None,
            })
            .collect();
        for body in &bodies {
            let reader = body.get_operators_reader().unwrap();
            bytes += reader.get_binary_reader().bytes_remaining();
            operators += reader.into_iter().count();
        }
        bencher
            .counter(BytesCount::new(bytes))
            .counter(ItemsCount::new(operators))
            .bench_local(|| {
                for body in &bodies {
                    for operator in body.get_operators_reader().unwrap() {
                        black_box(operator.unwrap());
                    }
                }
            });
    }

    /// iced-x86, the machine code of this very program.
    #[divan::bench]
    fn iced_x86(bencher: Bencher) {
        let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let file = object::File::parse(&*program).unwrap();
        let Some(text) = file.section_by_name(".text") else {
            return;
        };
        let code = text.data().unwrap();
        let decode = || {
            let mut decoder = iced_x86::Decoder::with_ip(64, code, 0, 0);
            let mut instruction = iced_x86::Instruction::default();
            let mut count = 0usize;
            while decoder.can_decode() {
                decoder.decode_out(&mut instruction);
                black_box(&instruction);
                count += 1;
            }
            count
        };
        bencher
            .counter(BytesCount::new(code.len()))
            .counter(ItemsCount::new(decode()))
            .bench_local(decode);
    }

    /// Intel's tool as a whole process on one object: it reads, verifies, prints and finalizes.
    #[divan::bench(sample_count = 5, sample_size = 1)]
    fn genx_ir_process(bencher: Bencher) {
        let Some(tool) = ["/usr/bin/GenX_IR", "/usr/local/bin/GenX_IR"]
            .into_iter()
            .find(|path| Path::new(path).exists())
        else {
            println!("peer::genx_ir_process: GenX_IR is not installed, nothing was measured");
            return;
        };
        let folder = std::env::temp_dir().join(format!("visakit-bench-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let object = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../fixtures/objects/subgroups_skl_v36.isa");
        std::fs::copy(&object, folder.join("in.isa")).unwrap();
        let bytes = std::fs::metadata(&object).unwrap().len();
        bencher.counter(BytesCount::new(bytes)).bench_local(|| {
            std::process::Command::new(tool)
                .args(["in.isa", "-platform", "skl", "-dumpcommonisa"])
                .current_dir(&folder)
                .output()
                .unwrap()
        });
        std::fs::remove_dir_all(folder).unwrap();
    }
}
