//! The entries of an agent's log file: `time LEVEL [prefix] text`; further lines of a text are indented.

use jiff::Timestamp;

use crate::agents::LogLine;
use crate::cli::output::visible;

/// Entries as they stand in the file.
pub fn entries(lines: &[LogLine]) -> String {
    lines.iter().map(written).collect()
}

fn written(line: &LogLine) -> String {
    let LogLine { time, level, prefix, text } = line;
    let time = i64::try_from(*time).ok().and_then(|time| Timestamp::from_millisecond(time).ok());
    let time = time.unwrap_or_default();
    // A text of a model or a service must not look like an entry of its own.
    let text = visible(text).replace('\n', "\n    ");
    format!("{time:.3} {level} [{prefix}] {text}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent::Level;

    #[test]
    fn an_entry_has_its_time_its_level_and_its_prefix_and_further_lines_are_indented() {
        let line = |text: &str| LogLine {
            time: 1_795_627_406_010,
            level: Level::Critical,
            prefix: "cls".to_owned(),
            text: text.to_owned(),
        };
        assert_eq!(written(&line("a")), "2026-11-25T17:23:26.010Z CRITICAL [cls] a\n");
        let expected = "2026-11-25T17:23:26.010Z CRITICAL [cls] a\n    b\\u{1b}[2J\n    c\n";
        assert_eq!(written(&line("a\nb\u{1b}[2J\nc")), expected);
    }
}
