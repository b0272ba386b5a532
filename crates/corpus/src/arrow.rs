//! Tables as Arrow arrays. Vectors become buffers; only the few names of dictionaries are copied.

use crate::column::{Bits, ColumnDef, Data, Type};
use crate::schema::{Table, TableDef, VERSION};
use arrow_array::types::Int16Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int16Array, Int32Array, Int64Array,
    ListArray, RecordBatch, StringArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
pub use arrow_schema::ArrowError;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use std::collections::HashMap;
use std::sync::Arc;

/// Key of the metadata that holds the [`VERSION`] of the tables.
pub const VERSION_KEY: &str = "visakit.schema";

fn item() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::Int32, false))
}

fn data_type(ty: Type) -> DataType {
    match ty {
        Type::Int => DataType::Int32,
        Type::Long => DataType::Int64,
        Type::Double => DataType::Float64,
        Type::Flag => DataType::Boolean,
        Type::Name => DataType::Dictionary(Box::new(DataType::Int16), Box::new(DataType::Utf8)),
        Type::Text => DataType::Utf8,
        Type::Ints => DataType::List(item()),
    }
}

fn field(column: &ColumnDef) -> Field {
    let field = Field::new(column.name, data_type(column.ty), column.nullable);
    let doc = ("doc".to_owned(), column.doc.trim().to_owned());
    field.with_metadata(HashMap::from([doc]))
}

/// The schema of a table, with the documentation of its columns as metadata.
#[must_use]
pub fn schema(def: &TableDef) -> SchemaRef {
    let fields: Vec<Field> = def.columns.iter().map(field).collect();
    let metadata = HashMap::from([
        (VERSION_KEY.to_owned(), VERSION.to_string()),
        ("doc".to_owned(), def.doc.trim().to_owned()),
    ]);
    Arc::new(Schema::new_with_metadata(fields, metadata))
}

fn bits(bits: Bits) -> BooleanBuffer {
    let len = bits.len();
    BooleanBuffer::new(Buffer::from_vec(bits.into_bytes()), 0, len)
}

fn nulls(present: Option<Bits>) -> Option<NullBuffer> {
    present.map(|present| NullBuffer::new(bits(present)))
}

fn offsets(ends: Vec<i32>) -> OffsetBuffer<i32> {
    // Ends are created in ascending order from 0, the only condition that could fail.
    OffsetBuffer::new(ScalarBuffer::from(ends))
}

fn array(data: Data) -> Result<ArrayRef, ArrowError> {
    Ok(match data {
        Data::Int(values, present) => Arc::new(Int32Array::try_new(values.into(), nulls(present))?),
        Data::Long(values, present) => {
            Arc::new(Int64Array::try_new(values.into(), nulls(present))?)
        }
        Data::Double(values, present) => {
            Arc::new(Float64Array::try_new(values.into(), nulls(present))?)
        }
        Data::Flag(values, present) => Arc::new(BooleanArray::new(bits(values), nulls(present))),
        Data::Name(keys, names, present) => {
            let keys = Int16Array::try_new(keys.into(), nulls(present))?;
            let names = Arc::new(StringArray::from(names));
            Arc::new(DictionaryArray::<Int16Type>::try_new(keys, names)?)
        }
        Data::Text(ends, bytes, present) => Arc::new(StringArray::try_new(
            offsets(ends),
            Buffer::from_vec(bytes),
            nulls(present),
        )?),
        Data::Ints(ends, values, present) => Arc::new(ListArray::try_new(
            item(),
            offsets(ends),
            Arc::new(Int32Array::try_new(values.into(), None)?),
            nulls(present),
        )?),
    })
}

/// The rows of a table, which is left empty.
///
/// # Errors
/// Columns of different length, which tables do not have.
pub fn batch(table: &mut dyn Table) -> Result<RecordBatch, ArrowError> {
    let schema = schema(table.def());
    let columns: Result<Vec<_>, _> = table.take().into_iter().map(array).collect();
    RecordBatch::try_new(schema, columns?)
}
