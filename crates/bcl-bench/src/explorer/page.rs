//! The page: sliders, numbers and charts.

use super::{LARGEST_TEMPERATURE, MOST_NEGATIVES, SMALLEST_TEMPERATURE, Settings, checks::checks};
use base64::{Engine, engine::general_purpose::STANDARD};
use bcl_core::ParameterError;
use bcl_report::page::{document, each};
use serde_json::json;

/// The functions of `bcl-explorer` as WebAssembly.
pub(super) const WASM: &[u8] = include_bytes!("explorer.wasm");
const SCRIPT: &str = include_str!("explorer.js");
const STYLE: &str = include_str!("explorer.css");

/// A parameter with a slider and a field.
struct Control {
    id: &'static str,
    symbol: &'static str,
    name: &'static str,
    low: f64,
    high: f64,
    step: &'static str,
    value: f64,
}

/// Renders the page.
///
/// # Errors
/// Returns an error that names the parameter that is out of range.
pub fn page(settings: &Settings) -> Result<String, ParameterError> {
    settings.check()?;
    let figures = FIGURES.map(|(id, title, caption)| {
        format!(
            "<figure>\n<h4>{title}</h4>\n<div class=\"chart\" id=\"chart-{id}\"></div>\n<figcaption>{caption}</figcaption>\n</figure>\n"
        )
    });
    let figures = figures.concat();
    let data = json!({ "settings": settings, "checks": checks(), "wasm": STANDARD.encode(WASM) });
    let body = format!(
        "<style>\n{STYLE}</style>\n<p class=\"intro\">{INTRO}</p>\n<noscript><p class=\"intro\">{NO_SCRIPT}</p></noscript>\n\
         <form id=\"controls\" class=\"controls\" hidden>\n{}{WEIGHING}<p class=\"buttons\"><button type=\"reset\">Reset</button></p>\n</form>\n\
         <dl id=\"numbers\" class=\"facts numbers\" aria-live=\"polite\"></dl>\n<div class=\"figures explorer\">\n{figures}</div>\n\
         <p id=\"state\" class=\"intro\"></p>\n<script type=\"application/json\" id=\"explorer-data\">{data}</script>\n<script>\n{SCRIPT}</script>\n",
        each(controls(settings), |control| control.html()),
    );
    Ok(document(
        "bcl-bench explore",
        "What the weights of the Bayesian loss do",
        "",
        &body,
    ))
}

fn controls(settings: &Settings) -> [Control; 5] {
    let control = |id, symbol, name, low, high, step, value| Control {
        id,
        symbol,
        name,
        low,
        high,
        step,
        value,
    };
    [
        control("alpha", "α", "separation", 0.5, 1.0, "0.001", settings.alpha),
        control("beta", "β", "hardness", 0.0, 1.0, "0.001", settings.beta),
        control(
            "tau_plus",
            "τ+",
            "prior of a false negative",
            0.0,
            0.999,
            "0.001",
            settings.tau_plus,
        ),
        control(
            "num_negatives",
            "N",
            "negatives",
            1.0,
            MOST_NEGATIVES as f64,
            "1",
            settings.num_negatives as f64,
        ),
        control(
            "temperature",
            "t",
            "temperature",
            SMALLEST_TEMPERATURE,
            LARGEST_TEMPERATURE,
            "0.01",
            settings.temperature,
        ),
    ]
}

impl Control {
    /// A slider for coarse changes and a field for exact values, which the script keeps equal.
    fn html(&self) -> String {
        let Self {
            id,
            symbol,
            name,
            low,
            high,
            step,
            value,
        } = self;
        format!(
            "<div class=\"control\">\n<label for=\"{id}\"><b>{symbol}</b> {name}</label>\n\
             <input type=\"range\" id=\"{id}-slider\" aria-label=\"{name}\" min=\"{low}\" max=\"{high}\" step=\"{step}\" value=\"{value}\">\n\
             <input type=\"number\" id=\"{id}\" min=\"{low}\" max=\"{high}\" step=\"any\" value=\"{value}\" inputmode=\"decimal\">\n</div>\n"
        )
    }
}

const INTRO: &str = "The Bayesian loss gives each negative a weight from its rank among the N scores of its anchor. Move the sliders to see \
    what the separation of the encoder (α), the hardness (β) and the prior (τ+) do to it. The address of the page keeps the parameters.";
const NO_SCRIPT: &str = "The charts need scripts, which are off.";
const WEIGHING: &str = "<fieldset class=\"control\">\n<legend>loss surface</legend>\n\
    <label><input type=\"radio\" name=\"surface\" value=\"bayesian\" checked> Bayesian</label>\n\
    <label><input type=\"radio\" name=\"surface\" value=\"info_nce\"> InfoNCE</label>\n\
    <label><input type=\"radio\" name=\"surface\" value=\"difference\"> difference</label>\n</fieldset>\n";

/// Name, title and caption of each chart.
const FIGURES: [(&str, &str, &str); 4] = [
    ("omega", "Weight ω over the rank", OMEGA),
    ("probability", "Probability of a true negative", PROBABILITY),
    ("densities", "Densities of scores", DENSITIES),
    ("surface", "Loss of one anchor", SURFACE),
];
const OMEGA: &str = "ω of a negative whose score exceeds this share of its row. Above the neutral β it rises with the score: hard negatives count \
    more. Below, it falls: likely false negatives count less.";
const PROBABILITY: &str =
    "P(TN | x): the probability that the negative with this rank is a true one, by the model. It does not depend on β.";
const DENSITIES: &str = "The model's densities of true and false negatives, if the base distribution φ is the standard normal one, and of \
    both together.";
const SURFACE: &str = "Nats, over the similarities of the positive and of one negative; lines join equal losses. The other N - 1 negatives \
    are at their expected similarities, if the base distribution is uniform between -0.5 and 0.5. At a high temperature one negative among many \
    hardly matters.";
