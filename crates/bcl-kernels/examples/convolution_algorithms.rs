//! Times every way to compute the convolutions of a ResNet on an NVIDIA GPU, and compares the results with Burn's in single precision.
//!
//! ```text
//! cargo run --release -p bcl-kernels --features cuda --example convolution_algorithms -- \
//!     [--networks resnet18,resnet50,stem] [--type bf16|tf32|f32] [--passes forward,data,weight] [--seconds 90] [--images 512] \
//!     [--only TEXT] [--skip TEXT] [--done FILE] [--all yes]
//! ```
//!
//! Prints a line of JSON per layer, pass and algorithm, the most expensive layers first, and then per network the sum over its layers of
//! the fastest algorithms and of those that the library uses. `--only` and `--skip` select algorithms by a part of their name; `--done`
//! skips what a file of earlier output has. Without `--all` only the more promising half is timed, because each kernel takes long to compile.
//!
//! A kernel that crashes takes the whole process's device with it. The program then ends with status 3; run it again with `--done`.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use bcl_kernels::convolution_algorithms::{
    AcceleratedTileKind, Algorithm, ConvAlgorithm, Convolution, Implicit, Loading, Pass, Pipeline, Product, Tiles, chosen, data,
    forward, weight,
};
use burn::backend::{Backend, Cube, ops::FloatTensorOps};
use burn::tensor::{Distribution, FloatDType};
use burn_cubecl::CubeDevice;
use burn_cubecl::ops::{into_data_sync, permute_nhwc_to_nchw};
use burn_cubecl::tensor::CubeTensor;

/// The message of the last panic of any thread.
static PANICKED: Mutex<String> = Mutex::new(String::new());

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    std::panic::set_hook(Box::new(|panic| {
        if let Ok(mut last) = PANICKED.lock() {
            *last = panic.to_string();
        }
    }));
    let device = match CubeDevice::cuda(0) {
        Ok(device) => device,
        Err(error) => {
            eprintln!("no CUDA device: {error:?}");
            return ExitCode::from(2);
        }
    };
    Timings::new(options, device).run()
}

/// What to measure.
struct Options {
    networks: Vec<String>,
    number: Number,
    passes: Vec<Pass>,
    seconds: f64,
    images: Option<usize>,
    only: Vec<String>,
    skip: Vec<String>,
    done: HashSet<String>,
    all: bool,
}

/// Numbers, and what computes with them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Number {
    Bf16,
    /// Single precision in memory, tensor cores.
    Tf32,
    /// Single precision throughout.
    F32,
}

impl Number {
    fn dtype(self) -> FloatDType {
        match self {
            Self::Bf16 => FloatDType::BF16,
            Self::Tf32 | Self::F32 => FloatDType::F32,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Bf16 => "bf16",
            Self::Tf32 => "tf32",
            Self::F32 => "f32",
        }
    }
}

impl Options {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            networks: vec!["resnet18".into()],
            number: Number::Bf16,
            passes: Pass::ALL.to_vec(),
            seconds: 90.0,
            images: None,
            only: Vec::new(),
            skip: Vec::new(),
            done: HashSet::new(),
            all: false,
        };
        while let Some(name) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
            let invalid = || format!("`{value}` is not a value of {name}");
            match name.as_str() {
                "--networks" => options.networks = value.split(',').map(str::to_owned).collect(),
                "--type" => {
                    let numbers = [Number::Bf16, Number::Tf32, Number::F32];
                    let number = numbers.into_iter().find(|number| number.name() == value);
                    options.number = number.ok_or_else(invalid)?;
                }
                "--passes" => {
                    let pass = |name: &str| Pass::ALL.into_iter().find(|pass| pass.to_string() == name);
                    options.passes = value.split(',').map(pass).collect::<Option<_>>().ok_or_else(invalid)?;
                }
                "--seconds" => options.seconds = value.parse().map_err(|_| invalid())?,
                "--images" => options.images = Some(value.parse().map_err(|_| invalid())?),
                "--only" => options.only.push(value),
                "--skip" => options.skip.push(value),
                "--all" => options.all = value == "yes",
                "--done" => {
                    let text = std::fs::read_to_string(&value).unwrap_or_default();
                    options.done = text.lines().filter_map(key_of_line).collect();
                }
                _ => return Err(format!("`{name}` is not an option")),
            }
        }
        Ok(options)
    }
}

