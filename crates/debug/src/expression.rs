//! Expressions over the state: for conditions, printing and setting.
//!
//! Numbers, `+ - * / % << >> & | ^ ~ ! == != < <= > >= && ||` and parentheses as in C; `any(E)` and `all(E)` over
//! the enabled lanes. A name is a variable of the routine (`V40`), a predefined one (`%r0`), an argument that is a
//! buffer, a variable of the source (`sum`, `tile[3][0]`, `particle.x`), `slm`, `scratch` or `global`. A variable without an index is its element of the chosen lane; with a type
//! before the index, `V40.ub[3]`, it is read as that type. Memory is indexed by elements (`out[3]`, `slm.u32[2]`),
//! `global.f[ADDRESS]` by the address. `$lane`, `$thread`, `$group`, `$step`, `$mask`, `$enabled`, `$gid0` to
//! `$gid2` and `$lid0` to `$lid2` say where the run is.

mod scope;
mod source;

pub(crate) use scope::{Scope, Spot, bytes_of, variable};
pub(crate) use source::Source;

use crate::error::DebugError;
use visakit_isa::DataType;

/// Nested parentheses and operators that are read.
const DEPTH: usize = 64;

/// Operators that are read: each is a level of the expression.
const OPERATORS: usize = 1024;

/// A number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Number {
    /// An integer of any type, or a truth.
    Int(i128),
    /// A float of any type.
    Float(f64),
}

impl Number {
    /// Whether it is treated as true.
    #[must_use]
    pub fn is_true(self) -> bool {
        match self {
            Self::Int(n) => n != 0,
            Self::Float(f) => f != 0.0,
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "as all mixed arithmetic")]
    fn float(self) -> f64 {
        match self {
            Self::Int(n) => n as f64,
            Self::Float(f) => f,
        }
    }

    fn int(self) -> i128 {
        match self {
            Self::Int(n) => n,
            #[allow(clippy::cast_possible_truncation, reason = "saturates, as meant")]
            Self::Float(f) => f as i128,
        }
    }

    fn of(text: &str) -> Self {
        match text.parse() {
            Ok(n) => Self::Int(n),
            Err(_) => Self::Float(text.parse().unwrap_or(f64::NAN)),
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int(n) => n.fmt(f),
            Self::Float(x) => x.fmt(f),
        }
    }
}

/// An expression that has been read.
#[derive(Clone, PartialEq, Debug)]
pub struct Expression {
    text: String,
    node: Node,
}

#[derive(Clone, PartialEq, Debug)]
enum Node {
    Number(Number),
    Fact(String),
    Name(String, Vec<Access>),
    Unary(char, Box<Node>),
    Binary(&'static str, Box<(Node, Node)>),
    Lanes(bool, Box<Node>),
}

/// A step from a variable to a part of it.
#[derive(Clone, PartialEq, Debug)]
enum Access {
    Index(Node),
    Member(String),
}

/// Operators, those that bind least first.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// [`DebugError::Syntax`].
    pub fn parse(text: &str) -> Result<Self, DebugError> {
        let mut reader = Reader {
            text,
            at: 0,
            operators: 0,
            in_lanes: false,
        };
        let node = reader.level(0, 0)?;
        reader.space();
        if reader.at < text.len() {
            return Err(reader.fault("this is not expected"));
        }
        Ok(Self {
            text: text.trim().to_owned(),
            node,
        })
    }

