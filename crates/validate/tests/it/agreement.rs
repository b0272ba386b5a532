//! Single faults, judged by this crate and by the verifier of Intel's own tool.
//!
//! GenX_IR refuses a text if its verifier does. Every case is a text with one instruction, most of them
//! with one fault; the table that the test prints says where the two judge alike.

#![allow(clippy::disallowed_methods, reason = "tests")]
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout
)]

use crate::common;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use visakit_validate::Severity;

struct Case {
    family: &'static str,
    platform: &'static str,
    declarations: String,
    line: String,
}

/// Variables of the common declarations, by type.
const TYPES: [(&str, &str); 11] = [
    ("d", "D0"),
    ("ud", "U0"),
    ("w", "W0"),
    ("ub", "B0"),
    ("f", "F0"),
    ("hf", "H0"),
    ("df", "X0"),
    ("q", "Q0"),
    ("uq", "Z0"),
    ("w2", "W0"),
    ("ud2", "U1"),
];

/// Instructions that compute, with their number of sources.
const COMPUTE: [(&str, usize, &str); 40] = [
    ("add", 2, "SKL"),
    ("mul", 2, "SKL"),
    ("mad", 3, "SKL"),
    ("avg", 2, "SKL"),
    ("div", 2, "SKL"),
    ("mod", 2, "SKL"),
    ("mulh", 2, "SKL"),
    ("lrp", 3, "SKL"),
    ("exp", 1, "SKL"),
    ("log", 1, "SKL"),
    ("pow", 2, "SKL"),
    ("sin", 1, "SKL"),
    ("cos", 1, "SKL"),
    ("sqrt", 1, "SKL"),
    ("rsqrt", 1, "SKL"),
    ("inv", 1, "SKL"),
    ("frc", 1, "SKL"),
    ("rndd", 1, "SKL"),
    ("rnde", 1, "SKL"),
    ("lzd", 1, "SKL"),
    ("dp4", 2, "SKL"),
    ("sqrtm", 1, "SKL"),
    ("divm", 2, "SKL"),
    ("sad2", 2, "SKL"),
    ("sad2add", 3, "SKL"),
    ("dp4a", 3, "TGLLP"),
    ("add3", 3, "XeHP_SDV"),
    ("shl", 2, "SKL"),
    ("shr", 2, "SKL"),
    ("asr", 2, "SKL"),
    ("and", 2, "SKL"),
    ("or", 2, "SKL"),
    ("not", 1, "SKL"),
    ("cbit", 1, "SKL"),
    ("fbl", 1, "SKL"),
    ("fbh", 1, "SKL"),
    ("bfe", 3, "SKL"),
    ("bfrev", 1, "SKL"),
    ("rol", 2, "TGLLP"),
    ("ror", 2, "PVC"),
];

