//! The constructors are those of the rows.

#[path = "../../../../xtask/src/builders.rs"]
mod builders;

#[test]
fn constructors_are_those_of_the_rows() {
    let path = visakit_testing::root().join(builders::PATH);
    visakit_testing::page::holds(&path, &builders::source());
}
