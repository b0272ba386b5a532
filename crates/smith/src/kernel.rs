//! The routine under construction: declarations first, then statements.

use crate::choice::Choices;
use crate::config::{Classes, Config};
use crate::flow::Block;
use crate::functions::Calls;
use crate::rows::of_flow;
use crate::surfaces::SURFACES;
use visakit_isa::object::{
    Alignment, Attribute, Body, Declaration, Label, LabelKind, Object, Routine, Variable,
    VariableProperties,
};
use visakit_isa::operand::{ImmediateOperand, StateClass, StateOperand};
use visakit_isa::semantics::{Callee, Flow};
use visakit_isa::{
    DataType, ExecMask, ExecSize, FieldName, Format, Instruction, LabelId, Op, Predicate,
    PredicateId, RawOperand, SurfaceId, Value, VarId, VectorOperand,
};

/// Bytes of the input that make one statement.
pub const PIECE: usize = 32;

/// Bytes of each surface that an executable object accesses.
pub const SURFACE_BYTES: u32 = 4096;

/// Registers of a variable.
pub(crate) const VARIABLE_GRFS: u16 = 4;

/// Most types of which variables are declared, each twice: a quarter of the register file stays
/// free for the finalizer.
const MOST_TYPES: usize = 8;

/// A general variable that statements may read and write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct General {
    pub(crate) id: VarId,
    pub(crate) ty: DataType,
}

#[derive(Debug)]
pub(crate) struct Kernel<'c> {
    pub(crate) config: &'c Config,
    pub(crate) format: Format,
    pub(crate) body: Body<'static>,
    /// Variables that statements choose from.
    pub(crate) pool: Vec<General>,
    /// `ud` lane numbers, as many as the SIMD size; never written by statements.
    pub(crate) lanes: VarId,
    /// `ud` scratch: places in memory.
    pub(crate) places: VarId,
    /// SIMD size of the kernel.
    pub(crate) simd: u8,
    /// `ub` scratch: index of a switch.
    pub(crate) index: VarId,
    /// `ud` scratch: columns of texels.
    pub(crate) columns: VarId,
    pub(crate) surface: Option<SurfaceId>,
    /// The 2D surface of bytes, where rectangles are chosen.
    pub(crate) bytes: Option<SurfaceId>,
    /// The image, where texels are chosen.
    pub(crate) texels: Option<SurfaceId>,
    /// `uq` addresses and handles of messages that only 4.2 has.
    pub(crate) states: VarId,
    /// A matrix of eight registers.
    pub(crate) weights: Option<VarId>,
    pub(crate) calls: Option<Calls>,
    /// How many functions there are.
    pub(crate) functions: usize,
    /// Kind of computation and constant of each.
    computes: [[u8; 2]; 2],
    /// Open blocks, the innermost last.
    pub(crate) blocks: Vec<Block>,
    /// Labels of the subroutines; their bodies follow the kernel.
    pub(crate) subroutines: Vec<LabelId>,
    /// Code of each subroutine.
    later: Vec<Vec<Instruction>>,
    /// The subroutine that the statement belongs to, if not to the kernel itself.
    subroutine: Option<usize>,
}

impl<'c> Kernel<'c> {
    /// Without any declaration.
    pub(crate) fn empty(config: &'c Config) -> Self {
        Self {
            config,
            format: Format::new(config.version, config.dialect),
            body: Body::default(),
            pool: Vec::new(),
            lanes: VarId::NULL,
            places: VarId::NULL,
            simd: 16,
            index: VarId::NULL,
            columns: VarId::NULL,
            surface: None,
            bytes: None,
            texels: None,
            states: VarId::NULL,
            weights: None,
            calls: None,
            functions: 0,
            computes: [[0; 2]; 2],
            blocks: Vec::new(),
            subroutines: Vec::new(),
            later: Vec::new(),
            subroutine: None,
        }
    }

    pub(crate) fn new(head: &[u8], config: &'c Config) -> Self {
        let mut choices = Choices::new(head);
        let mut kernel = Self::empty(config);
        kernel.body.name = kernel.body.add_string(&b"smith"[..]);
        let wide = config.platform.grf_bytes() == 64;
        kernel.simd = choices.of_or(if wide { &[16, 32] } else { &[8, 16] }, 16);
        kernel.declare(&mut choices);
        kernel.prologue(&mut choices);
        kernel
    }

