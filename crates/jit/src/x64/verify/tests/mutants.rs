//! Code that was changed at random: whatever of it is not refused stays inside.

use super::machine::{Machine, Named, Random, Stop};
use super::*;
use iced_x86::{Encoder, Instruction, OpKind, Register};

/// How many changed codes there are of each, and how often those run that are not refused.
const MUTANTS: u64 = 400;
const RUNS: u64 = 4;

/// Codes that may stand for each other.
const SIBLINGS: &[&[Code]] = &[
    &[
        Code::Mov_r64_rm64,
        Code::Mov_r32_rm32,
        Code::Movzx_r32_rm16,
        Code::Movzx_r32_rm8,
    ],
    &[
        Code::Mov_rm64_r64,
        Code::Mov_rm32_r32,
        Code::Mov_rm16_r16,
        Code::Mov_rm8_r8,
    ],
    &[
        Code::Add_r64_rm64,
        Code::Add_r32_rm32,
        Code::Sub_r64_rm64,
        Code::And_r64_rm64,
        Code::Or_r64_rm64,
        Code::Cmp_r64_rm64,
        Code::Cmp_r32_rm32,
        Code::Cmova_r64_rm64,
    ],
    &[
        Code::And_r32_rm32,
        Code::Or_r32_rm32,
        Code::Xor_r32_rm32,
        Code::Sub_r32_rm32,
    ],
    &[
        Code::Sub_rm64_imm8,
        Code::Sub_rm32_imm8,
        Code::Add_rm64_imm8,
        Code::And_rm64_imm8,
        Code::Cmp_rm64_imm8,
        Code::Cmp_rm32_imm8,
        Code::Or_rm64_imm8,
    ],
    &[
        Code::Shl_rm64_imm8,
        Code::Shl_rm32_imm8,
        Code::Shr_rm64_imm8,
        Code::Shr_rm32_imm8,
    ],
    &[Code::Test_rm64_r64, Code::Test_rm32_r32],
    &[Code::Or_rm64_r64, Code::Or_rm32_r32, Code::Add_rm64_r64],
    &[Code::Bsf_r32_rm32, Code::VEX_Blsr_r32_rm32],
    &[
        Code::VEX_Vmovdqu_xmm_xmmm128,
        Code::VEX_Vmovdqu_ymm_ymmm256,
        Code::EVEX_Vmovdqu32_zmm_k1z_zmmm512,
    ],
    &[
        Code::VEX_Vmovdqu_xmmm128_xmm,
        Code::VEX_Vmovdqu_ymmm256_ymm,
        Code::EVEX_Vmovdqu32_zmmm512_k1z_zmm,
    ],
    &[
        Code::VEX_Vpbroadcastd_ymm_xmmm32,
        Code::EVEX_Vpbroadcastd_zmm_k1z_xmmm32,
        Code::VEX_Vpbroadcastq_ymm_xmmm64,
        Code::EVEX_Vpbroadcastq_zmm_k1z_xmmm64,
    ],
    &[
        Code::EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32,
        Code::VEX_Vpminud_ymm_ymm_ymmm256,
        Code::EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vpord_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32,
        Code::VEX_Vpxor_ymm_ymm_ymmm256,
        Code::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32,
        Code::EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64,
        Code::VEX_Vpor_ymm_ymm_ymmm256,
        Code::VEX_Vpsubq_ymm_ymm_ymmm256,
        Code::VEX_Vpcmpgtq_ymm_ymm_ymmm256,
        Code::VEX_Vpminuw_ymm_ymm_ymmm256,
        Code::EVEX_Vpmaxuw_zmm_k1z_zmm_zmmm512,
    ],
    &[
        Code::EVEX_Vptestmd_kr_k1_zmm_zmmm512b32,
        Code::EVEX_Vptestmq_kr_k1_zmm_zmmm512b64,
    ],
    &[
        Code::EVEX_Vpgatherdd_zmm_k1_vm32z,
        Code::EVEX_Vpgatherqd_ymm_k1_vm64z,
        Code::EVEX_Vpgatherdq_zmm_k1_vm32y,
    ],
    &[
        Code::EVEX_Vpscatterdd_vm32z_k1_zmm,
        Code::EVEX_Vpscatterqd_vm64z_k1_ymm,
        Code::EVEX_Vpscatterdq_vm32y_k1_zmm,
    ],
    &[Code::VEX_Vmovd_xmm_rm32, Code::VEX_Vmovq_xmm_rm64],
    &[
        Code::VEX_Vpextrd_rm32_xmm_imm8,
        Code::VEX_Vpextrq_rm64_xmm_imm8,
    ],
];

