//! Lanes that part, wait and join: generated programs of nested branches and loops, as the interpreter runs them, wherever
//! fuel runs out.

use super::{Random, Trial, each_lane};
use std::fmt::Write;

/// Bytes of shared local memory.
const BYTES: usize = 1 << 12;

const VARIABLES: u32 = 6;

/// Programs that are tried.
const ROUNDS: usize = 150;

/// How deep branches and loops are nested.
const DEPTH: u32 = 4;

/// Writes a program.
struct Flow<'r> {
    random: &'r mut Random,
    lanes: u32,
    text: String,
    labels: u32,
}

impl Flow<'_> {
    fn below(&mut self, end: u32) -> u32 {
        self.random.next() % end
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{line}");
    }

    fn label(&mut self) -> u32 {
        self.labels += 1;
        self.labels
    }

    /// Sets a predicate in some lanes, now and then in all of them or in none.
    fn decide(&mut self) {
        let (lanes, a) = (self.lanes, self.below(VARIABLES));
        let bits = [0x1, 0x3, 0x10, 0x0, 0x40][self.below(5) as usize];
        self.line(&format!(
            "and (M1, {lanes}) T(0,0)<1> V{a}(0,0)<1;1,0> {bits:#x}:ud\n\
             cmp.eq (M1, {lanes}) P1 T(0,0)<1;1,0> 0x0:ud"
        ));
    }

    fn statements(&mut self, depth: u32) {
        for _ in 0..=self.below(3) {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: u32) {
        let lanes = self.lanes;
        let sign = ["", "!"][self.below(2) as usize];
        let [a, b, c] = [(); 3].map(|()| self.below(VARIABLES));
        match self.below(if depth == 0 { 4 } else { 12 }) {
            0..2 => self.line(&format!(
                "mad (M1, {lanes}) V{a}(0,0)<1> V{b}(0,0)<1;1,0> V{c}(0,0)<1;1,0> V{a}(0,0)<1;1,0>"
            )),
            2 => {
                let bits = self.random.next();
                self.line(&format!(
                    "xor (M1, {lanes}) V{a}(0,0)<1> V{b}(0,0)<1;1,0> {bits:#x}:ud"
                ));
            }
            3 => {
                self.decide();
                self.line(&format!(
                    "({sign}P1) add (M1, {lanes}) V{a}(0,0)<1> V{b}(0,0)<1;1,0> V{c}(0,0)<1;1,0>"
                ));
            }
            // Without, and with other statements for the lanes that jump.
            4..7 => {
                let end = self.label();
                self.decide();
                self.line(&format!("({sign}P1) goto (M1, {lanes}) L{end}"));
                self.statements(depth - 1);
                self.line(&format!("L{end}:"));
            }
            7..10 => {
                let [other, end] = [(); 2].map(|()| self.label());
                self.decide();
                self.line(&format!("({sign}P1) goto (M1, {lanes}) L{other}"));
                self.statements(depth - 1);
                self.line(&format!("goto (M1, {lanes}) L{end}\nL{other}:"));
                self.statements(depth - 1);
                self.line(&format!("L{end}:"));
            }
            10 => {
                // Out of everything.
                self.decide();
                self.line(&format!("({sign}P1) goto (M1, {lanes}) END"));
            }
            _ => {
                let [turn, end] = [(); 2].map(|()| self.label());
                self.line(&format!(
                    "mov (M1, {lanes}) C{depth}(0,0)<1> 0x0:ud\nL{turn}:"
                ));
                self.statements(depth - 1);
                self.decide();
                self.line(&format!("({sign}P1) goto (M1, {lanes}) L{end}"));
                self.statements(depth - 1);
                self.line(&format!(
                    "add (M1, {lanes}) C{depth}(0,0)<1> C{depth}(0,0)<1;1,0> 0x1:ud\n\
                     and (M1, {lanes}) T(0,0)<1> V{a}(0,0)<1;1,0> 0x3:ud\n\
                     cmp.le (M1, {lanes}) P1 C{depth}(0,0)<1;1,0> T(0,0)<1;1,0>\n\
                     (P1) goto (M1, {lanes}) L{turn}\nL{end}:"
                ));
            }
        }
    }
}

fn text(lanes: u32, random: &mut Random) -> String {
    let mut text = String::from(
        ".version 4.1\n.kernel \"k\"\n\
         .decl A v_type=G type=ud num_elts=32 align=GRF\n\
         .decl T v_type=G type=ud num_elts=32 align=GRF\n\
         .decl P1 v_type=P num_elts=32\n",
    );
    for n in 0..VARIABLES {
        let _ = writeln!(text, ".decl V{n} v_type=G type=ud num_elts=32 align=GRF");
    }
    for n in 0..=DEPTH {
        let _ = writeln!(text, ".decl C{n} v_type=G type=ud num_elts=32 align=GRF");
    }
    let _ = writeln!(text, ".kernel_attr SimdSize={lanes}");
    let mut flow = Flow {
        random,
        lanes,
        text,
        labels: 0,
    };
    for _ in 0..4 {
        flow.statement(DEPTH);
    }
    flow.line("END:");
    for n in 0..VARIABLES {
        let at = 0x100 * n;
        flow.line(&format!(
            "lsc_store.slm (M1, {lanes}) flat[A+{at:#x}]:a32 V{n}:d32"
        ));
    }
    flow.line("ret (M1, 1)");
    flow.text
}

#[test]
fn as_interpreted() {
    let mut random = Random(0x101);
    for round in 0..ROUNDS {
        let lanes = [32, 16, 8][round % 3];
        let trial = Trial {
            text: &text(lanes, &mut random),
            lanes,
            local: BYTES,
            registers: true,
            fuel: 60,
        };
        trial.agree(&mut random, &|random| {
            let mut sets = vec![("A".into(), each_lane())];
            for n in 0..VARIABLES {
                let bytes = (0..32).flat_map(|_| random.next().to_le_bytes()).collect();
                sets.push((format!("V{n}"), bytes));
            }
            sets
        });
    }
}
