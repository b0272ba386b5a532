"""Tables in Spark: files are decoded on the workers, with the schema of `visakit table`.

    frame = visakit.spark.table(spark, "s3://bucket/objects/*.isa", "routines")
    frame.write.parquet("columns/routines")

Needs pyspark 3.5 or later and pyarrow; workers need this package, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow

from . import columns


def _plain(schema: pyarrow.Schema) -> pyarrow.Schema:
    """Spark has no dictionaries: their columns become plain strings."""
    plain = []
    for field in schema:
        kind = field.type.value_type if pyarrow.types.is_dictionary(field.type) else field.type
        plain.append(pyarrow.field(field.name, kind, field.nullable))
    return pyarrow.schema(plain)


def schema(name: str) -> pyarrow.Schema:
    """The schema of a table in Spark."""
    return _plain(pyarrow.schema(columns([], [name])[name]))


def _decode(batches: Iterable[pyarrow.RecordBatch], name: str) -> Iterator[pyarrow.RecordBatch]:
    target = schema(name)
    for batch in batches:
        paths = batch.column("path").to_pylist()
        contents = batch.column("content")
        for path, content in zip(paths, contents):
            # One file at a time: the largest one limits memory.
            made = pyarrow.table(columns([memoryview(content.as_buffer())], [name])[name])
            if name == "objects":
                place = made.schema.get_field_index("path")
                made = made.set_column(place, made.schema.field(place), pyarrow.array([path], pyarrow.string()))
            yield from made.cast(target).to_batches()


def table(spark: Any, path: str | list[str], name: str = "instructions") -> Any:
    """A table of all files under one or more paths, which may have wildcards, as a data frame."""
    from pyspark.sql.pandas.types import from_arrow_schema

    files = spark.read.format("binaryFile").load(path).select("path", "content")
    wanted = from_arrow_schema(schema(name))
    return files.mapInArrow(lambda batches: _decode(batches, name), wanted)
