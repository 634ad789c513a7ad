//! Data sets of graphs as people have them: read as meant, or refused with the line and a remedy that works.

mod graphs_support;

use bcl_data::graphs::{GraphData, GraphOptions, GraphReport, NodeFeatures, load_graphs, load_graphs_with_report};
use graphs_support::{MINI, folder, gzip, mini, zip};
use std::path::Path;

type Files = Vec<(String, Vec<u8>)>;

fn load(path: &Path) -> Result<(GraphData, GraphReport), String> {
    load_graphs_with_report("mini", path, &GraphOptions::default()).map_err(|error| error.to_string())
}

fn read(files: &[(String, Vec<u8>)]) -> GraphData {
    load(folder(files).path()).unwrap_or_else(|error| panic!("{error}")).0
}

/// The files of the small data set with one of them replaced or added; `None` removes it.
fn with(part: &str, content: Option<&str>) -> Files {
    let name = format!("MINI_{part}.txt");
    let mut files = mini();
    files.retain(|(other, _)| *other != name);
    files.extend(content.map(|content| (name, content.as_bytes().to_vec())));
    files
}

/// All files of the small data set, changed in the same way.
fn all(change: impl Fn(&str) -> String) -> Files {
    MINI.map(|(part, text)| (format!("MINI_{part}.txt"), change(text).into_bytes()))
        .into()
}

/// Every integer with a decimal point behind it.
fn floats(text: &str, suffix: &str) -> String {
    let float = |value: &str| match value.trim().parse::<i64>() {
        Ok(integer) => format!("{integer}{suffix}"),
        Err(_) => value.to_owned(),
    };
    let line = |line: &str| line.split(',').map(float).collect::<Vec<_>>().join(",") + "\n";
    text.lines().map(line).collect()
}

#[test]
fn files_written_in_other_ways_are_read_as_meant() {
    let plain = read(&mini());
    let ways: [(&str, Files); 15] = [
        ("blanks", all(|text| text.replace(',', " "))),
        (
            "aligned with blanks",
            all(|text| text.replace(',', "   ").replace('\n', "  \n")),
        ),
        ("tabs", all(|text| text.replace(',', "\t"))),
        ("semicolons", all(|text| text.replace(',', ";"))),
        ("commas without blanks", all(|text| text.replace(", ", ","))),
        ("trailing commas", all(|text| text.replace('\n', ",\n"))),
        (
            "trailing semicolons",
            all(|text| text.replace(',', ";").replace('\n', "; \n")),
        ),
        ("trailing tabs", all(|text| text.replace(',', "\t").replace('\n', "\t\r\n"))),
        ("floats", all(|text| floats(text, ".0"))),
        (
            "floats as NumPy writes them",
            all(|text| floats(text, ".000000000000000000e+00")),
        ),
        ("comments", all(|text| format!("# Made by hand.\n% Twice.\n{text}"))),
        (
            "a mark, comments and blank lines",
            all(|text| format!("\u{feff}#\r\n{}\r\n \n\n", text.replace('\n', "\r\n"))),
        ),
        (
            "marks within",
            all(|text| text.replace('\n', "\n\u{feff}").trim_end_matches('\u{feff}').to_owned()),
        ),
        ("no line end", all(|text| text.trim_end().to_owned())),
        (
            "gzipped",
            mini()
                .into_iter()
                .map(|(name, content)| (format!("{name}.gz"), gzip(&content)))
                .collect(),
        ),
    ];
    for (way, files) in ways {
        match load(folder(&files).path()) {
            Ok((data, report)) => {
                assert_eq!(data, plain, "{way}");
                assert!(report.notes(&data).is_empty(), "{way}");
            }
            Err(error) => panic!("{way}: {error}"),
        }
    }
}

#[test]
fn graphs_without_labels_are_read_without_classes() {
    let plain = read(&mini());
    let data = read(&with("graph_labels", None));
    assert_eq!(data.node_offsets(), plain.node_offsets());
    assert_eq!((data.num_graphs(), data.num_classes(), data.is_labelled()), (3, 0, false));
    assert!(data.labels().is_empty() && data.graph(2).class().is_none());
    let batch = data.batch(&[2, 0]);
    assert_eq!((batch.num_graphs(), batch.labels.len()), (2, 0));
    assert_eq!(batch.features, plain.batch(&[2, 0]).features);
}

