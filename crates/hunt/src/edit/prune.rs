//! Programs without what nothing refers to.

use super::{blocks_mut, expressions_mut};
use crate::ast::{
    Argument, Expr, Function, Kind, Node, Place, Program, Returned, Statement, Together,
};
use std::collections::BTreeMap;

/// Without what nothing refers to.
pub(crate) fn pruned(program: &Program) -> Program {
    let mut program = program.clone();
    // What is removed may have referred to others.
    for _ in 0..8 {
        let before = program.clone();
        prune(&mut program);
        if program == before {
            break;
        }
    }
    program
}

/// New numbers of what is used.
#[derive(Default)]
struct Uses(BTreeMap<usize, usize>);

impl Uses {
    fn add(&mut self, number: usize) {
        self.0.insert(number, 0);
    }

    /// Keeps the entries that are used.
    fn keep<T>(&mut self, all: &mut Vec<T>) {
        let mut number = 0;
        all.retain(|_| {
            number += 1;
            self.0.contains_key(&(number - 1))
        });
        for (new, entry) in self.0.values_mut().enumerate() {
            *entry = new;
        }
    }

    fn renumber(&self, number: &mut usize) {
        if let Some(new) = self.0.get(number) {
            *number = *new;
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Table,
    Input,
    Own,
    Shared,
    Drawn,
    Image,
    Scalar,
    Function,
    Struct,
}

/// Calls something for each reference to what a program declares.
fn references(program: &mut Program, visit: &mut dyn FnMut(Of, &mut usize)) {
    blocks_mut(program, &mut |block| {
        for statement in block {
            match statement {
                Statement::Assign(Place::Own(g, _), _)
                | Statement::Update(Place::Own(g, _), ..) => visit(Of::Own, g),
                Statement::Call(_, f, _) => visit(Of::Function, f),
                Statement::Atomic(a, ..) => visit(Of::Shared, a),
                Statement::Draw(d, _) => visit(Of::Drawn, d),
                Statement::Together(_, _, Together::Block(i) | Together::Block2(i)) => {
                    visit(Of::Input, i);
                }
                Statement::Together(_, _, Together::Matrix(m)) => visit(Of::Input, &mut m.input),
                _ => {}
            }
        }
    });
    expressions_mut(program, &mut |expr| {
        match &mut expr.node {
            Node::Load(Place::Own(g, _)) => visit(Of::Own, g),
            Node::Input(i, _) => visit(Of::Input, i),
            Node::Table(t, _) => visit(Of::Table, t),
            Node::Pixel(pixel, ..) => visit(Of::Image, &mut pixel.image),
            Node::Extent(m, _) => visit(Of::Image, m),
            Node::Scalar(s) => visit(Of::Scalar, s),
            Node::Function(f, _) => visit(Of::Function, f),
            _ => {}
        }
        true
    });
    let functions = program.functions.iter_mut().flat_map(|f| &mut f.variables);
    for variable in program.variables.iter_mut().chain(functions) {
        if let Kind::Struct(s) = &mut variable.kind {
            visit(Of::Struct, s);
        }
    }
}

fn prune(program: &mut Program) {
    const KINDS: [Of; 9] = [
        Of::Function,
        Of::Table,
        Of::Input,
        Of::Own,
        Of::Shared,
        Of::Drawn,
        Of::Image,
        Of::Scalar,
        Of::Struct,
    ];
    for of in KINDS {
        let mut uses = Uses::default();
        references(program, &mut |kind, number| {
            if kind == of {
                uses.add(*number);
            }
        });
        match of {
            Of::Function => uses.keep(&mut program.functions),
            Of::Table => uses.keep(&mut program.tables),
            Of::Input => uses.keep(&mut program.inputs),
            Of::Own => uses.keep(&mut program.own),
            Of::Shared => uses.keep(&mut program.shared),
            Of::Drawn => uses.keep(&mut program.drawn),
            Of::Image => uses.keep(&mut program.images),
            Of::Scalar => uses.keep(&mut program.scalars),
            Of::Struct => uses.keep(&mut program.structs),
        }
        references(program, &mut |kind, number| {
            if kind == of {
                uses.renumber(number);
            }
        });
    }
    for function in 0..program.functions.len() {
        prune_function(program, function);
    }
    let mut outputs = std::mem::take(&mut program.outputs);
    let mut scope = Scope {
        body: &mut program.body,
        more: outputs.iter_mut().collect(),
        result: None,
    };
    let mut uses = Uses::default();
    scope.variables(&mut |v| uses.add(*v));
    uses.keep(&mut program.variables);
    scope.variables(&mut |v| uses.renumber(v));
    program.outputs = outputs;
}

/// Removes variables and parameters that a function does not use.
fn prune_function(program: &mut Program, number: usize) {
    let Some(function) = program.functions.get_mut(number) else {
        return;
    };
    let mut uses = Uses::default();
    function.scope().variables(&mut |v| uses.add(*v));
    let parameters = function.parameters;
    let left: Vec<bool> = (0..parameters).map(|p| uses.0.contains_key(&p)).collect();
    uses.keep(&mut function.variables);
    function.parameters = left.iter().filter(|l| **l).count();
    function.scope().variables(&mut |v| uses.renumber(v));
    let shorten = |f: usize, arguments: &mut Vec<Argument>| {
        if f == number {
            let mut left = left.iter();
            arguments.retain(|_| left.next().copied().unwrap_or(true));
        }
    };
    blocks_mut(program, &mut |block| {
        for statement in block {
            if let Statement::Call(_, f, arguments) = statement {
                shorten(*f, arguments);
            }
        }
    });
    expressions_mut(program, &mut |expr| {
        if let Node::Function(f, arguments) = &mut expr.node {
            shorten(*f, arguments);
        }
        true
    });
}

/// What refers to the variables of a function or of the kernel.
struct Scope<'p> {
    body: &'p mut Vec<Statement>,
    more: Vec<&'p mut Expr>,
    result: Option<&'p mut usize>,
}

impl Function {
    fn scope(&mut self) -> Scope<'_> {
        let (more, result) = match &mut self.result {
            Returned::Plain(expr) => (vec![expr], None),
            Returned::Struct(v) => (Vec::new(), Some(v)),
        };
        Scope {
            body: &mut self.body,
            more,
            result,
        }
    }
}

