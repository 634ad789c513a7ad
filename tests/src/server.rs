//! A local HTTP server for testing downloads.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

/// A server that answers each request with a closure. Connections stay open until the client leaves or the test ends, so a client keeps
/// waiting for bytes that an answer announced but did not send.
pub struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Starts a server. `answer` gets the head of a request as text and returns the bytes of the response.
    pub fn new(answer: impl Fn(&str) -> Vec<u8> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        // The thread ends with the test's process.
        thread::spawn(move || {
            let mut open = Vec::new();
            for stream in listener.incoming() {
                let mut stream = stream.expect("a connection");
                let request = head(&mut stream);
                // The client may disconnect before it has received everything.
                let _ = stream.write_all(&answer(&request));
                seen.lock().expect("no thread panicked").push(request);
                open.push(stream);
            }
        });
        Self { address, requests }
    }

    /// Base URL of this server.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The heads of all requests so far.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("no thread panicked").clone()
    }
}

/// Reads the head of a request, up to the empty line.
fn head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && matches!(stream.read(&mut byte), Ok(1)) {
        head.push(byte[0]);
    }
    String::from_utf8_lossy(&head).into_owned()
}