#[test]
fn several_labels_per_node_are_one_hot_each_and_one_label_together() {
    let labels = "2, 0\n3, 0\n6, 7\n2, 0\n3, 0\n6, 7\n2, 9\n3, 0\n6, 7\n";
    let data = read(&with("node_labels", Some(labels)));
    // Labels 2 to 6, then 0 to 9.
    assert_eq!(data.num_features(), 5 + 10);
    let columns = |node: u32| -> Vec<usize> {
        let row = data.graph(1).features(node);
        (0..row.len()).filter(|&column| row[column] == 1.0).collect()
    };
    assert_eq!([0, 1, 2, 3].map(columns), [[0, 5], [1, 5], [4, 12], [0, 14]]);
    // The combinations (2, 0), (2, 9), (3, 0) and (6, 7).
    assert_eq!(data.node_labels().unwrap(), [0, 2, 3, 0, 2, 3, 1, 2, 3]);
    let degrees = data.with_features(NodeFeatures::Degree, false).unwrap();
    assert_eq!(degrees.num_features(), 3);

    let edges = MINI[0].1.lines().map(|_| "1; 5\n").collect::<String>().replacen('5', "4", 1);
    let data = read(&with("edge_labels", Some(&edges)));
    assert_eq!(data.edge_labels().unwrap(), [0, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
}

#[test]
fn what_is_left_out_is_counted_and_said() {
    let mut files = with("A", Some("1, 2\n2, 1\n2, 2\n2, 1\n4, 5\n5, 4\n5, 6\n6, 5\n7, 6\n6, 7\n"));
    files.push(("MINI_edge_attributes.txt".into(), b"1\n".to_vec()));
    files.push(("MINI_A.txt.bak".into(), b"1, 2\n".to_vec()));
    files.push(("MINI_readme.txt".into(), b"Words.".to_vec()));
    let (data, report) = load(folder(&files).path()).unwrap();
    assert_eq!(
        report.notes(&data),
        [
            "1 of 10 edges left out: they join a node with itself",
            "1 of 10 edges left out: they repeat another",
            "1 of 3 graphs have no edges",
            "not read: MINI_A.txt.bak, MINI_edge_attributes.txt",
        ]
    );
}

/// `number` graphs, each a path of `size` nodes, whose ids start anew in each graph.
fn numbered_anew(sizes: &[usize], edges: impl Fn(usize, usize) -> String) -> Files {
    let mut files = [("A", String::new()), ("graph_indicator", String::new())];
    for (graph, &size) in sizes.iter().enumerate() {
        files[0].1 += &edges(graph, size);
        files[1].1 += &format!("{}\n", graph + 1).repeat(size);
    }
    files
        .map(|(part, text)| (format!("MINI_{part}.txt"), text.into_bytes()))
        .into()
}

/// A path through the nodes from `first`, in both directions.
fn path(first: usize, size: usize) -> String {
    let edge = |node| format!("{node} {}\n{} {node}\n", node + 1, node + 1);
    (first..first + size - 1).map(edge).collect()
}

#[test]
fn ids_that_start_anew_in_each_graph_are_noticed() {
    const REMEDY: &str = "Number them through: add to the ids of a graph the number of nodes of all graphs before it";
    let anew = |_, size| path(1, size);
    let cases: [(&str, Files, &str); 5] = [
        (
            "equal sizes",
            numbered_anew(&[5; 8], anew),
            "MINI_A.txt:9: the edge `1, 2` is the same as in line 1, but 7 of 8 graphs have no edge",
        ),
        ("two graphs", numbered_anew(&[5, 5], anew), "MINI_A.txt:9:"),
        (
            "different sizes",
            numbered_anew(&[3, 5, 4], anew),
            "MINI_A.txt:9: the edge joins node 3 of graph 1 with node 4 of graph 2",
        ),
        (
            "the largest first",
            numbered_anew(&[6, 5, 4], anew),
            "MINI_A.txt:11: the edge `1, 2` is the same as in line 1",
        ),
        (
            "other edges in each",
            numbered_anew(&[6; 4], |graph, _| path(graph + 1, 2)),
            "MINI_A.txt: 3 of 4 graphs have no edge",
        ),
    ];
    for (what, files, words) in cases {
        let error = load(folder(&files).path()).map(drop).unwrap_err();
        assert!(error.contains(words) && error.contains(REMEDY), "{what}: {error}");
    }
    // The remedy, followed.
    let data = read(&numbered_anew(&[5; 8], |graph, size| path(5 * graph + 1, size)));
    assert_eq!((data.num_graphs(), data.num_edges()), (8, 32));
    // Graphs without edges are not ids that start anew.
    for sizes in [&[5, 5, 5][..], &[5, 1, 1, 1], &[5, 2]] {
        let files = numbered_anew(sizes, |graph, size| {
            if graph == 0 || sizes.len() == 3 && graph == 2 {
                path(5 * graph + 1, size)
            } else {
                String::new()
            }
        });
        read(&files);
    }
}

/// A line that is refused, with words of the error.
#[rustfmt::skip]
fn refused() -> Vec<(&'static str, &'static str, Vec<u8>, &'static [&'static str])> {
    let utf16: Vec<u8> = MINI[0].1.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked = [b"\xff\xfe".to_vec(), utf16.clone()].concat();
    let text = |text: &str| text.as_bytes().to_vec();
    vec![
        ("bzip2", "A.txt", text("BZh91AY&SY..."), &["MINI_A.txt: is packed with bzip2. Unpack it with `bunzip2`", "the text belongs in `MINI_A.txt`"]),
        ("bzip2 by name", "A.txt.bz2", text("BZh91AY&SY..."), &["MINI_A.txt.bz2: is packed with bzip2", "the text belongs in `MINI_A.txt`"]),
        ("xz by name", "node_labels.txt.xz", b"\xfd7zXZ\0".to_vec(), &["MINI_node_labels.txt.xz: is packed with xz", "`unxz`", "`MINI_node_labels.txt`"]),
        ("a pointer", "graph_labels.txt", text("version https://git-lfs.github.com/spec/v1\n"), &["MINI_graph_labels.txt: is only a pointer of Git LFS", "git lfs pull"]),
        ("a workbook", "graph_indicator.txt", text("PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x13\0\0\0[Content_Types].xml"), &["MINI_graph_indicator.txt: is an Excel workbook (.xlsx). Write it as text, with one row per line"]),
        ("an array", "node_attributes.txt", b"\x93NUMPY\x01\0".to_vec(), &["MINI_node_attributes.txt: is a NumPy array (.npy). Write it as text"]),
        ("UTF-16", "A.txt", utf16, &["MINI_A.txt: is text in UTF-16 without a byte order mark", "`iconv -f UTF-16LE -t UTF-8"]),
        ("UTF-16 with its mark", "edge_labels.txt", marked, &["MINI_edge_labels.txt: is text in UTF-16. ", "`iconv -f UTF-16 -t UTF-8"]),
        ("UTF-16 in gzip", "A.txt.gz", gzip(b"\xff\xfe1\0,\0"), &["MINI_A.txt.gz: is text in UTF-16", "the text belongs in `MINI_A.txt`"]),
        ("CSV", "A.csv", text(MINI[0].1), &["MINI_A.csv: is not read under this name. Call it `MINI_A.txt`"]),
        ("CSV of labels", "graph_labels.csv", text("1\n2\n1\n"), &["MINI_graph_labels.csv: is not read under this name. Call it `MINI_graph_labels.txt`, or remove it"]),
        ("old Macs", "A.txt", text("1, 2\r2, 1\r"), &["MINI_A.txt:1: the line contains carriage returns", "tr '\\r' '\\n' < OLD > NEW"]),
        ("labels of old Macs", "node_labels.txt", text("1\r2\r1"), &["MINI_node_labels.txt:1:", "carriage returns"]),
        ("attributes of old Macs, without end", "node_attributes.txt", b"0.5 1\r".repeat(1 << 18), &["MINI_node_attributes.txt:1:", "carriage returns"]),
        ("a header", "A.txt", text("source target\n1 2\n"), &["MINI_A.txt:1: row `source` is not an integer. Delete the line if it is a header"]),
        ("a header of attributes", "node_attributes.txt", text("x,y\n1,2\n"), &["MINI_node_attributes.txt:1: attribute `x` is not a number. Delete the line if it is a header"]),
        ("a header below comments", "graph_labels.txt", text("# Classes.\nclass\n1\n2\n1\n"), &["MINI_graph_labels.txt:2: class `class`", "Delete the line if it is a header"]),
        ("an error below comments", "A.txt", text(&format!("# Edges.\n{}", MINI[0].1.replace("9, 8", "9, 99"))), &["MINI_A.txt:11: column is node 99"]),
        ("a comment within", "node_labels.txt", text("1\n2\n# 3\n4\n"), &["MINI_node_labels.txt:3: the line is a comment, which may only stand at the top. Delete it"]),
        ("decimal commas", "node_attributes.txt", text("0,5; 1,5\n"), &["MINI_node_attributes.txt:1: attribute `0,5` is not a number", "decimals have a point"]),
        ("decimal commas between tabs", "node_attributes.txt", text("1\t2\n0,5\t1,5\n"), &["MINI_node_attributes.txt:2: attribute `5\\t1` is not a number. Correct it; decimals have a point"]),
        ("a missing value between tabs", "node_attributes.txt", text("1\t\t2\n"), &["MINI_node_attributes.txt:1: attribute `` is empty"]),
        ("weights", "A.txt", text("1 2 0.5\n"), &["MINI_A.txt:1: 3 value(s) in `1 2 0.5`", "Keep the two nodes"]),
        ("several classes", "graph_labels.txt", text("1 0\n0 1\n1 1\n"), &["MINI_graph_labels.txt:1: 2 value(s)", "Keep the class to evaluate with, or remove the file to train without evaluation"]),
        ("a target of regression", "graph_labels.txt", text("1.0\n0.5\n2.0\n"), &["MINI_graph_labels.txt:2: class `0.5` is not an integer", "remove the file to train without evaluation"]),
        ("one class", "graph_labels.txt", text("2\n2.0\n2\n"), &["MINI_graph_labels.txt: all 3 graphs have the label 2", "or remove it to train without evaluation"]),
        ("a line of labels too many", "node_labels.txt", text("0, 0\n1, 2\n").repeat(5), &["MINI_node_labels.txt", "10 lines, but must have 9"]),
        ("too wide labels in the second column", "node_labels.txt", [text("0, 20000\n"), text("1, 0\n").repeat(8)].concat(), &["MINI_node_labels.txt: node labels go from 0 to 20000 in column 2, which makes 20003 columns"]),
        ("labels in some lines only", "node_labels.txt", text("1 2\n1\n"), &["MINI_node_labels.txt:2: 1 value(s) in `1`, but each line must have 2, as in the first line"]),
        ("graphs numbered from 0", "graph_indicator.txt", text("0\n0\n1\n1\n1\n1\n2\n2\n2\n"), &["MINI_graph_indicator.txt:1: graph id 0", "awk '{print $1 + 1}' OLD > NEW"]),
    ]
}

#[test]
fn what_cannot_be_read_is_refused_with_line_and_remedy() {
    for (what, name, content, words) in refused() {
        let mut files = with(name.split('.').next().unwrap(), None);
        files.push((format!("MINI_{name}"), content));
        let error = load(folder(&files).path()).map(drop).expect_err(what);
        for word in words {
            assert!(error.contains(word), "{what}: `{word}` is not in: {error}");
        }
    }
}

#[test]
fn graphs_without_labels_must_be_numbered_without_a_gap() {
    for (indicator, words) in [
        (
            "0\n0\n0\n1\n1\n1\n1\n2\n2\n",
            "MINI_graph_indicator.txt:1: graph id 0 is out of range: graphs are numbered from 1.",
        ),
        (
            "1\n1\n1\n3\n3\n3\n3\n4\n4\n",
            "MINI_graph_indicator.txt:4: graph 2 has no nodes",
        ),
        (
            "1\n1\n1\n9223372036854775807\n",
            "MINI_graph_indicator.txt:4: graph 2 has no nodes",
        ),
        ("1\n2\n1\n", "MINI_graph_indicator.txt:3: graph id 1 comes after 2"),
        ("-5\n", "MINI_graph_indicator.txt:1: graph id -5"),
    ] {
        let mut files = with("graph_labels", None);
        files.retain(|(name, _)| name != "MINI_graph_indicator.txt");
        files.push(("MINI_graph_indicator.txt".into(), indicator.into()));
        let error = load(folder(&files).path()).map(drop).unwrap_err();
        assert!(error.contains(words), "{indicator}: {error}");
    }
}

#[test]
fn what_is_no_archive_is_named() {
    let array = zip(&[("x.npy".to_owned(), b"\x93NUMPY".to_vec())]);
    let workbook = zip(&[("[Content_Types].xml".to_owned(), b"<x/>".to_vec())]);
    let weights = zip(&[("data/data.pkl".to_owned(), b"\x80\x02".to_vec())]);
    for (name, content, words) in [
        (
            "G.tar.bz2",
            b"BZh91AY&SY".to_vec(),
            "is packed with bzip2. Unpack it with `bunzip2`, or pack it with gzip instead. Name a folder",
        ),
        (
            "G.tar.zst",
            b"\x28\xb5\x2f\xfd".to_vec(),
            "is packed with zstd. Unpack it with `unzstd`",
        ),
        (
            "G.7z",
            b"7z\xbc\xaf\x27\x1c".to_vec(),
            "is a 7-Zip archive. Name a folder, or a .tar",
        ),
        ("G.npz", array, "is a file of NumPy arrays (.npz). Name a folder"),
        ("G.xlsx", workbook, "is an Excel workbook (.xlsx). Name a folder"),
        ("data.pt", weights, "is a file of PyTorch. Name a folder"),
        ("G.pkl", b"\x80\x04\x95".to_vec(), "is a Python pickle. Name a folder"),
        ("G_A.txt", MINI[0].1.into(), "is not an archive (it begins with `1, 2"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, content).unwrap();
        let error = load_graphs("mini", &path, &GraphOptions::default()).unwrap_err().to_string();
        assert!(error.contains(&format!("{name}: {words}")), "{error}");
    }
}
