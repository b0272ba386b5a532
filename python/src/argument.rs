//! Arguments of kernels: arrays, numbers, images.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use visakit::isa::DataType;
use visakit::launch::{Argument, Image, ImageKind, Kernel, Outcome, format, sampler};

/// An array: its bytes can be read and written.
struct Array {
    buffer: PyBuffer<u8>,
    argument: usize,
}

/// The arguments of a launch, and the arrays that hold them.
pub(crate) struct Arguments {
    pub(crate) values: Vec<Argument>,
    /// Types of the numbers among them, and of the elements of arrays, by their places.
    pub(crate) types: Vec<(usize, DataType)>,
    arrays: Vec<Array>,
}

impl FromPyObject<'_, '_> for Arguments {
    type Error = PyErr;

    fn extract(list: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let values: Vec<Bound<'_, PyAny>> = list.extract()?;
        let mut arrays = Vec::new();
        let mut types = Vec::new();
        let list = values.iter().enumerate();
        let values: PyResult<_> = list
            .map(|(number, value)| {
                let argument = argument(value, number, &mut arrays)?;
                types.extend(type_of(value, &argument).map(|ty| (number, ty)));
                Ok(argument)
            })
            .collect();
        Ok(Self {
            values: values?,
            types,
            arrays,
        })
    }
}

impl Arguments {
    /// Numbers and elements must be of the types in the kernel's source.
    pub(crate) fn check_types(&self, kernel: &Kernel<'_>) -> PyResult<()> {
        let mut checked = self.types.iter().map(|(index, ty)| kernel.check_type(*index, *ty));
        let wrong = checked.find_map(Result::err);
        wrong.map_or(Ok(()), |error| Err(PyTypeError::new_err(error.to_string())))
    }

    /// Writes the results in buffers and images back into writable arrays.
    pub(crate) fn write_back(&self, py: Python<'_>, outcome: &Outcome) -> PyResult<()> {
        for array in &self.arrays {
            if let Some(memory) = outcome.memory(array.argument)
                && !array.buffer.readonly()
            {
                array.buffer.copy_from_slice(py, memory)?;
            }
        }
        Ok(())
    }
}

/// The type of a numpy scalar or of the elements of an array, if kernels have such a type.
fn type_of(value: &Bound<'_, PyAny>, argument: &Argument) -> Option<DataType> {
    if matches!(argument, Argument::Buffer(_) | Argument::SameAs(_)) {
        let view = memory_view(value).ok()?;
        let size: u8 = view.getattr("itemsize").ok()?.extract().ok()?;
        let format: String = view.getattr("format").ok()?.extract().ok()?;
        let all = match format.chars().last()? {
            'e' | 'f' | 'd' => [DataType::Hf, DataType::F, DataType::Df, DataType::Df],
            'b' | 'h' | 'i' | 'l' | 'q' | 'n' => [DataType::B, DataType::W, DataType::D, DataType::Q],
            _ => [DataType::Ub, DataType::Uw, DataType::Ud, DataType::Uq],
        };
        return all.into_iter().find(|ty| ty.size() == size);
    }
    let name: String = value
        .getattr("dtype")
        .ok()?
        .getattr("name")
        .ok()?
        .extract()
        .ok()?;
    Some(match name.as_str() {
        "int8" => DataType::B,
        "uint8" => DataType::Ub,
        "int16" => DataType::W,
        "uint16" => DataType::Uw,
        "int32" => DataType::D,
        "uint32" => DataType::Ud,
        "int64" => DataType::Q,
        "uint64" => DataType::Uq,
        "float16" => DataType::Hf,
        "float32" => DataType::F,
        "float64" => DataType::Df,
        _ => return None,
    })
}

