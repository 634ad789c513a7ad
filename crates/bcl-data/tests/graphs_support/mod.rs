//! A small data set of graphs, and ways to store it.

#![allow(dead_code)] // Each test program uses a part of it.

use flate2::{Compression, write::GzEncoder};
use std::io::{Cursor, Write};
use tempfile::TempDir;

/// Three graphs: a path of three nodes, a path of three with an isolated fourth, and an edge.
pub(crate) const MINI: [(&str, &str); 6] = [
    ("A", "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n5, 6\n6, 5\n8, 9\n9, 8\n"),
    ("graph_indicator", "1\n1\n1\n2\n2\n2\n2\n3\n3\n"),
    ("graph_labels", "1\n-1\n1\n"),
    ("node_labels", "2\n3\n6\n2\n3\n6\n2\n3\n6\n"),
    (
        "node_attributes",
        " 0.5,  1.0\n 1.5,-2.0\n 2.5, 1e3\n 3.5, 4\n 4.5, 5\n 5.5, 6\n 6.5, 7\n 7.5, 8\n 8.5, 9\n",
    ),
    ("edge_labels", "0\n0\n1\n1\n2\n2\n3\n3\n1\n1\n"),
];

/// The files of [`MINI`].
pub(crate) fn mini() -> Vec<(String, Vec<u8>)> {
    MINI.map(|(part, text)| (format!("MINI_{part}.txt"), text.as_bytes().to_vec()))
        .into()
}

/// Writes files into a new folder.
pub(crate) fn folder(files: &[(String, Vec<u8>)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, content) in files {
        std::fs::write(dir.path().join(name), content).unwrap();
    }
    dir
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn tar(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, content) in files {
        let mut header = tar::Header::new_ustar();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, content.as_slice()).unwrap();
    }
    builder.into_inner().unwrap()
}

pub(crate) fn zip(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        writer.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}
