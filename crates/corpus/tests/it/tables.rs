//! Columns, patterns and fingerprints of real and generated objects.

use visakit_corpus::column::Data;
use visakit_corpus::fingerprint::Fingerprint;
use visakit_corpus::search::{Pattern, search};
use visakit_corpus::similar::{Collection, Relation, THRESHOLD};
use visakit_corpus::{Select, Source, Table, Tables, fill};
use visakit_isa::object::{Object, Routine};
use visakit_isa::{FieldName, Value, VarId};

fn fixtures() -> Vec<(String, Vec<u8>)> {
    let folder = visakit_testing::fixtures().join("objects");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().flatten().collect();
    files.sort_by_key(std::fs::DirEntry::path);
    let read = |f: std::fs::DirEntry| {
        (
            f.file_name().to_string_lossy().into_owned(),
            std::fs::read(f.path()).unwrap(),
        )
    };
    files.into_iter().map(read).collect()
}

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(visakit_testing::fixtures().join("objects").join(name)).unwrap()
}

fn fingerprint(object: &Object<'_>) -> Fingerprint {
    let body = object.kernels.first().and_then(Routine::body).unwrap();
    Fingerprint::of(body, object.format())
}

#[test]
fn rows_are_as_many_as_the_objects_have() {
    let mut tables = Tables::default();
    let [mut routines, mut instructions, mut operands] = [0; 3];
    for (name, bytes) in fixtures() {
        fill(&Source::new(&name, &bytes), Select::ALL, &mut tables).unwrap();
        let object = visakit_parse::read(&bytes).unwrap();
        for (_, routine) in object.routines() {
            routines += 1;
            let body = routine.body().unwrap();
            instructions += body.instructions().count();
            operands += body
                .instructions()
                .map(|i| i.fields.iter().count())
                .sum::<usize>();
        }
    }
    assert_eq!(tables.routines.rows(), routines);
    assert_eq!(tables.instructions.rows(), instructions);
    assert_eq!(tables.operands.rows(), operands);
    assert!(tables.size() > 0);
    for table in tables.all_mut() {
        let (rows, columns) = (table.rows(), table.def().columns);
        let data = table.take();
        assert_eq!(data.len(), columns.len());
        for (data, column) in data.iter().zip(columns) {
            let (len, present) = match data {
                Data::Int(values, present) => (values.len(), present),
                Data::Long(values, present) => (values.len(), present),
                Data::Double(values, present) => (values.len(), present),
                Data::Flag(values, present) => (values.len(), present),
                Data::Name(keys, names, present) => {
                    assert!(
                        keys.iter()
                            .all(|key| usize::try_from(*key).unwrap() < names.len())
                    );
                    (keys.len(), present)
                }
                Data::Text(ends, bytes, present) => {
                    assert!(std::str::from_utf8(bytes).is_ok());
                    (ends.len() - 1, present)
                }
                Data::Ints(ends, _, present) => (ends.len() - 1, present),
            };
            assert_eq!(
                (len, present.is_some()),
                (rows, column.nullable),
                "{}",
                column.name
            );
        }
        assert_eq!(table.rows(), 0);
    }
}

/// The values of a column, one by one.
fn values(data: &Data) -> Vec<String> {
    let part = |ends: &[i32], index: usize| {
        let end = |index: usize| usize::try_from(ends[index]).unwrap();
        end(index)..end(index + 1)
    };
    let all: (Vec<String>, _) = match data {
        Data::Int(values, present) => (values.iter().map(i32::to_string).collect(), present),
        Data::Long(values, present) => (values.iter().map(i64::to_string).collect(), present),
        Data::Double(values, present) => (values.iter().map(f64::to_string).collect(), present),
        Data::Flag(bits, present) => {
            let bits = (0..bits.len()).map(|index| bits.get(index).to_string());
            (bits.collect(), present)
        }
        Data::Name(keys, names, present) => {
            let name = |key: &i16| names[usize::try_from(*key).unwrap()].to_owned();
            (keys.iter().map(name).collect(), present)
        }
        Data::Text(ends, bytes, present) => {
            let text = |index| std::str::from_utf8(&bytes[part(ends, index)]).unwrap();
            let texts = (0..ends.len() - 1).map(|index| text(index).to_owned());
            (texts.collect(), present)
        }
        Data::Ints(ends, numbers, present) => {
            let lists =
                (0..ends.len() - 1).map(|index| format!("{:?}", &numbers[part(ends, index)]));
            (lists.collect(), present)
        }
    };
    let (mut all, present) = all;
    if let Some(present) = present {
        assert_eq!(present.len(), all.len());
        for (index, value) in all.iter_mut().enumerate() {
            if !present.get(index) {
                *value = "absent".to_owned();
            }
        }
    }
    all
}

