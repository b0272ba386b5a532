//! The language of patterns.

use super::known;
use std::str::FromStr;

/// A pattern of instructions; created by [`str::parse`].
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    pub(super) steps: Vec<Arrow>,
}

/// A step, and how far it may be from the one before.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Arrow {
    pub(super) distance: Distance,
    pub(super) without: Option<Step>,
    pub(super) step: Step,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Distance {
    Within(usize),
    Any,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    pub(super) mnemonic: String,
    pub(super) conditions: Vec<Condition>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Condition {
    pub(super) key: String,
    pub(super) relation: Relation,
    pub(super) wanted: Wanted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Equal,
    NotEqual,
    Less,
    Greater,
    AtMost,
    AtLeast,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Wanted {
    Variable(String),
    Text(String),
    Number(Number),
}

/// A number of a pattern.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Integer(i64),
    Float(f64),
}

/// The error in a pattern.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("column {}: {message}", column + 1)]
pub struct PatternError {
    /// Bytes before the place.
    pub column: usize,
    /// What is wrong there, and what is expected.
    pub message: String,
}

/// Relations, longer ones first.
const RELATIONS: [(&str, Relation); 6] = [
    ("!=", Relation::NotEqual),
    ("<=", Relation::AtMost),
    (">=", Relation::AtLeast),
    ("=", Relation::Equal),
    ("<", Relation::Less),
    (">", Relation::Greater),
];

/// Keys that are not fields.
pub(super) const KEYS: [&str; 15] = [
    "group", "flow", "exec", "mask", "pred", "type", "memory", "space", "layout", "bytes",
    "elements", "address", "reads", "writes", "imm",
];

struct Words<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Words<'t> {
    fn rest(&mut self) -> &'t str {
        let rest = self.text.get(self.at..).unwrap_or("");
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed
    }

    fn fail<T>(&self, message: impl Into<String>) -> Result<T, PatternError> {
        Err(PatternError {
            column: self.at,
            message: message.into(),
        })
    }

    fn take(&mut self, text: &str) -> bool {
        let there = self.rest().starts_with(text);
        if there {
            self.at += text.len();
        }
        there
    }

    /// Letters up to white space, a bracket, or an arrow.
    fn word(&mut self) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c: char| c.is_whitespace() || c == '(' || c == ')');
        let mut word = rest.get(..end.unwrap_or(rest.len())).unwrap_or("");
        if let Some(arrow) = word.find("->") {
            word = word.get(..arrow).unwrap_or("");
        }
        self.at += word.len();
        word
    }
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let mut words = Words { text, at: 0 };
        let mut steps = vec![Arrow {
            distance: Distance::Within(0),
            without: None,
            step: step(&mut words)?,
        }];
        while !words.rest().is_empty() {
            if !words.take("->") {
                return words.fail("expected `->` and another step, or KEY=VALUE");
            }
            let distance = distance(&mut words)?;
            let without = if words.take("without") {
                if !words.take("(") {
                    return words.fail("expected `(` after `without`");
                }
                let without = step(&mut words)?;
                if !words.take(")") {
                    return words.fail("expected `)` after the step");
                }
                Some(without)
            } else {
                None
            };
            steps.push(Arrow {
                distance,
                without,
                step: step(&mut words)?,
            });
        }
        Ok(Self { steps })
    }
}

fn distance(words: &mut Words<'_>) -> Result<Distance, PatternError> {
    // A number directly follows the arrow; a step cannot begin with one.
    let rest = words.text.get(words.at..).unwrap_or("");
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if digits > 0 {
        let number = rest.get(..digits).and_then(|digits| digits.parse().ok());
        return match number {
            Some(0) | None => words.fail("a distance is a number from 1 on"),
            Some(number) => {
                words.at += digits;
                Ok(Distance::Within(number))
            }
        };
    }
    if rest.starts_with("any") {
        words.at += 3;
        return Ok(Distance::Any);
    }
    Ok(Distance::Within(1))
}

