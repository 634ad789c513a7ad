//! Downloads from a local server that fails in every way that servers do.

use super::*;
use crate::download::Silent;
use crate::download::server::{Server, announced, answer};
use sha2::Sha256;
use std::io::{Cursor, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const VERSION: &str = "ETag: \"v1\"";

/// A file that takes several reads.
fn body() -> Vec<u8> {
    (0..300_000_u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect()
}

fn sha256(mut bytes: &[u8]) -> String {
    bcl_files::digest_of::<Sha256>(&mut bytes).unwrap()
}

/// The manifest's entry for `body` at `url`.
fn source(url: &str, body: &[u8]) -> SourceFile {
    let sha256 = sha256(body);
    let file = "ratings.dat".to_owned();
    SourceFile {
        url: url.to_owned(),
        file,
        bytes: Some(body.len() as u64),
        md5: None,
        sha256: Some(sha256),
    }
}

/// A folder to fetch into.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn fetch(&self, source: &SourceFile, tries: u32) -> Result<(), FetchError> {
        let item = Item::new(source, None, None);
        fetcher(tries).fetch(&item, self.0.path(), &mut Silent)
    }
}

fn fetcher(tries: u32) -> Fetcher {
    let patience = Patience {
        tries,
        first_pause: Duration::ZERO,
        silence: Duration::from_secs(20),
    };
    Fetcher::new(Downloader::new(patience, None), Limits::default())
}

/// A server that drops the first connection halfway, and answers the second request with `second`.
fn interrupting_server(headers: &'static [&str], second: fn(&[u8], usize) -> Vec<u8>) -> Server {
    Server::new(move |request, number| {
        let body = body();
        if number == 0 {
            let length = format!("Content-Length: {}", body.len());
            announced("200 OK", &[headers, &[&length]].concat(), &body[..body.len() / 2])
        } else {
            second(&body, request.range_start().unwrap_or(0))
        }
    })
}

fn rest(body: &[u8], start: usize) -> Vec<u8> {
    let range = format!("Content-Range: bytes {start}-{}/{}", body.len() - 1, body.len());
    answer("206 Partial Content", &[VERSION, &range], &body[start..])
}

fn whole(body: &[u8], _: usize) -> Vec<u8> {
    answer("200 OK", &[VERSION], body)
}

#[test]
fn a_download_is_complete_and_leaves_no_other_file() {
    let server = Server::new(|_, _| whole(&body(), 0));
    let folder = Folder::new();
    folder.fetch(&source(&server.url("a"), &body()), 1).unwrap();
    assert_eq!(folder.read("ratings.dat"), body());
    assert_eq!(folder.names(), ["ratings.dat"]);
}

#[test]
fn a_second_call_continues_where_the_first_was_interrupted() {
    let server = interrupting_server(&[VERSION], rest);
    let (folder, source) = (Folder::new(), source(&server.url("a"), &body()));

    let error = folder.fetch(&source, 1).unwrap_err();
    assert!(matches!(error, FetchError::Network { .. }), "{error}");
    assert_eq!(folder.names(), ["ratings.dat.part", "ratings.dat.part.version"]);

    folder.fetch(&source, 1).unwrap();
    let second = &server.requests()[1];
    assert_eq!(second.header("Range"), Some("bytes=150000-"));
    assert_eq!(second.header("If-Range"), Some("\"v1\""));
    assert_eq!(folder.read("ratings.dat"), body());
    assert_eq!(folder.names(), ["ratings.dat"]);
}

#[test]
fn an_interrupted_download_is_continued_in_the_same_call() {
    let server = interrupting_server(&["Last-Modified: Wed, 21 Oct 2015 07:28:00 GMT"], rest);
    let folder = Folder::new();
    folder.fetch(&source(&server.url("a"), &body()), 2).unwrap();
    assert_eq!(server.requests()[1].header("If-Range"), Some("Wed, 21 Oct 2015 07:28:00 GMT"));
    assert_eq!(folder.read("ratings.dat"), body());
}

#[test]
fn a_server_that_ignores_ranges_starts_again() {
    let server = interrupting_server(&[VERSION], whole);
    let folder = Folder::new();
    folder.fetch(&source(&server.url("a"), &body()), 2).unwrap();
    assert_eq!(server.requests()[1].range_start(), Some(150_000));
    assert_eq!(folder.read("ratings.dat"), body());
}

