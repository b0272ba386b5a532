//! Subroutines and functions.

use super::{Blocks, VECTORS};

impl Blocks<'_> {
    /// Calls a subroutine or a function, often by some lanes only.
    pub(super) fn call(&mut self) {
        let lanes = self.to.lanes;
        if let Some(number) = self.to.rng.choice(&self.subroutines).copied() {
            let predicate = self.often();
            self.to
                .line(&format!("{predicate}call (M1, {lanes}) SUB{number}"));
        } else if let Some(number) = self.to.rng.choice(&self.functions).copied() {
            let level = self.small();
            self.call_function(number, &level);
        }
    }

    /// A predication of every other call.
    fn often(&mut self) -> String {
        match self.to.once_in(2) {
            true => self.predicate(),
            false => String::new(),
        }
    }

    /// Passes a level and a vector, takes a vector back.
    fn call_function(&mut self, number: u32, level: &str) {
        let lanes = self.to.lanes;
        let [vector, result] = [(); 2].map(|()| self.to.below(VECTORS));
        let predicate = self.often();
        // Every lane, so that no old values are left.
        self.to.line(&format!(
            "mov (M1_NM, {lanes}) %arg(0,0)<1> {level}\n\
             mov (M1_NM, {lanes}) %arg(8,0)<1> V{vector}(0,0)<1;1,0>\n\
             mov (M1_NM, {lanes}) %retval(0,0)<1> 0x0:d"
        ));
        let call = match self.to.below(3) {
            0 => {
                let address = format!("Q{}(0,0)", self.to.below(2));
                self.to.line(&format!("faddr f{number} {address}<1>"));
                format!("ifcall (M1, {lanes}) {address}<0;1,0> 8 4")
            }
            _ => format!("fcall (M1, {lanes}) f{number} 8 4"),
        };
        self.to.line(&format!(
            "{predicate}{call}\n\
             xor (M1, {lanes}) V{result}(0,0)<1> V{result}(0,0)<1;1,0> %retval(0,0)<1;1,0>"
        ));
    }

    /// Subroutines, of which each calls those after it.
    pub(super) fn write_subroutines(&mut self) {
        let lanes = self.to.lanes;
        for number in self.subroutines.clone() {
            self.subroutines.remove(0);
            self.to
                .line(&format!(".function \"SUB{number}\"\nSUB{number}:"));
            self.unstructured(4, "ret");
            self.to.line(&format!("ret (M1, {lanes})"));
        }
    }

    /// A function: it takes a level, and calls itself or others with a lower one.
    pub(super) fn write_function(&mut self, number: u32) {
        let lanes = self.to.lanes;
        self.to.line(&format!(".global_function \"f{number}\""));
        self.declare();
        for n in 0..VECTORS {
            self.to.line(&format!(
                "mov (M1_NM, {lanes}) V{n}(0,0)<1> %arg(8,0)<1;1,0>"
            ));
        }
        // The level stays in a variable of the activation.
        self.to
            .line(&format!("mov (M1_NM, {lanes}) L(0,0)<1> %arg(0,0)<1;1,0>"));
        let callees = std::mem::take(&mut self.functions);
        self.unstructured(4, "fret");
        self.functions = callees;
        self.to.line(&format!(
            "cmp.le (M1, {lanes}) P1 L(0,0)<1;1,0> 0x0:d\n(P1) goto (M1, {lanes}) END"
        ));
        if let Some(callee) = self.to.rng.choice(&self.functions).copied() {
            self.to.line(&format!(
                "add (M1_NM, {lanes}) L(0,0)<1> L(0,0)<1;1,0> 0xffffffff:d"
            ));
            self.call_function(callee, "L(0,0)<1;1,0>");
        }
        self.to.line("END:");
        self.compute();
        let result = self.to.below(VECTORS);
        self.to.line(&format!(
            "add (M1, {lanes}) %retval(0,0)<1> V{result}(0,0)<1;1,0> L(0,0)<1;1,0>\n\
             fret (M1, {lanes})"
        ));
    }
}