fn all_values(tables: &mut Tables) -> Vec<(&'static str, &'static str, Vec<String>)> {
    let mut all = Vec::new();
    for table in tables.all_mut() {
        let def = table.def();
        for (column, data) in def.columns.iter().zip(table.take()) {
            all.push((def.name, column.name, values(&data)));
        }
    }
    all
}

/// Sound objects are read one instruction at a time if no findings are requested, others as a whole: the rows are the
/// same.
#[test]
fn rows_do_not_depend_on_the_way_of_reading() {
    let mut files = fixtures();
    let config = visakit_smith::Config::default();
    for seed in 0..4 {
        let object = visakit_smith::from_seed(seed, &config);
        let bytes = visakit_encode::write(&object).unwrap();
        files.push((format!("seed {seed}"), bytes));
    }
    let damaged: Vec<_> = files
        .iter()
        .flat_map(|(name, bytes)| {
            (1..12).map(move |part| {
                let mut damaged = bytes.clone();
                let at = bytes.len() * part / 12;
                if part % 2 == 0 {
                    damaged.truncate(at);
                } else {
                    damaged[at] ^= 0xff;
                }
                (format!("{name} damaged at {at}"), damaged)
            })
        })
        .collect();
    files.extend(damaged);
    // One after the other into the same tables, as shards are filled.
    let [mut whole, mut streamed] = [Tables::default(), Tables::default()];
    let without = Select {
        findings: false,
        ..Select::ALL
    };
    for (name, bytes) in &files {
        let source = Source::new(name, bytes);
        let first = fill(&source, Select::ALL, &mut whole).map_err(|e| e.to_string());
        let second = fill(&source, without, &mut streamed).map_err(|e| e.to_string());
        assert_eq!(first, second, "{name}");
    }
    let (whole, streamed) = (all_values(&mut whole), all_values(&mut streamed));
    for (a, b) in whole.iter().zip(&streamed) {
        if a.0 != "findings" {
            assert!(a == b, "{} {}", a.0, a.1);
            assert!(!a.2.is_empty());
        }
    }
}

#[test]
fn tables_go_back_to_where_they_were() {
    let [mut once, mut back] = [Tables::default(), Tables::default()];
    let bytes = fixture("subgroups_skl_v36.isa");
    let other = fixture("images_dg2_v41.isa");
    fill(&Source::new("a", &bytes), Select::ALL, &mut once).unwrap();
    fill(&Source::new("a", &bytes), Select::ALL, &mut back).unwrap();
    let lengths = back.lengths();
    for _ in 0..3 {
        fill(&Source::new("b", &other), Select::ALL, &mut back).unwrap();
        assert_ne!(back.lengths(), lengths);
        back.truncate(&lengths);
    }
    fill(&Source::new("b", &other), Select::ALL, &mut once).unwrap();
    fill(&Source::new("b", &other), Select::ALL, &mut back).unwrap();
    assert_eq!(all_values(&mut once), all_values(&mut back));
}

#[test]
fn damaged_files_have_rows_for_what_can_be_read() {
    let bytes = fixture("subgroups_skl_v36.isa");
    let mut tables = Tables::default();
    let nothing = Source::new("no object", b"nothing");
    assert!(fill(&nothing, Select::ALL, &mut tables).is_err());
    assert_eq!((tables.objects.rows(), tables.routines.rows()), (1, 0));
    for cut in (0..bytes.len()).step_by(97) {
        let mut damaged = bytes.clone();
        damaged.truncate(cut);
        fill(&Source::new("cut", &damaged), Select::ALL, &mut tables).ok();
        let mut damaged = bytes.clone();
        damaged[cut] ^= 0xff;
        fill(&Source::new("changed", &damaged), Select::ALL, &mut tables).ok();
    }
    assert!(tables.findings.rows() > 0);
}

