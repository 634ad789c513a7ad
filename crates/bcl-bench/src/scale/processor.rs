//! What a process has used of the machine, if the system reports it (Linux).

use serde::{Deserialize, Serialize};
use std::fs;

/// Use of the processor by all threads of this process.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ProcessorUse {
    /// Processor seconds of the program itself.
    pub user_seconds: f64,
    /// Processor seconds of the kernel on behalf of the program.
    pub kernel_seconds: f64,
    /// Page faults.
    pub page_faults: f64,
}

/// Linux counts processor time in hundredths of a second, on all its architectures.
const TICKS_PER_SECOND: f64 = 100.0;

impl ProcessorUse {
    /// What this process has used so far.
    pub(super) fn so_far() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/self/stat").ok()?)
    }

    /// What was used since an earlier time.
    pub(super) fn since(earlier: Option<Self>) -> Option<Self> {
        let (now, earlier) = (Self::so_far()?, earlier?);
        Some(Self {
            user_seconds: now.user_seconds - earlier.user_seconds,
            kernel_seconds: now.kernel_seconds - earlier.kernel_seconds,
            page_faults: now.page_faults - earlier.page_faults,
        })
    }

    /// Reads the fields 10 (minor faults), 12 (major faults), 14 and 15 (ticks) of proc(5).
    fn parse(text: &str) -> Option<Self> {
        // The second field, the name in parentheses, may contain spaces.
        let (_, rest) = text.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let number = |field: usize| fields.get(field - 3)?.parse::<f64>().ok();
        Some(Self {
            user_seconds: number(14)? / TICKS_PER_SECOND,
            kernel_seconds: number(15)? / TICKS_PER_SECOND,
            page_faults: number(10)? + number(12)?,
        })
    }

    /// The share of the kernel in the processor time.
    pub fn kernel_share(&self) -> f64 {
        self.kernel_seconds / (self.user_seconds + self.kernel_seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_from_behind_the_name() {
        let text = "42 (a) b) R 1 2 3 4 5 6 700 8 9 10 300 100 13 14";
        let found = ProcessorUse::parse(text).unwrap();
        let expected = ProcessorUse {
            user_seconds: 3.0,
            kernel_seconds: 1.0,
            page_faults: 709.0,
        };
        assert_eq!(found, expected);
        assert_eq!(found.kernel_share(), 0.25);
    }
}
