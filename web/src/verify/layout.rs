//! A text with marks, cut down to what a page can show.
//!
//! A short text is shown as a whole. Of a long one only the lines around the marks are, and of a long line only what
//! is around its marks: a document may be one line of four megabytes.

use std::collections::BTreeMap;
use std::ops::Range;

use super::place::Place;

/// Lines up to which a text is shown as a whole.
const WHOLE_LINES: usize = 400;

/// Lines shown before and after a mark in a longer one.
const LINES_AROUND: usize = 3;

/// Bytes up to which a line is shown as a whole.
const WHOLE_LINE_BYTES: usize = 600;

/// Bytes shown before and after a mark in a longer one.
const BYTES_AROUND: usize = 80;

/// The most marks: whoever has more to mend begins with these.
pub(crate) const MOST_MARKS: usize = 200;

/// A marked place, and which of the places given it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Bytes
    pub(crate) place: Place,
    /// From 1
    pub(crate) line: usize,
    /// Code points, from 1
    pub(crate) column: usize,
}

/// A row of the text as shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Row {
    /// A line, or parts of it
    Line {
        /// From 1
        number: usize,
        /// What is shown of it
        parts: Vec<Part>,
    },
    /// Lines that are left out
    Gap {
        /// How many
        lines: usize,
    },
}

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// Plain text
    Text(String),
    /// The text of a mark
    Mark {
        /// What is marked, as far as it is shown
        text: String,
        /// Which mark
        mark: usize,
    },
    /// Characters that are left out
    Cut {
        /// How many
        characters: usize,
    },
}

/// A text with its marks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Layout {
    /// The marks in the order of the text
    pub(crate) marks: Vec<Mark>,
    /// For each place given, its mark; equal places share one, and those beyond [`MOST_MARKS`] have none
    pub(crate) mark_of: Vec<Option<usize>>,
    /// What to show
    pub(crate) rows: Vec<Row>,
}

/// Lays out a text with marks at `places`, which are equal or apart.
pub(crate) fn lay_out(text: &str, places: &[Place]) -> Layout {
    let lines = line_starts(text);
    let mut order: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for place in places {
        if order.len() < MOST_MARKS {
            order.insert((place.start, place.end), 0);
        }
    }
    let mut marks = Vec::with_capacity(order.len());
    for ((start, end), index) in &mut order {
        *index = marks.len();
        marks.push(mark(text, &lines, *start..*end));
    }
    let mark_of = places.iter().map(|place| order.get(&(place.start, place.end)).copied()).collect();
    let rows = rows(text, &lines, &marks);
    Layout { marks, mark_of, rows }
}

fn mark(text: &str, lines: &[usize], place: Place) -> Mark {
    let line = lines.partition_point(|start| *start <= place.start);
    let start = lines.get(line.saturating_sub(1)).copied().unwrap_or_default();
    let column = text[start..place.start].chars().count() + 1;
    Mark { place, line, column }
}

