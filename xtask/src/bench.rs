//! `cargo xtask bench [NAME...]`: runs benches and writes their tables into BENCHMARKS.md.
//!
//! The page has a block for each [`Table`], between the comments `<!-- bench: NAME -->` and `<!-- end -->`. What it says
//! outside of blocks is written by hand.

use crate::{Done, cargo};
use std::error::Error;
use std::fmt::Write as _;
use std::process::Command;

/// A block of the page.
struct Table {
    name: &'static str,
    make: fn() -> Result<String, Box<dyn Error>>,
}

const TABLES: [Table; 5] = [
    Table {
        name: "machine",
        make: machine,
    },
    Table {
        name: "codec",
        make: || divans("visakit", "codec"),
    },
    Table {
        name: "text",
        make: || divans("visakit", "text"),
    },
    Table {
        name: "kernels",
        make: kernels,
    },
    Table {
        name: "costs",
        make: costs,
    },
];

/// The page, from the root of the checkout.
const PAGE: &str = "BENCHMARKS.md";

pub(crate) fn run(names: &[String]) -> Done {
    if let Some(other) = names.iter().find(|n| TABLES.iter().all(|t| t.name != **n)) {
        let known = TABLES.map(|t| t.name).join(", ");
        return Err(format!("no table is called {other}: there are {known}").into());
    }
    let path = visakit_testing::root().join(PAGE);
    for table in &TABLES {
        if !names.is_empty() && !names.iter().any(|n| n == table.name) {
            continue;
        }
        println!("{}", table.name);
        let made = (table.make)()?;
        // Read again for each, so that what was measured is kept where a later bench fails.
        let page = std::fs::read_to_string(&path)?;
        std::fs::write(&path, replaced(&page, table.name, &made)?)?;
    }
    println!("now read what changed: git diff {PAGE}");
    Ok(())
}

/// The page with another content of a block.
fn replaced(page: &str, name: &str, made: &str) -> Result<String, Box<dyn Error>> {
    let begin = format!("<!-- bench: {name} -->\n");
    let (before, rest) = page
        .split_once(&begin)
        .ok_or_else(|| format!("{PAGE} has no line {}", begin.trim()))?;
    let (_, after) = rest
        .split_once("<!-- end -->")
        .ok_or_else(|| format!("{PAGE}: block {name} has no end"))?;
    let made = made.trim_end();
    Ok(format!("{before}{begin}{made}\n<!-- end -->{after}"))
}

