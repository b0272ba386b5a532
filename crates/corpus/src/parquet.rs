//! Tables as Parquet files, in folders that many processes and machines fill side by side.
//!
//! A *shard* is a folder with one file for each table. It is written under a temporary name and renamed when it is
//! complete, so that a reader of `part-*/instructions.parquet` never sees a partial one, and an interrupted shard is
//! simply missing. The column `sha256` of `objects.parquet` shows which objects the shards of a folder contain.

use crate::arrow::{VERSION_KEY, batch, schema};
use crate::column::Type;
use crate::rows::{Source, fill, key_of};
use crate::schema::{Select, TableDef, Tables, VERSION};
use arrow_array::{Array, StringArray};
use arrow_schema::ArrowError;
use hashbrown::HashSet;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use visakit_files::TemporaryFolder;

/// Prefix of the folders of shards.
pub const PREFIX: &str = "part-";

/// Rows of a row group: the encoded rows a writer holds back for each table.
const GROUP_ROWS: usize = 1 << 20;

/// This many bytes of columns are gathered before they are encoded.
const GATHERED: usize = 16 << 20;

/// The size of a shard, in bytes of columns.
pub const SHARD_BYTES: usize = 1 << 30;

/// Why tables cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder.
    #[error("{}: {error}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The content of a file.
    #[error("{}: {error}", path.display())]
    Parquet {
        /// Where.
        path: PathBuf,
        /// Why.
        error: ParquetError,
    },
    /// Columns.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
    /// A shard was written without one of the tables.
    #[error("{}: this shard has no table `{table}`", shard.display())]
    Lacks {
        /// Its folder.
        shard: PathBuf,
        /// The table.
        table: &'static str,
    },
    /// A table has another version of the schema.
    #[error("{}: version {} of the schema, this is version {VERSION}", path.display(), version.as_deref().unwrap_or("?"))]
    Version {
        /// The file.
        path: PathBuf,
        /// The version found there, if any.
        version: Option<String>,
    },
}

impl Error {
    /// What to do about it, if that is known.
    #[must_use]
    pub const fn help(&self) -> Option<&'static str> {
        match self {
            Self::Parquet { .. } => {
                Some("remove this shard: the same command writes again what was in it")
            }
            Self::Lacks { .. } => Some("choose the tables of the first run, or another folder"),
            Self::Version { .. } => Some("write into another folder"),
            Self::Io { .. } | Self::Arrow(_) => None,
        }
    }
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    |error| Error::Io { path, error }
}

fn parquet_error<E: Into<ParquetError>>(path: &Path) -> impl FnOnce(E) -> Error {
    let path = path.to_owned();
    |error| Error::Parquet {
        path,
        error: error.into(),
    }
}

/// Writes the rows of one process or thread.
#[derive(Debug)]
pub struct ShardWriter {
    folder: PathBuf,
    select: Select,
    /// Largest size of the columns of a shard.
    limit: usize,
    tables: Tables,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    folder: TemporaryFolder,
    writers: Vec<(&'static str, PathBuf, ArrowWriter<File>)>,
    /// The name, derived from the keys of the objects.
    name: u64,
    objects: u64,
    bytes: usize,
}

impl ShardWriter {
    /// A writer into `folder`, which exists. Of all tables the chosen ones are written, and `objects`
    /// always. Shards have about `limit` bytes of columns ([`SHARD_BYTES`]).
    #[must_use]
    pub fn new(folder: &Path, select: Select, limit: usize) -> Self {
        Self {
            folder: folder.to_owned(),
            select: Select {
                objects: true,
                ..select
            },
            limit,
            tables: Tables::default(),
            open: None,
        }
    }

    /// Adds the rows of a file. It is on disk once [`finish`](Self::finish) was called or the shard is full.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn add(&mut self, source: &Source<'_>) -> Result<(), Error> {
        self.add_with(source, |select, tables| {
            // The row of the file states the error.
            fill(source, select, tables).ok();
        })
    }

    /// Adds a file whose rows the caller fills in, by [`fill`], [`fill_text`](crate::fill_text) or
    /// [`unreadable`](crate::unreadable).
    ///
    /// # Errors
    /// Those of [`Self::add`].
    pub fn add_with(
        &mut self,
        source: &Source<'_>,
        fill: impl FnOnce(Select, &mut Tables),
    ) -> Result<(), Error> {
        if self.open.is_none() {
            self.open = Some(Open::new(&self.folder, self.select)?);
        }
        fill(self.select, &mut self.tables);
        let size = self.tables.size();
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        open.objects += 1;
        // Two machines that process the same files write the same name.
        open.name = open.name.rotate_left(7) ^ key_of(&source.sha256).cast_unsigned();
        let held = if size >= GATHERED {
            open.write(&mut self.tables)?;
            0
        } else {
            size
        };
        if open.bytes + held >= self.limit {
            self.finish()?;
        }
        Ok(())
    }

