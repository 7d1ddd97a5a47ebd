//! Parses text and control structures into lists of statements, without recursion.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ast::{Branch, BranchKind, List, Node, Pipe, Source, TemplateCall, Tree, is_empty};
use super::error::ParseError;
use super::parse::{Parser, Scope};
use super::token::{Token, TokenKind, Word};

/// A list that is being read, and its owner.
struct Level {
    list: List,
    owner: Owner,
}

enum Owner {
    /// The whole source.
    Root,
    Define {
        name: Box<str>,
    },
    Block(Box<TemplateCall>),
    Branch(Box<OpenBranch>),
}

struct OpenBranch {
    kind: BranchKind,
    pipe: Pipe,
    /// The first list, while the second one is being read.
    list: Option<List>,
    /// Whether this is the `if` of an `else if`, whose `end` also closes the enclosing branch.
    chained: bool,
    variables: usize,
}

/// The kind of an action, with what was read of it.
enum Step {
    Node(Node),
    Opened(Level),
    Else,
    End,
}

/// The templates of one source, by name.
pub(super) type Trees = BTreeMap<Box<str>, Tree>;

impl<'s> Parser<'s> {
    /// Parses the source: its definitions, and the text itself under the source's name.
    pub(super) fn parse(mut self, source: &Arc<Source>) -> Result<Trees, ParseError> {
        let mut trees = Trees::new();
        let mut levels: Vec<Level> = Vec::new();
        let mut level = Level { list: List::new(), owner: Owner::Root };
        loop {
            if self.at_end(&level)? {
                self.add(&mut trees, self.name, level.list, source)?;
                return Ok(trees);
            }
            if matches!(level.owner, Owner::Root)
                && let Some(definition) = self.definition()?
            {
                levels.push(std::mem::replace(&mut level, definition));
                continue;
            }
            match self.text_or_action()? {
                Step::Node(node) => level.list.push(node),
                Step::Opened(inner) => {
                    if levels.len() >= self.options.max_blocks {
                        return Err(self.too_deep(&inner));
                    }
                    levels.push(std::mem::replace(&mut level, inner));
                }
                Step::Else => level = self.else_branch(level, &mut levels)?,
                Step::End => level = self.end(level, &mut levels, &mut trees, source)?,
            }
        }
    }

    fn too_deep(&mut self, level: &Level) -> ParseError {
        if matches!(level.owner, Owner::Block(_)) {
            self.leave();
        }
        self.error("max block depth exceeded", &[])
    }

    /// Whether the source ends here, which is an error where an `end` is missing.
    fn at_end(&mut self, level: &Level) -> Result<bool, ParseError> {
        let root = matches!(level.owner, Owner::Root);
        let token = if root { self.peek() } else { self.peek_non_space() };
        match token.kind {
            TokenKind::End if root => Ok(true),
            TokenKind::End => Err(self.error("unexpected EOF", &[])),
            _ => Ok(false),
        }
    }

    /// Reads a `{{define}}`, which is allowed on the top level only.
    fn definition(&mut self) -> Result<Option<Level>, ParseError> {
        if self.peek().kind != TokenKind::LeftDelim {
            return Ok(None);
        }
        let delim = self.next();
        if self.next_non_space().kind != TokenKind::Word(Word::Define) {
            self.back_up_two(delim);
            return Ok(None);
        }
        self.enter();
        let context = "define clause";
        let token = self.next_non_space();
        if !matches!(token.kind, TokenKind::Str | TokenKind::RawString) {
            return Err(self.unexpected(token, context));
        }
        let name = self.name_of(token)?;
        self.expect(TokenKind::RightDelim, context)?;
        Ok(Some(Level { list: List::new(), owner: Owner::Define { name } }))
    }

    fn enter(&mut self) {
        self.scopes.push(std::mem::replace(&mut self.scope, Scope::new()));
    }

    fn leave(&mut self) {
        if let Some(scope) = self.scopes.pop() {
            self.scope = scope;
        }
    }

