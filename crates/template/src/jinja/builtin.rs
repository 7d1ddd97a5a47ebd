//! The names of Jinja's filters and tests, those with a meaning of their own, and those of the methods of `dict`.

/// Declares an enum of built-in names, with the look-up of a name.
macro_rules! names {
    ($(#[$doc:meta])* $type:ident { $($variant:ident: $first:literal $(| $other:literal)*,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum $type { $($variant,)* }

        impl $type {
            /// The built-in of this name.
            pub fn find(name: &str) -> Option<$type> {
                match name {
                    $($first $(| $other)* => Some($type::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

names! {
    /// A filter.
    FilterName {
        Abs: "abs",
        Attr: "attr",
        Batch: "batch",
        Capitalize: "capitalize",
        Center: "center",
        Default: "default" | "d",
        Dictsort: "dictsort",
        Escape: "escape" | "e",
        Filesizeformat: "filesizeformat",
        First: "first",
        Float: "float",
        Forceescape: "forceescape",
        Format: "format",
        Fromjson: "fromjson" | "from_json",
        Groupby: "groupby",
        Indent: "indent",
        Int: "int",
        Items: "items",
        Join: "join",
        Last: "last",
        Length: "length" | "count",
        List: "list",
        Lower: "lower",
        Map: "map",
        Max: "max",
        Min: "min",
        Pprint: "pprint",
        Random: "random",
        Reject: "reject",
        Rejectattr: "rejectattr",
        Replace: "replace",
        Reverse: "reverse",
        Round: "round",
        Safe: "safe",
        Select: "select",
        Selectattr: "selectattr",
        Slice: "slice",
        Sort: "sort",
        String: "string",
        Striptags: "striptags",
        Sum: "sum",
        Title: "title",
        Tojson: "tojson",
        Trim: "trim",
        Truncate: "truncate",
        Unique: "unique",
        Upper: "upper",
        Urlencode: "urlencode",
        Urlize: "urlize",
        Wordcount: "wordcount",
        Wordwrap: "wordwrap",
        Xmlattr: "xmlattr",
    }
}

names! {
    /// A test.
    TestName {
        Boolean: "boolean",
        Callable: "callable",
        Defined: "defined",
        Divisibleby: "divisibleby",
        Eq: "eq" | "==" | "equalto",
        Escaped: "escaped",
        Even: "even",
        False: "false",
        Filter: "filter",
        Float: "float",
        Ge: "ge" | ">=",
        Gt: "gt" | ">" | "greaterthan",
        In: "in",
        Integer: "integer",
        Iterable: "iterable",
        Le: "le" | "<=",
        Lower: "lower",
        Lt: "lt" | "<" | "lessthan",
        Mapping: "mapping",
        Ne: "ne" | "!=",
        None: "none",
        Number: "number",
        Odd: "odd",
        Sameas: "sameas",
        Sequence: "sequence",
        String: "string",
        Test: "test",
        True: "true",
        Undefined: "undefined",
        Upper: "upper",
    }
}

/// The methods of `dict`.
const DICT: [&str; 11] =
    ["clear", "copy", "fromkeys", "get", "items", "keys", "pop", "popitem", "setdefault", "update", "values"];

/// Whether `dict` has a method of this name, which hides an item of the same name.
pub(super) fn is_dict_method(name: &str) -> bool {
    name.len() <= 10 && DICT.contains(&name)
}

/// The names that mean something where nothing else defines them.
pub(super) const SPECIAL: [&str; 6] = ["self", "super", "loop", "caller", "kwargs", "varargs"];
