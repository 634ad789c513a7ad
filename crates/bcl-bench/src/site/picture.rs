//! Pictures as part of the page.

use base64::{Engine, engine::general_purpose::STANDARD};
use bcl_report::page::escape;

/// A picture in the page itself. An SVG so shown follows the reader's choice of light or dark and cannot run a script.
pub(super) fn inline(bytes: &[u8], kind: &str, alternative: &str) -> String {
    format!("<img src=\"{}\" alt=\"{}\">\n", address(bytes, kind), escape(alternative))
}

/// The picture as an address that holds it.
pub(super) fn address(bytes: &[u8], kind: &str) -> String {
    format!("data:image/{kind};base64,{}", STANDARD.encode(bytes))
}
