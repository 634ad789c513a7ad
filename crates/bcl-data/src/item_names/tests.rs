//! Files of titles in all formats, and bad ones.

use super::*;

fn read_with(file: &str, content: impl AsRef<[u8]>, columns: &str, items: &[&str]) -> Result<ItemNames, DataError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(file);
    std::fs::write(&path, content).unwrap();
    ItemNames::read(&path, &toml::from_str(columns).unwrap(), &items.iter().collect())
}

/// The titles of the items 1, 2 and 3.
fn titles(file: &str, content: impl AsRef<[u8]>, columns: &str) -> [Option<String>; 3] {
    let names = read_with(file, content, columns, &["1", "2", "3"]).unwrap_or_else(|error| panic!("{file}: {error}"));
    [0, 1, 2].map(|item| names.title(item).map(str::to_owned))
}

fn some(titles: [&str; 2]) -> [Option<String>; 3] {
    let [first, second] = titles.map(|title| Some(title.to_owned()));
    [first, second, None]
}

#[test]
fn every_layout_is_detected() {
    let cases: [(&str, &str); 13] = [
        ("a.csv", "id,title\n2,Tea: green\n1,\"Jam, red\"\n"),
        ("a.csv", "1,\"Jam, red\"\n2,Tea: green\n"),
        ("a.csv", "movieId,title,genres\n1,\"Jam, red\",Sweet|Red\n2,Tea: green,\n"),
        (
            "a.csv",
            "ISBN;Book-Title;Author\n\"1\";\"Jam, red\";\"Ann\"\n\"2\";\"Tea: green\";\"Bob\"\n",
        ),
        ("a.tsv", "title\titem_id\nJam, red\t1\nTea: green\t2\n"),
        (
            "a.item",
            "item_id:token\tmovie_title:token_seq\tclass:token_seq\n1\tJam, red\ta\n2\tTea: green\tb\n",
        ),
        ("u.item", "1|Jam, red|01-Jan-1995||http://x.org/?a,b;c|0\n2|Tea: green||||1\n"),
        ("movies.dat", "1::Jam, red::Sweet|Red\n2::Tea: green::Drinks\n"),
        ("a.txt", "1\tJam, red\n2\tTea: green\n"),
        ("a.txt", "1|Jam, red\n2|Tea: green\n"),
        (
            "a.jsonl",
            "{\"title\": \"Jam, red\", \"id\": 1, \"tags\": [1, {\"a\": 2}]}\n{\"id\": \"2\", \"title\": \"Tea: green\"}\n",
        ),
        (
            "a.txt",
            "{\"item_id\": 1, \"name\": \"Jam, red\"}\n{\"item_id\": 2, \"name\": \"Tea: green\"}\n",
        ),
        ("a.csv", "\u{feff}id,title\r\n1,\"Jam, red\"\r\n\r\n2,Tea: green\r\n"),
    ];
    for (file, content) in cases {
        assert_eq!(
            titles(file, content, ""),
            some(["Jam, red", "Tea: green"]),
            "{file}: {content}"
        );
    }
}

#[test]
fn columns_are_named_or_numbered() {
    let content = "code;label;id\n1;Jam;7\n2;Tea;8\n";
    assert_eq!(titles("a.csv", content, "id = 'code'\ntitle = 'LABEL'"), some(["Jam", "Tea"]));
    assert_eq!(titles("a.csv", content, "id = 'code'\ntitle = 2"), some(["Jam", "Tea"]));
    assert_eq!(titles("a.csv", "Jam,1\nTea,2\n", "id = 2\ntitle = 1"), some(["Jam", "Tea"]));
    assert_eq!(
        titles("a.csv", "title,id\nJam,1\nTea,2\n", "id = 2\ntitle = 1"),
        some(["Jam", "Tea"])
    );
    assert_eq!(
        titles(
            "a.jsonl",
            "{\"code\": 1, \"label\": \"Jam\", \"id\": 2}\n{\"code\": 2, \"label\": \"Tea\"}\n",
            "id = 'code'\ntitle = 'label'"
        ),
        some(["Jam", "Tea"])
    );
}

#[test]
fn latin1_and_utf8_are_read() {
    let latin1 = b"1|Caf\xe9 (1995)|x\n2|Tea|y\n";
    assert_eq!(titles("u.item", latin1, ""), some(["Café (1995)", "Tea"]));
    assert_eq!(
        titles("u.item", "1|Café (1995)|x\n2|Tea|y\n", ""),
        some(["Café (1995)", "Tea"])
    );
    assert_eq!(
        titles("a.csv", b"id,title\n1,\"Caf\xe9, (1995)\"\n2,Tea\n", ""),
        some(["Café, (1995)", "Tea"])
    );
}

