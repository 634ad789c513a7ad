//! `bcl-train data` from the command line. Downloads come from a local server; nothing reaches the network.

use bcl_data::Manifest;
use std::{
    fs,
    path::Path,
    process::{Command, Output},
};
use whole_program_tests::{assert_refused, bcl_train, server::Server, shown};

fn data(arguments: &[&str]) -> Output {
    bcl_train().arg("data").args(arguments).output().expect("it starts")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

#[test]
fn the_list_names_every_data_set() {
    let output = data(&["list"]);
    assert!(output.status.success(), "{}", shown(&output));
    let list = String::from_utf8(output.stdout).expect("text");
    for manifest in Manifest::all() {
        assert!(
            list.lines().any(|line| line.starts_with(&format!("{} ", manifest.name))),
            "{list}"
        );
    }
}

#[test]
fn the_list_says_which_data_sets_are_present() {
    let folder = tempfile::tempdir().expect("a folder");
    let archive = folder.path().join("cifar-10-binary.tar.gz");
    fs::write(&archive, "").expect("a writable folder");
    let output = data(&["list", "--json", "--data", text(folder.path())]);
    let list: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let files = |name: &str| {
        let entries = list.as_array().expect("a list");
        let entry = entries.iter().find(|entry| entry["name"] == name).expect("every data set");
        entry["files"].clone()
    };
    assert_eq!(files("cifar10"), serde_json::json!([archive]));
    assert_eq!(files("cifar100"), serde_json::json!([]));
}

#[test]
fn the_list_says_what_a_data_set_consists_of() {
    let output = data(&["list", "--json"]);
    let list: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for (name, kind) in [("ml-100k", "interactions"), ("cifar10", "images"), ("mutag", "graphs")] {
        let entries = list.as_array().expect("a list");
        let entry = entries.iter().find(|entry| entry["name"] == name).expect("every data set");
        assert_eq!(entry["kind"], kind, "{name}");
    }
}

#[test]
fn graphs_are_checked_and_refused_by_encoders_of_something_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let graphs = folder.path().join("MUTAG");
    fs::create_dir(&graphs).expect("a writable folder");
    for (name, lines) in [
        ("A", "1, 2\n2, 1\n"),
        ("graph_indicator", "1\n1\n2\n"),
        ("graph_labels", "1\n-1\n"),
        ("node_labels", "0\n1\n0\n"),
    ] {
        fs::write(graphs.join(format!("MUTAG_{name}.txt")), lines).expect("a writable folder");
    }
    assert_refused(&data(&["check", "mutag", "--data", text(folder.path())]), &["mutag", "188"]);
    let output = bcl_train()
        .args(["quickstart/infonce", "--set", "data.dataset=mutag"])
        .output();
    assert_refused(&output.expect("it starts"), &["encoder.kind", "\"mutag\"", "\"gin\""]);
}

#[test]
fn a_misspelt_name_is_bad_input_and_the_right_one_is_suggested() {
    assert_refused(&data(&["fetch", "ml-10k"]), &["did you mean `ml-100k`?"]);
}

#[test]
fn a_misspelt_name_is_reported_before_any_download() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::new(|_| b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec());
    let place = ["--data", text(folder.path()), "--url-base", &server.url()];
    assert_refused(
        &data(&[&["fetch", "ml-100k", "gowala"], &place[..]].concat()),
        &["did you mean `gowalla`?"],
    );
    assert!(server.requests().is_empty(), "{:?}", server.requests());
}

#[test]
fn the_error_for_a_licensed_data_set_names_where_to_request_it() {
    assert_refused(&data(&["fetch", "yahoo-r3"]), &["ask Yahoo! Webscope"]);
}

#[test]
fn images_that_are_nowhere_published_as_one_file_say_how_to_pack_them() {
    let output = data(&["fetch", "cifar10-jpg", "--data", "no such folder"]);
    assert_refused(&output, &["ImageFolder archive", "train/frog/0001.jpg", "cifar10-jpg.tar.gz"]);
}

#[test]
fn a_wrong_file_never_gets_its_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::new(|_| b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc".to_vec());
    let output = data(&["fetch", "ml-1m", "--data", text(folder.path()), "--url-base", &server.url()]);
    assert_refused(&output, &["is not the file in the manifest", "SHA-256", "run again"]);
    assert!(folder.path().join("ml-1m/ml-1m.zip.part.bad").exists());
    assert!(!folder.path().join("ml-1m/ml-1m.zip").exists());
}

#[test]
fn all_data_sets_are_checked_and_those_that_differ_are_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let gowalla = folder.path().join("gowalla");
    fs::create_dir(&gowalla).expect("a writable folder");
    for file in ["train.txt", "test.txt"] {
        fs::write(gowalla.join(file), "0 1 2\n").expect("a writable folder");
    }
    let output = data(&["check", "gowalla", "ml-1m", "--data", text(folder.path())]);
    assert_refused(
        &output,
        &[
            "size in bytes is 6, but must be 4633414",
            "data set `ml-1m` is not in",
            "bcl-train data fetch ml-1m",
        ],
    );
}

/// The server sends a part and then nothing, so that the test can interrupt a download that is known to be half done.
#[cfg(unix)]
#[test]
fn a_download_that_ctrl_c_ends_continues_where_it_stopped() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::new(|request| {
        if request.to_lowercase().contains("range: bytes=1000-") {
            let head = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 1000-1002/1003\r\nContent-Length: 3\r\nConnection: close\r\n\r\n";
            [head.as_bytes(), b"abc"].concat()
        } else {
            let head = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 1003\r\n\r\n";
            [head.as_bytes(), &[b'x'; 1000][..]].concat()
        }
    });
    let part = folder.path().join("ml-1m/ml-1m.zip.part");
    let url = server.url();
    let fetch = || {
        let mut command = bcl_train();
        command.args([
            "data",
            "fetch",
            "ml-1m",
            "--quiet",
            "--data",
            text(folder.path()),
            "--url-base",
            &url,
        ]);
        command
    };

    let child = fetch().stderr(std::process::Stdio::piped()).spawn().expect("it starts");
    while fs::metadata(&part).map_or(0, |part| part.len()) < 1000 {
        std::thread::yield_now();
    }
    let signal = format!("kill -INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &signal]).status().expect("a shell").success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", shown(&output));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("run the same command again to continue"),
        "{}",
        shown(&output)
    );
    assert_eq!(fs::read(&part).expect("the part is kept").len(), 1000);

    let output = fetch().output().expect("it starts");
    let requests = server.requests();
    assert_eq!(requests.len(), 2, "{requests:?}");
    assert!(requests[1].to_lowercase().contains("range: bytes=1000-"), "{requests:?}");
    // The file is complete now, but does not match the manifest's checksum.
    assert_refused(&output, &["SHA-256"]);
    assert_eq!(
        fs::read(part.with_extension("part.bad")).expect("the file is kept").len(),
        1003
    );
}
