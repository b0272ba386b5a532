//! Instructions and their operands.

use crate::names::Class;
use crate::object::Shared;
use crate::records;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use std::hash::{DefaultHasher, Hash, Hasher};
use visakit::isa::object::{Body, Item, Routine as IsaRoutine, RoutineId};
use visakit::isa::semantics::Access;
use visakit::isa::table::FieldDef;
use visakit::isa::{AnyInstruction, FieldName, Instruction as Isa, Value};
use visakit_corpus::column::Name;
use visakit_corpus::schema::{InstructionRow, OperandRow};
use visakit_corpus::{describe, describe_operand, resource_name};

/// An instruction as it was when it was taken out of its routine.
#[pyclass(frozen, module = "visakit")]
pub(crate) struct Instruction {
    pub(crate) inner: Isa,
    pub(crate) shared: Shared,
    pub(crate) id: RoutineId,
    /// Index in the code.
    #[pyo3(get)]
    pub(crate) index: usize,
}

impl Instruction {
    fn body(&self) -> Option<&Body<'static>> {
        self.shared
            .object
            .routine(self.id)
            .and_then(IsaRoutine::body)
    }

    fn row(&self) -> InstructionRow {
        let empty = Body::default();
        describe(
            &self.inner,
            self.body().unwrap_or(&empty),
            self.shared.object.format(),
        )
    }

    fn all_operands(&self) -> Vec<Operand> {
        let empty = Body::default();
        let body = self.body().unwrap_or(&empty);
        let format = self.shared.object.format();
        let make = |(def, value): (&'static FieldDef, Value)| Operand {
            row: describe_operand(def, &value, body, format),
            name: name(body, &value),
            value,
        };
        self.inner.operands().map(make).collect()
    }
}

fn text(name: Option<Name>) -> Option<&'static str> {
    name.map(|name| name.0)
}

/// The declared name of a variable.
fn name(body: &Body<'_>, value: &Value) -> Option<String> {
    use visakit::isa::VectorOperand as V;
    let string = |id| {
        body.string(id)
            .map(|text| String::from_utf8_lossy(text).into_owned())
    };
    match value {
        Value::Label(id) => string(body.labels.get(usize::from(id.0))?.name),
        Value::String(id) => string(*id),
        Value::Vector(V::Address(o)) => string(body.addresses.get(usize::from(o.address.0))?.name),
        _ => None,
    }
}

#[pymethods]
impl Instruction {
    /// Execution mask, such as `M1` and `M5_NM`.
    #[getter]
    fn mask(&self) -> Option<&'static str> {
        text(self.row().mask)
    }

    /// Predicate variable.
    #[getter]
    fn predicate(&self) -> Option<i32> {
        self.row().predicate
    }

    /// Whether the predicate is inverted.
    #[getter]
    fn inverted(&self) -> bool {
        self.row().inverted
    }

    /// Whether the result saturates.
    #[getter]
    fn saturate(&self) -> bool {
        self.row().saturate
    }

    /// What it does to control flow.
    #[getter]
    fn flow(&self) -> &'static str {
        self.row().flow.0
    }

    /// Whether lanes may diverge here.
    #[getter]
    fn diverges(&self) -> bool {
        self.row().diverges
    }

    /// Label that it places, jumps to or calls.
    #[getter]
    fn label(&self) -> Option<i32> {
        self.row().label
    }

    /// What it does to memory.
    #[getter]
    fn memory(&self) -> Option<&'static str> {
        text(self.row().memory)
    }

    /// Which memory it accesses.
    #[getter]
    fn space(&self) -> Option<&'static str> {
        text(self.row().space)
    }

    /// How data is laid out in memory.
    #[getter]
    fn layout(&self) -> Option<&'static str> {
        text(self.row().layout)
    }

    /// Bytes of an element in memory.
    #[getter]
    fn element_bytes(&self) -> Option<i32> {
        self.row().element_bytes
    }

    /// Elements of each lane, or of the whole block.
    #[getter]
    fn elements(&self) -> Option<i32> {
        self.row().elements
    }

    /// Bits of an address.
    #[getter]
    fn address_bits(&self) -> Option<i32> {
        self.row().address_bits
    }

    /// Upper bound of the bytes that all lanes together transfer.
    #[getter]
    fn access_bytes(&self) -> Option<i32> {
        self.row().access_bytes
    }

    /// The operation.
    #[getter]
    fn op(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Class::Op.member(py, self.inner.op.name())
    }

    /// First byte.
    #[getter]
    fn opcode(&self) -> u8 {
        self.inner.op.opcode()
    }

    /// Second byte, if it distinguishes instructions.
    #[getter]
    fn sub_op(&self) -> Option<u8> {
        self.inner.op.sub_op()
    }

    /// Usual spelling in text.
    #[getter]
    fn mnemonic(&self) -> &'static str {
        self.inner.def().mnemonic()
    }

    /// Its category.
    #[getter]
    fn group(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Class::Group.member(py, self.inner.def().group.name())
    }

    /// Number of lanes.
    #[getter]
    fn exec_size(&self) -> Option<u8> {
        self.inner.exec_size()?.lanes()
    }

    /// Type of the destination, else of the first source that has one.
    #[getter]
    fn r#type(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.row()
            .ty
            .map(|ty| Class::DataType.member(py, ty.0))
            .transpose()
    }

    /// Offset in the file; `None` where the object was made or changed.
    #[getter]
    fn offset(&self) -> Option<u64> {
        self.shared.offset(self.id, self.index)
    }

    /// The fields in stream order, entries of lists one by one.
    #[getter]
    fn operands(&self) -> Vec<Operand> {
        self.all_operands()
    }

    /// What is read: the field (`None` if no field names it) and the resource.
    #[getter]
    fn reads(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        records(
            py,
            "Access",
            self.inner.reads().map(|access| self.shown(access)),
        )
    }

    /// What is written.
    #[getter]
    fn writes(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        records(
            py,
            "Access",
            self.inner.writes().map(|access| self.shown(access)),
        )
    }

    /// The line of text.
    #[getter]
    fn text(&self) -> String {
        // The routine may have changed since the instruction was taken out: it is printed in its
        // own version.
        let lines = visakit::rewrite::instruction_lines(
            &self.shared.object,
            self.id,
            std::iter::once(self.index),
        );
        lines
            .into_iter()
            .next()
            .map(|(_, line)| line)
            .unwrap_or_default()
    }

    /// The first field of that name.
    fn __getitem__(&self, field: &str) -> PyResult<Operand> {
        let found = self
            .all_operands()
            .into_iter()
            .find(|o| o.row.field.0 == field);
        found.ok_or_else(|| PyKeyError::new_err(field.to_owned()))
    }

    fn __contains__(&self, field: &str) -> bool {
        FieldName::from_name(field).is_some_and(|name| self.inner.get(name).is_some())
    }

    fn __repr__(&self) -> String {
        format!("<Instruction {}: {}>", self.index, self.text())
    }

    fn __str__(&self) -> String {
        self.text()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.inner == other.inner
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.inner.hash(&mut hasher);
        hasher.finish()
    }

    #[allow(clippy::type_complexity)] // a function and its arguments
    fn __reduce__(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, (Py<PyAny>, bool, usize, usize))> {
        let function = py.import("visakit._visakit")?.getattr("_instruction")?;
        let object = crate::object::Object::of(self.shared.clone());
        let object = Py::new(py, object)?.into_any();
        let kernel = self.id.kind == visakit::isa::object::RoutineKind::Kernel;
        Ok((
            function.unbind(),
            (object, kernel, self.id.index, self.index),
        ))
    }
}

