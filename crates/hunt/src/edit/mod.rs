//! Smaller programs: each change gives a program that is defined, or that the evaluator refuses.

mod prune;

pub(crate) use prune::pruned;

use crate::ast::{Branch, Count, Expr, Kind, Node, Place, Program, Returned, Statement};
use crate::types::{Scalar, Type, Value};

/// Calls something for each block of statements, in a fixed order.
pub(crate) fn blocks_mut(program: &mut Program, visit: &mut dyn FnMut(&mut Vec<Statement>)) {
    fn all(block: &mut Vec<Statement>, visit: &mut dyn FnMut(&mut Vec<Statement>)) {
        visit(block);
        for statement in block {
            for inner in statement.blocks_mut() {
                all(inner, visit);
            }
        }
    }
    for function in &mut program.functions {
        all(&mut function.body, visit);
    }
    all(&mut program.body, visit);
}

/// Calls something for each expression, in a fixed order, parents first; if it says so, not for those inside.
pub(crate) fn expressions_mut(program: &mut Program, visit: &mut dyn FnMut(&mut Expr) -> bool) {
    blocks_mut(program, &mut |block| {
        for statement in block {
            for expr in statement.expressions_mut() {
                within_mut(expr, visit);
            }
        }
    });
    for function in &mut program.functions {
        if let Returned::Plain(expr) = &mut function.result {
            within_mut(expr, visit);
        }
    }
    for expr in &mut program.outputs {
        within_mut(expr, visit);
    }
}

/// As [`expressions_mut`], in some statements.
pub(crate) fn expressions_of_mut(
    block: &mut [Statement],
    visit: &mut dyn FnMut(&mut Expr) -> bool,
) {
    for statement in block {
        for expr in statement.expressions_mut() {
            within_mut(expr, visit);
        }
        for inner in statement.blocks_mut() {
            expressions_of_mut(inner, visit);
        }
    }
}

fn within_mut(expr: &mut Expr, visit: &mut dyn FnMut(&mut Expr) -> bool) {
    if visit(expr) {
        for child in expr.children_mut() {
            within_mut(child, visit);
        }
    }
}

fn changed(program: &Program, change: impl FnOnce(&mut Program)) -> Program {
    let mut program = program.clone();
    change(&mut program);
    program
}

/// Without some of the outputs, most of them first.
pub(crate) fn fewer_outputs(program: &Program) -> Vec<Program> {
    let count = program.outputs.len();
    let mut all = Vec::new();
    for keep in 0..count {
        all.push(changed(program, |p| {
            p.outputs = p.outputs.get(keep).cloned().into_iter().collect();
        }));
    }
    all.push(changed(program, |p| p.outputs.clear()));
    for leave in 0..count {
        all.push(changed(program, |p| {
            p.outputs.remove(leave);
        }));
    }
    all
}

/// Without some statements, in pieces of a size.
pub(crate) fn fewer_statements(program: &Program, size: usize) -> Vec<Program> {
    let mut lengths = Vec::new();
    blocks_mut(&mut program.clone(), &mut |block| lengths.push(block.len()));
    let mut all = Vec::new();
    for (number, length) in lengths.into_iter().enumerate() {
        for start in (0..length).step_by(size.max(1)) {
            let end = (start + size).min(length);
            all.push(with_block(program, number, |block| {
                block.drain(start..end);
            }));
        }
    }
    all
}

fn with_block(
    program: &Program,
    number: usize,
    mut change: impl FnMut(&mut Vec<Statement>),
) -> Program {
    changed(program, |program| {
        let mut at = 0;
        blocks_mut(program, &mut |block| {
            if at == number {
                change(block);
            }
            at += 1;
        });
    })
}

/// Statements replaced by parts of them.
pub(crate) fn flatter(program: &Program) -> Vec<Program> {
    let mut places = Vec::new();
    let mut number = 0;
    blocks_mut(&mut program.clone(), &mut |block| {
        for (at, statement) in block.iter().enumerate() {
            for parts in parts(statement) {
                places.push((number, at, parts));
            }
        }
        number += 1;
    });
    let replaced = places.into_iter().map(|(number, at, parts)| {
        with_block(program, number, |block| {
            block.splice(at..=at, parts.clone());
        })
    });
    replaced.collect()
}

