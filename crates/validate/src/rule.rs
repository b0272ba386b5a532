//! The type of rules, and the macro that declares them.

use core::fmt;

/// The severity of breaking a rule.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// Real objects break the rule, or breaking it is bad taste or undefined behaviour at worst.
    Warning,
    /// The object is damaged, or the reference implementation refuses it.
    Error,
}

impl Severity {
    /// Name used in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// The subject of rules; the first two digits of their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Area {
    /// Files, references, names (V00).
    Structure,
    /// Variables, inputs, attributes (V01).
    Declarations,
    /// Operands of instructions, one by one (V02).
    Operands,
    /// Instructions as wholes (V03).
    Instructions,
    /// Labels, jumps and calls (V04).
    Flow,
    /// What a platform has (V05); mostly checked only where a platform is named.
    Platform,
}

impl Area {
    /// All areas.
    pub const ALL: [Self; 6] = [
        Self::Structure,
        Self::Declarations,
        Self::Operands,
        Self::Instructions,
        Self::Flow,
        Self::Platform,
    ];

    /// Name used in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Structure => "structure",
            Self::Declarations => "declarations",
            Self::Operands => "operands",
            Self::Instructions => "instructions",
            Self::Flow => "control flow",
            Self::Platform => "platform",
        }
    }
}

/// A rule. Its number and name never change their meaning.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The number.
    pub number: u16,
    /// The short name.
    pub name: &'static str,
    /// The severity of breaking it.
    pub severity: Severity,
    /// What it requires.
    pub what: &'static str,
    /// What to do about a finding.
    pub action: &'static str,
    /// The origin of the rule.
    pub source: &'static str,
}

/// Rules are equal if their numbers are.
impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Rule {}

impl Rule {
    /// The whole identifier: `V0123-short-name`.
    #[must_use]
    pub const fn id(&self) -> RuleId {
        RuleId {
            number: self.number,
            name: self.name,
        }
    }

    /// The subject of the rule.
    #[must_use]
    pub const fn area(&self) -> Area {
        match self.number / 100 {
            0 => Area::Structure,
            1 => Area::Declarations,
            2 => Area::Operands,
            3 => Area::Instructions,
            4 => Area::Flow,
            _ => Area::Platform,
        }
    }

    /// The rule of this text: number (`V0123`, `123`), short name, or both; letters of either case.
    #[must_use]
    pub fn find(text: &str) -> Option<&'static Self> {
        let digits = text.strip_prefix(['V', 'v']).unwrap_or(text);
        let (number, name) = match digits.split_once('-') {
            Some((number, name)) if number.bytes().all(|b| b.is_ascii_digit()) => {
                (number, Some(name))
            }
            _ => (digits, None),
        };
        let same = |rule: &&Rule, name: &str| rule.name.eq_ignore_ascii_case(name);
        let mut all = crate::rules::all();
        match number.parse::<u16>() {
            Ok(number) => all.find(|r| r.number == number && name.is_none_or(|n| same(r, n))),
            Err(_) => all.find(|r| same(r, text)),
        }
    }
}

/// The identifier of a rule, shown as `V0123-short-name`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RuleId {
    number: u16,
    name: &'static str,
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "V{:04}-{}", self.number, self.name)
    }
}

/// Declares rules: the constant, the number, the name, the severity; what the rule requires, what
/// to do about a finding, the origin of the rule.
macro_rules! rules {
    ($( $constant:ident = $number:literal $name:literal $severity:ident {
        what: $what:literal,
        action: $action:literal,
        source: $source:expr,
    } )*) => {
        $(
            #[doc = $what]
            pub static $constant: $crate::rule::Rule = $crate::rule::Rule {
                number: $number,
                name: $name,
                severity: $crate::rule::Severity::$severity,
                what: $what,
                action: $action,
                source: $source,
            };
        )*

        /// The rules of this area, by number.
        pub(super) static ALL: &[&$crate::rule::Rule] = &[$(&$constant),*];
    };
}
pub(crate) use rules;
