//! Expressions of whole numbers. Nesting is kept on an explicit stack, not on the call stack.

use super::diagnostic::{Diagnostic, DiagnosticKind, Parsed, Span};
use crate::language::operand::bits;
use crate::lexer::Cursor;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

/// An expression after blanks, which is required and must be in this range. The range of all numbers of 64 bits with a
/// sign takes those without a sign, too, as their bits.
pub(super) fn ranged(
    cursor: &mut Cursor<'_>,
    extent: Extent,
    names: Names<'_>,
    what: &str,
    range: RangeInclusive<i64>,
) -> Parsed<i64> {
    let (value, span) = exact(cursor, extent, names, what)?;
    let (low, high) = (*range.start(), *range.end());
    let most = if (low, high) == (i64::MIN, i64::MAX) {
        u64::MAX.into()
    } else {
        i128::from(high)
    };
    if (i128::from(low)..=most).contains(&value) {
        return Ok(bits(value).cast_signed());
    }
    let message = alloc::format!("{value} is out of range");
    let fault = Diagnostic::new(DiagnosticKind::ImmediateRange, span, message);
    Err(fault.expected(alloc::format!("{what} from {low} to {most}")))
}

/// An expression after blanks, which is required, and its place. A number, with or without a minus, has its own value;
/// what is computed has 64 bits with a sign.
pub(super) fn exact(
    cursor: &mut Cursor<'_>,
    extent: Extent,
    names: Names<'_>,
    what: &str,
) -> Parsed<(i128, Span)> {
    cursor.blanks();
    let start = cursor.at;
    let value = match lone_digit(cursor, extent) {
        Some(digit) => Some(digit.into()),
        None => match number(cursor, extent)? {
            Some(number) => Some(number),
            None => expression(cursor, extent, names)?.map(i128::from),
        },
    };
    match value {
        Some(value) => Ok((value, Span::between(start, cursor.at))),
        None => Err(cursor.unexpected(what)),
    }
}

/// A number with or without a minus that is the whole expression.
#[inline]
fn number(cursor: &mut Cursor<'_>, extent: Extent) -> Parsed<Option<i128>> {
    if cursor.peek() == Some(b'-') && extent != Extent::Primary {
        let mut ahead = *cursor;
        ahead.at += 1;
        let number = plain(&mut ahead, extent)?;
        if number.is_some() {
            *cursor = ahead;
        }
        return Ok(number.map(|number| -i128::from(number)));
    }
    Ok(plain(cursor, extent)?.map(i128::from))
}

/// An operator waiting for its right-hand side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Waiting {
    Open,
    Negate,
    Complement,
    Not,
    Infix(Infix),
    /// A condition, up to its colon.
    If(bool),
    /// After the colon: the value, and whether it is the one selected.
    Else(bool, i64),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Infix {
    Times,
    Divided,
    Remainder,
    Plus,
    Minus,
    Left,
    Right,
    RightUnsigned,
    Less,
    Greater,
    LessEqual,
    GreaterEqual,
    Equal,
    NotEqual,
    Or,
    Exclusive,
    And,
}

/// Longer spellings come before their prefixes. The precedence of the last three is that of the
/// grammar, which differs from C.
const INFIX: [(&str, Infix, u8); 17] = [
    (">>>", Infix::RightUnsigned, 5),
    ("<<", Infix::Left, 5),
    (">>", Infix::Right, 5),
    ("<=", Infix::LessEqual, 4),
    (">=", Infix::GreaterEqual, 4),
    ("==", Infix::Equal, 3),
    ("!=", Infix::NotEqual, 3),
    ("<", Infix::Less, 4),
    (">", Infix::Greater, 4),
    ("*", Infix::Times, 7),
    ("/", Infix::Divided, 7),
    ("%", Infix::Remainder, 7),
    ("+", Infix::Plus, 6),
    ("-", Infix::Minus, 6),
    ("|", Infix::Or, 2),
    ("^", Infix::Exclusive, 1),
    ("&", Infix::And, 0),
];

/// How much of an expression is parsed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Extent {
    /// Everything.
    Full,
    /// No comparison outside parentheses: a `>` ends the expression.
    NoComparison,
    /// Signs and one number, or a parenthesised expression.
    Unary,
    /// Products only: what precedes the `*` of a scale is not followed by a number.
    Primary,
}

/// The value of the name after `%sizeof`, or of the constant `%DispatchSimd`.
pub(super) type Names<'n> = &'n dyn Fn(&[u8], Span) -> Option<i64>;

