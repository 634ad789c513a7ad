//! Starts the processes of `--processes` on this machine, and passes signals on to them.

#[cfg(not(unix))]
use super::OnSignal;
use crate::error::Error;
use bcl_collective::Launched;

/// The number of processes that this one has to start: as many as `--processes` says, unless this is one of them.
///
/// # Errors
/// Returns an error if this system cannot start them.
pub fn processes_to_start(processes: Option<u16>) -> Result<Option<u16>, Error> {
    let wanted = processes.filter(|&processes| processes > 1);
    if wanted.is_none() || Launched::from_environment().is_some_and(|launched| launched.size > 1) {
        return Ok(None);
    }
    if cfg!(not(unix)) {
        return Err(Error::Input(
            "--processes needs a Unix system; start the processes with mpiexec".to_owned(),
        ));
    }
    Ok(wanted)
}

/// Is never called on this system; see [`processes_to_start`].
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn start<E>(_: u16, _: impl FnOnce(OnSignal) -> Result<(), E>) -> Result<i32, Error> {
    unreachable!("refused before")
}

#[cfg(unix)]
pub use unix::start;

#[cfg(unix)]
mod unix {
    use super::super::OnSignal;
    use super::Error;
    use bcl_files::notice;
    use nix::{
        sys::signal::{Signal, kill},
        unistd::Pid,
    };
    use std::{
        env,
        fmt::Display,
        io::{self, IsTerminal},
        num::NonZero,
        os::unix::process::{CommandExt, ExitStatusExt},
        process::{Command, ExitStatus, Stdio},
        sync::{Arc, Mutex, PoisonError},
        thread,
        time::{Duration, Instant},
    };

    /// The exit code of an interrupted command.
    const INTERRUPTED: i32 = 130;
    /// A signal this soon after the first is the same request; see `training/interrupt.rs`.
    const SAME_REQUEST: Duration = Duration::from_millis(300);
    /// The program that starts processes.
    const MPIRUN: &str = "mpirun";

    /// Starts this program again as several processes, with the same arguments, and returns their exit code.
    ///
    /// They get the signal SIGUSR1 at the first Ctrl-C, so that they stop together with a checkpoint, and SIGTERM at the second.
    ///
    /// # Errors
    /// Returns an error if `mpirun` or a signal handler cannot be started.
    pub fn start<E: Display>(processes: u16, listen: impl FnOnce(OnSignal) -> Result<(), E>) -> Result<i32, Error> {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let flavour = Flavour::installed()?;
        if usize::from(processes) > cores {
            notice::note(format!(
                "--processes {processes}: they take turns on {cores} cores, which is slower than one process per core"
            ));
        }
        let program = env::current_exe().map_err(Error::io("find", "this program"))?;
        let mut command = Command::new(MPIRUN);
        command.args(flavour.arguments(processes, cores));
        command.arg(program).args(env::args_os().skip(1));
        command.envs(flavour.variables().iter().copied());
        // Open MPI gives the processes a terminal even if this one writes into a file.
        if !io::stdout().is_terminal() {
            command.env("NO_COLOR", "1");
        }
        // A group of its own: a terminal sends Ctrl-C to the whole group, and `mpirun` would kill the processes at once.
        command.stdin(Stdio::null()).process_group(0);

        let requests = Arc::new(Mutex::new(Requests::default()));
        let of_signals = Arc::clone(&requests);
        let pass_on = move || of_signals.lock().unwrap_or_else(PoisonError::into_inner).pass_on();
        listen(Box::new(pass_on)).map_err(|error| Error::Training(format!("cannot listen for signals: {error}")))?;
        let mut child = {
            // A signal that comes now waits until there is a process to pass it on to.
            let mut requests = requests.lock().unwrap_or_else(PoisonError::into_inner);
            let child = command.spawn().map_err(Error::io("start", MPIRUN))?;
            requests.child = Some(Pid::from_raw(child.id() as i32));
            child
        };
        let status = child.wait().map_err(Error::io("wait for", MPIRUN))?;
        let mut requests = requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.child = None;
        Ok(exit_code(status, requests.first.is_some()))
    }