/// Converts an argument of `run`.
fn argument(
    value: &Bound<'_, PyAny>,
    number: usize,
    arrays: &mut Vec<Array>,
) -> PyResult<Argument> {
    let py = value.py();
    if value.is_none() {
        return Ok(Argument::Null);
    }
    if let Ok(local) = value.getattr("local_bytes") {
        return Ok(Argument::Local(local.extract()?));
    }
    // A scalar of numpy has a type and no dimensions.
    let scalar = value
        .getattr("ndim")
        .and_then(|n| n.extract::<usize>())
        .is_ok_and(|n| n == 0);
    if scalar {
        return Ok(Argument::Value(value.call_method0("tobytes")?.extract()?));
    }
    let is_number = value.extract::<f64>().is_ok();
    if is_number {
        let message = format!(
            "argument {number} is a number without a size: give numpy.int32({value}), numpy.float32({value}) or the like"
        );
        return Err(PyTypeError::new_err(message));
    }
    if let Ok(bytes) = value.extract::<Vec<u8>>()
        && value.is_instance_of::<pyo3::types::PyBytes>()
    {
        return Ok(Argument::Value(bytes));
    }
    if let Ok(image) = value.getattr("_image") {
        let (array, kind, sizes, order, channel, pitch): (
            Bound<'_, PyAny>,
            String,
            Vec<u32>,
            String,
            String,
            Option<u32>,
        ) = image.extract()?;
        let wrong =
            |message: String| PyValueError::new_err(format!("argument {number}: {message}"));
        let kind = ImageKind::by_name(&kind)
            .ok_or_else(|| wrong(format!("`{kind}` is no kind of image")))?;
        let format = format(&order, &channel).map_err(wrong)?;
        let buffer = contiguous(&array, number)?;
        let content = buffer.to_vec(py)?;
        let image = Image::new(kind, &sizes, pitch, format, content).map_err(wrong)?;
        arrays.push(Array {
            buffer,
            argument: number,
        });
        return Ok(Argument::Image(image));
    }
    if let Ok(state) = value.getattr("_sampler") {
        let (normalized, addressing, filter): (bool, String, String) = state.extract()?;
        let state = sampler(normalized, &addressing, &filter);
        let state = state.map_err(|m| PyValueError::new_err(format!("argument {number}: {m}")))?;
        return Ok(Argument::Sampler(state));
    }
    let buffer = contiguous(value, number)?;
    // The same array twice is one buffer of the device.
    let same = arrays.iter().find(|a| {
        a.buffer.buf_ptr() == buffer.buf_ptr() && a.buffer.len_bytes() == buffer.len_bytes()
    });
    if let Some(same) = same {
        return Ok(Argument::SameAs(same.argument));
    }
    let content = buffer.to_vec(py)?;
    arrays.push(Array {
        buffer,
        argument: number,
    });
    Ok(Argument::Buffer(content))
}

/// The bytes of an array, which must follow each other.
fn contiguous(value: &Bound<'_, PyAny>, number: usize) -> PyResult<PyBuffer<u8>> {
    let view = memory_view(value).map_err(|_| {
        PyTypeError::new_err(format!("argument {number} is no array, number or None"))
    })?;
    let format: String = view.getattr("format")?.extract()?;
    if !view.getattr("c_contiguous")?.extract::<bool>()? {
        return Err(PyTypeError::new_err(format!(
            "argument {number} is not contiguous: give numpy.ascontiguousarray of it"
        )));
    }
    // Versions of Python and of numpy differ in what else they cast to bytes.
    let plain = format.strip_prefix(['@', '=', '<']).unwrap_or(&format);
    if !matches!(plain.as_bytes(), [code] if b"cbB?hHiIlLqQnNefd".contains(code)) {
        return Err(PyTypeError::new_err(format!(
            "the elements of argument {number} are no plain numbers of this machine (their format is `{format}`): \
             give a view of bytes, array.view(numpy.uint8)"
        )));
    }
    let bytes = bytes_in(&view)?;
    PyBuffer::<u8>::get(&bytes)
}

/// `memoryview(value)`
pub(crate) fn memory_view<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let builtins = value.py().import("builtins")?;
    builtins.getattr("memoryview")?.call1((value,))
}

/// A view as one of bytes.
pub(crate) fn bytes_in<'py>(view: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    // Python casts no views that have a zero among their sizes.
    if view.getattr("nbytes")?.extract::<usize>()? == 0 {
        return memory_view(&PyBytes::new(view.py(), &[]));
    }
    view.call_method1("cast", ("B",))
}
