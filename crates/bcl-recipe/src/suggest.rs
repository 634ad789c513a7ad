//! Suggestions for misspelt words: "did you mean …?".

/// No known word is nearly as long, in bytes. Comparing takes time that grows with the square of the length.
const LONGEST: usize = 200;

/// The known word that was probably meant, if one is similar enough.
///
/// ```
/// assert_eq!(bcl_recipe::nearest("temprature", ["temperature", "beta"]), Some("temperature"));
/// ```
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST {
        return None;
    }
    let word = word.to_lowercase();
    // Jaro-Winkler favours a common beginning, which most typing errors keep. Below 0.75, suggestions are rarely right.
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&word, candidate), candidate))
        .filter(|(similarity, _)| *similarity > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_words_are_suggested_and_others_are_not() {
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
        assert_eq!(nearest(&"temperature".repeat(100), known), None);
    }
}
