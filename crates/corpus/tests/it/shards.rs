//! Shards: the content of a folder after runs that finished, were interrupted, or collided with
//! others.

use arrow_array::{Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use visakit_corpus::arrow::schema;
use visakit_corpus::parquet::{Error, SHARD_BYTES, ShardWriter, written};
use visakit_corpus::{Select, Source, Tables};

/// An empty folder for this test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("shards")
        .join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn objects() -> Vec<(String, Vec<u8>)> {
    let found = fs::read_dir(visakit_testing::fixtures().join("objects")).unwrap();
    let mut paths: Vec<_> = found.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "isa"));
    paths.sort();
    let read = |path: PathBuf| (path.display().to_string(), fs::read(path).unwrap());
    paths.into_iter().map(read).collect()
}

fn write(folder: &Path, files: &[(String, Vec<u8>)], limit: usize, finish: bool) {
    let mut writer = ShardWriter::new(folder, Select::ALL, limit);
    let known = written(folder, Select::ALL).unwrap();
    for (name, bytes) in files {
        let source = Source::new(name, bytes);
        if !known.contains(&visakit_corpus::sha256_hex(&source.sha256)) {
            writer.add(&source).unwrap();
        }
    }
    if finish {
        writer.finish().unwrap();
    }
}

fn batches(path: &Path) -> Vec<RecordBatch> {
    let file = File::open(path).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    reader.build().unwrap().map(Result::unwrap).collect()
}

fn shards(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let is_shard = |path: &PathBuf| {
        path.file_name()
            .unwrap()
            .to_string_lossy()
            .starts_with("part-")
    };
    entries.filter(is_shard).collect()
}

/// The rows of each table as text, grouped by object: the order of objects is that of the shards.
fn rows(folder: &Path) -> BTreeMap<(&'static str, i64), Vec<String>> {
    let mut all: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for shard in shards(folder) {
        for def in Tables::DEFS {
            let file = File::open(shard.join(format!("{}.parquet", def.name))).unwrap();
            let reader = SerializedFileReader::new(file).unwrap();
            for row in reader.get_row_iter(None).unwrap() {
                let row = row.unwrap();
                let key = row.get_long(0).unwrap();
                all.entry((def.name, key))
                    .or_default()
                    .push(row.to_string());
            }
        }
    }
    assert!(all.len() > 20);
    all
}

/// That two folders have the same rows.
fn same(one: &Path, two: &Path) {
    let (one, two) = (rows(one), rows(two));
    assert!(one.keys().eq(two.keys()));
    for (key, rows) in &one {
        assert_eq!(rows.len(), two[key].len(), "{key:?}");
        let pairs = rows.iter().zip(&two[key]);
        for (one, two) in pairs {
            assert_eq!(one, two, "{key:?}");
        }
    }
}

#[test]
fn a_run_that_was_cut_off_is_gone_on_with() {
    let files = objects();
    let whole = folder("whole");
    write(&whole, &files, SHARD_BYTES, true);
    let cut = folder("cut");
    // One shard for each object; the last one is not finished.
    write(&cut, &files[..3], 1, true);
    assert_eq!(shards(&cut).len(), 3);
    write(&cut, &files[3..5], SHARD_BYTES, false);
    assert_eq!(written(&cut, Select::ALL).unwrap().len(), 3);
    let left: Vec<_> = fs::read_dir(&cut).unwrap().map(Result::unwrap).collect();
    assert_eq!(left.len(), 3, "nothing is left of the fourth");
    write(&cut, &files, SHARD_BYTES, true);
    same(&cut, &whole);
    // A second run has nothing to do.
    write(&cut, &files, SHARD_BYTES, true);
    same(&cut, &whole);
}

