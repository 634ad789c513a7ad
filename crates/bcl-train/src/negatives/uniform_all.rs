//! Uniform over all items.

use super::{NegativeSource, marks::Marks, stream::Stream};
use bcl_data::Interactions;
use serde::{Deserialize, Serialize};

/// Each negative is uniform over all items, those its user has interacted with included: the unlabelled draws of the papers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UniformAll {
    /// Draws per anchor, or per batch when shared.
    pub count: usize,
    /// One set of draws for the whole batch in place of one an anchor.
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
    fn draw(&self, _user: u32, stream: &mut Stream, _marks: &mut Marks, out: &mut [i32]) {
        out.fill_with(|| stream.below(self.num_items).0 as i32);
    }
}
