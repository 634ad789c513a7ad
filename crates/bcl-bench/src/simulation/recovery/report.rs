//! Tables and figures of the recovery.

use super::super::drawing::{Csv, Drawing, cells, columns};
use super::{MeanReading, RecoveryMethod, Structure, WorldRecovery};
use crate::tables::Recovery;
use bcl_report::{
    Column, Interval, Table,
    chart::{Axis, LineChart, Reference, Series, Shape},
};
use std::fmt;

/// The gains over C, and the stability over k.
pub(in crate::simulation) fn drawings(found: &[WorldRecovery]) -> [Drawing; 2] {
    [gains(found), stabilities(found)]
}

fn gains(found: &[WorldRecovery]) -> Drawing {
    let detector = ["gate", "stability", "k", "touched", "precision", "recall"];
    let detector: Vec<String> = ["first", "last"]
        .iter()
        .flat_map(|at| detector.iter().map(move |name| format!("{at}_{name}")))
        .collect();
    let mut csv = Csv::new(&format!(
        "world,classes,method,temperature,{},{},{},{}",
        columns("accuracy"),
        columns("gain"),
        columns("recovered"),
        detector.join(",")
    ));
    for WorldRecovery { world, rows, .. } in found {
        for row in rows {
            let recovered = row
                .recovered
                .map(|found| format!("{},{},{}", found.share, found.bounds[0], found.bounds[1]));
            let readings = row.readings.map(|readings| readings.map(|reading| reading.cells()).join(","));
            csv.row(&[
                &world.name(),
                &world.num_classes,
                &row.method.name().replace(", ", "_"),
                &row.temperature,
                &cells(&row.accuracy),
                &cells(&row.gain),
                &recovered.unwrap_or_else(|| ",,".to_owned()),
                &readings.unwrap_or_else(|| ",".repeat(detector.len() - 1)),
            ]);
        }
    }
    let plain = || found.iter().filter(|found| found.world.structure == Structure::Plain);
    let compared = RecoveryMethod::ALL.into_iter().enumerate().skip(1);
    let series = compared.map(|(index, method)| {
        let points = plain().map(|found| (found.world.num_classes as f64, found.rows[index].gain));
        let series = Series::new(method.name(), Shape::MarkedLine, points).with_colour(index - 1);
        // There is one method more than there are colours.
        if method == RecoveryMethod::FinerEliminate {
            series.with_dash(1)
        } else {
            series
        }
    });
    let chart = LineChart::new(
        "Gain over InfoNCE",
        "Accuracy less InfoNCE's on the same seeds, in points, with 95 % intervals over seeds, for worlds of 2 to 30 classes.",
        Axis::logarithmic("classes", 2),
        Axis::linear("points"),
    );
    let none = Reference {
        name: "InfoNCE".to_owned(),
        value: 0.0,
    };
    Drawing::new("recovery", chart.with_series(series).with_references([none]), csv)
}

impl MeanReading {
    /// Means as cells of a CSV file.
    fn cells(&self) -> String {
        let Self {
            gate,
            num_shut: _,
            stability,
            num_clusters,
            touched,
            precision,
            recall,
        } = self;
        [gate, stability, num_clusters, touched, precision, recall]
            .map(|interval| interval.mean.to_string())
            .join(",")
    }
}

fn stabilities(found: &[WorldRecovery]) -> Drawing {
    let mut csv = Csv::new(&format!("world,k,{}", columns("stability")));
    let mut series = Vec::new();
    for (colour, world) in found.iter().enumerate() {
        let stabilities = world.stabilities();
        for (k, stability) in &stabilities {
            csv.row(&[&world.world.name(), k, &cells(stability)]);
        }
        let points = stabilities.into_iter().map(|(k, stability)| (k as f64, stability));
        series.push(Series::new(world.world.name(), Shape::MarkedLine, points).with_colour(colour));
    }
    let chart = LineChart::new(
        "Stability over the number of clusters, before pairs are attracted",
        "Adjusted Rand index of the labelings by two halves of the bank at the first detection, with 95 % intervals over seeds.",
        Axis::logarithmic("clusters k", 2),
        Axis::linear("adjusted Rand index").including(0.0),
    );
    let closed = Reference {
        name: "gate shut below".to_owned(),
        value: bcl_clusters::Gate::default().closed,
    };
    Drawing::new("recovery-stability", chart.with_series(series).with_references([closed]), csv)
}

/// Accuracy, gain and recovery as a table.
pub(in crate::simulation) struct Gains<'a>(pub(in crate::simulation) &'a [WorldRecovery]);

impl fmt::Display for Gains<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let points = |interval: &Interval| {
            let half_width = interval.half_width.map(|half_width| format!(" ± {half_width:.1}"));
            format!("{:+.1}{}", interval.mean, half_width.unwrap_or_default())
        };
        let rows = self.0.iter().flat_map(|found| found.rows.iter().map(move |row| (found, row)));
        let rows = rows.map(|(found, row)| {
            let recovered = |found: &Recovery| format!("{:.2} [{:.2}, {:.2}]", found.share, found.bounds[0], found.bounds[1]);
            [
                found.world.name(),
                row.method.name().to_owned(),
                row.temperature.to_string(),
                format!("{:.1}", row.accuracy.mean),
                points(&row.gain),
                row.recovered.as_ref().map_or_else(|| "-".to_owned(), recovered),
            ]
        });
        let columns = Column::list(["world", "method"], ["t", "accuracy", "gain, points", "R"]);
        Table::new(columns, rows).fmt(f)
    }
}

/// What detectors read, as a table.
pub(in crate::simulation) struct Readings<'a>(pub(in crate::simulation) &'a [WorldRecovery]);

impl fmt::Display for Readings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.0.iter().flat_map(|found| {
            let seeds = found.seeds.len();
            found.rows.iter().filter_map(move |row| {
                let [first, last] = row.readings.as_ref()?;
                let both = |value: fn(&MeanReading) -> Interval, decimals: usize| {
                    format!("{:.decimals$} / {:.decimals$}", value(first).mean, value(last).mean)
                };
                Some([
                    found.world.name(),
                    row.method.name().to_owned(),
                    both(|reading| reading.gate, 2),
                    format!("{} / {} of {seeds}", first.num_shut, last.num_shut),
                    both(|reading| reading.stability, 2),
                    both(|reading| reading.num_clusters, 0),
                    both(|reading| reading.touched, 3),
                    both(|reading| reading.precision, 2),
                    both(|reading| reading.recall, 2),
                ])
            })
        });
        let numbers = ["gate", "shut", "stability", "k", "touched", "precision", "recall"];
        let columns = Column::list(["world", "method"], numbers);
        Table::new(columns, rows).fmt(f)
    }
}