#[test]
fn writers_side_by_side_write_what_one_writes() {
    let files = objects();
    let (one, two) = (folder("one"), folder("two"));
    write(&one, &files, SHARD_BYTES, true);
    std::thread::scope(|scope| {
        for half in files.chunks(files.len() / 2) {
            scope.spawn(|| write(&two, half, SHARD_BYTES, true));
        }
    });
    same(&two, &one);
    // Both take these files at once: the shards have one name, and only one of them is kept.
    let twice = folder("twice");
    let mut writers = [0, 1].map(|_| ShardWriter::new(&twice, Select::ALL, SHARD_BYTES));
    for writer in &mut writers {
        for (name, bytes) in &files {
            writer.add(&Source::new(name, bytes)).unwrap();
        }
    }
    for mut writer in writers {
        writer.finish().unwrap();
    }
    same(&twice, &one);
    assert_eq!(fs::read_dir(&twice).unwrap().count(), 1);
}

#[test]
fn a_damaged_shard_is_named() {
    let files = objects();
    let folder = folder("damaged");
    write(&folder, &files, SHARD_BYTES, true);
    let shard = shards(&folder).pop().unwrap();
    for def in Tables::DEFS {
        let path = shard.join(format!("{}.parquet", def.name));
        let bytes = fs::read(&path).unwrap();
        for cut in [0, 3, bytes.len() / 2, bytes.len() - 1] {
            fs::write(&path, &bytes[..cut]).unwrap();
            let error = written(&folder, Select::ALL).unwrap_err();
            assert!(error.to_string().contains(def.name), "{error}");
            assert!(error.help().is_some());
        }
        fs::remove_file(&path).unwrap();
        let error = written(&folder, Select::ALL).unwrap_err();
        assert!(matches!(error, Error::Lacks { table, .. } if table == def.name));
        fs::write(&path, &bytes).unwrap();
    }
    assert_eq!(written(&folder, Select::ALL).unwrap().len(), files.len());
}

#[test]
fn tables_tell_their_version_and_others_are_refused() {
    let folder = folder("version");
    write(&folder, &objects(), SHARD_BYTES, true);
    let shard = shards(&folder).pop().unwrap();
    for def in Tables::DEFS {
        let file = File::open(shard.join(format!("{}.parquet", def.name))).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        let version = reader.schema().metadata().get("visakit.schema").cloned();
        assert_eq!(version, Some(visakit_corpus::schema::VERSION.to_string()));
        let named: Vec<_> = reader
            .schema()
            .fields()
            .iter()
            .map(|f| f.name().clone())
            .collect();
        let known: Vec<_> = def.columns.iter().map(|c| c.name).collect();
        assert_eq!(named, known);
    }
    // The table as a later version would write it.
    let path = shard.join("routines.parquet");
    let def = Tables::DEFS
        .iter()
        .find(|def| def.name == "routines")
        .unwrap();
    let mut metadata = schema(def).metadata().clone();
    metadata.insert("visakit.schema".to_owned(), "999".to_owned());
    let later = schema(def).as_ref().clone().with_metadata(metadata);
    let file = File::create(&path).unwrap();
    ArrowWriter::try_new(file, later.into(), None)
        .unwrap()
        .close()
        .unwrap();
    let error = written(&folder, Select::ALL).unwrap_err();
    assert!(error.to_string().contains("version 999"), "{error}");
    // Who does not want that table is not concerned.
    let some = Select::of(["objects", "instructions"]).unwrap();
    assert!(written(&folder, some).is_ok());
}

#[test]
fn hashes_are_those_of_the_files() {
    let folder = folder("hashes");
    let files = objects();
    write(&folder, &files, SHARD_BYTES, true);
    let shard = shards(&folder).pop().unwrap();
    let batch = batches(&shard.join("objects.parquet")).pop().unwrap();
    let hashes = batch.column_by_name("sha256").unwrap().clone();
    let hashes = hashes.as_any().downcast_ref::<StringArray>().unwrap();
    let known = written(&folder, Select::ALL).unwrap();
    assert!(hashes.iter().all(|hash| known.contains(hash.unwrap())));
}