/// The layer, pass, type and algorithm at the start of a line of output.
fn key_of_line(line: &str) -> Option<String> {
    let end = line.find(", \"first_ms\"").or_else(|| line.find(", \"failed\""))?;
    line[..end].starts_with("{\"layer\"").then(|| line[..end].to_owned())
}

/// A layer that a network has `count` times.
#[derive(Clone, Copy)]
struct Layer {
    network: &'static str,
    count: usize,
    images: usize,
    channels_in: usize,
    channels_out: usize,
    kernel: usize,
    stride: usize,
    side: usize,
}

impl Layer {
    fn padding(&self) -> usize {
        self.kernel / 2
    }

    fn side_out(&self) -> usize {
        (self.side + 2 * self.padding() - self.kernel) / self.stride + 1
    }

    /// Floating point operations of one pass.
    fn operations(&self) -> f64 {
        let pixels = self.images * self.side_out() * self.side_out();
        2.0 * (pixels * self.channels_in * self.channels_out * self.kernel * self.kernel) as f64
    }

    fn name(&self) -> String {
        let Self {
            images,
            channels_in,
            channels_out,
            kernel,
            stride,
            side,
            ..
        } = self;
        format!("{images} x {channels_in}>{channels_out} {kernel}x{kernel} s{stride} @{side}")
    }
}

/// The layers of a network, the most expensive first.
fn layers(network: &str, images: Option<usize>) -> Vec<Layer> {
    let (network, default_images, rows): (_, _, &[[usize; 6]]) = match network {
        "resnet18" => ("resnet18", 512, &RESNET18),
        "resnet50" => ("resnet50", 512, &RESNET50),
        "stem" => ("stem", 256, &STEM),
        _ => return Vec::new(),
    };
    let layer = |&[count, channels_in, channels_out, kernel, stride, side]: &[usize; 6]| Layer {
        network,
        count,
        images: images.unwrap_or(default_images),
        channels_in,
        channels_out,
        kernel,
        stride,
        side,
    };
    let mut layers: Vec<_> = rows.iter().map(layer).collect();
    layers.sort_by(|a, b| (b.operations() * b.count as f64).total_cmp(&(a.operations() * a.count as f64)));
    layers
}

/// Count, channels in, channels out, kernel, stride, side of the image. CIFAR stem, 32 x 32 pixels.
const RESNET18: [[usize; 6]; 11] = [
    [1, 3, 64, 3, 1, 32],
    [4, 64, 64, 3, 1, 32],
    [1, 64, 128, 3, 2, 32],
    [3, 128, 128, 3, 1, 16],
    [1, 64, 128, 1, 2, 32],
    [1, 128, 256, 3, 2, 16],
    [3, 256, 256, 3, 1, 8],
    [1, 128, 256, 1, 2, 16],
    [1, 256, 512, 3, 2, 8],
    [3, 512, 512, 3, 1, 4],
    [1, 256, 512, 1, 2, 8],
];

/// As [`RESNET18`].
const RESNET50: [[usize; 6]; 23] = [
    [1, 3, 64, 3, 1, 32],
    [1, 64, 64, 1, 1, 32],
    [3, 64, 64, 3, 1, 32],
    [4, 64, 256, 1, 1, 32],
    [2, 256, 64, 1, 1, 32],
    [1, 256, 128, 1, 1, 32],
    [1, 128, 128, 3, 2, 32],
    [3, 128, 128, 3, 1, 16],
    [4, 128, 512, 1, 1, 16],
    [3, 512, 128, 1, 1, 16],
    [1, 256, 512, 1, 2, 32],
    [1, 512, 256, 1, 1, 16],
    [1, 256, 256, 3, 2, 16],
    [5, 256, 256, 3, 1, 8],
    [6, 256, 1024, 1, 1, 8],
    [5, 1024, 256, 1, 1, 8],
    [1, 512, 1024, 1, 2, 16],
    [1, 1024, 512, 1, 1, 8],
    [1, 512, 512, 3, 2, 8],
    [2, 512, 512, 3, 1, 4],
    [3, 512, 2048, 1, 1, 4],
    [2, 2048, 512, 1, 1, 4],
    [1, 1024, 2048, 1, 2, 8],
];