fn step(words: &mut Words<'_>) -> Result<Step, PatternError> {
    words.rest();
    let start = words.at;
    let mnemonic = words.word();
    if mnemonic.is_empty() || mnemonic.contains(['=', '$']) {
        return words.fail("expected a mnemonic; `*` stands for any");
    }
    if let Err(message) = known::mnemonic(&mnemonic.to_ascii_lowercase()) {
        words.at = start;
        return words.fail(message);
    }
    let mut conditions = Vec::new();
    loop {
        let rest = words.rest();
        if rest.is_empty() || rest.starts_with("->") || rest.starts_with(')') {
            break;
        }
        conditions.push(condition(words)?);
    }
    Ok(Step {
        mnemonic: mnemonic.to_ascii_lowercase(),
        conditions,
    })
}

fn condition(words: &mut Words<'_>) -> Result<Condition, PatternError> {
    words.rest();
    let start = words.at;
    let word = words.word();
    let split = RELATIONS.iter().find_map(|(sign, relation)| {
        let (key, value) = word.split_once(sign)?;
        // `<=` is not `=` with a key that ends in `<`.
        (!key.ends_with(['!', '<', '>'])).then_some((key, *relation, value))
    });
    let Some((key, relation, value)) = split else {
        words.at = start;
        return words.fail(format!("expected KEY=VALUE, found `{word}`"));
    };
    if !KEYS.contains(&key) && visakit_isa::FieldName::from_name(key).is_none() {
        words.at = start;
        let keys = KEYS.join(", ");
        return words.fail(format!(
            "`{key}` is no key: {keys}, or the name of a field such as src0"
        ));
    }
    let wanted = match (value.strip_prefix('$'), number(value)) {
        (Some(""), _) | (None, None) if value.len() < 2 && value.is_empty() || value == "$" => {
            words.at = start;
            return words.fail(format!("`{key}` has no value"));
        }
        (Some(name), _) => Wanted::Variable(name.to_owned()),
        (None, Some(number)) => Wanted::Number(number),
        (None, None) => Wanted::Text(value.to_ascii_lowercase()),
    };
    if let Wanted::Text(text) = &wanted
        && let Err(message) = known::value(key, text)
    {
        words.at = start;
        return words.fail(message);
    }
    let ordered = !matches!(relation, Relation::Equal | Relation::NotEqual);
    if ordered && matches!(wanted, Wanted::Text(_)) {
        words.at = start;
        return words.fail(format!(
            "`{value}` is no number, only numbers have an order"
        ));
    }
    Ok(Condition {
        key: key.to_owned(),
        relation,
        wanted,
    })
}

/// An integer, decimal or hexadecimal, or a decimal fraction.
fn number(text: &str) -> Option<Number> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    if digits.contains('.') && digits.starts_with(|c: char| c.is_ascii_digit()) {
        return text.parse().ok().map(Number::Float);
    }
    let number = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?.cast_signed(),
        None => digits.parse().ok()?,
    };
    Some(Number::Integer(if negative {
        number.wrapping_neg()
    } else {
        number
    }))
}

/// Whether a text fits a pattern with `*` and `?`, both in lower case.
pub(super) fn fits(text: &str, glob: &str) -> bool {
    let (text, glob) = (text.as_bytes(), glob.as_bytes());
    let (mut t, mut g) = (0, 0);
    // Where to resume when the last `*` has to match one more letter.
    let mut star = None;
    while t < text.len() {
        match glob.get(g) {
            Some(b'*') => {
                star = Some((g, t));
                g += 1;
            }
            Some(c) if *c == b'?' || text.get(t) == Some(c) => {
                t += 1;
                g += 1;
            }
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    (g, t) = (at + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    glob.get(g..)
        .is_some_and(|rest| rest.iter().all(|c| *c == b'*'))
}