/// An expression after blanks; `None` where none begins here.
fn expression(cursor: &mut Cursor<'_>, extent: Extent, names: Names<'_>) -> Parsed<Option<i64>> {
    let start = cursor.at;
    let mut waiting: Vec<Waiting> = Vec::new();
    let mut values: Vec<i64> = Vec::new();
    let (mut open, mut conditions) = (0usize, 0usize);
    loop {
        // A value is expected.
        cursor.blanks();
        match cursor.peek() {
            Some(b'-') if extent != Extent::Primary || open > 0 => {
                cursor.at += 1;
                waiting.push(Waiting::Negate);
                continue;
            }
            Some(b'~') => {
                cursor.at += 1;
                waiting.push(Waiting::Complement);
                continue;
            }
            Some(b'!') => {
                cursor.at += 1;
                waiting.push(Waiting::Not);
                continue;
            }
            Some(b'(') => {
                cursor.at += 1;
                open += 1;
                waiting.push(Waiting::Open);
                continue;
            }
            _ => match value(cursor, names)? {
                Some(value) => values.push(value),
                None if waiting.is_empty() => return Ok(None),
                None => return Err(cursor.unexpected("a number")),
            },
        }
        // An operator or the end is expected.
        loop {
            let single = matches!(extent, Extent::Unary | Extent::Primary) && open == 0;
            cursor.blanks();
            if cursor.peek() == Some(b')') && open > 0 {
                finish(&mut waiting, &mut values, cursor, start)?;
                cursor.at += 1;
                open -= 1;
                waiting.pop();
                continue;
            }
            if open > 0 || extent == Extent::Full {
                let next = cursor.peek();
                if next == Some(b'?') {
                    reduce(&mut waiting, &mut values, 0, cursor, start)?;
                    cursor.at += 1;
                    waiting.push(Waiting::If(values.pop().unwrap_or(0) != 0));
                    conditions += 1;
                    break;
                }
                if next == Some(b':') && conditions > 0 {
                    reduce(&mut waiting, &mut values, 0, cursor, start)?;
                    if let Some(Waiting::If(holds)) = waiting.last().copied() {
                        cursor.at += 1;
                        conditions -= 1;
                        waiting.pop();
                        waiting.push(Waiting::Else(holds, values.pop().unwrap_or(0)));
                        break;
                    }
                }
            }
            let found =
                INFIX
                    .iter()
                    .find(|(text, _, _)| cursor.has(text))
                    .filter(|(_, _, binding)| {
                        !single && (open > 0 || extent == Extent::Full || !(3..5).contains(binding))
                    });
            let Some((text, infix, binding)) = found else {
                if open > 0 {
                    return Err(cursor.unexpected("`)`"));
                }
                finish(&mut waiting, &mut values, cursor, start)?;
                return Ok(values.pop());
            };
            cursor.at += text.len();
            reduce(&mut waiting, &mut values, *binding, cursor, start)?;
            waiting.push(Waiting::Infix(*infix));
            break;
        }
    }
}

/// A single digit that is the whole expression, as in most regions and places.
#[inline]
fn lone_digit(cursor: &mut Cursor<'_>, extent: Extent) -> Option<i64> {
    let digit = cursor.peek()?.wrapping_sub(b'0');
    let ends = match cursor.peek_at(1)? {
        b',' | b')' | b';' | b']' => true,
        b'>' => extent != Extent::Full && !matches!(cursor.peek_at(2), Some(b'>' | b'=')),
        _ => false,
    };
    (digit < 10 && ends).then(|| {
        cursor.at += 1;
        digit.into()
    })
}

/// A plain number without operators: almost every expression.
#[inline]
fn plain(cursor: &mut Cursor<'_>, extent: Extent) -> Parsed<Option<u64>> {
    let start = cursor.at;
    let Some(number) = cursor.number()? else {
        return Ok(None);
    };
    let goes_on = match extent {
        Extent::Unary | Extent::Primary => false,
        Extent::Full | Extent::NoComparison => {
            cursor.blanks();
            match cursor.peek() {
                Some(b'*' | b'/' | b'%' | b'+' | b'-' | b'|' | b'^' | b'&') => true,
                Some(b'<' | b'=' | b'!' | b'?') => extent == Extent::Full || cursor.has("<<"),
                Some(b'>') => extent == Extent::Full || cursor.has(">>"),
                _ => false,
            }
        }
    };
    if goes_on {
        cursor.at = start;
        return Ok(None);
    }
    Ok(Some(number))
}

