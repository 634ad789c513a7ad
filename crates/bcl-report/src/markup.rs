//! Escapes text from outside, so that it never becomes markup.

/// Escapes `text` for elements and for attributes in double or single quotes.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // HTML allows no control characters except line breaks and tabs.
            char if char.is_control() && !matches!(char, '\n' | '\t') => escaped.push(char::REPLACEMENT_CHARACTER),
            char => escaped.push(char),
        }
    }
    escaped
}

/// Concatenates the markup of all items.
pub fn each<T>(items: impl IntoIterator<Item = T>, markup: impl Fn(T) -> String) -> String {
    let mut all = String::new();
    for item in items {
        all.push_str(&markup(item));
    }
    all
}

/// A list of short sentences. Each sentence is markup, so escape text from outside first.
pub fn notes(sentences: impl IntoIterator<Item = String>) -> String {
    let items = each(sentences, |sentence| ["<li>", &sentence, "</li>\n"].concat());
    format!("<ul class=\"notes\">\n{items}</ul>\n")
}

/// Escapes a name such as `ml-100k/mf-bayesian` and allows line breaks after its slashes.
pub(super) fn breakable(name: &str) -> String {
    escape(name).replace('/', "/<wbr>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_text_stays_text() {
        assert_eq!(
            escape("<img src=\"x\" onerror='a()'> & \u{1b}\n"),
            "&lt;img src=&quot;x&quot; onerror=&#39;a()&#39;&gt; &amp; \u{fffd}\n"
        );
    }

    #[test]
    fn names_break_after_slashes_and_are_escaped_first() {
        assert_eq!(breakable("a/<b>"), "a/<wbr>&lt;b&gt;");
    }
}