/// What may stand for a statement.
fn parts(statement: &Statement) -> Vec<Vec<Statement>> {
    let mut all: Vec<Vec<Statement>> = statement.blocks().into_iter().cloned().collect();
    match statement {
        Statement::If(condition, yes, no) if !no.is_empty() => {
            let only = |yes: &Vec<Statement>| {
                vec![Statement::If(condition.clone(), yes.clone(), Vec::new())]
            };
            all.extend([only(yes), only(no)]);
        }
        Statement::Loop {
            counter,
            count,
            last,
            body,
        } => {
            let with = |count: Count, last: bool| {
                vec![Statement::Loop {
                    counter: *counter,
                    count,
                    last,
                    body: body.clone(),
                }]
            };
            let counts: &[u8] = match count {
                Count::Fixed(count) if *count <= 1 => &[],
                Count::Fixed(2) => &[1],
                Count::Fixed(_) => &[1, 2],
                Count::Modulo8(_) => &[1, 2, 7],
            };
            all.extend(counts.iter().map(|c| with(Count::Fixed(*c), *last)));
            if let Count::Fixed(count @ 4..) = count {
                all.push(with(Count::Fixed(*count - 1), *last));
            }
            if *last {
                all.push(with(count.clone(), false));
            }
        }
        Statement::Switch(on, branches) => {
            for leave in 0..branches.len() {
                let mut fewer: Vec<Branch> = branches.clone();
                fewer.remove(leave);
                all.push(vec![Statement::Switch(on.clone(), fewer)]);
            }
            if branches.iter().any(|b| b.falls) {
                let apart = branches.iter().cloned();
                let apart = apart.map(|b| Branch { falls: false, ..b });
                all.push(vec![Statement::Switch(on.clone(), apart.collect())]);
            }
        }
        Statement::Update(place, op, value) => {
            let old = Expr {
                ty: value.ty,
                node: Node::Load(place.clone()),
            };
            let node = Node::Binary(*op, Box::new(old), Box::new(value.clone()));
            let ty = value.ty;
            all.push(vec![Statement::Assign(place.clone(), Expr { ty, node })]);
        }
        _ => {}
    }
    all
}

/// Expressions replaced by constants or by parts of them.
pub(crate) fn simpler_expressions(program: &Program) -> Vec<Program> {
    let mut instead = Vec::new();
    let mut number = 0;
    expressions_mut(&mut program.clone(), &mut |expr| {
        instead.extend(simpler(expr).into_iter().map(|e| (number, e)));
        number += 1;
        true
    });
    // Large ones first: much goes away at once.
    let mut sized: Vec<_> = instead
        .into_iter()
        .map(|(number, expr)| (size(&expr), number, expr))
        .collect();
    sized.sort_by_key(|(size, number, _)| (*size, *number));
    let replaced = sized.into_iter().map(|(_, number, instead)| {
        changed(program, |program| {
            let mut at = 0;
            expressions_mut(program, &mut |expr| {
                let here = at == number;
                at += 1;
                if here {
                    *expr = instead.clone();
                    // What is inside has other numbers now, and is behind.
                    at = usize::MAX / 2;
                }
                !here
            });
        })
    });
    replaced.collect()
}

fn size(expr: &Expr) -> usize {
    let children = expr.children().into_iter();
    1 + children.map(size).sum::<usize>()
}

/// What is simpler and has the type.
fn simpler(expr: &Expr) -> Vec<Expr> {
    let ty = expr.ty;
    let one = match ty.scalar {
        Scalar::Half => 0x3c00,
        Scalar::Float => 0x3f80_0000,
        Scalar::Double => 0x3ff0_0000_0000_0000,
        _ => 1,
    };
    let (zero, one) = (Value::splat(ty, 0), Value::splat(ty, one));
    let mut all = Vec::new();
    if let Node::Constant(value) = &expr.node {
        let first = Value::splat(ty, value.lane(0));
        let candidates = [zero, one, first];
        for candidate in candidates {
            if candidate == *value {
                break;
            }
            all.push(Expr::constant(candidate));
        }
        return all;
    }
    all.extend([Expr::constant(zero), Expr::constant(one)]);
    for child in expr.children() {
        if child.ty == ty {
            all.push(child.clone());
        } else {
            // Conversions of conversions, and what a conversion is of.
            all.extend(child.children().into_iter().filter(|c| c.ty == ty).cloned());
        }
        if let (Node::Build(parts), true) = (&expr.node, child.ty == ty.element())
            && parts.len() > 1
        {
            all.push(Expr {
                ty,
                node: Node::Build(vec![child.clone()]),
            });
        }
    }
    all
}

