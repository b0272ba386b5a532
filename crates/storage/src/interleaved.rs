//! Words at whose accesses [`shuttle`] may let another thread run, so that tests go through the orders in which the
//! accesses of several threads can happen. A word is still the bytes that it is in a program: accesses of different
//! widths meet, as they do there. Orders that only weakly ordered memory shows are not among them.

use std::sync::atomic::Ordering;

macro_rules! words {
    ($($name:ident is $inner:ident of $value:ty;)*) => {$(
        #[doc = concat!("[`std::sync::atomic::", stringify!($inner), "`], whose accesses are those of a test's schedule.")]
        #[repr(transparent)]
        #[derive(Debug, Default)]
        pub struct $name(std::sync::atomic::$inner);

        impl $name {
            #[expect(missing_docs, reason = "as of the standard library")]
            pub const fn new(value: $value) -> Self {
                Self(std::sync::atomic::$inner::new(value))
            }

            words! { $value;
                load() -> $value;
                store(value: $value) -> ();
                swap(value: $value) -> $value;
                fetch_add(value: $value) -> $value;
                fetch_sub(value: $value) -> $value;
                fetch_min(value: $value) -> $value;
                fetch_max(value: $value) -> $value;
                fetch_and(value: $value) -> $value;
                fetch_or(value: $value) -> $value;
                fetch_xor(value: $value) -> $value;
            }

            #[expect(missing_docs, clippy::missing_errors_doc, reason = "as of the standard library")]
            pub fn compare_exchange(
                &self,
                old: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                shuttle::thread::yield_now();
                self.0.compare_exchange(old, new, success, failure)
            }

            #[expect(missing_docs, clippy::missing_errors_doc, reason = "as of the standard library")]
            pub fn compare_exchange_weak(
                &self,
                old: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(old, new, success, failure)
            }
        }
    )*};
    ($word:ty; $($operation:ident($($argument:ident: $value:ty)?) -> $result:ty;)*) => {$(
        #[expect(missing_docs, reason = "as of the standard library")]
        pub fn $operation(&self, $($argument: $value,)? order: Ordering) -> $result {
            shuttle::thread::yield_now();
            self.0.$operation($($argument,)? order)
        }
    )*};
}

words! {
    U8 is AtomicU8 of u8;
    U16 is AtomicU16 of u16;
    U32 is AtomicU32 of u32;
    U64 is AtomicU64 of u64;
}
