//! Headers: what columns are called, and whether a line is a header or an interaction, by names and by types.

use super::picker::column_name;

pub(super) const USER_NAMES: &[&str] = &["user", "user_id", "userid", "uid", "u"];
pub(super) const ITEM_NAMES: &[&str] = &[
    "item",
    "item_id",
    "itemid",
    "iid",
    "i",
    "movie_id",
    "movieid",
    "song_id",
    "business_id",
];
pub(super) const RATING_NAMES: &[&str] = &["rating", "ratings", "score", "stars"];
pub(super) const TIMESTAMP_NAMES: &[&str] = &["timestamp", "time", "ts", "date", "datetime", "unixreviewtime", "review_time"];

/// Columns that usually contain 0 and 1. They are not read as ratings unless a recipe says so.
const LABEL_NAMES: &[&str] = &[
    "label",
    "labels",
    "target",
    "click",
    "clicked",
    "clicks",
    "is_click",
    "like",
    "liked",
    "is_like",
    "positive",
    "purchased",
    "is_positive",
    "bought",
    "feedback",
    "y",
];

/// What columns may stand for, without `id` and the like. Such a line is no interaction, but does not say which column is which.
const WORDS: &[&str] = &[
    "account",
    "ad",
    "album",
    "anime",
    "app",
    "article",
    "artist",
    "asin",
    "author",
    "beer",
    "book",
    "brand",
    "business",
    "buyer",
    "category",
    "channel",
    "client",
    "consumer",
    "content",
    "count",
    "course",
    "cust",
    "customer",
    "date",
    "doc",
    "document",
    "event",
    "film",
    "follower",
    "friend",
    "from",
    "game",
    "goods",
    "group",
    "guest",
    "hotel",
    "household",
    "image",
    "index",
    "interaction",
    "isbn",
    "item",
    "joke",
    "label",
    "lesson",
    "listener",
    "location",
    "media",
    "member",
    "merchant",
    "movie",
    "news",
    "node",
    "object",
    "offer",
    "page",
    "paper",
    "patient",
    "person",
    "photo",
    "place",
    "player",
    "playlist",
    "plays",
    "podcast",
    "poi",
    "post",
    "product",
    "profile",
    "purchase",
    "quantity",
    "rater",
    "rating",
    "reader",
    "recipe",
    "restaurant",
    "review",
    "reviewer",
    "score",
    "series",
    "session",
    "shop",
    "shopper",
    "show",
    "sku",
    "song",
    "source",
    "stars",
    "store",
    "story",
    "student",
    "subject",
    "subscriber",
    "tag",
    "target",
    "time",
    "timestamp",
    "title",
    "to",
    "topic",
    "track",
    "tweet",
    "user",
    "usr",
    "value",
    "venue",
    "video",
    "viewer",
    "visitor",
    "weight",
    "wine",
];
const ENDINGS: &[&str] = &[
    "_ids", "_id", "ids", "id", "_no", "_nr", "_number", "_key", "_code", "_name", "_index", "_uuid", "s",
];

/// Following lines that a first line is compared with.
pub(super) const COMPARED: usize = 200;
/// Fewer lines say too little about how ids look.
const LEAST: usize = 3;

/// What the first line of a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FirstLine {
    Header,
    /// Its words, or the way its values look beside those below, are a header's; but they could be ids.
    LikelyHeader,
    Interaction,
}

impl FirstLine {
    /// Judges the fields of the first line by their names, and by the fields of lines after it.
    pub(super) fn of(names: &[&str], rows: &[Vec<&str>]) -> Self {
        let rows = || rows.iter().filter(|row| row.len() == names.len());
        let of_column = |test: fn(&str) -> bool, column: usize| rows().all(|row| test(row[column]));
        let [user, item] = [USER_NAMES, ITEM_NAMES].map(|usual| names.iter().any(|name| is_one_of(usual, name)));
        if user && item {
            return Self::Header;
        }
        if names.iter().any(|name| is_number(name)) {
            return Self::Interaction;
        }
        let numbers = rows().next().is_some() && (0..names.len()).any(|column| of_column(is_number, column));
        if numbers || user || item {
            return Self::Header;
        }
        let words = names.len() > 1 && names.iter().all(|name| is_word(name));
        let unlike = rows().count() >= LEAST
            && names.iter().all(|name| !has_digit(name))
            && (0..names.len()).all(|column| of_column(has_digit, column));
        if words || unlike {
            Self::LikelyHeader
        } else {
            Self::Interaction
        }
    }
}

/// Whether this is a usual name for the column of users or items.
pub(super) fn is_usual_name(field: &str) -> bool {
    [USER_NAMES, ITEM_NAMES].iter().any(|names| is_one_of(names, field))
}

