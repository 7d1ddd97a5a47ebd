//! The syntax tree of a Jinja template.

use num_bigint::BigInt;
use smol_str::SmolStr;

use super::builtin::{FilterName, TestName};

/// A place in the source, in bytes from its start.
pub(crate) type Spot = u32;

/// A parsed text: its statements, and the blocks that it defines.
#[derive(Debug)]
pub(crate) struct Tree {
    pub body: Vec<Stmt>,
    /// The variables of the statements outside of blocks and macros.
    pub frame: Frame,
    /// The number of variable slots of the root.
    pub slots: usize,
    /// The slot of `self`, if the statements mention it.
    pub self_slot: Option<Slot>,
    pub blocks: Vec<Block>,
}

/// A `{% block %}`.
#[derive(Debug)]
pub(crate) struct Block {
    pub name: SmolStr,
    pub frame: Frame,
    pub body: Vec<Stmt>,
    pub slots: usize,
    pub self_slot: Option<Slot>,
    pub super_slot: Option<Slot>,
}

/// Where a variable is kept: in the slots of the running function, or of one around it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Slot {
    /// How many functions outwards: 0 is the running one.
    pub up: u16,
    pub index: u16,
}

/// What happens to the variables of a scope when it is entered.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    pub loads: Vec<Load>,
}

/// The initial value of a variable of a scope.
#[derive(Debug)]
pub(crate) struct Load {
    pub slot: u16,
    pub from: LoadFrom,
    /// Whether the scope assigns to the variable, so that each turn of a loop has to load it again.
    pub again: bool,
}

#[derive(Debug)]
pub(crate) enum LoadFrom {
    /// The context: exported variables and the data.
    Context(SmolStr),
    /// The variable of the same name of an outer scope.
    Slot(Slot),
    /// Nothing yet.
    Unset,
}

#[derive(Debug)]
pub(crate) enum Stmt {
    /// Text outside of tags: a part of the source.
    Text {
        start: Spot,
        end: Spot,
    },
    Print(Expr),
    Set(Box<Set>),
    SetBlock(Box<SetBlock>),
    If(Box<If>),
    For(Box<For>),
    With(Box<With>),
    Macro(Box<Macro>),
    CallBlock(Box<CallBlock>),
    FilterBlock(Box<FilterBlock>),
    Autoescape(Box<Autoescape>),
    /// Statements with their own variables (`{% generation %}`).
    Scope(Box<Scope>),
    Block(Box<BlockCall>),
    Extends(Box<Extends>),
    Include(Box<Include>),
    Import(Box<Import>),
    FromImport(Box<FromImport>),
    Do(Expr),
    Break,
    Continue,
}

/// Statements with variables of their own.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    pub frame: Frame,
    pub body: Vec<Stmt>,
}

#[derive(Debug)]
pub(crate) struct Set {
    pub target: Target,
    pub value: Expr,
    /// Names at the top level of a text, which other texts can import.
    pub exported: Vec<(SmolStr, Slot)>,
}

#[derive(Debug)]
pub(crate) struct SetBlock {
    pub target: Target,
    /// A chain of filters around [`Kind::Captured`].
    pub filter: Option<Expr>,
    pub scope: Scope,
    pub exported: Vec<(SmolStr, Slot)>,
}

#[derive(Debug)]
pub(crate) struct If {
    /// The conditions of `if` and `elif` with their statements.
    pub arms: Vec<(Expr, Vec<Stmt>)>,
    pub otherwise: Vec<Stmt>,
}

#[derive(Debug)]
pub(crate) struct For {
    pub target: Target,
    pub over: Expr,
    pub test: Option<LoopTest>,
    pub scope: Scope,
    pub otherwise: Option<Scope>,
    /// For a recursive loop: the number of slots of its function.
    pub recursive: Option<usize>,
    /// The slot of `loop`, if the body mentions it.
    pub loop_slot: Option<Slot>,
}

/// The condition of a loop (`for x in xs if …`), with its own copies of the loop's variables.
#[derive(Debug)]
pub(crate) struct LoopTest {
    pub frame: Frame,
    pub target: Target,
    pub expr: Expr,
}

#[derive(Debug)]
pub(crate) struct With {
    pub targets: Vec<(Target, Expr)>,
    pub scope: Scope,
}

#[derive(Debug)]
pub(crate) struct Macro {
    pub name: SmolStr,
    /// Where the macro is kept; unused for the body of a `{% call %}`.
    pub slot: Slot,
    pub exported: bool,
    pub params: Vec<Param>,
    /// The slots of the special parameters that the body mentions.
    pub caller: Option<Slot>,
    pub kwargs: Option<Slot>,
    pub varargs: Option<Slot>,
    pub scope: Scope,
    pub slots: usize,
    pub spot: Spot,
}

