//! Outputs of profiles: the page, folded stacks, JSON, comparisons.

use crate::support::{addresses, profile};
use visakit_profile::{Profile, Watched, diff, folded, html};

/// A loop in which lanes part, with messages and a barrier.
fn example(turns: u32) -> Profile {
    let lines = format!(
        "{}lsc_load.ugm (M1, 16) B:d32 flat[PTR]:a64\n\
         mul (M1_NM, 16) A(0,0)<1> ID(0,0)<1;1,0> 0x40:ud\n\
         lsc_store.slm (M1, 16) flat[A]:a32 B:d32\n\
         barrier\n\
         LOOP:\n\
         add (M1_NM, 1) N(0,0)<1> N(0,0)<0;1,0> 0x1:ud\n\
         cmp.lt (M1, 16) P1 ID(0,0)<1;1,0> N(0,0)<0;1,0>\n\
         (P1) goto (M1, 16) SKIP\n\
         add (M1, 16) B(0,0)<1> B(0,0)<1;1,0> 0x1:ud\n\
         SKIP:\n\
         cmp.lt (M1_NM, 1) P2 N(0,0)<0;1,0> 0x{turns:x}:ud\n\
         (P2) jmp (M1, 1) LOOP\n\
         lsc_store.ugm (M1, 16) flat[PTR]:a64 B:d32",
        addresses(8)
    );
    let mut all = Profile::default();
    all.add(profile(&lines, (64, 32), Watched::All, false));
    all
}

/// Every element that is opened is closed, in order, and attributes are in quotes.
fn well_formed(page: &str) {
    const VOID: [&str; 2] = ["meta", "!DOCTYPE"];
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        let tag = &rest[at + 1..];
        let end = tag.find('>').unwrap();
        let (inside, after) = tag.split_at(end);
        rest = &after[1..];
        if let Some(name) = inside.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "before {rest:.60}");
            continue;
        }
        let name = inside.split_whitespace().next().unwrap();
        assert_eq!(inside.matches('"').count() % 2, 0, "{inside}");
        for attribute in inside.split('"').step_by(2).skip(1) {
            // Between values there are names.
            let name = attribute.trim().trim_end_matches('=');
            assert!(!name.contains('='), "{inside}");
        }
        if VOID.contains(&name) {
            continue;
        }
        open.push(name);
        if matches!(name, "script" | "style") {
            let close = format!("</{name}>");
            rest = &rest[rest.find(&close).unwrap()..];
        }
    }
    assert_eq!(open, Vec::<&str>::new());
}

#[test]
fn page() {
    let mut profile = example(4);
    let text = html::page(&profile, "example", |_| None);
    well_formed(&text);
    for part in [
        "Routines",
        "Messages",
        "Divergence",
        "Barriers",
        "Instructions",
        "lang=\"en\"",
    ] {
        assert!(text.contains(part), "{part}");
    }
    // It opens alone.
    for outside in ["http://", "https://", "src=", "@import", "url("] {
        assert!(!text.contains(outside), "{outside}");
    }
    // Whatever names hold, they are text.
    let kernel = &mut profile.kernels[0];
    let evil = "</script><script>alert(1)</script>\"'&\u{1b}".to_owned();
    kernel.kernel.clone_from(&evil);
    kernel.routines[0].name.clone_from(&evil);
    for instruction in &mut kernel.instructions {
        instruction.text.clone_from(&evil);
        instruction.file = Some(evil.clone());
        instruction.line = Some(2);
    }
    let again = profile.kernels.remove(0);
    // Adding recomputes the lines.
    let mut twice = Profile::default();
    twice.add(again.clone());
    twice.add(again);
    let text = html::page(&twice, &evil, |_| Some(format!("one\n{evil}\nthree\n")));
    well_formed(&text);
    assert!(!text.contains("<script>alert"));
    assert_eq!(text.matches("<script>").count(), 1);
    assert!(text.contains("&lt;/script&gt;"));
    well_formed(&html::page(&Profile::default(), "nothing", |_| None));
}

#[test]
fn stacks() {
    let profile = example(4);
    let text = folded(&profile);
    let cycles: u64 = text
        .lines()
        .map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap())
        .sum();
    assert_eq!(cycles, profile.kernels[0].total.cycles);
    assert!(text.lines().all(|line| line.starts_with("k;#")), "{text}");
}

#[test]
fn json_and_back() {
    let profile = example(4);
    let text = serde_json::to_string(&profile).unwrap();
    let back: Profile = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&back).unwrap(), text);
    assert!(
        diff(&profile, &back)
            .iter()
            .all(visakit_profile::KernelDiff::is_empty)
    );
}

#[test]
fn more_turns_are_told() {
    let (old, new) = (example(4), example(8));
    let found = diff(&old, &new);
    assert_eq!(found.len(), 1);
    let adds = found[0].mnemonics.iter().find(|c| c.name == "jmp").unwrap();
    // Four threads, and a turn is a jump.
    assert_eq!((adds.old.executions, adds.new.executions), (16, 32));
    assert!(found[0].mnemonics.iter().all(|c| c.name != "lsc_load.ugm"));
    let gone = diff(&old, &Profile::default());
    assert!(gone[0].new.is_none() && !gone[0].is_empty());
}

/// The numbers of the example, as they are.
#[test]
fn snapshot() {
    let profile = example(4);
    let kernel = &profile.kernels[0];
    let rows = kernel.instructions.iter().map(|i| {
        let counts = i.counts;
        let (times, lanes, cycles) = (counts.executions, counts.lanes, counts.cycles);
        format!(
            "{times:>3} {lanes:>4}/{:<4} {cycles:>4}  {}",
            counts.slots, i.text
        )
    });
    let rows: Vec<_> = rows.collect();
    insta::assert_snapshot!(rows.join("\n"));
}
