//! Routines: views of an object, through which it is changed.

use crate::instruction::{Instruction, Instructions};
use crate::object::{Object, Shared, picture, print};
use crate::records;
use crate::{AsmError, EditError, ReadError, faults};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use std::sync::Arc;
use visakit::isa::DataType;
use visakit::isa::object::{
    Body, Item, Label, Object as Isa, Routine as IsaRoutine, RoutineId, RoutineKind,
};
use visakit::rewrite::graph::Cfg;
use visakit::rewrite::{Editor, Reference, Table};
use visakit::text::{Form, LineKind, Options, Output, Printer};

/// A kernel or a function: a view of its object.
#[pyclass(frozen, module = "visakit")]
pub(crate) struct Routine {
    pub(crate) object: Py<Object>,
    pub(crate) id: RoutineId,
}

impl Routine {
    pub(crate) fn shared(&self, py: Python<'_>) -> Shared {
        self.object.borrow(py).shared.clone()
    }

    fn with_body<T>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&Isa<'static>, &Body<'static>) -> T,
    ) -> PyResult<T> {
        let shared = self.shared(py);
        let body = shared.object.routine(self.id).and_then(IsaRoutine::body);
        match body {
            Some(body) => Ok(ask(&shared.object, body)),
            None => Err(ReadError::new_err((
                "the routine could not be decoded",
                None::<u64>,
            ))),
        }
    }

    /// Makes a single change, which either is made or leaves the object as it was.
    fn edit<T>(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut Editor<'_, 'static>) -> Result<T, visakit::rewrite::Error>,
    ) -> PyResult<T> {
        let mut object = self.object.borrow_mut(py);
        let file = object.shared.file.take();
        let changed = Editor::new(Arc::make_mut(&mut object.shared.object), self.id)
            .and_then(|mut editor| change(&mut editor));
        changed.map_err(|error| {
            object.shared.file = file;
            EditError::new_err((error.to_string(), error.help()))
        })
    }

    /// Puts an assembled instruction into the code, with the labels and strings that it brings along.
    fn put(
        &self,
        py: Python<'_>,
        text: &str,
        put: impl FnOnce(
            &mut Editor<'_, 'static>,
            visakit::Instruction,
        ) -> Result<(), visakit::rewrite::Error>,
    ) -> PyResult<()> {
        let (mut instruction, extra) = self.assemble(py, text)?;
        if extra.is_empty() {
            return self.edit(py, |editor| put(editor, instruction));
        }
        // Several changes, of which the last may fail: the object as it was is kept, so that the changes make a copy.
        let before = self.shared(py);
        let done = self.edit(py, |editor| {
            extra.apply(&mut instruction, editor)?;
            put(editor, instruction)
        });
        if done.is_err() {
            self.object.borrow_mut(py).shared = before;
        }
        done
    }

    /// Converts a Python index into the code; the end of the code is allowed, too.
    fn index(&self, py: Python<'_>, index: isize) -> PyResult<usize> {
        let len = self.__len__(py)?;
        place(index, len).ok_or_else(|| PyIndexError::new_err("no such instruction"))
    }

    /// Assembles a line of text; also returns what has to be declared for it: labels and strings.
    fn assemble(&self, py: Python<'_>, text: &str) -> PyResult<(visakit::Instruction, Extra)> {
        let shared = self.shared(py);
        let object = &shared.object;
        let body = object.routine(self.id).and_then(IsaRoutine::body);
        let body =
            body.ok_or_else(|| EditError::new_err(("the routine could not be decoded", "")))?;
        // All of it: labels are declared where they are placed.
        let mut lines = Lines(Vec::new());
        let printer = Printer::new(
            object,
            Options {
                form: Form::Exact,
                grf_bytes: None,
            },
        );
        let Ok(()) = printer.routine(self.id, &mut lines);
        let options = visakit::text::asm::Options {
            version: Some(object.version),
            dialect: Some(object.dialect),
            grf_bytes: None,
        };
        let head = lines.0;
        let known = visakit::text::asm::Declarations::new(&head, &options);
        let mut known = known.map_err(|e| AsmError::new_err(faults(&head, &e)))?;
        let line = text.trim().as_bytes();
        let made = known.instruction(line);
        let made = made.map_err(|e| AsmError::new_err(faults(line, std::slice::from_ref(&*e))))?;
        let after = known.body();
        // Names were given numbers by the text's own declarations: they have to be those of the object.
        let same = after.variables.len() == body.variables.len()
            && after.addresses.len() == body.addresses.len()
            && after.predicates.len() == body.predicates.len()
            && after.labels.len() >= body.labels.len()
            && after.surfaces.len() == body.surfaces.len()
            && after.samplers.len() == body.samplers.len();
        if !same {
            let help =
                "change the declarations, or write the text of the whole object and assemble that";
            return Err(EditError::new_err((
                "declarations of this routine cannot be named in text",
                help,
            )));
        }
        let string = |id| after.string(id).unwrap_or_default().to_vec();
        let labels = after.labels.iter().skip(body.labels.len());
        let labels = labels
            .map(|label| (string(label.name), label.kind))
            .collect();
        let mut instruction = made.instruction;
        let mut strings = Vec::new();
        for (place, field) in instruction.fields.iter_mut().enumerate() {
            if let visakit::Value::String(id) = &field.value {
                strings.push((place, string(*id)));
            }
        }
        Ok((instruction, Extra { labels, strings }))
    }
}

