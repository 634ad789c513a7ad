//! Tests of the module above.

use super::*;

fn plan(kind: DeviceKind, precisions: &[&'static str], folder: &Path, golden: &[PathBuf]) -> Vec<Part> {
    plan_beside(None, kind, precisions, folder, golden)
}

fn plan_beside(
    torch: Option<&Torch>,
    kind: DeviceKind,
    precisions: &[&'static str],
    folder: &Path,
    golden: &[PathBuf],
) -> Vec<Part> {
    let device = DeviceInfo {
        backend: "wgpu",
        index: 0,
        name: "a device".to_owned(),
        kind,
        memory_bytes: None,
        driver: None,
        precisions: precisions.to_vec(),
    };
    let plan = GpuPlan {
        data: folder.to_owned(),
        golden: golden.to_vec(),
        out: folder.join("out.json"),
        minutes: 10.0,
    };
    parts(Path::new("bcl-bench"), &plan, &device, torch)
}

#[test]
fn the_most_valuable_parts_come_first_and_all_take_ten_minutes() {
    let folder = tempfile::tempdir().unwrap();
    let parts = plan(DeviceKind::DiscreteGpu, &["f32"], folder.path(), &[]);
    let names: Vec<_> = parts.iter().map(|part| part.name).collect();
    assert_eq!(names, [PARITY, QUICKSTART, LOSSES, STEPS, PROFILE, TRAINING, KERNELS, EPOCH]);
    assert_eq!(parts.iter().map(|part| part.minutes).sum::<f64>(), 10.0);
}

#[test]
fn pytorch_runs_right_after_the_same_work_of_ours() {
    let folder = tempfile::tempdir().unwrap();
    let labels = |torch| -> Vec<String> {
        let parts = plan_beside(torch, DeviceKind::DiscreteGpu, &["f32", "bf16"], folder.path(), &[]);
        let jobs = parts
            .into_iter()
            .filter(|part| [LOSSES, STEPS].contains(&part.name))
            .flat_map(|part| part.jobs.unwrap());
        jobs.map(|job| job.label.clone()).collect()
    };
    let torch = Torch {
        python: "python3".into(),
        script: "torch_peer.py".into(),
        version: "2".to_owned(),
    };
    assert_eq!(
        labels(Some(&torch)),
        [
            "",
            "PyTorch",
            "ResNet-18 bf16",
            "ResNet-18 bf16 PyTorch",
            "ResNet-18 bf16 recorded",
            "ResNet-50 bf16",
            "ResNet-50 bf16 PyTorch",
            "ResNet-50 bf16 recorded",
            "ResNet-18 f32",
            "ResNet-18 f32 PyTorch",
        ]
    );
    let alone = [
        "",
        "ResNet-18 bf16",
        "ResNet-18 bf16 recorded",
        "ResNet-50 bf16",
        "ResNet-50 bf16 recorded",
        "ResNet-18 f32",
    ];
    assert_eq!(labels(None), alone);
}

#[test]
fn parts_without_input_are_skipped_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let parts = plan(DeviceKind::DiscreteGpu, &["f32"], folder.path(), &[]);
    let skipped: Vec<_> = parts
        .iter()
        .filter_map(|part| Some((part.name, part.jobs.as_ref().err()?)))
        .collect();
    let names: Vec<_> = skipped.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, [PARITY, TRAINING, EPOCH]);
    assert!(skipped[1].1.contains("no cifar10 in"), "{}", skipped[1].1);
    assert!(skipped[2].1.contains("bcl-train data fetch gowalla"), "{}", skipped[2].1);
}

#[test]
fn every_golden_file_and_each_precision_has_a_command() {
    let folder = tempfile::tempdir().unwrap();
    let golden = ["a.json", "b.json"].map(PathBuf::from);
    let count = |precisions: &[&'static str]| {
        let parts = plan(DeviceKind::DiscreteGpu, precisions, folder.path(), &golden);
        let jobs = |name: &str| {
            parts
                .iter()
                .find(|part| part.name == name)
                .unwrap()
                .jobs
                .as_ref()
                .unwrap()
                .len()
        };
        (jobs(PARITY), jobs(STEPS))
    };
    assert_eq!(count(&["f32"]), (2, 4));
    assert_eq!(count(&["f64", "f32", "bf16", "f16"]), (2, 5));
    assert_eq!(count(&["f32", "f16"]), (2, 5));
}

#[test]
fn the_other_version_of_a_data_set_will_do() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("cifar10")).unwrap();
    std::fs::write(folder.path().join("cifar10/cifar10-jpg.tar.gz"), "").unwrap();
    for kind in [DeviceKind::DiscreteGpu, DeviceKind::Software] {
        let parts = plan(kind, &["f32"], folder.path(), &[]);
        let training = parts.iter().find(|part| part.name == TRAINING).unwrap();
        assert!(training.jobs.is_ok(), "{kind:?}");
    }
}