const NUMBERS: &[Register] = &[
    Register::RAX,
    Register::RCX,
    Register::RDX,
    Register::RBX,
    Register::RDI,
    Register::RBP,
    Register::RSP,
    Register::R9,
    Register::R12,
    Register::R13,
    Register::R14,
    Register::R15,
];

/// Another register of the same size.
fn other(random: &mut Random, register: Register) -> Register {
    let same = |number: usize| register - register.number() as u32 + number as u32;
    if register.is_vector_register() {
        same(random.one(&[0, 1, 2, 3, 8, 9]))
    } else if register.is_gpr64() {
        random.one(NUMBERS)
    } else if register.is_gpr32() {
        random.one(NUMBERS).full_register32()
    } else {
        register
    }
}

/// A register of the size that another instruction has there.
fn resized(from: Register, model: Register) -> Register {
    if model.is_vector_register() && from.is_vector_register() {
        return model - model.number() as u32 + from.number() as u32;
    }
    match (model.size(), from.is_gpr()) {
        (8, true) => from.full_register(),
        (4, true) => from.full_register32(),
        _ => from,
    }
}

/// The instruction with another code, and operands of the sizes that it has.
fn recoded(instruction: &Instruction, code: Code) -> Instruction {
    let mut found = *instruction;
    found.set_code(code);
    let text = format!("{code:?}");
    let parts: Vec<&str> = text.split('_').collect();
    let first = parts
        .iter()
        .position(|part| !matches!(*part, "VEX" | "EVEX"))
        .unwrap_or(0)
        + 1;
    let parts: Vec<&str> = parts
        .iter()
        .skip(first)
        .filter(|part| !part.starts_with("k1"))
        .copied()
        .collect();
    for operand in 0..found.op_count() {
        let Some(part) = parts.get(operand as usize) else {
            continue;
        };
        if found.op_kind(operand) == OpKind::Register {
            let model = match *part {
                part if part.starts_with("xmm") => Register::XMM0,
                part if part.starts_with("ymm") => Register::YMM0,
                part if part.starts_with("zmm") => Register::ZMM0,
                "r64" | "rm64" => Register::RAX,
                "r32" | "rm32" => Register::EAX,
                _ => continue,
            };
            found.set_op_register(operand, resized(found.op_register(operand), model));
        } else if found.op_kind(operand) != OpKind::Memory {
            let number = found.immediate(operand);
            let kind = match (code, *part) {
                (code, "imm8")
                    if format!("{code:?}").contains("rm64_imm8") && !text.starts_with("Sh") =>
                {
                    OpKind::Immediate8to64
                }
                (code, "imm8")
                    if format!("{code:?}").contains("rm32_imm8") && !text.starts_with("Sh") =>
                {
                    OpKind::Immediate8to32
                }
                _ => continue,
            };
            found.set_op_kind(operand, kind);
            found.set_immediate_u64(operand, number);
        }
    }
    if let Some(index) = found
        .memory_index()
        .is_vector_register()
        .then(|| found.memory_index())
    {
        let model = match parts.iter().find(|part| part.starts_with("vm")) {
            Some(part) if part.ends_with('z') => Register::ZMM0,
            Some(part) if part.ends_with('y') => Register::YMM0,
            _ => Register::XMM0,
        };
        found.set_memory_index(resized(index, model));
    }
    found
}

/// Changes an instruction.
fn change(random: &mut Random, instruction: &mut Instruction) {
    let count = instruction.op_count();
    let operand = random.below(count.max(1) as usize) as u32;
    let has_memory = (0..count).any(|n| instruction.op_kind(n) == OpKind::Memory);
    match random.below(8) {
        0 | 1 if count > 0 && instruction.op_kind(operand) == OpKind::Register => {
            let register = other(random, instruction.op_register(operand));
            instruction.set_op_register(operand, register);
        }
        2 if has_memory => {
            let more = random.one(&[-64, -8, -4, -1, 1, 4, 8, 16, 24, 32, 64]);
            let at = instruction
                .memory_displacement64()
                .wrapping_add_signed(more);
            let at = random.one(&[at, at, 0, 8, 88, 96, 152, 408, 440, 472]);
            instruction.set_memory_displacement64(at);
            instruction.set_memory_displ_size(u32::from(at != 0));
        }
        3 if has_memory => match random.below(3) {
            0 => instruction.set_memory_index_scale(random.one(&[1, 2, 4, 8])),
            1 => instruction.set_memory_base(other(random, instruction.memory_base())),
            _ => instruction.set_memory_index(other(random, instruction.memory_index())),
        },
        4 if count > 0 => {
            let number = random.one(&[0_i64, 1, 4, 5, 7, 8, 27, 28, 31, 32, 33, 63, 64, 127, -1]);
            match instruction.op_kind(operand) {
                OpKind::Immediate8to32 | OpKind::Immediate8to64 | OpKind::Immediate32to64 => {
                    instruction.set_immediate_i64(operand, number);
                }
                OpKind::Immediate8 | OpKind::Immediate32 => {
                    instruction.set_immediate_i64(operand, number.max(0));
                }
                _ => {}
            }
        }
        5 | 6 => {
            let all = SIBLINGS
                .iter()
                .find(|all| all.contains(&instruction.code()));
            if let Some(all) = all {
                *instruction = recoded(instruction, random.one(all));
            }
        }
        _ => {
            let mask = random.one(&[Register::None, Register::K1, Register::K2]);
            instruction.set_op_mask(mask);
            instruction.set_zeroing_masking(mask != Register::None && random.below(2) == 0);
        }
    }
}

