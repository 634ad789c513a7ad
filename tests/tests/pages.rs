//! Pages in a browser: reports, the comparison of runs, search results, runs under way and the explorer of weights.
#![cfg(unix)]

use serde_json::Value;
use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};
use whole_program_tests::{
    PLANTED_IMAGES, bcl_bench, bcl_train,
    browser::Browser,
    pictures::{cats_and_dogs, write},
    shown, small_image_recipe, small_recipe,
};

const TAB: u32 = 9;

/// What keys can reach: each group of radio buttons counts once, as the browser treats it.
const CONTROLS: &str = "(() => {
    const all = [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex=\"0\"]')];
    const seen = all.filter(element => !element.disabled && element.checkVisibility() && element.getClientRects().length);
    const radio = element => element.type == 'radio';
    return seen.filter(element => !radio(element)).length + new Set(seen.filter(radio).map(element => element.name)).size;
})()";

/// Numbers the element that has the focus, and returns its number; 0 if none has it.
const FOCUSED: &str = "(() => {
    const element = document.activeElement;
    if (!element || element == document.body) return 0;
    window.reached ??= [];
    if (!reached.includes(element)) reached.push(element);
    return reached.indexOf(element) + 1;
})()";

/// Labels within charts that lie on each other.
const OVERLAPS: &str = "[...document.querySelectorAll('svg')].flatMap(svg => {
    const texts = [...svg.querySelectorAll('text')].filter(text => text.textContent.trim() && text.checkVisibility());
    const boxes = texts.map(text => text.getBoundingClientRect());
    const overlap = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2
        && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;
    return texts.flatMap((text, i) => texts.slice(0, i)
        .filter((_, j) => overlap(boxes[i], boxes[j]))
        .map(other => `${text.textContent} on ${other.textContent}`));
})";

const HEADINGS: &str = "[...document.querySelectorAll('h1, h2')].map(heading => heading.textContent)";

const EXPLORER: &str = "What the weights of the Bayesian loss do";

/// Whether the WebAssembly of the explorer agrees with Rust. It says so some time after the page is loaded, and within ten seconds.
const CHECK: &str = "new Promise(done => {
    const look = left => {
        const check = document.body.dataset.check;
        if (check || !left) done(check ?? null); else setTimeout(look, 20, left - 1);
    };
    look(500);
})";

fn succeeds(program: &mut Command) -> String {
    let output = program.output().expect("it starts");
    assert!(output.status.success(), "{}", shown(&output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn url(page: &Path) -> String {
    assert!(page.is_file(), "there is no {}", page.display());
    format!("file://{}", page.display())
}

/// The pages of a recommender, of images, and of the explorer, each with one of its headings.
fn written(folder: &Path) -> Vec<(PathBuf, &'static str)> {
    let recommender = small_recipe(folder, "");
    succeeds(
        bcl_train()
            .arg(&recommender)
            .args(["-q", "--epochs", "2", "--seeds", "0..2", "--out"])
            .arg(folder.join("runs")),
    );
    let comparison = folder.join("comparison.html");
    succeeds(
        bcl_train()
            .args(["report", "-q"])
            .arg(folder.join("runs"))
            .arg("--out")
            .arg(&comparison),
    );

    let images = small_image_recipe(folder, PLANTED_IMAGES);
    succeeds(
        bcl_train()
            .arg(&images)
            .args(["-q", "--epochs", "1", "--out"])
            .arg(folder.join("images")),
    );
    let run = folder.join("images/small-images-0");
    write(folder, &cats_and_dogs(4, 2));
    let photos = folder.join("pictures");
    let query = photos.join("train/cat/0.jpg");
    let found = folder.join("neighbours.html");
    succeeds(
        bcl_train()
            .args(["neighbours", "-q"])
            .arg(&run)
            .arg(query)
            .arg("--in")
            .arg(&photos)
            .arg("--page")
            .arg(&found),
    );

    let explorer = folder.join("explore.html");
    succeeds(bcl_bench().arg("explore").arg("--out").arg(&explorer));
    vec![
        (folder.join("runs/small-0/report.html"), "small"),
        (run.join("report.html"), "small-images"),
        (comparison, "All runs"),
        (found, "Nearest neighbours of one image"),
        (explorer, EXPLORER),
    ]
}

/// A process that watches, which is killed when the test ends.
struct Watch(Child);

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn watch(run: &Path) -> (Watch, String) {
    let mut process = bcl_train()
        .args(["watch", "--quiet"])
        .arg(run)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut address = String::new();
    BufReader::new(process.stdout.take().expect("piped"))
        .read_line(&mut address)
        .expect("the address");
    (Watch(process), address.trim().to_owned())
}

#[test]
fn pages_work_in_a_browser_on_narrow_and_wide_windows_by_keyboard_and_in_the_dark() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let pages = written(folder.path());
    let (_watch, address) = watch(&folder.path().join("runs/small-0"));
    let pages = pages.iter().map(|(page, heading)| (url(page), *heading));
    for (address, heading) in pages.chain([(address, "small-0")]) {
        let mut backgrounds = Vec::new();
        for (width, dark) in [(400, false), (1200, false), (1200, true)] {
            browser.open(&address, width, dark);
            let case = format!("{address}, {width} pixels");
            let headings = browser.evaluate(HEADINGS);
            let is_there = headings.as_array().is_some_and(|all| all.iter().any(|one| one == heading));
            assert!(is_there, "{case}: `{heading}` is missing among {headings}");
            if heading == EXPLORER {
                assert_eq!(browser.evaluate(CHECK), "ok", "{case}");
            }
            let right = browser.evaluate("document.documentElement.scrollWidth").as_u64();
            assert!(right <= Some(width.into()), "{case}: {right:?} pixels are needed");
            assert_eq!(browser.evaluate(OVERLAPS), Value::Array(Vec::new()), "{case}");
            backgrounds.push(
                browser
                    .evaluate("getComputedStyle(document.body).backgroundColor")
                    .to_string(),
            );
            assert_eq!(browser.errors(), [] as [&str; 0], "{case}");
        }
        assert_ne!(backgrounds[1], backgrounds[2], "{address}: the same colours in the dark");

        let controls = browser.evaluate(CONTROLS).as_u64().expect("a number");
        for _ in 0..=controls {
            browser.press("Tab", TAB);
            browser.evaluate(FOCUSED);
        }
        let reached = browser.evaluate("(window.reached ?? []).length").as_u64();
        assert!(
            reached >= Some(controls),
            "{address}: keys reach {reached:?} of {controls} controls"
        );
    }
}