#[test]
fn fingerprints_tell_exact_renamed_changed_and_unrelated() {
    let bytes = fixture("subgroups_skl_v36.isa");
    let object = visakit_parse::read(&bytes).unwrap();
    let mut renamed = object.clone();
    visakit_rewrite::strip(&mut renamed, visakit_rewrite::Strip::ALL);
    let mut changed = object.clone();
    let code = changed.kernels[0].body_mut().unwrap();
    for instruction in code.instructions_mut().take(6) {
        if let Some(Value::Vector(visakit_isa::VectorOperand::General(o))) =
            instruction.get_mut(FieldName::Dst)
        {
            o.variable = VarId(40);
        }
    }
    let other = fixture("images_dg2_v41.isa");
    let other = visakit_parse::read(&other).unwrap();
    let mut collection = Collection::default();
    for object in [&object, &renamed, &changed, &other] {
        collection.add(fingerprint(object));
    }
    let mut found = collection.similar_to(&fingerprint(&object), THRESHOLD);
    found.sort_by_key(|s| s.entry);
    let relations: Vec<_> = found.iter().map(|s| s.relation).collect();
    use Relation::{Exact, Recompiled, Renamed, Unrelated};
    assert_eq!(relations, [Exact, Renamed, Recompiled, Unrelated]);
    assert!(found.iter().take(3).all(|s| s.same_flow));
}

/// Devices with narrower instructions have one for each part of the lanes, and not all have those with three sources.
#[test]
fn features_do_not_depend_on_the_device() {
    let features = |lines: &str| {
        let text = format!(
            ".version 4.1\n.kernel \"k\"\n.decl A v_type=G type=f num_elts=32 align=GRF\n\
             .decl B v_type=G type=d num_elts=32 align=GRF\n.kernel_attr SimdSize=32\n{lines}ret (M1, 1)\n"
        );
        let object = visakit_text::asm::assemble(text.as_bytes(), &Default::default()).unwrap();
        fingerprint(&object).features
    };
    let wide = features(
        "mad (M1, 32) A(0,0)<1> A(0,0)<1;1,0> A(0,0)<1;1,0> A(0,0)<1;1,0>\n\
         add3 (M1, 32) B(0,0)<1> B(0,0)<1;1,0> B(0,0)<1;1,0> B(0,0)<1;1,0>\n",
    );
    let narrow = features(
        "mul (M1, 16) A(0,0)<1> A(0,0)<1;1,0> A(0,0)<1;1,0>\n\
         mul (M5, 16) A(2,0)<1> A(2,0)<1;1,0> A(2,0)<1;1,0>\n\
         add (M1, 16) A(0,0)<1> A(0,0)<1;1,0> A(0,0)<1;1,0>\n\
         add (M5, 16) A(2,0)<1> A(2,0)<1;1,0> A(2,0)<1;1,0>\n\
         add (M1, 16) B(0,0)<1> B(0,0)<1;1,0> B(0,0)<1;1,0>\n\
         add (M5, 16) B(2,0)<1> B(2,0)<1;1,0> B(2,0)<1;1,0>\n",
    );
    assert_eq!(wide, narrow);
    let other = features("mul (M1, 32) A(0,0)<1> A(0,0)<1;1,0> A(0,0)<1;1,0>\n");
    assert_ne!(wide, other);
}

#[test]
fn patterns_find_what_a_plain_loop_finds() {
    for (name, bytes) in fixtures() {
        let object = visakit_parse::read(&bytes).unwrap();
        let pattern: Pattern = "m?v* exec>=16 type!=f".parse().unwrap();
        let found = search(&object, &pattern);
        let mut expected = 0;
        for (_, routine) in object.routines() {
            for instruction in routine.body().unwrap().instructions() {
                let def = instruction.def();
                let called = def
                    .mnemonics
                    .iter()
                    .any(|m| m.starts_with('m') && m.get(2..3) == Some("v"));
                let row =
                    visakit_corpus::describe(instruction, routine.body().unwrap(), object.format());
                let wide = row.exec_size.is_some_and(|size| size >= 16);
                expected += usize::from(called && wide && row.ty.is_none_or(|ty| ty.0 != "f"));
            }
        }
        assert_eq!(found.matches.len(), expected, "{name}");
    }
}

