//! The Bayesian weight as a function of the base distribution function.

use super::drawing::{Csv, Drawing};
use bcl_core::posterior::Posterior;
use bcl_report::chart::{Axis, LineChart, Series, Shape};

/// The values that are fixed, with one figure each, and those that vary within a figure.
const FIXED_ALPHAS: [f64; 6] = [0.5, 0.6, 0.7, 0.8, 0.9, 0.999];
const FIXED_BETAS: [f64; 6] = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0];
const BETAS: [f64; 8] = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0];
const ALPHAS: [f64; 8] = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999];
/// Number of steps along the horizontal axis.
const STEPS: u32 = 60;

/// ω over Φ for fixed α with several β, and for fixed β with several α.
pub(super) fn curves(tau_plus: f64) -> Vec<Drawing> {
    let fixed_alpha = FIXED_ALPHAS.map(|alpha| {
        let curves = BETAS.map(|beta| (format!("β = {beta}"), alpha, beta));
        drawing(&format!("omega-alpha-{alpha}"), &format!("α = {alpha}"), tau_plus, &curves)
    });
    let fixed_beta = FIXED_BETAS.map(|beta| {
        let curves = ALPHAS.map(|alpha| (format!("α = {alpha}"), alpha, beta));
        drawing(&format!("omega-beta-{beta:.1}"), &format!("β = {beta}"), tau_plus, &curves)
    });
    fixed_alpha.into_iter().chain(fixed_beta).collect()
}

fn drawing(name: &str, fixed: &str, tau_plus: f64, curves: &[(String, f64, f64)]) -> Drawing {
    let mut csv = Csv::new("alpha,beta,ecdf,phi,omega");
    let mut series = Vec::new();
    for (label, alpha, beta) in curves {
        let posterior = Posterior::new(*alpha, *beta, tau_plus).expect("the fixed values are within their ranges");
        let points = curve(&posterior);
        for [ecdf, phi, omega] in &points {
            csv.row(&[alpha, beta, ecdf, phi, omega]);
        }
        series.push(Series::new(label, Shape::Line, points.map(|[_, phi, omega]| (phi, omega))));
    }
    let chart = LineChart::new(
        format!("Weight ω of a negative, {fixed}, τ+ = {tau_plus}"),
        format!("The weight over the base distribution function for {fixed}, one line per value of the other parameter."),
        Axis::linear("base distribution function Φ").with_range(0.0, 1.0),
        Axis::linear("weight ω").including(0.0),
    );
    Drawing::new(name, chart.with_series(series), csv)
}

/// eCDF, Φ and ω at equal steps of Φ.
fn curve(posterior: &Posterior) -> [[f64; 3]; STEPS as usize + 1] {
    let tau = posterior.tau_plus();
    let lowest = posterior.alpha() * (1.0 - tau) + (1.0 - posterior.alpha()) * tau;
    std::array::from_fn(|step| {
        let phi = step as f64 / f64::from(STEPS);
        // A share `lowest` of the unlabelled scores is distributed as the smaller of two draws, the rest as the larger.
        let ecdf = lowest * (2.0 * phi - phi * phi) + (1.0 - lowest) * phi * phi;
        [ecdf, phi, posterior.omega(ecdf)]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_those_that_the_posterior_inverts() {
        let posterior = Posterior::new(0.9, 0.7, 0.1).expect("within ranges");
        for [ecdf, phi, omega] in curve(&posterior) {
            assert!((posterior.phi(ecdf) - phi).abs() < 1e-9);
            assert!(omega > 0.0);
        }
    }

    #[test]
    fn a_figure_for_each_fixed_value() {
        let names: Vec<String> = curves(0.1).into_iter().map(|drawing| drawing.name).collect();
        assert_eq!(names.len(), 12);
        assert!(names.contains(&"omega-alpha-0.999".to_owned()) && names.contains(&"omega-beta-1.0".to_owned()));
    }
}