#[derive(Debug)]
pub(crate) struct Param {
    pub name: SmolStr,
    pub slot: Slot,
    pub default: Option<Expr>,
}

#[derive(Debug)]
pub(crate) struct CallBlock {
    /// A [`Kind::Call`].
    pub call: Expr,
    pub caller: Macro,
}

#[derive(Debug)]
pub(crate) struct FilterBlock {
    /// A chain of filters around [`Kind::Captured`].
    pub filter: Expr,
    pub scope: Scope,
}

#[derive(Debug)]
pub(crate) struct Autoescape {
    pub value: Expr,
    pub scope: Scope,
}

/// The place of a block in its text.
#[derive(Debug)]
pub(crate) struct BlockCall {
    pub name: SmolStr,
    pub required: bool,
    /// For a `scoped` block: the variables that it can see.
    pub scoped: Option<Vec<(SmolStr, Slot)>>,
    /// Whether it stands outside of all other statements, where an `extends` before it hides it.
    pub toplevel: bool,
    pub spot: Spot,
}

#[derive(Debug)]
pub(crate) struct Extends {
    pub template: Expr,
    pub spot: Spot,
}

#[derive(Debug)]
pub(crate) struct Include {
    pub template: Expr,
    pub ignore_missing: bool,
    pub with_context: bool,
    /// The variables that the included text can see.
    pub visible: Vec<(SmolStr, Slot)>,
    pub spot: Spot,
}

#[derive(Debug)]
pub(crate) struct Import {
    pub template: Expr,
    pub target: SmolStr,
    pub slot: Slot,
    pub exported: bool,
    pub with_context: bool,
    pub visible: Vec<(SmolStr, Slot)>,
    pub spot: Spot,
}

#[derive(Debug)]
pub(crate) struct FromImport {
    pub template: Expr,
    /// The names in the imported text, and the names and slots here.
    pub names: Vec<(SmolStr, SmolStr, Slot)>,
    pub exported: bool,
    pub with_context: bool,
    pub visible: Vec<(SmolStr, Slot)>,
    pub spot: Spot,
}

/// What an assignment assigns to.
#[derive(Debug)]
pub(crate) enum Target {
    Name {
        name: SmolStr,
        slot: Slot,
        spot: Spot,
    },
    /// `ns.attr`, for a namespace.
    Attr {
        name: SmolStr,
        slot: Slot,
        attr: SmolStr,
        spot: Spot,
    },
    Tuple(Vec<Target>, Spot),
}

/// An expression and the place where it begins.
#[derive(Debug)]
pub(crate) struct Expr {
    pub kind: Kind,
    pub spot: Spot,
    /// How many levels of expressions it has, itself included.
    pub height: u16,
}

#[derive(Debug)]
pub(crate) enum Kind {
    None,
    Bool(bool),
    Int(i64),
    Big(Box<BigInt>),
    Float(f64),
    Str(Box<str>),
    Name {
        name: SmolStr,
        slot: Slot,
    },
    Tuple(Vec<Expr>),
    List(Vec<Expr>),
    Dict(Vec<(Expr, Expr)>),
    Cond(Box<Cond>),
    And(Box<(Expr, Expr)>),
    Or(Box<(Expr, Expr)>),
    Not(Box<Expr>),
    Neg(Box<Expr>),
    Pos(Box<Expr>),
    Compare(Box<Compare>),
    Binary(Box<Binary>),
    Concat(Vec<Expr>),
    Attr(Box<Attr>),
    Item(Box<(Expr, Expr)>),
    Slice(Box<Slice>),
    Call(Box<Call>),
    Filter(Box<Filter>),
    Test(Box<Test>),
    /// The captured text that a filter block filters.
    Captured,
}

/// `then if test else otherwise`.
#[derive(Debug)]
pub(crate) struct Cond {
    pub test: Expr,
    pub then: Expr,
    pub otherwise: Option<Expr>,
}

/// A chain of comparisons: `a < b <= c`.
#[derive(Debug)]
pub(crate) struct Compare {
    pub first: Expr,
    pub rest: Vec<(CompareOp, Expr)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CompareOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    In,
    NotIn,
}

#[derive(Debug)]
pub(crate) struct Binary {
    pub op: BinaryOp,
    pub left: Expr,
    pub right: Expr,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    Mod,
    Pow,
    /// The power of a constant: Jinja2 writes `(-2) ** x` as Python's `-2 ** x`, which is `-(2 ** x)`.
    ConstPow,
}

#[derive(Debug)]
pub(crate) struct Attr {
    pub of: Expr,
    pub name: SmolStr,
    /// Whether `dict` has a method of this name, which hides an item of the same name.
    pub is_method: bool,
}