/// What a command prints to standard output.
fn printed(command: &mut Command) -> Result<String, Box<dyn Error>> {
    let output = command
        .current_dir(visakit_testing::root())
        .stderr(std::process::Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(format!("{command:?} failed: {}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Processor, compiler and month.
fn machine() -> Result<String, Box<dyn Error>> {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = info.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let model = field("model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let flags = field("flags").unwrap_or_default();
    let widest = [("avx512f", "AVX-512"), ("avx2", "AVX2")]
        .into_iter()
        .find(|(flag, _)| flags.split(' ').any(|f| f == *flag));
    let cores = std::thread::available_parallelism()?;
    let rustc = printed(Command::new("rustc").arg("--version"))?;
    let version = rustc.split(' ').nth(1).unwrap_or_default();
    let month = printed(Command::new("date").arg("+%Y-%m"))?;
    Ok(format!(
        "{model} with {}, {cores} virtual cores, rustc {version}, {}.",
        widest.map_or("no wide vectors", |(_, name)| name),
        month.trim()
    ))
}

/// A row of a bench.
#[derive(Debug, Default, PartialEq)]
struct Row {
    /// Names from the outermost group on, without that of the program.
    path: Vec<String>,
    median: String,
    /// Seconds.
    seconds: f64,
    /// Bytes a second, as printed.
    bytes: String,
    /// Items a second.
    items: Option<f64>,
    allocations: String,
}

/// The rows of what divan prints: a tree of names, with the fastest, slowest, median and mean time, and below each of its rates
/// and the allocations.
fn rows(text: &str) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut path: Vec<String> = Vec::new();
    let mut counts_allocations = false;
    for line in text.lines() {
        let depth = line
            .chars()
            .take_while(|c| "│├╰─ ".contains(*c))
            .collect::<String>();
        let rest = line.strip_prefix(&depth).unwrap_or(line);
        let is_row = depth.trim_end().ends_with('─');
        let mut cells = rest.split('│').map(str::trim);
        let first = cells.next().unwrap_or_default();
        if is_row {
            let level = depth.chars().count() / 3;
            let (name, has_time) = match first.split_once("  ") {
                Some((name, time)) => (name, !time.trim().is_empty()),
                None => (first, false),
            };
            path.truncate(level.saturating_sub(1));
            path.push(name.to_owned());
            counts_allocations = false;
            if has_time {
                let median = cells.nth(1).unwrap_or_default();
                rows.push(Row {
                    path: path.clone(),
                    median: median.to_owned(),
                    seconds: scaled(median, "s").unwrap_or(f64::NAN),
                    ..Row::default()
                });
            }
            continue;
        }
        let Some(row) = rows.last_mut() else { continue };
        let median = cells.nth(1).unwrap_or_default();
        if first.ends_with("alloc:") && !first.starts_with("dealloc") {
            counts_allocations = true;
        } else if counts_allocations {
            row.allocations = median.to_owned();
            counts_allocations = false;
        } else if median.ends_with("B/s") {
            row.bytes = median.to_owned();
        } else if median.ends_with("item/s") {
            row.items = scaled(median, "item/s");
        }
    }
    rows
}

/// A number with a unit, such as `35.36 µs` or `1.5 Kitem/s`.
fn scaled(text: &str, unit: &str) -> Option<f64> {
    let (number, suffix) = text.split_once(' ')?;
    let scale = match suffix.strip_suffix(unit)? {
        "" => 1.0,
        "n" => 1e-9,
        "µ" => 1e-6,
        "m" => 1e-3,
        "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        _ => return None,
    };
    Some(number.parse::<f64>().ok()? * scale)
}

/// The rows of a bench.
fn measured(
    package: &str,
    bench: &str,
    filter: &[&str],
) -> Result<(String, Vec<Row>), Box<dyn Error>> {
    let mut command = cargo();
    command.args(["bench", "--quiet", "-p", package, "--bench", bench, "--"]);
    let text = printed(command.args(filter))?;
    let rows = rows(&text);
    if rows.is_empty() {
        return Err(format!("{package}, {bench}: no rows in what it printed:\n{text}").into());
    }
    let head = text.lines().next().unwrap_or_default();
    Ok((head.to_owned(), rows))
}

/// The table of a bench: columns that no row has are left out, and groups that only show what the others are made of.
fn divans(package: &str, bench: &str) -> Result<String, Box<dyn Error>> {
    let (head, mut rows) = measured(package, bench, &[])?;
    rows.retain(|row| {
        !matches!(
            row.path.first().map(String::as_str),
            Some("primitives" | "walk")
        )
    });
    Ok(format!(
        "`cargo bench -p {package} --bench {bench}`, {head}.\n\n{}",
        table(&rows)
    ))
}

fn table(rows: &[Row]) -> String {
    let cells = |row: &Row| {
        let (name, group) = row
            .path
            .split_last()
            .map_or(("", String::new()), |(name, group)| {
                (name.as_str(), group.join(" "))
            });
        let item = row.items.map(|items| format!("{:.1}", 1e9 / items));
        [
            group,
            name.to_owned(),
            row.median.clone(),
            row.bytes.clone(),
            item.unwrap_or_default(),
            row.allocations.clone(),
        ]
    };
    let heads = [
        "group",
        "bench",
        "median",
        "bytes/s",
        "ns an item",
        "allocations",
    ];
    let all: Vec<_> = rows.iter().map(cells).collect();
    let used = |column: usize| all.iter().any(|row| !row[column].is_empty());
    let columns: Vec<usize> = (0..heads.len()).filter(|c| used(*c)).collect();
    let mut text = String::new();
    let mut line = |cell: &dyn Fn(usize) -> String| {
        let cells: Vec<_> = columns.iter().map(|c| cell(*c)).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    };
    line(&|column| heads[column].to_owned());
    line(&|_| "---".to_owned());
    for row in &all {
        line(&|column| row[column].clone());
    }
    text
}

/// Kernels on visakit and on other implementations.
fn kernels() -> Result<String, Box<dyn Error>> {
    let (said, table) = peers(&[])?;
    Ok(format!(
        "`cargo run --release --manifest-path tools/peers/Cargo.toml`, {}.\n\n{}",
        said.join(", "),
        table.join("\n")
    ))
}

/// What the comparison with other implementations prints: lines, and a table.
fn peers(options: &[&str]) -> Result<(Vec<String>, Vec<String>), Box<dyn Error>> {
    let mut command = cargo();
    command.args(["run", "--quiet", "--release", "--manifest-path"]);
    command.args(["tools/peers/Cargo.toml", "--"]).args(options);
    let text = printed(&mut command)?;
    let lines = text.lines().map(str::to_owned);
    let (table, said): (Vec<_>, _) = lines.partition(|line| line.starts_with('|'));
    if table.is_empty() {
        return Err(format!("no table in what the comparison printed:\n{text}").into());
    }
    Ok((said, table))
}

/// What translation, machine code and single instructions take.
fn costs() -> Result<String, Box<dyn Error>> {
    let mut text = String::from("| what | command | result |\n|---|---|---|\n");
    let (_, rows) = measured(
        "visakit-launch",
        "kernels",
        &["translation_with_all_passes"],
    )?;
    let items = rows.iter().filter_map(|row| Some(1e6 / row.items?));
    let _ = writeln!(
        text,
        "| translation, all passes | `cargo bench -p visakit-launch -- translation` | {} µs an instruction |",
        range(items)
    );
    let mut command = cargo();
    command.args([
        "run",
        "--quiet",
        "--release",
        "-p",
        "visakit-internal-jit",
        "--example",
        "cost",
        "--",
    ]);
    let mut kernels: Vec<_> = std::fs::read_dir(visakit_testing::fixtures().join("kernels"))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "visaasm"))
        .collect();
    kernels.sort();
    let printed = printed(command.args(&kernels))?;
    let of = |device: &str| {
        let lines = printed.lines().filter(|line| line.contains(device));
        range(lines.filter_map(|line| line.split_whitespace().nth(3)?.parse().ok()))
    };
    let _ = writeln!(
        text,
        "| machine code | `cargo run --release -p visakit-internal-jit --example cost -- fixtures/kernels/*.visaasm` | \
         {} µs an instruction for PVC, {} for DG2 |",
        of(".pvc."),
        of(".dg2.")
    );
    let (_, rows) = measured("visakit-internal-exec", "arithmetic", &["systolic"])?;
    let each: Vec<String> = rows
        .iter()
        // A run is four instructions.
        .map(|row| {
            let name = row.path.last().map_or("", String::as_str);
            format!("{name} {:.2}", row.seconds * 1e6 / 4.0)
        })
        .collect();
    let _ = writeln!(
        text,
        "| systolic products in the interpreter (8 rows, 16 lanes, depth 8) | `cargo bench -p visakit-internal-exec -- systolic` | \
         {} µs |",
        each.join(", ")
    );
    let (_, table) = peers(&["--gemm"])?;
    // The product, its rate by each compiler, and the best one beside OpenBLAS.
    let products = table.iter().skip(2).filter_map(|line| {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        let ([name, .., best], ratio) = cells.split_last().map(|(ratio, rest)| (rest, ratio))?
        else {
            return None;
        };
        Some(format!("{name} {best} ({ratio})"))
    });
    let _ = writeln!(
        text,
        "| products of matrices of 512 rows and columns in machine code, multiply-adds a nanosecond, and beside OpenBLAS's `sgemm` | \
         `cargo run --release --manifest-path tools/peers/Cargo.toml -- --gemm` | {} |",
        products.collect::<Vec<_>>().join(", ")
    );
    Ok(text)
}

/// The least and the largest of some numbers.
fn range(numbers: impl Iterator<Item = f64>) -> String {
    let (least, most) = numbers.fold((f64::INFINITY, 0.0_f64), |(least, most), n| {
        (least.min(n), most.max(n))
    });
    format!("{least:.2} to {most:.2}")
}