/// The `ImageNet` stem of 96 x 96 pixels, and the layers of its first stage.
const STEM: [[usize; 6]; 2] = [[1, 3, 64, 7, 2, 96], [4, 64, 64, 3, 1, 24]];

/// The algorithms to time for a pass; the short list comes first.
#[allow(clippy::too_many_lines)] // a list
fn candidates(pass: Pass, layer: &Layer, number: Number, with_all: bool) -> Vec<Algorithm> {
    let product = |loading, tiles| Product { loading, tiles };
    let implicit = |loading, tiles| Implicit { loading, tiles };
    let mma = Tiles::inferred(AcceleratedTileKind::Mma);
    let cmma = Tiles::inferred(AcceleratedTileKind::Cmma);
    let units = product(Loading::Units, mma);
    if number == Number::F32 {
        let all = [Algorithm::Portable, Algorithm::Columns(units), Algorithm::Shifted(units)];
        return all.into_iter().filter(|algorithm| algorithm.computes(pass)).collect();
    }
    // Blocks are counted in instructions of half precision.
    let half = number == Number::Bf16;
    let blocks: &[Tiles] = match (half, pass) {
        (false, _) => &[],
        (true, Pass::Weight) => &[Tiles::mma(4, 1, 8, 4), Tiles::mma(4, 2, 8, 2), Tiles::mma(4, 2, 8, 4)],
        (true, _) => &[
            Tiles::mma(8, 2, 8, 2),
            Tiles::mma(4, 2, 8, 2),
            Tiles::mma(4, 2, 8, 4),
            Tiles::mma(8, 1, 8, 4),
            Tiles::mma(4, 4, 8, 2),
            Tiles::mma(4, 2, 16, 2),
            Tiles::mma(8, 2, 16, 2),
        ],
    };
    let narrow = layer.channels_out.min(layer.channels_in) <= 64;
    let fits = |tiles: &&Tiles| !narrow || tiles.block.is_none_or(|block| block.columns <= 8);
    let blocks: Vec<Tiles> = blocks.iter().filter(fits).copied().collect();

    let mut implicits: Vec<Implicit> = Vec::new();
    for &tiles in blocks.iter().take(2) {
        implicits.push(implicit(ConvAlgorithm::SimpleSyncStrided, tiles));
        implicits.push(implicit(ConvAlgorithm::SpecializedTma, tiles));
    }
    implicits.push(implicit(ConvAlgorithm::SimpleSyncStrided, mma));
    let mut products: Vec<Product> = blocks.iter().take(2).map(|&tiles| product(Loading::Simple, tiles)).collect();
    products.extend([
        product(Loading::Simple, mma),
        product(Loading::Double, mma),
        product(Loading::SpecializedTma, mma),
        product(Loading::Simple, cmma),
    ]);
    if with_all {
        for &tiles in &blocks {
            implicits.push(implicit(ConvAlgorithm::SimpleSyncStrided, tiles));
            implicits.push(implicit(ConvAlgorithm::SimpleAsyncStrided, tiles));
            implicits.push(implicit(ConvAlgorithm::SimpleSyncCyclic, tiles));
            implicits.push(implicit(ConvAlgorithm::SpecializedTma, tiles));
            products.push(product(Loading::Simple, tiles));
            products.push(product(Loading::Double, tiles));
        }
        implicits.extend([
            implicit(ConvAlgorithm::SimpleAsyncStrided, mma),
            implicit(ConvAlgorithm::SimpleAsyncTma, mma),
            implicit(ConvAlgorithm::SpecializedTma, mma),
            implicit(ConvAlgorithm::SpecializedAsyncStrided, mma),
            implicit(ConvAlgorithm::SimpleSyncCyclic, cmma),
            implicit(ConvAlgorithm::SimpleAsyncTma, cmma),
        ]);
        products.extend([
            product(Loading::SimpleStrided, mma),
            product(Loading::SimpleAsync, mma),
            product(Loading::SimpleTma, mma),
            product(Loading::DoubleAsync, mma),
            product(Loading::DoubleTma, mma),
            product(Loading::Double, cmma),
        ]);
    }

    let few_channels = !layer.channels_in.is_multiple_of(8);
    let mut all = Vec::new();
    if half && !few_channels {
        let pipelines = pipelines(pass, layer);
        if pass == Pass::Data && layer.stride > 1 {
            all.extend(pipelines.iter().copied().map(Algorithm::Spread));
        }
        all.extend(pipelines.into_iter().map(|how| match pass {
            Pass::Data => Algorithm::Rotated(Convolution::Pipelined(how)),
            _ => Algorithm::Pipelined(how),
        }));
    }
    let by_columns = products.iter().copied().map(Algorithm::Columns);
    let tma = |how: &Implicit| matches!(how.loading, ConvAlgorithm::SimpleAsyncTma | ConvAlgorithm::SpecializedTma);
    match pass {
        // A matrix product is the natural form; one implicit GEMM for comparison.
        Pass::Forward | Pass::Data if layer.kernel == 1 || few_channels => {
            all.extend(by_columns);
            all.extend(implicits.first().copied().map(Algorithm::Implicit));
        }
        Pass::Forward => {
            all.extend(implicits.into_iter().map(Algorithm::Implicit));
            all.extend(by_columns.take(1));
        }
        Pass::Data => {
            let rotated = implicits
                .iter()
                .copied()
                .filter(tma)
                .map(|how| Algorithm::Rotated(Convolution::Implicit(how)));
            all.extend(rotated);
            all.extend(implicits.into_iter().filter(|how| !tma(how)).map(Algorithm::Implicit));
        }
        Pass::Weight => {
            if layer.kernel > 1 && !few_channels {
                // Rows of shifted images overlap, which the tensor memory accelerator cannot read.
                let strided = |product: &&Product| {
                    !matches!(
                        product.loading,
                        Loading::SimpleTma | Loading::DoubleTma | Loading::SpecializedTma
                    )
                };
                all.extend(products.iter().filter(strided).copied().map(Algorithm::Shifted));
            }
            all.extend(by_columns);
            // One workgroup per block of the weight, which is slow for few channels.
            all.extend(implicits.first().copied().map(Algorithm::Implicit));
        }
    }
    all.push(Algorithm::Portable);
    all
}