    fn declare(&mut self, choices: &mut Choices<'_>) {
        let mut types = vec![DataType::Ud, DataType::D, DataType::F];
        let more = [
            DataType::W,
            DataType::Uw,
            DataType::Hf,
            DataType::B,
            DataType::Ub,
            DataType::Q,
            DataType::Df,
            DataType::Uq,
        ];
        for ty in more {
            if self.config.platform.has_type(ty) && types.len() < MOST_TYPES && choices.once_in(2) {
                types.push(ty);
            }
        }
        for ty in types {
            for _ in 0..2 {
                let id = self.variable(ty, self.elements(ty));
                self.pool.push(General { id, ty });
            }
        }
        self.lanes = self.variable(DataType::Ud, u16::from(self.simd));
        self.places = self.variable(DataType::Ud, u16::from(self.simd));
        for n in 1..=4 {
            let name = self.body.add_string(format!("P{n}").into_bytes());
            self.body.predicates.push(Declaration {
                name,
                elements: u16::from(self.simd),
                ..Declaration::default()
            });
        }
        if self.config.classes.contains(Classes::INDIRECT) {
            for n in 0..2 {
                let name = self.body.add_string(format!("A{n}").into_bytes());
                self.body.addresses.push(Declaration {
                    name,
                    elements: 16,
                    ..Declaration::default()
                });
            }
        }
        self.index = self.variable(DataType::Ub, 1);
        self.columns = self.variable(DataType::Ud, u16::from(self.simd));
        let classes = self.config.classes;
        let platform = self.config.platform;
        if classes.contains(Classes::MEMORY) {
            self.surface = Some(self.declare_surface());
        }
        if classes.contains(Classes::MEDIA) && platform.has_data_port() {
            self.bytes = Some(self.declare_surface());
        }
        if classes.contains(Classes::TYPED) {
            self.texels = Some(self.declare_surface());
        }
        if self.has_newest() {
            self.states = self.variable(DataType::Uq, 32);
            self.surface = Some(self.declare_surface());
            let name = self.body.add_string(&b"S0"[..]);
            self.body.samplers.push(Declaration {
                name,
                elements: 1,
                ..Declaration::default()
            });
        }
        // Needed by the statement of `surfaces.rs`.
        if classes.contains(Classes::SYSTOLIC) && self.has(Op::DPAS.def()) {
            let elements = 8 * self.grf_bytes() / 4;
            self.weights = Some(self.variable(DataType::Ud, elements));
        }
        self.attribute("Target", &[0]);
        self.attribute("SimdSize", &[self.simd]);
        self.attribute("SLMSize", &[4]);
        if self.config.classes.contains(Classes::FLOW) {
            for n in 0..choices.below(3) {
                let label = self.label(&format!("sub_{n}"), LabelKind::SUBROUTINE);
                self.subroutines.push(label);
                self.later.push(Vec::new());
            }
        }
        if classes.contains(Classes::FUNCTIONS) && self.has(of_flow(Flow::Call(Callee::Name)).def())
        {
            self.functions = choices.below(self.computes.len() + 1);
            self.computes = [(); 2].map(|()| [choices.u8(), choices.u8()]);
            if self.functions > 0 {
                self.prepare_calls();
            }
        }
    }

    fn declare_surface(&mut self) -> SurfaceId {
        let place = u8::try_from(self.body.surfaces.len()).unwrap_or(u8::MAX);
        let id = self.format.predefined_surface_count().saturating_add(place);
        let name = self.body.add_string(format!("T{id}").into_bytes());
        self.body.surfaces.push(Declaration {
            name,
            elements: 1,
            ..Declaration::default()
        });
        SurfaceId(id)
    }

    /// Initialises every variable.
    fn prologue(&mut self, choices: &mut Choices<'_>) {
        // As compilers do; the finalizer counts on it where subroutines follow.
        let main = self.label("main", LabelKind::SUBROUTINE);
        self.begin(main);
        let surfaces = [self.surface, self.bytes, self.texels];
        for (surface, (entry, _)) in surfaces.into_iter().zip(SURFACES) {
            let Some(surface) = surface else { continue };
            let target = VectorOperand::State(StateOperand {
                class: StateClass::SURFACE,
                index: u16::from(surface.0),
                ..StateOperand::default()
            });
            // The one operation that sets a surface variable.
            let movs = Instruction::new(Op::MOVS)
                .with(FieldName::ExecSize, self.no_mask(1))
                .with(FieldName::Dst, Value::Vector(target))
                .with(FieldName::Src0, immediate(DataType::Ud, entry.into()));
            self.push(movs);
        }
        // 0 to 7 from a packed immediate, then eight more at a time.
        let lanes = self.lanes;
        let first = self.moved(
            8,
            lanes,
            DataType::Ud,
            0,
            immediate(DataType::Uv, 0x7654_3210),
        );
        self.push(first);
        for start in (8..self.simd).step_by(8) {
            let to = self.destination(lanes, DataType::Ud, u16::from(start));
            let from = self.packed(lanes, DataType::Ud, 0, 8);
            let by = immediate(DataType::Ud, u64::from(start));
            self.push(self.computed(Op::ADD, 8, to, from, by));
        }
        for General { id, ty } in self.pool.clone() {
            let packed = if ty.is_float() {
                DataType::Vf
            } else {
                DataType::V
            };
            let step = if ty.is_float() { 4u8 } else { 8 };
            let most = self.widest(ty);
            let mut start = 0;
            // A few different contents, then the rest of the variable from the first.
            while start < self.elements(ty) {
                let instruction = if start < u16::from(step) {
                    let bits = u64::from(choices.u32());
                    self.moved(step, id, ty, start, immediate(packed, bits))
                } else {
                    let left = self.elements(ty) - start;
                    let lanes = largest_size(
                        most.min(u8::try_from(start).unwrap_or(32))
                            .min(u8::try_from(left).unwrap_or(32)),
                    );
                    let source = self.packed(id, ty, 0, lanes);
                    self.moved(lanes, id, ty, start, source)
                };
                start += match instruction.exec_size().and_then(ExecSize::lanes) {
                    Some(lanes) => u16::from(lanes),
                    None => break,
                };
                self.push(instruction);
            }
        }
        self.fill_weights(choices);
    }

