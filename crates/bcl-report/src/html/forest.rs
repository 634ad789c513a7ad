//! A forest plot: each row of a table as a point with its interval, on one axis.

use super::view::DataView;
use crate::chart::NUM_COLOURS;
use crate::markup::escape;
use crate::{DataTable, Interval, RowKind};

/// The forest plot of the page's metric at the epoch chosen on the validation set; empty for a single row.
pub(super) fn html(view: &DataView, table: &DataTable) -> String {
    let rows: Vec<(&str, Option<usize>, Interval)> = table
        .rows
        .iter()
        .filter_map(|row| {
            let colour = view
                .recipes
                .iter()
                .find(|recipe| recipe.name == row.name && row.kind == RowKind::Recipe);
            Some((
                row.name.as_str(),
                colour.map(|recipe| recipe.colour),
                *row.validation.get(&view.metric)?,
            ))
        })
        .collect();
    // Without labelled test data, no row is better than another.
    if rows.len() < 2 || !view.data.size.can_be_evaluated() {
        return String::new();
    }
    format!(
        "<section>\n<h3>{} on the test set</h3>\n<p class=\"intro\">{}{}. The axis does not start at 0.</p>\n{}</section>\n",
        escape(&view.metric),
        if view.is_of_last_epoch() {
            "After the last epoch"
        } else {
            "At the epoch chosen on the validation set"
        },
        if rows.iter().any(|(.., interval)| interval.half_width.is_some()) {
            ", with 95\u{a0}% confidence intervals over seeds"
        } else {
            ""
        },
        forest(&rows),
    )
}

/// A forest plot of rows, given as name, colour number (`None` for a baseline) and interval.
pub fn forest(rows: &[(&str, Option<usize>, Interval)]) -> String {
    let axis = Axis::of(rows);
    let items: String = rows
        .iter()
        .map(|(name, colour, interval)| item(name, *colour, interval, axis))
        .collect();
    format!(
        "<ul class=\"forest\">\n{items}</ul>\n\
         <div class=\"forest-axis\" aria-hidden=\"true\"><span>{:.3}</span><span>{:.3}</span><span>{:.3}</span></div>\n",
        axis.low,
        f64::midpoint(axis.low, axis.high),
        axis.high,
    )
}

#[derive(Clone, Copy)]
struct Axis {
    low: f64,
    high: f64,
}

impl Axis {
    /// Covers all recipes, and those baselines that are near enough not to squeeze the recipes into one point.
    fn of(rows: &[(&str, Option<usize>, Interval)]) -> Self {
        let bounds = |interval: &Interval| interval.bounds().unwrap_or((interval.mean, interval.mean));
        let cover = |(low, high): (f64, f64), (other_low, other_high): (f64, f64)| (low.min(other_low), high.max(other_high));
        let recipes = rows.iter().filter(|(_, colour, _)| colour.is_some());
        let (low, high) = recipes
            .map(|(.., interval)| bounds(interval))
            .reduce(cover)
            .unwrap_or((0.0, 1.0));
        let reach = if high > low {
            (1.5 * (high - low)).max(0.25 * high.abs())
        } else {
            f64::INFINITY
        };
        let (low, high) = rows
            .iter()
            .map(|(.., interval)| bounds(interval))
            .filter(|(other_low, other_high)| *other_low >= low - reach && *other_high <= high + reach)
            .fold((low, high), cover);
        let margin = 0.08 * (high - low).max(0.01 * high.abs()).max(1e-6);
        Self {
            low: low - margin,
            high: high + margin,
        }
    }

    /// Position in percent of the width.
    fn percent(self, value: f64) -> f64 {
        100.0 * ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }
}

fn item(name: &str, colour: Option<usize>, interval: &Interval, axis: Axis) -> String {
    let class = colour.map_or("baseline".to_owned(), |colour| format!("c{}", colour % NUM_COLOURS));
    let whisker = interval.bounds().map_or(String::new(), |(low, high)| {
        let (left, right) = (axis.percent(low), axis.percent(high));
        format!(
            "<i class=\"whisker\" style=\"left:{left:.2}%;width:{:.2}%\"></i>",
            right - left
        )
    });
    let point = if interval.mean < axis.low {
        "<i class=\"beyond\" style=\"left:0\">◂</i>".to_owned()
    } else if interval.mean > axis.high {
        "<i class=\"beyond\" style=\"right:0\">▸</i>".to_owned()
    } else {
        format!("<i class=\"point\" style=\"left:{:.2}%\"></i>", axis.percent(interval.mean))
    };
    format!(
        "<li class=\"{class}\"><span class=\"name\">{}</span><span class=\"track\" aria-hidden=\"true\">{whisker}{point}</span>\
         <span class=\"value\">{interval}</span></li>\n",
        escape(name)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(recipes: &[&[f64]], baselines: &[f64]) -> Vec<(&'static str, Option<usize>, Interval)> {
        let recipes = recipes
            .iter()
            .map(|values| ("recipe", Some(0), Interval::of(values).unwrap()));
        let baselines = baselines
            .iter()
            .map(|value| ("baseline", None, Interval::of(&[*value]).unwrap()));
        recipes.chain(baselines).collect()
    }

    #[test]
    fn the_axis_covers_recipes_and_near_baselines_but_not_far_ones() {
        let axis = Axis::of(&rows(&[&[0.44], &[0.45]], &[0.452, 0.22]));
        assert!(axis.low > 0.43 && axis.low < 0.44 && axis.high > 0.452 && axis.high < 0.46);
    }

    #[test]
    fn a_single_recipe_is_shown_with_all_baselines() {
        let axis = Axis::of(&rows(&[&[0.44]], &[0.45, 0.22]));
        assert!(axis.low < 0.22 && axis.high > 0.45);
    }

    #[test]
    fn a_baseline_beyond_the_axis_is_an_arrow_at_its_edge() {
        let rows = rows(&[&[0.44], &[0.45]], &[0.22]);
        let text = item("popularity", None, &rows[2].2, Axis::of(&rows));
        assert!(
            text.contains("◂") && text.contains("0.2200") && !text.contains("point"),
            "{text}"
        );
    }

    #[test]
    fn equal_values_still_have_an_axis() {
        let axis = Axis::of(&rows(&[&[0.0], &[0.0]], &[]));
        assert!(axis.percent(0.0) > 40.0 && axis.percent(0.0) < 60.0);
    }
}
