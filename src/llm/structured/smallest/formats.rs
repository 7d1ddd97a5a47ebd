//! Valid examples of the formats of strings.

use super::texts::letters;

/// The valid text of that number in a format, of at least a length if texts of this format can be longer; `None` if the format
/// is not known, or has no more examples.
pub fn example(format: &str, number: usize, shortest: usize) -> Option<String> {
    let text = match format {
        "date-time" => format!("1970-01-01T00:00:{:02}Z", Some(number).filter(|second| *second < 60)?),
        "time" => format!("00:00:{:02}Z", Some(number).filter(|second| *second < 60)?),
        "date" => format!("1970-01-{:02}", Some(number + 1).filter(|day| *day <= 31)?),
        "duration" => format!("P{number}D"),
        "ipv4" => format!("0.0.0.{}", u8::try_from(number).ok()?),
        "ipv6" if number == 0 => "::".to_owned(),
        "ipv6" => format!("::{:x}", u16::try_from(number).ok()?),
        "uuid" => format!("00000000-0000-0000-0000-{number:012x}"),
        "relative-json-pointer" => number.to_string(),
        "json-pointer" if number == 0 && shortest == 0 => String::new(),
        "json-pointer" => format!("/{}", letters(number, shortest.saturating_sub(1))),
        "email" | "idn-email" => around("", number, "@example.com", shortest.max(1)),
        "hostname" | "idn-hostname" if number == 0 && shortest <= "example.com".len() => {
            "example.com".to_owned()
        }
        "hostname" | "idn-hostname" => around("", number, ".example.com", shortest),
        "uri" | "iri" => around("https://example.com/", number, "", shortest),
        "uri-reference" | "iri-reference" | "uri-template" | "regex" => letters(number, shortest),
        _ => return None,
    };
    Some(text)
}

/// A text of letters between two others, of at least a length in all.
fn around(before: &str, number: usize, after: &str, shortest: usize) -> String {
    let own = shortest.saturating_sub(before.len() + after.len());
    let own = if before.is_empty() { own.max(1) } else { own };
    format!("{before}{}{after}", letters(number, own))
}