    /// As it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn value(&self, scope: &Scope<'_>) -> Result<Number, DebugError> {
        self.node.value(scope)
    }

    /// The source variable, or the part of one, that it is.
    pub(crate) fn source(&self, scope: &Scope<'_>) -> Result<Option<Source>, DebugError> {
        match &self.node {
            Node::Name(name, path) => scope.source(name, path),
            _ => Ok(None),
        }
    }

    /// The place that it names, and the type there.
    pub(crate) fn spot(&self, scope: &Scope<'_>) -> Result<(Spot, DataType), DebugError> {
        match &self.node {
            Node::Name(name, path) => scope.spot(name, path),
            _ => Err(DebugError::NotAssignable(self.text.clone())),
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    operators: usize,
    /// Inside of `any` or `all`.
    in_lanes: bool,
}

impl Reader<'_> {
    fn fault(&self, message: &str) -> DebugError {
        DebugError::Syntax {
            text: self.text.to_owned(),
            message: message.to_owned(),
            at: self.at,
        }
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn take(&mut self, token: &str) -> bool {
        self.space();
        let found = self.rest().starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }

    fn level(&mut self, level: usize, depth: usize) -> Result<Node, DebugError> {
        if depth > DEPTH {
            return Err(self.fault("this is nested too deep"));
        }
        let Some(operators) = LEVELS.get(level) else {
            return self.unary(depth);
        };
        let mut left = self.level(level + 1, depth)?;
        'more: loop {
            self.space();
            for operator in *operators {
                let rest = self.rest();
                // `a & &b` is not valid, but `a && b` does not contain `&`.
                let longer = matches!(*operator, "|" | "&")
                    && rest.starts_with(&operator.repeat(2))
                    || matches!(*operator, "<" | ">") && rest.starts_with(&operator.repeat(2));
                if rest.starts_with(operator) && !longer {
                    self.operators += 1;
                    if self.operators > OPERATORS {
                        return Err(self.fault("this has too many operators"));
                    }
                    self.at += operator.len();
                    let right = self.level(level + 1, depth + 1)?;
                    left = Node::Binary(operator, Box::new((left, right)));
                    continue 'more;
                }
            }
            return Ok(left);
        }
    }

    fn unary(&mut self, depth: usize) -> Result<Node, DebugError> {
        if depth > DEPTH {
            return Err(self.fault("this is nested too deep"));
        }
        self.space();
        let Some(first) = self.rest().chars().next() else {
            return Err(self.fault("something is missing"));
        };
        if matches!(first, '-' | '!' | '~') {
            self.at += 1;
            return Ok(Node::Unary(first, Box::new(self.unary(depth + 1)?)));
        }
        if first == '(' {
            self.at += 1;
            return self.closed(depth);
        }
        let word: String = {
            let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
            let mut chars = self.rest().chars();
            let start = chars.next().into_iter();
            start.chain(chars.take_while(|c| is_word(*c))).collect()
        };
        if first.is_ascii_digit() {
            self.at += word.len();
            return self.number(&word);
        }
        if !(first.is_alphabetic() || matches!(first, '_' | '%' | '$')) {
            return Err(self.fault("this is not expected"));
        }
        self.at += word.len();
        if let Some(fact) = word.strip_prefix('$') {
            return Ok(Node::Fact(fact.to_owned()));
        }
        if matches!(word.as_str(), "any" | "all") && self.take("(") {
            // One inside of another has the same value for each lane.
            if self.in_lanes {
                return Err(self.fault("`any` and `all` are of all lanes already"));
            }
            self.in_lanes = true;
            let inner = Box::new(self.closed(depth)?);
            self.in_lanes = false;
            return Ok(Node::Lanes(word == "any", inner));
        }
        let mut path = Vec::new();
        loop {
            if self.take("[") {
                path.push(Access::Index(self.level(0, depth + 1)?));
                if !self.take("]") {
                    return Err(self.fault("`]` is missing"));
                }
            } else if !path.is_empty() && self.rest().starts_with('.') {
                self.at += 1;
                let is_word = |c: &char| c.is_alphanumeric() || *c == '_';
                let member: String = self.rest().chars().take_while(is_word).collect();
                if member.is_empty() {
                    return Err(self.fault("the name of a member is missing"));
                }
                self.at += member.len();
                path.push(Access::Member(member));
            } else {
                return Ok(Node::Name(word, path));
            }
            if path.len() > DEPTH {
                return Err(self.fault("this is nested too deep"));
            }
        }
    }

    fn closed(&mut self, depth: usize) -> Result<Node, DebugError> {
        let inner = self.level(0, depth + 1)?;
        if self.take(")") {
            Ok(inner)
        } else {
            Err(self.fault("`)` is missing"))
        }
    }

    fn number(&mut self, word: &str) -> Result<Node, DebugError> {
        // `1e-3`: the sign is no operator.
        let mut word = word.to_owned();
        if (word.ends_with('e') || word.ends_with('E'))
            && !word.starts_with("0x")
            && let Some(sign @ ('-' | '+')) = self.rest().chars().next()
        {
            let digits = self.rest().chars().skip(1);
            let digits: String = digits.take_while(char::is_ascii_digit).collect();
            self.at += 1 + digits.len();
            word.push(sign);
            word.push_str(&digits);
        }
        let hex = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"));
        let number = match hex {
            Some(digits) => i128::from_str_radix(digits, 16).ok().map(Number::Int),
            None => match word.parse() {
                Ok(n) => Some(Number::Int(n)),
                Err(_) => word.parse().ok().map(Number::Float),
            },
        };
        number
            .map(Node::Number)
            .ok_or_else(|| self.fault("this is no number"))
    }
}

