//! Tests that hold in every build, with or without a GPU.

use super::*;

#[test]
fn flex_is_the_processor() {
    let backend = Backend::open(BackendChoice::Flex, Some(0)).unwrap();
    assert_eq!((backend.name(), backend.info().index), ("flex", 0));
    assert_eq!(backend.info().kind, DeviceKind::Processor);
    assert_eq!(backend.info().precisions, ["f64", "f32", "bf16", "f16"]);
    assert_eq!(backend.info().name, processor_model());
    assert!(backend.training_device().is_autodiff() && !backend.device().is_autodiff());
}

#[test]
fn auto_does_not_open_a_software_gpu() {
    let backend = Backend::open(BackendChoice::Auto, None).unwrap();
    assert_ne!(backend.info().kind, DeviceKind::Software);
}

#[test]
fn an_index_out_of_range_lists_the_devices() {
    let text = Backend::open(BackendChoice::Flex, Some(1)).unwrap_err().to_string();
    let (first, list) = text.split_once('\n').unwrap();
    assert_eq!(first, "--device 1: --backend flex has only these devices:");
    assert_eq!(list, format!("  0  {}", processor_model()));
    let text = Backend::open(BackendChoice::Auto, Some(0)).unwrap_err().to_string();
    assert!(text.contains("needs --backend"), "{text}");
}

#[test]
fn a_backend_without_a_device_says_what_to_do_in_one_line() {
    for choice in BackendChoice::PREFERENCE {
        let text = BackendError::NoDevice { choice }.to_string();
        assert!(text.starts_with(&format!("--backend {} ", choice.name())), "{text}");
        assert!(!text.contains('\n') && !text.contains("  "), "{text}");
    }
}

#[test]
fn missing_backends_are_listed_with_their_command() {
    let inventory = Inventory::read(|choice| format!("get {}", choice.name()));
    assert_eq!(inventory.devices.last().unwrap().backend, "flex");
    for choice in BackendChoice::PREFERENCE {
        let absent = inventory
            .not_in_this_build
            .iter()
            .find(|absent| absent.backend == choice.name());
        assert_eq!(absent.is_none(), built().contains(&choice), "{choice:?}");
        if let Some(absent) = absent.filter(|_| choice.exists_here()) {
            assert_eq!(absent.remedy, format!("get {}", choice.name()));
        }
    }
    assert_eq!(inventory.devices.last().unwrap().name, processor_model());
}
