//! Programs as OpenCL C. What the language leaves undefined or open is avoided here, by what is written for an operator.

mod expr;
mod prelude;
mod together;
mod tokens;

use tokens::{constant, elements, symbol};

use crate::ast::{
    Atomic, Binary, Branch, Count, Expr, Function, Kind, Place, Program, Returned, Statement,
    Variable,
};
use crate::types::{Scalar, Type, Value};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A source of several programs; the kernels are `k0`, `k1` and so on.
#[must_use]
pub fn source(programs: &[&Program], sub_group: Option<u32>) -> String {
    source_for(programs, sub_group, MATRIX)
}

/// The size of sub-groups of most devices that multiply matrices.
pub(crate) const MATRIX: u32 = 16;

/// As [`source`]; programs whose sub-groups have the size of the device's matrices have this one.
pub(crate) fn source_for(programs: &[&Program], sub_group: Option<u32>, matrix: u32) -> String {
    let mut out = String::from("#pragma OPENCL FP_CONTRACT OFF\n");
    let scalars: BTreeSet<Scalar> = programs.iter().flat_map(|p| p.scalars_used()).collect();
    for (scalar, extension) in [(Scalar::Half, "fp16"), (Scalar::Double, "fp64")] {
        if scalars.contains(&scalar) {
            let _ = writeln!(out, "#pragma OPENCL EXTENSION cl_khr_{extension} : enable");
        }
    }
    out.push_str(&prelude::prelude(programs));
    for (number, program) in programs.iter().enumerate() {
        let mut writer = Writer {
            program,
            number,
            out: String::new(),
            depth: 0,
            locals: Vec::new(),
            scope: &program.variables,
            matrix,
        };
        let fixed = program.is_fixed().then_some(matrix);
        writer.program(fixed.or(sub_group));
        out.push('\n');
        out.push_str(&writer.out);
    }
    out
}

struct Writer<'p> {
    program: &'p Program,
    number: usize,
    out: String,
    depth: usize,
    /// Types of the arrays in local memory.
    locals: Vec<Type>,
    /// The variables of the kernel or function.
    scope: &'p [Variable],
    /// Work-items of a sub-group that multiplies matrices.
    matrix: u32,
}

impl<'p> Writer<'p> {
    fn line(&mut self, text: &str) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn program(&mut self, sub_group: Option<u32>) {
        let program = self.program;
        let p = self.number;
        for (s, fields) in program.structs.iter().enumerate() {
            let fields: Vec<_> = (0..)
                .zip(fields)
                .map(|(f, ty): (usize, _)| format!("{ty} f{f};"))
                .collect();
            self.line(&format!("struct p{p}_s{s} {{ {} }};", fields.join(" ")));
        }
        for (t, table) in program.tables.iter().enumerate() {
            let data = elements(&table.data);
            let (ty, length) = (table.ty, table.data.len());
            self.line(&format!("__constant {ty} p{p}_t{t}[{length}] = {data};"));
        }
        for (f, function) in program.functions.iter().enumerate() {
            self.function(f, function);
        }
        if let Some(size) = sub_group {
            self.line(&format!(
                "__attribute__((intel_reqd_sub_group_size({size})))"
            ));
        }
        let parameters = self.parameters().join(", ");
        self.line(&format!(
            "__attribute__((reqd_work_group_size({}, 1, 1)))",
            program.local
        ));
        self.line(&format!("__kernel void k{p}({parameters}) {{"));
        self.depth = 1;
        // Local memory is declared at the beginning, when it is known.
        let before = std::mem::take(&mut self.out);
        self.scope = &program.variables;
        self.variables(&program.variables, 0);
        self.block(&program.body);
        for (o, output) in program.outputs.iter().enumerate() {
            let value = self.defined(output);
            let text = match output.ty.lanes {
                3 => format!("vstore3({value}, get_global_id(0), o{o});"),
                _ => format!("o{o}[get_global_id(0)] = {value};"),
            };
            self.line(&text);
        }
        let rest = std::mem::replace(&mut self.out, before);
        for (l, ty) in std::mem::take(&mut self.locals).iter().enumerate() {
            self.line(&format!("__local {ty} l{l}[{}];", program.local));
        }
        self.out.push_str(&rest);
        self.depth = 0;
        self.line("}");
    }

