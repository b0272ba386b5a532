//! Programs that call functions of others, which they are linked with when all are built.

use crate::binary::{self, Binary, SYMBOLS, TEXT, ZEBIN};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Functions that a text calls by their names, or takes the addresses of.
fn called(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let name = |line: &str| {
        let line = line.split("//").next().unwrap_or_default();
        let mut words = line.split_whitespace();
        let found = match words.find(|word| matches!(*word, "faddr" | "fcall"))? {
            "faddr" => words.next()?,
            // Behind the execution size.
            _ => line.rsplit_once(')')?.1.split_whitespace().next()?,
        };
        Some(found.trim_matches('"').to_owned())
    };
    text.lines().filter_map(name).collect()
}

impl Binary {
    /// The container of the program with the functions of others that it needs.
    ///
    /// # Errors
    /// The functions that none of them has.
    pub fn linked(&self, others: &[Arc<Self>]) -> Result<Vec<u8>, Vec<String>> {
        let mut missing = Vec::new();
        let mut seen = BTreeSet::new();
        let mut wanted = self.imports.clone();
        let mut more = Vec::new();
        while let Some(name) = wanted.pop() {
            if self.functions.contains_key(&name) || !seen.insert(name.clone()) {
                continue;
            }
            match others.iter().find_map(|other| other.functions.get(&name)) {
                Some(function) => {
                    wanted.extend(called(&function.bytes));
                    more.push(function.bytes.clone());
                }
                None => missing.push(name),
            }
        }
        if !missing.is_empty() {
            return Err(missing);
        }
        let pieces = binary::unpack(&self.bytes);
        let mut pieces = pieces.unwrap_or_else(|| vec![(ZEBIN.to_owned(), self.bytes.clone())]);
        let of_kernel = |name: &str| name.strip_prefix(TEXT).is_some_and(|n| n != SYMBOLS);
        pieces.retain(|(name, _)| !of_kernel(name));
        for kernel in self.names() {
            let texts = self.texts(kernel).iter().map(|text| &text.bytes);
            let texts = texts.chain(&more);
            pieces.extend(texts.map(|text| (format!("{TEXT}{kernel}"), text.clone())));
        }
        Ok(binary::pack(&pieces))
    }

    /// Names of the functions that others can call.
    pub fn exports(&self) -> impl Iterator<Item = &str> {
        self.functions.keys().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::called;

    #[test]
    fn calls_in_texts() {
        let text = b"  faddr foo V1(0,0)<1>  /// $1\n (P1) fcall (M1, 16) \"bar\" 3 1\n ifcall (M1, 8) V80(0,0)<0;1,0> 1 1\n// faddr none V2";
        assert_eq!(called(text), ["foo", "bar"]);
    }
}
