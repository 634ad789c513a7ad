//! Bad data sets of graphs, and what their errors must say: the file, the line, the value, and the remedy.

mod graphs_support;

use bcl_data::graphs::{GraphOptions, NodeFeatures, load_graphs};
use bcl_data::{DataError, Seed, Xoshiro256PlusPlus};
use graphs_support::{MINI, folder, gzip, mini, tar, zip};
use rand::RngExt;
use std::path::Path;

/// A change of the valid data set `MINI`, and words that the error must contain.
struct Case {
    what: &'static str,
    part: &'static str,
    /// `None` removes the file.
    content: Option<Vec<u8>>,
    words: &'static [&'static str],
}

fn case(what: &'static str, part: &'static str, content: impl AsRef<[u8]>, words: &'static [&'static str]) -> Case {
    Case {
        what,
        part,
        content: Some(content.as_ref().to_vec()),
        words,
    }
}

fn without(part: &'static str, words: &'static [&'static str]) -> Case {
    Case {
        what: "a missing file",
        part,
        content: None,
        words,
    }
}

impl Case {
    /// The files of `MINI` with the change.
    fn files(&self) -> Vec<(String, Vec<u8>)> {
        let mut files: Vec<_> = MINI
            .iter()
            .filter(|(part, _)| *part != self.part)
            .map(|(part, text)| (format!("MINI_{part}.txt"), text.as_bytes().to_vec()))
            .collect();
        if let Some(content) = &self.content {
            files.push((format!("MINI_{}.txt", self.part), content.clone()));
        }
        files
    }

    fn check(&self, result: Result<impl Sized, DataError>) {
        check(self.what, self.words, result);
    }
}

fn check(what: &str, words: &[&str], result: Result<impl Sized, DataError>) {
    let Err(error) = result else { panic!("{what}: was accepted") };
    let text = error.to_string();
    for word in words {
        assert!(text.contains(word), "{what}: `{word}` is not in: {text}");
    }
    assert!(text.len() < 900, "{what}: {} bytes: {text}", text.len());
    assert!(text.ends_with('.'), "{what}: {text}");
}

fn load(path: &Path) -> Result<impl Sized + use<>, DataError> {
    load_graphs("mini", path, &GraphOptions::default())
}

/// Ten lines of edges with one of them changed.
fn edges(number: usize, line: &str) -> String {
    let mut lines: Vec<&str> = MINI[0].1.lines().collect();
    lines[number - 1] = line;
    lines.join("\n")
}

#[rustfmt::skip]
fn bad_files() -> Vec<Case> {
    let long_line = vec![b'1'; 2 << 20];
    let wide = "0,".repeat(20_000) + "0\n";
    vec![
        // Edges.
        without("A", &["no file that ends in `_A.txt`", "Name the folder or archive"]),
        case("no edges", "A", "", &["MINI_A.txt", "is empty", "two nodes of each edge"]),
        case("blank lines only", "A", "\n\n", &["MINI_A.txt", "is empty"]),
        case("zero-based ids", "A", edges(1, "0, 1"), &["MINI_A.txt:1:", "row is node 0", "numbered from 1 to 9", "MINI_graph_indicator.txt", "Correct"]),
        case("a zero as the second node", "A", edges(4, "3, 0"), &["MINI_A.txt:4:", "column is node 0"]),
        case("a negative id", "A", edges(3, "-2, 3"), &["MINI_A.txt:3:", "row is node -2"]),
        case("an id beyond the nodes", "A", edges(10, "9, 10"), &["MINI_A.txt:10:", "column is node 10", "1 to 9"]),
        case("an id beyond 32 bits", "A", edges(2, "4294967297, 1"), &["MINI_A.txt:2:", "node 4294967297"]),
        case("an id beyond 64 bits", "A", edges(2, "99999999999999999999, 1"), &["MINI_A.txt:2:", "row `99999999999999999999`", "not an integer"]),
        case("an edge with one node", "A", edges(5, "4"), &["MINI_A.txt:5:", "1 value(s) in `4`", "2: row and column", "separated by commas or blanks", "Correct the line"]),
        case("an edge with a weight", "A", edges(5, "4, 5, 0.5"), &["MINI_A.txt:5:", "3 value(s)", "Keep the two nodes"]),
        case("an edge with three spaces", "A", edges(5, "4 , 5 6"), &["MINI_A.txt:5:", "`5 6`", "not an integer"]),
        case("an edge with an empty field", "A", edges(5, ", 4"), &["MINI_A.txt:5:", "row ``", "is empty", "Fill it in"]),
        case("an edge of text", "A", edges(6, "five, 4"), &["MINI_A.txt:6:", "row `five`", "not an integer"]),
        case("an edge of real numbers", "A", edges(6, "5.5, 4"), &["MINI_A.txt:6:", "row `5.5`", "not an integer"]),
        case("a header", "A", edges(1, "row, col"), &["MINI_A.txt:1:", "row `row`", "not an integer"]),
        case("an edge between graphs", "A", edges(5, "3, 4"), &["MINI_A.txt:5:", "node 3 of graph 1", "node 4 of graph 2", "Remove the edge"]),
        case("an edge without its reverse", "A", edges(2, "2, 3"), &["MINI_A.txt:1:", "`1, 2` has no line `2, 1`", "1 edge(s)", "symmetrise = true"]),
        case("one direction only", "A", "1, 2\n2, 3\n5, 4\n8, 9\n", &["MINI_edge_labels.txt", "10 lines, but must have 4, one per edge"]),
        case("a blank line within the edges", "A", edges(3, " "), &["MINI_A.txt:3:", "blank", "other edges"]),
        case("a line without end", "A", long_line, &["MINI_A.txt:1:", "longer than 1 MiB"]),
        case("UTF-16", "A", b"\xff\xfe1\x00,\x002\x00\n\x00", &["MINI_A.txt", "is text in UTF-16", "iconv"]),
        // Graphs of nodes.
        without("graph_indicator", &["MINI_graph_indicator.txt", "no such file", "the graph of each node", "Add it"]),
        case("no nodes", "graph_indicator", "", &["MINI_graph_indicator.txt", "is empty"]),
        case("zero-based graphs", "graph_indicator", "0\n0\n0\n1\n1\n1\n1\n2\n2\n", &["MINI_graph_indicator.txt:1:", "graph id 0", "from 1 to 3", "MINI_graph_labels.txt"]),
        case("a graph without a label", "graph_indicator", "1\n1\n1\n2\n2\n2\n2\n3\n4\n", &["MINI_graph_indicator.txt:9:", "graph id 4", "1 to 3"]),
        case("nodes out of order", "graph_indicator", "1\n1\n1\n2\n1\n2\n2\n3\n3\n", &["MINI_graph_indicator.txt:5:", "graph id 1 comes after 2", "Sort the nodes"]),
        case("a graph without nodes in the middle", "graph_indicator", "1\n1\n1\n3\n3\n3\n3\n3\n3\n", &["MINI_graph_indicator.txt:4:", "graph 2 has no nodes", "Remove the graph"]),
        case("a first graph without nodes", "graph_indicator", "2\n2\n2\n2\n2\n2\n2\n3\n3\n", &["MINI_graph_indicator.txt:1:", "graph 1 has no nodes"]),
        case("a last graph without nodes", "graph_indicator", "1\n1\n1\n2\n2\n2\n2\n2\n2\n", &["MINI_graph_indicator.txt:9:", "graph 3 has no nodes"]),
        case("a graph id of text", "graph_indicator", "1\nb\n", &["MINI_graph_indicator.txt:2:", "graph id `b`", "not an integer"]),
        case("a blank node", "graph_indicator", "1\n1\n\n1\n2\n", &["MINI_graph_indicator.txt:3:", "blank", "other nodes"]),
        case("too few nodes", "graph_indicator", "1\n1\n1\n2\n2\n2\n3\n3\n", &["MINI_node_labels.txt", "has 9 lines, but must have 8, one per node", "MINI_graph_indicator.txt"]),
        // Classes.
        case("no classes", "graph_labels", "\n", &["MINI_graph_labels.txt", "is empty"]),
        case("one class", "graph_labels", "1\n1\n1\n", &["MINI_graph_labels.txt", "all 3 graphs have the label 1", "At least two classes"]),
        case("a regression target", "graph_labels", "1\n0.25\n1\n", &["MINI_graph_labels.txt:2:", "class `0.25`", "regression"]),
        case("several labels per graph", "graph_labels", "1, 0\n0, 1\n1, 1\n", &["MINI_graph_labels.txt:1:", "2 value(s)", "1: class"]),
        case("too many classes", "graph_labels", "1\n-1\n1\n1\n", &["MINI_graph_indicator.txt:9:", "graph 4 has no nodes"]),
        // Node labels and attributes.
        case("a node label too few", "node_labels", "1\n2\n5\n1\n2\n5\n1\n2\n", &["MINI_node_labels.txt", "has 8 lines, but must have 9, one per node", "Fetch both"]),
        case("a node label of text", "node_labels", "1\n2\nC\n1\n2\n5\n1\n2\n5\n", &["MINI_node_labels.txt:3:", "node label `C`", "not an integer"]),
        case("a real node label", "node_labels", "1\n2\n0.5\n1\n2\n5\n1\n2\n5\n", &["MINI_node_labels.txt:3:", "`0.5`", "belong in `_node_attributes.txt`"]),
        case("two labels per node, in some lines", "node_labels", "1, 1\n2\n", &["MINI_node_labels.txt:2:", "1 value(s) in `2`", "2, as in the first line"]),
        case("node labels far apart", "node_labels", "1\n2\n5\n1\n2\n4000000000\n1\n2\n5\n", &["MINI_node_labels.txt", "from 1 to 4000000000", "4000000000 columns", "at most 10000", "Renumber"]),
        case("node labels at the ends of 64 bits", "node_labels", "-9223372036854775808\n9223372036854775807\n5\n1\n2\n4\n1\n2\n5\n", &["MINI_node_labels.txt", "18446744073709551615 columns"]),
        case("an attribute too few", "node_attributes", "1, 2\n1, 2\n1\n", &["MINI_node_attributes.txt:3:", "1 value(s)", "2, as in the first line"]),
        case("an attribute of text", "node_attributes", "1, 2\n1, x\n", &["MINI_node_attributes.txt:2:", "attribute `x`", "not a number"]),
        case("an attribute that is not a number", "node_attributes", "1, 2\nnan, 2\n", &["MINI_node_attributes.txt:2:", "attribute `nan`", "finite"]),
        case("an attribute too large", "node_attributes", "1e39\n", &["MINI_node_attributes.txt:1:", "`1e39`", "finite 32-bit number"]),
        case("an attribute left out", "node_attributes", "1,,2\n", &["MINI_node_attributes.txt:1:", "attribute ``", "is empty"]),
        case("attributes of too few nodes", "node_attributes", "1, 2\n1, 2\n", &["MINI_node_attributes.txt", "has 2 lines, but must have 9, one per node"]),
        case("no attributes", "node_attributes", "", &["MINI_node_attributes.txt", "has 0 lines"]),
        case("very many attributes", "node_attributes", wide, &["MINI_node_attributes.txt", "more than 10000 values per line"]),
        // Edge labels.
        case("an edge label too few", "edge_labels", "0\n0\n0\n", &["MINI_edge_labels.txt", "has 3 lines, but must have 10, one per edge", "MINI_A.txt"]),
        case("an edge label of text", "edge_labels", "0\n0\nsingle\n", &["MINI_edge_labels.txt:3:", "edge label `single`", "not an integer"]),
    ]
}

#[test]
fn bad_folders_are_refused_with_place_value_and_remedy() {
    for case in bad_files() {
        case.check(load(folder(&case.files()).path()));
    }
}

#[test]
fn bad_archives_are_refused_like_bad_folders() {
    for case in bad_files() {
        let dir = tempfile::tempdir().unwrap();
        let files: Vec<_> = case
            .files()
            .into_iter()
            .map(|(name, content)| (format!("MINI/{name}"), content))
            .collect();
        for (name, bytes) in [
            ("mini.tar", tar(&files)),
            ("mini.tar.gz", gzip(&tar(&files))),
            ("mini.zip", zip(&files)),
        ] {
            let path = dir.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            case.check(load(&path));
        }
    }
}

#[test]
fn there_are_enough_cases_to_call_it_a_table() {
    assert!(bad_files().len() >= 50);
}

#[test]
fn an_archive_is_named_like_a_folder_in_errors() {
    let case = case(
        "zero",
        "A",
        edges(1, "0, 1"),
        &["mini.zip/MINI/MINI_A.txt:1:", "mini.zip/MINI/MINI_graph_indicator.txt"],
    );
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mini.zip");
    let files: Vec<_> = case
        .files()
        .into_iter()
        .map(|(name, content)| (format!("MINI/{name}"), content))
        .collect();
    std::fs::write(&path, zip(&files)).unwrap();
    case.check(load(&path));
}

#[test]
fn folders_that_are_not_one_data_set_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    check(
        "nowhere",
        &["nowhere", "no such file", "Check the path"],
        load(&dir.path().join("nowhere")),
    );
    check("an empty folder", &["no file that ends in `_A.txt`"], load(dir.path()));

    let mut files = case("none", "none", "", &[]).files();
    files.push(("OTHER_A.txt".into(), b"1, 2\n2, 1\n".to_vec()));
    check(
        "two data sets",
        &["several data sets: MINI, OTHER", "Keep each"],
        load(folder(&files).path()),
    );

    files.pop();
    files.push(("MINI_A.txt.gz".into(), gzip(b"1, 2\n2, 1\n")));
    check(
        "plain and gzipped",
        &["MINI_A.txt", "exists twice", "Remove one"],
        load(folder(&files).path()),
    );
}

