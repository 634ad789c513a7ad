//! Reads from PTX what a driver has to know of a module: its version and target, and the parameters and limits of its kernels.

mod accesses;

use accesses::Accesses;

/// A module in PTX.
#[derive(Debug)]
pub(crate) struct Ptx {
    /// Version of the language, such as (9, 0).
    pub(crate) version: (u32, u32),
    /// Target architecture, such as `sm_90a`.
    pub(crate) target: String,
    /// Its kernels.
    pub(crate) entries: Vec<Entry>,
}

/// A kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) parameters: Vec<Parameter>,
    /// From `__launch_bounds__`: the most threads per block.
    pub(crate) max_threads: Option<u32>,
    /// The only block that the kernel can be launched with.
    pub(crate) required_block: Option<[u32; 3]>,
    /// Blocks per cluster, if the kernel requires clusters.
    pub(crate) cluster: Option<[u32; 3]>,
    /// Static shared memory, in bytes.
    pub(crate) static_shared: u32,
}

/// What a parameter contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parameter {
    /// A pointer to device memory.
    Pointer {
        /// Whether the kernel writes there.
        is_written: bool,
    },
    /// A tensor map (`CUtensorMap`), by value.
    TensorMap,
    /// Anything else, by value.
    Value,
}

/// Parses a module.
///
/// # Errors
///
/// What is missing or cannot be read.
pub(crate) fn parse(text: &str) -> Result<Ptx, String> {
    let text = without_comments(text);
    let version = word_after(&text, ".version").ok_or("it has no .version")?;
    let (major, minor) = version
        .split_once('.')
        .and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)))
        .ok_or_else(|| format!("{version} is not a version"))?;
    let target = word_after(&text, ".target").ok_or("it has no .target")?;
    let mut entries = Vec::new();
    let mut outside = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = split_at_word(rest, ".entry") {
        outside += before;
        let (source, end) = EntrySource::cut(after)?;
        entries.push(source);
        rest = &after[end..];
    }
    outside += rest;
    let module_shared = shared_variables(&outside);
    Ok(Ptx {
        version: (major, minor),
        target: target.trim_end_matches(',').to_owned(),
        entries: entries.iter().map(|source| source.parse(&module_shared)).collect(),
    })
}

/// The parts of a kernel's text.
struct EntrySource<'a> {
    name: &'a str,
    parameters: &'a str,
    directives: &'a str,
    body: &'a str,
}

impl<'a> EntrySource<'a> {
    /// Cuts a kernel from text that begins after `.entry`. Also returns where it ends.
    fn cut(text: &'a str) -> Result<(Self, usize), String> {
        let open = text.find('{').ok_or("a kernel has no body")?;
        let (head, body) = text.split_at(open);
        let body_len = matching_brace(body).ok_or("the body of a kernel does not end")?;
        let (name, parameters, directives) = match head.split_once('(') {
            Some((name, rest)) => {
                let (parameters, directives) = rest.split_once(')').ok_or("the parameters of a kernel do not end")?;
                (name, parameters, directives)
            }
            None => head
                .split_once(char::is_whitespace)
                .map_or((head, "", ""), |(name, rest)| (name, "", rest)),
        };
        let source = Self {
            name: name.trim(),
            parameters,
            directives,
            body: &body[..body_len],
        };
        Ok((source, open + body_len))
    }

    fn parse(&self, module_shared: &[(String, u32)]) -> Entry {
        let accesses = Accesses::of(self.body);
        let parameters = self.parameters.split(',').map(str::trim).filter(|text| !text.is_empty());
        let parameters = parameters.map(|text| parameter(text, &accesses)).collect();
        let used = |name: &str| self.body.split(|c: char| !is_word(c)).any(|word| word == name);
        let from_module = module_shared.iter().filter(|(name, _)| used(name)).map(|(_, bytes)| bytes);
        let of_body = shared_variables(self.body);
        Entry {
            name: self.name.to_owned(),
            parameters,
            max_threads: dimensions(self.directives, ".maxntid").map(|[x, y, z]| x * y * z),
            required_block: dimensions(self.directives, ".reqntid"),
            cluster: dimensions(self.directives, ".reqnctapercluster"),
            static_shared: of_body.iter().map(|(_, bytes)| bytes).chain(from_module).sum(),
        }
    }
}

