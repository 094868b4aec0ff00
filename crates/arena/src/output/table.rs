//! Tables for people: plain columns without frames, every cell safe for a terminal.

use comfy_table::{ContentArrangement, Table, presets};

use crate::output::escape::printable;

/// Lays `rows` out under `head`. Cells are escaped here, so callers pass text as it is.
pub(crate) fn columns(head: &[&str], rows: &[Vec<String>]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(head.iter().map(|cell| cell.to_uppercase()));
    for row in rows {
        table.add_row(row.iter().map(|cell| printable(cell)));
    }
    let last = head.len().saturating_sub(1);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, if index == last { 0 } else { 2 }));
    }
    let mut out = String::new();
    for line in table.to_string().lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_hide_nothing() {
        let rows =
            vec![vec!["alpha".to_owned(), "1\u{1b}".to_owned()], vec!["b".to_owned(), "22".to_owned()]];
        assert_eq!(columns(&["nickname", "n"], &rows), "NICKNAME  N\nalpha     1\\u{1b}\nb         22\n");
    }
}