/// The table of patterns in the guide.
#[test]
fn patterns_of_the_guide_match_as_often_as_it_says() {
    let mut objects: Vec<Vec<u8>> = fixtures().into_iter().map(|(_, bytes)| bytes).collect();
    for folder in ["kernels", "check", "programs", "audit"] {
        for entry in std::fs::read_dir(visakit_testing::fixtures().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "visaasm") {
                let text = std::fs::read(&path).unwrap();
                let object = visakit_text::asm::assemble(&text, &Default::default())
                    .unwrap_or_else(|faults| panic!("{}: {}", path.display(), faults[0].message));
                objects.push(visakit_encode::write(&object).unwrap());
            }
        }
    }
    let guide = visakit_testing::fixtures().join("../docs/corpus.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let rows = guide
        .lines()
        .skip_while(|line| !line.starts_with("| pattern |"));
    let rows: Vec<_> = rows
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    assert!(rows.len() >= 20, "{rows:?}");
    let mut wrong = Vec::new();
    for row in rows {
        let (_, row) = row.split_once('`').unwrap();
        let (pattern, row) = row.split_once('`').unwrap();
        let said: usize = row.split('|').nth(1).unwrap().trim().parse().unwrap();
        let found: usize = objects
            .iter()
            .map(|bytes| {
                let object = visakit_parse::read(bytes).unwrap();
                search(&object, &pattern.parse().unwrap()).matches.len()
            })
            .sum();
        if said != found {
            wrong.push(format!("{pattern}: {found}, not {said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn distance_flow_and_variables_bind() {
    let bytes = fixture("subgroups_skl_v36.isa");
    let object = visakit_parse::read(&bytes).unwrap();
    let count = |pattern: &str| {
        search(&object, &pattern.parse::<Pattern>().unwrap())
            .matches
            .len()
    };
    assert_eq!(count("shl dst=$x -> addr_add reads=$x"), 2);
    assert_eq!(count("shl dst=$x ->2 addr_add reads=$x"), 2);
    assert_eq!(count("shl dst=$x -> addr_add reads!=$x"), 0);
    // What lies between decides.
    assert_eq!(count("shl ->any without(addr_add) ret"), 0);
    assert_eq!(count("ret ->any *"), 0);
    assert!(count("* imm=0x76543210") == 1 && count("cmp pred=none") > 0);
}

#[test]
fn patterns_say_what_is_wrong_and_where() {
    for (pattern, column) in [
        ("", 1),
        ("mov ->", 7),
        ("mov ->0 add", 7),
        ("mov colour=red", 5),
        ("mov exec>red", 5),
        ("mov exec=", 5),
        ("mov dst", 5),
        ("mov -> without mul add", 16),
        ("mov -> without(mul add", 20),
        ("mov )", 5),
        // Patterns that nothing can match.
        ("mov -> lsc_load.ugm.d64", 8),
        ("add|mul", 1),
        ("^mov$", 6),
        ("goto -> label", 9),
        ("mov type=d64", 5),
        ("* group=maths", 3),
        ("* memory=read", 3),
        ("* space=global", 3),
        ("* mask=M9", 3),
        ("lsc_load* data_size=q", 11),
        ("mov imm=0xff..0x100", 5),
        ("* exec=wide", 3),
    ] {
        let error = pattern.parse::<Pattern>().unwrap_err();
        assert_eq!(error.column + 1, column, "{pattern}: {error}");
    }
}

/// Patterns that users write; each matches something in the fixtures or is known to match nothing.
#[test]
fn patterns_of_users_are_taken() {
    for pattern in [
        "MAD",
        "LSC_LOAD",
        "lsc_load*",
        "lsc_load.ugm data_size=d64 dst=$x mask=$m ->4 * reads=$x mask!=$m",
        "lsc_load.slm exec>=16",
        "* group=data-port",
        "* flow=goto pred!=none",
        "cmp dst=$p -> * pred=$p",
        "* memory=store space=slm ->any without(barrier) * memory=load space=slm",
        "* memory=prefetch",
        "* type=df",
        "* type=?f",
        "mov mask=*_NM",
        "mov imm=0x0",
        "mov imm=-1",
        "shl src1=2",
        "* writes=V0078",
        "goto label=$l ->any goto label=$l",
        "* cache_l1=uc",
        "* op=*",
    ] {
        if let Err(error) = pattern.parse::<Pattern>() {
            panic!("{pattern}: {error}");
        }
    }
}

#[test]
fn hostile_patterns_and_loops_end() {
    let config = visakit_smith::Config::default();
    let pattern: Pattern = "* dst=$a ->any * dst=$b ->any * dst=$c ->any * exec=64"
        .parse()
        .unwrap();
    for seed in 0..5 {
        let object = visakit_smith::from_seed(seed, &config);
        let _ = search(&object, &pattern);
        fingerprint(&object);
    }
}
