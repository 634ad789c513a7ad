//! Reads a request, strictly: only what a browser sends to this page.

use std::{
    io::{ErrorKind, Read},
    time::{Duration, Instant},
};

/// The most bytes of a request.
const LARGEST: usize = 16 << 10;
/// The time that a client has to send it.
pub(super) const LONGEST: Duration = Duration::from_secs(5);

/// Why a request is refused, as a status line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refused(pub(super) &'static str);

const MALFORMED: Refused = Refused("400 Bad Request");

/// Reads up to the empty line behind the headers. Bodies are not read: no request of this page has one.
pub(super) fn head(stream: &mut impl Read) -> Result<String, Refused> {
    let started = Instant::now();
    let mut head = Vec::new();
    let mut chunk = [0; 1024];
    loop {
        match stream.read(&mut chunk) {
            Ok(0) => return Err(MALFORMED),
            Ok(length) => head.extend_from_slice(&chunk[..length]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return Err(Refused("408 Request Timeout")),
        }
        if head.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
            return String::from_utf8(head).map_err(|_| MALFORMED);
        }
        if head.len() > LARGEST {
            return Err(Refused("431 Request Header Fields Too Large"));
        }
        if started.elapsed() > LONGEST {
            return Err(Refused("408 Request Timeout"));
        }
    }
}

/// The path that a request asks for.
///
/// The host must be this machine: a page from elsewhere whose name was pointed to 127.0.0.1 (DNS rebinding) may not read the runs.
pub(super) fn path(head: &str, port: u16) -> Result<&str, Refused> {
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (method, path, version) = (words.next(), words.next(), words.next());
    let (Some(method), Some(path), Some("HTTP/1.1" | "HTTP/1.0"), None) = (method, path, version, words.next()) else {
        return Err(MALFORMED);
    };
    let mut hosts = lines.take_while(|line| !line.is_empty()).filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim())
    });
    let ours = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}"));
    match (hosts.next(), hosts.next()) {
        (Some(host), None) if ours.iter().any(|own| own.eq_ignore_ascii_case(host)) => {}
        _ => return Err(Refused("403 Forbidden")),
    }
    if method == "GET" {
        Ok(path)
    } else {
        Err(Refused("405 Method Not Allowed"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &str, headers: &str) -> Result<String, &'static str> {
        let head = format!("{line}\r\n{headers}\r\n\r\n");
        path(&head, 8000).map(str::to_owned).map_err(|refused| refused.0)
    }

    #[test]
    fn a_browser_on_this_machine_is_answered() {
        for host in ["127.0.0.1:8000", "localhost:8000", "LocalHost:8000"] {
            let headers = format!("Accept: */*\r\nHost: {host}");
            assert_eq!(asked("GET /data.json HTTP/1.1", &headers), Ok("/data.json".to_owned()));
        }
    }

    #[test]
    fn another_host_method_or_form_is_refused() {
        let host = "Host: 127.0.0.1:8000";
        for headers in [
            "Accept: */*",
            "Host: evil.example:8000",
            "Host: 127.0.0.1",
            "Host: 127.0.0.1:8001",
            "Host: 127.0.0.1:8000\r\nHost: evil.example",
            "Host: 127.0.0.1:8000.evil.example",
        ] {
            assert_eq!(asked("GET / HTTP/1.1", headers), Err("403 Forbidden"), "{headers}");
        }
        for method in ["POST", "HEAD", "get", "OPTIONS"] {
            assert_eq!(asked(&format!("{method} / HTTP/1.1"), host), Err("405 Method Not Allowed"));
        }
        for line in ["GET /", "GET / HTTP/1.1 x", "GET  / HTTP/1.1", "", "GET / HTTP/2"] {
            assert_eq!(asked(line, host), Err("400 Bad Request"), "{line}");
        }
    }

    #[test]
    fn a_request_that_is_too_large_cut_short_or_no_text_is_refused() {
        let read = |bytes: &[u8]| head(&mut &*bytes).map_err(|refused| refused.0);
        assert_eq!(read(b"GET / HTTP/1.1\r\n\r\n").as_deref(), Ok("GET / HTTP/1.1\r\n\r\n"));
        assert_eq!(read(b"GET / HTTP/1.1\r\n"), Err("400 Bad Request"));
        assert_eq!(read(b"\xff\r\n\r\n"), Err("400 Bad Request"));
        assert_eq!(read(&vec![b'a'; LARGEST + 2048]), Err("431 Request Header Fields Too Large"));
    }
}
