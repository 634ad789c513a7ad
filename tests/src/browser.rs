//! A headless Chromium, spoken to in the `DevTools` protocol over pipes.

use serde_json::{Value, json};
use std::{
    fs::{self, File, OpenOptions},
    io::{BufRead, BufReader, Write},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

/// Names under which distributions install Chromium.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// A browser with one tab. It ends with this value.
pub struct Browser {
    process: Child,
    requests: File,
    answers: BufReader<File>,
    session: Option<String>,
    last: u64,
    /// Errors on the console, and exceptions that no script caught.
    errors: Vec<String>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts a browser; `None`, with a message, if this machine has none.
    ///
    /// # Panics
    /// Panics if the browser does not start or does not answer.
    pub fn start() -> Option<Self> {
        let Some(program) = NAMES.iter().find_map(|name| found(name)) else {
            eprintln!("skipped: there is no Chromium (on Debian and Ubuntu: apt-get install chromium)");
            return None;
        };
        let profile = tempfile::tempdir().expect("a folder");
        let [requests, answers] = ["requests", "answers"].map(|name| profile.path().join(name));
        let made = Command::new("mkfifo").args([&requests, &answers]).status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo");
        // Chromium reads requests from file 3 and answers on file 4. The shell opens them in this order, and so must this program.
        let process = Command::new("sh")
            .args(["-c", r#"exec "$0" "$@" 3<"$REQUESTS" 4>"$ANSWERS""#])
            .arg(program)
            .args(["--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu"])
            .args(["--no-first-run", "--hide-scrollbars", "--force-color-profile=srgb"])
            .arg(format!("--user-data-dir={}", profile.path().join("profile").display()))
            .env("REQUESTS", &requests)
            .env("ANSWERS", &answers)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("sh starts");
        let requests = OpenOptions::new().write(true).open(requests).expect("the browser reads");
        let answers = BufReader::new(File::open(answers).expect("the browser answers"));
        let mut browser = Self {
            process,
            requests,
            answers,
            session: None,
            last: 0,
            errors: Vec::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attached = browser.call(
            "Target.attachToTarget",
            json!({"targetId": target["targetId"], "flatten": true}),
        );
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Sends a request and returns its result.
    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.last += 1;
        let mut request = json!({"id": self.last, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            request["sessionId"] = json!(session);
        }
        write!(self.requests, "{request}\0").expect("the browser listens");
        loop {
            let message = self.message();
            if message["id"] == json!(self.last) {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
        }
    }

    /// Reads a message, and notes it if it is an error of the page.
    fn message(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.answers.read_until(0, &mut bytes).expect("the browser answers");
        bytes.pop();
        let message: Value = serde_json::from_slice(&bytes).expect("the browser is still there");
        let event = &message["params"];
        match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => self.errors.push(event["exceptionDetails"].to_string()),
            Some("Runtime.consoleAPICalled") if event["type"] == "error" => self.errors.push(event["args"].to_string()),
            Some("Log.entryAdded") if event["entry"]["level"] == "error" => self.errors.push(event["entry"].to_string()),
            _ => {}
        }
        message
    }

    /// Opens a page in a window of this width, in dark colours or in light ones.
    ///
    /// # Panics
    /// Panics if the browser cannot load it.
    pub fn open(&mut self, url: &str, width: u32, dark: bool) {
        let size = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features}));
        self.errors.clear();
        let navigation = self.call("Page.navigate", json!({"url": url}));
        assert!(navigation["errorText"].is_null(), "{url}: {}", navigation["errorText"]);
        // A call waits until the new page runs scripts, which is before all of it is there.
        let loaded = "new Promise(done => document.readyState == 'complete' ? done() : addEventListener('load', () => done()))";
        self.evaluate(loaded);
    }

    /// Evaluates an expression on the page, and waits for its value if it is a promise.
    ///
    /// # Panics
    /// Panics if the expression throws.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let parameters = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", parameters);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Presses and releases a key, such as `Tab`.
    pub fn press(&mut self, key: &str, code: u32) {
        for kind in ["rawKeyDown", "keyUp"] {
            let event = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code});
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// The errors of the page since it was opened.
    pub fn errors(&self) -> &[String] {
        &self.errors
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The program of this name on the search path.
fn found(name: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths)
        .map(|folder| folder.join(name))
        .find(|path| fs::metadata(path).is_ok_and(|metadata| metadata.is_file()))
}