impl Scope<'_> {
    fn variables(&mut self, visit: &mut dyn FnMut(&mut usize)) {
        block_variables(self.body, visit);
        for expr in &mut self.more {
            expr_variables(expr, visit);
        }
        if let Some(result) = &mut self.result {
            visit(result);
        }
    }
}

fn block_variables(block: &mut Vec<Statement>, visit: &mut dyn FnMut(&mut usize)) {
    for statement in block {
        match statement {
            Statement::Assign(place, _) | Statement::Update(place, ..) => {
                place_variable(place, visit);
            }
            Statement::Loop { counter, .. } => visit(counter),
            Statement::Copy(to, from) => {
                visit(to);
                visit(from);
            }
            Statement::Call(to, _, arguments) => {
                visit(to);
                argument_variables(arguments, visit);
            }
            Statement::Together(to, ..) => visit(to),
            _ => {}
        }
        for expr in statement.expressions_mut() {
            expr_variables(expr, visit);
        }
        for inner in statement.blocks_mut() {
            block_variables(inner, visit);
        }
    }
}

fn place_variable(place: &mut Place, visit: &mut dyn FnMut(&mut usize)) {
    match place {
        Place::Variable(v) | Place::Lane(v, _) | Place::Element(v, _) | Place::Field(v, _) => {
            visit(v);
        }
        Place::Own(..) => {}
    }
}

fn argument_variables(arguments: &mut [Argument], visit: &mut dyn FnMut(&mut usize)) {
    for argument in arguments {
        if let Argument::Struct(v) = argument {
            visit(v);
        }
    }
}

fn expr_variables(expr: &mut Expr, visit: &mut dyn FnMut(&mut usize)) {
    match &mut expr.node {
        Node::Load(place) => place_variable(place, visit),
        Node::Byte(v, _) => visit(v),
        Node::Function(_, arguments) => argument_variables(arguments, visit),
        _ => {}
    }
    for child in expr.children_mut() {
        expr_variables(child, visit);
    }
}