fn value(cursor: &mut Cursor<'_>, names: Names<'_>) -> Parsed<Option<i64>> {
    if let Some(number) = cursor.number()? {
        return Ok(Some(number.cast_signed()));
    }
    if cursor.has("%sizeof") {
        let mut ahead = *cursor;
        ahead.at += "%sizeof".len();
        let parenthesis = ahead.eat(b'(');
        let Some(word) = ahead.word() else {
            return Err(ahead.unexpected("the name of a variable"));
        };
        if parenthesis {
            ahead.need(b')', "`)`")?;
        }
        let Some(size) = names(word.name, word.span) else {
            let message = alloc::format!("`{}` has no size", crate::lexer::shown(word.name));
            let fault = Diagnostic::new(DiagnosticKind::Undeclared, word.span, message);
            return Err(fault.expected("a general or address variable, or GRF"));
        };
        *cursor = ahead;
        return Ok(Some(size));
    }
    if cursor.has("%DispatchSimd") {
        let span = cursor.piece();
        let Some(lanes) = names(b"%DispatchSimd", span) else {
            let message = "the routine does not say its SIMD size";
            let fault = Diagnostic::new(DiagnosticKind::Undeclared, span, message);
            return Err(fault.hint("write `.kernel_attr SimdSize=16` before it"));
        };
        cursor.at = span.end();
        return Ok(Some(lanes));
    }
    Ok(None)
}

/// Evaluates everything up to the last open parenthesis.
fn finish(
    waiting: &mut Vec<Waiting>,
    values: &mut Vec<i64>,
    cursor: &Cursor<'_>,
    start: usize,
) -> Parsed<()> {
    loop {
        reduce(waiting, values, 0, cursor, start)?;
        match waiting.last().copied() {
            Some(Waiting::Else(holds, value)) => {
                waiting.pop();
                if holds {
                    values.pop();
                    values.push(value);
                }
            }
            Some(Waiting::If(_)) => return Err(cursor.unexpected("`:`")),
            _ => return Ok(()),
        }
    }
}

/// Evaluates what binds at least as tightly, up to the last open parenthesis or condition.
fn reduce(
    waiting: &mut Vec<Waiting>,
    values: &mut Vec<i64>,
    binding: u8,
    cursor: &Cursor<'_>,
    start: usize,
) -> Parsed<()> {
    while let Some(last) = waiting.last().copied() {
        let right = match last {
            Waiting::Open | Waiting::If(_) | Waiting::Else(..) => return Ok(()),
            Waiting::Infix(infix) => {
                let tightness = INFIX.iter().find(|(_, i, _)| *i == infix);
                if tightness.is_none_or(|(_, _, b)| *b < binding) {
                    return Ok(());
                }
                values.pop()
            }
            _ => values.pop(),
        };
        waiting.pop();
        let Some(right) = right else { return Ok(()) };
        let result = match last {
            Waiting::Negate => Some(right.wrapping_neg()),
            Waiting::Complement => Some(!right),
            Waiting::Not => Some(i64::from(right == 0)),
            Waiting::Infix(infix) => values.pop().and_then(|left| apply(infix, left, right)),
            Waiting::Open | Waiting::If(_) | Waiting::Else(..) => None,
        };
        let Some(result) = result else {
            let span = Span::between(start, cursor.at);
            let message = "division by zero";
            return Err(Diagnostic::new(
                DiagnosticKind::ImmediateRange,
                span,
                message,
            ));
        };
        values.push(result);
    }
    Ok(())
}

fn apply(infix: Infix, left: i64, right: i64) -> Option<i64> {
    let distance = u32::try_from(right & 63).unwrap_or(0);
    Some(match infix {
        Infix::Times => left.wrapping_mul(right),
        Infix::Divided => left.checked_div(right)?,
        Infix::Remainder => left.checked_rem(right)?,
        Infix::Plus => left.wrapping_add(right),
        Infix::Minus => left.wrapping_sub(right),
        Infix::Left => left.wrapping_shl(distance),
        Infix::Right => left.wrapping_shr(distance),
        Infix::RightUnsigned => left.cast_unsigned().wrapping_shr(distance).cast_signed(),
        Infix::Less => (left < right).into(),
        Infix::Greater => (left > right).into(),
        Infix::LessEqual => (left <= right).into(),
        Infix::GreaterEqual => (left >= right).into(),
        Infix::Equal => (left == right).into(),
        Infix::NotEqual => (left != right).into(),
        Infix::Or => left | right,
        Infix::Exclusive => left ^ right,
        Infix::And => left & right,
    })
}
