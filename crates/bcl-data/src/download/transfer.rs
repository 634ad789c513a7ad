//! HTTP downloads that resume after interruptions.

use super::error::FetchError;
use super::observer::Observer;
use super::part::Part;
use std::io::Read;
use std::thread;
use std::time::Duration;
use ureq::http::{HeaderMap, Response};
use ureq::{Agent, Body, Error as HttpError, Proxy};

/// Retries and timeouts of a download.
pub(super) struct Patience {
    /// Number of attempts before giving up.
    pub(super) tries: u32,
    /// Pause before the second attempt; doubles before each further one.
    pub(super) first_pause: Duration,
    /// Time without any data after which a connection counts as dead.
    pub(super) silence: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            tries: 5,
            first_pause: Duration::from_secs(1),
            silence: Duration::from_secs(30),
        }
    }
}

/// Downloads files, and retries if the network fails.
pub(super) struct Downloader {
    agent: Agent,
    patience: Patience,
}

/// Why an attempt ended before the file was complete.
enum Stop {
    /// Another attempt may help.
    Retry(String),
    /// Another attempt will not help.
    Fail(FetchError),
}

impl From<FetchError> for Stop {
    fn from(error: FetchError) -> Self {
        Self::Fail(error)
    }
}

impl Downloader {
    /// Creates a downloader that uses `proxy`, if given.
    pub(super) fn new(patience: Patience, proxy: Option<Proxy>) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .proxy(proxy)
            .timeout_resolve(Some(patience.silence))
            .timeout_connect(Some(patience.silence))
            .timeout_recv_response(Some(patience.silence))
            .timeout_per_read(Some(patience.silence))
            .user_agent(concat!("bcl/", env!("CARGO_PKG_VERSION")))
            // The stored bytes must be those that the publisher serves, without a transfer encoding.
            .accept_encoding("identity")
            .build();
        Self {
            agent: config.into(),
            patience,
        }
    }

    /// Completes `part` with the content of `url`. Stops after `size` bytes, the size in the manifest, if given.
    ///
    /// # Errors
    /// Returns an error if the server refuses, if the network fails too often, or if the disk fails.
    pub(super) fn download(
        &self,
        url: &str,
        size: Option<u64>,
        part: &mut Part,
        observer: &mut dyn Observer,
    ) -> Result<(), FetchError> {
        let mut pause = self.patience.first_pause;
        let mut tries = 1;
        loop {
            match self.attempt(url, size, part, observer) {
                Ok(()) => return Ok(()),
                Err(Stop::Fail(error)) => return Err(error),
                Err(Stop::Retry(reason)) if tries >= self.patience.tries => {
                    return Err(FetchError::Network {
                        url: url.to_owned(),
                        reason,
                        tries,
                    });
                }
                Err(Stop::Retry(reason)) => {
                    observer.say(&format!("{reason}; trying again in {} s", pause.as_secs()));
                    thread::sleep(pause);
                    pause *= 2;
                    tries += 1;
                }
            }
        }
    }

    /// Makes one request, which resumes after the bytes in `part` if the server supports it.
    fn attempt(&self, url: &str, size: Option<u64>, part: &mut Part, observer: &mut dyn Observer) -> Result<(), Stop> {
        if part.len() > 0 && size == Some(part.len()) {
            return Ok(());
        }
        let mut request = self.agent.get(url);
        if let Some(validator) = part.validator().filter(|_| part.len() > 0) {
            request = request
                .header("Range", format!("bytes={}-", part.len()))
                .header("If-Range", validator);
        }
        let response = request.call().map_err(|error| stop(url, error))?;
        match response.status().as_u16() {
            200 => part.restart(validator(response.headers()))?,
            206 if range_start(response.headers()) == Some(part.len()) => {}
            206 => {
                part.restart(None)?;
                return Err(Stop::Retry("the server sent a different range than requested".to_owned()));
            }
            // The part already contains the whole file, or is longer than it.
            416 if unsatisfied_size(response.headers()) == Some(part.len()) => return Ok(()),
            416 => {
                part.restart(None)?;
                return Err(Stop::Retry("the server rejected the requested range".to_owned()));
            }
            status @ (408 | 425 | 429 | 500..=599) => {
                return Err(Stop::Retry(format!("the server returned status {status}")));
            }
            status => {
                return Err(FetchError::Status {
                    url: url.to_owned(),
                    status,
                }
                .into());
            }
        }
        receive(response, size, part, observer)
    }
}

/// Appends the body of `response` to `part`.
fn receive(response: Response<Body>, size: Option<u64>, part: &mut Part, observer: &mut dyn Observer) -> Result<(), Stop> {
    let body = response.into_body();
    let total = body.content_length().map(|rest| part.len() + rest).or(size);
    let mut reader = body.into_reader();
    let mut buffer = vec![0; 1 << 16];
    observer.received(part.len(), total);
    loop {
        let truncated = |part: &Part, reason: &str| {
            let total = total.map_or_else(String::new, |total| format!(" of {total}"));
            Stop::Retry(format!("the connection ended after {}{total} bytes{reason}", part.len()))
        };
        let count = match reader.read(&mut buffer) {
            Ok(0) if total.is_none_or(|total| part.len() >= total) => break,
            Ok(0) => return Err(truncated(part, "")),
            Ok(count) => count,
            Err(error) => return Err(truncated(part, &format!(" ({error})"))),
        };
        part.append(&buffer[..count])?;
        observer.received(part.len(), total);
        // A file larger than in the manifest is wrong already; do not fill the disk with the rest.
        if size.is_some_and(|size| part.len() > size) {
            break;
        }
    }
    Ok(())
}

/// Classifies a connection error: whether another attempt may help.
fn stop(url: &str, error: HttpError) -> Stop {
    match error {
        HttpError::HostNotFound => Stop::Retry("the host name was not found (DNS)".to_owned()),
        HttpError::Timeout(what) => Stop::Retry(format!("the server did not respond in time ({what})")),
        HttpError::Io(error) => Stop::Retry(error.to_string()),
        HttpError::ConnectionFailed => Stop::Retry("the server cannot be reached".to_owned()),
        other => Stop::Fail(FetchError::Network {
            url: url.to_owned(),
            reason: other.to_string(),
            tries: 1,
        }),
    }
}

/// The server's name for this version. A weak entity tag may stand for different bytes, so it is not used.
fn validator(headers: &HeaderMap) -> Option<&str> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    text("ETag")
        .filter(|tag| !tag.starts_with("W/"))
        .or_else(|| text("Last-Modified"))
}

/// The start of the range in a 206 response: `Content-Range: bytes START-END/SIZE`.
fn range_start(headers: &HeaderMap) -> Option<u64> {
    let range = headers.get("Content-Range")?.to_str().ok()?;
    range.strip_prefix("bytes ")?.split('-').next()?.trim().parse().ok()
}

/// The size of the file in a 416 response: `Content-Range: bytes */SIZE`.
fn unsatisfied_size(headers: &HeaderMap) -> Option<u64> {
    headers
        .get("Content-Range")?
        .to_str()
        .ok()?
        .strip_prefix("bytes */")?
        .trim()
        .parse()
        .ok()
}