/// Data and declarations made simpler.
pub(crate) fn simpler_data(program: &Program) -> Vec<Program> {
    let mut all = Vec::new();
    if program.groups > 1 {
        all.push(regrouped(program, 1, program.local));
    }
    if program.local > 32 {
        all.push(regrouped(program, program.groups, 32));
    }
    let zeroes = |data: &mut Vec<Value>| {
        for value in data {
            *value = Value::splat(value.ty, 0);
        }
    };
    for number in 0..program.inputs.len() {
        all.push(changed(program, |p| {
            if let Some(buffer) = p.inputs.get_mut(number) {
                let first = buffer.data.first().copied();
                for value in &mut buffer.data {
                    *value = first.unwrap_or(*value);
                }
            }
        }));
    }
    for number in 0..program.own.len() {
        all.push(changed(program, |p| {
            if let Some(buffer) = p.own.get_mut(number) {
                zeroes(&mut buffer.data);
            }
        }));
    }
    for number in 0..program.images.len() {
        all.push(changed(program, |p| {
            if let Some(image) = p.images.get_mut(number) {
                let first = image.data.first().copied();
                for value in &mut image.data {
                    *value = first.unwrap_or(*value);
                }
            }
        }));
    }
    for number in 0..program.drawn.len() {
        all.push(changed(program, |p| {
            if let Some(image) = p.drawn.get_mut(number) {
                zeroes(&mut image.data);
            }
        }));
    }
    for number in 0..program.functions.len() {
        all.push(changed(program, |p| {
            if let Some(function) = p.functions.get_mut(number) {
                function.noinline = false;
            }
        }));
    }
    let variables = |f: Option<usize>| match f {
        Some(f) => program.functions.get(f).map_or(0, |f| f.variables.len()),
        None => program.variables.len(),
    };
    for scope in (0..program.functions.len()).map(Some).chain([None]) {
        for number in 0..variables(scope) {
            all.push(changed(program, |p| {
                let list = match scope {
                    Some(f) => p.functions.get_mut(f).map(|f| &mut f.variables),
                    None => Some(&mut p.variables),
                };
                if let Some(variable) = list.and_then(|l| l.get_mut(number)) {
                    zeroes(&mut variable.initial);
                }
            }));
        }
    }
    for scope in 0..program.scalars.len() {
        all.push(changed(program, |p| {
            if let Some(scalar) = p.scalars.get_mut(scope) {
                *scalar = Value::splat(scalar.ty, 0);
            }
        }));
    }
    all.retain(|p| p != program);
    all
}

fn regrouped(program: &Program, groups: u32, local: u32) -> Program {
    changed(program, |p| {
        p.groups = groups;
        p.local = local;
        let items = p.items();
        for buffer in &mut p.own {
            buffer.data.truncate(crate::ast::OWN * items);
        }
        for image in &mut p.drawn {
            image.data.truncate(items);
        }
    })
}

/// Vectors with fewer lanes.
pub(crate) fn narrower(program: &Program) -> Vec<Program> {
    let mut all = Vec::new();
    for (from, to) in [(16, 2), (16, 4), (16, 8), (8, 2), (8, 4), (4, 2), (3, 2)] {
        let narrow = relaned(program, from, to);
        if narrow != *program {
            all.push(narrow);
        }
    }
    all
}

