//! What generated programs may use.

/// A part of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "`Feature::DESCRIPTIONS` has a line for each")]
pub enum Feature {
    Vectors,
    Floats,
    Halves,
    Doubles,
    Longs,
    Structures,
    Arrays,
    Bytes,
    Tables,
    Loops,
    Switches,
    Functions,
    Builtins,
    Division,
    Conversions,
    Barriers,
    Atomics,
    SubGroups,
    WorkGroups,
    Blocks,
    Surfaces,
    Matrices,
    Idioms,
    Exact,
    Images,
}

impl Feature {
    /// All of them, with their names and what they are.
    pub const DESCRIPTIONS: [(Self, &'static str, &'static str); 25] = [
        (Self::Vectors, "vectors", "vectors of 2, 3, 4, 8 and 16"),
        (Self::Floats, "floats", "float"),
        (Self::Halves, "halves", "half"),
        (Self::Doubles, "doubles", "double"),
        (Self::Longs, "longs", "long and ulong"),
        (Self::Structures, "structures", "structures by value"),
        (Self::Arrays, "arrays", "private arrays, computed indices"),
        (Self::Bytes, "bytes", "bytes of private arrays"),
        (Self::Tables, "tables", "arrays in constant memory"),
        (Self::Loops, "loops", "loops with break and continue"),
        (Self::Switches, "switches", "switches that fall through"),
        (Self::Functions, "functions", "functions, also not inlined"),
        (Self::Builtins, "builtins", "built-in functions"),
        (Self::Division, "division", "division and remainder"),
        (Self::Conversions, "conversions", "convert_ and as_"),
        (Self::Barriers, "barriers", "local memory and barriers"),
        (Self::Atomics, "atomics", "atomic operations"),
        (Self::SubGroups, "subgroups", "sub-group shuffles"),
        (Self::WorkGroups, "workgroups", "work-group reductions"),
        (Self::Blocks, "blocks", "blocks that a sub-group reads"),
        (
            Self::Surfaces,
            "surfaces",
            "2D blocks that a sub-group reads",
        ),
        (Self::Matrices, "matrices", "products of matrices of bytes"),
        (
            Self::Idioms,
            "idioms",
            "patterns that compilers recognise, such as rotations",
        ),
        (
            Self::Exact,
            "exact",
            "functions of floats whose results are exact, such as fract",
        ),
        (Self::Images, "images", "images that are read and written"),
    ];

    /// All of them.
    #[must_use]
    pub fn all() -> Vec<Self> {
        Self::DESCRIPTIONS.iter().map(|d| d.0).collect()
    }

    /// The name.
    #[must_use]
    pub fn name(self) -> &'static str {
        let found = Self::DESCRIPTIONS.iter().find(|d| d.0 == self);
        found.map_or("", |d| d.1)
    }

    /// By its name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        let found = Self::DESCRIPTIONS.iter().find(|d| d.1 == name);
        found.map(|d| d.0)
    }
}
