//! The head and the tail of a text that is too long.

/// The text with at most so many characters of its own; where the rest stood, a line tells how many are gone.
///
/// The cuts are at the ends of lines, unless that would keep less than half of a part.
pub(super) fn to_characters(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let total = text.chars().count();
    if total <= limit {
        return text.to_owned();
    }
    let head = head(text, limit - limit / 2);
    let tail = tail(text, limit / 2);
    let gone = total - head.chars().count() - tail.chars().count();
    let note = format!("[… {gone} characters cut …]");
    let parts = [head, &note, tail];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The first characters, up to the end of a line.
fn head(text: &str, count: usize) -> &str {
    let part = first(text, count);
    let (whole, _) = first(text, count + 1).rsplit_once('\n').unwrap_or_default();
    chosen(whole, part).trim_end()
}

/// The last characters, from the start of a line.
fn tail(text: &str, count: usize) -> &str {
    let part = last(text, count);
    let (_, whole) = last(text, count + 1).split_once('\n').unwrap_or_default();
    chosen(whole, part)
}

/// Whole lines, if they are at least half of what might be kept.
fn chosen<'a>(whole: &'a str, part: &'a str) -> &'a str {
    if 2 * whole.len() >= part.len() { whole } else { part }
}

fn first(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).and_then(|(at, _)| text.get(..at)).unwrap_or(text)
}

fn last(text: &str, count: usize) -> &str {
    let Some(before) = count.checked_sub(1) else { return "" };
    text.char_indices().nth_back(before).and_then(|(at, _)| text.get(at..)).unwrap_or(text)
}