#[test]
fn files_that_are_not_archives_are_refused() {
    let good: Vec<_> = case("none", "none", "", &[]).files();
    let tarred = tar(&good);
    let gzipped = gzip(&tarred);
    let zipped = zip(&good);
    let mut damaged = gzipped.clone();
    let checksum = damaged.len() - 6;
    damaged[checksum] ^= 1;
    let twice = [good.clone(), vec![("more/MINI_A.txt".to_string(), b"1, 2\n".to_vec())]].concat();
    let bomb = gzip(&tar(&[("MINI_A.txt".to_string(), vec![b'\n'; 80 << 20])]));
    #[rustfmt::skip]
    let cases: Vec<(&str, Vec<u8>, &[&str])> = vec![
        ("an empty file", vec![], &["is an empty file", "Name a folder"]),
        ("a file of edges", b"1, 2\n2, 1\n".to_vec(), &["is not an archive (it begins with `1, 2"]),
        ("an error page", b"<html>".to_vec(), &["web page"]),
        ("a gzipped file that is no archive", gzip(b"1, 2\n2, 1\n"), &["the archive"]),
        ("a truncated tar", tarred[..tarred.len() / 2].to_vec(), &["truncated", "again"]),
        ("a truncated tar.gz", gzipped[..gzipped.len() / 2].to_vec(), &["truncated", "again"]),
        ("a damaged tar.gz", damaged, &["cannot be read", "again"]),
        ("a truncated zip", zipped[..zipped.len() / 2].to_vec(), &["truncated", "again"]),
        ("a file in two folders", tar(&twice), &["MINI_A.txt", "exists twice"]),
        ("a bomb", bomb, &["bomb"]),
    ];
    for (what, bytes, words) in cases {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("graphs.bin");
        std::fs::write(&path, bytes).unwrap();
        check(what, &[words, &["graphs.bin"]].concat(), load(&path));
    }
}

