//! Small texts that match a regular expression.

use regex_syntax::hir::{Class, Hir, HirKind};

/// The longest text that is made.
const LENGTH_MAX: usize = 10_000;

/// How often each repetition is lengthened in the search for a text that is long enough.
const STRETCHES_MAX: usize = 64;

/// The most texts that are kept of each part of an expression.
const KEPT_MAX: usize = 16;

/// Some texts that match, the smallest first, and of at least a length if there are any. Assertions (`\b`, `(?=…)`) are not
/// followed, and an expression that this crate cannot read matches nothing.
pub fn texts(pattern: &str, wanted: usize, shortest: usize) -> Vec<String> {
    let Ok(hir) = regex_syntax::parse(pattern) else { return Vec::new() };
    let kept = wanted.clamp(1, KEPT_MAX);
    for stretch in 0..=shortest.min(STRETCHES_MAX) {
        let found = matches(&hir, kept, stretch);
        if found.iter().any(|text| text.chars().count() >= shortest) {
            return found;
        }
    }
    // The expression may match a part of the text: more letters do no harm then.
    let padded = |text: String| {
        let missing = shortest.saturating_sub(text.chars().count());
        text + &"a".repeat(missing)
    };
    matches(&hir, kept, 0).into_iter().map(padded).collect()
}

/// Up to `kept` texts that match, the smallest first, with each repetition `stretch` times more often than it has to be.
fn matches(hir: &Hir, kept: usize, stretch: usize) -> Vec<String> {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => vec![String::new()],
        HirKind::Literal(literal) => String::from_utf8(literal.0.to_vec()).into_iter().collect(),
        HirKind::Class(class) => characters(class, kept),
        HirKind::Capture(capture) => matches(&capture.sub, kept, stretch),
        HirKind::Concat(parts) => parts
            .iter()
            .fold(vec![String::new()], |before, part| joined(&before, &matches(part, kept, stretch), kept)),
        HirKind::Alternation(ways) => {
            smallest(ways.iter().flat_map(|way| matches(way, kept, stretch)).collect(), kept)
        }
        HirKind::Repetition(repetition) => {
            let least = repetition.min as usize + stretch;
            let most = repetition.max.map_or(usize::MAX, |most| most as usize);
            repeated(&matches(&repetition.sub, kept, stretch), least.min(most), most, kept)
        }
    }
}

/// Repetitions of some texts, between `least` and `most` times.
fn repeated(parts: &[String], least: usize, most: usize, kept: usize) -> Vec<String> {
    let longest = parts.iter().map(String::len).max().unwrap_or(0);
    if least.saturating_mul(longest.max(1)) > LENGTH_MAX {
        return Vec::new();
    }
    let mut texts = vec![String::new()];
    for _ in 0..least {
        texts = joined(&texts, parts, kept);
    }
    let mut all = texts.clone();
    for _ in least..most {
        if all.len() >= kept || texts.iter().all(|text| text.len() > LENGTH_MAX) || longest == 0 {
            break;
        }
        texts = joined(&texts, parts, kept);
        all.extend(texts.iter().cloned());
    }
    smallest(all, kept)
}

fn joined(before: &[String], after: &[String], kept: usize) -> Vec<String> {
    let pairs = before.iter().flat_map(|start| after.iter().map(move |end| format!("{start}{end}")));
    smallest(pairs.filter(|text| text.len() <= LENGTH_MAX).collect(), kept)
}

fn smallest(mut texts: Vec<String>, kept: usize) -> Vec<String> {
    texts.sort_by_cached_key(|text| (text.chars().count(), text.chars().map(rank).collect::<Vec<_>>()));
    texts.dedup();
    texts.truncate(kept);
    texts
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