/// Parses a declaration such as `.param .u64 .ptr .global .align 4 x`, `.param .align 64 .b8 map[128]`.
fn parameter(text: &str, accesses: &Accesses) -> Parameter {
    let words: Vec<&str> = text.split_whitespace().collect();
    let name = words.last().copied().unwrap_or_default();
    let has = |word: &str| words.contains(&word);
    let is_wide = has(".u64") || has(".b64") || has(".s64");
    if is_wide && (has(".ptr") || accesses.dereferenced.contains(name)) {
        Parameter::Pointer {
            is_written: accesses.written.contains(name),
        }
    } else if name.ends_with("[128]") && words.windows(2).any(|pair| pair == [".align", "64"]) {
        Parameter::TensorMap
    } else {
        Parameter::Value
    }
}

/// The variables in shared memory that a text declares, with their sizes in bytes. Dynamic shared memory has none.
fn shared_variables(text: &str) -> Vec<(String, u32)> {
    let mut variables = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = split_at_word(rest, ".shared") {
        let (declaration, next) = after.split_once(';').unwrap_or((after, ""));
        variables.extend(variable(declaration));
        rest = next;
    }
    variables
}

/// Name and bytes of a declaration such as `.align 4 .b8 x[132]`.
fn variable(declaration: &str) -> Option<(String, u32)> {
    let words: Vec<&str> = declaration.split_whitespace().collect();
    let name = words.last()?;
    let of_type = words.iter().find_map(|word| type_bytes(word))?;
    let (name, dimensions) = name.split_once('[').unwrap_or((name, ""));
    let counts = dimensions.split(['[', ']']).filter(|count| !count.is_empty());
    let count = counts.map(|count| count.parse::<u32>().ok()).product::<Option<u32>>()?;
    let is_dynamic = dimensions.starts_with(']');
    (!is_dynamic).then(|| (name.to_owned(), of_type * count))
}

/// Bytes of a type such as `.b8` or `.f32`.
fn type_bytes(word: &str) -> Option<u32> {
    let bits = word.strip_prefix('.')?.strip_prefix(['b', 'u', 's', 'f'])?;
    Some(bits.parse::<u32>().ok()? / 8)
}

/// The numbers of a directive such as `.maxntid 256, 1, 1`; those that are missing are 1.
fn dimensions(directives: &str, name: &str) -> Option<[u32; 3]> {
    let (_, after) = split_at_word(directives, name)?;
    let numbers = after.split('.').next().unwrap_or_default();
    let mut dimensions = [1; 3];
    for (dimension, number) in dimensions.iter_mut().zip(numbers.split(',')) {
        *dimension = number.trim().parse().ok()?;
    }
    Some(dimensions)
}

/// Length of the text up to and including the brace that closes the one it begins with.
fn matching_brace(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return Some(at + 1),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The text without comments and without references to lines of source.
fn without_comments(text: &str) -> String {
    let mut lines = String::with_capacity(text.len());
    for line in text.lines().filter(|line| !line.trim_start().starts_with(".loc")) {
        lines += line.split("//").next().unwrap_or_default();
        lines.push('\n');
    }
    lines
}

/// The text before and after the first occurrence of a directive as a whole word.
fn split_at_word<'a>(text: &'a str, word: &str) -> Option<(&'a str, &'a str)> {
    text.match_indices(word).find_map(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        let is_whole = !before.ends_with(is_word) && !after.starts_with(|c| is_word(c) || c == '.');
        is_whole.then_some((before, after))
    })
}

fn word_after<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    split_at_word(text, word)?.1.split_whitespace().next()
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')
}