fn relaned(program: &Program, from: u8, to: u8) -> Program {
    let ty = |ty: Type| match ty.lanes == from {
        true => Type {
            lanes: to,
            scalar: ty.scalar,
        },
        false => ty,
    };
    let value = |v: &mut Value| {
        let old = *v;
        *v = Value::from_fn(ty(old.ty), |lane| old.lane(lane));
    };
    let kind = |k: &mut Kind| match k {
        Kind::Plain(t) | Kind::Array(t, _) => *t = ty(*t),
        _ => {}
    };
    changed(program, |p| {
        let shared = p.shared.iter_mut().map(|s| &mut s.buffer);
        let buffers = p.tables.iter_mut().chain(&mut p.inputs).chain(&mut p.own);
        for buffer in buffers.chain(shared) {
            buffer.ty = ty(buffer.ty);
            buffer.data.iter_mut().for_each(value);
        }
        for field in p.structs.iter_mut().flatten() {
            *field = ty(*field);
        }
        let functions = p.functions.iter_mut().flat_map(|f| &mut f.variables);
        for variable in p.variables.iter_mut().chain(functions) {
            kind(&mut variable.kind);
            variable.initial.iter_mut().for_each(value);
        }
        let place = |place: &mut Place| {
            if let Place::Lane(_, lane) = place {
                *lane %= to;
            }
        };
        blocks_mut(p, &mut |block| {
            for statement in block {
                if let Statement::Assign(p, _) | Statement::Update(p, ..) = statement {
                    place(p);
                }
            }
        });
        expressions_mut(p, &mut |expr| {
            let old = expr.ty;
            expr.ty = ty(old);
            match &mut expr.node {
                Node::Constant(v) => value(v),
                Node::Load(p) => place(p),
                Node::Swizzle(inner, lanes) => {
                    if inner.ty.lanes == from {
                        lanes.iter_mut().for_each(|lane| *lane %= to);
                    }
                    lanes.truncate(expr.ty.count());
                }
                Node::Build(parts) if parts.len() > 1 => parts.truncate(expr.ty.count()),
                _ => {}
            }
            true
        });
    })
}

/// Whether loops are left only from within.
pub(crate) fn is_well_formed(program: &Program) -> bool {
    fn all(block: &[Statement], in_loop: bool, in_switch: bool) -> bool {
        block.iter().all(|statement| match statement {
            Statement::Break(_) => in_loop && !in_switch,
            Statement::Continue(_) => in_loop,
            Statement::Loop { body, .. } => all(body, true, false),
            Statement::Switch(_, branches) => branches.iter().all(|b| all(&b.body, in_loop, true)),
            other => other
                .blocks()
                .into_iter()
                .all(|b| all(b, in_loop, in_switch)),
        })
    }
    let mut functions = program.functions.iter();
    functions.all(|f| all(&f.body, false, false)) && all(&program.body, false, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::evaluate;
    use crate::generate::{Options, generate};

    /// What nothing refers to makes no difference.
    #[test]
    fn pruning_keeps_the_results() {
        for seed in (0..80).chain([89_017_223_026_302_957]) {
            let mut program = generate(seed, &Options::default());
            assert!(is_well_formed(&program), "seed {seed}");
            // So that something is superfluous.
            program.outputs.truncate(2);
            program.body.truncate(6);
            let small = pruned(&program);
            assert!(small.size() <= program.size());
            let [before, after] = [&program, &small].map(|p| evaluate(p).map(|b| b.outputs));
            assert_eq!(before, after, "seed {seed}");
        }
    }

    /// Each change makes a program that is another one, and well formed or refused; types stay consistent.
    #[test]
    fn changes_are_changes() {
        for seed in 0..12 {
            let program = pruned(&generate(seed, &Options::default()));
            let all = [
                fewer_outputs(&program),
                fewer_statements(&program, 4),
                flatter(&program),
                simpler_data(&program),
                narrower(&program),
                simpler_expressions(&program).into_iter().take(60).collect(),
            ];
            for changed in all.into_iter().flatten() {
                assert_ne!(changed, program);
                let Ok(buffers) = evaluate(&changed) else {
                    continue;
                };
                for (values, output) in buffers.outputs.iter().zip(&changed.outputs) {
                    assert!(values.iter().all(|v| v.ty == output.ty), "seed {seed}");
                }
            }
        }
    }
}
