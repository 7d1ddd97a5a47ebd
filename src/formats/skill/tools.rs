//! `allowed-tools`: a list, or a text that commas or spaces part, but for those in parentheses.

/// The tools that a text names: `Bash(git status:*), Read` are two.
pub fn tools_of(text: &str) -> Vec<String> {
    let mut tools = vec![String::new()];
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let parts = depth == 0 && (c == ',' || c.is_whitespace());
        match tools.last_mut() {
            Some(_) if parts => tools.push(String::new()),
            Some(tool) => tool.push(c),
            None => {}
        }
    }
    tools.retain(|tool| !tool.is_empty());
    tools
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_and_spaces_part_tools_but_not_in_parentheses() {
        assert_eq!(tools_of("Bash(git status:*), Read"), ["Bash(git status:*)", "Read"]);
        assert_eq!(tools_of("Read Grep  Bash(npm run a, b)"), ["Read", "Grep", "Bash(npm run a, b)"]);
        assert_eq!(tools_of(" , "), Vec::<String>::new());
        assert_eq!(tools_of("Bash(git)) Read"), ["Bash(git))", "Read"]);
    }
}
