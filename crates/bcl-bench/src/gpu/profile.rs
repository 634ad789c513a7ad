//! The time of each kernel in a training step, from the log that `CubeCL` writes.
//!
//! The log has a line per launch, and a table of sums whenever the program waits for the device. Only the last step counts: the first launch
//! of a kernel includes its compilation. Every step launches the same kernels between the same waits, so a step is what the log ends with
//! twice.

use bcl_report::{Column, Table};
use serde::Serialize;
use std::{collections::HashMap, fmt};

/// The settings that make `CubeCL` write the log; it reads them from `cubecl.toml` in the current folder.
pub(super) const SETTINGS: &str = "[profiling]\nlogger = { level = \"medium\", file = \"prof.log\" }\n";

/// The name of the log.
pub(super) const LOG: &str = "prof.log";

/// The kernels of a step.
#[derive(Debug, PartialEq, Serialize)]
pub struct ProfileReport {
    /// Whether all figures are of one step. If the log ends with no complete step, they are of all of it, with compilation.
    pub one_step: bool,
    /// Number of launches.
    pub launches: usize,
    /// Time of all kernels in milliseconds.
    pub ms: f64,
    /// The kernels by name, the one with the longest time first.
    pub kernels: Vec<KernelShare>,
}

/// All launches of a kernel.
#[derive(Debug, PartialEq, Serialize)]
pub struct KernelShare {
    /// Its name, without the hash of its settings.
    pub name: String,
    /// Number of launches.
    pub launches: usize,
    /// Time of these in milliseconds.
    pub ms: f64,
    /// That time relative to the time of all kernels.
    pub share: f64,
}

/// A kernel and its time in milliseconds; 0 if it was not measured.
type Launch<'a> = (&'a str, f64);

impl ProfileReport {
    /// Summarises a log; `None` if there is no launch in it.
    pub(super) fn of(log: &str) -> Option<Self> {
        let mut waits: Vec<Vec<Launch<'_>>> = vec![Vec::new()];
        for line in log.lines() {
            if is_end_of_table(line) {
                waits.push(Vec::new());
            } else if let (Some(launch), Some(wait)) = (launch(line), waits.last_mut()) {
                wait.push(launch);
            }
        }
        // The log may be cut off after the last table.
        let step = last_step(&waits[..waits.len() - 1]);
        let launches = step.unwrap_or(&waits).concat();
        (!launches.is_empty()).then(|| Self::new(step.is_some(), &launches))
    }

    fn new(one_step: bool, launches: &[Launch<'_>]) -> Self {
        let ms: f64 = launches.iter().map(|(_, ms)| ms).sum();
        let mut kernels: HashMap<&str, KernelShare> = HashMap::new();
        for &(name, time) in launches {
            let kernel = kernels.entry(name).or_insert_with(|| KernelShare {
                name: name.to_owned(),
                launches: 0,
                ms: 0.0,
                share: 0.0,
            });
            kernel.launches += 1;
            kernel.ms += time;
            kernel.share = if ms > 0.0 { kernel.ms / ms } else { 0.0 };
        }
        let mut kernels: Vec<KernelShare> = kernels.into_values().collect();
        kernels.sort_by(|one, other| other.ms.total_cmp(&one.ms).then_with(|| one.name.cmp(&other.name)));
        Self {
            one_step,
            launches: launches.len(),
            ms,
            kernels,
        }
    }
}

/// The number of kernels that are shown.
const SHOWN: usize = 10;

impl fmt::Display for ProfileReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = Column::list(["kernel"], ["launches", "ms", "share"]);
        let rows = self.kernels.iter().take(SHOWN).map(|kernel| {
            [
                kernel.name.clone(),
                kernel.launches.to_string(),
                format!("{:.2}", kernel.ms),
                format!("{:.1} %", 100.0 * kernel.share),
            ]
        });
        Table::new(columns, rows).fmt(f)?;
        let (launches, ms) = (self.launches, self.ms);
        if self.one_step {
            write!(f, "\n{launches} launches per step, {ms:.1} ms in kernels.")
        } else {
            write!(
                f,
                "\nNo step repeats at the end of the log; in all of it {launches} launches, {ms:.1} ms in kernels."
            )
        }
    }
}

fn is_end_of_table(line: &str) -> bool {
    line.starts_with("|⎯")
}

/// Reads `| 12.3µs     | Name | f32_0badf00d`; names contain bars. Rows of tables begin with a name.
fn launch(line: &str) -> Option<Launch<'_>> {
    let (time, name) = line.strip_prefix("| ")?.split_once(" | ")?;
    let ms = match time.trim() {
        "not measured" => 0.0,
        time => milliseconds(time)?,
    };
    let is_hash = |text: &str| text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let name = name.trim();
    let name = name
        .rsplit_once('_')
        .map_or(name, |(plain, end)| if is_hash(end) { plain } else { name });
    Some((name, ms))
}

/// Reads a duration such as `12.3µs`.
fn milliseconds(duration: &str) -> Option<f64> {
    let units = [("ns", 1e-6), ("µs", 1e-3), ("ms", 1.0), ("s", 1e3)];
    units.iter().find_map(|(unit, factor)| {
        let number: f64 = duration.strip_suffix(unit)?.parse().ok()?;
        Some(factor * number)
    })
}

/// The shortest series of different waits with which the log ends twice.
fn last_step<'a, 'b>(waits: &'a [Vec<Launch<'b>>]) -> Option<&'a [Vec<Launch<'b>>]> {
    // Gradients of the same depth may be computed in any order.
    let names = |wait: &Vec<Launch<'b>>| {
        let mut names: Vec<&str> = wait.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        names
    };
    let names: Vec<Vec<&str>> = waits.iter().map(names).collect();
    let count = waits.len();
    let repeats = |length: &usize| names[count - length..] == names[count - 2 * length..count - length];
    // A wait that repeats by itself is no step, which has several parts.
    let length = (1..=count / 2).find(repeats).filter(|length| *length > 1)?;
    Some(&waits[count - length..])
}

#[cfg(test)]
mod tests;
