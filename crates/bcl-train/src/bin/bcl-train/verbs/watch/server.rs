//! A server for one page: GET only, on the loopback address only.

use super::request::{LONGEST, head, path};
use bcl_files::FileError;
use bcl_train::error::Error;
use std::{
    io::{self, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::mpsc::{Receiver, Sender, channel},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// The most clients at a time.
const MOST_CLIENTS: usize = 32;

/// The headers of every answer. The page needs its own style and script alone, and nobody else may read or frame it.
const HEADERS: &str = "Connection: close\r\n\
    Cache-Control: no-store\r\n\
    X-Content-Type-Options: nosniff\r\n\
    Referrer-Policy: no-referrer\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\n\
    Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; \
    img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n";

/// What a path shows.
#[derive(Debug)]
pub(super) struct Answer {
    /// Its media type.
    pub(super) kind: &'static str,
    /// Its content.
    pub(super) body: String,
}

/// The path that a client asked for, and where to send the answer.
type Question = (String, Sender<Option<Answer>>);

/// Listens for clients, each in a thread of its own: browsers open connections that they may never use.
#[derive(Debug)]
pub(super) struct Server {
    port: u16,
    questions: Receiver<Question>,
}

impl Server {
    /// Listens on a port, or on a free one for 0.
    ///
    /// # Errors
    /// Returns an error that names the port if another program has it.
    pub(super) fn bind(port: u16) -> Result<Self, Error> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).map_err(|error| {
            Error::Input(format!(
                "--port {port}: cannot listen on 127.0.0.1:{port}: {error}; choose another port, or leave the flag out for a free one"
            ))
        })?;
        let port = listener.local_addr().map_err(FileError::io("listen on", "127.0.0.1"))?.port();
        let (sender, questions) = channel();
        thread::spawn(move || accept(&listener, port, &sender));
        Ok(Self { port, questions })
    }

    /// The address of the page.
    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Answers the requests that have arrived.
    pub(super) fn answer(&self, answer: impl Fn(&str) -> Option<Answer>) {
        for (path, client) in self.questions.try_iter() {
            // The client may have left.
            let _ = client.send(answer(&path));
        }
    }
}

fn accept(listener: &TcpListener, port: u16, questions: &Sender<Question>) {
    let clients = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming().flatten() {
        if clients.fetch_add(1, Ordering::SeqCst) >= MOST_CLIENTS {
            clients.fetch_sub(1, Ordering::SeqCst);
            continue;
        }
        let (clients, questions) = (Arc::clone(&clients), questions.clone());
        thread::spawn(move || {
            // A client that leaves early is its own affair.
            let _ = serve(stream, port, &questions);
            clients.fetch_sub(1, Ordering::SeqCst);
        });
    }
}

/// Serves one client.
fn serve(mut stream: TcpStream, port: u16, questions: &Sender<Question>) -> io::Result<()> {
    stream.set_read_timeout(Some(LONGEST))?;
    stream.set_write_timeout(Some(LONGEST))?;
    let asked = head(&mut stream).and_then(|head| path(&head, port).map(str::to_owned));
    let path = match asked {
        Ok(path) => path,
        Err(refused) => return respond(&mut stream, refused.0, "text/plain", refused.0),
    };
    let (sender, answer) = channel();
    let answer = questions
        .send((path, sender))
        .ok()
        .and_then(|()| answer.recv().ok().flatten());
    match answer {
        Some(Answer { kind, body }) => respond(&mut stream, "200 OK", kind, &body),
        None => respond(
            &mut stream,
            "404 Not Found",
            "text/plain",
            "there is nothing but / and /data.json",
        ),
    }
}

fn respond(stream: &mut impl Write, status: &str, kind: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{HEADERS}\r\n");
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())?;
    stream.flush()
}