    fn parameters(&self) -> Vec<String> {
        let program = self.program;
        let mut all = Vec::new();
        for (o, output) in program.outputs.iter().enumerate() {
            let ty = match output.ty.lanes {
                3 => output.ty.element(),
                _ => output.ty,
            };
            all.push(format!("__global {ty} *o{o}"));
        }
        for (g, own) in program.own.iter().enumerate() {
            all.push(format!("__global {} *g{g}", own.ty));
        }
        for (a, shared) in program.shared.iter().enumerate() {
            all.push(format!("__global volatile {} *a{a}", shared.buffer.ty));
        }
        for d in 0..program.drawn.len() {
            all.push(format!("write_only image2d_t d{d}"));
        }
        for m in 0..program.images.len() {
            all.push(format!("read_only image2d_t m{m}"));
        }
        for (i, input) in program.inputs.iter().enumerate() {
            all.push(format!("const __global {} *i{i}", input.ty));
        }
        for (s, scalar) in program.scalars.iter().enumerate() {
            all.push(format!("const {} s{s}", scalar.ty));
        }
        all
    }

    fn kind(&self, kind: Kind, name: &str) -> String {
        match kind {
            Kind::Plain(ty) => format!("{ty} {name}"),
            Kind::Counter => format!("uint {name}"),
            Kind::Array(ty, length) => format!("{ty} {name}[{length}]"),
            Kind::Struct(s) => format!("struct p{}_s{s} {name}", self.number),
        }
    }

    fn variables(&mut self, variables: &[Variable], from: usize) {
        for (v, variable) in variables.iter().enumerate().skip(from) {
            let initial = match variable.kind {
                Kind::Plain(ty) => {
                    let first = variable.initial.first().copied();
                    constant(&first.unwrap_or(Value::splat(ty, 0)))
                }
                Kind::Counter => "0".to_owned(),
                Kind::Array(..) | Kind::Struct(_) => elements(&variable.initial),
            };
            let declared = self.kind(variable.kind, &format!("v{v}"));
            self.line(&format!("{declared} = {initial};"));
        }
    }

    fn function(&mut self, number: usize, function: &'p Function) {
        self.scope = &function.variables;
        let parameters = function.variables.iter().take(function.parameters);
        let parameters: Vec<_> = parameters
            .enumerate()
            .map(|(v, variable)| self.kind(variable.kind, &format!("v{v}")))
            .collect();
        let result = match &function.result {
            Returned::Plain(value) => value.ty.to_string(),
            Returned::Struct(v) => match function.variables.get(*v).map(|v| v.kind) {
                Some(Kind::Struct(s)) => format!("struct p{}_s{s}", self.number),
                _ => "void".to_owned(),
            },
        };
        let noinline = if function.noinline {
            "__attribute__((noinline)) "
        } else {
            ""
        };
        let p = self.number;
        let parameters = match parameters.is_empty() {
            true => "void".to_owned(),
            false => parameters.join(", "),
        };
        self.line(&format!(
            "{noinline}{result} p{p}_f{number}({parameters}) {{"
        ));
        self.depth = 1;
        self.variables(&function.variables, function.parameters);
        self.block(&function.body);
        let value = match &function.result {
            Returned::Plain(value) => self.expr(value),
            Returned::Struct(v) => format!("v{v}"),
        };
        self.line(&format!("return {value};"));
        self.depth = 0;
        self.line("}");
    }

    fn block(&mut self, block: &[Statement]) {
        for statement in block {
            self.statement(statement);
        }
    }

