//! The YAML that agentskills.io allows in front matter: block style, every value a text; no flow style, anchors, aliases, tags
//! or keys that come twice, and tabs only in comments, in quotes and in blocks of text.

use std::collections::BTreeSet;
use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput, StructureStyle};

use super::yaml::YamlError;

/// How deep lists and objects may be nested.
const DEPTH_MAX: usize = 64;

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// A text; numbers are such, too.
    Text(String),
    /// A list, whose items do not matter.
    List,
    /// An object.
    Object(Vec<Member>),
}

/// A member of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Its line, from 1.
    pub line: usize,
    /// Its value.
    pub value: Node,
}

/// Reads one document; `None` if it is empty.
///
/// # Errors
/// [`YamlError`] for what is no YAML, or no YAML of this kind.
pub fn parse(text: &str) -> Result<Option<Node>, YamlError> {
    if let Some(at) = text.find(|c| !is_printable(c)) {
        let line = Some(lines_before(text, at) + 1);
        return Err(YamlError { message: "not valid YAML: it holds a control character".to_owned(), line });
    }
    let mut reader = Reader { parser: Parser::new_from_str(text), texts: Vec::new() };
    let mut node = None;
    while let Some((event, span)) = reader.next()? {
        match event {
            Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            Event::DocumentStart(..) if node.is_none() => {}
            Event::DocumentStart(..) => return Err(fault(&span, "has several documents")),
            event => node = Some(reader.node(event, &span, 0)?),
        }
    }
    match text.match_indices('\t').find(|(at, _)| !reader.allows_tab(text, *at)) {
        Some((at, _)) => Err(YamlError {
            message: "the YAML has a tab between its parts: indent with spaces".to_owned(),
            line: Some(lines_before(text, at) + 1),
        }),
        None => Ok(node),
    }
}

/// How many lines end before a place.
fn lines_before(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or_default().matches('\n').count()
}

/// Whether YAML allows a character.
fn is_printable(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..)
}

struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    /// Where the texts in quotes and in blocks stand.
    texts: Vec<Range<usize>>,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<Option<(Event<'a>, Span)>, YamlError> {
        self.parser.next().transpose().map_err(|error: ScanError| YamlError {
            line: Some(error.marker().line()),
            message: format!("not valid YAML: {}", error.info()),
        })
    }

    fn node(&mut self, event: Event<'a>, span: &Span, depth: usize) -> Result<Node, YamlError> {
        if depth > DEPTH_MAX {
            return Err(fault(span, "nests too deep"));
        }
        match event {
            Event::Scalar(_, _, anchor, tag) if anchor > 0 || tag.is_some() => Err(marked(span)),
            Event::Scalar(text, style, ..) => {
                let place = span.byte_range().filter(|_| style != ScalarStyle::Plain);
                self.texts.extend(place);
                Ok(Node::Text(text.into_owned()))
            }
            Event::SequenceStart(StructureStyle::Flow, ..)
            | Event::MappingStart(StructureStyle::Flow, ..) => Err(fault(
                span,
                "has a list or an object in `[…]` or `{…}`: write one item a line, or put quotes around a text",
            )),
            Event::SequenceStart(_, anchor, tag) | Event::MappingStart(_, anchor, tag)
                if anchor > 0 || tag.is_some() =>
            {
                Err(marked(span))
            }
            Event::SequenceStart(..) => self.list(depth),
            Event::MappingStart(..) => self.object(depth),
            _ => Err(marked(span)),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Node, YamlError> {
        while let Some((event, span)) = self.next()? {
            if matches!(event, Event::SequenceEnd) {
                break;
            }
            self.node(event, &span, depth + 1)?;
        }
        Ok(Node::List)
    }

    fn object(&mut self, depth: usize) -> Result<Node, YamlError> {
        let mut members: Vec<Member> = Vec::new();
        let mut names = BTreeSet::new();
        let mut inner_column = None;
        while let Some((event, span)) = self.next()? {
            if matches!(event, Event::MappingEnd) {
                break;
            }
            let is_merge = matches!(&event, Event::Scalar(name, ScalarStyle::Plain, ..) if name == "<<");
            let Node::Text(name) = self.node(event, &span, depth + 1)? else {
                return Err(fault(&span, "has a name that is no text"));
            };
            if !names.insert(name.clone()) {
                return Err(fault(&span, &format!("has `{name}` twice")));
            }
            let Some((event, inner)) = self.next()? else { break };
            let value = self.node(event, &inner, depth + 1)?;
            let mut is_aligned = |column| *inner_column.get_or_insert(column) == column;
            if matches!(value, Node::Object(_)) && !is_aligned(inner.start.col()) {
                return Err(fault(&inner, "indents objects differently"));
            }
            match (is_merge, &value) {
                (false, _) => members.push(Member { name, line: span.start.line(), value }),
                (true, Node::Text(_)) => {
                    return Err(fault(&span, "has a `<<` without an object to take members from"));
                }
                // Their members count for nothing in the reference, either.
                (true, _) => {}
            }
        }
        Ok(Node::Object(members))
    }
}

impl Reader<'_> {
    /// Whether a tab stands in a comment, in quotes, or in a block of text below its first line.
    fn allows_tab(&self, text: &str, at: usize) -> bool {
        let inside = self.texts.iter().find(|range| range.contains(&at));
        let is_in_text = inside.is_some_and(|range| {
            let before = text.get(range.start..at).unwrap_or_default();
            !before.starts_with(['|', '>']) || before.contains('\n')
        });
        let line = text.get(..at).unwrap_or_default().rsplit('\n').next().unwrap_or_default();
        is_in_text || line.starts_with('#') || line.contains(" #")
    }
}

fn fault(span: &Span, what: &str) -> YamlError {
    YamlError { message: format!("the YAML {what}"), line: Some(span.start.line()) }
}

/// The error of an anchor, an alias or a tag.
fn marked(span: &Span) -> YamlError {
    fault(span, "has an anchor, an alias or a tag (`&`, `*`, `!`): put quotes around a text")
}
