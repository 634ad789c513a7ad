//! Tables for the terminal, with columns as wide as their widest cell.

/// Aligns rows under a header: the first `left` columns to the left, the others, which are numbers, to the right.
pub(crate) fn render(left: usize, header: &[&str], rows: &[Vec<String>]) -> String {
    let header: Vec<String> = header.iter().map(ToString::to_string).collect();
    let width = |column: usize| {
        rows.iter()
            .chain([&header])
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let mut text = String::new();
    for row in [&header].into_iter().chain(rows) {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(column, (cell, &width))| {
                if column < left {
                    format!("{cell:<width$}")
                } else {
                    format!("{cell:>width$}")
                }
            })
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_left_and_numbers_right() {
        let rows = vec![
            vec!["hard".to_owned(), "1".to_owned()],
            vec!["debiased".to_owned(), "10.5".to_owned()],
        ];
        assert_eq!(
            render(1, &["loss", "ms"], &rows),
            "loss        ms\nhard         1\ndebiased  10.5\n"
        );
    }
}