/// Where each line begins.
fn line_starts(text: &str) -> Vec<usize> {
    let body = text.strip_suffix('\n').unwrap_or(text);
    std::iter::once(0).chain(body.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

fn rows(text: &str, lines: &[usize], marks: &[Mark]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut next = 1;
    for shown in shown_lines(lines.len(), marks) {
        if shown.start > next {
            rows.push(Row::Gap { lines: shown.start - next });
        }
        next = shown.end;
        for number in shown {
            let start = lines[number - 1];
            let end = lines.get(number).map_or(text.len(), |next| next - 1);
            let line = text[start..end].trim_end_matches(['\r', '\n']);
            rows.push(Row::Line { number, parts: parts(line, start, number, marks) });
        }
    }
    if next <= lines.len() {
        rows.push(Row::Gap { lines: lines.len() + 1 - next });
    }
    rows
}

/// The lines to show, from 1, in stretches that are apart.
fn shown_lines(count: usize, marks: &[Mark]) -> Vec<Range<usize>> {
    if count <= WHOLE_LINES {
        return std::iter::once(1..count + 1).collect();
    }
    let around = |line: usize| line.saturating_sub(LINES_AROUND).max(1)..(line + LINES_AROUND + 1).min(count + 1);
    let beginning = around(1);
    let stretches = std::iter::once(beginning).chain(marks.iter().map(|mark| around(mark.line)));
    joined(stretches)
}

/// Stretches in order of their start, those that touch made one.
fn joined(stretches: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut apart: Vec<Range<usize>> = Vec::new();
    for stretch in stretches {
        match apart.last_mut() {
            Some(last) if stretch.start <= last.end => last.end = last.end.max(stretch.end),
            _ => apart.push(stretch),
        }
    }
    apart
}

/// The parts of the line `number`, which begins `offset` bytes into the text.
fn parts(line: &str, offset: usize, number: usize, marks: &[Mark]) -> Vec<Part> {
    let first = marks.partition_point(|mark| mark.line < number);
    let of_line: Vec<(usize, Place)> = (first..)
        .zip(&marks[first..])
        .take_while(|(_, mark)| mark.line == number)
        .map(|(index, mark)| {
            let end = mark.place.end.saturating_sub(offset).min(line.len());
            (index, (mark.place.start - offset).min(end)..end)
        })
        .collect();
    let mut parts = Vec::new();
    let mut at = 0;
    for shown in shown_bytes(line, &of_line) {
        push_cut(line, at..shown.start, &mut parts);
        at = shown.start;
        for (mark, place) in of_line.iter().filter(|(_, place)| shown.start <= place.start && place.end <= shown.end) {
            push_text(&line[at..place.start], &mut parts);
            push_mark(line, place, *mark, &mut parts);
            at = place.end;
        }
        push_text(&line[at..shown.end], &mut parts);
        at = shown.end;
    }
    push_cut(line, at..line.len(), &mut parts);
    parts
}

/// What to show of a line, in stretches that are apart. No mark is in two of them.
fn shown_bytes(line: &str, marks: &[(usize, Place)]) -> Vec<Range<usize>> {
    if line.len() <= WHOLE_LINE_BYTES {
        return std::iter::once(0..line.len()).collect();
    }
    let around = |place: &Place| {
        let start = line.floor_char_boundary(place.start.saturating_sub(BYTES_AROUND));
        start..line.ceil_char_boundary((place.end + BYTES_AROUND).min(line.len()))
    };
    let beginning = 0..line.ceil_char_boundary(BYTES_AROUND);
    joined(std::iter::once(beginning).chain(marks.iter().map(|(_, place)| around(place))))
}

fn push_text(text: &str, parts: &mut Vec<Part>) {
    if !text.is_empty() {
        parts.push(Part::Text(text.into()));
    }
}

/// Adds a mark; of a very long value the beginning.
fn push_mark(line: &str, place: &Place, mark: usize, parts: &mut Vec<Part>) {
    let end = line.floor_char_boundary(place.end.min(place.start + WHOLE_LINE_BYTES));
    parts.push(Part::Mark { text: line[place.start..end].into(), mark });
    push_cut(line, end..place.end, parts);
}

fn push_cut(line: &str, cut: Range<usize>, parts: &mut Vec<Part>) {
    if !cut.is_empty() {
        parts.push(Part::Cut { characters: line[cut].chars().count() });
    }
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "a place is a range, and here is one")]
mod tests {
    use super::*;

    /// The rows as text: marks in brackets, cuts and gaps with their count.
    fn drawn(layout: &Layout) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Mark { text, mark } => format!("[{mark}:{text}]"),
            Part::Cut { characters } => format!("<{characters}>"),
        };
        let row = |row: &Row| match row {
            Row::Line { number, parts } => format!("{number} {}\n", parts.iter().map(part).collect::<String>()),
            Row::Gap { lines } => format!("({lines})\n"),
        };
        layout.rows.iter().map(row).collect()
    }

    #[test]
    fn a_short_text_is_shown_as_a_whole() {
        let text = "{\r\n \"é\": 1,\n\n \"b\": 22\n}\n";
        let (one, two) = (text.find('1').unwrap(), text.find("22").unwrap());
        let layout = lay_out(text, &[two..two + 2, one..one + 1, two..two + 2, 0..1]);
        assert_eq!(drawn(&layout), "1 [0:{]\n2  \"é\": [1:1],\n3 \n4  \"b\": [2:22]\n5 }\n");
        assert_eq!(layout.mark_of, [Some(2), Some(1), Some(2), Some(0)]);
        assert_eq!((layout.marks[1].line, layout.marks[1].column), (2, 7));
    }

    #[test]
    fn an_empty_text_has_one_line() {
        assert_eq!(drawn(&lay_out("", &[0..0])), "1 [0:]\n");
        assert_eq!(drawn(&lay_out("\n", &[])), "1 \n");
    }

    #[test]
    fn of_many_lines_those_around_the_marks_are_shown() {
        let text: String = (1..=1000).map(|number| format!("{number}\n")).collect();
        let at = text.find("\n500\n").unwrap() + 1;
        let layout = lay_out(&text, &[at..at + 3]);
        let expected =
            "1 1\n2 2\n3 3\n4 4\n(492)\n497 497\n498 498\n499 499\n500 [0:500]\n501 501\n502 502\n503 503\n(497)\n";
        assert_eq!(drawn(&layout), expected);
        assert_eq!(layout.marks[0].line, 500);
    }

    #[test]
    fn of_a_long_line_what_is_around_the_marks_is_shown() {
        let text = format!("{}é{}", "a".repeat(1999), "b".repeat(3000));
        let layout = lay_out(&text, &[1999..2001]);
        let (a, b) = ("a".repeat(80), "b".repeat(80));
        assert_eq!(drawn(&layout), format!("1 {a}<1839>{a}[0:é]{b}<2920>\n"));
    }

    #[test]
    fn cuts_fall_between_characters() {
        let text = "é".repeat(5000);
        let layout = lay_out(&text, &[2001 * 2..2002 * 2]);
        assert!(drawn(&layout).contains("[0:é]"));
        let shown: usize = layout
            .rows
            .iter()
            .map(|row| match row {
                Row::Line { parts, .. } => parts
                    .iter()
                    .map(|part| match part {
                        Part::Text(text) | Part::Mark { text, .. } => text.chars().count(),
                        Part::Cut { characters } => *characters,
                    })
                    .sum(),
                Row::Gap { .. } => 0,
            })
            .sum();
        assert_eq!(shown, 5000);
    }

    #[test]
    fn a_long_value_is_marked_at_its_beginning() {
        let text = format!("[\"{}\"]", "v".repeat(5000));
        let drawn = drawn(&lay_out(&text, &[1..5003]));
        assert!(drawn.starts_with("1 [[0:\"vvv"), "{drawn}");
        assert!(drawn.ends_with("v]<4402>]\n"), "{drawn}");
    }

    #[test]
    fn there_are_only_so_many_marks() {
        let text = "x".repeat(1000);
        let places: Vec<Place> = (0..1000).map(|at| at..at + 1).collect();
        let layout = lay_out(&text, &places);
        assert_eq!(layout.marks.len(), MOST_MARKS);
        assert_eq!(layout.mark_of.iter().filter(|mark| mark.is_some()).count(), MOST_MARKS);
        assert_eq!(layout.mark_of[MOST_MARKS - 1], Some(MOST_MARKS - 1));
        assert_eq!(layout.mark_of[MOST_MARKS], None);
    }
}
