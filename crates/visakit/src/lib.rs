//! visakit
pub use visakit_encode as encode;
pub use visakit_isa as isa;
pub use visakit_parse as parse;
pub use visakit_parse::ReadOptions;
#[doc(hidden)]
pub mod fuzz;
pub mod verify;
