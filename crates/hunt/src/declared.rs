//! Declarations of vISA text, and sources whose sign matters to an instruction.

use std::collections::HashMap;
use visakit_isa::DataType;

/// The variables of a text.
pub(crate) struct Declared<'t>(HashMap<&'t str, Variable<'t>>);

struct Variable<'t> {
    line: usize,
    ty: DataType,
    elements: &'t str,
}

/// A line that is put in after another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Declaration {
    pub(crate) after: usize,
    pub(crate) text: String,
}

/// Operations whose result depends on the sign of their sources, besides those that make them wider.
const SIGNED: [&str; 11] = [
    "cmp.lt", "cmp.le", "cmp.gt", "cmp.ge", "min", "max", "asr", "mulh", "div", "mod", "avg",
];

/// Operations that extend their sources.
const EXTENDING: [&str; 7] = ["mov", "add", "mul", "mad", "add3", "sel", "madw"];

/// The type of equal size with the other sign.
fn opposite(ty: DataType) -> Option<DataType> {
    let alike = |other: &DataType| {
        other.size() == ty.size() && other.is_signed() != ty.is_signed() && is_integer(*other)
    };
    DataType::ALL
        .into_iter()
        .find(alike)
        .filter(|_| is_integer(ty))
}

fn is_integer(ty: DataType) -> bool {
    !ty.is_float() && !ty.is_packed() && ty != DataType::Bool
}

impl<'t> Declared<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        let lines = text.lines().enumerate();
        let variables = lines.filter_map(|(line, text)| {
            let mut words = text.strip_prefix(".decl ")?.split_whitespace();
            let name = words.next()?;
            let mut value = |key: &str| words.find_map(|word| word.strip_prefix(key));
            let ty = value("type=").filter(|_| text.contains("v_type=G"))?;
            let ty = DataType::ALL.into_iter().find(|t| t.name() == ty)?;
            let elements = value("num_elts=")?;
            let variable = Variable { line, ty, elements };
            Some((name, variable))
        });
        Self(variables.collect())
    }

    /// The variable whose name ends before an opening parenthesis.
    fn named<'c>(&self, before: &'c str) -> Option<(&'c str, &Variable<'t>)> {
        let start = before.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let name = before.get(start.map_or(0, |at| at + 1)..)?;
        Some((name, self.0.get(name)?))
    }

    /// The code with the other sign of its last source that depends on it, and the declaration of that.
    pub(crate) fn other_sign(&self, code: &str) -> Option<(String, Declaration)> {
        let opening = code.match_indices('(').map(|(at, _)| at);
        let operands = opening.filter_map(|at| {
            let (name, variable) = self.named(code.get(..at)?)?;
            Some((at, name, variable))
        });
        let mut operands: Vec<_> = operands.collect();
        let mut words = code.split_whitespace();
        let opcode = words.find(|word| !word.starts_with('('))?;
        let base = opcode.split('.').next()?;
        let saturates = opcode.ends_with(".sat");
        let depends: Box<dyn Fn(DataType) -> bool> = if base == "cmp" {
            Box::new(|_| SIGNED.contains(&opcode))
        } else {
            let (_, _, to) = operands.first()?;
            let to = to.ty;
            operands.remove(0);
            Box::new(move |ty| {
                let extends = to.size() > ty.size() || to.is_float();
                SIGNED.contains(&base) || EXTENDING.contains(&base) && (extends || saturates)
            })
        };
        let (at, name, variable) = operands.into_iter().rfind(|(_, _, v)| depends(v.ty))?;
        let ty = opposite(variable.ty)?.name();
        let new = format!("{name}planted");
        let code = format!("{}{new}{}", code.get(..at - name.len())?, code.get(at..)?);
        let elements = variable.elements;
        let text = format!(".decl {new} v_type=G type={ty} num_elts={elements} alias=<{name}, 0>");
        let after = variable.line;
        Some((code, Declaration { after, text }))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "helpers of tests")]

    use super::*;

    const TEXT: &str = ".version 4.1
.decl V40 v_type=G type=ud num_elts=16 align=hword
.decl V41 v_type=G type=w num_elts=16 align=hword alias=<V40, 0>
.decl V42 v_type=G type=f num_elts=16
.decl P1 v_type=P num_elts=16";

    #[test]
    fn signs_that_matter() {
        let declared = Declared::of(TEXT);
        let other = |code: &str| declared.other_sign(code);
        // A source that is extended.
        let (code, declaration) =
            other("(P1) add (M1, 16) V40(0,0)<1> V41(0,0)<1;1,0> 0x3:d").unwrap();
        assert_eq!(
            code,
            "(P1) add (M1, 16) V40(0,0)<1> V41planted(0,0)<1;1,0> 0x3:d"
        );
        let text = ".decl V41planted v_type=G type=uw num_elts=16 alias=<V41, 0>";
        assert_eq!((declaration.after, declaration.text.as_str()), (2, text));
        // Comparisons have no destination of that kind, and equality has no sign.
        let (code, _) = other("cmp.lt (M1, 16) P1 V40(0,0)<1;1,0> V40(0,1)<0;1,0>").unwrap();
        assert_eq!(
            code,
            "cmp.lt (M1, 16) P1 V40(0,0)<1;1,0> V40planted(0,1)<0;1,0>"
        );
        assert_eq!(other("cmp.eq (M1, 16) P1 V40(0,0)<1;1,0> 0x0:ud"), None);
        // A float of an integer; floats have no other sign; nothing is extended.
        assert!(other("mov (M1, 16) V42(0,0)<1> (-)V40(0,0)<1;1,0>").is_some());
        assert_eq!(other("mov (M1, 16) V42(0,0)<1> V42(0,0)<1;1,0>"), None);
        assert_eq!(other("mov (M1, 16) V40(0,0)<1> V40(0,0)<1;1,0>"), None);
        assert!(other("mov.sat (M1, 16) V41(0,0)<1> V40(0,0)<1;1,0>").is_some());
        for odd in ["", "(", "é(", "V40(", "mov", "cmp.lt (", "mov ((V40("] {
            let _ = other(odd);
        }
    }
}
