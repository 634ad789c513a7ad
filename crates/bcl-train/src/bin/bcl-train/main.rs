//! The `bcl-train` program: parses the command line, runs the verb, and turns errors into exit codes.

mod bar;
mod cli;
mod verbs;

use bcl_backend::{Backend, Inventory, device_failures, launch, prepare_process};
use bcl_files::{critical_section, notice, refuse_full_output};
use bcl_recipe::{Origins, Recipe, built_in};
use bcl_train::{
    error::Error,
    processes,
    training::{Stop, show_bars, stop_on_signals},
};
use cli::{Command, ComputeArguments, Output, Train};
use std::{io::IsTerminal, process::ExitCode};
use verbs::{Earlier, Search, Session};

/// The name of this program in cargo.
const PACKAGE: &str = env!("CARGO_PKG_NAME");

fn main() -> ExitCode {
    // `bcl-train recipes | head` ends when `head` does, as programs on Unix do.
    sigpipe::reset();
    refuse_full_output();
    if std::io::stderr().is_terminal() {
        show_bars(bar::of_training);
    }
    prepare_process();
    let _together = processes::AbortOnPanic;
    let command = cli::parse();
    let outcome = processes::join(PACKAGE, processes_of(&command)).and_then(|()| device_failures(|| run(command))?);
    // From here on, a signal has nothing left to stop.
    let _ending = critical_section();
    processes::end(outcome)
}

/// The number of processes that a command of `bcl-train` asks for, or the reason why it cannot run as several.
fn processes_of(command: &Command) -> Result<Option<u16>, &'static str> {
    match command {
        Command::Train(train) if train.print_recipe || train.dump_views.is_some() => {
            Err("--print-recipe and --dump-views train nothing; run this command once, without a launcher")
        }
        Command::Train(train) => Ok(train.processes),
        _ => Err("only training runs on several; run this command once, without a launcher"),
    }
}

fn run(command: Command) -> Result<(), Error> {
    // Process 0 speaks for all.
    notice::set_quiet(command.is_quiet() || !processes::collective().is_first());
    if let Command::Train(train) = &command
        && let Some(processes) = processes::processes_to_start(train.processes)?
    {
        return start_processes(train, processes);
    }
    let stop = stop_on_signals(ctrlc::set_handler)?;
    match command {
        Command::Train(train) => run_training(&train, stop),
        Command::Evaluate(args) => {
            let backend = open(&args.compute, args.output)?;
            verbs::evaluate(&args, &backend)
        }
        Command::Embed(args) => {
            let out = args.out.unwrap_or_else(|| args.run.join("embeddings"));
            verbs::embed(
                &args.run,
                args.compute.data.as_deref(),
                &open(&args.compute, args.output)?,
                &out,
                args.output.json,
            )
        }
        Command::Recommend(args) => {
            verbs::check_recommend(&args)?;
            let backend = open(&args.compute, args.output)?;
            verbs::recommend(&args, &backend, &stop)
        }
        Command::Neighbours(args) => {
            let backend = open(&args.compute, args.output)?;
            verbs::search(&args.run, args.compute.data.as_deref(), &backend, &Search::Neighbours(&args))
        }
        Command::Duplicates(args) => {
            let backend = open(&args.compute, args.output)?;
            verbs::search(&args.run, args.compute.data.as_deref(), &backend, &Search::Duplicates(&args))
        }
        Command::Subset(args) => {
            let backend = open(&args.compute, args.output)?;
            verbs::search(&args.run, args.compute.data.as_deref(), &backend, &Search::Subset(&args))
        }
        Command::FineTune(args) => {
            verbs::check_fine_tune(&args)?;
            let backend = open(&args.compute, args.output)?;
            verbs::fine_tune(&args, &backend)
        }
        Command::Export(args) => {
            verbs::check_export(&args)?;
            verbs::export(&args, &open(&args.compute, args.output)?)
        }
        Command::Report(args) => verbs::report(&args),
        Command::Watch(args) => verbs::watch(&args),
        Command::Data(data) => verbs::data(&data, &stop),
        Command::Recipes(args) => {
            verbs::list(
                built_in().iter().map(|recipe| (recipe.name, recipe.summary())),
                args.output.json,
            );
            Ok(())
        }
        Command::Devices(args) => {
            launch::ensure(args.backend, PACKAGE, args.output.quiet)?;
            verbs::devices(&Inventory::read(|choice| launch::command(choice, PACKAGE)), args.output.json);
            Ok(())
        }
        Command::Completions(args) => args
            .write(&mut std::io::stdout())
            .map_err(Error::io("write", "standard output")),
    }
}

