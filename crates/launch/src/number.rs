//! Numbers in arguments.

use crate::argument::Argument;
use crate::kernel::Outcome;

/// A number of a type that host and kernels share; kernels have it in little endian.
pub trait Number: Copy + private::Sealed {
    /// Appends its bytes.
    fn append(self, to: &mut Vec<u8>);
    /// The number that these bytes are, if there are enough for one.
    fn read(bytes: &[u8]) -> Option<Self>;
}

mod private {
    /// Other types have no such bytes.
    pub trait Sealed {}
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl private::Sealed for $number {}

        impl Number for $number {
            fn append(self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }

            fn read(bytes: &[u8]) -> Option<Self> {
                Some(Self::from_le_bytes(bytes.try_into().ok()?))
            }
        }
    )*};
}

numbers! { i8 u8 i16 u16 i32 u32 i64 u64 half::f16 f32 f64 }

impl Argument {
    /// A buffer with these numbers.
    #[must_use]
    pub fn array<T: Number>(numbers: &[T]) -> Self {
        let mut bytes = Vec::with_capacity(size_of_val(numbers));
        for number in numbers {
            number.append(&mut bytes);
        }
        Self::Buffer(bytes)
    }

    /// A value.
    #[must_use]
    pub fn number<T: Number>(number: T) -> Self {
        let mut bytes = Vec::with_capacity(size_of::<T>());
        number.append(&mut bytes);
        Self::Value(bytes)
    }
}

impl Outcome {
    /// The content of the buffer that an argument is, as numbers; bytes at its end that are not enough for one are left out.
    #[must_use]
    pub fn array<T: Number>(&self, argument: usize) -> Option<Vec<T>> {
        let bytes = self.memory(argument)?.chunks_exact(size_of::<T>());
        bytes.map(T::read).collect()
    }
}
