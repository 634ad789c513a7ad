//! SIGUSR1, which asks all processes to stop.
//!
//! `mpirun` answers SIGINT and SIGTERM by killing all processes after a second, in which a checkpoint may not be written. It passes SIGUSR1 on,
//! as `srun` and `scancel --signal=USR1` do.

#[cfg(unix)]
mod unix {
    use nix::sys::signal::{SigSet, Signal};

    fn stop_signal() -> SigSet {
        let mut set = SigSet::empty();
        set.add(Signal::SIGUSR1);
        set
    }

    /// Lets the signal wait, instead of ending the process, until [`on_stop_signal`] handles it. Threads that are started from now on inherit this.
    pub(crate) fn block() {
        let _ = stop_signal().thread_block();
    }

    /// Calls `act` for each signal, if [`block`] lets them wait.
    pub(crate) fn on_stop_signal(act: impl Fn() + Send + 'static) {
        let is_blocked = SigSet::thread_get_mask().is_ok_and(|mask| mask.contains(Signal::SIGUSR1));
        if is_blocked {
            std::thread::spawn(move || {
                while stop_signal().wait().is_ok() {
                    act();
                }
            });
        }
    }
}

#[cfg(unix)]
pub(crate) use unix::{block, on_stop_signal};

/// There is no such signal on this system.
#[cfg(not(unix))]
pub(crate) fn block() {}

/// There is no such signal on this system.
#[cfg(not(unix))]
pub(crate) fn on_stop_signal(_: impl Fn() + Send + 'static) {}
