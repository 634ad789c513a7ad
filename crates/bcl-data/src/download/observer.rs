//! Who is told how a download goes.

/// Follows a download, to show its progress. Downloads themselves print nothing.
pub trait Observer {
    /// A sentence for the user: what begins, what is done, or why a request is repeated.
    fn say(&mut self, text: &str);

    /// The download of the file called `name` begins.
    fn begin(&mut self, name: &str);

    /// `done` bytes of `total`, if that is known, are there.
    fn received(&mut self, done: u64, total: Option<u64>);

    /// The download of the file ended, complete or not.
    fn end(&mut self);
}

/// An [`Observer`] that shows nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn say(&mut self, _: &str) {}
    fn begin(&mut self, _: &str) {}
    fn received(&mut self, _: u64, _: Option<u64>) {}
    fn end(&mut self) {}
}
