//! Memory that a program keeps for its next tensors.

/// Tells the C library to keep the memory that is freed, instead of giving large blocks back to the system. Call it at the start of
/// `main`, before other threads allocate.
///
/// Every tensor operation allocates its result, and an activation or a block of scores has megabytes. By default glibc takes each of
/// them from the system and gives it back, and the kernel clears every page of it anew: up to half of the time of a small loss. Kept
/// memory counts as the program's until it ends. It is one arena for all threads, so that one thread can use what another has freed.
///
/// Only glibc has these settings; elsewhere this does nothing.
pub fn keep_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    glibc::keep_memory();
}

/// Gives all free memory back to the system once, so that the process's peak memory can be measured from here.
pub fn release_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    glibc::release_memory();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    use libc::{M_ARENA_MAX, M_MMAP_MAX, M_TRIM_THRESHOLD, malloc_trim, mallopt};

    /// One arena, no block straight from the system, nothing given back (-1).
    const SETTINGS: [(i32, i32); 3] = [(M_ARENA_MAX, 1), (M_MMAP_MAX, 0), (M_TRIM_THRESHOLD, -1)];

    #[expect(unsafe_code, reason = "the C library has no other way")]
    pub(super) fn keep_memory() {
        for (parameter, value) in SETTINGS {
            // SAFETY: mallopt locks the allocator and takes any pair of numbers; it answers 0 to those that it does not know, and
            // then allocates as it did.
            unsafe { mallopt(parameter, value) };
        }
    }

    #[expect(unsafe_code, reason = "the C library has no other way")]
    pub(super) fn release_memory() {
        // SAFETY: malloc_trim locks the allocator and touches only free memory.
        unsafe { malloc_trim(0) };
    }
}
