//! Uniform negatives from all items.

use super::{NegativeSource, item_set::ItemSet, stream::Stream};
use crate::Interactions;
use serde::{Deserialize, Serialize};

/// Draws every negative uniformly from all items, including those that the user has interacted with: the unlabelled draws of
/// the papers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UniformAll {
    /// Draws per anchor, or per batch if shared.
    pub count: usize,
    /// Use one set of draws for the whole batch instead of one per anchor.
    pub shared: bool,
    /// Mask out draws that the user has interacted with.
    pub mask_hits: bool,
}

impl Default for UniformAll {
    fn default() -> Self {
        Self {
            count: 128,
            shared: false,
            mask_hits: true,
        }
    }
}

#[derive(Debug)]
struct Source {
    num_items: u32,
}

pub(crate) fn source(train: &Interactions) -> Box<dyn NegativeSource> {
    Box::new(Source {
        num_items: train.num_items() as u32,
    })
}

impl NegativeSource for Source {
    fn draw(&self, _user: u32, stream: &mut Stream, _excluded: &mut ItemSet, out: &mut [i32]) {
        out.fill_with(|| stream.below(self.num_items).0 as i32);
    }
}
