//! What becomes of a routine: another instruction, number, condition, type, operand, predicate or order.

use super::Maker;

/// A text, and what takes its place.
const SWAPS: [(&str, &str); 51] = [
    ("add ", "mul "),
    ("and ", "or "),
    ("or ", "xor "),
    ("shl ", "shr "),
    ("asr ", "shr "),
    ("rol ", "ror "),
    (".lt", ".le"),
    (".gt", ".ge"),
    (".eq", ".ne"),
    ("min ", "max "),
    ("addc ", "subb "),
    ("fbl ", "fbh "),
    ("bfe ", "bfi "),
    ("(P1)", "(!P1)"),
    ("(!P2)", "(P2)"),
    ("(P1) ", ""),
    ("P1", "P2"),
    (" UD", " D"),
    (" D", " UD"),
    (" W", " UW"),
    (" UQ", " Q"),
    (" Q", " UQ"),
    (" B", " UB"),
    ("<1;1,0>", "<0;1,0>"),
    ("<2;1,0>", "<0;1,0>"),
    (":d", ":ud"),
    (":w", ":uw"),
    (":q", ":uq"),
    (".sat", ""),
    ("add ", "add.sat "),
    ("(-)", ""),
    ("(abs)", ""),
    ("0x", "0x1"),
    ("D0", "D1"),
    ("D2", "D3"),
    ("Q0", "Q1"),
    ("F1", "F4"),
    ("(M1, 16)", "(M1, 8)"),
    ("(M1, 32)", "(M1, 16)"),
    ("(M1, 1)", "(M1_NM, 1)"),
    ("(M1, 8)", "(M1_NM, 8)"),
    ("(M1, 16)", "(M1_NM, 16)"),
    ("(M1, 32)", "(M1_NM, 32)"),
    (",1)<2", ",0)<2"),
    ("LA", "LB"),
    ("d8u32", "d16u32"),
    ("d16u32", "d32"),
    ("+0x4]", "+0x8]"),
    ("_iadd", "_isub"),
    ("_umin", "_smin"),
    ("goto", "jmp"),
];

/// One line changed.
pub(crate) fn mutate(maker: &mut Maker<'_, '_>, old: &[String]) -> Vec<String> {
    let mut lines = old.to_vec();
    let at = maker.below(lines.len());
    let Some(line) = lines.get(at).cloned() else {
        return lines;
    };
    let fit: Vec<_> = SWAPS.iter().filter(|(f, _)| line.contains(f)).collect();
    let swap = fit.get(maker.below(fit.len()));
    match (maker.below(8), swap) {
        (0, _) => {
            if let Some(other) = similar(maker, &line) {
                lines.splice(at..=at, [other]);
            }
        }
        (1, _) | (_, None) => match maker.below(3) {
            0 => {
                let made = maker.instruction();
                lines.splice(at..=at, made);
            }
            1 => {
                lines.remove(at);
            }
            _ if at > 0 => lines.swap(at, at - 1),
            _ => lines.push(line),
        },
        (_, Some((from, to))) => {
            // One of the places.
            let places = line.matches(from).count();
            let nth = maker.below(places);
            let place = line.match_indices(from).nth(nth).map_or(0, |(at, _)| at);
            let (head, tail) = line.split_at(place);
            let changed = format!("{head}{}", tail.replacen(from, to, 1));
            lines.splice(at..=at, [changed]);
        }
    }
    lines
}

/// Another instruction that mostly, or always, computes the same.
fn similar(maker: &mut Maker<'_, '_>, line: &str) -> Option<String> {
    let (head, tail) = line.rsplit_once(' ')?;
    if let Some(number) = tail
        .strip_prefix("0x")
        .and_then(|t| t.strip_suffix(":ud"))
        .and_then(|t| u64::from_str_radix(t, 16).ok())
    {
        let power = 1_u64.checked_shl(u32::try_from(number & 31).ok()?)?;
        return Some(match maker.below(3) {
            0 if head.contains("shl ") => {
                format!("{} {power:#x}:ud", head.replacen("shl ", "mul ", 1))
            }
            1 if head.contains("shr ") => {
                format!("{} {power:#x}:ud", head.replacen("shr ", "div ", 1))
            }
            2 => format!("{head} {:#x}:ud", number ^ 1 << maker.below(32)),
            _ => format!("{head} {:#x}:d", number & 0xffff_ffff),
        });
    }
    // The sources in the other order.
    let (rest, first) = head.rsplit_once(' ')?;
    Some(format!("{rest} {tail} {first}"))
}

/// Sources in another order, and instructions that nothing depends on.
#[must_use]
pub(crate) fn rewritten(maker: &mut Maker<'_, '_>, old: &[String]) -> Vec<String> {
    let lanes = maker.frame.lanes;
    let mut lines = Vec::new();
    for line in old {
        let words: Vec<&str> = line.rsplitn(3, ' ').collect();
        let op = line.split(" (M").next().unwrap_or_default();
        let op = op.rsplit(' ').next().unwrap_or_default();
        let exchanges = ["and", "or", "xor", "add", "mul"].contains(&op)
            && ![" F", " HF", " DF", "0x", " P", "(-)", "(abs)", "r["]
                .iter()
                .any(|kept| line.contains(kept));
        match words.as_slice() {
            [second, first, rest] if exchanges => lines.push(format!("{rest} {second} {first}")),
            _ => lines.push(line.clone()),
        }
        if maker.below(4) == 0 {
            lines.push(format!("mov (M1, {lanes}) UNREAD(0,0)<1> D1(0,0)<1;1,0>"));
        }
    }
    lines
}