/// What an instruction assembled from text requires.
struct Extra {
    labels: Vec<(Vec<u8>, visakit::isa::object::LabelKind)>,
    /// Fields that name a string, by their place.
    strings: Vec<(usize, Vec<u8>)>,
}

impl Extra {
    fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.strings.is_empty()
    }

    fn apply(
        self,
        instruction: &mut visakit::Instruction,
        editor: &mut Editor<'_, 'static>,
    ) -> Result<(), visakit::rewrite::Error> {
        for (name, kind) in self.labels {
            let name = editor.intern(name)?;
            editor.add_label(Label {
                name,
                kind,
                attributes: Vec::new(),
            })?;
        }
        for (place, text) in self.strings {
            let id = editor.intern(text)?;
            if let Some(field) = instruction.fields.get_mut(place) {
                field.value = visakit::Value::String(id);
            }
        }
        Ok(())
    }
}

/// The lines of a routine.
struct Lines(Vec<u8>);

impl Output for &mut Lines {
    type Error = std::convert::Infallible;

    fn line(&mut self, _: LineKind, text: &[u8]) -> Result<(), Self::Error> {
        self.0.extend_from_slice(text);
        Ok(())
    }
}

fn table(name: &str) -> PyResult<Table> {
    Ok(match name {
        "general" => Table::Variable,
        "address" => Table::Address,
        "predicate" => Table::Predicate,
        "label" => Table::Label,
        "surface" => Table::Surface,
        "sampler" => Table::Sampler,
        _ => {
            let message = "a table is one of general, address, predicate, label, surface, sampler";
            return Err(PyValueError::new_err(message));
        }
    })
}

#[pymethods]
impl Routine {
    /// Name in the file header.
    #[getter]
    fn name(&self, py: Python<'_>) -> String {
        let shared = self.shared(py);
        let routine = shared.object.routine(self.id);
        routine
            .map(|r| r.display_name().into_owned())
            .unwrap_or_default()
    }

