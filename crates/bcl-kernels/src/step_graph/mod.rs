//! A step of training as a graph: its launches are recorded once, and replayed with one call.

use std::cell::RefCell;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, BackendGraph, Dispatch, Flex, backend_extension};
use burn::tensor::{Device, Tensor};

use crate::device::is_processor;

#[cfg(feature = "cube")]
pub(crate) mod cube;

/// A recorded step.
///
/// A recording contains launches and nothing else: numbers of the host are as they were. Two kinds of numbers change nevertheless. The
/// learning rate and what [`adam`](crate::adam()) and [`lars`](crate::lars()) derive from it and from the number of the step are written to the device before each
/// [replay](Self::replay). Everything else that changes, such as a batch, has to lie in tensors that the caller [overwrites](overwrite()).
///
/// ```text
/// let recorder = StepRecorder::prepare(&device)?     steps from here on have the allocations of the recorded one
/// step(); step();                                    warm-up: these compute as always
/// let recorder = recorder.begin()?
/// step();                                            computes nothing
/// let mut graph = recorder.end()?
/// graph.replay(rate);                                computes the step that was recorded
/// overwrite(&batch, next); graph.replay(rate);       and the next ones
/// ```
///
/// A step must leave what it has learned where it has read it: whatever is updated in new memory is [overwritten](overwrite()) at its end. No tensor that the
/// step has read or written may be dropped before the graph. Between `begin` and `end`, nothing may be read from the device, copied to it, or allocated
/// that the steps before did not allocate.
#[derive(Debug)]
pub struct StepGraph {
    graph: BackendGraph<Dispatch>,
    device: Device,
    dials: Vec<Box<dyn Dial>>,
    replays: Replays,
}

/// Numbers on the device that each replay sets before it starts.
pub(crate) trait Dial: fmt::Debug + Send + Sync {
    fn set(&self, now: Now);
}

/// When a step runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Now {
    /// The learning rate.
    pub(crate) rate: f64,
    /// How often the recorded step has run before.
    pub(crate) replays: usize,
}

/// How often a recorded step has run.
#[derive(Debug, Clone, Default)]
pub struct Replays(Arc<AtomicUsize>);

impl Replays {
    /// The count.
    pub fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// A backend's reason why a step cannot be recorded.
#[derive(Debug)]
pub struct NotRecorded(String);

impl fmt::Display for NotRecorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the step could not be recorded: {}", self.0)
    }
}

impl Error for NotRecorded {}

/// What a thread that prepares or records a step has collected.
#[derive(Debug, Default)]
struct Recording {
    is_open: bool,
    /// Memory for [dials](Dial), which steps before the recorded one have allocated: what the recorded step allocates is also the memory of what it computes
    /// before.
    #[cfg(feature = "cube")]
    memory: Vec<burn_cubecl::tensor::CubeTensor>,
    dials: Vec<Box<dyn Dial>>,
    replays: Replays,
}

thread_local! {
    static RECORDING: RefCell<Option<Recording>> = const { RefCell::new(None) };
}

/// Records a step of this thread, which must also be the one to drop it.
#[derive(Debug)]
pub struct StepRecorder {
    device: Device,
    thread: ThreadId,
    is_prepared: bool,
}

impl StepRecorder {
    /// Prepares a device for recording; `None` if its backend has no graphs.
    ///
    /// # Errors
    /// If the device is recording already.
    pub fn prepare(device: &Device) -> Result<Option<Self>, NotRecorded> {
        if is_processor(device) {
            return Ok(None);
        }
        let device = device.clone().without_autodiff();
        Dispatch::graph_prepare(device.as_dispatch()).map_err(refused)?;
        RECORDING.set(Some(Recording::default()));
        Ok(Some(Self {
            device,
            thread: thread::current().id(),
            is_prepared: true,
        }))
    }

