//! Compiles expressions, within a limit of their size, and keeps those that a run used last.

use std::cell::RefCell;
use std::rc::Rc;

use regex_automata::meta::{Config, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_syntax::hir::{Capture, Hir, Repetition};

use super::alphabet::Alphabet;
use super::syntax::{Parsed, read};
use super::tree::Node;

/// The most parts of an expression, with its counted repetitions written out.
pub const MOST_PARTS: usize = 20_000;

/// The most parts times groups of an expression whose groups are asked for: a search keeps places for each of them, which are 32
/// bytes.
const MOST_PLACES: usize = 250_000;

/// How many compiled expressions a run keeps; together, too, they have no more parts and places than one may have.
const MOST_KEPT: usize = 16;

/// The most bytes that each of the two automata of an expression takes for the states that searches have found.
const SEARCH_BYTES: usize = 512 << 10;

/// Why an expression is not compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It is not valid: Go's message.
    Invalid(String),
    /// It is larger than is allowed here.
    TooLarge,
    /// The search would be too much work, or was.
    Work(String),
}

impl From<String> for Refusal {
    fn from(message: String) -> Refusal {
        Refusal::Work(message)
    }
}

impl From<Refusal> for String {
    fn from(refusal: Refusal) -> String {
        match refusal {
            Refusal::Invalid(message) => format!("error parsing regexp: {message}"),
            Refusal::Work(message) => message,
            Refusal::TooLarge => format!(
                "the regular expression is too large for this service: write a shorter one, or repeat less in it \
                 (it may have {MOST_PARTS} parts, with counted repetitions written out)"
            ),
        }
    }
}

/// A compiled expression.
pub struct Program {
    pub regex: Regex,
    pub alphabet: Alphabet,
    /// How many parts it has: how many states a search may be in at the same time.
    pub size: usize,
    /// How many places a search keeps: for each part, those of all groups that are asked for.
    places: usize,
    /// The names of groups, with their numbers.
    pub names: Vec<(String, usize)>,
}

impl Program {
    /// Compiles an expression; `groups` says whether a search can tell where its groups match.
    fn new(pattern: &[u8], groups: bool) -> Result<Program, Refusal> {
        let Parsed { root, sets, captures, names } = read(pattern)?;
        let alphabet = Alphabet::new(sets.all()).ok_or(Refusal::TooLarge)?;
        let sets = alphabet.expressions(sets.all()).ok_or(Refusal::TooLarge)?;
        let size = root.size(&|set| sets.get(set).map_or(1, |(_, size)| *size));
        let places = if groups { size.saturating_mul(captures + 1) } else { size };
        if size > MOST_PARTS || places > MOST_PLACES {
            return Err(Refusal::TooLarge);
        }
        let config = Config::new()
            .utf8_empty(false)
            .which_captures(if groups { WhichCaptures::All } else { WhichCaptures::Implicit })
            .hybrid_cache_capacity(SEARCH_BYTES);
        let hir = expression(&root, &sets);
        drop(root);
        let built = Regex::builder().configure(config).build_from_hir(&hir);
        let regex = built.map_err(|_| Refusal::TooLarge)?;
        Ok(Program { regex, alphabet, size, places, names })
    }
}

fn expression(node: &Node, sets: &[(Hir, usize)]) -> Hir {
    let all = |nodes: &[Node]| nodes.iter().map(|node| expression(node, sets)).collect();
    match node {
        Node::Empty => Hir::empty(),
        Node::Byte(byte) => Hir::literal([*byte]),
        Node::Set(number) => sets.get(*number).map_or_else(Hir::fail, |(set, _)| set.clone()),
        Node::Look(look) => Hir::look(*look),
        Node::Repeat(repeat) => Hir::repetition(Repetition {
            min: repeat.least,
            max: repeat.most,
            greedy: repeat.greedy,
            sub: Box::new(expression(&repeat.node, sets)),
        }),
        Node::Group(number, node) => Hir::capture(Capture {
            index: u32::try_from(*number).unwrap_or(u32::MAX),
            name: None,
            sub: Box::new(expression(node, sets)),
        }),
        Node::Sequence(nodes) => Hir::concat(all(nodes)),
        Node::Choice(nodes) => Hir::alternation(all(nodes)),
    }
}

/// The expressions that a run has compiled; the one that was used last is the last one.
#[derive(Default)]
pub struct Programs {
    kept: RefCell<Vec<Kept>>,
}

struct Kept {
    pattern: Box<[u8]>,
    groups: bool,
    program: Rc<Program>,
}

