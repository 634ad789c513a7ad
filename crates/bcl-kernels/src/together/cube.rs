//! Updates that wait for their launch, and how many of them share one.
//!
//! A kernel takes each tensor as a binding. A workgroup updates [`PART`] numbers of one of them, which it finds by walking along their sizes.

use std::any::Any;
use std::cell::RefCell;
use std::{mem, thread};

use burn::backend::TensorMetadata;
use burn::tensor::DType;
use burn_cubecl::tensor::CubeTensor;
use cubecl::client::Client;
use cubecl::prelude::*;

use crate::cube::{THREADS, addresses, empty, workgroups};

/// Numbers per workgroup, so many that updating them takes longer than finding their tensor.
pub(crate) const PART: usize = 16 * THREADS as usize;

/// Tensors with more numbers are updated at once: what their update frees is worth more than a launch.
const LARGE: usize = 1 << 24;

/// Bytes of arguments of a kernel: CUDA before version 12.1 has no room for more.
const ARGUMENTS: usize = 4096;

/// Bytes of arguments that updates share.
const SHARED_ARGUMENTS: usize = 128;

/// Bindings that updates share: the numbers of a launch, and what kernels hand to each other.
const SHARED_BINDINGS: usize = 3;

/// What updates compute. Equal rules share launches.
pub(crate) trait Rule: PartialEq + 'static {
    /// Computes the updates of a group.
    fn launch(&self, group: &Group<'_>);
}

/// A [`Rule`] of any type.
pub(crate) trait AnyRule: Any {
    fn launch(&self, group: &Group<'_>);

    fn equals(&self, other: &dyn AnyRule) -> bool;
}

impl<R: Rule> AnyRule for R {
    fn launch(&self, group: &Group<'_>) {
        Rule::launch(self, group);
    }

    fn equals(&self, other: &dyn AnyRule) -> bool {
        let other: &dyn Any = other;
        other.downcast_ref() == Some(self)
    }
}

/// An update of one tensor.
pub(crate) struct Update {
    pub(crate) rule: Box<dyn AnyRule>,
    /// In row-major order. The first one has as many numbers as are computed.
    pub(crate) tensors: Vec<CubeTensor>,
    /// How many of the last tensors are written.
    pub(crate) num_written: usize,
    /// A number on the device that several updates have in common.
    pub(crate) shared: Option<CubeTensor>,
    /// Whether this number is written, too.
    pub(crate) writes_shared: bool,
}

/// The updates of a thread that wait for the end of the outermost [`together`](crate::together()).
#[derive(Default)]
struct Queue {
    depth: usize,
    updates: Vec<Update>,
}

thread_local! {
    static QUEUE: RefCell<Queue> = RefCell::default();
}

/// A call of [`together`](crate::together()).
pub(super) struct Waiting;

impl Waiting {
    pub(super) fn begin() -> Self {
        QUEUE.with_borrow_mut(|queue| queue.depth += 1);
        Self
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let is_outermost = QUEUE.with_borrow_mut(|queue| {
            queue.depth -= 1;
            queue.depth == 0
        });
        if !is_outermost {
            return;
        }
        let updates = take_waiting();
        // After a panic nobody gets the results.
        if !thread::panicking() {
            launch_all(updates);
        }
    }
}

/// Launches whatever waits if it writes one of these tensors. To be called before anything reads them.
pub(crate) fn settle(read: &[&CubeTensor]) {
    let waits = QUEUE.with_borrow(|queue| {
        let mut written = queue.updates.iter().flat_map(Update::written);
        written.any(|one| read.iter().any(|other| have_same_memory(one, other)))
    });
    if waits {
        launch_all(take_waiting());
    }
}

/// Whether updates wait that add squares to this sum.
pub(crate) fn collects(sum: &CubeTensor) -> bool {
    let collects = |update: &Update| {
        let shared = update.shared.as_ref();
        update.writes_shared && shared.is_some_and(|shared| have_same_memory(shared, sum))
    };
    QUEUE.with_borrow(|queue| queue.updates.iter().any(collects))
}

/// Launches an update, or lets it wait within [`together`](crate::together()).
pub(crate) fn submit(update: Update) {
    let at_once = QUEUE.with_borrow_mut(|queue| {
        if queue.depth == 0 || update.size() > LARGE {
            return Some(update);
        }
        queue.updates.push(update);
        None
    });
    if let Some(update) = at_once {
        launch(&[update]);
    }
}

fn take_waiting() -> Vec<Update> {
    QUEUE.with_borrow_mut(|queue| mem::take(&mut queue.updates))
}

fn launch_all(mut updates: Vec<Update>) {
    while let Some(first) = updates.pop() {
        let (mut alike, others): (Vec<_>, Vec<_>) = updates.into_iter().partition(|update| update.is_like(&first));
        alike.push(first);
        // Launches of about the same number of tensors.
        let launches = alike.len().div_ceil(alike[0].per_launch());
        alike.chunks(alike.len().div_ceil(launches)).for_each(launch);
        updates = others;
    }
}

fn launch(updates: &[Update]) {
    updates[0].rule.launch(&Group(updates));
}

impl Update {
    fn size(&self) -> usize {
        self.tensors[0].shape().num_elements()
    }

