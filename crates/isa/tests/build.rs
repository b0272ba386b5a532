//! The constructors are those of the rows.

#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../../../xtask/src/builders.rs"]
mod builders;

use std::path::Path;

#[test]
fn constructors_are_those_of_the_rows() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(builders::PATH);
    let wanted = builders::source();
    if std::env::var_os("VISAKIT_UPDATE_DOCS").is_some() {
        std::fs::write(&path, &wanted).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap();
    assert!(
        found == wanted,
        "run with VISAKIT_UPDATE_DOCS=1 to write {}",
        path.display()
    );
}