fn compute(mnemonic: &str, sources: usize, dst: &str, src: &str, prefix: &str) -> String {
    let mut line = format!("{mnemonic} (M1, 8) {dst}(0,0)<1>");
    for n in 0..sources {
        let prefix = if n == 0 { prefix } else { "" };
        line.push_str(&format!(" {prefix}{src}(0,0)<1;1,0>"));
    }
    line
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |family, platform, line: String| {
        cases.push(Case {
            family,
            platform,
            declarations: String::new(),
            line,
        });
    };
    for (mnemonic, sources, platform) in COMPUTE {
        for (_, variable) in TYPES.iter().take(9) {
            add(
                "types",
                platform,
                compute(mnemonic, sources, variable, variable, ""),
            );
        }
        let own = match mnemonic {
            "exp" | "log" | "pow" | "sin" | "cos" | "sqrt" | "rsqrt" | "inv" | "frc" | "rndd"
            | "rnde" | "lrp" | "dp4" | "sqrtm" | "divm" => "F0",
            "lzd" | "cbit" | "fbl" | "bfrev" => "U0",
            _ => "D0",
        };
        for prefix in ["(-)", "(abs)", "(~)"] {
            add(
                "modifiers",
                platform,
                compute(mnemonic, sources, own, own, prefix),
            );
        }
        let saturated = format!("{mnemonic}.sat");
        add(
            "saturation",
            platform,
            compute(&saturated, sources, own, own, ""),
        );
    }
    for mnemonic in ["add", "mul", "and"] {
        for (_, dst) in TYPES.iter().take(9) {
            for (_, src) in TYPES.iter().take(9) {
                add("mixed types", "SKL", compute(mnemonic, 2, dst, src, ""));
            }
        }
    }
    for lanes in [1, 2, 4, 8, 16, 32] {
        for mask in 1..=8 {
            add(
                "masks",
                "SKL",
                format!("mov (M{mask}, {lanes}) D0(0,0)<1> D1(0,0)<0;1,0>"),
            );
        }
        for region in [
            "0;1,0", "1;1,0", "8;8,1", "16;16,1", "4;4,1", "2;2,2", "8;4,2", "16;8,2", "32;8,4",
        ] {
            add(
                "regions",
                "SKL",
                format!("mov (M1, {lanes}) D0(0,0)<1> D1(0,0)<{region}>"),
            );
            add(
                "regions",
                "SKL",
                format!("mov (M1, {lanes}) D0(0,0)<1> r[A0(0),0]<{region}>:d"),
            );
        }
        for stride in [0, 1, 2, 4] {
            add(
                "regions",
                "SKL",
                format!("mov (M1, {lanes}) D0(0,0)<{stride}> D1(0,0)<0;1,0>"),
            );
        }
        add(
            "regions",
            "SKL",
            format!("mov (M1, {lanes}) D0(0,0)<1> r[A0(0),0]<1,0>:d"),
        );
    }
    let controls = ["df", "uc", "ca", "wb", "wt", "st", "ri"];
    for l1 in controls {
        for l3 in controls {
            add(
                "lsc caching",
                "PVC",
                format!("lsc_load.ugm.{l1}.{l3} (M1, 16) D0:d32 flat[Z0]:a64"),
            );
            add(
                "lsc caching",
                "PVC",
                format!("lsc_store.ugm.{l1}.{l3} (M1, 16) flat[Z0]:a64 D0:d32"),
            );
            add(
                "lsc caching",
                "PVC",
                format!("lsc_atomic_iadd.ugm.{l1}.{l3} (M1, 16) D0:d32 flat[Z0]:a64 D1 %null"),
            );
        }
    }
    for unit in ["ugm", "ugml", "slm"] {
        for size in ["d8c32", "d16c32", "d32", "d64", "d8", "d16"] {
            for vector in ["", "x2", "x3", "x4", "x8", "x16", "x64t", "x2t"] {
                let address = if unit == "slm" {
                    "flat[U0]:a32"
                } else {
                    "flat[Z0]:a64"
                };
                for lanes in [1, 16] {
                    add(
                        "lsc shapes",
                        "PVC",
                        format!("lsc_load.{unit} (M1, {lanes}) D0:{size}{vector} {address}"),
                    );
                }
            }
        }
        for address in [
            "flat[U0]:a16",
            "flat[U0]:a32",
            "flat[Z0]:a64",
            "bti(0x4)[U0]:a32",
        ] {
            add(
                "lsc addresses",
                "PVC",
                format!("lsc_load.{unit} (M1, 16) D0:d32 {address}"),
            );
        }
        for op in ["fadd", "iadd", "icas", "iinc", "umax"] {
            for size in ["d32", "d64", "d16c32"] {
                let data = match op {
                    "icas" => "D0 D1",
                    "iinc" => "%null %null",
                    _ => "D1 %null",
                };
                add(
                    "lsc atomics",
                    "PVC",
                    format!("lsc_atomic_{op}.{unit} (M1, 16) D0:{size} flat[U0]:a32 {data}"),
                );
            }
        }
    }
    for mask in ["x", "xy", "xz", "y", "xyz", "xyw", "xyzw", "w"] {
        add(
            "lsc shapes",
            "DG2",
            format!("lsc_store_quad.ugm (M1, 16) flat[U0]:a32 D0:d32.{mask}"),
        );
        add(
            "lsc shapes",
            "DG2",
            format!("lsc_load_quad.ugm (M1, 16) D0:d32.{mask} flat[U0]:a32"),
        );
    }
    for scope in ["group", "local", "tile", "gpu"] {
        for op in ["none", "evict", "invalidate", "clean"] {
            add("lsc fences", "DG2", format!("lsc_fence.slm.{op}.{scope}"));
            add("lsc fences", "DG2", format!("lsc_fence.ugm.{op}.{scope}"));
        }
    }
    for width in [1, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65] {
        for height in [1, 4, 8, 16, 32, 64, 65] {
            add(
                "media blocks",
                "SKL",
                format!("media_ld.nomod ({width},{height}) T6 0x0:ud 0x0:ud D0.0"),
            );
        }
    }
    for platform in ["BDW", "SKL", "ICLLP", "TGLLP", "XeHP_SDV", "DG2", "PVC"] {
        for (mnemonic, sources, _) in COMPUTE {
            let own = match mnemonic {
                "exp" | "sqrtm" | "divm" | "lrp" | "frc" => "F0",
                "sad2" | "sad2add" => continue,
                "mulh" | "dp4a" | "div" | "mod" | "rol" | "add3" | "add" => "D0",
                _ => continue,
            };
            add(
                "platforms",
                platform,
                compute(mnemonic, sources, own, own, ""),
            );
        }
        for line in [
            "inv (M1, 4) X0(0,0)<1> X0(0,0)<1;1,0>",
            "lsc_load.ugm (M1, 8) D0:d32 flat[U0]:a32",
            "oword_ld (1) %slm 0x0:ud D0.0",
            "mul (M1, 8) F0(0,0)<1> N0(0,0)<1;1,0> F1(0,0)<1;1,0>",
            "shl (M1, 4) Q0(0,0)<1> Q0(0,0)<1;1,0> 0x1:ud",
            "rol (M1, 4) Z0(0,0)<1> Z0(0,0)<1;1,0> 0x1:ud",
        ] {
            add("platforms", platform, line.to_owned());
        }
    }
    for (rule, platform, declarations, lines) in common::texts::faults() {
        let platform = match (platform, rule.number / 100) {
            ("skl", _) => "SKL",
            ("icllp", _) => "ICLLP",
            ("tgllp", _) => "TGLLP",
            ("xehp", _) => "XeHP_SDV",
            ("pvc", _) => "PVC",
            ("xe3p", _) => continue,
            ("dg2", _) => "DG2",
            _ if lines.starts_with("lsc") => "PVC",
            _ if lines.starts_with("fcvt") => "PVC",
            _ if lines.starts_with("dp4a") => "TGLLP",
            _ => "SKL",
        };
        cases.push(Case {
            family: "one for each rule",
            platform,
            declarations: (*declarations).to_owned(),
            line: (*lines).to_owned(),
        });
    }
    cases
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Accepts,
    /// The verifier, or the parser before it.
    Refuses,
    /// The finalizer that runs after the verifier gives up or crashes.
    Crashes,
}

