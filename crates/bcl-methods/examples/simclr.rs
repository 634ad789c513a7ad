//! SimCLR on generated images, for a number of steps: `cargo run -p bcl-methods --example simclr -- 200`
//!
//! Two random views of each image are positives; the views of all other images of the batch are negatives. No label is used until the end,
//! when the nearest training image of each test image tells its class.

use bcl_core::{InfoNceLossConfig, Reduction, SideInformation, matmul, unit_rows};
use bcl_data::Seed;
use bcl_images::{Collection, PlantedImagesConfig, ViewsConfig};
use bcl_methods::{
    Method, Precision, SimClr,
    batches::{BatchViews, ImageBatch, ViewSource},
};
use bcl_models::vision::{ImageEncoder, ImageEncoderConfig, Mode, ResNetDepth};
use burn::{
    optim::{AdamConfig, GradientsParams},
    tensor::{Device, Tensor, TensorData},
};
use rand::seq::index;
use std::{env, error::Error, sync::Arc};

const SIDE: usize = 16;
const BATCH: usize = 64;

fn main() -> Result<(), Box<dyn Error>> {
    let num_steps = env::args().nth(1).map_or(Ok(200), |steps| steps.parse())?;
    train(num_steps)
}

fn train(num_steps: u64) -> Result<(), Box<dyn Error>> {
    let device = Device::flex().autodiff();
    let images = PlantedImagesConfig {
        classes: 4,
        train: 512,
        test: 128,
        side: SIDE,
        ..PlantedImagesConfig::default()
    };
    // Smaller crops would often miss the shape that makes the class.
    let mut views = ViewsConfig::default();
    (views.side, views.crop.scale) = (SIDE, [0.6, 1.0]);
    let source = ViewSource {
        data: Arc::new(images.generate()),
        views: views.init(),
        seed: Seed(0),
    };

    let mut encoder = ImageEncoderConfig::default();
    (encoder.trunk.depth, encoder.trunk.width) = (ResNetDepth::ResNet18, 8);
    (encoder.head.hidden, encoder.head.out) = (64, 32);
    let mut method = SimClr::new(encoder.init(0, &device), Precision::F32);
    let loss = InfoNceLossConfig::new().with_temperature(0.2).init();
    let mut optimizer = AdamConfig::new().init();

    let before = accuracy(&method.encoder, &source, &device)?;
    for step in 0..num_steps {
        let batch = batch(&source, step, &device)?;
        let embeddings = method.embed_batch(&batch, usize::MAX);
        let objective = method.objective(&batch, &embeddings, 0..method.num_anchors(&batch));
        let value = objective.losses(&loss, &SideInformation::none()).reduce(Reduction::Mean);
        if step % 20 == 0 {
            println!("step {step:3}: loss {:.3}", value.clone().into_scalar::<f32>());
        }
        let gradients = GradientsParams::from_grads(value.backward(), &method);
        method = optimizer
            .step(3e-3, method, gradients)
            .after_step(&batch, &embeddings.detached());
    }
    let after = accuracy(&method.encoder, &source, &device)?;
    println!("accuracy: {before:.3} before training, {after:.3} after");
    Ok(())
}

/// Views of images that are drawn at random.
fn batch(source: &ViewSource, step: u64, device: &Device) -> Result<ImageBatch, Box<dyn Error>> {
    let mut rng = source.seed.named("batch").index(step).rng();
    let images = index::sample(&mut rng, source.data.train.len(), BATCH).into_vec();
    let pixels = source.make(&images, &[step; BATCH])?;
    Ok(ImageBatch {
        views: BatchViews::Made(source.on_device(pixels, BATCH, device)),
        images: images.into(),
        classes: None,
        mode: Mode::Train,
    })
}

/// The share of test images whose nearest training image, by the cosine of features, has their class.
fn accuracy(encoder: &ImageEncoder, source: &ViewSource, device: &Device) -> Result<f64, Box<dyn Error>> {
    let features = |images: &Collection| -> Result<Tensor<2>, Box<dyn Error>> {
        let indices: Vec<usize> = (0..images.len()).collect();
        let mut pixels = Vec::new();
        let [height, width] = source.views.test_batch(images, &indices, Some(SIDE), &mut pixels)?;
        let pixels = Tensor::<4>::from_data(TensorData::new(pixels, [images.len(), 3, height, width]), device);
        Ok(unit_rows(encoder.features(pixels, Mode::Eval)).detach())
    };
    let (train, test) = (&source.data.train, &source.data.test);
    let nearest = matmul(features(test)?, features(train)?.transpose()).argmax(1).into_data();
    let found = nearest.iter::<i64>().map(|image| train.labels()[image as usize]);
    let correct = found
        .zip(test.labels())
        .filter(|(found, expected)| found == *expected)
        .count();
    Ok(correct as f64 / test.len() as f64)
}

#[cfg(test)]
mod tests {
    #[test]
    fn two_steps_run() {
        super::train(2).unwrap();
    }
}
