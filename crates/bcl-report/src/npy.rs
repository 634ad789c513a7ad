//! Writes arrays as NumPy's `.npy` files, version 1.0: a header that is a Python dictionary, then the values.

/// A two-dimensional array of `float32`, row-major.
///
/// # Panics
/// Panics if the number of values does not match the shape.
pub fn of_floats(values: &[f32], shape: [usize; 2]) -> Vec<u8> {
    assert_eq!(values.len(), shape[0] * shape[1], "as many values as the shape says");
    let bytes = values.iter().flat_map(|value| value.to_le_bytes());
    file("<f4", &format!("({}, {})", shape[0], shape[1]), bytes)
}

/// A one-dimensional array of `int64`.
pub fn of_integers(values: &[i64]) -> Vec<u8> {
    let bytes = values.iter().flat_map(|value| value.to_le_bytes());
    file("<i8", &format!("({},)", values.len()), bytes)
}

fn file(kind: &str, shape: &str, values: impl Iterator<Item = u8>) -> Vec<u8> {
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    // Ten bytes precede the header, and the values begin at a multiple of 64.
    let end = (10 + header.len() + 1).next_multiple_of(64);
    header.extend(std::iter::repeat_n(' ', end - 10 - header.len() - 1));
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(values);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_begin_at_a_multiple_of_64_behind_a_header_that_ends_its_line() {
        let bytes = of_floats(&[1.0, 2.0, 3.0, -4.0, 5.5, 6.0], [3, 2]);
        let length = u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
        assert_eq!((10 + length) % 64, 0);
        assert_eq!(bytes[10 + length - 1], b'\n');
        let header = std::str::from_utf8(&bytes[10..10 + length]).unwrap();
        assert!(header.starts_with("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }"));
        assert_eq!(bytes.len(), 10 + length + 6 * 4);
        assert_eq!(bytes[10 + length + 12..10 + length + 16], (-4.0f32).to_le_bytes());
        assert!(of_integers(&[7]).windows(4).any(|text| text == b"(1,)"));
    }
}