    /// The exit code of processes that may have been interrupted. A signal that comes before they listen ends them at once.
    fn exit_code(status: ExitStatus, interrupted: bool) -> i32 {
        let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
        let killed_by = |signal: Signal| 128 + signal as i32;
        if interrupted
            && (code == 1
                || [Signal::SIGUSR1, Signal::SIGTERM, Signal::SIGKILL]
                    .map(killed_by)
                    .contains(&code))
        {
            return INTERRUPTED;
        }
        code
    }

    /// The signals that this process received, and the process to pass them on to.
    #[derive(Default)]
    struct Requests {
        child: Option<Pid>,
        first: Option<Instant>,
    }

    impl Requests {
        fn pass_on(&mut self) {
            let Some(child) = self.child else {
                std::process::exit(INTERRUPTED);
            };
            let signal = match self.first {
                None => Signal::SIGUSR1,
                Some(first) if first.elapsed() > SAME_REQUEST => Signal::SIGTERM,
                Some(_) => return,
            };
            self.first.get_or_insert_with(Instant::now);
            let _ = kill(child, signal);
        }
    }

    /// The family of an `mpirun`, which decides about its flags.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Flavour {
        OpenMpi,
        /// MPICH, Intel MPI and their relatives.
        Hydra,
    }

    impl Flavour {
        fn installed() -> Result<Self, Error> {
            let output = Command::new(MPIRUN).arg("--version").stdin(Stdio::null()).output();
            let text = match output {
                Ok(output) => String::from_utf8_lossy(&output.stdout).into_owned(),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Err(Error::Input(
                        "--processes needs mpirun, which is not on the PATH: on Debian and Ubuntu, apt-get install openmpi-bin; \
                         on a cluster, load a module such as openmpi"
                            .to_owned(),
                    ));
                }
                Err(error) => return Err(Error::io("start", MPIRUN)(error)),
            };
            Ok(Self::of(&text))
        }

        fn of(version: &str) -> Self {
            let is_open = ["Open MPI", "OpenRTE", "PRRTE"].iter().any(|name| version.contains(name));
            if is_open { Self::OpenMpi } else { Self::Hydra }
        }

        fn arguments(self, processes: u16, cores: usize) -> Vec<String> {
            let mut arguments = vec!["-n".to_owned(), processes.to_string()];
            if self == Self::OpenMpi {
                // By default, each process may use a single core.
                arguments.extend(["--quiet", "--bind-to", "none"].map(str::to_owned));
                if usize::from(processes) > cores {
                    arguments.push("--oversubscribe".to_owned());
                }
            }
            arguments
        }

        /// Processes that wait let others compute. Root, which a container often has alone, may start them as it started this process.
        fn variables(self) -> &'static [(&'static str, &'static str)] {
            match self {
                Self::OpenMpi => &[
                    ("OMPI_MCA_mpi_yield_when_idle", "1"),
                    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
                    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
                ],
                Self::Hydra => &[],
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn flags_are_those_of_the_installed_mpirun() {
            let open = Flavour::of("mpirun (Open MPI) 4.1.4\n\nReport bugs to http://www.open-mpi.org/community/help/\n");
            assert_eq!(open.arguments(2, 4).join(" "), "-n 2 --quiet --bind-to none");
            assert_eq!(open.arguments(3, 2).join(" "), "-n 3 --quiet --bind-to none --oversubscribe");
            let hydra = Flavour::of("HYDRA build details:\n    Version:  4.0.2\n");
            assert_eq!(hydra.arguments(3, 2).join(" "), "-n 3");
            assert_eq!(hydra.variables(), []);
        }

        #[test]
        fn an_interruption_has_one_exit_code() {
            let exit = |code: i32| ExitStatus::from_raw(code << 8);
            for code in [1, 130, 137, 138, 143] {
                assert_eq!(exit_code(exit(code), true), INTERRUPTED, "{code}");
            }
            assert_eq!(exit_code(ExitStatus::from_raw(Signal::SIGUSR1 as i32), true), INTERRUPTED);
            for code in [0, 1, 2, 137] {
                assert_eq!(exit_code(exit(code), false), code);
            }
            // They had finished before the signal.
            assert_eq!(exit_code(exit(0), true), 0);
            assert_eq!(exit_code(exit(2), true), 2);
        }
    }
}
