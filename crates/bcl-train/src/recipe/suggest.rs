//! "Did you mean".

/// The word that was probably meant, if one is close enough to be worth a guess.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Jaro-Winkler favours a common beginning, as typing mistakes do; below 0.75 guesses surprise more than they help.
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&word.to_lowercase(), candidate), candidate))
        .filter(|(similarity, _)| *similarity > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_strangers_are_not() {
        let known = ["temperature", "tau_plus", "alpha", "beta", "kind"];
        for (word, meant) in [
            ("temprature", Some("temperature")),
            ("tau-plus", Some("tau_plus")),
            ("Alpha", Some("alpha")),
            ("bata", Some("beta")),
            ("knd", Some("kind")),
            ("epochs", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, known), meant, "{word}");
        }
    }
}