#[test]
fn a_backslash_before_a_quote_is_read_as_the_file_means_it() {
    let content = "\"ISBN\";\"Book-Title\"\n\"1\";\"Clara \\\"Cal\\\" Callan\"\n\"2\";\"Caf\\\\\"\n";
    assert_eq!(titles("a.csv", content, ""), some(["Clara \"Cal\" Callan", "Caf\\"]));
    // Without such quotes, a backslash is text.
    let content = "\"id\";\"title\"\n\"1\";\"C:\\\"\n\"2\";\"Caf\\\\\"\n";
    assert_eq!(titles("a.csv", content, ""), some(["C:\\", "Caf\\\\"]));
    // Far into the file it is too late to change what the lines before meant.
    let late = "id,title\n".to_owned() + &"3,\"a \"\"b\"\" c\"\n".repeat(6000) + "1,\"Clara \\\"Cal\\\" Callan\"\n";
    let late = late.replace("3,", "");
    let numbered: String = late
        .lines()
        .enumerate()
        .map(|(at, line)| {
            if line.starts_with('"') {
                format!("x{at},{line}\n")
            } else {
                format!("{line}\n")
            }
        })
        .collect();
    let error = read_with("a.csv", numbered, "", &["1"]).unwrap_err().to_string();
    assert!(error.contains("a.csv:6002:") && error.contains("backslash"), "{error}");
}

#[test]
fn an_empty_title_is_none_and_strangers_are_counted() {
    let names = read_with("a.csv", "id,title\n1,\n9,Nothing\n2,Tea\n8,Nobody\n", "", &["1", "2", "3"]).unwrap();
    assert_eq!([names.title(0), names.title(1), names.title(2)], [None, Some("Tea"), None]);
    assert_eq!((names.num_titled(), names.num_untitled(), names.num_unknown()), (1, 2, 2));
}

#[test]
fn quotes_within_the_titles_of_movielens_are_text() {
    let content = "1::\"Great Performances\" Cats::Musical\n2::Tea\"::Drinks\n";
    assert_eq!(
        titles("movies.dat", content, ""),
        some(["\"Great Performances\" Cats", "Tea\""])
    );
}

#[test]
fn bad_files_are_refused_with_line_value_and_remedy() {
    let cases: [(&str, &[u8], &str, &[&str]); 15] = [
        (
            "a.csv",
            b"id,title\n1,Jam\n2,Tea\n1,Jam\n",
            "",
            &["a.csv:4:", "item `1`", "line 2", "Delete"],
        ),
        (
            "a.csv",
            b"id,title\n7,Jam\n8,Tea\n",
            "",
            &["a.csv", "`7`", "look like `1`", "data.item_columns.id"],
        ),
        (
            "a.csv",
            b"id,label\n1,Jam\n",
            "",
            &["a.csv:1:", "no column `title`", "`id`, `label`", "data.item_columns.title ="],
        ),
        (
            "a.csv",
            b"id,title\n1,Jam\n",
            "id = 'code'",
            &["a.csv:1:", "no column `code`", "`id`, `title`", "data.item_columns.id ="],
        ),
        (
            "a.csv",
            b"1,Jam\n",
            "title = 3",
            &["a.csv:1:", "data.item_columns.title is 3", "2 column(s)", "1 to 2"],
        ),
        (
            "a.csv",
            b"id,title\n1,Jam, red\n",
            "",
            &["a.csv:2:", "3 field(s)", "first line has 2", "double quotes"],
        ),
        ("a.csv", b"id,title\n,Jam\n", "", &["a.csv:2:", "id ``", "is empty"]),
        ("a.csv", b"", "", &["a.csv", "no item"]),
        ("a.csv", b"id,title\n", "", &["a.csv", "no item"]),
        (
            "a.txt",
            b"Some text of no use\n",
            "",
            &["a.txt", "`Some text of no use`", "Separate id and title"],
        ),
        ("a.csv", b"1\n2\n", "", &["a.csv", "cannot tell the columns", "`1`"]),
        (
            "a.jsonl",
            b"{\"id\": 1, \"title\": \"Jam\"}\n[2]\n",
            "",
            &["a.jsonl:2:", "`[2]`", "one object per line"],
        ),
        (
            "a.jsonl",
            b"{\"id\": 1, \"label\": \"Jam\"}\n",
            "",
            &["a.jsonl:1:", "no column `title`", "`id`, `label`"],
        ),
        (
            "a.jsonl",
            b"{\"id\": 1, \"title\": [2]}\n",
            "",
            &["a.jsonl:1:", "title ``", "not text or a number"],
        ),
        (
            "a.csv",
            b"\xff\xfei\0d\0,\0t\0\n\0",
            "",
            &["a.csv", "UTF-16", "iconv -f UTF-16"],
        ),
    ];
    for (file, content, columns, words) in cases {
        let error = read_with(file, content, columns, &["1", "2"]).unwrap_err().to_string();
        for word in words {
            assert!(error.contains(word), "{file}: `{word}` is not in: {error}");
        }
    }
    let numbered = read_with("a.jsonl", "{\"id\": 1, \"title\": \"Jam\"}\n", "id = 1", &["1"]);
    let error = numbered.unwrap_err().to_string();
    assert!(
        error.contains("a.jsonl:1: data.item_columns.id is 1") && error.contains("Set it to the name"),
        "{error}"
    );
}