    fn written(&self) -> impl Iterator<Item = &CubeTensor> {
        let shared = self.shared.as_ref().filter(|_| self.writes_shared);
        self.tensors[self.tensors.len() - self.num_written..].iter().chain(shared)
    }

    fn shares_with(&self, other: &Self) -> bool {
        match (&self.shared, &other.shared) {
            (None, None) => true,
            (Some(one), Some(other)) => have_same_memory(one, other),
            _ => false,
        }
    }

    fn address_type(&self) -> AddressType {
        addresses(&self.tensors.iter().collect::<Vec<_>>())
    }

    /// Whether both fit into one launch.
    fn is_like(&self, other: &Self) -> bool {
        self.rule.equals(&*other.rule)
            && self.shares_with(other)
            && self.tensors[0].device == other.tensors[0].device
            && self.address_type() == other.address_type()
    }

    /// How many updates like this one fit into a launch. On CUDA, arguments are the address and the length of each tensor, and a size per update.
    fn per_launch(&self) -> usize {
        let num_tensors = self.tensors.len();
        let bindings = self.tensors[0].client.properties().hardware.max_bindings as usize;
        let by_bindings = bindings.saturating_sub(SHARED_BINDINGS) / num_tensors;
        let length = self.address_type().size();
        let by_arguments = (ARGUMENTS - SHARED_ARGUMENTS) / (num_tensors * (size_of::<u64>() + length) + length);
        by_bindings.min(by_arguments).max(1)
    }
}

pub(crate) fn have_same_memory(one: &CubeTensor, other: &CubeTensor) -> bool {
    one.handle.memory.descriptor() == other.handle.memory.descriptor()
}

/// Updates of one launch.
pub(crate) struct Group<'a>(&'a [Update]);

impl Group<'_> {
    pub(crate) fn client(&self) -> &Client {
        &self.0[0].tensors[0].client
    }

    /// Number of tensors that are updated.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Number of parts of all of them, each of which takes a workgroup.
    pub(crate) fn num_parts(&self) -> usize {
        self.0.iter().map(|update| update.size().div_ceil(PART)).sum()
    }

    pub(crate) fn workgroups(&self) -> CubeCount {
        workgroups(self.num_parts())
    }

    pub(crate) fn address_type(&self) -> AddressType {
        self.0[0].address_type()
    }

    /// The first tensors of each update.
    pub(crate) fn buffers<const N: usize>(&self) -> [SequenceArg<Box<[f32]>>; N] {
        std::array::from_fn(|index| {
            self.0
                .iter()
                .map(|update| update.tensors[index].clone().into_buffer_arg())
                .collect()
        })
    }

    /// The number that the updates share.
    pub(crate) fn shared(&self) -> BufferArg {
        self.0[0].shared.clone().expect("the rule shares a number").into_buffer_arg()
    }

    /// How many numbers each update computes.
    pub(crate) fn sizes(&self) -> SequenceArg<usize> {
        self.0.iter().map(Update::size).collect()
    }

    /// A tensor that is updated.
    pub(crate) fn tensor(&self) -> &CubeTensor {
        &self.0[0].tensors[0]
    }

    /// Memory for what a kernel hands to the next one.
    pub(crate) fn empty(&self, len: usize) -> CubeTensor {
        empty(&self.0[0].tensors[0], [len], DType::F32)
    }
}

/// The first and the end of the numbers of a tensor that this workgroup updates: none if its part belongs to another tensor. `first` is the tensor's first part.
#[cube]
pub(crate) fn own_part(first: usize, size: usize) -> (usize, usize) {
    let mut start = 0usize.runtime();
    let mut end = 0usize.runtime();
    if CUBE_POS >= first {
        let begin = (CUBE_POS - first) * PART;
        if begin < size {
            start = begin;
            end = begin + PART;
            if end > size {
                end = size;
            }
        }
    }
    (start, end)
}