#[test]
fn a_link_in_an_archive_is_refused() {
    let mut builder = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_ustar();
    header.set_entry_type(tar::EntryType::Symlink);
    header.set_size(0);
    builder.append_link(&mut header, "MINI_A.txt", "/etc/passwd").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("links.tar");
    std::fs::write(&path, builder.into_inner().unwrap()).unwrap();
    check("a link", &["links.tar/MINI_A.txt", "is a link", "--dereference"], load(&path));
}

#[cfg(unix)]
#[test]
fn a_device_in_a_folder_is_refused() {
    let dir = folder(&case("none", "graph_labels", "", &[]).files());
    let labels = dir.path().join("MINI_graph_labels.txt");
    std::fs::remove_file(&labels).unwrap();
    std::os::unix::fs::symlink("/dev/zero", labels).unwrap();
    check("a device", &["MINI_graph_labels.txt", "is a device"], load(dir.path()));
}

#[test]
fn features_that_the_graphs_lack_are_named_with_a_remedy() {
    let dir = folder(&without("node_labels", &[]).files());
    let with = |features, node_attributes| GraphOptions {
        features,
        node_attributes,
        symmetrise: false,
    };
    let load = |options| load_graphs("mini", dir.path(), &options);
    check(
        "no labels",
        &["`mini` has no node labels", "`features = \"degree\"`"],
        load(with(NodeFeatures::Labels, false)),
    );
    std::fs::remove_file(dir.path().join("MINI_node_attributes.txt")).unwrap();
    check(
        "no attributes",
        &["`mini` has no node attributes", "node_attributes = false"],
        load(with(NodeFeatures::Auto, true)),
    );
}

