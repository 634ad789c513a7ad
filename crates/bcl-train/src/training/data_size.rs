//! The size of a data set, for the result of a run.

use bcl_data::InteractionData;
use bcl_images::ImageData;
use bcl_report::result::DataSize;

/// The size of interactions.
pub fn of_interactions(data: &InteractionData) -> DataSize {
    DataSize::Interactions {
        users: data.train.num_users(),
        items: data.train.num_items(),
        train: data.train.len(),
        test: data.test.len(),
    }
}

/// The size of images.
pub fn of_images(data: &ImageData) -> DataSize {
    DataSize::Images {
        classes: data.train.classes().len(),
        train: data.train.len(),
        test: data.test.len(),
        skipped: data.skipped.len(),
    }
}
