//! Divergent control flow: blocks with branches between them, subroutines, functions, and the structures of older versions.

mod calls;

use super::{Writer, named, object, some_lanes};
use crate::generate::{Case, Style, edges};
use fastrand::Rng;
use visakit_isa::DataType;

/// Vectors that every lane computes with.
const VECTORS: u32 = 6;
/// Predicates; the last one belongs to the loops of the structured forms.
const PREDICATES: u32 = 4;

/// Writes the routines of a text.
struct Blocks<'r> {
    to: Writer<'r>,
    /// Subroutines of the routine that it may call.
    subroutines: Vec<u32>,
    /// Functions of the object that the routine may call.
    functions: Vec<u32>,
    /// Statements that are left.
    budget: u32,
}

impl Blocks<'_> {
    /// Vectors `V0` to `V5`, a counter for each lane `C`, one for all lanes `S`, and the level `L` of a function.
    fn declare(&mut self) {
        self.to
            .vectors("d", named("V", 0..VECTORS).chain(["C".into(), "L".into()]));
        self.to.line(".decl S v_type=G type=d num_elts=1 align=GRF");
        for n in 0..2 {
            self.to
                .line(&format!(".decl Q{n} v_type=G type=uq num_elts=1 align=GRF"));
        }
        self.to.predicates(named("P", 1..=PREDICATES));
        self.to.begin();
        let lanes = self.to.lanes;
        self.to.line(&format!(
            "mov (M1_NM, {lanes}) C(0,0)<1> 0x0:d\nmov (M1_NM, 1) S(0,0)<1> 0x0:d"
        ));
        for name in named("P", 1..=PREDICATES) {
            let bits = self.to.rng.u32(..);
            self.to
                .line(&format!("setp (M1_NM, 32) {name} {bits:#x}:ud"));
        }
    }

    /// A predicate that any statement may set.
    fn own(&mut self) -> u32 {
        1 + self.to.below(PREDICATES - 1)
    }

    /// A predication.
    fn predicate(&mut self) -> String {
        let id = 1 + self.to.below(PREDICATES);
        let sign = self.to.pick(&["", "!"]);
        let combined = self.to.pick(&["", "", "", "", ".any", ".all"]);
        format!("({sign}P{id}{combined}) ")
    }

    fn maybe_predicate(&mut self) -> String {
        match self.to.once_in(3) {
            true => self.predicate(),
            false => String::new(),
        }
    }

    fn relation(&mut self) -> &'static str {
        self.to.pick(&["eq", "ne", "gt", "ge", "lt", "le"])
    }

    fn number(&mut self) -> String {
        let bits = edges::bits(self.to.rng, DataType::D);
        format!("{bits:#x}:d")
    }

    fn small(&mut self) -> String {
        format!("{:#x}:d", self.to.below(4))
    }

    /// Computes something, often under the mask, sometimes a new predicate.
    fn compute(&mut self) {
        let lanes = self.to.lanes;
        let op = self.to.pick(&["add", "xor", "and", "mul", "or", "add"]);
        let [a, b, c] = [(); 3].map(|()| self.to.below(VECTORS));
        let line = match self.to.below(8) {
            0 | 1 => {
                let (id, relation) = (self.own(), self.relation());
                let mask = self.to.pick(&["M1", "M1", "M1", "M1_NM"]);
                let other = match self.to.once_in(2) {
                    true => self.small(),
                    false => format!("V{b}(0,0)<1;1,0>"),
                };
                format!("cmp.{relation} ({mask}, {lanes}) P{id} V{a}(0,0)<1;1,0> {other}")
            }
            // A scalar that every pass changes, whatever the mask.
            2 => "add (M1_NM, 1) S(0,0)<1> S(0,0)<0;1,0> 0x1:d".into(),
            3 if lanes == 32 => {
                let predicate = self.maybe_predicate();
                format!("{predicate}{op} (M5, 16) V{c}(1,0)<1> V{a}(1,0)<1;1,0> V{b}(1,0)<1;1,0>")
            }
            _ => {
                let predicate = self.maybe_predicate();
                let other = match self.to.once_in(3) {
                    true => self.number(),
                    false => format!("V{b}(0,0)<1;1,0>"),
                };
                format!("{predicate}{op} (M1, {lanes}) V{c}(0,0)<1> V{a}(0,0)<1;1,0> {other}")
            }
        };
        self.to.line(&line);
    }

    /// Counts a pass and leaves a predicate that is set for lanes that have not passed too often.
    fn count(&mut self, id: u32) {
        let (lanes, limit) = (self.to.lanes, 1 + self.to.below(6));
        self.to.line(&format!(
            "add (M1, {lanes}) C(0,0)<1> C(0,0)<1;1,0> 0x1:d\n\
             cmp.lt (M1, {lanes}) P{id} C(0,0)<1;1,0> {limit:#x}:d"
        ));
    }

    /// Counts the scalar counter and all lanes together.
    fn count_scalar(&mut self, id: u32) {
        let limit = 1 + self.to.below(8);
        // One lane is enough for a branch of all of them.
        let lanes = if self.to.once_in(2) { 1 } else { self.to.lanes };
        self.to.line(&format!(
            "add (M1_NM, 1) S(0,0)<1> S(0,0)<0;1,0> 0x1:d\n\
             cmp.lt (M1_NM, {lanes}) P{id} S(0,0)<0;1,0> {limit:#x}:d"
        ));
    }

    /// Compares two numbers that all lanes share, of which one may be negative.
    fn decide(&mut self) -> String {
        let (id, relation) = (self.own(), self.relation());
        let vector = self.to.below(VECTORS);
        let other = match self.to.below(3) {
            0 => self.number(),
            1 => self.small(),
            _ => format!("V{vector}(0,0)<0;1,0>"),
        };
        let counter = "S(0,0)<0;1,0>";
        let sources = match self.to.once_in(2) {
            true => format!("{counter} {other}"),
            false => format!("{other} {counter}"),
        };
        self.to
            .line(&format!("cmp.{relation} (M1_NM, 1) P{id} {sources}"));
        let sign = self.to.pick(&["", "!"]);
        format!("({sign}P{id}) ")
    }

    /// A branch at the end of a block, to one of those ahead or behind. Lanes go back only as often as their counter
    /// allows.
    fn branch(&mut self, labels: &[u32], index: usize) {
        let lanes = self.to.lanes;
        let ahead = labels.get(index + 1..).unwrap_or_default();
        let forward = self.to.rng.choice(ahead).copied();
        let backward = labels.get(self.to.rng.usize(..=index)).copied();
        let line = match (self.to.below(12), forward, backward) {
            (0..=4, Some(to), _) => format!("{}goto (M1, {lanes}) L{to}", self.predicate()),
            (5, Some(to), _) => format!("goto (M1, {lanes}) L{to}"),
            (6 | 7, _, Some(to)) => {
                let id = 1 + self.to.below(PREDICATES);
                self.count(id);
                format!("(P{id}) goto (M1, {lanes}) L{to}")
            }
            (8, _, Some(to)) => {
                let id = 1 + self.to.below(PREDICATES);
                self.count_scalar(id);
                format!("(P{id}) {} (M1, 1) L{to}", self.to.pick(&["jmp", "goto"]))
            }
            (9, Some(to), _) => {
                let predicate = match self.to.below(4) {
                    0 => self.predicate(),
                    1 => String::new(),
                    _ => self.decide(),
                };
                format!(
                    "{predicate}{} (M1, 1) L{to}",
                    self.to.pick(&["jmp", "goto"])
                )
            }
            (10, Some(_), _) if ahead.len() > 1 => {
                let ahead: Vec<String> = named("L", ahead.iter().copied()).take(4).collect();
                let index = self.to.rng.usize(..ahead.len());
                format!("switchjmp (M1_NM, 1) {index:#x}:ub ({})", ahead.join(", "))
            }
            _ => return,
        };
        self.to.line(&line);
    }

    /// Blocks with labels, and branches between them.
    fn unstructured(&mut self, blocks: usize, leave: &str) {
        let lanes = self.to.lanes;
        let labels: Vec<u32> = (0..blocks).map(|_| self.to.label()).collect();
        for (index, label) in labels.iter().enumerate() {
            self.to.line(&format!("L{label}:"));
            for _ in 0..self.to.below(4) {
                self.compute();
            }
            self.branch(&labels, index);
            match self.to.below(4) {
                0 => self.call(),
                1 if self.to.once_in(3) && index > 1 => {
                    // Some lanes leave early.
                    let predicate = self.predicate();
                    self.to.line(&format!("{predicate}{leave} (M1, {lanes})"));
                }
                _ => {}
            }
        }
    }

    /// Statements of the older structured forms.
    fn structured(&mut self, depth: u32, in_loop: bool) {
        let lanes = self.to.lanes;
        for _ in 0..1 + self.to.below(4) {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            match self.to.below(8) {
                0 | 1 if depth > 0 => {
                    let predicate = self.predicate();
                    self.to.line(&format!("{predicate}if (M1, {lanes})"));
                    self.structured(depth - 1, in_loop);
                    if self.to.once_in(2) {
                        self.to.line(&format!("else (M1, {lanes})"));
                        self.structured(depth - 1, in_loop);
                    }
                    self.to.line(&format!("endif (M1, {lanes})"));
                }
                2 | 3 if depth > 0 => {
                    self.to.line(&format!("do (M1, {lanes})"));
                    // Counted before anything can jump to the `while`.
                    self.count(PREDICATES);
                    self.structured(depth - 1, true);
                    self.to
                        .line(&format!("(P{PREDICATES}) while (M1, {lanes})"));
                }
                4 if in_loop => {
                    let predicate = self.predicate();
                    let op = self.to.pick(&["break", "cont"]);
                    self.to.line(&format!("{predicate}{op} (M1, {lanes})"));
                }
                _ => self.compute(),
            }
        }
    }
}

