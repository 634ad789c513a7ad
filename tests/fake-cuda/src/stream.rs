//! Streams, events, and the rules of stream capture.
//!
//! Work is done when it is enqueued, so that streams have nothing to wait for. While a stream is captured, its work becomes nodes of a graph instead.
//! A call that capture forbids fails and invalidates the capture, as on a GPU: the stream then refuses work until the capture is ended, and the
//! end fails, too.

use crate::{
    graph::Node,
    status::{Answer, Failure, Refusal, Status, refuse},
};
use std::{
    collections::{BTreeMap, HashMap},
    thread::{self, ThreadId},
    time::Instant,
};

/// Which calls of which threads a capture forbids. Also the mode of a thread, which limits what captures of others forbid it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum CaptureMode {
    /// Calls of all threads.
    Global = 0,
    /// Calls of the thread that captures.
    ThreadLocal = 1,
    /// None.
    Relaxed = 2,
}

/// A call of a thread, as the rules of capture see it.
#[derive(Clone, Copy)]
pub(crate) struct Caller {
    pub(crate) thread: ThreadId,
    pub(crate) mode: CaptureMode,
}

/// All streams, events and captures.
#[derive(Default)]
pub(crate) struct Streams {
    known: HashMap<u64, Stream>,
    events: HashMap<u64, Event>,
    captures: BTreeMap<u64, Capture>,
}

struct Stream {
    device: usize,
    is_blocking: bool,
    priority: i32,
    capture: Option<u64>,
}

/// An event and when it was recorded.
struct Event {
    device: usize,
    record: Option<Record>,
}

enum Record {
    At(Instant),
    /// In a capture, after so much work of a stream.
    Captured {
        capture: u64,
        stream: u64,
        work: usize,
    },
}

struct Capture {
    origin: u64,
    mode: CaptureMode,
    thread: ThreadId,
    is_valid: bool,
    nodes: Vec<Node>,
    /// Streams that joined after the origin.
    forks: BTreeMap<u64, Fork>,
}

/// A stream that is captured because it waits for an event of a captured stream.
#[derive(Default)]
struct Fork {
    /// Number of operations on it.
    work: usize,
    /// Whether another stream waits for all of them.
    is_joined: bool,
}

/// The handles that mean the default stream of the current context.
const DEFAULT_STREAMS: std::ops::RangeInclusive<u64> = 0..=2;

impl CaptureMode {
    pub(crate) fn from_number(number: i32) -> Option<Self> {
        [Self::Global, Self::ThreadLocal, Self::Relaxed]
            .into_iter()
            .find(|mode| *mode as i32 == number)
    }
}

impl Caller {
    /// The thread that calls now.
    pub(crate) fn new(mode: CaptureMode) -> Self {
        Self {
            thread: thread::current().id(),
            mode,
        }
    }

    /// Whether a capture forbids this thread what is potentially unsafe.
    fn is_limited_by(self, capture: &Capture) -> bool {
        match self.mode {
            CaptureMode::Relaxed => false,
            CaptureMode::Global if capture.mode == CaptureMode::Global => true,
            _ => capture.thread == self.thread && capture.mode != CaptureMode::Relaxed,
        }
    }
}

impl Capture {
    /// Fails after a refused call, which was reported.
    fn check(&self) -> Result<(), Status> {
        if self.is_valid {
            Ok(())
        } else {
            Err(Status::CaptureInvalidated)
        }
    }
}

impl Streams {
    pub(crate) fn create(&mut self, handle: u64, device: usize, is_blocking: bool, priority: i32) {
        let stream = Stream {
            device,
            is_blocking,
            priority,
            capture: None,
        };
        self.known.insert(handle, stream);
    }

    pub(crate) fn destroy(&mut self, handle: u64) -> Answer {
        let stream = self.get(handle)?;
        if let Some(capture) = stream.capture {
            self.invalidate(capture);
            return refuse(Status::CaptureUnsupported, "a stream is destroyed while it is captured")?;
        }
        self.known.remove(&handle);
        Ok(())
    }

    /// The device of a stream; its default stream has the device of the current context.
    pub(crate) fn device(&self, handle: u64, current: Option<usize>) -> Answer<usize> {
        if DEFAULT_STREAMS.contains(&handle) {
            return Ok(current.ok_or(Status::InvalidContext)?);
        }
        Ok(self.get(handle)?.device)
    }

    pub(crate) fn priority(&self, handle: u64) -> Answer<i32> {
        Ok(self.get(handle)?.priority)
    }

    fn get(&self, handle: u64) -> Result<&Stream, Status> {
        self.known.get(&handle).ok_or(Status::InvalidHandle)
    }

    fn get_mut(&mut self, handle: u64) -> Result<&mut Stream, Status> {
        self.known.get_mut(&handle).ok_or(Status::InvalidHandle)
    }

