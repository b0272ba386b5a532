//! What comes before the programs of a source: functions that replace what is open in an argument, and such that give one
//! of two results.

use super::tokens::constant;
use crate::arithmetic;
use crate::ast::{Builtin, Guard, Node, Program, Statement};
use crate::types::{Scalar, Type, Value};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The name of the function that replaces something.
pub(super) const fn name(guard: Guard) -> &'static str {
    match guard {
        Guard::None => "",
        Guard::Number => "no_nan",
        Guard::Finite => "finite",
        Guard::Divisor => "divisor",
        Guard::Normal => "normal",
    }
}

/// Whether a constant stays what it is.
pub(super) fn is_kept(guard: Guard, value: &Value) -> bool {
    arithmetic::guarded(guard, *value) == *value
}

/// The functions that some programs need, and a sampler.
pub(super) fn prelude(programs: &[&Program]) -> String {
    let mut out = String::new();
    let used = Used::of(programs);
    for (guard, ty) in used.guards {
        let (zero, one) = (
            constant(&Value::splat(ty, 0)),
            constant(&Value::splat(ty, arithmetic::rounded(ty.scalar, 1.0))),
        );
        let vector = ty.is_vector();
        let chosen = match (guard, vector) {
            (Guard::Finite, true) => format!("select({zero}, x, isfinite(x))"),
            (Guard::Finite, false) => format!("isfinite(x) ? x : {zero}"),
            (Guard::Normal, true) => format!("select({zero}, x, isnormal(x))"),
            (Guard::Normal, false) => format!("isnormal(x) ? x : {zero}"),
            (Guard::Divisor, true) => format!("select({one}, x, isfinite(x) & (x != {zero}))"),
            (Guard::Divisor, false) => format!("isfinite(x) && x != {zero} ? x : {one}"),
            (_, true) => format!("select(x, {zero}, isnan(x))"),
            (_, false) => format!("isnan(x) ? {zero} : x"),
        };
        let name = name(guard);
        let _ = writeln!(
            out,
            "__attribute__((overloadable)) {ty} {name}({ty} x) {{ return {chosen}; }}"
        );
    }
    for (builtin, of) in used.wrapped {
        let Some(rest) = builtin.wrapped() else {
            continue;
        };
        let int = of.of(Scalar::Int);
        let ty = match builtin {
            Builtin::FrexpExponent | Builtin::RemquoQuotient => int,
            _ => of,
        };
        let rest = rest.replace("T ", &format!("{of} "));
        let rest = rest.replace("I ", &format!("{int} "));
        // The condition of a selection of scalars is unsigned or signed, and that of vectors has their type.
        let name = builtin.name();
        let _ = writeln!(out, "__attribute__((overloadable)) {ty} {name}{rest}");
    }
    if used.samples {
        out.push_str(
            "__constant sampler_t near = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n",
        );
    }
    out
}

/// What some programs need.
#[derive(Default)]
struct Used {
    guards: BTreeSet<(Guard, Type)>,
    wrapped: BTreeSet<(Builtin, Type)>,
    samples: bool,
}

impl Used {
    fn of(programs: &[&Program]) -> Self {
        let mut used = Self::default();
        for program in programs {
            for output in &program.outputs {
                used.guard(Guard::Number, output.ty);
            }
            for own in &program.own {
                used.guard(Guard::Number, own.ty);
            }
            program.each_statement(&mut |statement| {
                if let Statement::Draw(_, value) = statement {
                    used.guard(Guard::Normal, value.ty);
                }
            });
            program.each_expression(&mut |e| match &e.node {
                Node::As(a) => used.guard(Guard::Number, a.ty),
                Node::Convert(_, a) if !e.ty.scalar.is_float() => used.guard(Guard::Number, a.ty),
                Node::Pixel(pixel, ..) => used.samples |= pixel.clamped,
                Node::Call(builtin, arguments) => {
                    for (number, argument) in arguments.iter().enumerate() {
                        used.guard(builtin.guard(number, argument), argument.ty);
                    }
                    if let (Some(_), Some(first)) = (builtin.wrapped(), arguments.first()) {
                        used.wrapped.insert((*builtin, first.ty));
                    }
                }
                _ => {}
            });
        }
        used
    }

    fn guard(&mut self, guard: Guard, ty: Type) {
        if guard != Guard::None && ty.scalar.is_float() {
            self.guards.insert((guard, ty));
        }
    }
}