/// Starts the processes of `--processes`, and ends with their exit code.
fn start_processes(args: &Train, processes: u16) -> Result<(), Error> {
    args.compute.check_data()?;
    // Building a program with MPI takes minutes, so a wrong recipe is refused first.
    if args.resumed().is_none() || !args.recipes.is_empty() {
        load(args)?;
    }
    launch::ensure_with_mpi(args.compute.backend, processes::HAS_MPI, PACKAGE, args.output.quiet)?;
    std::process::exit(processes::start(processes, ctrlc::set_handler)?)
}

fn run_training(args: &Train, stop: Stop) -> Result<(), Error> {
    if args.print_recipe {
        for (recipe, origins) in load_with_origins(args)? {
            print!("{}", recipe.to_toml_with(&origins));
        }
        return Ok(());
    }
    args.compute.check_data()?;
    if let Some(picture) = &args.dump_views {
        return verbs::dump_views(&load(args)?, args.compute.data_dir(), picture);
    }
    // Building another backend takes minutes, so a wrong recipe is refused first.
    let recipes = match (args.resumed(), args.recipes.is_empty()) {
        (Some(_), true) => Vec::new(),
        _ => load(args)?,
    };
    let processes = processes::collective();
    let session = Session {
        backend: open(&args.compute, args.output)?,
        data_dir: args.compute.data_dir().to_path_buf(),
        moved_data: args.compute.data.clone(),
        out: args.out().to_path_buf(),
        // Process 0 speaks for all.
        quiet: args.output.quiet || !processes.is_first(),
        json: args.output.json,
        earlier: match (&args.resume, &args.seeds) {
            (Some(_), _) => Earlier::Continue,
            (None, Some(_)) => Earlier::Show,
            (None, None) => Earlier::Keep,
        },
        stop,
        processes,
    };
    if let Some(folder) = args.resumed() {
        return verbs::resume(&session, folder, recipes.first(), &args.overrides());
    }
    let runs = verbs::train(&session, &recipes)?;
    if args.recipes.is_empty() && !args.output.json && session.processes.is_first() {
        verbs::suggest(&runs);
    }
    Ok(())
}

/// Loads the requested runs.
fn load(args: &Train) -> Result<Vec<Recipe>, Error> {
    Ok(load_with_origins(args)?.into_iter().map(|(recipe, _)| recipe).collect())
}

/// Loads the requested runs with the origins of their values, and names the keys that flags made meaningless.
fn load_with_origins(args: &Train) -> Result<Vec<(Recipe, Origins)>, Error> {
    let mut dropped = Vec::new();
    let recipes = args.load_with_origins(&mut dropped)?;
    for keys in dropped {
        notice::note(keys);
    }
    Ok(recipes)
}

/// Opens the requested backend with the requested number of threads. If it is not in this build, a program that has it takes
/// over.
fn open(compute: &ComputeArguments, output: Output) -> Result<Backend, Error> {
    compute.check_data()?;
    launch::ensure(compute.backend, PACKAGE, output.quiet)?;
    if let Some(threads) = compute.threads.map(usize::from).or_else(processes::threads_of_process) {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global()
            .map_err(|error| Error::Training(format!("cannot start {threads} threads: {error}")))?;
    }
    Ok(processes::open_backend(compute.backend, compute.device)?)
}
