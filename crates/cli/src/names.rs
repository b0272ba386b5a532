//! Values that are names out of a list: help and completions show the list, and a wrong one suggests a right one.

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsStr;
use visakit::isa::table::{Group, rows};
use visakit::isa::{Device, Dialect, Platform, Version};
use visakit::validate::{Rule, rules};

/// Longer lists are not shown if a name is wrong.
const MOST_SHOWN: usize = 40;

/// A kind of names.
#[derive(Clone)]
pub(crate) struct Names<T> {
    known: fn() -> Vec<String>,
    /// Further names, which are suggested but not listed.
    also: fn() -> Vec<String>,
    value: fn(&str) -> Option<T>,
}

/// Platforms, by their own names or those of products, in any case.
pub(crate) fn platform() -> Names<Platform> {
    Names {
        known: || {
            Platform::ALL
                .iter()
                .map(|p| p.name().to_lowercase())
                .collect()
        },
        also: || {
            let sold = Device::all().iter().flat_map(|d| d.sold_as);
            sold.map(|name| (*name).to_owned()).collect()
        },
        value: Platform::from_name,
    }
}

/// Versions of objects that can be written.
pub(crate) fn version() -> Names<Version> {
    Names {
        known: || Version::SUPPORTED.iter().map(Version::to_string).collect(),
        also: Vec::new,
        value: |text| {
            let mut all = Version::SUPPORTED.into_iter();
            all.find(|version| version.to_string() == text)
        },
    }
}

/// Dialects.
pub(crate) fn dialect() -> Names<Dialect> {
    Names {
        known: || Dialect::ALL.iter().map(|d| d.name().to_owned()).collect(),
        also: Vec::new,
        value: |text| Dialect::from_name(&text.to_lowercase()),
    }
}

/// Groups of instructions.
pub(crate) fn group() -> Names<Group> {
    Names {
        known: || {
            groups()
                .into_iter()
                .map(|group| group.name().to_owned())
                .collect()
        },
        also: Vec::new,
        value: |text| {
            groups()
                .into_iter()
                .find(|g| g.name().eq_ignore_ascii_case(text))
        },
    }
}

/// The groups that instructions are in, as the table has them.
fn groups() -> Vec<Group> {
    let mut groups = Vec::new();
    for def in rows() {
        if !groups.contains(&def.group) {
            groups.push(def.group);
        }
    }
    groups
}

/// Rules of the validator.
pub(crate) fn rule() -> Names<&'static Rule> {
    Names {
        known: || rules::all().map(|rule| rule.id().to_string()).collect(),
        also: Vec::new,
        value: Rule::find,
    }
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Names<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        let text = value.to_string_lossy();
        if let Some(found) = (self.value)(&text) {
            return Ok(found);
        }
        let known = (self.known)();
        let lower = text.to_lowercase();
        // Rules are named with or without their numbers.
        let likeness = |name: &String| {
            let name = name.to_lowercase();
            let short = name
                .split_once('-')
                .map_or(name.as_str(), |(_, short)| short);
            strsim::jaro_winkler(&lower, &name).max(strsim::jaro_winkler(&lower, short))
        };
        let also = (self.also)();
        let like = known
            .iter()
            .chain(&also)
            .map(|name| (likeness(name), name))
            .filter(|(likeness, _)| *likeness > 0.8)
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, name)| name.clone());
        let mut error = clap::Error::new(ErrorKind::InvalidValue).with_cmd(command);
        let mut say = |kind, text| error.insert(kind, text);
        if let Some(argument) = argument {
            say(
                ContextKind::InvalidArg,
                ContextValue::String(argument.to_string()),
            );
        }
        let shown = crate::output::printable(text.as_bytes());
        say(ContextKind::InvalidValue, ContextValue::String(shown));
        if let Some(like) = like {
            say(ContextKind::SuggestedValue, ContextValue::String(like));
        }
        if known.len() <= MOST_SHOWN {
            say(ContextKind::ValidValue, ContextValue::Strings(known));
        }
        Err(error)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.known)().into_iter().map(PossibleValue::new)))
    }
}
