//! A scatter plot of features in two dimensions, with one colour and shape per class.

use super::NUM_COLOURS;
use super::picture::Picture;
use crate::markup::{each, escape};
use crate::showcase::{MAP_FILE, MapPoint, Showcase};
use crate::units::count;
use bcl_files::{FileError, write_whole};
use std::path::Path;

/// Width and height of the map; a standalone file has a legend below.
const SIDE: f64 = 380.0;
const MARGIN: f64 = 10.0;
/// Half the width of a point.
const RADIUS: f64 = 2.6;
/// Number of classes that have a distinct mark, which is the maximum for a legend.
const MOST_NAMED: usize = NUM_COLOURS * SHAPES;
const SHAPES: usize = 4;
const LEGEND_COLUMNS: usize = 2;
const LEGEND_LINE: f64 = 18.0;
/// Maximum length of a class name in the legend of a file.
const LONGEST_NAME: usize = 24;

/// A map of features.
#[derive(Debug)]
pub(crate) struct FeatureMap<'a> {
    title: &'a str,
    showcase: &'a Showcase,
    /// The points with finite coordinates.
    points: Vec<MapPoint>,
}

impl<'a> FeatureMap<'a> {
    pub(crate) fn of(showcase: &'a Showcase, title: &'a str) -> Self {
        let finite = |point: &&MapPoint| point.x.is_finite() && point.y.is_finite();
        let points = showcase.map.iter().filter(finite).copied().collect();
        Self { title, showcase, points }
    }

    /// The map as SVG for a page, which provides the colours and the [`legend`](Self::legend); `None` if there are no points.
    pub(crate) fn to_svg(&self, id: &str) -> Option<String> {
        let marks = self.marks()?;
        Some(self.picture(SIDE, &self.description(), &marks).to_svg(id))
    }

    /// The map as a standalone SVG file with a legend, in the reader's light or dark theme; `None` if there are no points.
    pub(crate) fn to_file(&self) -> Option<String> {
        let marks = self.marks()?;
        let (legend, height) = self.legend_below();
        Some(self.picture(height, &self.description(), &(marks + &legend)).to_file())
    }

    /// The mark and the name of each class, as an HTML list; empty if there are too many classes for distinct marks.
    pub(crate) fn legend(&self) -> String {
        let entries = each(self.named(), |(number, name)| {
            format!(
                "<li><svg class=\"key\" viewBox=\"0 0 8 8\" aria-hidden=\"true\">{}</svg><span>{}</span></li>\n",
                mark(number, 4.0, 4.0, ""),
                escape(name)
            )
        });
        if entries.is_empty() {
            return entries;
        }
        format!("<ul class=\"legend keys\">\n{entries}</ul>\n")
    }

    fn picture<'b>(&'b self, height: f64, description: &'b str, body: &'b str) -> Picture<'b> {
        Picture {
            width: SIDE,
            height,
            title: self.title,
            description,
            body,
        }
    }

    fn description(&self) -> String {
        let classes = if self.showcase.classes.is_empty() {
            String::new()
        } else {
            format!(" of {} classes", count(self.classes().len()))
        };
        format!(
            "{} {}{classes}; those with similar features are close to each other.",
            count(self.points.len()),
            self.showcase.samples()
        )
    }

    /// All points, with their class as tooltip.
    fn marks(&self) -> Option<String> {
        let place = fitted(&self.points)?;
        let classes = self.classes();
        Some(each(&self.points, |point| {
            let (left, top) = place(point);
            let number = classes.binary_search(&point.class).unwrap_or_default();
            if self.showcase.classes.is_empty() {
                return mark(0, left, top, "");
            }
            let name = escape(self.showcase.class(point.class));
            mark(number, left, top, &format!("<title>{name}</title>"))
        }))
    }

    /// The classes on the map, in ascending order.
    fn classes(&self) -> Vec<u32> {
        let mut classes: Vec<u32> = self.points.iter().map(|point| point.class).collect();
        classes.sort_unstable();
        classes.dedup();
        classes
    }

    /// The number and the name of each class; empty if there are too many for distinct marks.
    fn named(&self) -> Vec<(usize, &'a str)> {
        let classes = self.classes();
        if classes.len() > MOST_NAMED || self.showcase.classes.is_empty() {
            return Vec::new();
        }
        classes.iter().map(|&class| self.showcase.class(class)).enumerate().collect()
    }

    /// The legend below the map, and the total height.
    fn legend_below(&self) -> (String, f64) {
        let named = self.named();
        let legend = each(&named, |&(number, name)| {
            let left = MARGIN + (number % LEGEND_COLUMNS) as f64 * (SIDE - MARGIN) / LEGEND_COLUMNS as f64;
            let top = SIDE + (number / LEGEND_COLUMNS) as f64 * LEGEND_LINE + LEGEND_LINE / 2.0;
            let name: String = name.chars().take(LONGEST_NAME).collect();
            format!(
                "{}<text class=\"label\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\n",
                mark(number, left + RADIUS, top, ""),
                left + 12.0,
                top + 4.5,
                escape(&name)
            )
        });
        let lines = named.len().div_ceil(LEGEND_COLUMNS);
        (legend, SIDE + lines as f64 * LEGEND_LINE + MARGIN)
    }
}

