//! Times scores and gradients of one training step, at the sizes of MovieLens 100K and Gowalla.
//!
//! `cargo run --release -p bcl-models --example encoder_timings [TRAIN.txt]`. TRAIN.txt has one line per user, `user item item …`, and
//! replaces the synthetic graph of Gowalla's size.

use std::{env, fs, hint::black_box, time::Instant};

use bcl_models::{Graph, LightGcnConfig, MatrixFactorisationConfig, Recommender, RecommenderConfig, Similarity};
use burn::tensor::{Device, Distribution, Int, Tensor};

fn main() {
    let mf = RecommenderConfig::Mf(MatrixFactorisationConfig {
        dim: 64,
        init_std: 0.1,
        similarity: Similarity::Cosine,
    });
    let light_gcn = |layers| {
        RecommenderConfig::LightGcn(LightGcnConfig {
            dim: 64,
            layers,
            init_std: 0.1,
            similarity: Similarity::Cosine,
        })
    };
    let small = made_up(943, 1682, 80_000);
    let large = env::args()
        .nth(1)
        .map_or_else(|| made_up(29_858, 40_981, 810_128), |path| read(&path));
    println!("milliseconds of scores and gradients: best, median");
    time("mf, 943 x 1682, 1024 x 128", &mf, &small, 1024, 128);
    time("light_gcn-3, 943 x 1682, 1024 x 128", &light_gcn(3), &small, 1024, 128);
    time("mf, gowalla, 2048 x 128", &mf, &large, 2048, 128);
    time("light_gcn-3, gowalla, 2048 x 1", &light_gcn(3), &large, 2048, 1);
    time("light_gcn-3, gowalla, 2048 x 128", &light_gcn(3), &large, 2048, 128);
}

fn time(name: &str, config: &RecommenderConfig, graph: &Graph, batch_size: usize, num_negatives: usize) {
    let device = Device::flex().autodiff();
    let encoder = config.init(graph, 0, &device);
    let ids = |count, bound: usize| Tensor::<1, Int>::random([count], Distribution::Uniform(0.0, bound as f64), &device);
    let users = ids(batch_size, graph.num_users);
    let positives = ids(batch_size, graph.num_items);
    let negatives = ids(batch_size * num_negatives, graph.num_items).reshape([batch_size, num_negatives]);
    let shared = ids(num_negatives, graph.num_items);
    let weights = Tensor::<2>::random([batch_size, num_negatives], Distribution::Default, &device);

    let step = |encoder: &Recommender| {
        let (positives, scores) = encoder.score_batch(users.clone(), positives.clone(), negatives.clone());
        ((scores * weights.clone()).sum() - positives.sum()).backward()
    };
    report(name, || drop(black_box(step(&encoder))));
    let step = |encoder: &Recommender| {
        let (positives, scores) = encoder.score_shared(users.clone(), positives.clone(), shared.clone());
        ((scores * weights.clone()).sum() - positives.sum()).backward()
    };
    report(&format!("{name} shared"), || drop(black_box(step(&encoder))));
}

fn report(name: &str, run: impl Fn()) {
    run();
    let begin = Instant::now();
    let mut times = Vec::new();
    while times.len() < 5 || (begin.elapsed().as_secs_f64() < 3.0 && times.len() < 200) {
        let start = Instant::now();
        run();
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    println!("{name:<48} {:>9.2} {:>9.2}", times[0], times[times.len() / 2]);
}

/// A synthetic graph with uniform users and skewed items.
fn made_up(num_users: usize, num_items: usize, num_edges: usize) -> Graph {
    let mut state = 0u64;
    let mut unit = || {
        // SplitMix64
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    };
    let edges = (0..num_edges).map(|_| {
        let user = unit() * num_users as f64;
        (user as u32, (unit().powi(2) * num_items as f64) as u32)
    });
    let mut edges: Vec<_> = edges.collect();
    edges.sort_unstable();
    edges.dedup();
    Graph {
        num_users,
        num_items,
        edges,
    }
}

fn read(path: &str) -> Graph {
    let text = fs::read_to_string(path).expect("a readable file");
    let mut edges = Vec::new();
    for line in text.lines() {
        let mut numbers = line.split_whitespace().map(|number| number.parse::<u32>().expect("a number"));
        let user = numbers.next().expect("a user");
        edges.extend(numbers.map(|item| (user, item)));
    }
    let bound = |side: fn(&(u32, u32)) -> u32| edges.iter().map(side).max().map_or(0, |most| most as usize + 1);
    let (num_users, num_items) = (bound(|edge| edge.0), bound(|edge| edge.1));
    Graph {
        num_users,
        num_items,
        edges,
    }
}