pub(crate) fn program(rng: &mut Rng, style: Style) -> Case {
    let lanes = *rng.choice(&[8, 16, 32]).unwrap_or(&16);
    let version = match style {
        Style::Structured => "3.6",
        _ => "4.1",
    };
    let functions = match style {
        Style::Functions => rng.u32(1..3),
        _ => 0,
    };
    let mut blocks = Blocks {
        to: Writer::of_version(rng, lanes, version),
        subroutines: Vec::new(),
        functions: (0..functions).collect(),
        budget: 60,
    };
    blocks.declare();
    match style {
        Style::Structured => blocks.structured(3, false),
        _ => {
            if style == Style::Subroutines {
                let count = blocks.to.rng.u32(1..4);
                blocks.subroutines = (0..count).collect();
            }
            blocks.unstructured(10, "ret");
        }
    }
    blocks.to.line("ret (M1, 1)");
    blocks.write_subroutines();
    for function in 0..functions {
        blocks.functions = (function..functions).collect();
        blocks.write_function(function);
    }
    let object = object(&blocks.to.text);
    let sets = named("V", 0..VECTORS)
        .map(|name| (name, edges::fill(rng, DataType::D, 4 * lanes as usize)))
        .collect();
    Case {
        grf: *rng.choice(&[32, 64]).unwrap_or(&32),
        ..Case::of_thread(object, some_lanes(rng, lanes), sets)
    }
}
