//! Sources with floats whose results the language determines bit for bit.

use super::parsed::{Parsed, of_kind};

/// Beginnings of the names of functions whose results are exact, or that compute no floats.
const EXACT: [&str; 34] = [
    "get_",
    "barrier",
    "work_group_barrier",
    "mem_fence",
    "convert_",
    "as_",
    "vload",
    "vstore",
    "fabs",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "round",
    "fma",
    "copysign",
    "isnan",
    "isinf",
    "isfinite",
    "isequal",
    "isless",
    "isgreater",
    "signbit",
    "select",
    "bitselect",
    "abs",
    "add_sat",
    "sub_sat",
    "hadd",
    "rhadd",
    "clz",
    "popcount",
    "mul_hi",
    "shuffle",
];

/// What leaves the results of a source with floats open: a division, a function with error limits, atomic operations
/// whose order decides.
pub(super) fn open_result(parsed: &Parsed) -> Option<String> {
    let root = parsed.root();
    let mut bare = parsed.source().to_owned();
    for comment in of_kind(root, "comment").into_iter().rev() {
        bare.replace_range(comment.byte_range(), " ");
    }
    if bare.contains('/') {
        return Some("/".to_owned());
    }
    let own = parsed.functions();
    let calls = of_kind(root, "call_expression").into_iter();
    let mut names =
        calls.filter_map(|call| Some(parsed.text(call.child_by_field_name("function")?)));
    let open = |name: &&str| {
        // A vector of numbers is a call of a type in parentheses to a parser of C.
        let exact = name.starts_with('(') || EXACT.iter().any(|begin| name.starts_with(begin));
        !exact && !own.contains(name)
    };
    names.find(open).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "helpers of tests")]

    use super::*;

    #[test]
    fn what_is_open() {
        let open = |body: &str| {
            let source = format!(
                "float own(float x) {{ return x; }}\n__kernel void k(__global float *p) {{ {body} }}"
            );
            open_result(&Parsed::new(&source).unwrap())
        };
        assert_eq!(open("p[0] = fma(own(p[1]), 2.0f, p[2]); // a / b"), None);
        assert_eq!(open("p[0] = ((float2)(p[1], 2.0f)).x;"), None);
        assert_eq!(open("p[0] = p[1] / p[2];").as_deref(), Some("/"));
        assert_eq!(open("p[0] = sin(p[1]);").as_deref(), Some("sin"));
        assert_eq!(open("atomic_add(q, 1);").as_deref(), Some("atomic_add"));
    }
}
