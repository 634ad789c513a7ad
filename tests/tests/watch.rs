//! `bcl-train watch`: the page of runs under way, asked for over a socket as a browser does.

use serde_json::Value;
use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Stdio},
    thread,
    time::Duration,
};
use whole_program_tests::{assert_refused, bcl_train, shown, small_recipe};

/// A process that watches, which is killed when the test ends.
struct Watch {
    process: Child,
    address: String,
}

impl Watch {
    fn start(run: &Path) -> Self {
        let mut process = bcl_train()
            .args(["watch", "--quiet"])
            .arg(run)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("piped"))
            .read_line(&mut line)
            .expect("the address");
        let address = line.trim().strip_prefix("http://").and_then(|rest| rest.strip_suffix('/'));
        let address = address.unwrap_or_else(|| panic!("no address: {line}")).to_owned();
        Self { process, address }
    }

    /// Sends bytes and returns the whole answer.
    fn send(&self, bytes: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        stream.write_all(bytes.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    }

    fn get(&self, path: &str) -> String {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address))
    }

    fn data(&self) -> Value {
        let answer = self.get("/data.json");
        let (_, body) = answer.split_once("\r\n\r\n").expect("headers and a body");
        serde_json::from_str(body).expect("JSON")
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A finished run, and its folder.
fn trained(more: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let recipe = small_recipe(folder.path(), more);
    let out = folder.path().join("runs");
    let output = bcl_train()
        .arg(recipe)
        .args(["--quiet", "--epochs", "3", "--out"])
        .arg(&out)
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{}", shown(&output));
    (folder, out.join("small-0"))
}

/// Makes a finished run look as it did before its last epoch ended, in the middle of a write.
fn as_under_way(run: &Path) {
    fs::remove_file(run.join("result.json")).expect("writable");
    let metrics = run.join("metrics.jsonl");
    let text = fs::read_to_string(&metrics).expect("readable");
    fs::write(&metrics, &text[..text.len() - 20]).expect("writable");
}

#[test]
fn the_page_follows_a_run_and_closes_when_it_finishes() {
    let (_folder, run) = trained("[logging]\nevery = 2\n");
    let result = fs::read(run.join("result.json")).expect("a result");
    as_under_way(&run);
    // The folder that contains the run serves as well.
    let mut watch = Watch::start(run.parent().expect("a folder"));

    let page = watch.get("/");
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page}");
    for part in [
        "Content-Security-Policy: default-src 'none'",
        "Cache-Control: no-store",
        "http-equiv=\"refresh\"",
        "Loss within epochs",
        "Training loss, selection",
        "ndcg@20 on held-out data, selection",
        "epochs</td>",
    ] {
        assert!(page.contains(part), "{part} is not in\n{page}");
    }
    let data = watch.data();
    assert_eq!(
        (&data["over"], &data["runs"][0]["finished"]),
        (&Value::Bool(false), &Value::Bool(false)),
        "{data}"
    );
    let lines = fs::read_to_string(run.join("metrics.jsonl"))
        .expect("readable")
        .lines()
        .count() as u64;
    assert_eq!(
        data["runs"][0]["epochs"].as_u64(),
        Some(lines - 1),
        "half a line does not count"
    );

    fs::write(run.join("result.json"), result).expect("writable");
    let seen = (0..100).any(|_| {
        thread::sleep(Duration::from_millis(50));
        watch.data()["over"] == Value::Bool(true)
    });
    assert!(seen, "the end is served before it closes");
    assert!(watch.process.wait().expect("our child").success());
}

#[test]
fn strangers_and_other_paths_are_refused_while_an_idle_client_waits() {
    let (_folder, run) = trained("");
    as_under_way(&run);
    let watch = Watch::start(&run);
    // Browsers open connections that they may never use.
    let _idle = TcpStream::connect(&watch.address).expect("it listens");
    let host = format!("Host: {}", watch.address);
    for (request, status) in [
        ("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n".to_owned(), "403"),
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), "403"),
        (format!("POST / HTTP/1.1\r\n{host}\r\n\r\n"), "405"),
        (format!("GET /metrics.jsonl HTTP/1.1\r\n{host}\r\n\r\n"), "404"),
        (format!("GET /../../etc/passwd HTTP/1.1\r\n{host}\r\n\r\n"), "404"),
        (format!("GET /?x=1 HTTP/1.1\r\n{host}\r\n\r\n"), "404"),
        ("\u{0}\u{1}\r\n\r\n".to_owned(), "400"),
        (format!("GET / HTTP/1.1\r\nX: {}\r\n", "a".repeat(16_384)), "431"),
    ] {
        let answer = watch.send(&request);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request}\n{answer}");
        assert!(!answer.contains("<html"), "{answer}");
    }
}

#[test]
fn what_cannot_be_watched_is_refused() {
    let (folder, run) = trained("");
    let refused = |arguments: &[&str], words: &[&str]| {
        let output = bcl_train().arg("watch").args(arguments).current_dir(folder.path()).output();
        assert_refused(&output.expect("it starts"), words);
    };
    refused(&[], &["RUN"]);
    refused(&["nowhere"], &["nowhere", "no run", "recipe.toml"]);
    refused(&["small.toml"], &["small.toml", "no run"]);
    refused(&["runs", "--port", "65536"], &["--port"]);
    refused(&["runs", "--port", "-1"], &["-1"]);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("bound").port().to_string();
    refused(&["runs", "--port", &port], &["--port", &port, "choose another port"]);
    for number in 0..33 {
        let copy = folder.path().join(format!("many/{number}"));
        fs::create_dir_all(&copy).expect("writable");
        fs::copy(run.join("recipe.toml"), copy.join("recipe.toml")).expect("writable");
    }
    refused(&["many"], &["33 runs", "at most 32"]);
    fs::write(run.join("recipe.toml"), "broken").expect("writable");
    refused(&["runs"], &["recipe.toml"]);
}