    fn name_of(&mut self, token: Token<'s>) -> Result<Box<str>, ParseError> {
        let name = self.unquote(token)?;
        Ok(String::from_utf8_lossy(&name).into())
    }

    fn text_or_action(&mut self) -> Result<Step, ParseError> {
        let token = self.next_non_space();
        match token.kind {
            TokenKind::Text => {
                let end = token.pos + token.text.len() as u32;
                Ok(Step::Node(Node::Text { start: token.pos, end }))
            }
            TokenKind::LeftDelim => {
                self.scope.action_line = token.line;
                let step = self.action()?;
                if !matches!(step, Step::Opened(_)) {
                    self.scope.action_line = 0;
                }
                Ok(step)
            }
            _ => Err(self.unexpected(token, "input")),
        }
    }

    fn action(&mut self) -> Result<Step, ParseError> {
        let token = self.next_non_space();
        let TokenKind::Word(word) = token.kind else {
            self.back_up();
            return Ok(Step::Node(Node::Action(self.pipeline("command")?)));
        };
        match word {
            Word::Block => self.block(),
            Word::Break => self.jump("{{break}}", Node::Break),
            Word::Continue => self.jump("{{continue}}", Node::Continue),
            Word::Else => self.else_word(),
            Word::End => self.expect(TokenKind::RightDelim, "end").map(|_| Step::End),
            Word::If => self.branch(BranchKind::If, false),
            Word::Range => self.branch(BranchKind::Range, false),
            Word::With => self.branch(BranchKind::With, false),
            Word::Template => self.template(),
            Word::Define => {
                self.back_up();
                Ok(Step::Node(Node::Action(self.pipeline("command")?)))
            }
        }
    }

    fn jump(&mut self, shown: &str, node: Node) -> Result<Step, ParseError> {
        let token = self.next_non_space();
        if token.kind != TokenKind::RightDelim {
            return Err(self.unexpected(token, shown));
        }
        if self.scope.ranges == 0 {
            return Err(self.error("%s outside {{range}}", &[shown]));
        }
        Ok(Step::Node(node))
    }

    fn branch(&mut self, kind: BranchKind, chained: bool) -> Result<Step, ParseError> {
        let variables = self.scope.variables.len();
        let pipe = self.pipeline(kind.word())?;
        if kind == BranchKind::Range {
            self.scope.ranges += 1;
        }
        let branch = OpenBranch { kind, pipe, list: None, chained, variables };
        Ok(Step::Opened(Level { list: List::new(), owner: Owner::Branch(Box::new(branch)) }))
    }

    fn else_word(&mut self) -> Result<Step, ParseError> {
        let peeked = self.peek_non_space();
        if !matches!(peeked.kind, TokenKind::Word(Word::If | Word::With)) {
            self.expect(TokenKind::RightDelim, "else")?;
        }
        Ok(Step::Else)
    }

    fn block(&mut self) -> Result<Step, ParseError> {
        let context = "block clause";
        let token = self.next_non_space();
        let name = self.template_name(token, context)?;
        let pipe = self.pipeline(context)?;
        self.enter();
        let invoke = TemplateCall { pos: token.pos, name, pipe: Some(pipe) };
        Ok(Step::Opened(Level { list: List::new(), owner: Owner::Block(Box::new(invoke)) }))
    }

    fn template(&mut self) -> Result<Step, ParseError> {
        let context = "template clause";
        let token = self.next_non_space();
        let name = self.template_name(token, context)?;
        let pipe = if self.next_non_space().kind == TokenKind::RightDelim {
            None
        } else {
            self.back_up();
            Some(self.pipeline(context)?)
        };
        Ok(Step::Node(Node::Template(Box::new(TemplateCall { pos: token.pos, name, pipe }))))
    }

    fn template_name(&mut self, token: Token<'s>, context: &str) -> Result<Box<str>, ParseError> {
        match token.kind {
            TokenKind::Str | TokenKind::RawString => self.name_of(token),
            _ => Err(self.unexpected(token, context)),
        }
    }

