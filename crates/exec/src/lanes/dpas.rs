//! Elements of systolic dot products.
