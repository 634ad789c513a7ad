//! Downloads over HTTP that go on where they stopped.

use super::error::FetchError;
use super::observer::Observer;
use super::part::Part;
use std::io::Read;
use std::thread;
use std::time::Duration;
use ureq::http::{HeaderMap, Response};
use ureq::{Agent, Body, Error as HttpError, Proxy};

/// How patient a download is.
pub(super) struct Patience {
    /// Times that a request is made before giving up.
    pub(super) tries: u32,
    /// Pause before the second try; doubles before each one after.
    pub(super) first_pause: Duration,
    /// Time without a single byte after which a connection counts as dead.
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

/// Downloads files, and tries again when the network fails.
pub(super) struct Downloader {
    agent: Agent,
    patience: Patience,
}

/// Why a try ended before the file was complete.
enum Stop {
    /// Trying again may help.
    Retry(String),
    /// It will not.
    Fail(FetchError),
}

impl From<FetchError> for Stop {
    fn from(error: FetchError) -> Self {
        Self::Fail(error)
    }
}

impl Downloader {
    /// A downloader that goes through `proxy`, if there is one.
    pub(super) fn new(patience: Patience, proxy: Option<Proxy>) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .proxy(proxy)
            .timeout_resolve(Some(patience.silence))
            .timeout_connect(Some(patience.silence))
            .timeout_recv_response(Some(patience.silence))
            .timeout_per_read(Some(patience.silence))
            .user_agent(concat!("bcl/", env!("CARGO_PKG_VERSION")))
            // What is stored and checked is what the publisher serves, so nothing may pack it on the way.
            .accept_encoding("identity")
            .build();
        Self {
            agent: config.into(),
            patience,
        }
    }

    /// Completes `part` with what is at `url`. `size` is what the manifest says, if it does: not a byte more is taken.
    ///
    /// # Errors
    /// If the server refuses, if the network fails more often than patience allows, if the disk fails.
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

    /// One request, which goes on from what `part` already holds if the server allows it.
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
                return Err(Stop::Retry("the server sent another range than asked for".to_owned()));
            }
            // The part already holds all there is, or more than there is.
            416 if unsatisfied_size(response.headers()) == Some(part.len()) => return Ok(()),
            416 => {
                part.restart(None)?;
                return Err(Stop::Retry("the server knows no such range".to_owned()));
            }
            status @ (408 | 425 | 429 | 500..=599) => {
                return Err(Stop::Retry(format!("the server answers with status {status}")));
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

/// Adds the body of `response` to `part`.
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
        // A file that outgrows its manifest is wrong already; the rest need not fill the disk.
        if size.is_some_and(|size| part.len() > size) {
            break;
        }
    }
    Ok(())
}

/// What an error of the connection means for the next try.
fn stop(url: &str, error: HttpError) -> Stop {
    match error {
        HttpError::HostNotFound => Stop::Retry("no server of this name was found (DNS)".to_owned()),
        HttpError::Timeout(what) => Stop::Retry(format!("the server is silent ({what})")),
        HttpError::Io(error) => Stop::Retry(error.to_string()),
        HttpError::ConnectionFailed => Stop::Retry("the server cannot be reached".to_owned()),
        other => Stop::Fail(FetchError::Network {
            url: url.to_owned(),
            reason: other.to_string(),
            tries: 1,
        }),
    }
}

/// What the server calls this version. A weak entity tag allows other bytes under the same name, so it is of no use.
fn validator(headers: &HeaderMap) -> Option<&str> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    text("ETag")
        .filter(|tag| !tag.starts_with("W/"))
        .or_else(|| text("Last-Modified"))
}

/// Where the range begins that a 206 carries: `Content-Range: bytes START-END/SIZE`.
fn range_start(headers: &HeaderMap) -> Option<u64> {
    let range = headers.get("Content-Range")?.to_str().ok()?;
    range.strip_prefix("bytes ")?.split('-').next()?.trim().parse().ok()
}

/// The size of the file that a 416 tells: `Content-Range: bytes */SIZE`.
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