    /// `kernel` or `function`.
    #[getter]
    fn kind(&self) -> &'static str {
        self.id.kind.name()
    }

    /// The object it belongs to.
    #[getter]
    fn object(&self, py: Python<'_>) -> Py<Object> {
        self.object.clone_ref(py)
    }

    /// Number of entries of the code.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.with_body(py, |_, body| body.code.len())
    }

    fn __iter__(&self, py: Python<'_>) -> Instructions {
        Instructions {
            shared: self.shared(py),
            id: self.id,
            next: 0,
        }
    }

    fn __getitem__(&self, py: Python<'_>, index: isize) -> PyResult<Instruction> {
        let shared = self.shared(py);
        let len = self.__len__(py)?;
        let index = place(index, len);
        let code = shared
            .object
            .routine(self.id)
            .and_then(IsaRoutine::body)
            .map(|b| &b.code);
        match index.and_then(|i| Some((i, code?.get(i)?))) {
            Some((index, Item::Instruction(inner))) => Ok(Instruction {
                inner: inner.clone(),
                shared: shared.clone(),
                id: self.id,
                index,
            }),
            Some((_, Item::Raw(raw))) => Err(ReadError::new_err((raw.reason.clone(), None::<u64>))),
            None => Err(PyIndexError::new_err("no such instruction")),
        }
    }

    /// Declarations as (kind, number, name, type, elements).
    #[getter]
    #[allow(clippy::type_complexity)]
    fn declarations(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        let rows: Vec<_> = self.with_body(py, |object, body| {
            let name =
                |id| String::from_utf8_lossy(body.string(id).unwrap_or_default()).into_owned();
            let format = object.format();
            let first = format.predefined_variable_count() as usize;
            let variables = body.variables.iter().enumerate().map(|(i, v)| {
                let ty = v.properties.data_type().name();
                ("general", i + first, name(v.name), Some(ty), v.elements)
            });
            let surfaces = usize::from(format.predefined_surface_count());
            let others = [
                ("address", 0, &body.addresses),
                ("predicate", 1, &body.predicates),
                ("sampler", 0, &body.samplers),
                ("surface", surfaces, &body.surfaces),
            ];
            let others = others.into_iter().flat_map(|(kind, first, list)| {
                let entry = move |(i, d): (usize, &visakit::isa::object::Declaration<'_>)| {
                    (kind, i + first, name(d.name), None, d.elements)
                };
                list.iter().enumerate().map(entry).collect::<Vec<_>>()
            });
            let labels = body.labels.iter().enumerate();
            let labels = labels.map(|(i, l)| ("label", i, name(l.name), None, 1));
            variables.chain(others).chain(labels).collect()
        })?;
        records(py, "Declaration", rows)
    }

    /// Inputs as (kind, number of the declaration, offset, size in bytes).
    #[getter]
    fn inputs(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        let rows: Vec<_> = self.with_body(py, |_, body| {
            let kind = |input: &visakit::isa::object::Input| {
                input.kind.class().name().unwrap_or("unknown")
            };
            body.inputs
                .iter()
                .map(|i| (kind(i), i.index, i.offset, i.size))
                .collect()
        })?;
        records(py, "Input", rows)
    }

    /// Attributes of the routine: name and value.
    #[getter]
    fn attributes(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        let rows: Vec<_> = self.with_body(py, |_, body| {
            let name =
                |id| String::from_utf8_lossy(body.string(id).unwrap_or_default()).into_owned();
            body.attributes
                .iter()
                .map(|a| (name(a.name), a.value.to_vec()))
                .collect()
        })?;
        records(py, "Attribute", rows)
    }

    /// The text of the routine.
    #[pyo3(signature = (form = "plain"))]
    fn dis(&self, py: Python<'_>, form: &str) -> PyResult<String> {
        print(&self.shared(py).object, Some(self.id), form)
    }

    /// The control flow: `svg` or `dot`.
    #[pyo3(signature = (form = "svg"))]
    fn cfg(&self, py: Python<'_>, form: &str) -> PyResult<String> {
        let drawn = self.with_body(py, |object, body| Cfg::of(body).picture(object, self.id))?;
        picture(form, drawn)
    }

    /// Basic blocks: first instruction, one past the last, numbers of the successors.
    #[getter]
    fn blocks(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        let rows: Vec<_> = self.with_body(py, |_, body| {
            let graph = Cfg::of(body).graph;
            let block = |node| {
                let code = graph
                    .node_weight(node)
                    .map(|b| b.code.clone())
                    .unwrap_or_default();
                let next = graph.neighbors(node).map(|n| n.index()).collect::<Vec<_>>();
                (code.start, code.end, next)
            };
            graph.node_indices().map(block).collect()
        })?;
        records(py, "Block", rows)
    }

    /// Inserts the instruction of a line of text before the one at `index`, or after all.
    fn insert(&self, py: Python<'_>, index: isize, text: &str) -> PyResult<()> {
        let index = self.index(py, index)?;
        self.put(py, text, |editor, instruction| {
            editor.insert(index, instruction)
        })
    }

    /// Puts the instruction of a line of text in the place of the one at `index`.
    fn replace(&self, py: Python<'_>, index: isize, text: &str) -> PyResult<()> {
        let index = self.index(py, index)?;
        self.put(py, text, |editor, instruction| {
            editor.replace(index, instruction)
        })
    }

    /// Removes the instruction at `index`.
    fn remove(&self, py: Python<'_>, index: isize) -> PyResult<()> {
        let index = self.index(py, index)?;
        self.edit(py, |editor| editor.take(index).map(drop))
    }

    /// Declares a general variable and returns its number.
    fn new_variable(
        &self,
        py: Python<'_>,
        name: &str,
        r#type: &str,
        elements: u16,
    ) -> PyResult<u32> {
        let ty = data_type(r#type)?;
        self.edit(py, |editor| Ok(editor.new_variable(name, ty, elements)?.id))
    }

    /// Removes a declaration that nothing uses.
    fn remove_declaration(&self, py: Python<'_>, kind: &str, index: u32) -> PyResult<()> {
        let reference = Reference::new(table(kind)?, index);
        self.edit(py, |editor| editor.remove(reference))
    }

    /// Renames a declaration.
    fn rename(&self, py: Python<'_>, kind: &str, index: u32, name: &str) -> PyResult<()> {
        let reference = Reference::new(table(kind)?, index);
        self.edit(py, |editor| editor.rename(reference, name))
    }

    /// Changes the type of a general variable to another one of the same size.
    fn retype(&self, py: Python<'_>, index: u32, r#type: &str) -> PyResult<()> {
        let ty = data_type(r#type)?;
        let reference = Reference::new(Table::Variable, index);
        self.edit(py, |editor| editor.retype(reference, ty))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!(
            "<{} {:?}, {} instructions>",
            self.kind(),
            self.name(py),
            self.__len__(py)?
        ))
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        self.dis(py, "plain")
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let text = crate::html::code(&self.dis(py, "plain")?);
        Ok(format!(
            "{text}<details><summary>control flow</summary>{}</details>",
            self.cfg(py, "svg")?
        ))
    }

    fn __eq__(&self, py: Python<'_>, other: &Self) -> bool {
        let (one, two) = (self.shared(py), other.shared(py));
        one.object.routine(self.id) == two.object.routine(other.id)
    }

    #[allow(clippy::type_complexity)] // a function and its arguments
    fn __reduce__(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, (Py<Object>, bool, usize))> {
        let function = py.import("visakit._visakit")?.getattr("_routine")?;
        let kernel = self.id.kind == RoutineKind::Kernel;
        let arguments = (self.object.clone_ref(py), kernel, self.id.index);
        Ok((function.unbind(), arguments))
    }
}

/// Converts an index into a sequence of this length: negative ones count from its end.
pub(crate) fn place(index: isize, len: usize) -> Option<usize> {
    if index < 0 {
        len.checked_sub(index.unsigned_abs())
    } else {
        usize::try_from(index).ok()
    }
}

pub(crate) fn data_type(name: &str) -> PyResult<DataType> {
    let mut all = DataType::ALL.into_iter().chain(DataType::TEXT_ONLY);
    let found = all.find(|ty| ty.name() == name);
    found.ok_or_else(|| PyValueError::new_err(format!("no type is called `{name}`")))
}

#[pyfunction]
pub(crate) fn _routine(object: Py<Object>, kernel: bool, index: usize) -> Routine {
    let kind = if kernel {
        RoutineKind::Kernel
    } else {
        RoutineKind::Function
    };
    let id = RoutineId::new(kind, index);
    Routine { object, id }
}

#[pyfunction]
pub(crate) fn _instruction(
    py: Python<'_>,
    object: Py<Object>,
    kernel: bool,
    routine: usize,
    index: isize,
) -> PyResult<Instruction> {
    _routine(object, kernel, routine).__getitem__(py, index)
}
