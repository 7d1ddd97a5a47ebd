//! The reading position of the parser in the tokens of a text, and what all its parts ask of it.

use super::ast::*;
use super::error::SyntaxError;
use super::lex::{Tok, Token};

/// How deep statements and bracketed expressions may nest.
const NESTING_MAX: usize = 100;

/// How many levels an expression may have; a chain such as `a + b + c` or `x|f|g` has one for each operator.
const HEIGHT_MAX: u16 = 300;

/// The reading position in the tokens of a text.
pub(super) struct Parser<'s> {
    pub(super) source: &'s str,
    tokens: &'s [Token<'s>],
    pub(super) at: usize,
    pub(super) nesting: usize,
    /// The names of the statements that are open, outermost first.
    pub(super) tags: Vec<&'s str>,
    /// The tags that could close each of them.
    pub(super) ends: Vec<&'static [&'static str]>,
    /// The blocks found so far.
    pub(super) blocks: Vec<Block>,
    /// How many conditions (`if`, `x if y`) are open; in them, unknown filters and tests are errors of the run.
    pub(super) conditions: usize,
    /// The special names ([`SPECIAL`](super::builtin::SPECIAL)) that expressions mention.
    pub(super) special: Vec<&'static str>,
    /// Unknown filters and tests outside of conditions.
    pub(super) unknown: Vec<SyntaxError>,
}

static EOF: Token<'static> = Token { kind: Tok::Eof, at: 0 };

impl<'s> Parser<'s> {
    pub(super) fn new(source: &'s str, tokens: &'s [Token<'s>]) -> Parser<'s> {
        Parser {
            source,
            tokens,
            at: 0,
            nesting: 0,
            tags: Vec::new(),
            ends: Vec::new(),
            blocks: Vec::new(),
            conditions: 0,
            special: Vec::new(),
            unknown: Vec::new(),
        }
    }

    pub(super) fn token(&self) -> &Token<'s> {
        self.tokens.get(self.at).or(self.tokens.last()).unwrap_or(&EOF)
    }

    pub(super) fn tok(&self) -> Tok<'s> {
        self.token().kind
    }

    pub(super) fn spot(&self) -> Spot {
        self.token().at as Spot
    }

    pub(super) fn look(&self) -> Tok<'s> {
        self.tokens.get(self.at + 1).map_or(Tok::Eof, |token| token.kind)
    }

    pub(super) fn next(&mut self) -> Token<'s> {
        let token = *self.token();
        self.at += 1;
        token
    }

    #[inline]
    pub(super) fn is_op(&self, op: &str) -> bool {
        matches!(self.tok(), Tok::Op(text) if text == op)
    }

    #[inline]
    pub(super) fn is_name(&self, name: &str) -> bool {
        matches!(self.tok(), Tok::Name(text) if text == name)
    }

    pub(super) fn skip_op(&mut self, op: &str) -> bool {
        let skips = self.is_op(op);
        self.at += usize::from(skips);
        skips
    }

    pub(super) fn skip_name(&mut self, name: &str) -> bool {
        let skips = self.is_name(name);
        self.at += usize::from(skips);
        skips
    }

    pub(super) fn fail<T>(&self, message: impl Into<String>) -> Result<T, SyntaxError> {
        Err(SyntaxError::new(message, self.token().at))
    }

    pub(super) fn expect_op(&mut self, op: &str) -> Result<(), SyntaxError> {
        match self.skip_op(op) {
            true => Ok(()),
            false => self.fail(expected(&format!("'{op}'"), self.tok())),
        }
    }

    pub(super) fn expect(&mut self, tok: Tok<'static>, name: &str) -> Result<(), SyntaxError> {
        match self.tok() == tok {
            true => {
                self.at += 1;
                Ok(())
            }
            false => self.fail(expected(name, self.tok())),
        }
    }

    pub(super) fn expect_keyword(&mut self, name: &str) -> Result<(), SyntaxError> {
        match self.skip_name(name) {
            true => Ok(()),
            false => self.fail(expected(&format!("'{name}'"), self.tok())),
        }
    }

    pub(super) fn expect_name(&mut self) -> Result<&'s str, SyntaxError> {
        match self.tok() {
            Tok::Name(name) => {
                self.at += 1;
                Ok(name)
            }
            other => self.fail(expected("name", other)),
        }
    }

    /// An expression node, if it does not nest too deep.
    pub(super) fn node(&self, kind: Kind, spot: Spot) -> Result<Expr, SyntaxError> {
        let expr = Expr::new(kind, spot);
        match expr.height <= HEIGHT_MAX {
            true => Ok(expr),
            false => Err(SyntaxError::new("the expression here is too complex; split it up", spot as usize)),
        }
    }

    /// Runs `parse` one level deeper.
    pub(super) fn nested<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, SyntaxError>,
    ) -> Result<T, SyntaxError> {
        if self.nesting >= NESTING_MAX {
            return self.fail(format!("statements and brackets nest deeper than {NESTING_MAX} levels"));
        }
        self.nesting += 1;
        let result = parse(self);
        self.nesting -= 1;
        result
    }

    /// Whether a tuple without brackets ends here.
    pub(super) fn is_tuple_end(&self) -> bool {
        matches!(self.tok(), Tok::VariableEnd | Tok::BlockEnd | Tok::Op(")"))
    }
}

fn expected(what: &str, found: Tok<'_>) -> String {
    match found {
        Tok::Eof => format!("unexpected end of template, expected {what}."),
        found => format!("expected token {what}, got '{}'", describe(found)),
    }
}

/// How messages name a token.
pub(super) fn describe(tok: Tok<'_>) -> String {
    match tok {
        Tok::Data(_) => "template data / text".to_owned(),
        Tok::VariableBegin => "begin of print statement".to_owned(),
        Tok::VariableEnd => "end of print statement".to_owned(),
        Tok::BlockBegin => "begin of statement block".to_owned(),
        Tok::BlockEnd => "end of statement block".to_owned(),
        Tok::Name(name) => name.to_owned(),
        Tok::Str(_) => "string".to_owned(),
        Tok::Integer(_) => "integer".to_owned(),
        Tok::Float(_) => "float".to_owned(),
        Tok::Op(op) => op.to_owned(),
        Tok::Eof => "end of template".to_owned(),
    }
}
