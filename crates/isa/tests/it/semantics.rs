//! The semantics columns of rows, and the methods of instructions that use them.

#![allow(missing_docs, clippy::unwrap_used)]

use visakit_isa::enums::{lsc_addr_size, lsc_addr_type, lsc_data_elems, lsc_data_size, lsc_sfid};
use visakit_isa::operand::{GeneralOperand, Modifier, PredicateCombine};
use visakit_isa::semantics::{
    Action, AddressSpace, AtomicOp, Callee, Ending, Flow, Resource, Traits,
};
use visakit_isa::table::{FieldKind, Group, Lack, Role, rows};
use visakit_isa::{
    AnyInstruction, DataType, ExecSize, FieldName as F, Instruction, LabelId, Op, Platform,
    Platforms, Predicate, PredicateId, RawOperand, Region, Value, VarId, VectorOperand,
};

fn exec(code: u8) -> Value {
    Value::ExecSize(ExecSize::from_bits(code))
}

fn predicate(id: u16) -> Value {
    Value::Predicate(Predicate::new(PredicateId(id), PredicateCombine::PerLane, false).unwrap())
}

fn general(variable: u32) -> Value {
    Value::Vector(VectorOperand::General(GeneralOperand {
        modifier: Modifier::NONE,
        variable: VarId(variable),
        row: 0,
        column: 0,
        region: Region::SCALAR,
    }))
}

fn raw(variable: u32) -> Value {
    Value::Raw(RawOperand {
        variable: VarId(variable),
        ..RawOperand::NULL
    })
}

fn resources(accesses: impl Iterator<Item = visakit_isa::semantics::Access>) -> Vec<Resource> {
    accesses.map(|access| access.resource).collect()
}

#[test]
fn columns_agree_with_fields() {
    for row in rows() {
        let name = row.name;
        let has = |kind| row.fields.iter().any(|f| f.kind == kind);
        let target = matches!(
            row.flow,
            Flow::Label { .. } | Flow::Jump { .. } | Flow::Call(Callee::Label)
        );
        assert_eq!(has(FieldKind::Label), target, "{name}: label");
        assert_eq!(
            has(FieldKind::Labels),
            row.flow == Flow::Switch,
            "{name}: labels"
        );
        if let Ending::IfBit(field, _) = row.ending {
            assert!(row.field(field).is_some(), "{name}: {field:?}");
        }
        let messages = [
            Group::Lsc,
            Group::Svm,
            Group::DataPort,
            Group::Sampler,
            Group::ThreeD,
        ];
        assert!(
            !messages.contains(&row.group) || row.memory.is_some(),
            "{name} is a message, and says nothing of memory"
        );
        if let Some(memory) = row.memory
            && row.has_layout()
        {
            let role = |role| row.fields.iter().any(|f| f.role == role);
            if memory.action == Action::Load {
                assert!(role(Role::Destination), "{name} loads into nothing");
            }
            if memory.action.writes() {
                assert!(role(Role::Source), "{name} stores nothing");
            }
            let op = row.field(F::Op).is_some();
            assert!(memory.action != Action::AtomicCode || op, "{name}");
        }
        let computes = matches!(row.group, Group::Arithmetic | Group::Logic);
        let strict = Traits::STRICT_INTEGERS | Traits::NO_QWORDS;
        assert!(computes || !row.traits.intersects(strict), "{name}");
        assert!(
            row.conversions.is_empty() || !row.traits.intersects(strict),
            "{name}"
        );
        if row.traits.contains(Traits::WRITES_PREDICATE) {
            assert!(row.field(F::Pred).is_some(), "{name}");
        }
    }
}

/// Old and new codes of atomic operations take the operands that their messages have.
#[test]
fn atomic_operations() {
    for code in 0..32 {
        if let Some(op) = AtomicOp::from_code(code) {
            assert_eq!(op.code(), Some(code));
        }
    }
    assert_eq!(AtomicOp::CompareExchange.operands(), 2);
    assert_eq!(AtomicOp::PreDecrement.operands(), 0);
    assert_eq!(AtomicOp::BrainAdd.code(), None);
    let typed = Op::LSC_TYPED_ATOMIC_UMAX.def().memory.unwrap();
    assert_eq!(typed.action, Action::Atomic(AtomicOp::UnsignedMax));
}

#[test]
fn flow_of_jumps_and_returns() {
    let jump = |op, size, pred| {
        Instruction::new(op)
            .with(F::ExecSize, exec(size))
            .with(F::Pred, pred)
            .with(F::Label, Value::Label(LabelId(0)))
            .flow()
    };
    let none = Value::Predicate(Predicate::NONE);
    let goto = jump(Op::GOTO, 4, none);
    assert!(!goto.falls_through && !goto.diverges && goto.may_end);
    let goto = jump(Op::GOTO, 4, predicate(1));
    assert!(goto.falls_through && goto.diverges);
    // A thread jumps as a whole.
    let jmp = jump(Op::JMP, 0, predicate(1));
    assert!(jmp.falls_through && !jmp.diverges);
    let ret = Instruction::new(Op::RET).with(F::ExecSize, exec(4)).flow();
    assert!(!ret.falls_through && !ret.diverges);
}

/// A call that does not return ends its block, and so does a message that ends the thread.
#[test]
fn flow_that_a_bit_ends() {
    for (op, field, value) in [
        (Op::IFCALL, F::Flags, 2),
        (Op::RAW_SENDS, F::Modifier, 2),
        (Op::RAW_SENDG, F::Modifier, 2),
    ] {
        let flow = |bits| Instruction::new(op).with(field, Value::U8(bits)).flow();
        assert!(!flow(value).falls_through, "{op:?}");
        assert!(flow(1).falls_through && !flow(1).may_end, "{op:?}");
    }
    let write = Instruction::new(Op::RT_WRITE_3D).flow();
    assert!(write.falls_through && write.may_end);
}

