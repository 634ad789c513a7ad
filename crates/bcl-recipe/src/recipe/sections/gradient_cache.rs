//! The key `training.gradient_cache`: how many samples of a batch are in memory at a time.

use bcl_core::{ParameterError, gradient_cache::blocks, parameter::at_least};

const NAME: &str = "gradient_cache";

/// Checks that a batch splits into parts of `least` to `gradient_cache` samples.
///
/// # Errors
/// Returns an error with the value, and one that would work, if it does not.
pub(super) fn check(gradient_cache: Option<usize>, least: usize, batch_size: usize) -> Result<(), ParameterError> {
    let Some(at_most) = gradient_cache else { return Ok(()) };
    at_least(NAME, at_most, least)?;
    let refuse = |requirement: String| Err(ParameterError::new(NAME, at_most as f64, requirement));
    if at_most > batch_size {
        return refuse(format!(
            "be at most training.batch_size, {batch_size}; remove it to encode all of a batch at once"
        ));
    }
    if blocks(batch_size, at_most).any(|part| part.len() < least) {
        return refuse(format!(
            "be larger, for parts of at least {least} of the {batch_size} samples of training.batch_size; {} would do",
            at_most + 1
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(gradient_cache: usize, least: usize, batch_size: usize) -> String {
        check(Some(gradient_cache), least, batch_size).unwrap_err().to_string()
    }

    #[test]
    fn a_batch_is_taken_apart_into_parts_that_are_large_enough() {
        for (gradient_cache, least, batch_size) in [
            (2, 2, 4),
            (3, 2, 4),
            (3, 2, 5),
            (256, 2, 257),
            (5, 2, 5),
            (1, 1, 7),
            (2, 1, 3),
        ] {
            check(Some(gradient_cache), least, batch_size).unwrap();
        }
        check(None, 2, 3).unwrap();
        assert_eq!(refused(1, 2, 8), "gradient_cache is 1, but must be at least 2");
        assert_eq!(refused(0, 1, 8), "gradient_cache is 0, but must be at least 1");
        let larger = refused(9, 2, 8);
        assert!(larger.contains("at most training.batch_size, 8; remove it"), "{larger}");
        let of_one = refused(2, 2, 7);
        assert!(
            of_one.contains("parts of at least 2 of the 7 samples") && of_one.ends_with("3 would do"),
            "{of_one}"
        );
    }
}
