//! Text of others, made fit for a terminal.

/// Text on one line in which nothing moves the cursor, changes colours or turns the writing direction: what comes
/// from an agent must not be able to forge what a person reads.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}') {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// [`visible`] text of at most `most` characters, the last one `…` if something was cut off.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let shown = visible(text);
    if shown.chars().count() <= most {
        return shown;
    }
    shown.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// `a number`, `an array`.
pub(crate) fn with_article(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {noun}")
}

/// `1 order`, `2 orders`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_moves_the_cursor() {
        assert_eq!(visible("a\x1b[2Jb\nc"), "a\\u{1b}[2Jb\\nc");
        assert_eq!(visible("abc\u{202e}fed"), "abc\\u{202e}fed");
        assert_eq!(visible("Zürich 日本"), "Zürich 日本");
    }

    #[test]
    fn long_text_is_cut() {
        assert_eq!(shortened("abcdef", 6), "abcdef");
        assert_eq!(shortened("abcdefg", 6), "abcde…");
    }

    #[test]
    fn articles_agree_with_their_noun() {
        assert_eq!((with_article("array"), with_article("string")), ("an array".into(), "a string".into()));
    }

    #[test]
    fn counts_agree_with_their_noun() {
        assert_eq!((counted(1, "order"), counted(0, "order")), ("1 order".into(), "0 orders".into()));
    }
}