    fn inner(&mut self, block: &[Statement]) {
        self.depth += 1;
        self.block(block);
        self.depth -= 1;
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Assign(place, value) => {
                let value = match place {
                    Place::Own(..) => self.defined(value),
                    _ => self.expr(value),
                };
                let place = self.place(place);
                self.line(&format!("{place} = {value};"));
            }
            Statement::Update(place, op, value) => self.update(place, *op, value),
            Statement::If(condition, yes, no) => {
                let condition = self.expr(condition);
                self.line(&format!("if ({condition}) {{"));
                self.inner(yes);
                if !no.is_empty() {
                    self.line("} else {");
                    self.inner(no);
                }
                self.line("}");
            }
            Statement::Loop {
                counter,
                count,
                last,
                body,
            } => {
                let count = match count {
                    Count::Fixed(count) => format!("{count}u"),
                    Count::Modulo8(count) => format!("({} & 7u)", self.expr(count)),
                };
                if *last {
                    self.line(&format!("v{counter} = 0; do {{"));
                    self.inner(body);
                    self.line(&format!("}} while (++v{counter}, v{counter} < {count});"));
                } else {
                    self.line(&format!(
                        "for (v{counter} = 0; v{counter} < {count}; ++v{counter}) {{"
                    ));
                    self.inner(body);
                    self.line("}");
                }
            }
            Statement::Break(condition) => {
                let condition = self.expr(condition);
                self.line(&format!("if ({condition}) break;"));
            }
            Statement::Continue(condition) => {
                let condition = self.expr(condition);
                self.line(&format!("if ({condition}) continue;"));
            }
            Statement::Switch(on, branches) => self.switch(on, branches),
            Statement::Copy(to, from) => self.line(&format!("v{to} = v{from};")),
            Statement::Call(to, function, arguments) => {
                let call = self.call(*function, arguments);
                self.line(&format!("v{to} = {call};"));
            }
            Statement::Atomic(shared, at, value) => {
                let declared = self.program.shared.get(*shared);
                let length = declared.map_or(1, |s| s.buffer.data.len());
                let name = match declared.map_or(Atomic::Add, |s| s.atomic) {
                    Atomic::Add => "add",
                    Atomic::Sub => "sub",
                    Atomic::And => "and",
                    Atomic::Or => "or",
                    Atomic::Xor => "xor",
                    Atomic::Min => "min",
                    Atomic::Max => "max",
                };
                let (at, value) = (self.index(at, length), self.expr(value));
                self.line(&format!("atomic_{name}(&a{shared}[{at}], {value});"));
            }
            Statement::Draw(image, value) => self.draw(*image, value),
            Statement::Together(to, value, together) => self.together(*to, value, together),
        }
    }

    fn switch(&mut self, on: &Expr, branches: &[Branch]) {
        let on = self.expr(on);
        self.line(&format!("switch ({on}) {{"));
        for branch in branches {
            match branch.value {
                Some(value) => self.line(&format!("case {value}:")),
                None => self.line("default:"),
            }
            self.inner(&branch.body);
            self.depth += 1;
            self.line(if branch.falls { ";" } else { "break;" });
            self.depth -= 1;
        }
        self.line("}");
    }

    /// `place op= value` where that means the same.
    fn update(&mut self, place: &Place, op: Binary, value: &Expr) {
        let ty = value.ty;
        let scalar = ty.scalar;
        let promoted = scalar.is_promoted() && !ty.is_vector();
        let symbol = symbol(op).filter(|_| match op {
            Binary::And | Binary::Or | Binary::Xor => true,
            Binary::Add | Binary::Sub => scalar.is_float() || !scalar.is_signed() || promoted,
            Binary::Mul => scalar.is_float() || !scalar.is_signed() && !promoted,
            Binary::Shl => !scalar.is_signed() && !promoted,
            Binary::Shr => !promoted,
            Binary::Div | Binary::Rem => !op.guarded(value),
            Binary::Halves | Binary::Highs => false,
        });
        let own = matches!(place, Place::Own(..)) && scalar.is_float();
        if let Some(symbol) = symbol.filter(|_| !own) {
            let text = self.expr(value);
            let place = self.place(place);
            self.line(&format!("{place} {symbol}= {text};"));
            return;
        }
        let old = self.place(place);
        let new = self.binary(op, ty, &old, value);
        let new = if own { format!("no_nan({new})") } else { new };
        self.line(&format!("{old} = {new};"));
    }
}
