//! The regular expressions of `urlize`, for words without whitespace.

use super::chars::{is_decimal, is_word};
use super::text::len;

/// The letter that Python's `re.IGNORECASE` takes a character for.
fn folded(c: char) -> char {
    match c {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        '\u{130}' | '\u{131}' => 'i',
        c => c.to_ascii_lowercase(),
    }
}

/// What follows `prefix`, which is in lower case.
fn strip_folded<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let mut chars = text.chars();
    prefix.chars().all(|wanted| chars.next().map(folded) == Some(wanted)).then_some(chars.as_str())
}

/// Whether `text` is `scheme://host`, `www.host` or a host of a well-known domain, with a port and a path perhaps.
pub(super) fn is_url(text: &str) -> bool {
    if let Some(rest) = strip_folded(text, "https://").or_else(|| strip_folded(text, "http://")) {
        let (host, tail) = split_host(rest);
        return is_tail(tail) && (is_host(host) || is_ipv4(host)) || is_ipv6(rest);
    }
    let (host, tail) = split_host(text);
    is_tail(tail) && (strip_folded(host, "www.").is_some_and(is_host) || is_known_host(host))
}

fn split_host(text: &str) -> (&str, &str) {
    text.split_at(text.find([':', '/', '?', '#']).unwrap_or(text.len()))
}

/// `(?::\d{1,5})?(?:[/?#]\S*)?$`
fn is_tail(text: &str) -> bool {
    let path = match text.strip_prefix(':') {
        None => text,
        Some(port) => {
            let path = port.trim_start_matches(is_decimal);
            let digits = len(port.get(..port.len() - path.len()).unwrap_or_default());
            if !(1..=5).contains(&digits) {
                return false;
            }
            path
        }
    };
    path.is_empty() || path.starts_with(['/', '?', '#'])
}

fn is_label(label: &str) -> bool {
    !label.is_empty() && label.chars().all(|c| is_word(c) || matches!(c, '%' | '-'))
}

/// `(([\w%-]+\.)+)?([a-z]{2,63}|xn--[\w%]{2,59})`
fn is_host(host: &str) -> bool {
    let (labels, top) = host.rsplit_once('.').map_or((None, host), |(labels, top)| (Some(labels), top));
    let letters = (2..=63).contains(&len(top)) && top.chars().all(|c| folded(c).is_ascii_lowercase());
    let idna = strip_folded(top, "xn--")
        .is_some_and(|name| (2..=59).contains(&len(name)) && name.chars().all(|c| is_word(c) || c == '%'));
    (letters || idna) && labels.is_none_or(|labels| labels.split('.').all(is_label))
}

/// `([\w%-]{2,63}\.)+(com|net|int|edu|gov|org|info|mil)`
fn is_known_host(host: &str) -> bool {
    let Some((labels, top)) = host.rsplit_once('.') else { return false };
    let top: String = top.chars().take(5).map(folded).collect();
    matches!(top.as_str(), "com" | "net" | "int" | "edu" | "gov" | "org" | "info" | "mil")
        && labels.split('.').all(|label| is_label(label) && (2..=63).contains(&len(label)))
}

/// `\d{1,3}(\.\d{1,3}){3}`
fn is_ipv4(host: &str) -> bool {
    host.split('.').count() == 4
        && host.split('.').all(|part| (1..=3).contains(&len(part)) && part.chars().all(is_decimal))
}

/// `\[([\da-f]{0,4}:){2}([\da-f]{0,4}:?){1,6}]` and what may follow it.
fn is_ipv6(text: &str) -> bool {
    let Some((address, tail)) = text.strip_prefix('[').and_then(|text| text.split_once(']')) else {
        return false;
    };
    let hex = |c: char| is_decimal(c) || c.is_ascii_hexdigit();
    let parts: Vec<_> = address.splitn(64, ':').collect();
    let short = |part: &&str| len(part) <= 4;
    if parts.len() < 3 || !parts.iter().take(2).all(short) || !parts.iter().all(|part| part.chars().all(hex))
    {
        return false;
    }
    // A part of more than four digits counts as several; the last one ends with no colon.
    let last = parts.len() - 1;
    let count = |(at, part): (usize, &&str)| len(part).div_ceil(4).max(usize::from(at < last));
    parts.iter().enumerate().skip(2).map(count).sum::<usize>() <= 6 && is_tail(tail)
}

/// `^\S+@\w[\w.-]*\.\w+$`
pub(super) fn is_email(text: &str) -> bool {
    let Some((user, domain)) = text.rsplit_once('@') else { return false };
    let Some((name, top)) = domain.rsplit_once('.') else { return false };
    !user.is_empty()
        && !top.is_empty()
        && top.chars().all(is_word)
        && name.chars().next().is_some_and(is_word)
        && name.chars().all(|c| is_word(c) || matches!(c, '.' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_told_from_words() {
        for text in [
            "http://a.bc",
            "HTTPS://localhost",
            "http://localhost:80/x?y#z",
            "www.de",
            "a1.example.com:1?q",
            "x-y.INFO",
            "http://127.0.0.1",
            "https://[::1]:80/",
            "http://[a:b:c]",
            "http://a.xn--p1ai",
        ] {
            assert!(is_url(text), "{text}");
        }
        for text in [
            "http://",
            "http://a",
            "example.de",
            "a.com",
            "http://a..bc",
            "http://1.2.3",
            "http://[1:2]",
            "http://ab.cd:",
            "http://ab.cd:123456",
            "ab.comx",
            "www.",
        ] {
            assert!(!is_url(text), "{text}");
        }
    }

    #[test]
    fn mail_addresses_are_told_from_words() {
        assert!(is_email("a@b.c") && is_email("@@b-c.d.e"));
        assert!(
            !is_email("a@b")
                && !is_email("@b.c")
                && !is_email("a@.b")
                && !is_email("a@b.")
                && !is_email("a@-.c")
        );
    }
}