/// The result of GenX_IR, and the first words of its message.
fn theirs(folder: &Path, platform: &str, text: &str) -> (Verdict, String) {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("k.visaasm"), text).unwrap();
    let run = Command::new("GenX_IR")
        .args(["k.visaasm", "-platform", platform])
        .current_dir(folder)
        .output()
        .unwrap();
    let errors = fs::read(folder.join("k.errors.txt")).unwrap_or_default();
    let errors = String::from_utf8_lossy(&errors).into_owned();
    if !errors.is_empty() {
        let message = errors
            .lines()
            .find_map(|line| line.trim().strip_prefix("Error Message:"));
        let lsc = || errors.lines().find(|line| line.starts_with(" * "));
        let said = message.or_else(lsc).unwrap_or("").trim().to_owned();
        return (Verdict::Refuses, said);
    }
    if run.status.success() {
        return (Verdict::Accepts, String::new());
    }
    let said =
        String::from_utf8_lossy(&run.stderr).into_owned() + &String::from_utf8_lossy(&run.stdout);
    let first = said
        .lines()
        .find(|l| !l.trim().is_empty())
        .unwrap_or("")
        .to_owned();
    match run.status.code() {
        Some(_) if said.contains("k.visaasm:") || said.contains("rror") => {
            (Verdict::Refuses, first)
        }
        _ => (Verdict::Crashes, first),
    }
}