    /// Closes the shard.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn finish(&mut self) -> Result<(), Error> {
        let Some(mut open) = self.open.take() else {
            return Ok(());
        };
        open.write(&mut self.tables)?;
        for (_, path, writer) in open.writers.drain(..) {
            let file = writer.into_inner().map_err(parquet_error(&path))?;
            file.sync_all().map_err(io_error(&path))?;
        }
        let name = format!("{PREFIX}{:016x}-{}", open.name, open.objects);
        let place = self.folder.join(name);
        match open.folder.commit(&place) {
            Ok(()) => Ok(()),
            // Another process has written the same objects in the meantime.
            Err(_) if place.is_dir() => Ok(()),
            Err(error) => Err(Error::Io { path: place, error }),
        }
    }
}

/// How a table is encoded. A dictionary has to look up every value, which pays off only for strings: numbers are
/// written as differences, and hashes as they are.
fn properties(def: &TableDef) -> WriterProperties {
    let level = ZstdLevel::try_new(3).unwrap_or_default();
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_statistics_enabled(EnabledStatistics::Chunk);
    for column in def.columns {
        let (path, encoding) = match column.ty {
            Type::Int | Type::Long => (vec![column.name], Encoding::DELTA_BINARY_PACKED),
            Type::Ints => (vec![column.name, "list", "item"], Encoding::PLAIN),
            Type::Double | Type::Flag | Type::Name | Type::Text => continue,
        };
        let path = ColumnPath::from(path.into_iter().map(str::to_owned).collect::<Vec<_>>());
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path.clone(), encoding);
        if column.ty == Type::Ints {
            properties = properties.set_column_statistics_enabled(path, EnabledStatistics::None);
        }
    }
    properties.build()
}

impl Open {
    fn new(folder: &Path, select: Select) -> Result<Self, Error> {
        let folder = TemporaryFolder::new(folder, "tmp").map_err(io_error(folder))?;
        let mut writers = Vec::new();
        for def in Tables::DEFS.iter().filter(|def| select.has(def.name)) {
            let path = folder.path().join(format!("{}.parquet", def.name));
            let mut options = File::options();
            let file = options.write(true).create_new(true).open(&path);
            let file = file.map_err(io_error(&path))?;
            let writer = ArrowWriter::try_new(file, schema(def), Some(properties(def)));
            writers.push((
                def.name,
                path.clone(),
                writer.map_err(parquet_error(&path))?,
            ));
        }
        Ok(Self {
            folder,
            writers,
            name: 0,
            objects: 0,
            bytes: 0,
        })
    }

    fn write(&mut self, tables: &mut Tables) -> Result<(), Error> {
        self.bytes += tables.size();
        for table in tables.all_mut() {
            let name = table.def().name;
            let batch = batch(table)?;
            if let Some((_, path, writer)) = self.writers.iter_mut().find(|(n, _, _)| *n == name)
                && batch.num_rows() > 0
            {
                writer.write(&batch).map_err(parquet_error(path))?;
            }
        }
        Ok(())
    }
}

/// The hashes, in hexadecimal digits, of all files that the shards of a folder hold, each in all tables that are
/// chosen.
///
/// # Errors
/// A shard cannot be read: the end of each table's file is checked, which is only meaningful if it was written
/// completely. A shard that lacks one of the selected tables, or has another version of them: what is missing there
/// would never be written.
pub fn written(folder: &Path, select: Select) -> Result<HashSet<String>, Error> {
    let mut hashes = HashSet::new();
    for entry in fs::read_dir(folder).map_err(io_error(folder))? {
        let entry = entry.map_err(io_error(folder))?;
        let shard = entry.path();
        if entry.file_name().to_string_lossy().starts_with(PREFIX) && shard.is_dir() {
            read_shard(&shard, select, &mut hashes)?;
        }
    }
    Ok(hashes)
}

fn read_shard(shard: &Path, select: Select, hashes: &mut HashSet<String>) -> Result<(), Error> {
    let chosen = |def: &&TableDef| def.name == "objects" || select.has(def.name);
    for def in Tables::DEFS.iter().filter(chosen) {
        let path = shard.join(format!("{}.parquet", def.name));
        if !path.is_file() {
            return Err(Error::Lacks {
                shard: shard.to_owned(),
                table: def.name,
            });
        }
        let file = File::open(&path).map_err(io_error(&path))?;
        let builder =
            ParquetRecordBatchReaderBuilder::try_new(file).map_err(parquet_error(&path))?;
        let version = builder.schema().metadata().get(VERSION_KEY);
        if version.and_then(|version| version.parse().ok()) != Some(VERSION) {
            return Err(Error::Version {
                path,
                version: version.cloned(),
            });
        }
        if def.name != "objects" {
            continue;
        }
        let mask = ProjectionMask::columns(builder.parquet_schema(), ["sha256"]);
        let reader = builder
            .with_projection(mask)
            .build()
            .map_err(parquet_error(&path))?;
        for batch in reader {
            let batch = batch.map_err(parquet_error(&path))?;
            let column = batch.columns().first();
            let column = column.and_then(|c| c.as_any().downcast_ref::<StringArray>());
            for hash in column.into_iter().flatten().flatten() {
                hashes.insert(hash.to_owned());
            }
        }
    }
    Ok(())
}
