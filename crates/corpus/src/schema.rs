//! The tables: one definition for builders, Arrow, Parquet and the reference page.

use crate::column::{Cell, ColumnDef, Data, Name};
use crate::fingerprint::Scan;

/// Version of the tables. Columns may be added under the same number; a column that changes its
/// meaning or goes away raises it.
pub const VERSION: u32 = 3;

/// The description of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableDef {
    /// Name, also of its file.
    pub name: &'static str,
    /// The meaning of a row.
    pub doc: &'static str,
    /// The columns in order.
    pub columns: &'static [ColumnDef],
}

/// Rows stored as separate columns.
pub trait Table {
    /// The description.
    fn def(&self) -> &'static TableDef;
    /// Number of rows.
    fn rows(&self) -> usize;
    /// Approximate size of the rows in bytes.
    fn size(&self) -> usize;
    /// The columns in the order of the description; no row is left.
    fn take(&mut self) -> Vec<Data>;
    /// Keeps the first rows.
    fn truncate(&mut self, rows: usize);
}

macro_rules! tables {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident $table:ident $row:ident $(<$life:lifetime>)? {
            $( $(#[doc = $column_doc:literal])+ $column:ident $($text:literal)?: $ty:ident, )*
        }
    )*) => {
        $(
            #[doc = concat!("Row of `", stringify!($name), "`.")]
            $(#[doc = $doc])+
            #[derive(Clone, Copy, Debug)]
            pub struct $row $(<$life>)? {
                $( $(#[doc = $column_doc])+ pub $column: tables!(@row $ty), )*
            }

            #[doc = concat!("Table `", stringify!($name), "`.")]
            #[derive(Clone, Debug, Default)]
            pub struct $table {
                rows: usize,
                $( $column: <tables!(@static $ty) as Cell>::Column, )*
            }

            impl $table {
                /// The description.
                pub const DEF: TableDef = TableDef {
                    name: stringify!($name),
                    doc: concat!($($doc),+),
                    columns: &[ $( ColumnDef {
                        name: tables!(@name $column $($text)?),
                        ty: <tables!(@static $ty) as Cell>::TYPE,
                        nullable: <tables!(@static $ty) as Cell>::NULLABLE,
                        doc: concat!($($column_doc),+),
                    }, )* ],
                };

                /// Appends a row.
                #[inline]
                pub fn push $(<$life>)? (&mut self, row: $row $(<$life>)?) {
                    self.rows += 1;
                    $( Cell::push(row.$column, &mut self.$column); )*
                }
            }

            impl Table for $table {
                fn def(&self) -> &'static TableDef {
                    const { &Self::DEF }
                }
                fn rows(&self) -> usize {
                    self.rows
                }
                fn size(&self) -> usize {
                    0 $( + <tables!(@static $ty) as Cell>::size(&self.$column) )*
                }
                fn take(&mut self) -> Vec<Data> {
                    self.rows = 0;
                    vec![ $( <tables!(@static $ty) as Cell>::take(&mut self.$column), )* ]
                }
                fn truncate(&mut self, rows: usize) {
                    if rows < self.rows {
                        self.rows = rows;
                        $( <tables!(@static $ty) as Cell>::truncate(&mut self.$column, rows); )*
                    }
                }
            }
        )*

        /// All tables.
        #[derive(Clone, Debug, Default)]
        pub struct Tables {
            $( $(#[doc = $doc])+ pub $name: $table, )*
            /// What looks at routines, whose memory is used again.
            pub(crate) scan: Scan,
        }

        impl Tables {
            /// The descriptions of all tables.
            pub const DEFS: &'static [TableDef] = &[$( $table::DEF ),*];

            /// The tables in the order of [`DEFS`](Self::DEFS).
            pub fn all_mut(&mut self) -> impl Iterator<Item = &mut dyn Table> {
                [$( &mut self.$name as &mut dyn Table ),*].into_iter()
            }

            /// Approximate size of all rows in bytes.
            #[must_use]
            pub fn size(&self) -> usize {
                0 $( + self.$name.size() )*
            }

            /// Numbers of rows in the order of [`DEFS`](Self::DEFS).
            #[must_use]
            pub fn lengths(&self) -> Vec<usize> {
                vec![ $( self.$name.rows ),* ]
            }

            /// Goes back to these [numbers of rows](Self::lengths).
            pub fn truncate(&mut self, lengths: &[usize]) {
                for (table, rows) in self.all_mut().zip(lengths) {
                    table.truncate(*rows);
                }
            }
        }

        /// Which tables are selected.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct Select {
            $( #[doc = concat!("Whether `", stringify!($name), "` is.")] pub $name: bool, )*
        }

        impl Select {
            /// All of them.
            pub const ALL: Self = Self { $( $name: true, )* };
            /// None.
            pub const NONE: Self = Self { $( $name: false, )* };

            /// Those of the given names.
            ///
            /// # Errors
            /// A name that no table has.
            pub fn of<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Self, UnknownTable> {
                let mut select = Self::NONE;
                for name in names {
                    match name {
                        $( stringify!($name) => select.$name = true, )*
                        other => return Err(UnknownTable(other.to_owned())),
                    }
                }
                Ok(select)
            }

            /// Whether the table of that name is selected.
            #[must_use]
            pub fn has(&self, name: &str) -> bool {
                match name {
                    $( stringify!($name) => self.$name, )*
                    _ => false,
                }
            }
        }
    };
    (@name $column:ident $text:literal) => { $text };
    (@name $column:ident) => { stringify!($column) };
    (@row int) => { i32 };
    (@static int) => { i32 };
    (@row maybe_int) => { Option<i32> };
    (@static maybe_int) => { Option<i32> };
    (@row long) => { i64 };
    (@static long) => { i64 };
    (@row maybe_long) => { Option<i64> };
    (@static maybe_long) => { Option<i64> };
    (@row maybe_double) => { Option<f64> };
    (@static maybe_double) => { Option<f64> };
    (@row flag) => { bool };
    (@static flag) => { bool };
    (@row name) => { Name };
    (@static name) => { Name };
    (@row maybe_name) => { Option<Name> };
    (@static maybe_name) => { Option<Name> };
    (@row text) => { &'r str };
    (@static text) => { &'static str };
    (@row maybe_text) => { Option<&'r str> };
    (@static maybe_text) => { Option<&'static str> };
    (@row ints) => { &'r [i32] };
    (@static ints) => { &'static [i32] };
}

/// A name that no table has.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no table is called `{0}`; the tables are {names}", names = table_names())]
pub struct UnknownTable(pub String);

fn table_names() -> String {
    let names: Vec<_> = Tables::DEFS.iter().map(|def| def.name).collect();
    names.join(", ")
}

tables! {
    /// One row for each file.
    objects Objects ObjectRow<'r> {
        /// Key: the first 8 bytes of the SHA-256 of the file, big-endian.
        object: long,
        /// SHA-256 of the file in hexadecimal digits.
        sha256: text,
        /// Where the file was found.
        path: text,
        /// Size of the file in bytes.
        bytes: long,
        /// `binary`, or `text` for texts and for files that hold texts; absent where the file is neither.
        form: maybe_name,
        /// Version of the layout, such as `3.6`; absent where the file is no object.
        version: maybe_text,
        /// Dialect of the layout.
        dialect: maybe_name,
        /// Number of kernels.
        kernels: int,
        /// Number of functions.
        functions: int,
        /// Number of instructions that were decoded.
        instructions: long,
        /// Number of things that could not be decoded; the rest of the object is in the tables.
        faults: int,
        /// Why nothing could be read; absent where something was.
        error: maybe_text,
        /// The source files that debug information names, and what else compilers leave as paths, one a line.
        compiler: maybe_text,
    }

    /// One row for each kernel and function.
    routines Routines RoutineRow<'r> {
        /// Key of the object.
        object: long,
        /// Number of the routine: kernels, then functions, from 0.
        routine: int,
        /// `kernel` or `function`.
        kind: name,
        /// Name in the file header.
        name: text,
        /// Offset in the file.
        offset: maybe_long,
        /// Size in the file, tables and code.
        bytes: maybe_long,
        /// Number of instructions.
        instructions: int,
        /// Number of general variables.
        variables: int,
        /// Bytes of the general variables that share no storage with another one.
        variable_bytes: long,
        /// Number of inputs.
        inputs: int,
        /// Largest execution size.
        exec_size: int,
        /// SIMD width that the compiler states (attribute `SimdSize`).
        simd_size: maybe_int,
        /// Bytes of shared local memory that the compiler states (attribute `SLMSize`).
        slm_bytes: maybe_int,
        /// Number of instructions that wait for other threads.
        barriers: int,
        /// Number of instructions that reach memory.
        messages: int,
        /// Number of calls of functions and subroutines.
        calls: int,
        /// Number of jumps back.
        loops: int,
        /// Bytes of native code.
        native_bytes: long,
        /// Platform of the native code.
        platform: maybe_name,
        /// Equal for routines with the same graph of blocks.
        flow_hash: long,
        /// Equal for routines with the same instructions, whatever names and numbers the variables have.
        text_hash: long,
        /// MinHash of instructions and pairs without variables; see `visakit similar`.
        minhash: ints,
    }

    /// One row for each instruction.
    instructions Instructions InstructionRow {
        /// Key of the object.
        object: long,
        /// Number of the routine.
        routine: int,
        /// Number of the instruction, from 0.
        instruction: int,
        /// Offset in the file.
        offset: maybe_long,
        /// Size in bytes.
        bytes: maybe_int,
        /// Name of the row of the instruction table, as `visakit isa` prints it.
        name: name,
        /// Usual spelling in text.
        mnemonic: name,
        /// First byte.
        opcode: int,
        /// Second byte, where it tells instructions apart.
        sub_op: maybe_int,
        /// What it is for.
        group "group": name,
        /// Number of lanes.
        exec_size: maybe_int,
        /// Execution mask, such as `M1` and `M5_NM`.
        mask: maybe_name,
        /// Predicate variable.
        predicate: maybe_int,
        /// Whether the predicate is inverted.
        inverted: flag,
        /// How predicate bits are combined: `lane`, `any`, `all`.
        combine: maybe_name,
        /// Type of the destination, else of the first source that has one.
        ty "type": maybe_name,
        /// Whether the result saturates.
        saturate: flag,
        /// What it does to control flow.
        flow: name,
        /// Whether lanes may part here.
        diverges: flag,
        /// Label that it places, jumps to or calls.
        label: maybe_int,
        /// What it does to memory.
        memory: maybe_name,
        /// Which memory it reaches.
        space: maybe_name,
        /// The surface, for surfaces of the routine's table.
        surface: maybe_int,
        /// How data lies in memory.
        layout: maybe_name,
        /// Bytes of an element in memory.
        element_bytes: maybe_int,
        /// Elements of each lane, or of the whole block.
        elements: maybe_int,
        /// Bits of an address.
        address_bits: maybe_int,
        /// Bytes that all lanes together move at the most.
        access_bytes: maybe_int,
        /// Cache hint of the first level.
        cache_l1: maybe_name,
        /// Cache hint of the third level.
        cache_l3: maybe_name,
        /// Line of the source, from debug information.
        line: maybe_int,
    }

    /// One row for each field of each instruction; entries of lists one by one.
    operands Operands OperandRow {
        /// Key of the object.
        object: long,
        /// Number of the routine.
        routine: int,
        /// Number of the instruction.
        instruction: int,
        /// Place among the fields, from 0.
        operand: int,
        /// Name of the field.
        field: name,
        /// `destination`, `source` or `control`.
        role: name,
        /// What stands there: `general`, `immediate`, `raw`, `number`, …
        class: name,
        /// Element type.
        ty "type": maybe_name,
        /// Source modifier or saturation.
        modifier: maybe_name,
        /// Number in the table that the class names, predefined entries included.
        index: maybe_int,
        /// First row in registers; of an indirect operand the element of the address variable.
        row: maybe_int,
        /// First column in elements; of raw and indirect operands the offset in bytes.
        column "column": maybe_int,
        /// Vertical stride.
        vertical: maybe_int,
        /// Width.
        width: maybe_int,
        /// Horizontal stride.
        horizontal: maybe_int,
        /// Number of an immediate or control field, unsigned ones of 64 bits wrapped.
        value: maybe_long,
        /// Number of a floating-point immediate.
        number: maybe_double,
        /// Name of the number, where it has one.
        value_name: maybe_name,
    }

    /// One row for each declaration.
    declarations Declarations DeclarationRow<'r> {
        /// Key of the object.
        object: long,
        /// Number of the routine.
        routine: int,
        /// `general`, `address`, `predicate`, `label`, `sampler`, `surface`.
        kind: name,
        /// Number as instructions use it, predefined entries counted.
        index: int,
        /// Name.
        name: text,
        /// Element type of a general variable.
        ty "type": maybe_name,
        /// Number of elements.
        elements: maybe_int,
        /// Size in bytes.
        bytes: maybe_long,
        /// Alignment.
        alignment: maybe_name,
        /// The variable whose storage it shares.
        alias: maybe_int,
        /// Offset in that storage in bytes.
        alias_offset: maybe_int,
    }

    /// One row for each input of a kernel.
    inputs Inputs InputRow {
        /// Key of the object.
        object: long,
        /// Number of the routine.
        routine: int,
        /// Number of the input, from 0.
        input: int,
        /// `general`, `sampler`, `surface`.
        kind: name,
        /// What the host fills in by itself; `explicit` for arguments.
        implicit: maybe_name,
        /// Number of the declaration.
        index: int,
        /// Offset in the register file in bytes.
        offset: int,
        /// Size in bytes.
        bytes: int,
    }

    /// One row for each attribute of a routine.
    attributes Attributes AttributeRow<'r> {
        /// Key of the object.
        object: long,
        /// Number of the routine.
        routine: int,
        /// Name.
        name: text,
        /// Value as text.
        value: text,
        /// Value as a little-endian number; absent above 8 bytes.
        number: maybe_long,
    }

    /// One row for each thing that is wrong.
    findings Findings FindingRow<'r> {
        /// Key of the object.
        object: long,
        /// Number of the routine.
        routine: maybe_int,
        /// Number of the instruction.
        instruction: maybe_int,
        /// The rule, as `visakit explain` takes it.
        rule: text,
        /// `error` or `warning`.
        severity: name,
        /// Field of the instruction or record.
        field: maybe_name,
        /// Offset in the file.
        offset: maybe_long,
        /// What is wrong.
        message: text,
    }
}