/// Maps points into the picture: as large as possible, with equal scales on both axes.
fn fitted(points: &[MapPoint]) -> Option<impl Fn(&MapPoint) -> (f64, f64) + use<>> {
    let first = points.first()?;
    let start = [[first.x, first.x], [first.y, first.y]];
    let [[left, right], [bottom, top]] = points.iter().fold(start, |[x, y], point| {
        [[x[0].min(point.x), x[1].max(point.x)], [y[0].min(point.y), y[1].max(point.y)]]
    });
    let span = (right - left).max(top - bottom).max(1e-9);
    let scale = (SIDE - 2.0 * MARGIN) / span;
    let (x, y) = (f64::midpoint(left, right), f64::midpoint(bottom, top));
    Some(move |point: &MapPoint| (SIDE / 2.0 + (point.x - x) * scale, SIDE / 2.0 - (point.y - y) * scale))
}

/// The mark of class `number`: colours change first, then shapes.
fn mark(number: usize, left: f64, top: f64, inside: &str) -> String {
    let class = format!("point c{}", number % NUM_COLOURS);
    let r = RADIUS;
    match number / NUM_COLOURS % SHAPES {
        0 => format!("<circle class=\"{class}\" cx=\"{left:.1}\" cy=\"{top:.1}\" r=\"{r}\">{inside}</circle>\n"),
        1 => path(
            &class,
            &format!("M{left:.1} {:.1}l{} {}h-{}Z", top - r, r * 1.1, r * 1.9, r * 2.2),
            inside,
        ),
        2 => path(
            &class,
            &format!("M{:.1} {:.1}h{}v{}h-{}Z", left - r, top - r, r * 2.0, r * 2.0, r * 2.0),
            inside,
        ),
        _ => path(
            &class,
            &format!(
                "M{left:.1} {:.1}l{} {}l-{} {}l-{} -{}Z",
                top - r * 1.2,
                r,
                r * 1.2,
                r,
                r * 1.2,
                r,
                r * 1.2
            ),
            inside,
        ),
    }
}

fn path(class: &str, d: &str, inside: &str) -> String {
    format!("<path class=\"{class}\" d=\"{d}\">{inside}</path>\n")
}

impl Showcase {
    /// Writes `map.svg` into a run folder, if there are points.
    ///
    /// # Errors
    /// Returns an error that names the file if it cannot be written.
    pub fn write_map(&self, dir: &Path) -> Result<(), FileError> {
        let title = format!("t-SNE of {}", self.samples());
        match FeatureMap::of(self, &title).to_file() {
            Some(svg) => write_whole(&dir.join(MAP_FILE), svg.as_bytes()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn showcase(num_classes: u32, points: &[(f64, f64)]) -> Showcase {
        let point = |(i, &(x, y)): (usize, &(f64, f64))| MapPoint {
            x,
            y,
            class: i as u32 % num_classes,
        };
        Showcase {
            classes: (0..num_classes).map(|class| format!("class <{class}>")).collect(),
            of_train: false,
            of_graphs: false,
            map: points.iter().enumerate().map(point).collect(),
            clusters: Vec::new(),
            neighbours: Vec::new(),
        }
    }

    #[test]
    fn outermost_points_touch_the_margin_and_non_finite_ones_are_left_out() {
        let showcase = showcase(1, &[(-5.0, 0.0), (5.0, 2.0), (f64::NAN, 0.0)]);
        let svg = FeatureMap::of(&showcase, "T").to_svg("x").unwrap();
        assert!(
            svg.contains("cx=\"10.0\" cy=\"226.0\"") && svg.contains("cx=\"370.0\" cy=\"154.0\""),
            "{svg}"
        );
        assert_eq!(svg.matches("<circle").count(), 2);
    }

    #[test]
    fn every_class_has_its_own_mark_as_long_as_there_are_enough() {
        let line: Vec<(f64, f64)> = (0..40).map(|i| (f64::from(i), 0.0)).collect();
        let ten = showcase(10, &line);
        let map = FeatureMap::of(&ten, "T");
        assert_eq!(map.to_file().unwrap().matches("<text").count(), 10);
        let legend = map.legend();
        assert_eq!(legend.matches("<li>").count(), 10);
        assert!(legend.contains("class &lt;9&gt;") && !legend.contains("<9>"));
        let many = showcase(40, &line);
        let map = FeatureMap::of(&many, "T");
        assert_eq!(map.legend(), "");
        assert!(map.to_svg("x").unwrap().contains("<title>class &lt;39&gt;</title>"));
        let marks: std::collections::BTreeSet<String> = (0..MOST_NAMED).map(|number| mark(number, 0.0, 0.0, "")).collect();
        assert_eq!(marks.len(), MOST_NAMED);
    }

    #[test]
    fn a_file_of_its_own_brings_its_colours_and_one_point_is_enough() {
        let file = |points: &[(f64, f64)]| {
            let showcase = showcase(1, points);
            FeatureMap::of(&showcase, "T").to_file()
        };
        assert_eq!(file(&[]), None);
        let file = file(&[(3.0, 3.0)]).unwrap();
        assert!(file.starts_with("<svg xmlns=") && file.contains("--c7:") && file.contains("prefers-color-scheme: dark"));
        assert!(file.contains("cx=\"190.0\" cy=\"190.0\""));
    }

    #[test]
    fn a_map_is_a_file_and_one_without_points_is_not_written() {
        let dir = tempfile::tempdir().unwrap();
        showcase(1, &[]).write_map(dir.path()).unwrap();
        assert!(!dir.path().join(MAP_FILE).exists());
        showcase(1, &[(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)])
            .write_map(dir.path())
            .unwrap();
        let svg = std::fs::read_to_string(dir.path().join(MAP_FILE)).unwrap();
        assert!(svg.contains("t-SNE of test images") && svg.contains("3 test images"), "{svg}");
    }
}