/// Changes a few bytes: other digits, separators, comments and line breaks, or anything, and lines that are missing or doubled.
fn mutate(bytes: &mut Vec<u8>, rng: &mut Xoshiro256PlusPlus) {
    for _ in 0..rng.random_range(1..4) {
        let place = rng.random_range(0..bytes.len().max(1)).min(bytes.len());
        let end = (place + rng.random_range(1..12)).min(bytes.len());
        match rng.random_range(0..5) {
            0 if place < end => bytes[place] = b"0123456789,-\n e.;\t#\r"[rng.random_range(0..20)],
            1 if place < end => bytes[place] = rng.random(),
            2 => drop(bytes.drain(place..end)),
            3 => drop(bytes.splice(place..place, bytes[place..end].to_vec())),
            _ => bytes.truncate(end),
        }
    }
}

#[test]
fn mutated_files_and_archives_are_read_or_refused_but_never_panic() {
    let dir = tempfile::tempdir().unwrap();
    let (mut read, mut refused) = (0, 0);
    for case in 0..3000 {
        let mut rng = Seed(case).rng();
        let mut files = mini();
        if case % 3 == 0 {
            files.retain(|(name, _)| name != "MINI_graph_labels.txt");
        }
        if case % 5 == 0 {
            for (_, content) in &mut files {
                content.iter_mut().filter(|byte| **byte == b',').for_each(|byte| *byte = b' ');
            }
        }
        if case % 7 == 0 {
            files[3].1 = b"1 2\n0 1.0\n0 1\n".repeat(3);
        }
        let whole = case % 4;
        if whole == 0 {
            let file = rng.random_range(0..files.len());
            mutate(&mut files[file].1, &mut rng);
        }
        let mut bytes = match whole {
            0 | 1 => tar(&files),
            2 => gzip(&tar(&files)),
            _ => zip(&files),
        };
        if whole > 0 {
            mutate(&mut bytes, &mut rng);
        }
        let path = dir.path().join("mutated");
        std::fs::write(&path, bytes).unwrap();
        match load_graphs("mutated", &path, &GraphOptions::default()) {
            Ok(data) => {
                read += 1;
                data.batch(&data.shuffled(Seed(0)));
            }
            Err(_) => refused += 1,
        }
    }
    assert!(read > 100 && refused > 1000, "{read} {refused}");
}
