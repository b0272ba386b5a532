"""Intel's binary vISA objects: read, write, verify, run, compare, and ask questions of many.

>>> import visakit
>>> text = '''.version 4.1
... .kernel "answer"
... .decl V32 v_type=G type=d num_elts=8 align=GRF
...     mov (M1, 8) V32(0,0)<1> 0x2a:d
...     ret (M1, 1)
... '''
>>> obj = visakit.asm(text)
>>> obj
<Object vISA 4.1, 1 kernels, 0 functions>
>>> [i.mnemonic for i in obj["answer"]]
['mov', 'ret']
>>> obj["answer"][0]["src0"].value
42
>>> visakit.read(obj.to_bytes()) == obj
True
"""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import TYPE_CHECKING, Any

from ._visakit import (
    SCHEMA_VERSION,
    AsmError,
    Columns,
    Debugger,
    Diagnostic,
    EditError,
    Finding,
    Instruction,
    Instructions,
    Kernel,
    Object,
    Operand,
    Outcome,
    Profile,
    ReadError,
    Routine,
    RunError,
    RunFinding,
    Trace,
    TraceStep,
    Variables,
    WriteError,
    __version__,
    asm,
    columns as _columns,
    convert,
    diff,
    explain,
    fmt,
    isa,
    read,
    read_lenient,
    schema,
    search,
    smith,
    strip,
    validate,
    write,
)
from .enums import DataType, Field, Group, Op
from .records import Access, Attribute, Block, Declaration, Input

if TYPE_CHECKING:
    import pyarrow

__all__ = [
    "SCHEMA_VERSION",
    "Access",
    "AsmError",
    "Attribute",
    "Block",
    "Columns",
    "Debugger",
    "Declaration",
    "DataType",
    "Diagnostic",
    "EditError",
    "Field",
    "Finding",
    "Group",
    "Image",
    "Input",
    "Instruction",
    "Instructions",
    "Kernel",
    "Local",
    "Object",
    "Op",
    "Operand",
    "Outcome",
    "Profile",
    "ReadError",
    "Routine",
    "RunError",
    "RunFinding",
    "Sampler",
    "Trace",
    "TraceStep",
    "Variables",
    "WriteError",
    "__version__",
    "asm",
    "cfg",
    "columns",
    "convert",
    "diff",
    "dis",
    "explain",
    "fmt",
    "isa",
    "read",
    "read_lenient",
    "schema",
    "search",
    "smith",
    "strip",
    "table",
    "validate",
    "write",
]

def __dir__() -> list[str]:
    return __all__


Source = Object | str | PathLike[str] | bytes | bytearray | memoryview


class Local:
    """Local memory of this many bytes, as an argument of a kernel."""

    def __init__(self, local_bytes: int) -> None:
        self.local_bytes = local_bytes

    def __repr__(self) -> str:
        return f"Local({self.local_bytes})"


class Image:
    """An image, as an argument of a kernel: an array whose bytes are the pixels, row by row.

    `kind` is the OpenCL type without `_t`, `order` and `type` are the names of OpenCL's constants. Without `sizes`
    (pixels of a row, rows, slices; entries of an array last) they are taken from the shape: its last axis is left
    out if it is one more than the image has, for the channels.

    >>> import numpy
    >>> Image(numpy.zeros((4, 8, 4), numpy.uint8), "image2d", "RGBA", "UNORM_INT8")
    Image(image2d, (8, 4), RGBA, UNORM_INT8)
    """

    _AXES = {
        "image1d": 1,
        "image1d_buffer": 1,
        "image1d_array": 2,
        "image2d": 2,
        "image2d_array": 3,
        "image3d": 3,
    }

    def __init__(
        self,
        array: Any,
        kind: str,
        order: str,
        type: str,
        *,
        sizes: Iterable[int] | None = None,
        row_pitch: int | None = None,
    ) -> None:
        if kind not in self._AXES:
            raise ValueError(f"a kind of image is one of {', '.join(self._AXES)}")
        if sizes is None:
            shape = tuple(array.shape)
            if len(shape) == self._AXES[kind] + 1:
                shape = shape[:-1]
            sizes = reversed(shape)
        self._image = (array, kind, [int(size) for size in sizes], order, type, row_pitch)

    def __repr__(self) -> str:
        _, kind, sizes, order, type, _ = self._image
        return f"Image({kind}, {tuple(sizes)}, {order}, {type})"


class Sampler:
    """A sampler, given by the names of OpenCL's constants: `CLAMP`, `REPEAT` and the like; `NEAREST`, `LINEAR`."""

    def __init__(self, addressing: str = "CLAMP_TO_EDGE", filter: str = "NEAREST", *, normalized: bool = False) -> None:
        self._sampler = (normalized, addressing, filter)

    def __repr__(self) -> str:
        normalized, addressing, filter = self._sampler
        return f"Sampler({addressing}, {filter}, normalized={normalized})"


def dis(obj: Object, form: str = "plain") -> str:
    """The text of an object: `plain`, `exact` (assembles to the same bytes) or `intel`."""
    return obj.dis(form)


def cfg(routine: Routine, form: str = "svg") -> str:
    """The control flow of a routine: `svg` or `dot`."""
    return routine.cfg(form)


def columns(objects: Iterable[Source], tables: Iterable[str] | None = None) -> dict[str, Columns]:
    """The tables of objects, files or bytes, by name, for any consumer of Arrow's C interface.

    >>> obj = smith(1)
    >>> made = columns([obj], ["objects", "routines"])
    >>> sorted(made)
    ['objects', 'routines']
    >>> len(made["objects"])
    1
    """
    names = None if tables is None else list(tables)
    return dict(_columns(list(objects), names))


def table(objects: Iterable[Source], name: str = "instructions") -> pyarrow.Table:
    """One of the tables of objects, files or bytes as a table of pyarrow; nothing is copied.

    >>> rows = table([smith(1)], "routines")
    >>> rows.column("kind").to_pylist()[0]
    'kernel'
    """
    import pyarrow

    made: Any = pyarrow.table(columns(objects, [name])[name])
    return made
