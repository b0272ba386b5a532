//! Cached results derived from a file.

use crate::code::{Code, Printed};
use crate::fields::Part;
use std::cell::RefCell;
use std::rc::Rc;

/// The newest few of many things.
#[derive(Debug)]
pub(crate) struct Newest<K, V> {
    most: usize,
    kept: RefCell<Vec<(K, Rc<V>)>>,
}

impl<K: PartialEq, V> Newest<K, V> {
    const fn of(most: usize) -> Self {
        Self {
            most,
            kept: RefCell::new(Vec::new()),
        }
    }

    /// The thing of that key, made where it is not kept.
    pub(crate) fn get(&self, key: K, make: impl FnOnce() -> V) -> Rc<V> {
        let found = {
            let mut kept = self.kept.borrow_mut();
            let place = kept.iter().position(|(known, _)| *known == key);
            place.map(|place| kept.remove(place).1)
        };
        // Making one may ask for others.
        let value = found.unwrap_or_else(|| Rc::new(make()));
        let mut kept = self.kept.borrow_mut();
        if kept.len() >= self.most {
            kept.remove(0);
        }
        kept.push((key, Rc::clone(&value)));
        value
    }
}

/// Everything that is kept of a file; gone when its bytes change.
#[derive(Debug)]
pub(crate) struct Kept {
    /// By routine.
    pub(crate) codes: Newest<usize, Code>,
    /// By routine.
    pub(crate) printed: Newest<usize, Printed>,
    /// By part, and list of instructions in it.
    pub(crate) parts: Newest<(usize, Option<usize>), Part>,
}

impl Default for Kept {
    fn default() -> Self {
        Self {
            codes: Newest::of(8),
            printed: Newest::of(1),
            parts: Newest::of(16),
        }
    }
}
