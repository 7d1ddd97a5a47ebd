//! Parses the statements of a text.

use smol_str::SmolStr;

use super::ast::*;
use super::cursor::{Parser, describe};
use super::error::SyntaxError;
use super::lex::{Tok, Token};
use super::parse_expr::constant;

/// Statements as parsed, with their blocks taken out.
pub(super) struct Parsed {
    pub body: Vec<Stmt>,
    pub blocks: Vec<Block>,
    /// The special names that expressions mention.
    pub special: Vec<&'static str>,
}

/// Parses a text that has been split into tokens.
///
/// # Errors
/// Jinja2's message for the first error.
pub(super) fn parse<'s>(source: &'s str, tokens: &'s [Token<'s>]) -> Result<Parsed, SyntaxError> {
    let mut parser = Parser::new(source, tokens);
    let body = parser.statements_until(&[])?;
    if let Some(error) = std::mem::take(&mut parser.unknown).into_iter().next() {
        return Err(error);
    }
    Ok(Parsed { body, blocks: parser.blocks, special: parser.special })
}

impl<'s> Parser<'s> {
    /// Statements up to one of these tags, or up to the end of the text if there are none.
    fn statements_until(&mut self, ends: &'static [&'static str]) -> Result<Vec<Stmt>, SyntaxError> {
        let mut body = Vec::new();
        if !ends.is_empty() {
            self.ends.push(ends);
        }
        loop {
            match self.tok() {
                Tok::Eof => break,
                Tok::Data(text) => {
                    let start = self.spot();
                    self.at += 1;
                    body.push(Stmt::Text { start, end: start + text.len() as Spot });
                }
                Tok::VariableBegin => {
                    self.at += 1;
                    let value = self.tuple(true)?;
                    self.expect(Tok::VariableEnd, "end of print statement")?;
                    body.push(Stmt::Print(value));
                }
                Tok::BlockBegin => {
                    self.at += 1;
                    if ends.iter().any(|end| self.is_name(end)) {
                        break;
                    }
                    self.statement(&mut body)?;
                    self.expect(Tok::BlockEnd, "end of statement block")?;
                }
                other => return self.fail(format!("unexpected {}", describe(other))),
            }
        }
        if !ends.is_empty() {
            if self.tok() == Tok::Eof {
                return self.unknown_tag(None);
            }
            self.ends.pop();
        }
        Ok(body)
    }

    /// The statements of a tag, from the end of its first part to one of `ends`, which is the next token then.
    fn body(&mut self, ends: &'static [&'static str]) -> Result<Vec<Stmt>, SyntaxError> {
        self.skip_op(":");
        self.expect(Tok::BlockEnd, "end of statement block")?;
        self.nested(|parser| parser.statements_until(ends))
    }

    /// The statements of a tag that has variables of its own, in which conditions outside of it do not count.
    fn closed_scope(&mut self, ends: &'static [&'static str]) -> Result<Scope, SyntaxError> {
        let body = self.scope_body(ends)?;
        self.at += 1;
        Ok(Scope { frame: Frame::default(), body })
    }

    fn scope_body(&mut self, ends: &'static [&'static str]) -> Result<Vec<Stmt>, SyntaxError> {
        self.unconditional(|parser| parser.body(ends))
    }

    /// Parses a part of a tag with variables of its own.
    fn unconditional<T>(&mut self, parse: impl FnOnce(&mut Self) -> T) -> T {
        let conditions = std::mem::take(&mut self.conditions);
        let parsed = parse(self);
        self.conditions = conditions;
        parsed
    }

    fn closed_body(&mut self, ends: &'static [&'static str]) -> Result<Vec<Stmt>, SyntaxError> {
        let body = self.body(ends)?;
        self.at += 1;
        Ok(body)
    }

    fn unknown_tag<T>(&self, name: Option<&str>) -> Result<T, SyntaxError> {
        let mut message = match name {
            None => "Unexpected end of template.".to_owned(),
            Some(name) => format!("Encountered unknown tag '{name}'."),
        };
        if let Some(ends) = self.ends.last() {
            let looking = ends.iter().map(|end| format!("'{end}'")).collect::<Vec<_>>().join(" or ");
            let misplaced = name.is_some_and(|name| self.ends.iter().any(|ends| ends.contains(&name)));
            message += &match misplaced {
                true => format!(
                    " You probably made a nesting mistake. Jinja is expecting this tag, but currently looking for \
                     {looking}."
                ),
                false => format!(" Jinja was looking for the following tags: {looking}."),
            };
        }
        if let Some(tag) = self.tags.last() {
            message += &format!(" The innermost block that needs to be closed is '{tag}'.");
        }
        self.fail(message)
    }

    fn statement(&mut self, body: &mut Vec<Stmt>) -> Result<(), SyntaxError> {
        let Tok::Name(tag) = self.tok() else { return self.fail("tag name expected") };
        let spot = self.spot();
        self.tags.push(tag);
        self.at += 1;
        let stmt = match tag {
            "print" => return self.print(body),
            "set" => self.set(),
            "for" => self.for_loop(),
            "if" => self.condition(),
            "with" => self.with(),
            "autoescape" => self.autoescape(),
            "block" => self.block(spot),
            "extends" => Ok(Stmt::Extends(Box::new(Extends { template: self.expression()?, spot }))),
            "include" => self.include(spot),
            "import" => self.import(spot),
            "from" => self.import_names(spot),
            "macro" => self.macro_definition(spot),
            "call" => self.call_block(spot),
            "filter" => self.filter_block(),
            "do" => Ok(Stmt::Do(self.tuple(true)?)),
            "break" => Ok(Stmt::Break),
            "continue" => Ok(Stmt::Continue),
            "generation" => Ok(Stmt::Scope(Box::new(self.closed_scope(&["endgeneration"])?))),
            _ => {
                self.tags.pop();
                self.at -= 1;
                return self.unknown_tag(Some(tag));
            }
        }?;
        self.tags.pop();
        body.push(stmt);
        Ok(())
    }

    fn print(&mut self, body: &mut Vec<Stmt>) -> Result<(), SyntaxError> {
        let mut first = true;
        while self.tok() != Tok::BlockEnd {
            if !first {
                self.expect_op(",")?;
            }
            first = false;
            body.push(Stmt::Print(self.expression()?));
        }
        self.tags.pop();
        Ok(())
    }

    fn set(&mut self) -> Result<Stmt, SyntaxError> {
        let target = self.target(true)?;
        if self.skip_op("=") {
            let value = self.tuple(true)?;
            return Ok(Stmt::Set(Box::new(Set { target, value, exported: Vec::new() })));
        }
        let filter = match self.is_op("|") {
            true => {
                let captured = self.node(Kind::Captured, self.spot())?;
                Some(self.unconditional(|parser| parser.filters(captured))?)
            }
            false => None,
        };
        let scope = self.closed_scope(&["endset"])?;
        Ok(Stmt::SetBlock(Box::new(SetBlock { target, filter, scope, exported: Vec::new() })))
    }

    fn for_loop(&mut self) -> Result<Stmt, SyntaxError> {
        let target = self.target(false)?;
        self.expect_keyword("in")?;
        let over = self.tuple(false)?;
        let test = match self.skip_name("if") {
            true => {
                let expr = self.unconditional(Parser::expression)?;
                Some(LoopTest { frame: Frame::default(), target: copy_target(&target), expr })
            }
            false => None,
        };
        let recursive = self.skip_name("recursive").then_some(0);
        let body = self.scope_body(&["endfor", "else"])?;
        let ended = self.is_name("endfor");
        self.at += 1;
        let otherwise = match ended {
            true => None,
            false => Some(self.closed_scope(&["endfor"])?),
        };
        let scope = Scope { frame: Frame::default(), body };
        Ok(Stmt::For(Box::new(For { target, over, test, scope, otherwise, recursive, loop_slot: None })))
    }

    fn condition(&mut self) -> Result<Stmt, SyntaxError> {
        self.conditions += 1;
        let mut arms = Vec::new();
        let mut otherwise = Vec::new();
        loop {
            let test = self.tuple(false)?;
            let body = self.body(&["elif", "else", "endif"])?;
            arms.push((test, body));
            match self.next().kind {
                Tok::Name("elif") => {}
                Tok::Name("else") => {
                    otherwise = self.closed_body(&["endif"])?;
                    break;
                }
                _ => break,
            }
        }
        self.conditions -= 1;
        Ok(Stmt::If(Box::new(If { arms, otherwise })))
    }

    fn with(&mut self) -> Result<Stmt, SyntaxError> {
        let mut targets = Vec::new();
        while self.tok() != Tok::BlockEnd {
            if !targets.is_empty() {
                self.expect_op(",")?;
            }
            let target = self.target(false)?;
            self.expect_op("=")?;
            targets.push((target, self.expression()?));
        }
        let scope = self.closed_scope(&["endwith"])?;
        Ok(Stmt::With(Box::new(With { targets, scope })))
    }

    fn autoescape(&mut self) -> Result<Stmt, SyntaxError> {
        let value = self.expression()?;
        let scope = self.closed_scope(&["endautoescape"])?;
        Ok(Stmt::Autoescape(Box::new(Autoescape { value, scope })))
    }

    fn block(&mut self, spot: Spot) -> Result<Stmt, SyntaxError> {
        let name = self.expect_name()?;
        let scoped = self.skip_name("scoped");
        let required = self.skip_name("required");
        if self.is_op("-") {
            return self.fail(
                "Block names in Jinja have to be valid Python identifiers and may not contain hyphens, use an \
                 underscore instead.",
            );
        }
        if self.blocks.iter().any(|block| block.name == name) {
            return Err(SyntaxError::new(format!("block '{name}' defined twice"), spot as usize));
        }
        // The place is kept, so that a block inside of it cannot take the name.
        let at = self.blocks.len();
        self.blocks.push(Block {
            name: name.into(),
            frame: Frame::default(),
            body: Vec::new(),
            slots: 0,
            self_slot: None,
            super_slot: None,
        });
        let body = self.closed_scope(&["endblock"])?.body;
        let is_blank = |stmt: &Stmt| match stmt {
            Stmt::Text { start, end } => {
                self.source.get(*start as usize..*end as usize).is_none_or(|text| text.trim().is_empty())
            }
            _ => false,
        };
        if required && !body.iter().all(is_blank) {
            return self.fail("Required blocks can only contain comments or whitespace");
        }
        if let Some(block) = self.blocks.get_mut(at) {
            block.body = body;
        }
        self.skip_name(name);
        let scoped = scoped.then(Vec::new);
        Ok(Stmt::Block(Box::new(BlockCall { name: name.into(), required, scoped, toplevel: false, spot })))
    }

    fn include(&mut self, spot: Spot) -> Result<Stmt, SyntaxError> {
        let template = self.expression()?;
        let ignore_missing = self.is_name("ignore") && self.look() == Tok::Name("missing");
        if ignore_missing {
            self.at += 2;
        }
        let with_context = self.import_context()?.unwrap_or(true);
        let visible = Vec::new();
        Ok(Stmt::Include(Box::new(Include { template, ignore_missing, with_context, visible, spot })))
    }

    /// `with context` or `without context`.
    fn import_context(&mut self) -> Result<Option<bool>, SyntaxError> {
        let with = self.is_name("with");
        if !(with || self.is_name("without")) || self.look() != Tok::Name("context") {
            return Ok(None);
        }
        self.at += 2;
        Ok(Some(with))
    }

    fn import(&mut self, spot: Spot) -> Result<Stmt, SyntaxError> {
        let template = self.expression()?;
        self.expect_keyword("as")?;
        let target = self.target_name()?.into();
        let with_context = self.import_context()?.unwrap_or(false);
        Ok(Stmt::Import(Box::new(Import {
            template,
            target,
            slot: Slot::default(),
            exported: false,
            with_context,
            visible: Vec::new(),
            spot,
        })))
    }

    fn import_names(&mut self, spot: Spot) -> Result<Stmt, SyntaxError> {
        let template = self.expression()?;
        self.expect_keyword("import")?;
        let mut names: Vec<(SmolStr, SmolStr, Slot)> = Vec::new();
        let context = loop {
            if !names.is_empty() {
                self.expect_op(",")?;
            }
            if let Some(context) = self.import_context()? {
                break Some(context);
            }
            let name = self.target_name()?;
            if name.starts_with('_') {
                return self.fail("names starting with an underline can not be imported");
            }
            let alias = if self.skip_name("as") { self.target_name()? } else { name };
            names.push((name.into(), alias.into(), Slot::default()));
            let context = self.import_context()?;
            if context.is_some() || !self.is_op(",") {
                break context;
            }
        };
        Ok(Stmt::FromImport(Box::new(FromImport {
            template,
            names,
            exported: false,
            with_context: context.unwrap_or(false),
            visible: Vec::new(),
            spot,
        })))
    }

    fn params(&mut self) -> Result<Vec<Param>, SyntaxError> {
        let mut params: Vec<Param> = Vec::new();
        self.expect_op("(")?;
        while !self.is_op(")") {
            if !params.is_empty() {
                self.expect_op(",")?;
            }
            let name = self.target_name()?;
            let default =
                if self.skip_op("=") { Some(self.unconditional(Parser::expression)?) } else { None };
            if default.is_none() && params.last().is_some_and(|param| param.default.is_some()) {
                return self.fail("non-default argument follows default argument");
            }
            if params.iter().any(|param| param.name == name) {
                return self.fail(format!("duplicate argument '{name}' in function definition"));
            }
            params.push(Param { name: name.into(), slot: Slot::default(), default });
        }
        self.expect_op(")")?;
        Ok(params)
    }

    fn macro_of(&self, name: &str, params: Vec<Param>, spot: Spot) -> Macro {
        Macro {
            name: name.into(),
            slot: Slot::default(),
            exported: false,
            params,
            caller: None,
            kwargs: None,
            varargs: None,
            scope: Scope::default(),
            slots: 0,
            spot,
        }
    }

    fn macro_definition(&mut self, spot: Spot) -> Result<Stmt, SyntaxError> {
        let name = self.target_name()?;
        let params = self.params()?;
        let mut definition = self.macro_of(name, params, spot);
        definition.scope = self.closed_scope(&["endmacro"])?;
        Ok(Stmt::Macro(Box::new(definition)))
    }

    fn call_block(&mut self, spot: Spot) -> Result<Stmt, SyntaxError> {
        let params = if self.is_op("(") { self.params()? } else { Vec::new() };
        let call = self.expression()?;
        if !matches!(call.kind, Kind::Call(_)) {
            return Err(SyntaxError::new("expected call", spot as usize));
        }
        let mut caller = self.macro_of("caller", params, spot);
        caller.scope = self.closed_scope(&["endcall"])?;
        Ok(Stmt::CallBlock(Box::new(CallBlock { call, caller })))
    }

    fn filter_block(&mut self) -> Result<Stmt, SyntaxError> {
        let captured = self.node(Kind::Captured, self.spot())?;
        let first = self.unconditional(|parser| parser.filter(captured))?;
        let filter = self.unconditional(|parser| parser.filters(first))?;
        let scope = self.closed_scope(&["endfilter"])?;
        Ok(Stmt::FilterBlock(Box::new(FilterBlock { filter, scope })))
    }

    /// The name of a variable that is assigned to.
    fn target_name(&mut self) -> Result<&'s str, SyntaxError> {
        let name = self.expect_name()?;
        match constant(name).is_some() {
            true => {
                self.at -= 1;
                self.fail(format!("can't assign to '{name}'"))
            }
            false => Ok(name),
        }
    }

    /// What an assignment assigns to: a name, names, or with `attrs` members of namespaces.
    fn target(&mut self, attrs: bool) -> Result<Target, SyntaxError> {
        let spot = self.spot();
        let mut items = Vec::new();
        let mut is_tuple = false;
        loop {
            if !items.is_empty() {
                self.expect_op(",")?;
            }
            if self.is_tuple_end() {
                break;
            }
            items.push(self.target_item(attrs)?);
            if !self.is_op(",") {
                break;
            }
            is_tuple = true;
        }
        match (is_tuple, items.pop()) {
            (false, Some(only)) => Ok(only),
            (false, None) => self.fail(format!("Expected an expression, got '{}'", describe(self.tok()))),
            (true, last) => {
                items.extend(last);
                Ok(Target::Tuple(items, spot))
            }
        }
    }

    fn target_item(&mut self, attrs: bool) -> Result<Target, SyntaxError> {
        let spot = self.spot();
        if self.skip_op("(") {
            let inner = self.nested(|parser| parser.target(attrs));
            self.expect_op(")")?;
            return inner;
        }
        let name: SmolStr = match self.tok() {
            Tok::Name(_) => self.target_name()?.into(),
            Tok::Str(_) | Tok::Integer(_) | Tok::Float(_) => return self.fail("can't assign to 'const'"),
            other => return self.fail(format!("unexpected '{}'", describe(other))),
        };
        if attrs && self.skip_op(".") {
            let attr = self.expect_name()?.into();
            return Ok(Target::Attr { name, slot: Slot::default(), attr, spot });
        }
        Ok(Target::Name { name, slot: Slot::default(), spot })
    }
}

fn copy_target(target: &Target) -> Target {
    match target {
        Target::Name { name, slot, spot } => Target::Name { name: name.clone(), slot: *slot, spot: *spot },
        Target::Attr { name, slot, attr, spot } => {
            Target::Attr { name: name.clone(), slot: *slot, attr: attr.clone(), spot: *spot }
        }
        Target::Tuple(items, spot) => Target::Tuple(items.iter().map(copy_target).collect(), *spot),
    }
}
