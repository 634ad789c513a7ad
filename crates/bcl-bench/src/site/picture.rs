//! Embeds pictures in the page.

use base64::{Engine, engine::general_purpose::STANDARD};
use bcl_report::page::escape;

/// An `img` element with the picture embedded. An SVG shown this way follows the reader's choice of light or dark and cannot
/// run scripts.
pub(super) fn inline(bytes: &[u8], kind: &str, alternative: &str) -> String {
    format!("<img src=\"{}\" alt=\"{}\">\n", address(bytes, kind), escape(alternative))
}

/// The data URL of a picture.
pub(super) fn address(bytes: &[u8], kind: &str) -> String {
    format!("data:image/{kind};base64,{}", STANDARD.encode(bytes))
}
