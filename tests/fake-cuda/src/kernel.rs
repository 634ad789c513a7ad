//! Modules and their kernels.

use crate::{
    device,
    ptx::{self, Entry},
    status::{Refusal, Status, refuse},
};
use std::{collections::HashMap, sync::Arc};

/// A kernel of a module.
#[derive(Debug)]
pub(crate) struct Kernel {
    /// What the module says of it.
    pub(crate) entry: Arc<Entry>,
    /// The device that it was loaded on.
    pub(crate) device: usize,
    /// The most dynamic shared memory that it can be launched with, in bytes.
    pub(crate) max_dynamic_shared: u32,
}

/// The modules and kernels that are loaded, by handle.
#[derive(Default)]
pub(crate) struct Kernels {
    modules: HashMap<u64, Module>,
    kernels: HashMap<u64, Kernel>,
}

struct Module {
    device: usize,
    entries: Vec<Arc<Entry>>,
    /// Handles of the kernels that were asked for.
    handles: HashMap<String, u64>,
}

impl Kernel {
    fn new(entry: Arc<Entry>, device: usize) -> Self {
        let max_dynamic_shared = device::SHARED_PER_BLOCK.saturating_sub(entry.static_shared);
        Self {
            entry,
            device,
            max_dynamic_shared,
        }
    }

    /// The most threads per block.
    pub(crate) fn max_threads(&self) -> u32 {
        self.entry.max_threads.unwrap_or(u32::MAX).min(device::THREADS_PER_BLOCK)
    }

    /// Allows more dynamic shared memory than without being asked.
    pub(crate) fn allow_dynamic_shared(&mut self, bytes: i32) -> Result<(), Refusal> {
        let most = device::SHARED_PER_BLOCK_ON_REQUEST.saturating_sub(self.entry.static_shared);
        match u32::try_from(bytes) {
            Ok(bytes) if bytes <= most => {
                self.max_dynamic_shared = bytes;
                Ok(())
            }
            _ => {
                let reason = format!("{bytes} bytes of dynamic shared memory; the device has {most} for this kernel");
                Err(Refusal::new(Status::InvalidValue, reason).of_kernel(&self.entry.name))
            }
        }
    }
}

impl Kernels {
    /// Loads a module under a handle.
    pub(crate) fn load(&mut self, handle: u64, device: usize, text: &str) -> Result<(), Refusal> {
        let module = ptx::parse(text).or_else(|error| refuse(Status::InvalidPtx, format!("the module is not PTX: {error}")))?;
        if module.version > device::PTX_VERSION {
            let (major, minor) = module.version;
            return refuse(
                Status::UnsupportedPtxVersion,
                format!("PTX {major}.{minor} is newer than the driver"),
            );
        }
        if !device::runs(&module.target) {
            return refuse(
                Status::NoBinaryForGpu,
                format!("the module is for {}, the device is sm_90", module.target),
            );
        }
        let entries = module.entries.into_iter().map(Arc::new).collect();
        let module = Module {
            device,
            entries,
            handles: HashMap::new(),
        };
        self.modules.insert(handle, module);
        Ok(())
    }

    /// The handle of a kernel of a module; `new` is its handle if it was not asked for before.
    pub(crate) fn kernel(&mut self, module: u64, name: &str, new: u64) -> Result<u64, Status> {
        let module = self.modules.get_mut(&module).ok_or(Status::InvalidHandle)?;
        if let Some(handle) = module.handles.get(name) {
            return Ok(*handle);
        }
        let entry = module
            .entries
            .iter()
            .find(|entry| entry.name == name)
            .ok_or(Status::NotFound)?;
        self.kernels.insert(new, Kernel::new(Arc::clone(entry), module.device));
        module.handles.insert(name.to_owned(), new);
        Ok(new)
    }

    /// Unloads a module with its kernels.
    pub(crate) fn unload(&mut self, module: u64) -> Result<(), Status> {
        let module = self.modules.remove(&module).ok_or(Status::InvalidHandle)?;
        for handle in module.handles.values() {
            self.kernels.remove(handle);
        }
        Ok(())
    }

    pub(crate) fn get(&self, handle: u64) -> Result<&Kernel, Status> {
        self.kernels.get(&handle).ok_or(Status::InvalidHandle)
    }

    pub(crate) fn get_mut(&mut self, handle: u64) -> Result<&mut Kernel, Status> {
        self.kernels.get_mut(&handle).ok_or(Status::InvalidHandle)
    }
}