/// Pipelines whose blocks fit the channels.
fn pipelines(pass: Pass, layer: &Layer) -> Vec<Pipeline> {
    let all = [
        Pipeline::new([4, 1], [2, 4], 2, 3),
        Pipeline::new([4, 1], [2, 4], 2, 4),
        Pipeline::new([4, 1], [2, 4], 4, 3),
        Pipeline::new([2, 2], [4, 2], 2, 4),
        Pipeline::new([2, 2], [2, 2], 2, 4),
        Pipeline::new([2, 2], [2, 2], 4, 3),
        Pipeline::new([4, 2], [2, 4], 2, 4),
        Pipeline::new([4, 2], [2, 4], 4, 3),
        Pipeline::new([2, 2], [4, 4], 2, 4),
        Pipeline::new([2, 2], [4, 4], 4, 3),
        Pipeline::new([8, 1], [2, 4], 4, 3),
    ];
    let (rows, columns) = match pass {
        Pass::Forward => (1, layer.channels_out),
        Pass::Data => (1, layer.channels_in),
        Pass::Weight => (layer.channels_out, layer.channels_in),
    };
    let fits = |how: &Pipeline| {
        let height = if pass == Pass::Weight {
            16 * how.warps_down * how.rows
        } else {
            1
        };
        rows % height as usize == 0 && columns % (16 * how.warps_right * how.columns) as usize == 0
    };
    all.into_iter().filter(fits).collect()
}

/// The tensors of a layer.
struct Inputs {
    input: CubeTensor,
    weight: CubeTensor,
    grad: CubeTensor,
}

