//! The commands that a Markdown text shows.

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

/// Programs whose commands are ours to keep right.
const PROGRAMS: [&str; 3] = ["cargo", "bcl-train", "bcl-bench"];

/// First words of lines in a block that run something else: shell syntax, and programs that the text had one build.
const OTHERS: [&str; 4] = ["for", "done", "./old", "./new"];

/// A command in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shown {
    /// Where it begins, from 1.
    pub(super) line: usize,
    /// Its words, the program's name among them.
    pub(super) words: Vec<String>,
    /// Whether it stands in running text, where it may be the beginning of a command.
    pub(super) is_inline: bool,
}

/// The commands of fenced `sh` blocks, of indented blocks and of code in running text.
///
/// # Errors
/// A line of a block that is neither a command of ours nor known to be another's.
pub(super) fn commands(markdown: &str) -> Result<Vec<Shown>, String> {
    let mut shown = Vec::new();
    let mut in_commands = false;
    for (event, range) in Parser::new(markdown).into_offset_iter() {
        let first = 1 + markdown[..range.start].matches('\n').count();
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => in_commands = &*language == "sh",
            Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)) => in_commands = true,
            Event::End(TagEnd::CodeBlock) => in_commands = false,
            Event::Text(text) if in_commands => {
                for (line, text) in (first..).zip(text.lines()) {
                    shown.extend(in_block(line, text)?);
                }
            }
            Event::Code(code) => {
                let words = words(first, &code)?;
                // `cargo run` and `--set` alone are talk about them; `--set KEY=VALUE` is a flag of any training.
                let first_word = words.first().map_or("", String::as_str);
                let least = if first_word == "cargo" { 3 } else { 2 };
                if (first_word == "--set" || PROGRAMS.contains(&first_word)) && words.len() >= least {
                    shown.push(Shown {
                        line: first,
                        words,
                        is_inline: true,
                    });
                }
            }
            _ => {}
        }
    }
    Ok(shown)
}

/// The command of a line of a block, without the description that two spaces or a `#` separate from it.
fn in_block(line: usize, text: &str) -> Result<Option<Shown>, String> {
    let command = text.trim().split("  ").next().unwrap_or_default();
    let words = words(line, command)?;
    match words.first().map(String::as_str) {
        None => Ok(None),
        Some(first) if OTHERS.contains(&first) => Ok(None),
        Some(first) if PROGRAMS.contains(&first) => Ok(Some(Shown {
            line,
            words,
            is_inline: false,
        })),
        Some(first) => Err(format!("line {line}: `{first}` is no program of ours")),
    }
}

fn words(line: usize, command: &str) -> Result<Vec<String>, String> {
    shlex::split(command).ok_or_else(|| format!("line {line}: a quote is not closed in `{command}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(markdown: &str) -> Vec<(usize, String)> {
        let shown = commands(markdown).unwrap();
        shown.into_iter().map(|shown| (shown.line, shown.words.join(" "))).collect()
    }

    #[test]
    fn commands_stand_in_blocks_and_in_running_text() {
        let text = "\
Run `cargo\ntest --workspace`, not `rm -rf`, `cargo test` or `--set`.

```sh
cargo run -p bcl-train -- my.toml   # as it is
bcl-train --set 'loss={kind=\"hard\"}'
```

```toml
cargo = 1
```

    cargo xtask ci --fast         formatting
    for x in 1 2; do
";
        let expected = [
            (1, "cargo test --workspace"),
            (5, "cargo run -p bcl-train -- my.toml"),
            (6, "bcl-train --set loss={kind=\"hard\"}"),
            (13, "cargo xtask ci --fast"),
        ];
        assert_eq!(lines(text), expected.map(|(line, text)| (line, text.to_owned())));
    }

    #[test]
    fn a_line_that_nobody_can_check_is_told() {
        let problem = commands("    make all\n").unwrap_err();
        assert_eq!(problem, "line 1: `make` is no program of ours");
    }
}
