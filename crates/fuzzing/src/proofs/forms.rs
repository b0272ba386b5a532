//! Edits without effect: instructions on which nothing depends, and other names and places of registers.

use super::choices::Choices;
use super::frame::Frame;
use super::{Style, TEMPORARIES};

/// Instructions on which nothing depends between those of a routine.
pub(crate) fn padded(choices: &mut Choices<'_>, frame: &Frame, lines: &[String]) -> Vec<String> {
    let mut padded = Vec::new();
    for line in lines {
        if choices.below(3) == 0 {
            let operation = choices.pick(&["add", "xor"]);
            let source = choices.below(TEMPORARIES);
            padded.push(format!(
                "{operation} (M1, {}) SPARE(0,0)<1> SPARE(0,0)<1;1,0> UD{source}(0,0)<1;1,0>",
                frame.lanes
            ));
        }
        padded.push(line.clone());
    }
    padded
}

/// Numbers of temporaries: in another order, unless their places are numbers that the routine sees.
pub(crate) fn names(choices: &mut Choices<'_>, frame: &Frame) -> [usize; TEMPORARIES] {
    let mut names = std::array::from_fn(|n| n);
    if frame.style == Style::Indirect {
        return names;
    }
    for n in (1..TEMPORARIES).rev() {
        names.swap(n, choices.below(n + 1));
    }
    names
}

/// The text of a kernel with temporaries by other names, in another place of the register file each.
pub(crate) fn renamed(frame: &Frame, lines: &[String], names: &[usize; TEMPORARIES]) -> String {
    let text = frame.text(lines);
    // What is declared before other variables moves them.
    let before = match frame.style {
        Style::Indirect => ".decl P1",
        _ => ".decl D0",
    };
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut renamed = String::new();
    for line in text.lines() {
        if line.starts_with(before) {
            renamed += ".decl SPARE v_type=G type=ud num_elts=32 align=GRF\n";
        }
        // Declarations stay in their order: the names change their places.
        let is_code = !line.starts_with('.');
        for part in line.split_inclusive(|c| !is_word(c)) {
            let word = part.trim_end_matches(|c| !is_word(c));
            let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
            let number = word.strip_prefix(letters).and_then(|n| n.parse().ok());
            let name = number.and_then(|n: usize| names.get(n));
            let kinds = ["D", "UD", "W", "UW", "F", "B", "UB", "HF", "BF"];
            match name.filter(|_| is_code && kinds.contains(&letters)) {
                Some(name) => {
                    renamed += &format!("{letters}{name}");
                    renamed += part.strip_prefix(word).unwrap_or_default();
                }
                None => renamed += part,
            }
        }
        renamed.push('\n');
    }
    renamed
}