    /// Fills the matrix from variables.
    fn fill_weights(&mut self, choices: &mut Choices<'_>) {
        let ud = DataType::Ud;
        let (Some(weights), Some(from)) = (self.weights, self.of_type(ud, choices)) else {
            return;
        };
        let lanes = self.widest(ud);
        for start in (0..2 * self.elements(ud)).step_by(lanes.into()) {
            let source = self.packed(from, ud, start % self.elements(ud), lanes);
            let moved = self.moved(lanes, weights, ud, start, source);
            self.push(moved);
        }
    }

    /// One statement out of one piece of the input.
    pub(crate) fn statement(&mut self, piece: &[u8]) {
        let mut choices = Choices::new(piece);
        let elsewhere = self.blocks.is_empty() && choices.once_in(8);
        self.subroutine = (elsewhere && !self.subroutines.is_empty())
            .then(|| choices.below(self.subroutines.len()));
        let top = self.subroutine.is_none();
        let classes = self.config.classes;
        let kind = choices.below(22);
        if self.has_newest() && choices.once_in(2) {
            return self.newest(&mut choices);
        }
        match kind {
            10..=12 if classes.contains(Classes::FLOW) && top => {
                self.flow(&mut choices);
            }
            13 | 14 if classes.contains(Classes::MEMORY) => self.memory(&mut choices),
            15 if classes.contains(Classes::INDIRECT) => self.indirect(&mut choices),
            9 if classes.contains(Classes::SYNC) && top => self.sync(&mut choices),
            16 if classes.contains(Classes::SWITCH)
                && top
                && self.has(of_flow(Flow::Switch).def()) =>
            {
                self.switch(&mut choices);
            }
            17 if self.functions > 0 && top => self.call_function(&mut choices),
            18 | 19 if self.weights.is_some() => self.matrix(&mut choices),
            20 if self.bytes.is_some() => self.rectangle(&mut choices),
            21 if self.texels.is_some() => self.texels(&mut choices),
            _ => self.arithmetic(&mut choices),
        }
    }