#[cfg(test)]
mod tests {
    use super::*;
    use Parameter::{TensorMap, Value};

    const READ: Parameter = Parameter::Pointer { is_written: false };
    const WRITTEN: Parameter = Parameter::Pointer { is_written: true };

    /// As NVRTC 13.0 emits it for two kernels with inline assembly, shared memory and clusters, shortened.
    const TWO_KERNELS: &str = r#"
//
// Generated by NVIDIA NVVM Compiler
//
.version 9.0
.target sm_90a
.address_size 64

	// .globl	first
// _ZZ5firstE2st has been demoted
.global .align 4 .b8 table[16];
.shared .align 8 .b8 used[24];
.shared .align 8 .b8 unused[240];
.extern .shared .align 16 .b8 dynamic[];

.visible .entry first(
	.param .u64 first_param_0,
	.param .u64 first_param_1,
	.param .align 8 .b8 first_param_2[40],
	.param .align 64 .b8 first_param_3[128],
	.param .u64 first_param_4,
	.param .u64 first_param_5
)
.maxntid 16, 16, 1
{
	.reg .f32 	%f<13>;
	.loc	1 4 0, function_name $L__info_string0, inlined_at 1 3 2
	// demoted variable
	.shared .align 4 .b8 _ZZ5firstE2st[132];
	ld.param.u64 	%rd1, [first_param_0];
	ld.param.u64 	%rd2, [first_param_1];
	ld.param.u64 	%rd3, [first_param_4];
	ld.param.u64 	%rd4, [first_param_5];
	cvta.to.global.u64 	%rd5, %rd1;
	mov.u64 	%rd6, %rd2;
	@%p1 st.v2.f32 	[%rd6+4], {%f1, %f2};
	{
	mul.wide.u32 	%rd7, %r2, 4;
	}
	mov.u64 	%rd8, used;
	st.shared.f32 	[%rd8], %f1;
	add.s64 	%rd9, %rd3, %rd7;
	ret;

}
	// .globl	second
.visible .entry second()
.explicitcluster
.reqnctapercluster 2, 1, 1
{
	ret;
}
	.file	1 "a//default_program"
"#;

    #[test]
    fn parameters_that_a_kernel_dereferences_are_pointers() {
        let ptx = parse(TWO_KERNELS).expect("it parses");
        assert_eq!((ptx.version, ptx.target.as_str()), ((9, 0), "sm_90a"));
        let names: Vec<_> = ptx.entries.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["first", "second"]);
        assert_eq!(ptx.entries[0].parameters, [READ, WRITTEN, Value, TensorMap, Value, Value]);
        assert_eq!(ptx.entries[1].parameters, []);
    }

    #[test]
    fn limits_and_shared_memory_are_read() {
        let ptx = parse(TWO_KERNELS).expect("it parses");
        let [first, second] = ptx.entries.as_slice() else {
            panic!("{ptx:?}");
        };
        assert_eq!(
            (first.max_threads, first.static_shared, first.cluster),
            (Some(256), 132 + 24, None)
        );
        assert_eq!(
            (second.max_threads, second.static_shared, second.cluster),
            (None, 0, Some([2, 1, 1]))
        );
    }

    #[test]
    fn a_declared_pointer_is_one_even_if_it_is_not_used() {
        let text = ".version 8.5\n.target sm_90\n.visible .entry k(.param .u64 .ptr .global .align 4 a, .param .u64 n)\n.reqntid 128\n{ ret; }";
        let ptx = parse(text).expect("it parses");
        assert_eq!(ptx.entries[0].parameters, [READ, Value]);
        assert_eq!(ptx.entries[0].required_block, Some([128, 1, 1]));
    }

    #[test]
    fn what_is_not_ptx_is_an_error() {
        for text in [
            "",
            "\u{7f}ELF",
            ".version 9.0\n.target sm_90\n.entry k() {",
            ".version nine\n.target sm_90",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
