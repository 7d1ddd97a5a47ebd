//! Parses expressions, with Jinja2's precedence.

use num_bigint::BigInt;
use smol_str::SmolStr;

use super::ast::*;
use super::builtin::{FilterName, SPECIAL, TestName, is_dict_method};
use super::cursor::{Parser, describe};
use super::error::SyntaxError;
use super::lex::Tok;

use crate::python::repr::unescape;

type Parse<T> = Result<T, SyntaxError>;

impl Parser<'_> {
    /// One expression.
    pub(super) fn expression(&mut self) -> Parse<Expr> {
        self.nested(Parser::conditional)
    }

    fn expression_with(&mut self, conditional: bool) -> Parse<Expr> {
        match conditional {
            true => self.expression(),
            false => self.nested(Parser::operation),
        }
    }

    /// One expression, or several with commas, which are a tuple; it ends at a closing bracket or the end of the tag.
    pub(super) fn tuple(&mut self, conditional: bool) -> Parse<Expr> {
        match self.is_tuple_end() {
            true => self.fail(format!("Expected an expression, got '{}'", describe(self.tok()))),
            false => self.tuple_items(conditional),
        }
    }

    fn tuple_items(&mut self, conditional: bool) -> Parse<Expr> {
        let spot = self.spot();
        let first = self.expression_with(conditional)?;
        if !self.is_op(",") {
            return Ok(first);
        }
        let mut items = vec![first];
        while self.skip_op(",") && !self.is_tuple_end() {
            items.push(self.expression_with(conditional)?);
        }
        self.node(Kind::Tuple(items), spot)
    }

    fn conditional(&mut self) -> Parse<Expr> {
        let spot = self.spot();
        let unknown = self.unknown.len();
        let mut then = self.operation()?;
        if !self.is_name("if") {
            return Ok(then);
        }
        // An unknown filter in the first part is an error of the run only.
        self.unknown.truncate(unknown);
        self.conditions += 1;
        while self.skip_name("if") {
            let test = self.operation()?;
            let otherwise = match self.skip_name("else") {
                true => Some(self.nested(Parser::conditional)?),
                false => None,
            };
            then = self.node(Kind::Cond(Box::new(Cond { test, then, otherwise })), spot)?;
        }
        self.conditions -= 1;
        Ok(then)
    }

    /// An expression without `if`. Most have one operand only, for which the levels of precedence are not needed.
    fn operation(&mut self) -> Parse<Expr> {
        if self.is_name("not") {
            return self.or(None);
        }
        let first = self.unary(true)?;
        match self.tok() {
            Tok::VariableEnd | Tok::BlockEnd | Tok::Op(")" | "]" | "}" | "," | ":" | "=") => Ok(first),
            _ => self.or(Some(first)),
        }
    }

    // Each level of precedence gets the first operand if it has been read already.

    fn or(&mut self, first: Option<Expr>) -> Parse<Expr> {
        let spot = self.spot_of(&first);
        let mut left = self.and(first)?;
        while self.skip_name("or") {
            let right = self.and(None)?;
            left = self.node(Kind::Or(Box::new((left, right))), spot)?;
        }
        Ok(left)
    }

    fn and(&mut self, first: Option<Expr>) -> Parse<Expr> {
        let spot = self.spot_of(&first);
        let mut left = self.not(first)?;
        while self.skip_name("and") {
            let right = self.not(None)?;
            left = self.node(Kind::And(Box::new((left, right))), spot)?;
        }
        Ok(left)
    }

    fn not(&mut self, first: Option<Expr>) -> Parse<Expr> {
        let spot = self.spot_of(&first);
        match first.is_none() && self.skip_name("not") {
            true => {
                let inner = self.nested(|parser| parser.not(None))?;
                self.node(Kind::Not(Box::new(inner)), spot)
            }
            false => self.compare(first),
        }
    }

    fn spot_of(&self, first: &Option<Expr>) -> Spot {
        first.as_ref().map_or(self.spot(), |first| first.spot)
    }

    fn compare_op(&mut self) -> Option<CompareOp> {
        let op = match self.tok() {
            Tok::Op("==") => CompareOp::Eq,
            Tok::Op("!=") => CompareOp::Ne,
            Tok::Op("<") => CompareOp::Lt,
            Tok::Op("<=") => CompareOp::Le,
            Tok::Op(">") => CompareOp::Gt,
            Tok::Op(">=") => CompareOp::Ge,
            Tok::Name("in") => CompareOp::In,
            Tok::Name("not") if self.look() == Tok::Name("in") => {
                self.next();
                CompareOp::NotIn
            }
            _ => return None,
        };
        self.next();
        Some(op)
    }

    fn compare(&mut self, first: Option<Expr>) -> Parse<Expr> {
        let spot = self.spot_of(&first);
        let first = self.sum(first)?;
        let mut rest = Vec::new();
        while let Some(op) = self.compare_op() {
            rest.push((op, self.sum(None)?));
        }
        match rest.is_empty() {
            true => Ok(first),
            false => self.node(Kind::Compare(Box::new(Compare { first, rest })), spot),
        }
    }

    fn binary(&mut self, op: BinaryOp, left: Expr, right: Expr) -> Parse<Expr> {
        let spot = left.spot;
        self.node(Kind::Binary(Box::new(Binary { op, left, right })), spot)
    }

    fn sum(&mut self, first: Option<Expr>) -> Parse<Expr> {
        let mut left = self.concat(first)?;
        loop {
            let op = match self.tok() {
                Tok::Op("+") => BinaryOp::Add,
                Tok::Op("-") => BinaryOp::Sub,
                _ => return Ok(left),
            };
            self.next();
            let right = self.concat(None)?;
            left = self.binary(op, left, right)?;
        }
    }

    fn concat(&mut self, first: Option<Expr>) -> Parse<Expr> {
        let spot = self.spot_of(&first);
        let first = self.product(first)?;
        if !self.is_op("~") {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.skip_op("~") {
            parts.push(self.product(None)?);
        }
        self.node(Kind::Concat(parts), spot)
    }

    fn product(&mut self, first: Option<Expr>) -> Parse<Expr> {
        let mut left = self.power(first)?;
        loop {
            let op = match self.tok() {
                Tok::Op("*") => BinaryOp::Mul,
                Tok::Op("/") => BinaryOp::Div,
                Tok::Op("//") => BinaryOp::FloorDiv,
                Tok::Op("%") => BinaryOp::Mod,
                _ => return Ok(left),
            };
            self.next();
            let right = self.power(None)?;
            left = self.binary(op, left, right)?;
        }
    }

    /// `a ** b ** c` is `(a ** b) ** c`, unlike in Python.
    fn power(&mut self, first: Option<Expr>) -> Parse<Expr> {
        let mut left = first.map_or_else(|| self.unary(true), Ok)?;
        while self.skip_op("**") {
            let right = self.unary(true)?;
            let op =
                if is_constant(&left) && !is_constant(&right) { BinaryOp::ConstPow } else { BinaryOp::Pow };
            left = self.binary(op, left, right)?;
        }
        Ok(left)
    }

    fn unary(&mut self, filters: bool) -> Parse<Expr> {
        let spot = self.spot();
        let negates = self.is_op("-");
        let node = if negates || self.is_op("+") {
            self.next();
            let inner = Box::new(self.nested(|parser| parser.unary(false))?);
            self.node(if negates { Kind::Neg(inner) } else { Kind::Pos(inner) }, spot)?
        } else {
            self.primary()?
        };
        let node = self.postfix(node)?;
        match filters {
            true => self.filter_expr(node),
            false => Ok(node),
        }
    }

    fn primary(&mut self) -> Parse<Expr> {
        let spot = self.spot();
        let kind = match self.tok() {
            Tok::Name(name) => {
                self.next();
                if let Some(special) = SPECIAL.iter().find(|special| **special == name)
                    && !self.special.contains(special)
                {
                    self.special.push(special);
                }
                constant(name).unwrap_or_else(|| Kind::Name { name: name.into(), slot: Slot::default() })
            }
            Tok::Str(_) => Kind::Str(self.strings()?.into()),
            Tok::Integer(digits) => {
                self.next();
                integer(digits)
            }
            Tok::Float(digits) => {
                self.next();
                Kind::Float(digits.replace('_', "").parse().unwrap_or(f64::INFINITY))
            }
            Tok::Op("(") => {
                self.next();
                let inner = match self.is_op(")") {
                    true => self.node(Kind::Tuple(Vec::new()), spot)?,
                    false => self.tuple(true)?,
                };
                self.expect_op(")")?;
                return Ok(inner);
            }
            Tok::Op("[") => {
                self.next();
                Kind::List(self.list_items()?)
            }
            Tok::Op("{") => {
                self.next();
                Kind::Dict(self.dict_items()?)
            }
            other => return self.fail(format!("unexpected '{}'", describe(other))),
        };
        self.node(kind, spot)
    }

    /// One or more string literals, which are joined.
    fn strings(&mut self) -> Parse<String> {
        let mut text = String::new();
        while let Tok::Str(body) = self.tok() {
            match body.contains('\\') {
                false => text.push_str(body),
                true => match unescape(body) {
                    Ok(unescaped) => text.push_str(&unescaped),
                    Err(error) => return self.fail(error.to_string()),
                },
            }
            self.next();
        }
        Ok(text)
    }

    fn list_items(&mut self) -> Parse<Vec<Expr>> {
        let mut items = Vec::new();
        while !self.is_op("]") {
            if !items.is_empty() {
                self.expect_op(",")?;
            }
            if self.is_op("]") {
                break;
            }
            items.push(self.expression()?);
        }
        self.expect_op("]")?;
        Ok(items)
    }

    fn dict_items(&mut self) -> Parse<Vec<(Expr, Expr)>> {
        let mut items = Vec::new();
        while !self.is_op("}") {
            if !items.is_empty() {
                self.expect_op(",")?;
            }
            if self.is_op("}") {
                break;
            }
            let key = self.expression()?;
            self.expect_op(":")?;
            items.push((key, self.expression()?));
        }
        self.expect_op("}")?;
        Ok(items)
    }

    fn postfix(&mut self, mut node: Expr) -> Parse<Expr> {
        loop {
            node = match self.tok() {
                Tok::Op(".") => self.attribute(node)?,
                Tok::Op("[") => self.subscript(node)?,
                Tok::Op("(") => self.call(node)?,
                _ => return Ok(node),
            };
        }
    }

    fn filter_expr(&mut self, mut node: Expr) -> Parse<Expr> {
        loop {
            node = match self.tok() {
                Tok::Op("|") => self.filters(node)?,
                Tok::Name("is") => self.test(node)?,
                Tok::Op("(") => self.call(node)?,
                _ => return Ok(node),
            };
        }
    }

    fn attribute(&mut self, of: Expr) -> Parse<Expr> {
        self.next();
        let spot = of.spot;
        match self.tok() {
            Tok::Name(name) => {
                self.next();
                let is_method = is_dict_method(name);
                self.node(Kind::Attr(Box::new(Attr { of, name: name.into(), is_method })), spot)
            }
            Tok::Integer(digits) => {
                let index = self.node(integer(digits), self.spot())?;
                self.next();
                self.node(Kind::Item(Box::new((of, index))), spot)
            }
            _ => self.fail("expected name or number"),
        }
    }

    fn subscript(&mut self, of: Expr) -> Parse<Expr> {
        self.next();
        let spot = of.spot;
        let key_spot = self.spot();
        let mut keys = Vec::new();
        while !self.is_op("]") {
            if !keys.is_empty() {
                self.expect_op(",")?;
            }
            let key = if self.is_op(":") { None } else { Some(self.expression()?) };
            if self.is_op(":") && !keys.is_empty() {
                return self.fail("invalid syntax: a slice among several keys");
            }
            if self.is_op(":") {
                return self.slice(of, key);
            }
            keys.extend(key);
        }
        self.expect_op("]")?;
        let single = keys.len() == 1;
        let key = match keys.pop() {
            Some(key) if single => key,
            last => {
                keys.extend(last);
                self.node(Kind::Tuple(keys), key_spot)?
            }
        };
        self.node(Kind::Item(Box::new((of, key))), spot)
    }

    /// The rest of `of[start:stop:step]`, from the first colon.
    fn slice(&mut self, of: Expr, start: Option<Expr>) -> Parse<Expr> {
        self.expect_op(":")?;
        let spot = of.spot;
        let stop = self.slice_part()?;
        let step = match self.skip_op(":") {
            true => self.slice_part()?,
            false => None,
        };
        self.expect_op("]")?;
        self.node(Kind::Slice(Box::new(Slice { of, start, stop, step })), spot)
    }

    fn slice_part(&mut self) -> Parse<Option<Expr>> {
        match self.tok() {
            Tok::Op(":" | "]" | ",") => Ok(None),
            _ => self.expression().map(Some),
        }
    }

    fn call(&mut self, callee: Expr) -> Parse<Expr> {
        let spot = callee.spot;
        let args = self.arguments()?;
        self.node(Kind::Call(Box::new(Call { callee, args })), spot)
    }

    fn arguments(&mut self) -> Parse<Args> {
        self.expect_op("(")?;
        let mut args = Args::default();
        let mut first = true;
        while !self.is_op(")") {
            if !first {
                self.expect_op(",")?;
                if self.is_op(")") {
                    break;
                }
            }
            first = false;
            self.argument(&mut args)?;
        }
        self.expect_op(")")?;
        Ok(args)
    }

    fn argument(&mut self, args: &mut Args) -> Parse<()> {
        const INVALID: &str = "invalid syntax for function call expression";
        let spread = args.spread.is_some();
        let spread_named = args.spread_named.is_some();
        match (self.tok(), self.look()) {
            (Tok::Op("*"), _) if !spread && !spread_named => {
                self.next();
                args.spread = Some(self.expression()?);
            }
            (Tok::Op("**"), _) if !spread_named => {
                self.next();
                args.spread_named = Some(self.expression()?);
            }
            (Tok::Name(name), Tok::Op("=")) if !spread_named => {
                let name: SmolStr = name.into();
                if args.named.iter().any(|(known, _)| *known == name) {
                    return self.fail(format!("keyword argument repeated: {name}"));
                }
                self.next();
                self.next();
                args.named.push((name, self.expression()?));
            }
            (Tok::Op("*" | "**"), _) | (Tok::Name(_), Tok::Op("=")) => return self.fail(INVALID),
            _ if spread || spread_named || !args.named.is_empty() => return self.fail(INVALID),
            _ => args.positional.push(self.expression()?),
        }
        Ok(())
    }

    /// A chain of filters, each with its `|`.
    pub(super) fn filters(&mut self, mut node: Expr) -> Parse<Expr> {
        while self.skip_op("|") {
            node = self.filter(node)?;
        }
        Ok(node)
    }

    /// One filter, without its `|`.
    pub(super) fn filter(&mut self, base: Expr) -> Parse<Expr> {
        let place = self.token().at;
        let name = self.dotted_name()?;
        let args = if self.is_op("(") { self.arguments()? } else { Args::default() };
        let filter = FilterName::find(&name);
        if filter.is_none() {
            self.unknown_name(format!("No filter named '{name}'."), place);
        }
        let spot = if matches!(base.kind, Kind::Captured) { place as Spot } else { base.spot };
        self.node(Kind::Filter(Box::new(Filter { base, name: name.into(), filter, args })), spot)
    }

    /// Notes an unknown filter or test, unless a condition decides whether it is reached.
    fn unknown_name(&mut self, message: String, place: usize) {
        if self.conditions == 0 {
            self.unknown.push(SyntaxError::new(message, place));
        }
    }

    fn dotted_name(&mut self) -> Parse<String> {
        let mut name = self.expect_name()?.to_owned();
        while self.skip_op(".") {
            name.push('.');
            name.push_str(self.expect_name()?);
        }
        Ok(name)
    }

    fn test(&mut self, base: Expr) -> Parse<Expr> {
        self.next();
        let spot = base.spot;
        let negated = self.skip_name("not");
        let place = self.token().at;
        let name = self.dotted_name()?;
        let args = self.test_arguments()?;
        let test = TestName::find(&name);
        if test.is_none() {
            self.unknown_name(format!("No test named '{name}'."), place);
        }
        let node = self.node(Kind::Test(Box::new(Test { base, name: name.into(), test, args })), spot)?;
        match negated {
            true => self.node(Kind::Not(Box::new(node)), spot),
            false => Ok(node),
        }
    }

    fn test_arguments(&mut self) -> Parse<Args> {
        match self.tok() {
            Tok::Op("(") => self.arguments(),
            Tok::Name("else" | "or" | "and") => Ok(Args::default()),
            Tok::Name("is") => self.fail("You cannot chain multiple tests with is"),
            Tok::Name(_) | Tok::Str(_) | Tok::Integer(_) | Tok::Float(_) | Tok::Op("[" | "{") => {
                let primary = self.primary()?;
                let argument = self.postfix(primary)?;
                Ok(Args { positional: vec![argument], ..Args::default() })
            }
            _ => Ok(Args::default()),
        }
    }
}

