//! Small texts that match a regular expression.

use regex_syntax::hir::{Class, Hir, HirKind};

use super::texts::Allowance;

/// The longest text that is made.
const LENGTH_MAX: usize = 10_000;

/// How often each repetition is lengthened in the search for a text that is long enough.
const STRETCHES_MAX: usize = 64;

/// The most texts that are kept of each part of an expression.
const KEPT_MAX: usize = 16;

/// Some texts that match, the smallest first, and of at least a length if there are any. Assertions (`\b`, `(?=…)`) are not
/// followed, and an expression that this crate cannot read matches nothing.
pub fn texts(pattern: &str, wanted: usize, shortest: usize, allow: Allowance) -> Vec<String> {
    let Ok(hir) = regex_syntax::parse(pattern) else { return Vec::new() };
    let maker = Maker { kept: wanted.clamp(1, KEPT_MAX), allow };
    for stretch in 0..=shortest.min(STRETCHES_MAX) {
        let found = maker.matches(&hir, stretch);
        if found.iter().any(|text| text.chars().count() >= shortest) {
            return found;
        }
    }
    // The expression may match a part of the text: more letters do no harm then.
    let padded = |text: String| {
        let missing = shortest.saturating_sub(text.chars().count());
        text + &"a".repeat(missing)
    };
    maker.matches(&hir, 0).into_iter().map(padded).collect()
}

/// Makes texts for parts of an expression.
struct Maker<'a> {
    /// How many texts are kept of each part.
    kept: usize,
    allow: Allowance<'a>,
}

impl Maker<'_> {
    /// Some texts that match, the smallest first, with each repetition `stretch` times more often than it has to be.
    fn matches(&self, hir: &Hir, stretch: usize) -> Vec<String> {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => vec![String::new()],
            HirKind::Literal(literal) => String::from_utf8(literal.0.to_vec()).into_iter().collect(),
            HirKind::Class(class) => characters(class, self.kept),
            HirKind::Capture(capture) => self.matches(&capture.sub, stretch),
            HirKind::Concat(parts) => {
                parts.iter().fold(vec![String::new()], |before, part| match before.is_empty() {
                    true => before,
                    false => self.joined(&before, &self.matches(part, stretch)),
                })
            }
            HirKind::Alternation(ways) => {
                self.smallest(ways.iter().flat_map(|way| self.matches(way, stretch)).collect())
            }
            HirKind::Repetition(repetition) => {
                let most = repetition.max.map_or(usize::MAX, |most| most as usize);
                let least = (repetition.min as usize + stretch).min(most);
                self.repeated(&self.matches(&repetition.sub, stretch), least, most)
            }
        }
    }

    /// Repetitions of some texts, between `least` and `most` times. Of those that there have to be, only the last one differs.
    fn repeated(&self, parts: &[String], least: usize, most: usize) -> Vec<String> {
        let first = parts.first().map_or("", String::as_str);
        let bytes = first.len().saturating_mul(least);
        if least > 0 && parts.is_empty() || bytes > LENGTH_MAX || !(self.allow)(bytes) {
            return Vec::new();
        }
        let mut texts = match least {
            0 => vec![String::new()],
            _ => self.joined(&[first.repeat(least - 1)], parts),
        };
        let mut all = texts.clone();
        for _ in least..most {
            if all.len() >= self.kept || texts.is_empty() || first.is_empty() {
                break;
            }
            texts = self.joined(&texts, parts);
            all.extend(texts.iter().cloned());
        }
        self.smallest(all)
    }

    fn joined(&self, before: &[String], after: &[String]) -> Vec<String> {
        let pairs = before.iter().flat_map(|start| after.iter().map(move |end| (start, end)));
        let fitting = pairs.filter(|(start, end)| start.len() + end.len() <= LENGTH_MAX);
        let allowed = fitting.take_while(|(start, end)| (self.allow)(start.len() + end.len()));
        self.smallest(allowed.map(|(start, end)| format!("{start}{end}")).collect())
    }

    fn smallest(&self, mut texts: Vec<String>) -> Vec<String> {
        texts.sort_by_cached_key(|text| (text.chars().count(), text.chars().map(rank).collect::<Vec<_>>()));
        texts.dedup();
        texts.truncate(self.kept);
        texts
    }
}

/// Where a character comes: letters, then digits, then all others.
fn rank(c: char) -> (u8, char) {
    let class = match c {
        'a'..='z' => 0,
        'A'..='Z' => 1,
        '0'..='9' => 2,
        '!'..='~' => 3,
        ' ' => 4,
        _ => 5,
    };
    (class, c)
}

/// The first characters of a class: those that can be typed, then the first ones of its ranges.
fn characters(class: &Class, kept: usize) -> Vec<String> {
    let ranges: Vec<(char, char)> = match class {
        Class::Unicode(class) => class.iter().map(|range| (range.start(), range.end())).collect(),
        Class::Bytes(class) => class
            .iter()
            .filter(|range| range.end().is_ascii())
            .map(|range| (char::from(range.start()), char::from(range.end())))
            .collect(),
    };
    let has = |c: char| ranges.iter().any(|(start, end)| (*start..=*end).contains(&c));
    let mut typed: Vec<char> = (' '..='~').filter(|c| has(*c)).collect();
    typed.sort_by_key(|c| rank(*c));
    let others = ranges.iter().map(|(start, _)| *start).filter(|start| !(' '..='~').contains(start));
    typed.into_iter().chain(others).take(kept).map(String::from).collect()
}
