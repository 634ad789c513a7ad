//! Human-readable counts, durations and sizes.

/// Groups digits by thousands: `80,000`.
pub(crate) fn count(value: usize) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Lists ascending numbers, such as seeds, and shortens runs of three or more: `1, 4 to 9`.
pub(crate) fn numbers(ascending: &[u64]) -> String {
    let runs = ascending.chunk_by(|earlier, later| earlier.checked_add(1) == Some(*later));
    let texts: Vec<String> = runs
        .flat_map(|run| match run {
            [first, _, .., last] => vec![format!("{first} to {last}")],
            few => few.iter().map(u64::to_string).collect(),
        })
        .collect();
    texts.join(", ")
}

/// Number of classes of images or graphs: `10 classes`, or `no labels`.
pub(crate) fn classes_in_words(classes: usize) -> String {
    match classes {
        0 => "no labels".to_owned(),
        classes => format!("{} classes", count(classes)),
    }
}

/// Formats seconds as `0.61 s`, `54.2 s`, `3 min 20 s` or `2 h 5 min`.
pub(crate) fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    if seconds < 10.0 {
        format!("{seconds:.2} s")
    } else if whole < 60 {
        format!("{seconds:.1} s")
    } else if whole < 3600 {
        format!("{} min {} s", whole / 60, whole % 60)
    } else {
        format!("{} h {} min", whole / 3600, whole % 3600 / 60)
    }
}

/// Formats bytes as `312 MiB` or `1.5 GiB`.
pub(crate) fn bytes(bytes: u64) -> String {
    let mebibytes = bytes as f64 / f64::from(1 << 20);
    if mebibytes < 1024.0 {
        format!("{mebibytes:.0} MiB")
    } else {
        format!("{:.1} GiB", mebibytes / 1024.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped_by_thousands() {
        assert_eq!([0, 999, 1000, 1_027_370].map(count), ["0", "999", "1,000", "1,027,370"]);
    }

    #[test]
    fn runs_of_three_numbers_or_more_are_shortened() {
        let lists: [&[u64]; 6] = [
            &[],
            &[4],
            &[4, 5],
            &[0, 1, 2],
            &[1, 4, 5, 6, 7, 9, 10],
            &[u64::MAX - 1, u64::MAX],
        ];
        let texts = lists.map(numbers);
        assert_eq!(texts[..5], ["", "4", "4, 5", "0 to 2", "1, 4 to 7, 9, 10"]);
        assert_eq!(texts[5], "18446744073709551614, 18446744073709551615");
    }

    #[test]
    fn durations_keep_three_digits_or_two_units() {
        let texts = [0.614, 9.99, 54.21, 59.7, 200.4, 7530.0].map(duration);
        assert_eq!(texts, ["0.61 s", "9.99 s", "54.2 s", "1 min 0 s", "3 min 20 s", "2 h 5 min"]);
    }

    #[test]
    fn sizes_are_binary() {
        assert_eq!([0, 312 << 20, 1536 << 20].map(bytes), ["0 MiB", "312 MiB", "1.5 GiB"]);
    }
}