#[test]
fn the_verifier_of_genx_ir_judges_alike() {
    if Command::new("GenX_IR").output().is_err() {
        use std::io::Write as _;
        let _ = writeln!(
            std::io::stderr(),
            "NOT RUN: findings are not compared with GenX_IR, which is not installed"
        );
        return;
    }
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("agreement");
    // Per family and rule: all, both accept, both refuse, only this crate, only GenX_IR, crashes.
    let mut families: BTreeMap<&str, [u32; 6]> = BTreeMap::new();
    let mut rules: BTreeMap<String, [u32; 3]> = BTreeMap::new();
    let mut apart: BTreeMap<String, (u32, String)> = BTreeMap::new();
    for case in cases() {
        let text = common::text(&case.declarations, &case.line);
        let (mine, rule) = match common::assembled(&text) {
            Err(error) => (Verdict::Refuses, format!("V0002-text-fault: {error}")),
            Ok(object) => {
                let report = common::report(&object, case.platform);
                let first = report
                    .findings
                    .iter()
                    .find(|f| f.rule.severity == Severity::Error);
                match first {
                    Some(finding) => (Verdict::Refuses, finding.rule.id().to_string()),
                    None => (Verdict::Accepts, String::new()),
                }
            }
        };
        let (other, said) = theirs(&folder, case.platform, &text);
        let row = families.entry(case.family).or_default();
        row[0] += 1;
        let column = match (mine, other) {
            (_, Verdict::Crashes) => 5,
            (Verdict::Accepts, Verdict::Accepts) => 1,
            (Verdict::Refuses, Verdict::Refuses) => 2,
            (Verdict::Refuses, _) => 3,
            _ => 4,
        };
        row[column] += 1;
        let name = rule.split(':').next().unwrap().to_owned();
        if mine == Verdict::Refuses {
            let row = rules.entry(name.clone()).or_default();
            row[0] += 1;
            row[1] += u32::from(column == 2);
            row[2] += u32::from(column == 5);
        }
        if column == 3 || column == 4 {
            let who = if column == 3 {
                "only visakit"
            } else {
                "only GenX_IR"
            };
            let what = if column == 3 { &rule } else { &said };
            let what: String = what
                .chars()
                .map(|c| {
                    if c.is_ascii_digit() && column == 4 {
                        'N'
                    } else {
                        c
                    }
                })
                .take(110)
                .collect();
            let entry = apart.entry(format!("{who}: {what}")).or_default();
            entry.0 += 1;
            entry.1 = format!("{} on {}", case.line.replace('\n', " / "), case.platform);
        }
    }
    println!(
        "| family | cases | both accept | both refuse | only visakit | only GenX_IR | GenX_IR fails |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut total = [0; 6];
    for (family, row) in &families {
        print_row(family, row);
        for (sum, n) in total.iter_mut().zip(row) {
            *sum += n;
        }
    }
    print_row("all", &total);
    println!("\n| rule | refused | GenX_IR too | GenX_IR fails |\n|---|---|---|---|");
    for (rule, [all, agreed, crashed]) in &rules {
        println!("| {rule} | {all} | {agreed} | {crashed} |");
    }
    println!();
    for (what, (count, example)) in &apart {
        println!("* {count} x {what} (`{example}`)");
    }
    let judged = total[0] - total[5];
    let alike = total[1] + total[2];
    println!("\n{alike} of {judged} judged alike");
    assert!(total[0] > 900, "{}", total[0]);
    assert!(alike * 100 >= judged * 95, "{alike} of {judged}");
}

fn print_row(name: &str, row: &[u32; 6]) {
    let cells: Vec<String> = row.iter().map(ToString::to_string).collect();
    println!("| {name} | {} |", cells.join(" | "));
}
