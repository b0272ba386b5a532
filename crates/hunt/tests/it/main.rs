//! Tests of the hunt, those with a compiler only where `ocloc` is installed.

mod campaign;
mod finalizers;
mod programs;