impl Inputs {
    /// Random images in NHWC memory, as a network has them; the first layer's in NCHW, as the loader has them.
    fn random(layer: &Layer, device: &CubeDevice, number: Number) -> Self {
        let random = |shape: [usize; 4]| {
            let numbers = Cube::float_random(shape.into(), Distribution::Normal(0.0, 1.0), device, FloatDType::F32);
            Cube::float_cast(numbers, number.dtype())
        };
        let images = |channels, side| permute_nhwc_to_nchw(random([layer.images, side, side, channels]));
        let input = if layer.channels_in == 3 {
            random([layer.images, 3, layer.side, layer.side])
        } else {
            images(layer.channels_in, layer.side)
        };
        Self {
            input,
            weight: random([layer.channels_out, layer.channels_in, layer.kernel, layer.kernel]),
            grad: images(layer.channels_out, layer.side_out()),
        }
    }

    fn single(&self) -> Self {
        let single = |tensor: &CubeTensor| Cube::float_cast(tensor.clone(), FloatDType::F32);
        Self {
            input: single(&self.input),
            weight: single(&self.weight),
            grad: single(&self.grad),
        }
    }

    fn compute(&self, layer: &Layer, pass: Pass, algorithm: Algorithm) -> Result<CubeTensor, String> {
        let (input, kernels, grad) = (self.input.clone(), self.weight.clone(), self.grad.clone());
        let (stride, padding) = (layer.stride, layer.padding());
        let result = match pass {
            Pass::Forward => forward(input, kernels, stride, padding, algorithm),
            Pass::Data => data(input, kernels, grad, stride, padding, algorithm),
            Pass::Weight => weight(input, kernels, grad, stride, padding, algorithm),
        };
        result.map_err(|refused| refused.0)
    }
}

/// What was measured of an algorithm.
struct Measured {
    first: f64,
    median: f64,
    burst: f64,
    error: f64,
}

struct Timings {
    options: Options,
    device: CubeDevice,
    end: Instant,
    /// Milliseconds per network: of the fastest algorithms, and of the library's.
    sums: HashMap<&'static str, [f64; 2]>,
}

/// Synchronised calls of which the median is taken, and unsynchronised calls in a burst.
const CALLS: usize = 10;

/// Characters of an error message, which may contain the source of a kernel.
const MESSAGE: usize = 1_500;

impl Timings {
    fn new(options: Options, device: CubeDevice) -> Self {
        let end = Instant::now() + Duration::from_secs_f64(options.seconds);
        Self {
            options,
            device,
            end,
            sums: HashMap::new(),
        }
    }

    fn run(mut self) -> ExitCode {
        for network in self.options.networks.clone() {
            for layer in layers(&network, self.options.images) {
                if let Err(status) = self.layer(&layer) {
                    return status;
                }
            }
        }
        for (network, [fastest, library]) in &self.sums {
            println!("{{\"network\": {network:?}, \"fastest_ms\": {fastest:.4}, \"library_ms\": {library:.4}}}");
        }
        ExitCode::SUCCESS
    }

    fn layer(&mut self, layer: &Layer) -> Result<(), ExitCode> {
        let number = self.options.number;
        let inputs = Inputs::random(layer, &self.device, number);
        for pass in self.options.passes.clone() {
            let library = chosen(pass, &inputs.input, &inputs.weight, layer.stride, layer.padding());
            let mut algorithms = candidates(pass, layer, number, self.options.all);
            // The library's choice comes first, so that a run cut short has it.
            algorithms.retain(|&algorithm| algorithm != library);
            algorithms.insert(0, library);
            let mut seen = HashSet::new();
            algorithms.retain(|&algorithm| seen.insert(algorithm));
            let mut reference = None;
            let mut fastest = f64::INFINITY;
            for algorithm in algorithms {
                if Instant::now() > self.end {
                    println!("{{\"stopped\": \"out of time\"}}");
                    return Err(ExitCode::SUCCESS);
                }
                let key = key(layer, pass, number, algorithm);
                let name = algorithm.to_string();
                let selected = self.options.only.is_empty() || self.options.only.iter().any(|text| name.contains(text));
                if !selected || self.options.skip.iter().any(|text| name.contains(text)) || self.options.done.contains(&key) {
                    continue;
                }
                let reference = reference.get_or_insert_with(|| inputs.single().compute(layer, pass, Algorithm::Portable));
                let measured = self.measure(&inputs, layer, pass, algorithm, reference);
                let mut line = key;
                match measured {
                    Ok(Measured {
                        first,
                        median,
                        burst,
                        error,
                    }) => {
                        let tflops = layer.operations() / burst / 1e9;
                        let _ = write!(
                            line,
                            ", \"first_ms\": {first:.1}, \"median_ms\": {median:.4}, \"burst_ms\": {burst:.4}, \"tflops\": {tflops:.1}, \
                             \"error\": {error:.2e}, \"count\": {}, \"library\": {}}}",
                            layer.count,
                            algorithm == library
                        );
                        println!("{line}");
                        // Wrong results do not count.
                        if error < 0.05 {
                            fastest = fastest.min(burst);
                        }
                        if algorithm == library {
                            self.sums.entry(layer.network).or_default()[1] += burst * layer.count as f64;
                        }
                    }
                    Err(message) => {
                        let message: String = message.chars().take(MESSAGE).collect();
                        println!("{line}, \"failed\": {message:?}}}");
                        self.check()?;
                    }
                }
            }
            if fastest.is_finite() {
                self.sums.entry(layer.network).or_default()[0] += fastest * layer.count as f64;
            }
        }
        Ok(())
    }

