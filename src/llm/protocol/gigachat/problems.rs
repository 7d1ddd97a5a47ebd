//! What is wrong with a request, all of it.

use crate::llm::error::LlmError;

/// How many problems are named.
const NAMED: usize = 10;

/// What was found so far.
#[derive(Debug, Default)]
pub struct Problems(Vec<(&'static str, String)>);

impl Problems {
    /// Adds one: the member of the request, and what is wrong with it, as the rest of a sentence.
    pub fn add(&mut self, param: &'static str, message: impl Into<String>) {
        self.0.push((param, message.into()));
    }

    /// Nothing, if there are none.
    ///
    /// # Errors
    /// [`LlmError::Invalid`], which names them, ten at most.
    pub fn check(self) -> Result<(), LlmError> {
        let more = self.0.len().saturating_sub(NAMED);
        let mut problems = self.0.into_iter().take(NAMED);
        let Some((param, mut message)) = problems.next() else { return Ok(()) };
        for (param, other) in problems {
            message.push_str(&format!("; `{param}` {other}"));
        }
        if more > 0 {
            message.push_str(&format!("; and {more} more"));
        }
        Err(LlmError::Invalid { param, message })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_problems_are_named_but_not_without_end() {
        assert!(Problems::default().check().is_ok());
        let mut problems = Problems::default();
        (0..NAMED + 2).for_each(|number| problems.add("tools", format!("are wrong {number}")));
        let message = problems.check().unwrap_err().to_string();
        assert!(message.starts_with("`tools` are wrong 0; `tools` are wrong 1;"), "{message}");
        assert!(message.ends_with("are wrong 9; and 2 more"), "{message}");
    }
}
