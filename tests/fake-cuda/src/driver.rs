//! The state of the driver, and what involves several parts of it.

use crate::{
    copy::{Copy, Fill, Place},
    graph::{Graphs, Node},
    kernel::Kernels,
    launch::Launch,
    log::{ProcessLog, RefusedCall},
    memory::Memory,
    settings::Settings,
    status::{Answer, Refusal, Status},
    stream::Streams,
};
use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// The driver, once `cuInit` has started it.
static DRIVER: Mutex<Option<Driver>> = Mutex::new(None);

/// Everything that the driver knows.
pub(crate) struct Driver {
    pub(crate) settings: Settings,
    pub(crate) memory: Memory,
    pub(crate) kernels: Kernels,
    pub(crate) streams: Streams,
    pub(crate) graphs: Graphs,
    pub(crate) log: ProcessLog,
    lost: Vec<bool>,
    last_handle: u64,
}

/// The driver under its lock; `None` before `cuInit`.
pub(crate) fn lock() -> MutexGuard<'static, Option<Driver>> {
    DRIVER.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Driver {
    pub(crate) fn new(settings: Settings) -> Self {
        let program = std::env::current_exe().ok();
        let program = program.as_deref().and_then(Path::file_name).unwrap_or_default();
        let log = ProcessLog {
            pid: std::process::id(),
            program: program.to_string_lossy().into_owned(),
            launches_per_device: vec![0; settings.devices],
            ..ProcessLog::default()
        };
        Self {
            memory: Memory::new(settings.devices, settings.memory),
            kernels: Kernels::default(),
            streams: Streams::default(),
            graphs: Graphs::default(),
            lost: vec![false; settings.devices],
            // Neither null nor one of the numbers that mean a default stream.
            last_handle: 0x1000,
            settings,
            log,
        }
    }

    /// A number that no other object has.
    pub(crate) fn new_handle(&mut self) -> u64 {
        self.last_handle += 1;
        self.last_handle
    }

    /// Fails if an earlier launch lost the device.
    pub(crate) fn check_device(&self, device: usize) -> Answer {
        match self.lost.get(device) {
            Some(false) => Ok(()),
            Some(true) => Err(Status::IllegalAddress.into()),
            None => Err(Status::InvalidContext.into()),
        }
    }

    /// Does the work of a node, or adds it to the graph if the stream is captured.
    ///
    /// # Safety
    ///
    /// The host's memory in a copy can be read or written.
    pub(crate) unsafe fn enqueue(&mut self, stream: u64, node: Node) -> Answer {
        // SAFETY: the caller's.
        match self.streams.enqueue(stream, node)? {
            Some(node) => unsafe { self.run(&node) },
            None => Ok(()),
        }
    }

    /// Launches all nodes of a graph.
    pub(crate) fn run_graph(&mut self, nodes: &[Node]) -> Answer {
        self.log.graph_launches += 1;
        for node in nodes {
            if let Node::Copy(Copy { to: Place::Host(to), .. }) = node
                && !self.memory.is_pinned(*to, 1)
            {
                // The program may have freed the memory since the capture.
                continue;
            }
            // SAFETY: what a graph uploads was staged, and what it downloads goes to pinned memory.
            unsafe { self.run(node)? };
            if matches!(node, Node::Kernel(_)) {
                self.log.launches_in_graphs += 1;
            }
        }
        Ok(())
    }

    /// # Safety
    ///
    /// The host's memory in a copy can be read or written.
    unsafe fn run(&mut self, node: &Node) -> Answer {
        match node {
            Node::Kernel(launch) => self.run_launch(launch)?,
            Node::Copy(copy) => {
                copy.check(&self.memory)?;
                // SAFETY: it was checked, and the caller answers for the host's memory.
                unsafe { copy.run(&mut self.memory, &mut self.log) };
            }
            Node::Fill(fill) => {
                let Fill { to, bytes, .. } = *fill;
                self.memory.check(to, bytes)?;
                // SAFETY: it was checked.
                unsafe { fill.run(&mut self.memory) };
            }
            Node::Allocate | Node::Free => {}
        }
        Ok(())
    }

    fn run_launch(&mut self, launch: &Launch) -> Answer {
        self.check_device(launch.device)?;
        let name = &launch.kernel.name;
        let number = self.log.launches + 1;
        if self.settings.fail_launch.is_some_and(|failing| number >= failing) {
            self.lose(launch);
            eprintln!("fake CUDA: launch {number}, of {name}, loses the device, as FAKE_CUDA_FAIL_LAUNCH asks");
            return Err(Status::IllegalAddress.into());
        }
        if let Err(refusal) = launch.check_addresses(&self.memory) {
            self.lose(launch);
            return Err(refusal.into());
        }
        for written in launch.addresses.iter().filter(|address| address.is_written) {
            self.memory.set_result(written.value);
        }
        let blocks = launch.shape.blocks();
        let threads = blocks.saturating_mul(launch.shape.threads_per_block());
        self.log
            .add_launch(name, launch.device, blocks, threads, launch.shape.dynamic_shared);
        Ok(())
    }

    /// After a fault, nothing works on a device until the process ends.
    fn lose(&mut self, launch: &Launch) {
        self.lost[launch.device] = true;
        self.log.lost_by.get_or_insert_with(|| launch.kernel.name.clone());
    }

    /// Reports a call that a GPU would have refused.
    pub(crate) fn report(&mut self, call: &str, refusal: Refusal) {
        let refused = RefusedCall {
            call: call.to_owned(),
            kernel: refusal.kernel,
            status: refusal.status.name().to_owned(),
            reason: refusal.reason,
            times: 1,
        };
        let kernel = refused.kernel.as_ref().map(|name| format!(" of {name}")).unwrap_or_default();
        let line = format!("fake CUDA: {call}{kernel} refused: {} ({})", refused.reason, refused.status);
        if self.log.add_refused(refused) {
            eprintln!("{line}");
        }
    }

    /// Keeps the PTX of the module loaded last, if the environment asks for it.
    pub(crate) fn keep_ptx(&self, text: &str) {
        let Some(folder) = &self.settings.ptx else {
            return;
        };
        let path = folder.join(format!("{}-{:05}.ptx", self.log.pid, self.log.modules));
        if let Err(error) = fs::create_dir_all(folder).and_then(|()| fs::write(&path, text)) {
            eprintln!("fake CUDA: FAKE_CUDA_PTX: {} cannot be written: {error}", path.display());
        }
    }

    /// Appends the log of this process to the file that the environment names.
    pub(crate) fn write_log(&mut self) {
        self.log.peak_bytes = self.memory.peak();
        let Some(path) = self.settings.log.take() else {
            return;
        };
        if let Err(error) = append(&path, &self.log) {
            eprintln!("fake CUDA: FAKE_CUDA_LOG: {} cannot be written: {error}", path.display());
        }
    }
}

/// In one write, so that the lines of several processes do not mix.
fn append(path: &Path, log: &ProcessLog) -> io::Result<()> {
    let mut line = serde_json::to_vec(log)?;
    line.push(b'\n');
    OpenOptions::new().create(true).append(true).open(path)?.write_all(&line)
}
