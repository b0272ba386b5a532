//! Expressions over the state: conditions, what is printed, what is set.
//!
//! Numbers, `+ - * / % << >> & | ^ ~ ! == != < <= > >= && ||` and parentheses as in C; `any(E)` and `all(E)` over
//! the enabled lanes. A name is a variable of the routine (`V40`), a predefined one (`%r0`), an argument that is a
//! buffer, `slm`, `scratch` or `global`. A variable without an index is its element of the chosen lane; with a type
//! before the index, `V40.ub[3]`, it is read as that type. Memory is indexed by elements (`out[3]`, `slm.u32[2]`),
//! `global.f[ADDRESS]` by the address. `$lane`, `$thread`, `$group`, `$step`, `$mask`, `$enabled`, `$gid0` to
//! `$gid2` and `$lid0` to `$lid2` tell where the run stands.

use crate::error::DebugError;
use crate::target::Target;
use visakit_exec::{BufferId, VariableClass, VariableSlot};
use visakit_isa::DataType;
use visakit_launch::value;

/// Nested parentheses and operators that are read.
const DEPTH: usize = 64;

/// A number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Number {
    /// An integer of any type, or a truth.
    Int(i128),
    /// A float of any type.
    Float(f64),
}

impl Number {
    /// Whether it counts as true.
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

/// The state that an expression is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope<'a> {
    pub(crate) target: &'a Target,
    /// Routine whose variables are meant.
    pub(crate) routine: usize,
    pub(crate) registers: &'a [u8],
    /// `None` while the program runs.
    pub(crate) slm: Option<&'a [u8]>,
    pub(crate) scratch: Option<&'a [u8]>,
    pub(crate) group: u64,
    pub(crate) step: u64,
    pub(crate) thread: usize,
    pub(crate) lane: u32,
    pub(crate) running: u32,
    pub(crate) enabled: u32,
    /// Lane of the thread that is lane 0 here.
    pub(crate) first_lane: u32,
}

/// A place that can be read and set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Spot {
    Register(usize),
    /// A lane of a predicate: its word, and the bit.
    Bit(usize, u32),
    Slm(usize),
    Scratch(usize),
    Global(BufferId, u64),
}

