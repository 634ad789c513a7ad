//! Reports the progress of downloads.

/// Receives the progress of a download. Downloads print nothing themselves.
pub trait Observer {
    /// A sentence for the user: what begins, what is done, or why a request is repeated.
    fn say(&mut self, text: &str);

    /// The download of the file `name` begins.
    fn begin(&mut self, name: &str);

    /// `done` bytes have arrived, of `total` if known.
    fn received(&mut self, done: u64, total: Option<u64>);

    /// The download of the file has ended, complete or not.
    fn end(&mut self);
}

/// An [`Observer`] that ignores everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn say(&mut self, _: &str) {}
    fn begin(&mut self, _: &str) {}
    fn received(&mut self, _: u64, _: Option<u64>) {}
    fn end(&mut self) {}
}