    /// Adds work to the graph if the stream is captured. Otherwise returns it, to be done now.
    pub(crate) fn enqueue(&mut self, handle: u64, node: Node) -> Answer<Option<Node>> {
        if DEFAULT_STREAMS.contains(&handle) {
            self.refuse_default_stream()?;
            return Ok(Some(node));
        }
        let Some(id) = self.get(handle)?.capture else {
            return Ok(Some(node));
        };
        let capture = self.capture_mut(id)?;
        capture.check()?;
        capture.nodes.push(node);
        if let Some(fork) = capture.forks.get_mut(&handle) {
            fork.work += 1;
            fork.is_joined = false;
        }
        Ok(None)
    }

    /// Whether the stream is captured: 0, 1, or 2 if its capture is invalid.
    pub(crate) fn capture_status(&self, handle: u64) -> Answer<i32> {
        if DEFAULT_STREAMS.contains(&handle) {
            return Ok(0);
        }
        let capture = self.get(handle)?.capture.and_then(|id| self.captures.get(&id));
        Ok(capture.map_or(0, |capture| if capture.is_valid { 1 } else { 2 }))
    }

    /// Refuses a wait for a captured stream, or a question whether it is done.
    pub(crate) fn refuse_if_captured(&mut self, handle: u64, what: &str) -> Answer {
        if DEFAULT_STREAMS.contains(&handle) {
            return Ok(self.refuse_default_stream()?);
        }
        if let Some(capture) = self.get(handle)?.capture {
            self.invalidate(capture);
            return refuse(Status::CaptureUnsupported, format!("{what} while the stream is captured"))?;
        }
        Ok(())
    }

    /// Refuses what is potentially unsafe while a capture forbids it to the caller: allocations, waits, loading a module.
    pub(crate) fn refuse_unsafe(&mut self, caller: Caller, what: &str) -> Result<(), Refusal> {
        let limiting: Vec<u64> = self
            .captures
            .iter()
            .filter(|(_, capture)| caller.is_limited_by(capture))
            .map(|(id, _)| *id)
            .collect();
        for capture in &limiting {
            self.invalidate(*capture);
        }
        if limiting.is_empty() {
            return Ok(());
        }
        refuse(Status::CaptureUnsupported, format!("{what} while a stream is captured"))
    }

    /// Refuses a synchronous copy, which the default stream does, as [`refuse_unsafe`](Self::refuse_unsafe).
    pub(crate) fn refuse_synchronous(&mut self, caller: Caller, what: &str) -> Result<(), Refusal> {
        self.refuse_default_stream()?;
        self.refuse_unsafe(caller, what)
    }

    /// Refuses a wait for all streams of a device while one of them is captured.
    pub(crate) fn refuse_device_wait(&mut self, device: usize) -> Result<(), Refusal> {
        let of_device = |stream: &&Stream| stream.device == device;
        let captured: Vec<u64> = self
            .known
            .values()
            .filter(of_device)
            .filter_map(|stream| stream.capture)
            .collect();
        for capture in &captured {
            self.invalidate(*capture);
        }
        if captured.is_empty() {
            return Ok(());
        }
        refuse(
            Status::CaptureUnsupported,
            "waits for a context while one of its streams is captured",
        )
    }

    /// The default stream waits for all blocking streams, which is impossible while one is captured.
    fn refuse_default_stream(&mut self) -> Result<(), Refusal> {
        let mut blocking = self.known.values().filter(|stream| stream.is_blocking);
        match blocking.find_map(|stream| stream.capture) {
            Some(capture) => {
                self.invalidate(capture);
                refuse(
                    Status::CaptureImplicit,
                    "uses the default stream while a blocking stream is captured",
                )
            }
            None => Ok(()),
        }
    }

    /// Begins the capture `id` of a stream.
    pub(crate) fn begin_capture(&mut self, handle: u64, mode: CaptureMode, caller: Caller, id: u64) -> Answer {
        if DEFAULT_STREAMS.contains(&handle) {
            return refuse(Status::CaptureUnsupported, "the default stream cannot be captured")?;
        }
        let stream = self.get_mut(handle)?;
        if stream.capture.is_some() {
            return refuse(Status::IllegalState, "the stream is captured already")?;
        }
        stream.capture = Some(id);
        let capture = Capture {
            origin: handle,
            mode,
            thread: caller.thread,
            is_valid: true,
            nodes: Vec::new(),
            forks: BTreeMap::new(),
        };
        self.captures.insert(id, capture);
        Ok(())
    }

    /// Ends the capture of a stream and returns the nodes.
    pub(crate) fn end_capture(&mut self, handle: u64, caller: Caller) -> Answer<Vec<Node>> {
        if DEFAULT_STREAMS.contains(&handle) {
            return refuse(Status::IllegalState, "the stream is not captured")?;
        }
        let Some(id) = self.get(handle)?.capture else {
            return refuse(Status::IllegalState, "the stream is not captured")?;
        };
        let capture = self.capture_mut(id)?;
        if capture.origin != handle {
            return refuse(Status::CaptureUnmatched, "the capture began on another stream")?;
        }
        if capture.mode != CaptureMode::Relaxed && capture.thread != caller.thread {
            return refuse(Status::CaptureWrongThread, "another thread began the capture")?;
        }
        for stream in self.known.values_mut().filter(|stream| stream.capture == Some(id)) {
            stream.capture = None;
        }
        let capture = self.captures.remove(&id).ok_or(Status::Unknown)?;
        capture.check()?;
        if capture.forks.values().any(|fork| fork.work > 0 && !fork.is_joined) {
            return refuse(
                Status::CaptureUnjoined,
                "another captured stream has work that the first does not wait for",
            )?;
        }
        Ok(capture.nodes)
    }