#[test]
fn a_server_that_sends_another_range_is_asked_again_from_the_start() {
    let server = interrupting_server(&[VERSION], |body, start| match start {
        0 => whole(body, 0),
        _ => rest(body, 7),
    });
    let folder = Folder::new();
    folder.fetch(&source(&server.url("a"), &body()), 3).unwrap();
    assert_eq!(server.requests()[2].range_start(), None);
    assert_eq!(folder.read("ratings.dat"), body());
}

#[test]
fn a_version_that_cannot_be_named_is_not_resumed() {
    for headers in [&[][..], &["ETag: W/\"weak\""]] {
        let server = interrupting_server(headers, whole);
        let folder = Folder::new();
        folder.fetch(&source(&server.url("a"), &body()), 2).unwrap();
        assert_eq!(server.requests()[1].header("Range"), None);
        assert_eq!(folder.read("ratings.dat"), body());
    }
}

#[test]
fn a_complete_part_of_unknown_size_needs_no_more_bytes() {
    let server = Server::new(|_, _| answer("416 Range Not Satisfiable", &["Content-Range: bytes */300000"], b""));
    let (folder, mut source) = (Folder::new(), source(&server.url("a"), &body()));
    source.bytes = None;
    fs::write(folder.path("ratings.dat.part"), body()).unwrap();
    fs::write(folder.path("ratings.dat.part.version"), "\"v1\"").unwrap();
    folder.fetch(&source, 1).unwrap();
    assert_eq!(server.requests()[0].range_start(), Some(300_000));
    assert_eq!(folder.read("ratings.dat"), body());
}

