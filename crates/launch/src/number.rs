//! Numbers in arguments.

use crate::argument::{Argument, Image};
use crate::kernel::Outcome;
use visakit_exec::memory::Sampler;
use visakit_isa::DataType;

/// A number of a type that host and kernels share; kernels have it in little endian.
pub trait Number: Copy + private::Sealed {
    /// Its type in kernels.
    const TYPE: DataType;
    /// Appends its bytes.
    fn append(self, to: &mut Vec<u8>);
    /// The number that these bytes are, if there are enough for one.
    fn read(bytes: &[u8]) -> Option<Self>;
}

mod private {
    /// Other types have no such bytes.
    pub trait Sealed {}
}

/// What is passed to a kernel: numbers and vectors by value, buffers by reference to their contents.
pub trait Passed {
    /// The type of its numbers, which is compared with that of the parameter ([`Kernel::check_type`]).
    ///
    /// [`Kernel::check_type`]: crate::Kernel::check_type
    const TYPE: Option<DataType>;
    /// The argument.
    fn argument(self) -> Argument;
}

macro_rules! arguments {
    ($($form:ty)*) => {$(
        impl<T: Number> Passed for $form {
            const TYPE: Option<DataType> = Some(T::TYPE);

            fn argument(self) -> Argument {
                Argument::array(self)
            }
        }
    )*};
}

arguments! { &[T] &mut [T] &Vec<T> }

impl<T: Number, const N: usize> Passed for &[T; N] {
    const TYPE: Option<DataType> = Some(T::TYPE);

    fn argument(self) -> Argument {
        Argument::array(self)
    }
}

/// A value of a vector type: `Vector([1.0_f32; 4])` is a `float4`. Vectors of three have the size of four.
///
/// Arrays themselves are not passed by value, lest a forgotten `&` makes another argument of a buffer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Vector<T, const N: usize>(pub [T; N]);

impl<T: Number, const N: usize> Passed for Vector<T, N> {
    const TYPE: Option<DataType> = Some(T::TYPE);

    fn argument(self) -> Argument {
        let mut value = bytes(&self.0);
        value.resize(size_of::<T>() * if N == 3 { 4 } else { N }, 0);
        Argument::Value(value)
    }
}

impl Passed for Argument {
    const TYPE: Option<DataType> = None;

    fn argument(self) -> Argument {
        self
    }
}

impl Passed for Image {
    const TYPE: Option<DataType> = None;

    fn argument(self) -> Argument {
        Argument::Image(self)
    }
}

impl Passed for Sampler {
    const TYPE: Option<DataType> = None;

    fn argument(self) -> Argument {
        Argument::Sampler(self)
    }
}

macro_rules! numbers {
    ($($number:ty: $type:ident)*) => {$(
        impl private::Sealed for $number {}

        impl Passed for $number {
            const TYPE: Option<DataType> = Some(DataType::$type);

            fn argument(self) -> Argument {
                Argument::number(self)
            }
        }

        impl Number for $number {
            const TYPE: DataType = DataType::$type;

            fn append(self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }

            fn read(bytes: &[u8]) -> Option<Self> {
                Some(Self::from_le_bytes(bytes.try_into().ok()?))
            }
        }
    )*};
}

numbers! { i8: B u8: Ub i16: W u16: Uw i32: D u32: Ud i64: Q u64: Uq half::f16: Hf f32: F f64: Df }

fn bytes<T: Number>(numbers: &[T]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size_of_val(numbers));
    for number in numbers {
        number.append(&mut bytes);
    }
    bytes
}

impl Argument {
    /// A buffer with these numbers.
    #[must_use]
    pub fn array<T: Number>(numbers: &[T]) -> Self {
        Self::Buffer(bytes(numbers))
    }

    /// A value.
    #[must_use]
    pub fn number<T: Number>(number: T) -> Self {
        Self::Value(bytes(&[number]))
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
