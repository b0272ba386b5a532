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
    Diagnostic,
    EditError,
    Finding,
    Instruction,
    Instructions,
    Kernel,
    Object,
    Operand,
    Outcome,
    ReadError,
    Routine,
    RunError,
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

if TYPE_CHECKING:
    import pyarrow

__all__ = [
    "SCHEMA_VERSION",
    "AsmError",
    "Columns",
    "DataType",
    "Diagnostic",
    "EditError",
    "Field",
    "Finding",
    "Group",
    "Instruction",
    "Instructions",
    "Kernel",
    "Local",
    "Object",
    "Op",
    "Operand",
    "Outcome",
    "ReadError",
    "Routine",
    "RunError",
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

Source = Object | str | PathLike[str] | bytes | bytearray | memoryview


class Local:
    """So many bytes of local memory, as an argument of a kernel."""

    def __init__(self, local_bytes: int) -> None:
        self.local_bytes = local_bytes

    def __repr__(self) -> str:
        return f"Local({self.local_bytes})"


def dis(obj: Object, form: str = "plain") -> str:
    """The text of an object: `plain`, `exact` (assembles into the same bytes) or `intel`."""
    return obj.dis(form)


def cfg(routine: Routine, form: str = "svg") -> str:
    """The control flow of a routine: `svg` or `dot`."""
    return routine.cfg(form)


def columns(objects: Iterable[Source], tables: Iterable[str] | None = None) -> dict[str, Columns]:
    """The tables of objects, files or bytes, by name; whatever knows Arrow's C interface takes them.

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
