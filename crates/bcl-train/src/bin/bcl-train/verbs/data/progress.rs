//! Progress of a download: a bar on a terminal, a few lines elsewhere.

use bcl_data::download::Observer;
use bcl_files::notice;
use indicatif::{HumanBytes, ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal};

/// If the size is unknown, a line is printed each time this many bytes have arrived.
const LINE_EVERY: u64 = 32 << 20;

/// Shows the progress of a download on standard error.
#[derive(Default)]
pub(super) enum Progress {
    /// No download is running.
    #[default]
    Idle,
    /// A progress bar.
    Bar(ProgressBar),
    /// One line per tenth of the file.
    Lines {
        /// Name of the file.
        name: String,
        /// Number of bytes at which the next line is due.
        next: u64,
    },
}

impl Observer for Progress {
    fn say(&mut self, text: &str) {
        match self {
            Self::Bar(bar) => bar.suspend(|| notice::line(text)),
            Self::Idle | Self::Lines { .. } => notice::line(text),
        }
    }

    fn begin(&mut self, name: &str) {
        *self = if io::stderr().is_terminal() {
            let style = "{msg} [{wide_bar}] {bytes}/{total_bytes} {bytes_per_sec} {eta}";
            let bar = ProgressBar::no_length().with_message(name.to_owned());
            Self::Bar(bar.with_style(ProgressStyle::with_template(style).expect("the template is valid")))
        } else {
            Self::Lines {
                name: name.to_owned(),
                next: 0,
            }
        }
    }

    fn received(&mut self, done: u64, total: Option<u64>) {
        match self {
            Self::Idle => {}
            Self::Bar(bar) => {
                bar.set_length(total.unwrap_or(done));
                bar.set_position(done);
            }
            Self::Lines { name, next } => {
                if let Some(line) = line(done, total, next) {
                    notice::line(format_args!("{name}: {line}"));
                }
            }
        }
    }

    fn end(&mut self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
        *self = Self::Idle;
    }
}

/// The line to print once `done` bytes have arrived, if one is due; moves `next` to the following one.
fn line(done: u64, total: Option<u64>, next: &mut u64) -> Option<String> {
    if done < *next {
        return None;
    }
    let every = total.map_or(LINE_EVERY, |total| total.div_ceil(10).max(1));
    *next = (done / every + 1) * every;
    if let Some(total) = total {
        *next = (*next).min(total.max(done + 1));
        return Some(format!("{} of {}", HumanBytes(done), HumanBytes(total)));
    }
    Some(HumanBytes(done).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_size_gives_a_line_per_tenth_and_one_at_the_end() {
        let mut next = 0;
        let steps = (0..=104).step_by(4).chain([105]);
        let printed: Vec<_> = steps.filter(|done| line(*done, Some(105), &mut next).is_some()).collect();
        assert_eq!(printed, [0, 12, 24, 36, 44, 56, 68, 80, 88, 100, 105]);
    }

    #[test]
    fn an_unknown_size_gives_a_line_per_32_mebibytes() {
        let mut next = 0;
        let printed: Vec<_> = (0..=6)
            .filter(|step| line(step * LINE_EVERY / 2, None, &mut next).is_some())
            .collect();
        assert_eq!(printed, [0, 2, 4, 6]);
    }
}