    /// Begins to record what this thread launches.
    ///
    /// # Errors
    /// If the backend refuses. Then nothing is recorded, and steps compute as always.
    pub fn begin(self) -> Result<Self, NotRecorded> {
        Dispatch::graph_start_capture(self.device.as_dispatch()).map_err(refused)?;
        RECORDING.with_borrow_mut(|recording| {
            if let Some(recording) = recording {
                recording.is_open = true;
            }
        });
        Ok(self)
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// If the step did what a graph cannot contain, or the recording was not begun. What it was to write then cannot be read.
    pub fn end(mut self) -> Result<StepGraph, NotRecorded> {
        let Some(Recording { dials, replays, .. }) = RECORDING.take().filter(|recording| recording.is_open) else {
            return Err(NotRecorded("it was not begun".to_owned()));
        };
        self.is_prepared = false;
        let graph = Dispatch::graph_stop_capture(self.device.as_dispatch()).map_err(refused)?;
        Ok(StepGraph {
            graph,
            device: self.device.clone(),
            dials,
            replays,
        })
    }
}

impl Drop for StepRecorder {
    /// Gives up, for example after a panic.
    fn drop(&mut self) {
        // Another thread has a recording of its own.
        if self.is_prepared && self.thread == thread::current().id() {
            RECORDING.take();
            // The device must not stay as it is. The graph is of no use.
            let _ = Dispatch::graph_stop_capture(self.device.as_dispatch());
        }
    }
}

fn refused(error: impl fmt::Debug) -> NotRecorded {
    NotRecorded(format!("{error:?}"))
}

/// How often the step that this thread is recording has run, as counted by its replays; `None` if it is not recording.
///
/// State of the host that a step changes, such as a number of steps, has to follow the replays.
pub fn replays() -> Option<Replays> {
    RECORDING.with_borrow(|recording| {
        let open = recording.as_ref().filter(|recording| recording.is_open);
        open.map(|recording| recording.replays.clone())
    })
}

impl StepGraph {
    /// Runs the recorded step with a learning rate. Like a launch, this does not wait for the device.
    ///
    /// # Panics
    /// Panics if the device refuses.
    pub fn replay(&mut self, rate: f64) {
        let now = Now {
            rate,
            replays: self.replays.count(),
        };
        self.dials.iter().for_each(|dial| dial.set(now));
        // SAFETY: the recorded launches read and write memory whose pages the backend keeps for the graph. That the tensors in it are alive and used by
        // this thread alone is the contract of `StepGraph`.
        #[expect(unsafe_code, reason = "Burn leaves the lifetime of what a graph uses to its caller")]
        let replayed = unsafe { Dispatch::graph_replay(self.device.as_dispatch(), &self.graph) };
        replayed.unwrap_or_else(|error| panic!("a recorded step cannot be replayed: {error:?}"));
        self.replays.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Writes values into the memory of a tensor, which all its handles see; returns it. On the CPU, which has no graphs, it returns the values.
///
/// Neither tensor may be on an autodiff device.
///
/// # Shapes
/// - all tensors: the same; `f32`
///
/// # Panics
/// Panics on GPUs if the tensor is not in row-major order, or not of `f32`.
pub fn overwrite<const D: usize>(tensor: &Tensor<D>, values: Tensor<D>) -> Tensor<D> {
    assert_eq!(tensor.dims(), values.dims(), "values do not fit into a tensor");
    Tensor::from_dispatch(Dispatch::overwrite(tensor.clone().into_dispatch(), values.into_dispatch()))
}

/// A copy of values in memory of its own, in row-major order, into which values of other steps can be [written](overwrite()). On the CPU, which has no graphs, it returns
/// the values.
///
/// # Shapes
/// - values, output: any; `f32`
pub fn in_own_memory<const D: usize>(values: Tensor<D>) -> Tensor<D> {
    Tensor::from_dispatch(Dispatch::in_own_memory(values.into_dispatch()))
}

/// Writing into memory that others see. The default bodies do not.
#[backend_extension(Flex, Cube: cfg(feature = "cube"))]
pub trait OverwriteOps: Backend {
    /// The kernel behind [`overwrite`](crate::overwrite()).
    fn overwrite(tensor: FloatTensor<Self>, values: FloatTensor<Self>) -> FloatTensor<Self> {
        drop(tensor);
        values
    }

    /// The kernel behind [`in_own_memory`](crate::in_own_memory()).
    fn in_own_memory(values: FloatTensor<Self>) -> FloatTensor<Self> {
        values
    }
}

impl OverwriteOps for Flex {}