    /// Continues after `{{else}}`, or after the `{{else` of an `{{else if` or `{{else with`.
    fn else_branch(&mut self, level: Level, levels: &mut Vec<Level>) -> Result<Level, ParseError> {
        let Level { list, owner } = level;
        let mut branch = match owner {
            Owner::Branch(branch) if branch.list.is_none() => branch,
            other => return Err(self.misplaced_else(&other)),
        };
        if branch.kind == BranchKind::Range {
            self.scope.ranges -= 1;
        }
        branch.list = Some(list);
        let kind = branch.kind;
        let outer = Level { list: List::new(), owner: Owner::Branch(branch) };
        let chained = match self.peek().kind {
            TokenKind::Word(Word::If) if kind == BranchKind::If => true,
            TokenKind::Word(Word::With) if kind == BranchKind::With => true,
            _ => return Ok(outer),
        };
        self.next();
        if levels.len() >= self.options.max_blocks {
            return Err(self.too_deep(&outer));
        }
        levels.push(outer);
        match self.branch(kind, chained)? {
            Step::Opened(level) => Ok(level),
            _ => Err(self.error("unexpected %s", &["{{else}}"])),
        }
    }

    fn misplaced_else(&mut self, owner: &Owner) -> ParseError {
        let shown = "{{else}}";
        match owner {
            Owner::Root => self.error("unexpected %s", &[shown]),
            Owner::Define { .. } => self.error("unexpected %s in %s", &[shown, "define clause"]),
            Owner::Block(_) => {
                self.leave();
                self.error("unexpected %s in %s", &[shown, "block clause"])
            }
            Owner::Branch(_) => self.error("expected end; found %s", &[shown]),
        }
    }

    /// Closes what an `{{end}}` closes, and gives the level that continues.
    fn end(
        &mut self,
        level: Level,
        levels: &mut Vec<Level>,
        trees: &mut Trees,
        source: &Arc<Source>,
    ) -> Result<Level, ParseError> {
        let Level { list, owner } = level;
        let node = match owner {
            Owner::Root => return Err(self.error("unexpected %s", &["{{end}}"])),
            Owner::Define { name } => {
                self.add(trees, &name, list, source)?;
                self.leave();
                None
            }
            Owner::Block(invoke) => {
                self.add(trees, &invoke.name, list, source)?;
                self.leave();
                Some(Node::Template(invoke))
            }
            Owner::Branch(branch) => Some(self.close_branch(*branch, list, levels)),
        };
        self.scope.action_line = 0;
        let Some(mut parent) = levels.pop() else { return Err(self.error("unexpected %s", &["{{end}}"])) };
        parent.list.extend(node);
        Ok(parent)
    }

    /// The finished branch; at the end of an `else if` chain, the whole chain.
    fn close_branch(&mut self, mut branch: OpenBranch, mut last: List, levels: &mut Vec<Level>) -> Node {
        loop {
            self.scope.variables.truncate(branch.variables);
            let (list, else_list) = match branch.list {
                Some(list) => (list, Some(last)),
                None => {
                    if branch.kind == BranchKind::Range {
                        self.scope.ranges -= 1;
                    }
                    (last, None)
                }
            };
            let node =
                Node::Branch(Box::new(Branch { kind: branch.kind, pipe: branch.pipe, list, else_list }));
            if !branch.chained {
                return node;
            }
            match levels.pop() {
                Some(Level { mut list, owner: Owner::Branch(outer) }) => {
                    list.push(node);
                    (branch, last) = (*outer, list);
                }
                other => {
                    levels.extend(other);
                    return node;
                }
            }
        }
    }

    /// Adds a template of this source; it replaces an empty one of the same name.
    fn add(&self, trees: &mut Trees, name: &str, root: List, source: &Arc<Source>) -> Result<(), ParseError> {
        let taken = trees.get(name).is_some_and(|tree| !is_empty(&tree.root, source));
        if !taken {
            let tree = Tree { name: name.into(), source: source.clone(), root };
            trees.insert(name.into(), tree);
        } else if !is_empty(&root, source) {
            return Err(self.error("template: multiple definition of template %q", &[name]));
        }
        Ok(())
    }
}