/// What an index counts in.
enum Base {
    Register(VariableSlot),
    Slm,
    Scratch,
    Global,
    Buffer(BufferId, usize),
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
    Name(String, Option<Box<Node>>),
    Unary(char, Box<Node>),
    Binary(&'static str, Box<(Node, Node)>),
    Lanes(bool, Box<Node>),
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
        let mut reader = Reader { text, at: 0 };
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

    /// The place that it names, and the type of what stands there.
    pub(crate) fn spot(&self, scope: &Scope<'_>) -> Result<(Spot, DataType), DebugError> {
        match &self.node {
            Node::Name(name, index) => scope.spot(name, index.as_deref()),
            _ => Err(DebugError::NotAssignable(self.text.clone())),
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
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
                // `a & &b` is nothing, but `a && b` is no `&`.
                let longer = matches!(*operator, "|" | "&")
                    && rest.starts_with(&operator.repeat(2))
                    || matches!(*operator, "<" | ">") && rest.starts_with(&operator.repeat(2));
                if rest.starts_with(operator) && !longer {
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
            let inner = Box::new(self.closed(depth)?);
            return Ok(Node::Lanes(word == "any", inner));
        }
        let mut index = None;
        if self.take("[") {
            index = Some(Box::new(self.level(0, depth + 1)?));
            if !self.take("]") {
                return Err(self.fault("`]` is missing"));
            }
        }
        Ok(Node::Name(word, index))
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
            Self::Name(name, index) => {
                let (spot, ty) = scope.spot(name, index.as_deref())?;
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
        // Division by zero gives zero, as the hardware's integers do not trap.
        "/" => compute(a / b, m.checked_div(n)),
        _ => compute(a % b, m.checked_rem(n)),
    }
}

impl<'a> Scope<'a> {
    fn fact(&self, name: &str) -> Result<i128, DebugError> {
        let item = || {
            let lane = self.lane + self.first_lane;
            let item = self.target.work_item(self.group, self.thread, lane);
            item.ok_or_else(|| DebugError::NoName(format!("${name}")))
        };
        let dimension = |ids: [u32; 3], digit: &str| {
            let dimension: Option<usize> = digit.parse().ok();
            let id = dimension.and_then(|d| ids.get(d)).copied();
            id.map(i128::from)
                .ok_or_else(|| DebugError::NoName(format!("${name}")))
        };
        Ok(match name {
            "lane" => (self.lane + self.first_lane).into(),
            "thread" => i128::try_from(self.thread).unwrap_or(0),
            "group" => self.group.into(),
            "step" => self.step.into(),
            "mask" => self.running.into(),
            "enabled" => self.enabled.into(),
            _ => {
                if let Some(digit) = name.strip_prefix("gid") {
                    return dimension(item()?.global, digit);
                }
                if let Some(digit) = name.strip_prefix("lid") {
                    return dimension(item()?.local, digit);
                }
                return Err(DebugError::NoName(format!("${name}")));
            }
        })
    }

    /// A variable by its declared name, or by its class and number whatever the zeroes before it.
    pub(crate) fn variable(&self, name: &str) -> Option<VariableSlot> {
        variable(self.target, self.routine, name)
    }

    fn base(&self, name: &str) -> Option<(Base, DataType)> {
        if let Some(slot) = self.variable(name) {
            let ty = slot.data_type;
            return Some((Base::Register(slot), ty));
        }
        let buffers = self.target.buffers();
        if let Some(found) = buffers.iter().find(|b| b.name == name) {
            let ty = found.data_type.unwrap_or(DataType::Ud);
            return Some((Base::Buffer(found.buffer, found.bytes), ty));
        }
        let base = match name {
            "slm" => Base::Slm,
            "scratch" => Base::Scratch,
            "global" => Base::Global,
            _ => return None,
        };
        Some((base, DataType::Ud))
    }

    fn spot(&self, name: &str, index: Option<&Node>) -> Result<(Spot, DataType), DebugError> {
        let typed = || {
            let (name, ty) = name.rsplit_once('.')?;
            let ty = value::type_of(ty)?;
            let (base, _) = self.base(name)?;
            Some((base, ty, true))
        };
        let found = self.base(name).map(|(base, ty)| (base, ty, false));
        let Some((base, ty, stated)) = found.or_else(typed) else {
            return Err(DebugError::NoName(name.to_owned()));
        };
        let index = index.map(|node| node.value(self).map(Number::int));
        let index = index.transpose()?;
        let size = usize::from(ty.size()).max(1);
        let within = |bytes: usize| -> Result<usize, DebugError> {
            let index = index.unwrap_or(0);
            let element = usize::try_from(index).ok();
            let offset = element.and_then(|n| n.checked_mul(size));
            let inside = offset.filter(|o| o.checked_add(size).is_some_and(|end| end <= bytes));
            inside.ok_or_else(|| DebugError::NoElement {
                name: name.to_owned(),
                index,
                count: (bytes / size) as u64,
            })
        };
        let spot = match base {
            Base::Register(slot) if slot.class == VariableClass::Predicate && !stated => {
                let bit = index.map_or(Ok(self.lane), u32::try_from).ok();
                let bit = bit.filter(|b| *b < 32).ok_or(DebugError::NoElement {
                    name: name.to_owned(),
                    index: index.unwrap_or(0),
                    count: 32,
                })?;
                Spot::Bit(slot.offset, bit)
            }
            Base::Register(slot) => {
                if index.is_some() || stated || slot.elements == 1 {
                    Spot::Register(slot.offset + within(slot.bytes)?)
                } else {
                    let element = own_element(&slot, self.lane, self.target.lanes());
                    let element = element.ok_or_else(|| DebugError::NoElement {
                        name: name.to_owned(),
                        index: self.lane.into(),
                        count: slot.elements.into(),
                    })?;
                    Spot::Register(slot.offset + element * size)
                }
            }
            Base::Slm => {
                let slm = self.slm.ok_or(DebugError::NotInCondition("local memory"));
                Spot::Slm(within(slm?.len())?)
            }
            Base::Scratch => {
                let scratch = self.scratch;
                let scratch = scratch.ok_or(DebugError::NotInCondition("scratch memory"));
                Spot::Scratch(within(scratch?.len())?)
            }
            Base::Buffer(buffer, bytes) => Spot::Global(buffer, within(bytes)? as u64),
            Base::Global => {
                let address = index.and_then(|a| u64::try_from(a).ok()).unwrap_or(0);
                let memory = self.target.memory();
                let found = memory.find(address);
                let found = found.filter(|(b, at)| at + size as u64 <= memory.len(*b) as u64);
                let (buffer, offset) = found.ok_or_else(|| {
                    DebugError::NoMemory(format!("no buffer has {size} bytes at {address:#x}"))
                })?;
                Spot::Global(buffer, offset)
            }
        };
        Ok((spot, ty))
    }

    fn read(&self, spot: &Spot, ty: DataType) -> Result<Number, DebugError> {
        let mut bytes = [0; 8];
        let size = usize::from(ty.size()).min(8);
        let element = bytes.get_mut(..size).unwrap_or_default();
        let (from, at) = match spot {
            Spot::Bit(word, bit) => {
                let byte = self
                    .registers
                    .get(word + usize::try_from(bit / 8).unwrap_or(0));
                let set = byte.is_some_and(|byte| byte >> (bit % 8) & 1 != 0);
                return Ok(truth(set));
            }
            Spot::Register(at) => (self.registers, *at),
            Spot::Slm(at) => (self.slm.unwrap_or(&[]), *at),
            Spot::Scratch(at) => (self.scratch.unwrap_or(&[]), *at),
            Spot::Global(buffer, offset) => {
                let offset = usize::try_from(*offset).unwrap_or(usize::MAX);
                self.target.memory().read_into(*buffer, offset, element);
                let text = value::show(element, ty).next();
                return Ok(Number::of(text.as_deref().unwrap_or("0")));
            }
        };
        let from = from.get(at..at.saturating_add(size)).unwrap_or_default();
        for (to, from) in element.iter_mut().zip(from) {
            *to = *from;
        }
        let text = value::show(element, ty).next();
        Ok(Number::of(text.as_deref().unwrap_or("0")))
    }
}

/// The element of a variable that belongs to a lane: variables of as many elements as lanes, or of a multiple, have
/// one after the other. `None` if the lane has none.
pub(crate) fn own_element(slot: &VariableSlot, lane: u32, lanes: u32) -> Option<usize> {
    if slot.elements < lanes {
        return (slot.elements > 1 && lane < slot.elements)
            .then(|| usize::try_from(lane).unwrap_or(0));
    }
    slot.elements
        .is_multiple_of(lanes)
        .then(|| usize::try_from(lane).unwrap_or(0))
}

/// A variable of a routine or a predefined one.
pub(crate) fn variable(target: &Target, routine: usize, name: &str) -> Option<VariableSlot> {
    let program = target.program();
    if let Some(name) = name.strip_prefix('%') {
        let mut all = program.predefined_variables();
        return all.find(|(n, _)| *n == name).map(|(_, slot)| slot.clone());
    }
    let declared = program.declared(routine);
    let named = declared.iter().find(|v| v.name.as_deref() == Some(name));
    let numbered = || {
        let mut letters = name.chars();
        let letter = letters.next()?;
        let number: u32 = letters.as_str().parse().ok()?;
        let same = |class: VariableClass, n: u32| class.letter() == letter && n == number;
        declared.iter().find(|v| same(v.slot.class, v.number))
    };
    named.or_else(numbered).map(|v| v.slot.clone())
}

/// Numbers that are to stand at a spot of this type.
pub(crate) fn bytes_of(number: Number, ty: DataType) -> Result<Vec<u8>, DebugError> {
    let text = match (number, ty.is_float()) {
        (Number::Float(x), true) => x.to_string(),
        (Number::Int(n), true) => n.to_string(),
        (number, false) => {
            let width = u32::from(ty.size()) * 8;
            let n = number.int();
            // Bits of a signed type may be given as an unsigned number, and the other way round.
            let least = -(1_i128 << width.saturating_sub(1));
            let most = (1_i128 << width) - 1;
            if !(least..=most).contains(&n) {
                return Err(DebugError::Number(format!(
                    "{n} does not fit into type {ty}"
                )));
            }
            let bytes = n.to_le_bytes();
            return Ok(bytes
                .get(..usize::from(ty.size()))
                .unwrap_or_default()
                .to_vec());
        }
    };
    value::parse(&text, ty).map_err(DebugError::Number)
}
