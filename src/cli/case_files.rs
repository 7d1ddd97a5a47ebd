//! Files of cases: JSON lists, of whose faults every one is named with its case.

use base::schema::Violation;
use template::value::{RawObject, parse_json};

/// Reads the cases of a file, each with `read`.
///
/// # Errors
/// Everything that is wrong, a line for each.
pub fn cases<C>(
    text: &[u8],
    read: impl Fn(RawObject) -> Result<C, Vec<Violation>>,
) -> Result<Vec<C>, Vec<String>> {
    let not_a_list = |error| vec![format!("must be a JSON list of cases, which are objects: {error}")];
    let bodies: Vec<RawObject> = parse_json(text).map_err(not_a_list)?;
    let (mut cases, mut wrong) = (Vec::new(), Vec::new());
    for (at, body) in bodies.into_iter().enumerate() {
        let name: Option<String> = body.find("name");
        match read(body) {
            Ok(case) => cases.push(case),
            Err(violations) => {
                let name = name.unwrap_or_else(|| format!("case {}", at + 1));
                wrong.extend(violations.iter().map(|violation| format!("{name}: {violation}")));
            }
        }
    }
    if cases.is_empty() && wrong.is_empty() {
        wrong.push("there is no case in it".to_owned());
    }
    if wrong.is_empty() { Ok(cases) } else { Err(wrong) }
}