/// Changes code after its start.
fn mutate(random: &mut Random, items: &mut Vec<Item>, start: Label) {
    let is_start = |item: &Item| matches!(item, Item::Label(own) if *own == start);
    let first = items.iter().position(is_start).unwrap() + 1;
    let at = first + random.below(items.len() - 1 - first);
    let next = at + 1;
    let labels: Vec<Label> = items
        .iter()
        .filter_map(|item| match item {
            Item::Label(label) => Some(*label),
            _ => None,
        })
        .collect();
    let count = items.len();
    match (random.below(10), &mut items[at]) {
        (0 | 1, item @ (Item::Instruction(_) | Item::Jump(..))) => *item = Item::Removed,
        (2, _) if next + 1 < count => items.swap(at, next),
        (3, Item::Instruction(instruction)) => {
            let copy = Item::Instruction(*instruction);
            let to = first + random.below(count - 1 - first);
            items.insert(to, copy);
        }
        (4 | 5, Item::Jump(condition, target)) => match random.below(2) {
            0 => *target = random.one(&labels),
            _ if condition.is_some() => {
                *condition = Some(random.one(&[
                    Condition::Equal,
                    Condition::NotEqual,
                    Condition::Above,
                    Condition::BelowOrEqual,
                    Condition::Below,
                    Condition::AboveOrEqual,
                    Condition::Less,
                ]));
            }
            _ => {}
        },
        (_, Item::Instruction(instruction)) => change(random, instruction),
        _ => {}
    }
}

/// Whether the processor has these instructions.
fn exists(items: &[Item]) -> bool {
    let mut encoder = Encoder::new(64);
    items.iter().all(|item| match item {
        Item::Instruction(instruction) => {
            let is_evex = format!("{:?}", instruction.code()).starts_with("EVEX");
            let masked = instruction.has_op_mask();
            // What is never reached may be no instruction at all.
            let is_short = |register: Register| register.is_gpr32();
            let short = is_short(instruction.memory_base()) || is_short(instruction.memory_index());
            !short && (is_evex || !masked) && encoder.encode(instruction, 0).is_ok()
        }
        _ => true,
    })
}

/// What is left of code when it was changed at random: how many are not refused, and how often those were run.
pub(super) fn hold(what: &str, lines: &dyn Fn(&mut Assembler, Label)) -> (u64, u64) {
    let (mut proven, mut ran) = (0, 0);
    let mut of_name = what
        .bytes()
        .fold(0_u64, |sum, byte| sum.wrapping_mul(31) + u64::from(byte));
    of_name <<= 20;
    for number in 0..MUTANTS {
        let mut random = Random(of_name + number);
        let (mut asm, [start, end]) = written(lines);
        let (items, labels) = asm.items();
        for _ in 0..random.below(4) {
            mutate(&mut random, items, start);
        }
        let found = verify(
            items,
            labels,
            (&[start, end], end),
            (&frame(), &constants()),
        );
        if found.is_err() || !exists(items) {
            continue;
        }
        proven += 1;
        for _ in 0..RUNS {
            match Machine::new(&mut random).run(items, start) {
                Stop::Ended => ran += 1,
                Stop::Unknown => {}
                Stop::Unsafe(why) => panic!("{what}, changed as {number}: {why}\n{}", shown(items)),
            }
        }
    }
    (proven, ran)
}

fn shown(items: &[Item]) -> String {
    use iced_x86::{Formatter as _, IntelFormatter};
    let mut text = String::new();
    for (at, item) in items.iter().enumerate() {
        text += &format!("{at:3} ");
        match item {
            Item::Instruction(instruction) => IntelFormatter::new().format(instruction, &mut text),
            Item::Jump(condition, label) => text += &format!("jump {condition:?} {}", label.0),
            Item::Label(label) => text += &format!("label {}", label.0),
            Item::Note(_) | Item::Removed => {}
        }
        text.push('\n');
    }
    text
}
