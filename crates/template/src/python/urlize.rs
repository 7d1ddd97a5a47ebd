//! `jinja2.utils.urlize`: links around what looks like an address.

use super::PyError;
use super::chars::{is_space, is_word};
use super::html::escape;
use super::link::{is_email, is_url};
use super::out::Bounded;
use super::repr::write_repr;
use super::text::{len, slice};

/// The arguments of `urlize`.
#[derive(Clone, Copy, Debug, Default)]
pub struct UrlizeOptions<'o> {
    /// The most characters of an address that are shown.
    pub trim_url_limit: Option<i64>,
    /// The `rel` attribute, see [`link_rel`].
    pub rel: Option<&'o str>,
    /// The `target` attribute.
    pub target: Option<&'o str>,
    /// What also begins a link, see [`check_scheme`].
    pub extra_schemes: &'o [&'o str],
}

/// The `rel` that the `urlize` filter makes of its arguments: sorted words, with Jinja2's `noopener`.
pub fn link_rel(rel: Option<&str>, nofollow: bool) -> String {
    let mut words: Vec<_> = rel.unwrap_or("").split(is_space).filter(|word| !word.is_empty()).collect();
    words.push("noopener");
    if nofollow {
        words.push("nofollow");
    }
    words.sort_unstable();
    words.dedup();
    words.join(" ")
}

/// Refuses what is no prefix of a scheme, such as `tel:` or `ftp://`.
pub fn check_scheme(scheme: &str) -> Result<(), PyError> {
    let name = scheme.strip_suffix("//").or_else(|| scheme.strip_suffix('/')).unwrap_or(scheme);
    let name = name.strip_suffix(':').unwrap_or("");
    if len(name) >= 2 && name.chars().all(|c| is_word(c) || matches!(c, '.' | '+' | '-')) {
        return Ok(());
    }
    let mut message = String::new();
    write_repr(&mut message, scheme);
    message.push_str(" is not a valid URI scheme prefix.");
    PyError::value_error(message)
}

/// `urlize` of a text that is no markup: escapes it first.
pub fn urlize(text: &str, options: &UrlizeOptions<'_>, room: usize) -> Result<String, PyError> {
    urlize_markup(&escape(text), options, room)
}

/// `urlize` of markup.
pub fn urlize_markup(markup: &str, options: &UrlizeOptions<'_>, room: usize) -> Result<String, PyError> {
    let attribute = |name, value: Option<&str>| match value {
        Some(value) if !value.is_empty() => format!(" {name}=\"{}\"", escape(value)),
        _ => String::new(),
    };
    let attributes = attribute("rel", options.rel) + &attribute("target", options.target);
    let mut out = Bounded::new(room);
    for piece in markup.split_inclusive(is_space) {
        let word = piece.trim_end_matches(is_space);
        write_word(&mut out, word, options, &attributes)?;
        out.push_str(piece.get(word.len()..).unwrap_or_default())?;
    }
    Ok(out.finish())
}

fn write_word(
    out: &mut Bounded,
    word: &str,
    options: &UrlizeOptions<'_>,
    attributes: &str,
) -> Result<(), PyError> {
    let (head, middle, tail) = parts(word);
    out.push_str(head)?;
    if is_url(middle) {
        let scheme =
            if middle.starts_with("https://") || middle.starts_with("http://") { "" } else { "https://" };
        write_link(out, [scheme, middle], attributes, |out| write_trimmed(out, middle, options))?;
    } else if let Some(address) = middle.strip_prefix("mailto:").filter(|address| is_email(address)) {
        write_link(out, ["", middle], "", |out| out.push_str(address))?;
    } else if !middle.starts_with("www.")
        && !middle.starts_with('@')
        && !middle.contains(':')
        && is_email(middle)
    {
        write_link(out, ["mailto:", middle], "", |out| out.push_str(middle))?;
    } else if options.extra_schemes.iter().any(|&scheme| middle != scheme && middle.starts_with(scheme)) {
        write_link(out, ["", middle], attributes, |out| out.push_str(middle))?;
    } else {
        out.push_str(middle)?;
    }
    out.push_str(tail)
}

fn write_link(
    out: &mut Bounded,
    address: [&str; 2],
    attributes: &str,
    write: impl FnOnce(&mut Bounded) -> Result<(), PyError>,
) -> Result<(), PyError> {
    out.push_str("<a href=\"")?;
    address.iter().try_for_each(|part| out.push_str(part))?;
    out.push_str("\"")?;
    out.push_str(attributes)?;
    out.push_str(">")?;
    write(out)?;
    out.push_str("</a>")
}

fn write_trimmed(out: &mut Bounded, url: &str, options: &UrlizeOptions<'_>) -> Result<(), PyError> {
    match options.trim_url_limit {
        Some(limit) if len(url) as i64 > limit => {
            out.push_str(&slice(url, None, Some(limit), 1))?;
            out.push_str("...")
        }
        _ => out.push_str(url),
    }
}

/// A word without the brackets before it and the punctuation after it.
fn parts(word: &str) -> (&str, &str, &str) {
    let mut middle = word;
    while let Some(rest) = middle.strip_prefix(['(', '<']).or_else(|| middle.strip_prefix("&lt;")) {
        middle = rest;
    }
    let (head, whole) = word.split_at(word.len() - middle.len());
    middle = whole;
    while let Some(rest) =
        middle.strip_suffix([')', '>', '.', ',', '\n']).or_else(|| middle.strip_suffix("&gt;"))
    {
        middle = rest;
    }
    let mut end = middle.len();
    for (open, close) in [("(", ")"), ("<", ">"), ("&lt;", "&gt;")] {
        end = balanced(whole, end, open, close);
    }
    let (middle, tail) = whole.split_at(end);
    (head, middle, tail)
}

/// Where the address ends once it has taken closing brackets from what follows, if it has more opening than closing ones.
fn balanced(text: &str, end: usize, open: &str, close: &str) -> usize {
    let (middle, tail) = text.split_at(end);
    let opened = middle.matches(open).count();
    if opened <= middle.matches(close).count() {
        return end;
    }
    tail.match_indices(close).take(opened).last().map_or(end, |(at, close)| end + at + close.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_become_links() {
        let options = UrlizeOptions {
            trim_url_limit: Some(10),
            rel: Some("a"),
            target: None,
            extra_schemes: &["tel:"],
        };
        let text = "(see http://x.org/a_(b)), www.y.de. <me@z.com> tel:5 mailto:a@b.c @a@b.c";
        let expected = "(see <a href=\"http://x.org/a_(b)\" rel=\"a\">http://x.o...</a>), \
                        <a href=\"https://www.y.de\" rel=\"a\">www.y.de</a>. \
                        &lt;<a href=\"mailto:me@z.com\">me@z.com</a>&gt; <a href=\"tel:5\" rel=\"a\">tel:5</a> \
                        <a href=\"mailto:a@b.c\">a@b.c</a> @a@b.c";
        assert_eq!(urlize(text, &options, 9999).as_deref(), Ok(expected));
        assert_eq!(urlize(text, &options, expected.len() - 1), Err(PyError::TooLarge));
    }

    #[test]
    fn options_are_prepared_as_the_filter_prepares_them() {
        assert_eq!(link_rel(Some("x nofollow"), true), "nofollow noopener x");
        assert_eq!((check_scheme("tel:"), check_scheme("ftp://")), (Ok(()), Ok(())));
        assert_eq!(check_scheme("x:"), PyError::value_error("'x:' is not a valid URI scheme prefix."));
    }
}