    /// Closes open constructs and ends the routines.
    pub(crate) fn finish(mut self) -> Object<'static> {
        self.subroutine = None;
        while !self.blocks.is_empty() {
            self.close();
        }
        let end = self.returns(1);
        self.push(end);
        let bodies = core::mem::take(&mut self.later);
        for (label, body) in self.subroutines.clone().into_iter().zip(bodies) {
            self.begin(label);
            for instruction in body {
                self.push(instruction);
            }
            let end = self.returns(self.simd);
            self.push(end);
        }
        let mut object = Object::new(self.config.version, self.config.dialect);
        for (number, [kind, constant]) in self.computes.into_iter().enumerate() {
            if number < self.functions {
                object.functions.push(self.function(number, kind, constant));
            }
        }
        object.kernels.push(Routine::new(&b"smith"[..], self.body));
        object
    }

    fn begin(&mut self, label: LabelId) {
        let op = of_flow(Flow::Label { subroutine: true });
        self.push(Instruction::new(op).with(FieldName::Label, Value::Label(label)));
    }

    fn returns(&self, lanes: u8) -> Instruction {
        Instruction::new(of_flow(Flow::Return { function: false }))
            .with(FieldName::ExecSize, self.masked(lanes))
            .with(FieldName::Pred, Value::Predicate(Predicate::NONE))
    }

    pub(crate) fn push(&mut self, instruction: Instruction) {
        match self.subroutine.and_then(|index| self.later.get_mut(index)) {
            Some(body) => body.push(instruction),
            None => self.body.code.push(instruction.into()),
        }
    }

    /// Bytes of a register.
    pub(crate) fn grf_bytes(&self) -> u16 {
        u16::try_from(self.config.platform.grf_bytes()).unwrap_or(32)
    }

    /// Elements of a variable of the pool.
    pub(crate) fn elements(&self, ty: DataType) -> u16 {
        self.grf_bytes() * VARIABLE_GRFS / u16::from(ty.size())
    }

    /// Most lanes of an operand of this type: two registers.
    pub(crate) fn widest(&self, ty: DataType) -> u8 {
        let lanes = 2 * self.grf_bytes() / u16::from(ty.size());
        u8::try_from(lanes).unwrap_or(32).min(32)
    }

    pub(crate) fn variable(&mut self, ty: DataType, elements: u16) -> VarId {
        let place = u32::try_from(self.body.variables.len()).unwrap_or(u32::MAX);
        let id = VarId(self.format.predefined_variable_count() + place);
        let name = self.body.add_string(format!("V{}", id.0).into_bytes());
        // Code 5 is the alignment to a register.
        let properties = VariableProperties::new(ty, Alignment(5));
        self.body.variables.push(Variable {
            name,
            properties,
            elements,
            ..Variable::default()
        });
        id
    }

    pub(crate) fn label(&mut self, name: &str, kind: LabelKind) -> LabelId {
        let id = u16::try_from(self.body.labels.len()).unwrap_or(u16::MAX);
        let name = self.body.add_string(name.as_bytes().to_vec());
        self.body.labels.push(Label {
            name,
            kind,
            ..Label::default()
        });
        LabelId(id)
    }

    fn attribute(&mut self, name: &'static str, value: &[u8]) {
        let name = self.body.add_string(name.as_bytes());
        self.body.attributes.push(Attribute {
            name,
            value: value.to_vec().into(),
        });
    }

    /// An execution size that obeys the execution mask from its first lane on.
    pub(crate) fn masked(&self, lanes: u8) -> Value {
        exec_size(lanes, ExecMask::M1, self.format)
    }

    /// An execution size that ignores the execution mask.
    pub(crate) fn no_mask(&self, lanes: u8) -> Value {
        let mask = ExecMask {
            first_lane: 0,
            no_mask: true,
        };
        exec_size(lanes, mask, self.format)
    }

    /// `add (M1_NM, lanes) dst src0 src1`.
    ///
    /// What statements need around them (lane numbers, addresses, counters, indices) is computed with
    /// `add`, `and`, `shl`, `shr` and `mov`, which every version and platform has. They are named
    /// where they are emitted: no column states what an operation computes.
    pub(crate) fn computed(
        &self,
        op: Op,
        lanes: u8,
        dst: Value,
        src0: Value,
        src1: Value,
    ) -> Instruction {
        Instruction::new(op)
            .with(FieldName::ExecSize, self.no_mask(lanes))
            .with(FieldName::Pred, Value::Predicate(Predicate::NONE))
            .with(FieldName::Dst, dst)
            .with(FieldName::Src0, src0)
            .with(FieldName::Src1, src1)
    }

    /// `mov (M1_NM, lanes) variable[start] source`.
    pub(crate) fn moved(
        &self,
        lanes: u8,
        variable: VarId,
        ty: DataType,
        start: u16,
        source: Value,
    ) -> Instruction {
        Instruction::new(Op::MOV)
            .with(FieldName::ExecSize, self.no_mask(lanes))
            .with(FieldName::Pred, Value::Predicate(Predicate::NONE))
            .with(FieldName::Dst, self.destination(variable, ty, start))
            .with(FieldName::Src0, source)
    }

    /// One of the predicate variables.
    pub(crate) fn predicate_id(&self, choices: &mut Choices<'_>) -> PredicateId {
        let count = self.body.predicates.len();
        PredicateId(u16::try_from(choices.below(count) + 1).unwrap_or(1))
    }
}

/// The largest execution size that is at most `lanes`.
pub(crate) fn largest_size(lanes: u8) -> u8 {
    [32, 16, 8, 4, 2]
        .into_iter()
        .find(|s| *s <= lanes)
        .unwrap_or(1)
}

pub(crate) fn exec_size(lanes: u8, mask: ExecMask, format: Format) -> Value {
    // Early versions have fewer masks: from the first lane on, then.
    let from_first = ExecMask {
        first_lane: 0,
        ..mask
    };
    let size = [mask, from_first, ExecMask::M1]
        .into_iter()
        .find_map(|mask| ExecSize::new(lanes, mask, format));
    Value::ExecSize(size.unwrap_or_default())
}

pub(crate) fn immediate(ty: DataType, bits: u64) -> Value {
    Value::Vector(ImmediateOperand::new(ty.into(), bits).into())
}

pub(crate) fn raw(variable: VarId, offset: u16) -> Value {
    Value::Raw(RawOperand { variable, offset })
}
