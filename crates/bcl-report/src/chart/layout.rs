//! Layout of a chart: plotted area, labels, axis names, and room above and below.

/// Mean width of a letter in labels and in titles, and the height of a line of text, in chart units.
pub(super) const LETTER: f64 = 7.0;
const TITLE_LETTER: f64 = 8.4;
pub(super) const LINE: f64 = 18.0;

/// Width of a chart in a page.
pub(super) const WIDTH: f64 = 380.0;
/// Minimum room for the labels of the vertical axis.
const LEFT: f64 = 48.0;
/// Room for the name of the vertical axis.
const NAME: f64 = 20.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 10.0;
/// Room for the labels and the name of the horizontal axis.
const BOTTOM: f64 = 42.0;

/// Dimensions of a chart. The plotted area extends from `left` to `right` and from `top` down to `floor`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub(super) width: f64,
    /// Height including the axes, without the legend below.
    pub(super) height: f64,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) floor: f64,
}

impl Layout {
    /// A layout of `width` by `height` without a name of the vertical axis.
    pub(super) fn new(width: f64, height: f64) -> Self {
        Self {
            width,
            height,
            left: LEFT,
            right: width - RIGHT,
            top: TOP,
            floor: height - BOTTOM,
        }
    }

    /// Makes room for vertical-axis labels of up to `letters` letters and, if `named`, for the axis name.
    pub(super) fn with_labels(self, letters: usize, named: bool) -> Self {
        let labels = LEFT.max(10.0 + LETTER * letters as f64);
        let left = labels + if named { NAME } else { 0.0 };
        Self { left, ..self }
    }

    /// Makes room for half of the last label, of `letters` letters, at the right end of the horizontal axis.
    pub(super) fn with_last_label(self, letters: usize) -> Self {
        let room = RIGHT.max(2.0 + LETTER * letters as f64 / 2.0);
        Self {
            right: self.width - room,
            ..self
        }
    }

    /// Adds `lines` lines of text above the plotted area.
    pub(super) fn with_lines_above(self, lines: usize) -> Self {
        let room = if lines > 0 { LINE * lines as f64 + 6.0 } else { 0.0 };
        Self {
            height: self.height + room,
            top: self.top + room,
            floor: self.floor + room,
            ..self
        }
    }

    /// Number of ticks that fit on the vertical axis.
    pub(super) fn ticks_upwards(&self) -> usize {
        ((self.floor - self.top) / 47.0).max(2.0) as usize
    }

    /// Number of ticks that fit on the horizontal axis.
    pub(super) fn ticks_along(&self) -> usize {
        ((self.right - self.left) / 60.0).max(2.0) as usize
    }
}

/// Wraps a title between words into lines of at most `width`.
pub(super) fn wrapped(text: &str, width: f64) -> Vec<String> {
    let most = (width / TITLE_LETTER) as usize;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_broken_between_words() {
        assert_eq!(wrapped("mean squared  error", 12.0 * TITLE_LETTER), ["mean squared", "error"]);
        assert_eq!(wrapped("indivisible", 3.0), ["indivisible"]);
        assert!(wrapped("", 100.0).is_empty());
    }

    #[test]
    fn long_labels_and_names_get_room() {
        let layout = Layout::new(380.0, 240.0);
        assert_eq!(layout.with_labels(5, false).left, 48.0);
        assert_eq!(layout.with_labels(8, true).left, 86.0);
        assert_eq!(layout.with_last_label(2).right, 368.0);
        assert_eq!(layout.with_last_label(4).right, 364.0);
        assert_eq!(layout.with_lines_above(2).floor - layout.with_lines_above(2).top, 188.0);
    }
}