/// `of[start:stop:step]`.
#[derive(Debug)]
pub(crate) struct Slice {
    pub of: Expr,
    pub start: Option<Expr>,
    pub stop: Option<Expr>,
    pub step: Option<Expr>,
}

#[derive(Debug)]
pub(crate) struct Call {
    pub callee: Expr,
    pub args: Args,
}

/// The arguments of a call, a filter or a test.
#[derive(Debug, Default)]
pub(crate) struct Args {
    pub positional: Vec<Expr>,
    pub named: Vec<(SmolStr, Expr)>,
    /// `*args`.
    pub spread: Option<Expr>,
    /// `**kwargs`.
    pub spread_named: Option<Expr>,
}

#[derive(Debug)]
pub(crate) struct Filter {
    pub base: Expr,
    pub name: SmolStr,
    /// `None` if there is no such filter: an error when it is reached, since it stands inside a condition.
    pub filter: Option<FilterName>,
    pub args: Args,
}

#[derive(Debug)]
pub(crate) struct Test {
    pub base: Expr,
    pub name: SmolStr,
    /// `None` if there is no such test, as with filters.
    pub test: Option<TestName>,
    pub args: Args,
}

impl Expr {
    /// An expression, with the height that its parts give it.
    pub fn new(kind: Kind, spot: Spot) -> Expr {
        if matches!(kind, Kind::Name { .. } | Kind::Str(_) | Kind::Int(_)) {
            return Expr { kind, spot, height: 1 };
        }
        let mut height = 0;
        kind.parts(&mut |part| height = height.max(part.height));
        Expr { kind, spot, height: height.saturating_add(1) }
    }
}

/// Writes a function that visits the direct parts of an expression, by shared or by mutable reference.
macro_rules! visit_parts {
    ($name:ident, $iter:ident, $exprs:ident $(, $mutable:tt)?) => {
        /// Calls `visit` with each expression that is directly part of this one, in the order of evaluation.
        pub fn $name<'e>(&'e $($mutable)? self, visit: &mut dyn FnMut(&'e $($mutable)? Expr)) {
            match self {
                Kind::None | Kind::Bool(_) | Kind::Int(_) | Kind::Big(_) | Kind::Float(_) | Kind::Str(_) => {}
                Kind::Name { .. } | Kind::Captured => {}
                Kind::Tuple(items) | Kind::List(items) | Kind::Concat(items) => items.$iter().for_each(visit),
                Kind::Dict(items) => items.$iter().for_each(|(key, value)| {
                    visit(key);
                    visit(value);
                }),
                Kind::Cond(cond) => {
                    visit(&$($mutable)? cond.test);
                    visit(&$($mutable)? cond.then);
                    cond.otherwise.$iter().for_each(visit);
                }
                Kind::And(pair) | Kind::Or(pair) | Kind::Item(pair) => {
                    visit(&$($mutable)? pair.0);
                    visit(&$($mutable)? pair.1);
                }
                Kind::Not(inner) | Kind::Neg(inner) | Kind::Pos(inner) => visit(inner),
                Kind::Compare(compare) => {
                    visit(&$($mutable)? compare.first);
                    compare.rest.$iter().for_each(|(_, operand)| visit(operand));
                }
                Kind::Binary(binary) => {
                    visit(&$($mutable)? binary.left);
                    visit(&$($mutable)? binary.right);
                }
                Kind::Attr(attr) => visit(&$($mutable)? attr.of),
                Kind::Slice(slice) => {
                    visit(&$($mutable)? slice.of);
                    slice.start.$iter().chain(slice.stop.$iter()).chain(slice.step.$iter()).for_each(visit);
                }
                Kind::Call(call) => {
                    visit(&$($mutable)? call.callee);
                    call.args.$exprs().for_each(visit);
                }
                Kind::Filter(filter) => {
                    visit(&$($mutable)? filter.base);
                    filter.args.$exprs().for_each(visit);
                }
                Kind::Test(test) => {
                    visit(&$($mutable)? test.base);
                    test.args.$exprs().for_each(visit);
                }
            }
        }
    };
}

impl Kind {
    visit_parts!(parts, iter, exprs);
    visit_parts!(parts_mut, iter_mut, exprs_mut, mut);
}

impl Args {
    /// All expressions among the arguments.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let named = self.named.iter().map(|(_, value)| value);
        self.positional.iter().chain(named).chain(&self.spread).chain(&self.spread_named)
    }

    /// All expressions among the arguments, to be changed.
    pub fn exprs_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let named = self.named.iter_mut().map(|(_, value)| value);
        self.positional.iter_mut().chain(named).chain(&mut self.spread).chain(&mut self.spread_named)
    }
}