/// Whether a user and an item, in either order, are the names of their columns: a header within the file.
pub(super) fn is_repeated(user: &str, item: &str) -> bool {
    // Called for every line. The first letters of all names, whatever their case, exclude nearly all ids.
    let excluded = |id: &str| {
        !matches!(
            id.as_bytes().first().map(|byte| byte | 0x20),
            Some(b'u' | b'i' | b'm' | b's' | b'b')
        )
    };
    if excluded(user) || excluded(item) {
        return false;
    }
    is_one_of(USER_NAMES, user) && is_one_of(ITEM_NAMES, item) || is_one_of(ITEM_NAMES, user) && is_one_of(USER_NAMES, item)
}

/// What to tell if a header has no rating, but a column that usually says whether a row is a positive.
pub(super) fn unread_label(names: &[&str], has_rating: bool) -> Option<String> {
    let label = names
        .iter()
        .find(|name| is_one_of(LABEL_NAMES, name))
        .filter(|_| !has_rating)?;
    Some(format!(
        "the column `{label}` is not read, so every row counts as a positive. If it marks rows that are none, set \
         `data.columns.rating = \"{label}\"` and `data.min_rating = 1`"
    ))
}

/// Compares without the copy that [`column_name`] makes.
fn is_one_of(names: &[&str], field: &str) -> bool {
    let field = field.split(':').next().unwrap_or_default().trim().as_bytes();
    let same = |(a, b): (&u8, &u8)| *a == b.to_ascii_lowercase() || *a == b'_' && matches!(b, b'-' | b' ');
    names
        .iter()
        .any(|name| name.len() == field.len() && name.bytes().zip(field).all(|(a, b)| same((&a, b))))
}

fn is_word(field: &str) -> bool {
    let name = column_name(field);
    let name = name.strip_prefix("id_").unwrap_or(&name);
    let plain = ENDINGS.iter().filter_map(|ending| name.strip_suffix(ending));
    std::iter::once(name)
        .chain(plain)
        .any(|name| WORDS.contains(&name.trim_end_matches('_')))
}

pub(super) fn is_number(field: &str) -> bool {
    field.parse::<f64>().is_ok()
}

fn has_digit(field: &str) -> bool {
    field.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(text: &str) -> FirstLine {
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
        FirstLine::of(&rows[0], &rows[1..])
    }

    #[test]
    fn first_lines_are_judged_by_names_and_types() {
        use FirstLine::{Header, Interaction, LikelyHeader};
        for (text, expected) in [
            ("user,item\nann,tea\n", Header),
            ("item_id:token,User-ID:token,2019\n1,2,3\n", Header),
            ("who,what\n7,8\n", Header),
            ("who,what,when\nann,tea,1\nbob,jam,2\n", Header),
            (",kunde,produkt\n0,ann,tea\n1,bob,jam\n", Header),
            ("user,rating\nann,x\n", Header),
            ("customer,product\nann,tea\n", LikelyHeader),
            ("CustomerID,SKU\nann,tea\n", LikelyHeader),
            ("id_client,isbn\nann,x\n", LikelyHeader),
            ("from,to\na,b\n", LikelyHeader),
            ("kunde,produkt\nc1x,p1x\nc1x,p2x\nc2x,p1x\n", LikelyHeader),
            ("ann,tea\nbob,jam\n", Interaction),
            ("ann,tea\nbob,jam7\neve,jam8\nzoe,jam9\n", Interaction),
            ("ann,1\nbob,2\n", Interaction),
            ("u,5\nv,6\n", Interaction),
            ("0,1\n1,2\n", Interaction),
            ("admin,x1\nuser2,x2\nuser3,x3\nuser4,x4\n", Interaction),
            ("kunde,produkt\nc1x,p1x\n", Interaction),
            ("ann,tea\n", Interaction),
        ] {
            assert_eq!(judge(text), expected, "{text}");
        }
    }

    #[test]
    fn headers_within_a_file_are_noticed_in_either_order() {
        assert!(
            is_repeated("user_id", "item_id")
                && is_repeated("Movie ID", "userId")
                && is_repeated("user_id:token", "item_id:token")
        );
        assert!(
            !is_repeated("u1", "i1") && !is_repeated("user", "user") && !is_repeated("user", "7") && !is_repeated("", "item")
        );
    }

    #[test]
    fn a_label_that_is_not_read_is_told_with_the_keys_that_read_it() {
        let told = unread_label(&["user", "item", "Clicked"], false).unwrap();
        assert!(
            told.contains("`Clicked`") && told.contains("data.columns.rating = \"Clicked\""),
            "{told}"
        );
        assert_eq!(unread_label(&["user", "item", "label"], true), None);
        assert_eq!(unread_label(&["user", "item", "rating"], true), None);
    }
}