    fn measure(
        &self,
        inputs: &Inputs,
        layer: &Layer,
        pass: Pass,
        algorithm: Algorithm,
        reference: &Result<CubeTensor, String>,
    ) -> Result<Measured, String> {
        let timed = || -> Result<Measured, String> {
            let sync = || Cube::sync(&self.device).map_err(|error| format!("{error:?}"));
            sync()?;
            let milliseconds = |start: Instant| start.elapsed().as_secs_f64() * 1e3;
            let start = Instant::now();
            let result = inputs.compute(layer, pass, algorithm)?;
            sync()?;
            let first = milliseconds(start);
            let error = relative_error(result, reference.clone()?);
            let start = Instant::now();
            let _ = inputs.compute(layer, pass, algorithm)?;
            sync()?;
            // Few calls of what is hopelessly slow.
            let calls = if milliseconds(start) > 20.0 { 2 } else { CALLS };
            let mut times = Vec::new();
            for _ in 0..calls {
                let start = Instant::now();
                let _ = inputs.compute(layer, pass, algorithm)?;
                sync()?;
                times.push(milliseconds(start));
            }
            times.sort_by(f64::total_cmp);
            let start = Instant::now();
            for _ in 0..calls {
                let _ = inputs.compute(layer, pass, algorithm)?;
            }
            sync()?;
            Ok(Measured {
                first,
                median: times[calls / 2],
                burst: milliseconds(start) / calls as f64,
                error,
            })
        };
        catch_unwind(AssertUnwindSafe(timed)).unwrap_or_else(|_| Err(last_panic()))
    }

    /// Whether the device still computes after a failure.
    fn check(&self) -> Result<(), ExitCode> {
        let sound = catch_unwind(AssertUnwindSafe(|| {
            let ones = Cube::float_ones([4, 4].into(), &self.device, FloatDType::F32);
            number(Cube::float_max(ones)).is_finite()
        }));
        if matches!(sound, Ok(true)) {
            return Ok(());
        }
        println!(
            "{{\"stopped\": {:?}}}",
            format!("the device no longer computes: {}", last_panic())
        );
        Err(ExitCode::from(3))
    }
}

fn key(layer: &Layer, pass: Pass, number: Number, algorithm: Algorithm) -> String {
    format!(
        "{{\"layer\": \"{}\", \"pass\": \"{pass}\", \"type\": \"{}\", \"algorithm\": \"{algorithm}\"",
        layer.name(),
        number.name()
    )
}

fn last_panic() -> String {
    PANICKED.lock().map(|message| message.clone()).unwrap_or_default()
}

/// The largest difference, relative to the largest number of the reference.
fn relative_error(got: CubeTensor, reference: CubeTensor) -> f64 {
    let largest = |tensor| number(Cube::float_max(Cube::float_abs(tensor)));
    let difference = Cube::float_sub(Cube::float_cast(got, FloatDType::F32), reference.clone());
    // A maximum may pass over NaN; a mean does not.
    if number(Cube::float_mean(difference.clone())).is_nan() {
        return f64::NAN;
    }
    largest(difference) / largest(reference)
}

fn number(tensor: CubeTensor) -> f64 {
    into_data_sync(tensor).iter::<f64>().next().unwrap_or(f64::NAN)
}
