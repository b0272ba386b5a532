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

        #[expect(missing_docs, reason = "as of the standard library")]
        impl $name {
            pub const fn new(value: $value) -> Self {
                Self(std::sync::atomic::$inner::new(value))
            }

            words! {
                load = load(order: Ordering) -> $value;
                store = store(value: $value, order: Ordering) -> ();
                swap = swap(value: $value, order: Ordering) -> $value;
                fetch_add = fetch_add(value: $value, order: Ordering) -> $value;
                fetch_sub = fetch_sub(value: $value, order: Ordering) -> $value;
                fetch_min = fetch_min(value: $value, order: Ordering) -> $value;
                fetch_max = fetch_max(value: $value, order: Ordering) -> $value;
                fetch_and = fetch_and(value: $value, order: Ordering) -> $value;
                fetch_or = fetch_or(value: $value, order: Ordering) -> $value;
                fetch_xor = fetch_xor(value: $value, order: Ordering) -> $value;
                compare_exchange = compare_exchange(
                    old: $value, new: $value, success: Ordering, failure: Ordering
                ) -> Result<$value, $value>;
                // One that fails for no reason would not do the same each time.
                compare_exchange_weak = compare_exchange(
                    old: $value, new: $value, success: Ordering, failure: Ordering
                ) -> Result<$value, $value>;
            }
        }
    )*};
    ($($operation:ident = $inner:ident($($argument:ident: $ty:ty),*) -> $result:ty;)*) => {$(
        pub fn $operation(&self, $($argument: $ty),*) -> $result {
            shuttle::thread::yield_now();
            self.0.$inner($($argument),*)
        }
    )*};
}

words! {
    U8 is AtomicU8 of u8;
    U16 is AtomicU16 of u16;
    U32 is AtomicU32 of u32;
    U64 is AtomicU64 of u64;
}