#[test]
fn a_wrong_checksum_leaves_no_file_under_the_final_name() {
    let server = Server::new(|_, _| whole(&[7; 1000], 0));
    let (folder, source) = (Folder::new(), source(&server.url("a"), &[8; 1000]));
    let error = folder.fetch(&source, 3).unwrap_err();
    assert_eq!(error.exit_code(), 2);
    let found = sha256(&[7; 1000]);
    for part in [&found, source.sha256.as_ref().unwrap(), "run again"] {
        assert!(error.to_string().contains(part), "{error}");
    }
    assert_eq!(folder.names(), ["ratings.dat.part.bad"]);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_body_that_outgrows_the_manifest_is_not_taken_to_its_end() {
    let server = Server::new(|_, _| whole(&vec![0; 30_000_000], 0));
    let (folder, source) = (Folder::new(), source(&server.url("a"), &body()));
    let error = folder.fetch(&source, 1).unwrap_err();
    assert!(
        matches!(
            error,
            FetchError::WrongDownload {
                property: "size in bytes",
                ..
            }
        ),
        "{error}"
    );
    assert!(folder.read("ratings.dat.part.bad").len() < 1_000_000);
}

#[test]
fn a_body_that_stays_short_is_a_network_failure_and_its_part_is_kept() {
    let server = Server::new(|_, _| announced("200 OK", &[VERSION, "Content-Length: 300000"], &body()[..1000]));
    let folder = Folder::new();
    let error = folder.fetch(&source(&server.url("a"), &body()), 2).unwrap_err();
    assert_eq!(error.exit_code(), 1);
    assert!(error.to_string().contains("ended after 1000 of 300000 bytes"), "{error}");
    assert_eq!(server.requests().len(), 2);
    assert_eq!(folder.read("ratings.dat.part").len(), 1000);
}

#[test]
fn a_missing_file_is_reported_at_once() {
    let server = Server::new(|_, _| answer("404 Not Found", &[], b"no such file"));
    let folder = Folder::new();
    let error = folder.fetch(&source(&server.url("gone"), &body()), 5).unwrap_err();
    assert_eq!(error.exit_code(), 1);
    assert!(matches!(error, FetchError::Status { status: 404, .. }), "{error}");
    assert_eq!(server.requests().len(), 1);
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn a_busy_server_is_retried() {
    let server = Server::new(|_, number| match number {
        0 => answer("503 Service Unavailable", &[], b"later"),
        _ => whole(&body(), 0),
    });
    let folder = Folder::new();
    folder.fetch(&source(&server.url("a"), &body()), 2).unwrap();
    assert_eq!(folder.read("ratings.dat"), body());
}

#[test]
fn a_server_that_refuses_connections_is_a_network_failure() {
    // The client's end of an open connection: nobody listens there, and no other test can get the port.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let connection = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let address = connection.local_addr().unwrap();
    let error = Folder::new()
        .fetch(&source(&format!("http://{address}/a"), &body()), 2)
        .unwrap_err();
    assert!(matches!(error, FetchError::Network { tries: 2, .. }), "{error}");
}

#[test]
fn a_redirect_is_followed_with_the_range() {
    let server = Server::new(|request, number| match (request.path.as_str(), number) {
        ("/old", _) => answer("302 Found", &["Location: /new"], b""),
        (_, 1) => announced("200 OK", &[VERSION, "Content-Length: 300000"], &body()[..100_000]),
        _ => rest(&body(), request.range_start().unwrap()),
    });
    let folder = Folder::new();
    folder.fetch(&source(&server.url("old"), &body()), 2).unwrap();
    let paths: Vec<_> = server.requests().into_iter().map(|request| request.path).collect();
    assert_eq!(paths, ["/old", "/new", "/old", "/new"]);
    assert_eq!(folder.read("ratings.dat"), body());
}

#[test]
fn published_archives_stay_packed() {
    let server = Server::new(|_, _| answer("200 OK", &["Content-Encoding: gzip"], b"\x1f\x8bpacked"));
    let folder = Folder::new();
    folder.fetch(&source(&server.url("a"), b"\x1f\x8bpacked"), 1).unwrap();
    assert_eq!(server.requests()[0].header("Accept-Encoding"), Some("identity"));
    assert_eq!(folder.read("ratings.dat"), b"\x1f\x8bpacked");
}

#[test]
fn an_existing_file_is_not_downloaded_again() {
    let server = Server::new(|_, _| whole(&body(), 0));
    let folder = Folder::new();
    fs::write(folder.path("ratings.dat"), body()).unwrap();
    folder.fetch(&source(&server.url("a"), &body()), 1).unwrap();
    assert!(server.requests().is_empty());
}

#[test]
fn a_wrong_existing_file_is_reported_and_kept() {
    let folder = Folder::new();
    fs::write(folder.path("ratings.dat"), "mine").unwrap();
    let error = folder
        .fetch(&source("http://127.0.0.1:9/never-asked", &body()), 1)
        .unwrap_err();
    assert_eq!(error.exit_code(), 2);
    assert!(
        error.to_string().contains("size in bytes is 4, but must be 300000"),
        "{error}"
    );
    assert_eq!(folder.read("ratings.dat"), b"mine");
}

#[test]
fn a_mirror_is_asked_for_the_same_file() {
    let server = Server::new(|_, _| whole(&body(), 0));
    let folder = Folder::new();
    let source = source("http://127.0.0.1:9/never-asked", &body());
    let item = Item::new(&source, None, Some(&server.url("mirror/")));
    fetcher(1).fetch(&item, folder.0.path(), &mut Silent).unwrap();
    assert_eq!(server.requests()[0].path, "/mirror/ratings.dat");
}

#[test]
fn a_disk_that_refuses_is_named() {
    let server = Server::new(|_, _| whole(&body(), 0));
    let folder = Folder::new();
    fs::write(folder.path("data"), "a file, not a folder").unwrap();
    let source = source(&server.url("a"), &body());
    let error = fetcher(1)
        .fetch(&Item::new(&source, None, None), &folder.path("data"), &mut Silent)
        .unwrap_err();
    assert_eq!(error.exit_code(), 1);
    assert!(
        error.to_string().contains(&folder.path("data").display().to_string()),
        "{error}"
    );
}

#[test]
fn an_archive_is_unpacked_once() {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("ml/u.data", SimpleFileOptions::default()).unwrap();
    zip.write_all(b"1\t2\t5\n").unwrap();
    let zip = zip.finish().unwrap().into_inner();

    let served = zip.clone();
    let server = Server::new(move |_, _| whole(&served, 0));
    let folder = Folder::new();
    let source = SourceFile {
        file: "ml.zip".to_owned(),
        ..source(&server.url("ml.zip"), &zip)
    };
    for _ in 0..2 {
        fetcher(1)
            .fetch(&Item::new(&source, Some(Archive::Zip), None), folder.0.path(), &mut Silent)
            .unwrap();
        assert_eq!(folder.read("ml/u.data"), b"1\t2\t5\n");
        assert_eq!(folder.names(), ["ml", "ml.zip"]);
    }
    assert_eq!(server.requests().len(), 1);
}
