//! A mixture of two Beta distributions, fitted by expectation maximisation.

use burn::tensor::{Tensor, activation::sigmoid};

/// Steps of expectation maximisation; the authors' default.
const STEPS: usize = 10;

/// How near to 0 and 1 a value may be.
const MARGIN: f64 = 1e-6;

/// The part of the responsibility for each value that each component keeps, so that neither becomes empty.
const LEAST_RESPONSIBILITY: f64 = 1e-4;

/// Limits of the parameters of a Beta distribution, and of their sum.
const LEAST_PARAMETER: f64 = 0.01;
const LARGEST_CONCENTRATION: f64 = 1000.0;

/// The authors keep β of the component of false negatives above 1, so that its density falls to 0 at 1.
const LEAST_BETA_OF_FALSE: f64 = 1.01;

/// Values in (0, 1) with their distance from 1, both to full precision.
///
/// # Shapes
/// - all: `[num_anchors, num_negatives]`
pub(super) struct UnitInterval {
    values: Tensor<2>,
    logs: Tensor<2>,
    logs_of_rest: Tensor<2>,
}

impl UnitInterval {
    /// Takes values in [0, 1] and what they lack to 1.
    pub(super) fn new(values: Tensor<2>, rest: Tensor<2>) -> Self {
        let values = values.clamp_min(MARGIN);
        Self {
            logs: values.clone().log(),
            logs_of_rest: rest.clamp_min(MARGIN).log(),
            values,
        }
    }

    /// The logarithms of the values.
    pub(super) fn log(&self) -> Tensor<2> {
        self.logs.clone()
    }
}

/// Two Beta distributions: of true negatives, and of false ones, which are more similar.
///
/// # Shapes
/// - all: `[1, 2]`, true negatives first
pub(super) struct BetaMixture {
    alphas: Tensor<2>,
    betas: Tensor<2>,
    shares: Tensor<2>,
}

impl BetaMixture {
    /// Fits the mixture to values that count as often as `weights` says.
    ///
    /// # Shapes
    /// - weights: the shape of the values
    pub(super) fn fit(values: &UnitInterval, weights: Tensor<2>, share_of_false: f64) -> Self {
        let moments = Moments::new(values.values.clone(), weights);
        let pair = |of_true: f64, of_false: f64| {
            Tensor::<2>::from_data([[of_true, of_false]], (&values.logs.device(), values.logs.dtype()))
        };
        let start = Self {
            alphas: pair(1.0, 2.0),
            betas: pair(2.0, 1.0),
            shares: pair(1.0 - share_of_false, share_of_false),
        };
        let least_betas = pair(LEAST_PARAMETER, LEAST_BETA_OF_FALSE);
        (0..STEPS).fold(start, |mixture, _| {
            let mut next = moments.maximise(sigmoid(mixture.log_odds(values)));
            next.betas = next.betas.max_pair(least_betas.clone());
            next
        })
    }

    /// The logarithm of how much more probably each value is of the second component than of the first. It is linear in the logarithms of the value and
    /// of its distance from 1.
    pub(super) fn log_odds(&self, values: &UnitInterval) -> Tensor<2> {
        let second_minus_first = |pair: Tensor<2>| pair.clone().slice([0..1, 1..2]) - pair.slice([0..1, 0..1]);
        let constant = second_minus_first(self.shares.clone().log() - ln_beta(self.alphas.clone(), self.betas.clone()));
        let slope = second_minus_first(self.alphas.clone());
        let slope_of_rest = second_minus_first(self.betas.clone());
        values.logs.clone() * slope + values.logs_of_rest.clone() * slope_of_rest + constant
    }
}

/// Weights, and values around their mean with their squares, each times the weight.
struct Moments {
    powers: [Tensor<2>; 3],
    /// Sums of the powers, `[1, 1]`.
    sums: [Tensor<2>; 3],
    /// `[1, 1]`.
    mean: Tensor<2>,
}

impl Moments {
    fn new(values: Tensor<2>, weights: Tensor<2>) -> Self {
        let mean = sum(values.clone() * weights.clone()) / sum(weights.clone());
        // Around the mean, a small variance keeps its digits.
        let distances = values - mean.clone();
        let first = distances.clone() * weights.clone();
        let powers = [weights, first.clone(), first * distances];
        Self {
            sums: powers.clone().map(sum),
            powers,
            mean,
        }
    }

    /// The components that have the moments of the values, weighted by the responsibilities.
    fn maximise(&self, of_false: Tensor<2>) -> BetaMixture {
        let [sizes, firsts, seconds] = [0, 1, 2].map(|power| {
            let all = &self.sums[power];
            let second = sum(self.powers[power].clone() * of_false.clone());
            Tensor::cat(vec![all.clone() - second.clone(), second], 1) + all.clone() * LEAST_RESPONSIBILITY
        });
        let shifts = firsts / sizes.clone();
        let means = (shifts.clone() + self.mean.clone()).clamp(MARGIN, 1.0 - MARGIN);
        let rests = -means.clone() + 1.0;
        let largest_variances = means.clone() * rests.clone();
        let variances = seconds / sizes.clone() - shifts.square();
        let variances = variances.max_pair(largest_variances.clone() / (LARGEST_CONCENTRATION + 1.0));
        let concentrations = largest_variances / variances - 1.0;
        BetaMixture {
            alphas: (means * concentrations.clone()).clamp_min(LEAST_PARAMETER),
            betas: (rests * concentrations).clamp_min(LEAST_PARAMETER),
            shares: sizes.clone() / sum(sizes),
        }
    }
}

fn sum(tensor: Tensor<2>) -> Tensor<2> {
    tensor.sum().unsqueeze()
}

/// The logarithm of the Beta function.
fn ln_beta(alphas: Tensor<2>, betas: Tensor<2>) -> Tensor<2> {
    let sums = alphas.clone() + betas.clone();
    let logs = ln_gamma(Tensor::cat(vec![alphas, betas, sums], 0));
    let row = |row: usize| logs.clone().slice_dim(0, row..row + 1);
    row(0) + row(1) - row(2)
}

/// `ln Γ(x)` for x from 0.01 to 2000, by Stirling's series at x + 8, where the first term left out is below 1e-12.
fn ln_gamma(x: Tensor<2>) -> Tensor<2> {
    const HALF_LN_TWO_PI: f64 = 0.918_938_533_204_672_7;
    let terms = [1.0 / 1188.0, -1.0 / 1680.0, 1.0 / 1260.0, -1.0 / 360.0, 1.0 / 12.0];
    let product = (1..8).fold(x.clone(), |product, step| product * (x.clone() + f64::from(step)));
    let z = x + 8.0;
    let inverse = z.clone().recip();
    let square = inverse.clone().square();
    let series = terms[1..]
        .iter()
        .fold(square.full_like(terms[0]), |series, &term| series * square.clone() + term);
    (z.clone() - 0.5) * z.clone().log() - z + HALF_LN_TWO_PI + series * inverse - product.log()
}