/// Whether Jinja2 computes the expression when it compiles the template.
fn is_constant(expr: &Expr) -> bool {
    let args = |args: &Args| {
        let named = args.named.iter().map(|(_, value)| value);
        args.positional.iter().chain(named).chain(&args.spread).chain(&args.spread_named).all(is_constant)
    };
    match &expr.kind {
        Kind::Name { .. } | Kind::Call(_) | Kind::Captured => false,
        Kind::Attr(attr) => is_constant(&attr.of),
        Kind::Neg(inner) | Kind::Pos(inner) | Kind::Not(inner) => is_constant(inner),
        Kind::Binary(binary) => is_constant(&binary.left) && is_constant(&binary.right),
        Kind::And(pair) | Kind::Or(pair) | Kind::Item(pair) => is_constant(&pair.0) && is_constant(&pair.1),
        Kind::Cond(cond) => {
            is_constant(&cond.test)
                && is_constant(&cond.then)
                && cond.otherwise.as_ref().is_some_and(is_constant)
        }
        Kind::Compare(compare) => {
            is_constant(&compare.first) && compare.rest.iter().all(|(_, operand)| is_constant(operand))
        }
        Kind::Slice(slice) => {
            is_constant(&slice.of)
                && [&slice.start, &slice.stop, &slice.step].into_iter().flatten().all(is_constant)
        }
        Kind::Concat(items) | Kind::Tuple(items) | Kind::List(items) => items.iter().all(is_constant),
        Kind::Dict(items) => items.iter().all(|(name, value)| is_constant(name) && is_constant(value)),
        Kind::Filter(filter) => is_constant(&filter.base) && args(&filter.args),
        Kind::Test(test) => is_constant(&test.base) && args(&test.args),
        _ => true,
    }
}

/// The constant of a name.
pub(super) fn constant(name: &str) -> Option<Kind> {
    Some(match name {
        "true" | "True" => Kind::Bool(true),
        "false" | "False" => Kind::Bool(false),
        "none" | "None" => Kind::None,
        _ => return None,
    })
}

fn integer(digits: &str) -> Kind {
    let digits = digits.replace('_', "").to_ascii_lowercase();
    let (radix, digits) = match digits.get(..2) {
        Some("0x") => (16, digits.get(2..)),
        Some("0o") => (8, digits.get(2..)),
        Some("0b") => (2, digits.get(2..)),
        _ => (10, Some(digits.as_str())),
    };
    let digits = digits.unwrap_or_default();
    match i64::from_str_radix(digits, radix) {
        Ok(value) => Kind::Int(value),
        Err(_) => Kind::Big(Box::new(BigInt::parse_bytes(digits.as_bytes(), radix).unwrap_or_default())),
    }
}
