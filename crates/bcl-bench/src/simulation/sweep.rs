//! Means and squared errors of the estimators while one parameter changes.

use super::drawing::{Csv, Drawing, cells, columns, text};
use super::parameter::Parameter;
use super::repeat::{interval, repeat};
use bcl_core::simulation::{Repetition, SimulationConfig, Theta};
use bcl_data::Seed;
use bcl_report::Interval;
use bcl_report::chart::{Axis, LineChart, Series, Shape};
use bcl_report::{Column, Table};
use serde::Serialize;
use std::fmt;

/// One estimator at one point.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Estimate {
    /// The estimator.
    pub theta: Theta,
    /// Its mean over anchors, with an interval over repetitions.
    pub mean: Interval,
    /// The mean of `(θ - θ_SUP)²` over anchors, with an interval over repetitions.
    pub mean_squared_error: Interval,
}

/// All estimators at one point of a sweep.
#[derive(Debug, Clone, Serialize)]
pub struct Point {
    /// The value of the swept parameter.
    pub value: f64,
    /// The mean of `θ_SUP`.
    pub mean_supervised: Interval,
    /// One estimate per estimator, in the order of [`Theta::ALL`].
    pub estimates: Vec<Estimate>,
}

/// A parameter and its points.
#[derive(Debug, Clone, Serialize)]
pub struct Sweep {
    /// The parameter that changes.
    pub parameter: Parameter,
    /// The points, by ascending value.
    pub points: Vec<Point>,
}

/// The sweeps of all parameters around `base`. A point that several sweeps share is drawn once.
pub fn sweeps(seed: Seed, base: &SimulationConfig) -> Vec<Sweep> {
    let drawn = Drawn::new(seed, Parameter::ALL.iter().flat_map(|parameter| parameter.points(base)));
    let of = |parameter: Parameter| {
        let configs = parameter.points(base);
        let found = configs
            .iter()
            .map(|config| Point::new(parameter.of(config), drawn.at(config)));
        Sweep {
            parameter,
            points: found.collect(),
        }
    };
    Parameter::ALL.map(of).into()
}

/// Points with their repetitions.
pub(super) struct Drawn {
    points: Vec<SimulationConfig>,
    repetitions: Vec<Vec<Repetition>>,
}

impl Drawn {
    /// Draws the repetitions of each point; equal points are drawn once.
    pub(super) fn new(seed: Seed, points: impl IntoIterator<Item = SimulationConfig>) -> Self {
        let mut distinct: Vec<SimulationConfig> = Vec::new();
        for point in points {
            if !distinct.contains(&point) {
                distinct.push(point);
            }
        }
        Self {
            repetitions: repeat(seed, "errors", &distinct, Repetition::draw),
            points: distinct,
        }
    }

    /// The repetitions of one of the points.
    pub(super) fn at(&self, point: &SimulationConfig) -> &[Repetition] {
        let place = self.points.iter().position(|other| other == point);
        &self.repetitions[place.expect("every point was drawn")]
    }
}

impl Point {
    fn new(value: f64, repetitions: &[Repetition]) -> Self {
        let estimate = |theta: Theta| Estimate {
            theta,
            mean: interval(repetitions, |repetition| repetition.mean(theta)),
            mean_squared_error: interval(repetitions, |repetition| repetition.mean_squared_error(theta)),
        };
        Self {
            value,
            mean_supervised: interval(repetitions, Repetition::mean_supervised),
            estimates: Theta::ALL.map(estimate).into(),
        }
    }
}

impl Sweep {
    /// A figure with the means of the estimators and of `θ_SUP`.
    pub fn means(&self) -> Drawing {
        let supervised = self.points.iter().map(|point| (point.value, point.mean_supervised));
        let series = self.series(|estimate| estimate.mean).into_iter();
        let series = series.chain([Series::new("θ_SUP", Shape::MarkedLine, supervised)
            .with_colour(7)
            .with_dash(0)]);
        let mut csv = Csv::new(&format!("{},estimator,{}", self.parameter.name(), columns("mean")));
        for point in &self.points {
            csv.row(&[&point.value, &"supervised", &cells(&point.mean_supervised)]);
            for estimate in &point.estimates {
                csv.row(&[&point.value, &estimate.theta.name(), &cells(&estimate.mean)]);
            }
        }
        self.drawing("means", "Means of the estimators", "mean over anchors", series.collect(), csv)
    }

    /// A figure with the mean squared errors.
    pub fn errors(&self) -> Drawing {
        let mut csv = Csv::new(&format!("{},estimator,{}", self.parameter.name(), columns("mse")));
        for point in &self.points {
            for estimate in &point.estimates {
                csv.row(&[&point.value, &estimate.theta.name(), &cells(&estimate.mean_squared_error)]);
            }
        }
        let series = self.series(|estimate| estimate.mean_squared_error);
        self.drawing("mse", "Squared error of the estimators", "mean (θ - θ_SUP)²", series, csv)
    }

    fn series(&self, value: impl Fn(&Estimate) -> Interval) -> Vec<Series> {
        let of = |theta: Theta| {
            let points = self
                .points
                .iter()
                .map(|point| (point.value, value(&point.estimates[theta as usize])));
            series_of(theta, points)
        };
        // In reverse order, to draw the dashed line of the plain Bayesian estimate on top of the normalised one's line.
        Theta::ALL.iter().rev().map(|&theta| of(theta)).collect()
    }

    fn drawing(&self, kind: &str, title: &str, y: &str, series: Vec<Series>, csv: Csv) -> Drawing {
        let symbol = self.parameter.symbol();
        let chart = LineChart::new(
            format!("{title} over {symbol}, 95 % intervals over repetitions"),
            format!("{title} for several values of {}.", self.parameter.name()),
            self.parameter.axis(),
            Axis::logarithmic(y, 10),
        );
        Drawing::new(format!("{kind}-{}", self.parameter.name()), chart.with_series(series), csv)
    }
}

/// The line of an estimator, with the same name and colour in every figure.
pub(super) fn series_of(theta: Theta, points: impl Iterator<Item = (f64, Interval)>) -> Series {
    let (name, colour) = match theta {
        Theta::Biased => ("biased (InfoNCE)", 1),
        Theta::Debiased => ("debiased (DCL)", 2),
        Theta::Hard => ("hard (HCL)", 3),
        Theta::Bayesian => ("Bayesian", 5),
        Theta::BayesianNormalised => ("Bayesian, normalised", 0),
    };
    Series::new(name, Shape::MarkedLine, points).with_colour(colour)
}

impl fmt::Display for Sweep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [self.parameter.name()].into_iter().chain(Theta::ALL.map(Theta::name));
        let row = |point: &Point| {
            let errors = point.estimates.iter().map(|estimate| text(&estimate.mean_squared_error));
            [point.value.to_string()].into_iter().chain(errors).collect::<Vec<String>>()
        };
        Table::new(names.map(Column::number), self.points.iter().map(row)).fmt(f)
    }
}