    fn capture_mut(&mut self, id: u64) -> Result<&mut Capture, Status> {
        self.captures.get_mut(&id).ok_or(Status::Unknown)
    }

    fn invalidate(&mut self, capture: u64) {
        if let Some(capture) = self.captures.get_mut(&capture) {
            capture.is_valid = false;
        }
    }

    pub(crate) fn create_event(&mut self, handle: u64, device: usize) {
        self.events.insert(handle, Event { device, record: None });
    }

    pub(crate) fn device_of_event(&self, event: u64) -> Result<usize, Status> {
        Ok(self.events.get(&event).ok_or(Status::InvalidHandle)?.device)
    }

    pub(crate) fn destroy_event(&mut self, event: u64) -> Result<(), Status> {
        self.events.remove(&event).map(|_| ()).ok_or(Status::InvalidHandle)
    }

    fn record_of(&self, event: u64) -> Result<Option<&Record>, Status> {
        let event = self.events.get(&event).ok_or(Status::InvalidHandle)?;
        Ok(event.record.as_ref())
    }

    /// Records an event on a stream.
    pub(crate) fn record(&mut self, event: u64, stream: u64) -> Answer {
        let mut record = Record::At(Instant::now());
        if DEFAULT_STREAMS.contains(&stream) {
            self.refuse_default_stream()?;
        } else if let Some(id) = self.get(stream)?.capture {
            let capture = self.capture_mut(id)?;
            capture.check()?;
            let work = capture.forks.get(&stream).map_or(0, |fork| fork.work);
            record = Record::Captured {
                capture: id,
                stream,
                work,
            };
        }
        self.events.get_mut(&event).ok_or(Status::InvalidHandle)?.record = Some(record);
        Ok(())
    }

    /// Makes a stream wait for an event, which may make it part of a capture or end its part in it.
    pub(crate) fn wait_for(&mut self, stream: u64, event: u64) -> Answer {
        let of_event = match self.record_of(event)? {
            None => return Ok(()),
            Some(Record::At(_)) => None,
            Some(Record::Captured { capture, stream, work }) => Some((*capture, *stream, *work)),
        };
        if DEFAULT_STREAMS.contains(&stream) {
            self.refuse_default_stream()?;
            return match of_event {
                None => Ok(()),
                Some(_) => refuse(Status::CaptureImplicit, "the default stream waits for a captured stream")?,
            };
        }
        match (self.get(stream)?.capture, of_event) {
            (None, None) => Ok(()),
            (Some(own), None) => {
                self.invalidate(own);
                refuse(
                    Status::CaptureIsolation,
                    "a captured stream waits for work that is not captured",
                )?
            }
            (None, Some((capture, ..))) => {
                let Some(joined) = self.captures.get_mut(&capture) else {
                    return refuse(Status::CapturedEvent, "waits for an event of a capture that ended")?;
                };
                joined.check()?;
                joined.forks.insert(stream, Fork::default());
                self.get_mut(stream)?.capture = Some(capture);
                Ok(())
            }
            (Some(own), Some((other, ..))) if own != other => {
                self.invalidate(own);
                self.invalidate(other);
                refuse(
                    Status::CaptureMerge,
                    "a captured stream waits for a stream of another capture",
                )?
            }
            (Some(own), Some((_, of_stream, work))) => {
                let capture = self.capture_mut(own)?;
                capture.check()?;
                if let Some(fork) = capture.forks.get_mut(&of_stream).filter(|_| of_stream != stream) {
                    fork.is_joined = fork.work == work;
                }
                Ok(())
            }
        }
    }

    /// Refuses a wait for an event, or a question whether it is done, where captures forbid it.
    pub(crate) fn check_event(&mut self, event: u64, caller: Caller, what: &str) -> Answer {
        if let Some(&Record::Captured { capture, .. }) = self.record_of(event)? {
            self.invalidate(capture);
            return refuse(
                Status::CapturedEvent,
                format!("{what} although a captured stream recorded it"),
            )?;
        }
        Ok(self.refuse_unsafe(caller, what)?)
    }

    /// Milliseconds of the host between two events.
    pub(crate) fn elapsed(&self, start: u64, end: u64) -> Answer<f32> {
        match (self.record_of(start)?, self.record_of(end)?) {
            (Some(Record::At(start)), Some(Record::At(end))) => {
                let after = end.saturating_duration_since(*start).as_secs_f32();
                let before = start.saturating_duration_since(*end).as_secs_f32();
                Ok((after - before) * 1e3)
            }
            (Some(Record::Captured { .. }), _) | (_, Some(Record::Captured { .. })) => refuse(
                Status::CapturedEvent,
                "measures time with an event that a captured stream recorded",
            )?,
            _ => Err(Failure::Expected(Status::InvalidHandle)),
        }
    }
}
