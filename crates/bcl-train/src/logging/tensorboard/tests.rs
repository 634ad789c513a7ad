//! Event files of phases that were killed and resumed, and the fields of events.

use super::*;
use bcl_files::wire::{Value, fields};

/// The steps of all events of a phase, by file; the version has step 0.
fn steps(folder: &Path) -> Vec<Vec<usize>> {
    let files = events_file::own(folder).unwrap();
    let of_file = |path: &PathBuf| {
        let bytes = fs::read(path).unwrap();
        record::unframed(&bytes).map(|event| event::step(event).unwrap()).collect()
    };
    files.iter().map(of_file).collect()
}

fn log(board: &mut TensorBoard, steps: &[usize]) {
    for &step in steps {
        let scalars = Scalars::from([("step/loss".to_owned(), 0.5)]);
        board.scalars(step, &scalars).unwrap();
    }
}

/// A phase that was killed at step 30.
fn killed() -> (tempfile::TempDir, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let mut board = TensorBoard::new(root.path().join("tensorboard"));
    board.begin(Phase::Refit, 0).unwrap();
    log(&mut board, &[10, 20, 30]);
    let folder = root.path().join("tensorboard/refit");
    (root, folder)
}

fn resume(root: &Path, step: usize, then: &[usize]) {
    let mut board = TensorBoard::new(root.join("tensorboard"));
    board.begin(Phase::Refit, step).unwrap();
    log(&mut board, then);
}

#[test]
fn a_resumed_phase_continues_in_a_new_file_and_repeats_no_point() {
    let (root, folder) = killed();
    resume(root.path(), 20, &[30, 40]);
    assert_eq!(steps(&folder), [vec![0, 10, 20], vec![0, 21, 30, 40]]);
    // An older checkpoint drops points of both files.
    resume(root.path(), 15, &[20]);
    assert_eq!(steps(&folder), [vec![0, 10], vec![0, 16, 20]]);
    let names: Vec<Option<u32>> = events_file::own(&folder)
        .unwrap()
        .iter()
        .map(|path| events_file::number(path))
        .collect();
    assert_eq!(
        names,
        [Some(1), Some(3)],
        "a name is never used again, because a reader may know it"
    );
}

#[test]
fn a_phase_without_a_checkpoint_begins_anew_and_other_files_stay() {
    let (root, folder) = killed();
    fs::write(folder.join("events.out.tfevents.17.host"), "of another program").unwrap();
    resume(root.path(), 0, &[10]);
    assert_eq!(steps(&folder), [vec![0, 10]]);
    assert!(folder.join("events.out.tfevents.17.host").exists());
}

#[test]
fn half_a_record_of_a_killed_process_is_dropped() {
    let (root, folder) = killed();
    let first = &events_file::own(&folder).unwrap()[0];
    let bytes = fs::read(first).unwrap();
    fs::write(first, &bytes[..bytes.len() - 3]).unwrap();
    resume(root.path(), 30, &[40]);
    assert_eq!(steps(&folder), [vec![0, 10, 20], vec![0, 31, 40]]);
}

#[test]
fn a_picture_and_a_text_are_in_the_fields_of_their_plugins() {
    let picture = Picture {
        width: 5,
        height: 7,
        png: b"png".to_vec(),
    };
    let value = image("views", &picture).into_bytes();
    let of_image = fields(&value).unwrap()[1].value.bytes().unwrap();
    let found: Vec<Value> = fields(of_image).unwrap().iter().map(|field| field.value).collect();
    assert_eq!(found, [Value::Int(7), Value::Int(5), Value::Int(3), Value::Bytes(b"png")]);

    let value = text("recipe", "# Title").into_bytes();
    let tensor = fields(&value).unwrap()[1].value.bytes().unwrap();
    assert_eq!(fields(tensor).unwrap()[2].value, Value::Bytes(b"# Title"));
}

#[test]
fn a_folder_that_cannot_be_written_to_is_named() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("tensorboard"), "a file").unwrap();
    let mut board = TensorBoard::new(root.path().join("tensorboard"));
    let message = board.begin(Phase::Training, 0).unwrap_err().to_string();
    assert!(message.contains("tensorboard"), "{message}");
    assert!(board.scalars(1, &Scalars::new()).is_err());
}
