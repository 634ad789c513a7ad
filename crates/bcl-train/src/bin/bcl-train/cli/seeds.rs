//! Lists and ranges of seeds on the command line.

use std::str::FromStr;

/// The most seeds per command. A larger number is a slip, such as a missing comma.
const MOST: u64 = 10_000;

/// A list `0,1,2`, a range `0..3` that excludes its end, or a range `0..=2` that includes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seeds(pub Vec<u64>);

/// Why a text is not a list of seeds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}; write a list such as 0,1,2 or a range such as 0..3")]
pub(crate) struct BadSeeds(String);

/// Why a text is not a seed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a whole number from 0 to {max}", max = i64::MAX)]
pub(crate) struct BadSeed(String);

impl From<BadSeed> for BadSeeds {
    fn from(bad: BadSeed) -> Self {
        Self(bad.to_string())
    }
}

impl FromStr for Seeds {
    type Err = BadSeeds;

    fn from_str(text: &str) -> Result<Self, BadSeeds> {
        let seeds: Vec<u64> = match text.split_once("..") {
            Some((start, end)) => {
                let start = seed(start)?;
                let end = match end.strip_prefix('=') {
                    Some(last) => seed(last)?.saturating_add(1),
                    None => seed(end)?,
                };
                if end <= start {
                    return Err(BadSeeds(format!("the range `{text}` is empty")));
                }
                if end - start > MOST {
                    return Err(BadSeeds(format!("the range `{text}` has more than {MOST} seeds")));
                }
                (start..end).collect()
            }
            None => text.split(',').map(seed).collect::<Result<_, BadSeed>>()?,
        };
        for (i, seed) in seeds.iter().enumerate() {
            if seeds[..i].contains(seed) {
                return Err(BadSeeds(format!("seed {seed} is listed twice")));
            }
        }
        Ok(Self(seeds))
    }
}

/// Parses one seed. Integers in TOML end at 2^63 - 1.
pub(super) fn seed(text: &str) -> Result<u64, BadSeed> {
    match text.trim().parse() {
        Ok(seed) if i64::try_from(seed).is_ok() => Ok(seed),
        _ => Err(BadSeed(text.to_owned())),
    }
}

/// Parses the value of `--seed`. For several seeds, the error points to `--seeds`.
pub(super) fn single_seed(text: &str) -> Result<u64, String> {
    seed(text).map_err(|bad| match text.parse::<Seeds>() {
        Ok(_) => format!("{bad}; for several seeds write --seeds {text}"),
        Err(_) => bad.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_both_kinds_of_ranges_are_read() {
        for text in ["0,1,2", "0..3", "0..=2"] {
            assert_eq!(text.parse(), Ok(Seeds(vec![0, 1, 2])));
        }
    }

    #[test]
    fn bad_seeds_are_refused_with_the_reason() {
        for (text, problem) in [
            ("", "`` is not a whole number"),
            ("a", "`a` is not a whole number"),
            ("1,,2", "`` is not a whole number"),
            ("-1", "`-1` is not a whole number"),
            ("1.5", "`1.5` is not a whole number"),
            ("9223372036854775808", "is not a whole number from 0 to"),
            ("3..3", "the range `3..3` is empty"),
            ("3..1", "the range `3..1` is empty"),
            ("..3", "`` is not a whole number"),
            ("0..", "`` is not a whole number"),
            ("0..1000000000", "more than 10000 seeds"),
            ("1,2,1", "seed 1 is listed twice"),
        ] {
            let error = text.parse::<Seeds>().unwrap_err().to_string();
            assert!(error.contains(problem) && error.ends_with("such as 0..3"), "{text}: {error}");
        }
    }
}
