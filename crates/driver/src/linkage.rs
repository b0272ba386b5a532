//! Programs that use functions and variables of others, which they are linked with when all are built.

use crate::binary::{Binary, Routine};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use visakit_launch::Source;

/// The place of the name that a line of text calls, takes the address of, or defines.
fn name_in(line: &str) -> Option<std::ops::Range<usize>> {
    let code = line.split("//").next()?;
    let mut words = code.split_whitespace();
    let is_first = |word: &&str| matches!(*word, "faddr" | "fcall" | ".global_function");
    let rest = match words.find(is_first)? {
        // Behind the execution size.
        "fcall" => code.rsplit_once(')')?.1,
        word => code.split_once(word)?.1,
    };
    let word = rest.split_whitespace().next()?;
    let name = word.trim_matches('"');
    let start = code.len() - rest.len() + rest.find(name)?;
    (!name.is_empty()).then(|| start..start + name.len())
}

/// The text with other names for functions and variables.
fn renamed(text: &[u8], mut new: impl FnMut(&str) -> String) -> Vec<u8> {
    let text = String::from_utf8_lossy(text);
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        match name_in(line).and_then(|at| {
            Some((
                line.get(..at.start)?,
                line.get(at.clone())?,
                line.get(at.end..)?,
            ))
        }) {
            Some((before, name, after)) => {
                out.push_str(before);
                out.push_str(&new(name));
                out.push_str(after);
            }
            None => out.push_str(line),
        }
    }
    out.into_bytes()
}

/// What a program gets from others.
struct Linking<'a> {
    /// The program, and then all others.
    all: Vec<&'a Binary>,
    /// Names in the linked program, and whose they are.
    names: BTreeMap<String, usize>,
    /// Addresses of variables of others, by names in the linked program.
    variables: BTreeMap<String, u64>,
    /// Functions that are to be added.
    wanted: Vec<(usize, String)>,
    seen: BTreeSet<(usize, String)>,
    missing: BTreeSet<String>,
}

impl<'a> Linking<'a> {
    fn new(program: &'a Binary, others: &'a [Arc<Binary>]) -> Self {
        let own = program.functions.keys().cloned();
        let own = own.chain(program.symbols.iter().map(|s| s.name.clone()));
        let own = own.map(|name| (name, 0)).collect();
        Self {
            all: std::iter::once(program)
                .chain(others.iter().map(|other| &**other))
                .collect(),
            names: own,
            variables: BTreeMap::new(),
            wanted: Vec::new(),
            seen: BTreeSet::new(),
            missing: BTreeSet::new(),
        }
    }

    /// Whose a name is that a program uses: its own, or that of the first one that has it.
    fn owner(&self, user: usize, name: &str) -> Option<usize> {
        let has = |number: &usize| {
            self.all.get(*number).is_some_and(|binary| {
                binary.functions.contains_key(name) || binary.variable_of(name).is_some()
            })
        };
        std::iter::once(user).chain(0..self.all.len()).find(has)
    }

    /// The name in the linked program of what a program uses by this name.
    fn name(&mut self, user: usize, name: &str) -> String {
        let Some(owner) = self.owner(user, name) else {
            // Of the compiler's runtime.
            if !name.starts_with("__") {
                self.missing.insert(name.to_owned());
            }
            return name.to_owned();
        };
        let is_free = *self.names.entry(name.to_owned()).or_insert(owner) == owner;
        let new = if is_free {
            name.to_owned()
        } else {
            format!("{name}.{owner}")
        };
        if owner > 0 {
            let function = (owner, name.to_owned());
            if let Some(address) = self
                .all
                .get(owner)
                .and_then(|binary| binary.variable_of(name))
            {
                self.variables.insert(new.clone(), address);
            } else if self.seen.insert(function.clone()) {
                self.wanted.push(function);
            }
        }
        new
    }

    /// The texts of the functions that are wanted, and of those that they call.
    fn texts(&mut self) -> Vec<Source> {
        let mut texts = Vec::new();
        while let Some((owner, name)) = self.wanted.pop() {
            let text = self
                .all
                .get(owner)
                .and_then(|binary| binary.functions.get(&name));
            if let Some(text) = text {
                let bytes = renamed(&text.bytes, |name| self.name(owner, name));
                texts.push(Source {
                    path: text.path.clone(),
                    bytes,
                });
            }
        }
        texts
    }
}

impl Binary {
    /// The address of a variable, by the name that programs have for it.
    fn variable_of(&self, name: &str) -> Option<u64> {
        let is_own = self.symbols.iter().any(|symbol| symbol.name == name);
        self.variables.address(name).filter(|_| is_own)
    }

    /// The program with the functions and variables of others that it uses. A name that several have stands for that of
    /// each in its own code.
    ///
    /// # Errors
    /// The names that none of them has.
    pub fn linked(&self, others: &[Arc<Self>]) -> Result<Self, Vec<String>> {
        let mut linking = Linking::new(self, others);
        for name in &self.imports {
            linking.name(0, name);
        }
        let more = linking.texts();
        if !linking.missing.is_empty() {
            return Err(linking.missing.into_iter().collect());
        }
        let variables = self.variables.linked(&linking.variables);
        let kernels = self.kernels.iter().map(|(name, kernel)| {
            let texts = kernel.texts.iter().chain(&more).cloned().collect();
            (name.clone(), Routine::new(texts))
        });
        Ok(Self {
            bytes: self.bytes.clone(),
            zeinfo: self.zeinfo.clone(),
            zeinfo_text: self.zeinfo_text.clone(),
            variables: Arc::new(variables),
            held: Arc::clone(&self.held),
            _linked: others.to_vec(),
            locals: self.locals.clone(),
            symbols: self.symbols.clone(),
            grf_bytes: self.grf_bytes,
            options: self.options.clone(),
            parts: self.parts.clone(),
            kernels: kernels.collect(),
            functions: self.functions.clone(),
            imports: Vec::new(),
        })
    }

    /// Names of functions and variables that others can use.
    pub fn exports(&self) -> impl Iterator<Item = &str> {
        let functions = self.functions.keys().map(String::as_str);
        functions.chain(self.symbols.iter().map(|symbol| symbol.name.as_str()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn names_in_texts() {
        let text = b".global_function \"foo\"\n  faddr foo V1(0,0)<1>  /// $1\n (P1) fcall (M1, 16) \"bar\" 3 1\n\
            ifcall (M1, 8) V80(0,0)<0;1,0> 1 1\n// faddr none V2\nfaddr f V3(0,0)<1>";
        let mut names = Vec::new();
        let new = renamed(text, |name| {
            names.push(name.to_owned());
            format!("{name}.1")
        });
        assert_eq!(names, ["foo", "foo", "bar", "f"]);
        let expected = b".global_function \"foo.1\"\n  faddr foo.1 V1(0,0)<1>  /// $1\n (P1) fcall (M1, 16) \"bar.1\" 3 1\n\
            ifcall (M1, 8) V80(0,0)<0;1,0> 1 1\n// faddr none V2\nfaddr f.1 V3(0,0)<1>";
        assert_eq!(new, expected);
    }
}
