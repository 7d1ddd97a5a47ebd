//! The one pass over a text, which can pause where more text is needed.

use super::anchors::{ANCHORS, Anchor, Rule};
use super::extent::{Extent, is_blank};
use super::shapes::base64;
use super::window::{More, Window};
use super::{Found, assignment, pem, url};

/// The longest name of what was masked, in bytes.
const KIND: usize = 32;

/// What was found out about the text.
#[derive(Debug)]
pub(super) enum Step {
    /// A secret begins at `start`; `kind` is what it is, if its shape says so.
    Secret { start: usize, kind: Option<&'static str> },
    /// The secret ends here.
    End(usize),
    /// Nothing more can be said without more text. What stands before [`Scanner::at`] is decided.
    Wait,
}

/// Where the pass stands.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    /// The place up to which the text is decided.
    pub(super) at: usize,
    /// See [`Window::floor`].
    floor: usize,
    after_secret: bool,
    /// The end of a name that has no secret value: its other words need not be looked at.
    name_end: usize,
    /// The secret that the place is in.
    inside: Option<Extent>,
}

impl Scanner {
    /// Goes on to the next beginning or end of a secret. `complete` says that no more text will come.
    pub(super) fn step(&mut self, text: &[u8], complete: bool) -> Step {
        let window = Window { text, floor: self.floor, after_secret: self.after_secret, complete };
        let next = match self.inside.take() {
            Some(extent) => self.follow(&window, extent),
            None => self.search(window),
        };
        next.unwrap_or(Step::Wait)
    }

    /// Whether the place is within a secret.
    pub(super) fn is_inside(&self) -> bool {
        self.inside.is_some()
    }

    /// Says that the first bytes of the text were dropped.
    pub(super) fn dropped(&mut self, bytes: usize) {
        self.at -= bytes;
        self.floor = self.floor.saturating_sub(bytes);
        self.name_end = self.name_end.saturating_sub(bytes);
    }

    fn follow(&mut self, window: &Window<'_>, mut extent: Extent) -> Result<Step, More> {
        let followed = extent.advance(window, &mut self.at, usize::MAX);
        if followed.is_err() {
            self.inside = Some(extent);
        }
        followed?;
        self.passed_secret(self.at);
        Ok(Step::End(self.at))
    }

    /// After a secret nothing before its end is looked at, since a mask stands there when the text is masked again.
    fn passed_secret(&mut self, end: usize) {
        (self.at, self.floor, self.after_secret, self.name_end) = (end, end, true, 0);
    }

    fn search(&mut self, mut window: Window<'_>) -> Result<Step, More> {
        while let Some(anchor) = ANCHORS.find(window.text, self.at) {
            self.at = anchor.start;
            if let (Rule::Masked, Some(end)) = (anchor.rule, end_of_mask(&window, &anchor)?) {
                self.passed_secret(end);
                (window.floor, window.after_secret) = (end, true);
            } else if let Some(found) = self.judge(&window, &anchor)? {
                let found = earliest(&window, &anchor, found)?;
                self.at = found.start;
                self.inside = Some(found.extent);
                return Ok(Step::Secret { start: found.start, kind: found.kind });
            } else {
                self.at = anchor.start + 1;
            }
        }
        self.at = if window.complete { window.text.len() } else { ANCHORS.begun(window.text, self.at) };
        Ok(Step::Wait)
    }

    fn judge(&mut self, window: &Window<'_>, anchor: &Anchor) -> Result<Option<Found>, More> {
        if !matches!(anchor.rule, Rule::Name) {
            return judge(window, anchor);
        }
        if anchor.start < self.name_end {
            return Ok(None);
        }
        let (found, end) = assignment::judge(window, anchor.start, anchor.end)?;
        if found.is_none() {
            self.name_end = end;
        }
        Ok(found)
    }
}

/// What a beginning's rule says.
fn judge(window: &Window<'_>, anchor: &Anchor) -> Result<Option<Found>, More> {
    match anchor.rule {
        Rule::Shape(shape) => shape.judge(window, anchor.start),
        Rule::Name => Ok(assignment::judge(window, anchor.start, anchor.end)?.0),
        Rule::Bearer => bearer(window, anchor),
        Rule::Pem => pem::judge(window, anchor.start, anchor.end),
        Rule::Url => url::judge(window, anchor.end),
        Rule::User => url::judge_option(window, anchor.start, anchor.end),
        Rule::Masked => Ok(None),
    }
}

/// The first of the secrets that begin between a beginning and the secret it leads to: a name may itself contain one.
fn earliest(window: &Window<'_>, anchor: &Anchor, mut found: Found) -> Result<Found, More> {
    let mut at = anchor.start + 1;
    while let Some(other) = ANCHORS.find(window.text, at).filter(|other| other.start < found.start) {
        if let Some(earlier) = judge(window, &other)?.filter(|earlier| earlier.start < found.start) {
            found = earlier;
        }
        at = other.start + 1;
    }
    let undecided = !window.complete && ANCHORS.begins_before(window.text, at, found.start);
    if undecided { Err(More) } else { Ok(found) }
}

/// A token after `Bearer`, which is no word of a text.
fn bearer(window: &Window<'_>, anchor: &Anchor) -> Result<Option<Found>, More> {
    let class = |byte: u8| base64(byte) || matches!(byte, b'.' | b'~');
    let start = window.run(anchor.end, KIND, is_blank)?;
    let token = window.slice(start, window.run(start, 64, class)?);
    let digit = token.iter().any(u8::is_ascii_digit);
    let capital = token.iter().skip(1).any(u8::is_ascii_uppercase);
    let secret = token.len() >= 8 && digit || token.len() >= 16 && capital;
    let found = Found { start, kind: None, extent: Extent::Run { prefix: 0, class } };
    Ok((secret && window.word_begins(anchor.start)).then_some(found))
}

/// Where a mask ends: `[masked]`, `[masked: GitHub token]`.
fn end_of_mask(window: &Window<'_>, anchor: &Anchor) -> Result<Option<usize>, More> {
    let mut end = anchor.end;
    if window.starts_with(end, b": ")? {
        end = window.run(end + 2, KIND, |byte| byte.is_ascii_alphabetic() || byte == b' ')?;
    }
    Ok((window.get(end)? == Some(b']')).then_some(end + 1))
}
