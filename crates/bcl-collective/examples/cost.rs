//! Measures what a step on several processes costs in communication, on the machines and the network at hand.
//!
//! ```text
//! cargo build -p bcl-collective --features mpi --example cost
//! mpirun -n 4 --bind-to none target/debug/examples/cost 4096 128 459000
//! ```
//!
//! The arguments are the batch size, the dimension of embeddings and the number of parameters. It prints the bytes that a process sends and the
//! median of the times in which all processes finish, for each operation of a step. For comparison, it
//! gathers as many floats as there are parameters, which moves half of what their sum moves and adds nothing.

use bcl_collective::{Collective, Mpi, share};
use std::{env, process::ExitCode, sync::Arc, time::Instant};

/// Times each operation is measured.
const REPEATS: usize = 15;

fn main() -> ExitCode {
    let numbers: Vec<usize> = env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let &[batch, dim, parameters] = &numbers[..] else {
        eprintln!("usage: cost BATCH DIM PARAMETERS");
        return ExitCode::from(2);
    };
    let mpi = match Mpi::start() {
        Ok(mpi) => Arc::new(mpi),
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let collective: Arc<dyn Collective> = mpi.clone();
    measure(&*collective, batch, dim, parameters);
    mpi.end(0, None);
    ExitCode::SUCCESS
}

fn measure(collective: &dyn Collective, batch: usize, dim: usize, parameters: usize) {
    let size = collective.size();
    // Two tables of embeddings: anchors and positives.
    let lengths: Vec<usize> = (0..size).map(|process| 2 * dim * share(batch, process, size).len()).collect();
    let own = vec![1.0_f32; lengths[collective.index()]];
    let gradient = vec![1.0_f32; lengths.iter().sum()];
    let mut of_parameters = vec![1.0_f32; parameters];
    let part = of_parameters[..share(parameters, collective.index(), size).len()].to_vec();

    let sent = |floats: usize| 4.0 * floats as f64 * (size - 1) as f64 / size as f64;
    let rows = [
        ("all-gather of the embeddings", sent(2 * batch * dim), {
            time(collective, || drop(collective.all_gather_values(&own)))
        }),
        ("reduce-scatter of their gradient", sent(2 * batch * dim), {
            time(collective, || drop(collective.reduce_scatter(&gradient, &lengths)))
        }),
        ("all-reduce of the parameters' gradient", sent(2 * parameters), {
            time(collective, || collective.all_reduce(&mut of_parameters))
        }),
        ("comparison: all-gather of the parameters", sent(parameters), {
            time(collective, || drop(collective.all_gather_values(&part)))
        }),
        ("any(flag)", (size - 1) as f64, {
            time(collective, || {
                collective.any(false);
            })
        }),
    ];
    if collective.is_first() {
        println!("{size} processes, batch {batch}, {dim} dimensions, {parameters} parameters");
        for (name, bytes, milliseconds) in rows {
            println!("{name:<42} {:>10.3} MB sent per process {milliseconds:>9.3} ms", bytes / 1e6);
        }
    }
}

/// The median time in milliseconds in which all processes finish.
fn time(collective: &dyn Collective, mut operation: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..REPEATS + 2)
        .map(|_| {
            collective.barrier();
            let begin = Instant::now();
            operation();
            collective.barrier();
            begin.elapsed().as_secs_f64() * 1e3
        })
        .skip(2)
        .collect();
    times.sort_by(f64::total_cmp);
    times[REPEATS / 2]
}
