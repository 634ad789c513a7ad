//! Numbers as bytes.

use std::{fmt::Debug, ops::AddAssign};

/// A number that processes can send and add: `f32`, `f64`, `i32`, `i64`, `u32` or `u64`, in little-endian order.
pub trait Element: Copy + Default + Debug + AddAssign + Send + Sync + private::Sealed + 'static {
    /// Size in bytes.
    const SIZE: usize = size_of::<Self>();

    #[doc(hidden)]
    fn write(values: &[Self], bytes: &mut Vec<u8>);

    #[doc(hidden)]
    fn read(bytes: &[u8]) -> Vec<Self>;
}

mod private {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($number:ty),*) => {$(
        impl private::Sealed for $number {}

        impl Element for $number {
            fn write(values: &[Self], bytes: &mut Vec<u8>) {
                let begin = bytes.len();
                bytes.resize(begin + size_of_val(values), 0);
                let (chunks, _) = bytes[begin..].as_chunks_mut();
                for (chunk, value) in chunks.iter_mut().zip(values) {
                    *chunk = value.to_le_bytes();
                }
            }

            fn read(bytes: &[u8]) -> Vec<Self> {
                let (chunks, rest) = bytes.as_chunks();
                assert!(rest.is_empty(), "{} bytes are no whole number of {}", bytes.len(), stringify!($number));
                chunks.iter().map(|chunk| Self::from_le_bytes(*chunk)).collect()
            }
        }
    )*};
}

elements!(f32, f64, i32, i64, u32, u64);

/// Writes numbers as bytes.
pub fn to_bytes<T: Element>(values: &[T]) -> Vec<u8> {
    let mut bytes = Vec::new();
    T::write(values, &mut bytes);
    bytes
}

/// Reads the numbers that [`to_bytes`] wrote, with the same bits.
///
/// # Panics
/// Panics if the bytes are no whole number of elements.
pub fn from_bytes<T: Element>(bytes: &[u8]) -> Vec<T> {
    T::read(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_bits() {
        let odd = [f32::from_bits(0x7fc0_1234), -0.0, f32::MIN_POSITIVE / 8.0, f32::NEG_INFINITY];
        let read: Vec<f32> = from_bytes(&to_bytes(&odd));
        assert_eq!(read.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), odd.map(f32::to_bits));
        assert_eq!(from_bytes::<u64>(&to_bytes(&[u64::MAX, 7])), [u64::MAX, 7]);
        assert_eq!(to_bytes(&[1_i32, -2]), [1, 0, 0, 0, 254, 255, 255, 255]);
    }

    #[test]
    #[should_panic(expected = "7 bytes are no whole number of f32")]
    fn a_torn_number_is_refused() {
        from_bytes::<f32>(&[0; 7]);
    }
}
