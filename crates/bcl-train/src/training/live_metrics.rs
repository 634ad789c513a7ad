//! Metrics of steps and epochs as Burn metrics, which Burn's renderers and loggers can show.

use burn::{
    tensor::{ExecutionError, Tensor, TensorReadError},
    train::{
        ItemLazy,
        metric::{
            Adaptor, Metric, MetricAttributes, MetricMetadata, MetricName, Numeric, NumericAttributes, NumericEntry,
            SerializedEntry,
        },
    },
};
use std::{collections::BTreeMap, sync::Arc};

/// Metrics of one step or one epoch, by name.
pub type LiveMetrics = BTreeMap<&'static str, f64>;

/// Name of the training loss among the [`LiveMetrics`].
pub const LOSS: &str = "loss";
/// Name of the label-free estimate of the encoder's AUC, which the papers use as α.
pub const ALPHA_HAT: &str = "alpha_hat";
/// Name of the effective sample size, as a share of the number of negatives.
pub const EFFECTIVE_SAMPLE_SIZE: &str = "ess";
/// Name of the share of anchors at the floor of the loss.
pub const FLOORED: &str = "floored";
/// Name of the number of clusters that the epoch's detection has.
pub const CLUSTERS: &str = "clusters";
/// Name of the stability of these clusters.
pub const STABILITY: &str = "stability";
/// Name of the strength of the detection in the epoch.
pub const STRENGTH: &str = "strength";
/// Name of the share of all pairs that were detected.
pub const DETECTED: &str = "pairs";
/// Name of the metric that selects the epoch.
pub const SELECTED: &str = "selected";

/// The output of a training step.
#[derive(Debug, Clone)]
pub struct StepOutput {
    /// Mean loss of the anchors that have negatives, in nats, `[1]`, still on the device.
    pub loss: Tensor<1>,
    /// Number of anchors of the batch.
    pub num_anchors: usize,
    /// Number of anchors that have negatives, `[1]`; `None` if all have.
    pub num_counted: Option<Tensor<1>>,
}

impl ItemLazy for StepOutput {
    fn sync(self) -> Result<Self, ExecutionError> {
        Ok(self)
    }
}

impl Adaptor<LiveMetrics> for StepOutput {
    fn adapt(&self) -> LiveMetrics {
        let num_counted = self.num_counted.clone().map(Tensor::into_scalar::<f64>);
        if num_counted == Some(0.0) {
            return LiveMetrics::new();
        }
        let loss = self.loss.clone().into_scalar::<f32>();
        LiveMetrics::from([(LOSS, f64::from(loss))])
    }
}

/// One of the [`LiveMetrics`] as a Burn metric: its last value and its mean over the epoch.
#[derive(Debug, Clone)]
pub struct LiveMetric {
    key: &'static str,
    name: MetricName,
    last: Option<f64>,
    sum: f64,
    count: usize,
}

impl LiveMetric {
    /// Creates the metric of this name.
    pub fn new(key: &'static str) -> Self {
        Self {
            key,
            name: Arc::new(key.to_owned()),
            last: None,
            sum: 0.0,
            count: 0,
        }
    }

    fn mean(&self) -> f64 {
        self.sum / self.count.max(1) as f64
    }

    fn entry(&self) -> SerializedEntry {
        if self.count == 0 {
            return SerializedEntry::not_available(None);
        }
        let digits = if self.key == CLUSTERS { 0 } else { 4 };
        SerializedEntry::new(format!("{:.digits$}", self.mean()), self.mean().to_string())
    }
}

impl Metric for LiveMetric {
    type Input = LiveMetrics;

    fn name(&self) -> MetricName {
        self.name.clone()
    }

    fn attributes(&self) -> MetricAttributes {
        NumericAttributes {
            unit: None,
            higher_is_better: self.key != LOSS,
        }
        .into()
    }

    fn update(&mut self, metrics: &LiveMetrics, _: &MetricMetadata) -> Result<SerializedEntry, TensorReadError> {
        self.last = metrics.get(self.key).copied();
        if let Some(value) = self.last {
            self.sum += value;
            self.count += 1;
        }
        Ok(self.entry())
    }

    fn compute(&mut self) -> Result<SerializedEntry, TensorReadError> {
        Ok(self.entry())
    }

    fn clear(&mut self) {
        *self = Self::new(self.key);
    }
}

impl Numeric for LiveMetric {
    fn value(&self) -> Option<NumericEntry> {
        self.last.map(NumericEntry::Value)
    }

    fn running_value(&self) -> Option<NumericEntry> {
        (self.count > 0).then(|| NumericEntry::Value(self.mean()))
    }

    fn final_value(&self) -> NumericEntry {
        NumericEntry::Final(self.mean())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;

    #[test]
    fn a_step_without_any_negative_has_no_loss_to_show() {
        let number = |number: f32| Tensor::<1>::from_data([number], &Device::flex());
        let step = |num_counted: Option<f32>| StepOutput {
            loss: number(0.5),
            num_anchors: 4,
            num_counted: num_counted.map(number),
        };
        let shown = |num_counted| -> LiveMetrics { step(num_counted).adapt() };
        assert_eq!(shown(Some(0.0)), LiveMetrics::new());
        for num_counted in [None, Some(1.0)] {
            assert_eq!(shown(num_counted), LiveMetrics::from([(LOSS, 0.5)]));
        }
    }
}