#[test]
fn memory_of_a_load() {
    let load = |dst| {
        Instruction::new(Op::LSC_LOAD)
            .with(F::ExecSize, exec(4))
            .with(F::Sfid, Value::U8(lsc_sfid::UGM))
            .with(F::AddrType, Value::U8(lsc_addr_type::FLAT))
            .with(F::AddrSize, Value::U8(lsc_addr_size::A64))
            .with(F::DataSize, Value::U8(lsc_data_size::D32))
            .with(F::DataElems, Value::U8(lsc_data_elems::N4))
            .with(F::Dst, raw(dst))
            .with(F::Src0Addrs, raw(41))
    };
    let memory = load(40).memory().unwrap();
    assert_eq!(memory.action, Action::Load);
    assert_eq!(memory.space, AddressSpace::Flat);
    assert_eq!(memory.address_bits, Some(64));
    assert_eq!(memory.lanes, 16);
    assert_eq!(memory.bytes(), Some(16 * 16));
    assert_eq!(memory.data, Some(F::Dst));
    assert_eq!(load(0).memory().unwrap().action, Action::Prefetch);
    let slm = load(40).with(F::Sfid, Value::U8(lsc_sfid::SLM));
    // The first field of a name is used.
    assert_eq!(slm.memory().unwrap().space, AddressSpace::Flat);
    assert!(Instruction::new(Op::ADD).memory().is_none());
    // Codes without a meaning yield nothing.
    let mut odd = load(40);
    *odd.get_mut(F::DataSize).unwrap() = Value::U8(200);
    assert_eq!(odd.memory().unwrap().bytes(), None);
}

#[test]
fn what_is_read_and_written() {
    let add = Instruction::new(Op::ADD)
        .with(F::ExecSize, exec(3))
        .with(F::Pred, predicate(2))
        .with(F::Dst, general(40))
        .with(F::Src0, general(41))
        .with(F::Src1, general(42));
    assert_eq!(
        resources(add.reads()),
        [
            Resource::Predicate(PredicateId(2)),
            Resource::General(VarId(41)),
            Resource::General(VarId(42)),
            Resource::ExecMask,
            Resource::FloatMode
        ]
    );
    assert_eq!(resources(add.writes()), [Resource::General(VarId(40))]);
    // The predicate of add3.o receives the overflow.
    let overflow = Instruction::new(Op::ADD3O).with(F::Pred, predicate(2));
    assert!(resources(overflow.writes()).contains(&Resource::Predicate(PredicateId(2))));
    assert!(!resources(overflow.reads()).contains(&Resource::Predicate(PredicateId(2))));
    // Taking an address does not read the variable.
    let address = Instruction::new(Op::ADDR_ADD).with(F::Src0, general(40));
    assert!(!resources(address.reads()).contains(&Resource::General(VarId(40))));
    let load = Instruction::new(Op::LSC_LOAD).with(F::Dst, raw(40));
    assert!(resources(load.reads()).contains(&Resource::Memory));
    assert!(resources(load.writes()).contains(&Resource::General(VarId(40))));
    let call = Instruction::new(Op::FCALL);
    assert_eq!(resources(call.writes()), [Resource::Result]);
}

#[test]
fn platforms_by_name() {
    for platform in Platform::ALL {
        assert_eq!(Platform::from_name(platform.name()), Some(*platform));
        for alias in platform.aliases() {
            assert_eq!(Platform::from_name(alias), Some(*platform), "{alias}");
        }
        if let Some(code) = platform.native_code() {
            assert_eq!(Platform::from_native(code), Some(*platform));
        }
    }
    assert_eq!(Platform::from_name("xe-hp_sdv"), Some(Platform::XeHpSdv));
    for name in ["bmg-g21-b0", "LNL_A1"] {
        assert_eq!(Platform::from_name(name), Some(Platform::Xe2), "{name}");
    }
    assert_eq!(Platform::from_name("pvc-xl-a0p"), Some(Platform::Pvc));
    for name in ["bmg-x", "bmg-g21-b0-a0", "-a0"] {
        assert_eq!(Platform::from_name(name), None, "{name}");
    }
    let unknown = "voodoo".parse::<Platform>().unwrap_err().to_string();
    assert!(unknown.contains("DG2, MTL"), "{unknown}");
    assert!(Platform::Mtl.has_type(DataType::Df) && !Platform::Mtl.has_type(DataType::Q));
}

#[test]
fn platforms_of_instructions() {
    let on = |op: Op, platform| op.def().runs_on(platform);
    assert_eq!(
        on(Op::LSC_LOAD, Platform::Tgllp),
        Err(Lack::NotYet(Platform::Dg2))
    );
    assert_eq!(on(Op::LSC_LOAD, Platform::Xe3), Ok(()));
    assert_eq!(on(Op::SAD2, Platform::Tgllp), Err(Lack::NoLonger));
    assert_eq!(on(Op::LRP, Platform::Dg2), Err(Lack::NotListed));
    assert_eq!(on(Op::MOV, Platform::Xe3p), Ok(()));
    assert_eq!(
        Platforms::since(Platform::Xe2)
            .platforms()
            .collect::<Vec<_>>(),
        [
            Platform::Xe2,
            Platform::Xe3,
            Platform::Xe3pCri,
            Platform::Xe3p
        ]
    );
}

#[test]
fn the_page_of_the_instructions() {
    let path = visakit_testing::root().join("docs/instructions.md");
    visakit_testing::page::holds(&path, &visakit_isa::table::page());
}