impl Programs {
    /// The expression as it was compiled before, or compiled now; the second value says whether it was compiled now.
    ///
    /// # Errors
    /// [`Refusal`], each time anew.
    pub fn find(&self, pattern: &[u8], groups: bool) -> Result<(Rc<Program>, bool), Refusal> {
        let mut kept = self.kept.borrow_mut();
        let known = kept.iter().position(|kept| *kept.pattern == *pattern && kept.groups == groups);
        if let Some(at) = known {
            let found = kept.remove(at);
            let program = found.program.clone();
            kept.push(found);
            return Ok((program, false));
        }
        let program = Rc::new(Program::new(pattern, groups)?);
        kept.push(Kept { pattern: pattern.into(), groups, program: program.clone() });
        while !fit(&kept) {
            kept.remove(0);
        }
        Ok((program, true))
    }
}

/// Whether so many expressions may be kept.
fn fit(kept: &[Kept]) -> bool {
    let sum = |of: fn(&Program) -> usize| kept.iter().map(|kept| of(&kept.program)).sum::<usize>();
    kept.len() <= MOST_KEPT
        && sum(|program| program.size) <= MOST_PARTS
        && sum(|program| program.places) <= MOST_PLACES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compiled(programs: &Programs, pattern: &str) -> bool {
        programs.find(pattern.as_bytes(), false).unwrap().1
    }

    fn size(pattern: &str) -> Result<usize, Refusal> {
        Program::new(pattern.as_bytes(), false).map(|program| program.size)
    }

    #[test]
    fn an_expression_is_compiled_once_while_it_is_used() {
        let programs = Programs::default();
        assert!(compiled(&programs, "a+"));
        for number in 0..40 {
            assert!(compiled(&programs, &format!("b{number}")));
            assert!(!compiled(&programs, "a+"), "{number}");
        }
        assert_eq!(programs.kept.borrow().len(), MOST_KEPT);
        assert!(compiled(&programs, "b1"), "it is long gone");
        assert!(programs.find(b"a+", true).unwrap().1, "with groups it is another one");
    }

    #[test]
    fn the_parts_that_are_kept_are_bounded() {
        let programs = Programs::default();
        for number in 0..8 {
            assert!(compiled(&programs, &format!("a{{990}}{number}|(?:b{{9}}c){{1,100}}")));
            assert!(fit(&programs.kept.borrow()));
        }
        assert!((2..8).contains(&programs.kept.borrow().len()));
        assert!(programs.find(b"(", false).is_err());
        assert!(!compiled(&programs, "a{990}7|(?:b{9}c){1,100}"));
        for number in 0..4 {
            let groups = format!("{number}{}", "(ab{9})".repeat(90));
            assert!(programs.find(groups.as_bytes(), true).unwrap().1);
            assert!(fit(&programs.kept.borrow()));
        }
        assert_eq!(programs.kept.borrow().len(), 1, "one of them has most of the places");
    }

    #[test]
    fn a_class_of_many_characters_is_one_part() {
        for (pattern, parts) in [
            ("\\pL", 1),
            ("\\pL{1,50}", 100),
            ("[\\pL\\pN _-]{1,1000}", 2_000),
            ("^[\\pL\\s]{1,500}$", 1_002),
            ("\\p{Han}{1000}", 2_000),
            ("(?i)[\\p{Lu}é]{100}", 200),
            (".{1,80}(\\s|$)", 166),
        ] {
            assert_eq!(size(pattern), Ok(parts), "{pattern}");
        }
    }

    #[test]
    fn what_is_too_large_is_refused_before_it_is_compiled() {
        for pattern in [
            "a".repeat(8_000_000),
            "a?".repeat(1_000_000),
            "\\W".repeat(200_000),
            "(a)".repeat(300_000),
            "((a{10}b{10}){10}c{10}){10}".repeat(30),
            format!("(?i){}", "\\pL".repeat(60_000)),
            (0..60_000).map(|number| format!("[^\\x{{{number:x}}}]")).collect::<String>().replace("d8", "e8"),
            (0..1_000).map(|number| format!("(?i:[\\pL\\pN\\x{{{number:x}}}])")).collect(),
            ('\u{4e00}'..'\u{7000}').collect(),
        ] {
            assert!(matches!(size(&pattern), Err(Refusal::TooLarge)), "{}", &pattern[..20]);
        }
        let groups = "(a)".repeat(1_000);
        assert!(Program::new(groups.as_bytes(), false).is_ok());
        assert!(matches!(Program::new(groups.as_bytes(), true), Err(Refusal::TooLarge)));
    }
}