impl Instruction {
    /// The field of an access, and the name of what is accessed.
    fn shown(&self, access: Access) -> (Option<&'static str>, String) {
        let empty = Body::default();
        let body = self.body().unwrap_or(&empty);
        let name = resource_name(access.resource, body, self.shared.object.format());
        (access.field.map(FieldName::as_str), name)
    }
}

/// A field of an instruction.
#[pyclass(frozen, module = "visakit")]
pub(crate) struct Operand {
    row: OperandRow,
    value: Value,
    /// Name of a label, a string or an address variable.
    #[pyo3(get)]
    name: Option<String>,
}

#[pymethods]
impl Operand {
    /// `destination`, `source` or `control`.
    #[getter]
    fn role(&self) -> &'static str {
        self.row.role.0
    }

    /// Its class: `general`, `immediate`, `raw`, `number`, …
    #[getter]
    fn kind(&self) -> &'static str {
        self.row.class.0
    }

    /// Source modifier or saturation.
    #[getter]
    fn modifier(&self) -> Option<&'static str> {
        text(self.row.modifier)
    }

    /// Number in the table that the kind names, predefined entries included.
    #[getter]
    fn index(&self) -> Option<i32> {
        self.row.index
    }

    /// First row in registers; of an indirect operand the element of the address variable.
    #[getter]
    fn row(&self) -> Option<i32> {
        self.row.row
    }

    /// First column in elements; of raw and indirect operands the offset in bytes.
    #[getter]
    fn column(&self) -> Option<i32> {
        self.row.column
    }

    /// Vertical stride, width and horizontal stride in elements.
    #[getter]
    fn region(&self) -> (Option<i32>, Option<i32>, Option<i32>) {
        (self.row.vertical, self.row.width, self.row.horizontal)
    }

    /// Name of the number, where it has one.
    #[getter]
    fn value_name(&self) -> Option<&'static str> {
        text(self.row.value_name)
    }

    /// Name of the field.
    #[getter]
    fn field(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Class::Field.member(py, self.row.field.0)
    }

    /// Element type.
    #[getter]
    fn r#type(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.row
            .ty
            .map(|ty| Class::DataType.member(py, ty.0))
            .transpose()
    }

    /// Number of an immediate or control field.
    #[getter]
    fn value(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        Ok(match (self.row.value, self.row.number) {
            // Unsigned numbers of 64 bits wrap in columns only.
            (Some(number), _) if self.row.ty == Some(Name("uq")) => Some(
                number
                    .cast_unsigned()
                    .into_pyobject(py)?
                    .into_any()
                    .unbind(),
            ),
            (Some(number), _) => Some(number.into_pyobject(py)?.into_any().unbind()),
            (None, Some(number)) => Some(number.into_pyobject(py)?.into_any().unbind()),
            (None, None) => None,
        })
    }

    fn __repr__(&self) -> String {
        format!("<Operand {}: {}>", self.row.field.0, self.value)
    }

    fn __str__(&self) -> String {
        self.value.to_string()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.row.field == other.row.field && self.value == other.value
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.row.field.0, self.value).hash(&mut hasher);
        hasher.finish()
    }
}

/// Goes over the instructions of a routine as it is when the loop begins.
#[pyclass(module = "visakit")]
pub(crate) struct Instructions {
    pub(crate) shared: Shared,
    pub(crate) id: RoutineId,
    pub(crate) next: usize,
}

#[pymethods]
impl Instructions {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&mut self) -> Option<Instruction> {
        let body = self.shared.object.routine(self.id)?.body()?;
        loop {
            let index = self.next;
            self.next += 1;
            if let Item::Instruction(inner) = body.code.get(index)? {
                let (inner, id) = (inner.clone(), self.id);
                let shared = self.shared.clone();
                return Some(Instruction {
                    inner,
                    shared,
                    id,
                    index,
                });
            }
        }
    }
}
