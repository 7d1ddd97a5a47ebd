//! The table of secrets that are known by their shape: a prefix, and what follows it.

use super::window::{More, Window};
use super::{Found, extent::Extent};

/// How far a secret is looked at before it is taken for one, in bytes.
const LOOKED_AT: usize = 1024;
/// The same of a secret whose prefix is short and usual.
const KEY: usize = 32;

/// A kind of secrets that begin with a prefix.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) prefix: &'static str,
    /// What the secret is called where it was.
    kind: &'static str,
    class: fn(u8) -> bool,
    body: Body,
}

/// What follows the prefix.
#[derive(Debug, Clone, Copy)]
enum Body {
    /// At least this many characters of the class.
    Least(usize),
    /// Exactly this many, and no letter or digit after them.
    Exactly(usize),
    /// Something that no name has: 16 letters and digits in a row, or 32 characters with capitals and digits.
    Key,
    /// At least this many, of a secret path of a URL: the prefix is no secret.
    Path(usize),
    /// Two or more parts with dots between, the second beginning so.
    Parts(&'static str),
    /// What stands after a bot's number.
    Bot,
}

const fn shape(prefix: &'static str, kind: &'static str, class: fn(u8) -> bool, body: Body) -> Shape {
    Shape { prefix, kind, class, body }
}

/// The known shapes. Of two that begin alike the longer comes first.
pub(super) const SHAPES: &[Shape] = &[
    shape("sk-ant-", "Anthropic key", dashed, Body::Key),
    shape("sk-", "OpenAI key", dashed, Body::Key),
    shape("AKIA", "AWS access key", capital, Body::Exactly(16)),
    shape("ASIA", "AWS access key", capital, Body::Exactly(16)),
    shape("ghp_", "GitHub token", alphanumeric, Body::Least(16)),
    shape("gho_", "GitHub token", alphanumeric, Body::Least(16)),
    shape("ghu_", "GitHub token", alphanumeric, Body::Least(16)),
    shape("ghs_", "GitHub token", dotted, Body::Least(16)),
    shape("ghr_", "GitHub token", alphanumeric, Body::Least(16)),
    shape("github_pat_", "GitHub token", dashed, Body::Least(20)),
    shape("glpat-", "GitLab token", dotted, Body::Least(16)),
    shape("xoxa-", "Slack token", dashed, Body::Least(10)),
    shape("xoxb-", "Slack token", dashed, Body::Least(10)),
    shape("xoxe.", "Slack token", dotted, Body::Least(10)),
    shape("xoxp-", "Slack token", dashed, Body::Least(10)),
    shape("xoxr-", "Slack token", dashed, Body::Least(10)),
    shape("xoxs-", "Slack token", dashed, Body::Least(10)),
    shape("xapp-", "Slack token", dashed, Body::Key),
    shape("hooks.slack.com/services/", "Slack webhook", path, Body::Path(10)),
    shape("AIza", "Google key", dashed, Body::Least(30)),
    shape("ya29.", "Google token", dotted, Body::Least(20)),
    shape("sk_live_", "Stripe key", alphanumeric, Body::Least(10)),
    shape("sk_test_", "Stripe key", alphanumeric, Body::Least(10)),
    shape("rk_live_", "Stripe key", alphanumeric, Body::Least(10)),
    shape("rk_test_", "Stripe key", alphanumeric, Body::Least(10)),
    shape("whsec_", "Stripe secret", base64, Body::Least(20)),
    shape("npm_", "npm token", alphanumeric, Body::Least(30)),
    shape("pypi-", "PyPI token", dashed, Body::Key),
    shape("hf_", "Hugging Face token", alphanumeric, Body::Least(20)),
    shape("gsk_", "Groq key", alphanumeric, Body::Least(20)),
    shape("dop_v1_", "DigitalOcean token", alphanumeric, Body::Least(32)),
    shape("hvs.", "Vault token", dashed, Body::Least(20)),
    shape("AGE-SECRET-KEY-1", "age key", alphanumeric, Body::Least(20)),
    shape("SG.", "SendGrid key", dotted, Body::Parts("")),
    shape("eyJ", "JWT", dotted, Body::Parts("eyJ")),
    shape(":AA", "Telegram token", dashed, Body::Bot),
];

impl Shape {
    /// The secret that begins at `start`, if one does.
    pub(super) fn judge(&self, window: &Window<'_>, start: usize) -> Result<Option<Found>, More> {
        let body = start + self.prefix.len();
        let begins = match self.body {
            Body::Path(_) => true,
            Body::Bot => after_bot_number(window, start),
            // Not in the middle of one either: then no text is looked at again and again.
            Body::Parts(_) => window.word_begins(start) && window.before(start) != Some(b'-'),
            _ => window.word_begins(start),
        };
        if !begins || !self.is_body(window, body)? {
            return Ok(None);
        }
        let from = match self.body {
            Body::Path(_) => body,
            Body::Bot => start + 1,
            _ => start,
        };
        // The prefix may have characters that the rest must not have.
        let extent = Extent::Run { prefix: body - from, class: self.class };
        Ok(Some(Found { start: from, kind: Some(self.kind), extent }))
    }

    fn is_body(&self, window: &Window<'_>, from: usize) -> Result<bool, More> {
        let least = |least: usize| Ok(window.run(from, least, self.class)? == from + least);
        match self.body {
            Body::Least(count) | Body::Path(count) => least(count),
            Body::Bot => least(30),
            Body::Exactly(count) => Ok(least(count)? && !window.get(from + count)?.is_some_and(alphanumeric)),
            Body::Key => is_key(window, from),
            Body::Parts(second) => has_parts(window, from, second),
        }
    }
}

/// Whether no name looks so: see [`Body::Key`].
fn is_key(window: &Window<'_>, from: usize) -> Result<bool, More> {
    let (mut row, mut digits, mut capitals) = (0, false, false);
    for at in from..from + KEY {
        let Some(byte) = window.get(at)?.filter(|byte| dashed(*byte)) else { return Ok(false) };
        row = if alphanumeric(byte) { row + 1 } else { 0 };
        digits |= byte.is_ascii_digit();
        capitals |= byte.is_ascii_uppercase();
        if row == 16 || digits && capitals && at + 1 == from + KEY {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether there is a part, a dot, and another part. A first part that is longer than is looked at is a secret, too.
fn has_parts(window: &Window<'_>, from: usize, second: &str) -> Result<bool, More> {
    let dot = window.run(from, LOOKED_AT, dashed)?;
    if dot == from + LOOKED_AT {
        return Ok(true);
    }
    if dot < from + 8 || window.get(dot)? != Some(b'.') || !window.starts_with(dot + 1, second.as_bytes())? {
        return Ok(false);
    }
    Ok(window.run(dot + 1, 8, dashed)? == dot + 9)
}

fn after_bot_number(window: &Window<'_>, end: usize) -> bool {
    let digits = end - window.run_back(end, 12, |byte| byte.is_ascii_digit());
    (8..=11).contains(&digits)
}

fn alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn capital(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn dashed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

fn dotted(byte: u8) -> bool {
    dashed(byte) || byte == b'.'
}

fn path(byte: u8) -> bool {
    dashed(byte) || byte == b'/'
}

/// The characters of base64, and of its variant for URLs.
pub(super) fn base64(byte: u8) -> bool {
    path(byte) || matches!(byte, b'+' | b'=')
}
