//! A hostile case: one run of the program with its input and the expected outcome.

use std::{
    fs::{self, File},
    os::unix::fs::symlink,
    path::Path,
    process::{Command, ExitStatus, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};
use whole_program_tests::bcl_train;

/// Limit on the address space of a run, in KiB.
const SPACE: u32 = 6 << 20;
/// Time limit of a run: about a hundred times the usual duration, because the machine may be busy.
const LONGEST: Duration = Duration::from_mins(1);
/// Number of concurrent runs.
const AT_A_TIME: usize = 2;
/// Maximum length of an error message, not counting repeated arguments.
const LONGEST_MESSAGE: usize = 3000;

/// A run of the program and its expected outcome.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) name: String,
    arguments: Vec<String>,
    files: Vec<(String, Content)>,
    expected: Expected,
}

/// An entry in the working folder of a run.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    Bytes(Vec<u8>),
    Folder,
    /// A symbolic link to a path.
    Link(String),
    /// A named pipe.
    Pipe,
}

#[derive(Debug, Clone)]
enum Expected {
    /// Exit code 2, and words that the error must contain.
    Refused(Vec<String>),
    Fine,
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Bytes(text.into())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Bytes(text.into_bytes())
    }
}

impl From<Vec<u8>> for Content {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

impl Case {
    /// A run that must be refused.
    pub(crate) fn refused(name: impl Into<String>, arguments: &[&str], words: &[&str]) -> Self {
        let words = words.iter().map(ToString::to_string).collect();
        Self::new(name, arguments, Expected::Refused(words))
    }

    /// A run that must succeed.
    pub(crate) fn fine(name: impl Into<String>, arguments: &[&str]) -> Self {
        Self::new(name, arguments, Expected::Fine)
    }

    fn new(name: impl Into<String>, arguments: &[&str], expected: Expected) -> Self {
        Self {
            name: name.into(),
            arguments: arguments.iter().map(ToString::to_string).collect(),
            files: Vec::new(),
            expected,
        }
    }

    /// Adds a file to the working folder.
    pub(crate) fn with(mut self, name: &str, content: impl Into<Content>) -> Self {
        self.files.push((name.to_owned(), content.into()));
        self
    }

    fn run(&self) -> Result<(), String> {
        let folder = tempfile::tempdir().expect("a folder");
        let [out, err] = ["stdout.txt", "stderr.txt"].map(|name| folder.path().join(name));
        for (name, content) in &self.files {
            content.put(&folder.path().join(name));
        }
        // The shell sets the memory limit and then replaces itself with the program.
        let mut child = Command::new("sh")
            .args(["-c", &format!("ulimit -v {SPACE} && exec \"$0\" \"$@\"")])
            .arg(bcl_train().get_program())
            .args(&self.arguments)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(File::create(&out).expect("writable"))
            .stderr(File::create(&err).expect("writable"))
            .spawn()
            .expect("it starts");
        let started = Instant::now();
        let status = loop {
            match child.try_wait().expect("our child") {
                Some(status) => break status,
                None if started.elapsed() > LONGEST => {
                    child.kill().expect("our child");
                    child.wait().expect("our child");
                    return Err(format!("ran longer than {} s", LONGEST.as_secs()));
                }
                None => thread::sleep(Duration::from_millis(2)),
            }
        };
        let message = String::from_utf8_lossy(&fs::read(&err).expect("readable")).into_owned();
        self.judge(status, &message, folder.path())
    }

    /// The maximum length of the message, which may repeat the arguments.
    fn longest_message(&self) -> usize {
        LONGEST_MESSAGE + 3 * self.arguments.iter().map(String::len).sum::<usize>()
    }

    fn judge(&self, status: ExitStatus, message: &str, folder: &Path) -> Result<(), String> {
        let fail = |problem: String| {
            let shown: String = message.chars().take(1000).collect();
            Err(format!("{problem} ({status}): {shown}"))
        };
        if message.contains("panicked") || message.contains("memory allocation") {
            return fail("panicked or aborted".to_owned());
        }
        if let Some(control) = message.chars().find(|c| c.is_control() && *c != '\n') {
            return fail(format!("{control:?} reached the terminal"));
        }
        match &self.expected {
            Expected::Fine if status.code() == Some(0) => Ok(()),
            Expected::Fine => fail("failed".to_owned()),
            Expected::Refused(_) if status.code() != Some(2) => fail("was not refused".to_owned()),
            Expected::Refused(_) if folder.join("runs").exists() => fail("left a folder behind".to_owned()),
            Expected::Refused(_) if message.len() > self.longest_message() => fail(format!("printed {} bytes", message.len())),
            Expected::Refused(words) => match words.iter().find(|word| !message.contains(*word)) {
                Some(word) => fail(format!("did not mention `{word}`")),
                None => Ok(()),
            },
        }
    }
}

impl Content {
    fn put(&self, path: &Path) {
        fs::create_dir_all(path.parent().expect("below a folder")).expect("writable");
        match self {
            Self::Bytes(bytes) => fs::write(path, bytes).expect("writable"),
            Self::Folder => fs::create_dir_all(path).expect("writable"),
            Self::Link(target) => symlink(target, path).expect("writable"),
            Self::Pipe => {
                let made = Command::new("mkfifo").arg(path).status().expect("mkfifo is there");
                assert!(made.success(), "{made}");
            }
        }
    }
}

/// Runs the cases, some concurrently, and returns a description of each failure.
pub(crate) fn run_all(cases: &[Case]) -> Vec<String> {
    // Build the program first, not in two threads at once.
    bcl_train();
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(problem) = case.run() {
                        failures
                            .lock()
                            .expect("no thread panics")
                            .push(format!("{}: {problem}", case.name));
                    }
                }
            });
        }
    });
    failures.into_inner().expect("no thread panics")
}
