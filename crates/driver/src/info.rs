//! Answers to `clGet…Info`: bytes.

/// A value as OpenCL returns it.
pub trait Answer {
    /// Its bytes.
    fn answer(self) -> Vec<u8>;
}

macro_rules! plain {
    ($($type:ty)*) => {$(
        impl Answer for $type {
            fn answer(self) -> Vec<u8> {
                self.to_ne_bytes().to_vec()
            }
        }
    )*};
}

plain!(u8 u32 i32 u64 usize isize);

impl Answer for bool {
    fn answer(self) -> Vec<u8> {
        u32::from(self).answer()
    }
}

impl Answer for &str {
    fn answer(self) -> Vec<u8> {
        let mut bytes = self.as_bytes().to_vec();
        bytes.push(0);
        bytes
    }
}

impl<T: Answer> Answer for Vec<T> {
    fn answer(self) -> Vec<u8> {
        self.into_iter().flat_map(T::answer).collect()
    }
}

impl<T: Answer, const N: usize> Answer for [T; N] {
    fn answer(self) -> Vec<u8> {
        self.into_iter().flat_map(T::answer).collect()
    }
}
