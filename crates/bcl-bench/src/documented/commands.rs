//! Finds the commands in a Markdown text.

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

/// Programs whose commands are checked.
const PROGRAMS: [&str; 3] = ["cargo", "bcl-train", "bcl-bench"];

/// First words of lines that are not checked: shell syntax, and programs that the reader has built.
const OTHERS: [&str; 4] = ["for", "done", "./old", "./new"];

/// A command in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DocumentedCommand {
    /// Line of its first word, from 1.
    pub(super) line: usize,
    /// Its words, starting with the program.
    pub(super) words: Vec<String>,
    /// Whether it is in running text, where it may be incomplete.
    pub(super) is_inline: bool,
}

/// Finds the commands in fenced `sh` blocks, in indented blocks and in code in running text.
///
/// # Errors
/// Names a line of a block whose program is unknown.
pub(super) fn commands(markdown: &str) -> Result<Vec<DocumentedCommand>, String> {
    let mut commands = Vec::new();
    let mut in_commands = false;
    for (event, range) in Parser::new(markdown).into_offset_iter() {
        let first = 1 + markdown[..range.start].matches('\n').count();
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => in_commands = &*language == "sh",
            Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)) => in_commands = true,
            Event::End(TagEnd::CodeBlock) => in_commands = false,
            Event::Text(text) if in_commands => {
                for (line, text) in (first..).zip(text.lines()) {
                    commands.extend(in_block(line, text)?);
                }
            }
            Event::Code(code) => {
                let words = words(first, &code)?;
                // Without arguments, `cargo run` and `--set` are mentioned, not used; `--set KEY=VALUE` is a flag of `train`.
                let first_word = words.first().map_or("", String::as_str);
                let least = if first_word == "cargo" { 3 } else { 2 };
                if (first_word == "--set" || PROGRAMS.contains(&first_word)) && words.len() >= least {
                    commands.push(DocumentedCommand {
                        line: first,
                        words,
                        is_inline: true,
                    });
                }
            }
            _ => {}
        }
    }
    Ok(commands)
}

/// The command in a line of a block, without the description that follows after two spaces or a `#`.
fn in_block(line: usize, text: &str) -> Result<Option<DocumentedCommand>, String> {
    let command = text.trim().split("  ").next().unwrap_or_default();
    let words = words(line, command)?;
    match words.first().map(String::as_str) {
        None => Ok(None),
        Some(first) if OTHERS.contains(&first) => Ok(None),
        Some(first) if PROGRAMS.contains(&first) => Ok(Some(DocumentedCommand {
            line,
            words,
            is_inline: false,
        })),
        Some(first) => Err(format!("line {line}: `{first}` is not a program of this project")),
    }
}

fn words(line: usize, command: &str) -> Result<Vec<String>, String> {
    shlex::split(command).ok_or_else(|| format!("line {line}: a quote is not closed in `{command}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(markdown: &str) -> Vec<(usize, String)> {
        let commands = commands(markdown).unwrap();
        commands
            .into_iter()
            .map(|command| (command.line, command.words.join(" ")))
            .collect()
    }

    #[test]
    fn commands_are_found_in_blocks_and_in_running_text() {
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
    fn a_line_with_an_unknown_program_is_reported() {
        let problem = commands("    make all\n").unwrap_err();
        assert_eq!(problem, "line 1: `make` is not a program of this project");
    }
}