impl Node {
    fn value(&self, scope: &Scope<'_>) -> Result<Number, DebugError> {
        Ok(match self {
            Self::Number(n) => *n,
            Self::Fact(name) => Number::Int(scope.fact(name)?),
            Self::Name(name, path) => {
                let (spot, ty) = scope.spot(name, path)?;
                scope.read(&spot, ty)?
            }
            Self::Unary(operator, inner) => match (operator, inner.value(scope)?) {
                ('-', Number::Float(x)) => Number::Float(-x),
                ('-', Number::Int(n)) => Number::Int(n.wrapping_neg()),
                ('!', n) => truth(!n.is_true()),
                (_, n) => Number::Int(!n.int()),
            },
            Self::Binary(operator, sides) => {
                let left = sides.0.value(scope)?;
                match (*operator, left.is_true()) {
                    ("||", true) => return Ok(truth(true)),
                    ("&&", false) => return Ok(truth(false)),
                    _ => {}
                }
                binary(operator, left, sides.1.value(scope)?)
            }
            Self::Lanes(any, inner) => {
                let mut found = !any;
                for lane in (0..32).filter(|lane| scope.enabled >> lane & 1 != 0) {
                    let one = inner.value(&Scope { lane, ..*scope })?.is_true();
                    if one == *any {
                        found = *any;
                        break;
                    }
                }
                truth(found)
            }
        })
    }
}

fn truth(is: bool) -> Number {
    Number::Int(is.into())
}

fn binary(operator: &str, left: Number, right: Number) -> Number {
    let floats = matches!(left, Number::Float(_)) || matches!(right, Number::Float(_));
    let (a, b) = (left.float(), right.float());
    let (m, n) = (left.int(), right.int());
    let shift = u32::try_from(n).unwrap_or(u32::MAX);
    let compare = |float: bool, int: bool| truth(if floats { float } else { int });
    let compute = |float: f64, int: Option<i128>| {
        if floats {
            Number::Float(float)
        } else {
            Number::Int(int.unwrap_or(0))
        }
    };
    match operator {
        "||" | "&&" => truth(right.is_true()),
        "|" => Number::Int(m | n),
        "^" => Number::Int(m ^ n),
        "&" => Number::Int(m & n),
        #[allow(clippy::float_cmp, reason = "it is what was asked")]
        "==" => compare(a == b, m == n),
        #[allow(clippy::float_cmp, reason = "it is what was asked")]
        "!=" => compare(a != b, m != n),
        "<" => compare(a < b, m < n),
        "<=" => compare(a <= b, m <= n),
        ">" => compare(a > b, m > n),
        ">=" => compare(a >= b, m >= n),
        "<<" => Number::Int(m.checked_shl(shift).unwrap_or(0)),
        ">>" => Number::Int(m.checked_shr(shift).unwrap_or(0)),
        "+" => compute(a + b, Some(m.wrapping_add(n))),
        "-" => compute(a - b, Some(m.wrapping_sub(n))),
        "*" => compute(a * b, Some(m.wrapping_mul(n))),
        // Division by zero returns zero, as the hardware's integers do not trap.
        "/" => compute(a / b, m.checked_div(n)),
        _ => compute(a % b, m.checked_rem(n)),
    }
}
