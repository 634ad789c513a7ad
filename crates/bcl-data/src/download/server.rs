//! A small HTTP server on the loopback address, for tests.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// A request: its path and headers.
#[derive(Debug, Clone)]
pub(super) struct Request {
    /// The path, as in `GET PATH HTTP/1.1`.
    pub(super) path: String,
    headers: Vec<(String, String)>,
}

impl Request {
    /// The value of a header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let header = self.headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name));
        header.map(|(_, value)| value.as_str())
    }

    /// The start of the requested range.
    pub(super) fn range_start(&self) -> Option<usize> {
        self.header("Range")?.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok()
    }
}

/// A server that answers requests with a closure until it is dropped.
pub(super) struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts a server. `answer` gets each request and its number from 0, and returns the bytes to send before the connection is closed.
    pub(super) fn new(answer: impl Fn(&Request, usize) -> Vec<u8> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let thread = thread::spawn({
            let (requests, stop) = (Arc::clone(&requests), Arc::clone(&stop));
            move || {
                for stream in listener.incoming() {
                    if stop.load(Ordering::SeqCst) {
                        break;
                    }
                    let mut stream = stream.unwrap();
                    let request = read_request(&stream);
                    let number = requests.lock().unwrap().len();
                    requests.lock().unwrap().push(request.clone());
                    // The client may close the connection early.
                    let _ = stream.write_all(&answer(&request, number));
                }
            }
        });
        Self {
            address,
            requests,
            stop,
            thread: Some(thread),
        }
    }

    /// The address of the file `name` on this server.
    pub(super) fn url(&self, name: &str) -> String {
        format!("http://{}/{name}", self.address)
    }

    /// All requests so far.
    pub(super) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes up the thread.
        let _ = TcpStream::connect(self.address);
        let outcome = self.thread.take().map(JoinHandle::join);
        assert!(
            thread::panicking() || !matches!(outcome, Some(Err(_))),
            "the server's own thread panicked"
        );
    }
}

fn read_request(stream: &TcpStream) -> Request {
    let lines = BufReader::new(stream).lines().map(Result::unwrap);
    let mut lines = lines.take_while(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let header = |line: String| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned()));
    Request {
        path,
        headers: lines.filter_map(header).collect(),
    }
}

/// A response with status, headers, body and the right length.
pub(super) fn answer(status: &str, headers: &[&str], body: &[u8]) -> Vec<u8> {
    let length = format!("Content-Length: {}", body.len());
    announced(status, &[headers, &[&length]].concat(), body)
}

/// A response whose length, if any, is given in `headers`.
pub(super) fn announced(status: &str, headers: &[&str], body: &[u8]) -> Vec<u8> {
    let first = format!("HTTP/1.1 {status}");
    let lines = [&[first.as_str()], headers, &["Connection: close", "", ""]].concat();
    [lines.join("\r\n").as_bytes(), body].concat()
}
