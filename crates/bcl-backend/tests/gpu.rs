//! The wgpu backend on this machine's devices: opening, description and errors.
#![cfg(feature = "wgpu")]

use bcl_backend::{Backend, BackendChoice, BackendError, DeviceKind, Inventory};
use burn::tensor::Tensor;

/// The best device; `None` on a machine without a driver, where the other tests cannot check anything.
fn open() -> Option<Backend> {
    match Backend::open(BackendChoice::Wgpu, None) {
        Ok(backend) => Some(backend),
        Err(BackendError::NoDevice { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_device_reports_its_name_and_driver_and_computes() {
    let Some(backend) = open() else { return };
    let info = backend.info();
    assert_eq!((info.backend, info.index), ("wgpu", 0));
    assert_ne!(info.kind, DeviceKind::Processor);
    assert!(!info.name.is_empty() && info.precisions.contains(&"f32"), "{info:?}");

    let sum = Tensor::<1>::from_floats([1.0, 2.0], &backend.device()).sum();
    assert_eq!(sum.into_scalar::<f32>(), 3.0);
}

#[test]
fn a_device_can_be_opened_again() {
    let Some(backend) = open() else { return };
    assert_eq!(
        open().map(|again| again.info().name.clone()),
        Some(backend.info().name.clone())
    );
}

#[test]
fn an_index_out_of_range_lists_the_devices() {
    let Some(backend) = open() else { return };
    let text = Backend::open(BackendChoice::Wgpu, Some(99)).unwrap_err().to_string();
    assert!(
        text.starts_with("--device 99: --backend wgpu has only these devices:\n  0  "),
        "{text}"
    );
    assert!(text.contains(&backend.info().name), "{text}");
}

#[test]
fn listed_devices_can_be_opened() {
    let inventory = Inventory::read(|_| String::new());
    let listed = inventory.devices.iter().filter(|device| device.backend == "wgpu").count();
    assert_eq!(listed > 0, open().is_some());
    assert!(inventory.not_in_this_build.iter().all(|absent| absent.backend != "wgpu"));
    // Real GPUs come before CPUs that present themselves as one.
    let kinds: Vec<DeviceKind> = inventory
        .devices
        .iter()
        .filter(|device| device.backend == "wgpu")
        .map(|device| device.kind)
        .collect();
    assert!(kinds.is_sorted(), "{kinds:?}");
}
