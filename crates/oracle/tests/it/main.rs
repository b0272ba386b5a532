//! The slow machine, and the fast one beside it.

mod compare;
mod float;
mod hostile;
mod seeds;
mod smith;
mod styles;
