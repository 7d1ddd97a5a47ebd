//! All functions with their signatures. A new function is a row here and a function in the file of its topic.

use super::call::{Call, Made};
use super::{
    convert, dates, decimals, dicts, encoding, equal, json, lists, logic, merge, numbers, paths, regex,
    strings, words, wrap,
};
use crate::go::Type::{self, Any, Bool, Float, Int, Map, Reflect, String, Time};
use crate::go::{ArgumentUse, Missing, Signature};

/// The code of a function.
type Body = for<'c, 'a> fn(&Call<'c, 'a>) -> Made<'a>;

/// A function.
pub struct Row {
    name: &'static str,
    /// Its parameters.
    pub signature: Signature,
    /// Its code.
    pub body: Body,
}

/// A function with these parameters; its result has a type of its own, and a gap among texts is an empty text.
const fn row(name: &'static str, params: &'static [Type], body: Body) -> Row {
    let signature =
        Signature { params, variadic: None, result: Reflect, takes_missing: Missing::None, takes_gaps: true };
    Row { name, signature, body }
}

impl Row {
    /// With any number of further arguments.
    const fn and(mut self, variadic: Type) -> Row {
        self.signature.variadic = Some(variadic);
        self
    }

    /// With a result that Go holds in an `interface {}`.
    const fn any(mut self) -> Row {
        self.signature.result = Any;
        self
    }

    /// With arguments that may be missing: they are nil then.
    const fn optional(mut self) -> Row {
        self.signature.takes_missing = Missing::Any;
        self
    }

    /// With a last argument that may be missing: it is nil then.
    const fn last_optional(mut self) -> Row {
        self.signature.takes_missing = Missing::Last;
        self
    }

    /// Without a call for a gap, for which it could only fail.
    const fn no_gaps(mut self) -> Row {
        self.signature.takes_gaps = false;
        self
    }
}

/// The functions, sorted by name.
static ROWS: &[Row] = &[
    row("abbrev", &[Int, String], wrap::abbrev),
    row("abbrevboth", &[Int, Int, String], wrap::abbrevboth),
    row("add", &[], numbers::add).and(Any),
    row("add1", &[Any], numbers::add1),
    row("add1f", &[Any], decimals::add1f),
    row("addf", &[], decimals::addf).and(Any),
    row("adler32sum", &[String], encoding::adler32sum),
    row("ago", &[Any], dates::ago),
    row("all", &[], logic::all).and(Any).optional(),
    row("any", &[], logic::any).and(Any).optional(),
    row("append", &[Any, Any], lists::append).no_gaps(),
    row("atoi", &[String], convert::atoi),
    row("b32dec", &[String], encoding::b32dec),
    row("b32enc", &[String], encoding::b32enc),
    row("b64dec", &[String], encoding::b64dec),
    row("b64enc", &[String], encoding::b64enc),
    row("base", &[String], paths::base),
    row("biggest", &[Any], numbers::max).and(Any),
    row("camelcase", &[String], words::camelcase),
    row("cat", &[], strings::cat).and(Any),
    row("ceil", &[Any], numbers::ceil),
    row("chunk", &[Int, Any], lists::chunk).no_gaps(),
    row("clean", &[String], paths::clean),
    row("coalesce", &[], logic::coalesce).and(Any).any().optional(),
    row("compact", &[Any], lists::compact).no_gaps(),
    row("concat", &[], lists::concat).and(Any).any().no_gaps(),
    row("contains", &[String, String], strings::contains),
    row("date", &[String, Any], dates::date),
    row("dateInZone", &[String, Any, String], dates::date_in_zone),
    row("dateModify", &[String, Time], dates::date_modify),
    row("date_in_zone", &[String, Any, String], dates::date_in_zone),
    row("date_modify", &[String, Time], dates::date_modify),
    row("deepCopy", &[Any], equal::deep_copy).any(),
    row("deepEqual", &[Any, Any], equal::deep_equal),
    row("default", &[Any], logic::default).and(Any).any().last_optional(),
    row("dict", &[], dicts::dict).and(Any),
    row("dig", &[], dicts::dig).and(Any).any().no_gaps(),
    row("dir", &[String], paths::dir),
    row("div", &[Any, Any], numbers::div),
    row("divf", &[Any], decimals::divf).and(Any),
    row("duration", &[Any], dates::duration),
    row("durationRound", &[Any], dates::duration_round),
    row("empty", &[Any], logic::empty).optional(),
    row("ext", &[String], paths::ext),
    row("fail", &[String], logic::fail),
    row("first", &[Any], lists::first).any().no_gaps(),
    row("float64", &[Any], convert::float64),
    row("floor", &[Any], numbers::floor),
    row("fromJson", &[String], json::from_text).any().no_gaps(),
    row("get", &[Map, String], dicts::get).any().optional(),
    row("has", &[Any, Any], lists::has),
    row("hasKey", &[Map, String], dicts::has_key).optional(),
    row("hasPrefix", &[String, String], strings::has_prefix),
    row("hasSuffix", &[String, String], strings::has_suffix),
    row("htmlDate", &[Any], dates::html_date),
    row("htmlDateInZone", &[Any, String], dates::html_date_in_zone),
    row("indent", &[Int, String], strings::indent),
    row("initial", &[Any], lists::initial).no_gaps(),
    row("initials", &[String], words::initials),
    row("int", &[Any], convert::int),
    row("int64", &[Any], convert::int64),
    row("isAbs", &[String], paths::is_abs),
    row("join", &[String, Any], strings::join).no_gaps(),
    row("kebabcase", &[String], words::kebabcase),
    row("keys", &[], dicts::keys).and(Map),
    row("kindIs", &[String, Any], convert::kind_is),
    row("kindOf", &[Any], convert::kind_of),
    row("last", &[Any], lists::last).any().no_gaps(),
    row("list", &[], lists::list).and(Any),
    row("lower", &[String], words::lower),
    row("max", &[Any], numbers::max).and(Any),
    row("maxf", &[Any], numbers::maxf).and(Any),
    row("merge", &[Map], merge::merge).and(Map).any(),
    row("mergeOverwrite", &[Map], merge::merge_overwrite).and(Map).any(),
    row("min", &[Any], numbers::min).and(Any),
    row("minf", &[Any], numbers::minf).and(Any),
    row("mod", &[Any, Any], numbers::modulo),
    row("mul", &[Any], numbers::mul).and(Any),
    row("mulf", &[Any], decimals::mulf).and(Any),
    row("mustAppend", &[Any, Any], lists::append).no_gaps(),
    row("mustChunk", &[Int, Any], lists::chunk).no_gaps(),
    row("mustCompact", &[Any], lists::compact).no_gaps(),
    row("mustDateModify", &[String, Time], dates::must_date_modify),
    row("mustDeepCopy", &[Any], equal::deep_copy).any(),
    row("mustFirst", &[Any], lists::first).any().no_gaps(),
    row("mustFromJson", &[String], json::from_text).any().no_gaps(),
    row("mustHas", &[Any, Any], lists::has),
    row("mustInitial", &[Any], lists::initial).no_gaps(),
    row("mustLast", &[Any], lists::last).any().no_gaps(),
    row("mustMerge", &[Map], merge::merge).and(Map).any(),
    row("mustMergeOverwrite", &[Map], merge::merge_overwrite).and(Map).any(),
    row("mustPrepend", &[Any, Any], lists::prepend).no_gaps(),
    row("mustPush", &[Any, Any], lists::append).no_gaps(),
    row("mustRegexFind", &[String, String], regex::must_find),
    row("mustRegexFindAll", &[String, String, Int], regex::must_find_all),
    row("mustRegexMatch", &[String, String], regex::must_match),
    row("mustRegexReplaceAll", &[String, String, String], regex::must_replace_all),
    row("mustRegexReplaceAllLiteral", &[String, String, String], regex::must_replace_all_literal),
    row("mustRegexSplit", &[String, String, Int], regex::must_split),
    row("mustRest", &[Any], lists::rest).no_gaps(),
    row("mustReverse", &[Any], lists::reverse).no_gaps(),
    row("mustSlice", &[Any], lists::slice).and(Any).any().no_gaps(),
    row("mustToDate", &[String, String], dates::must_to_date),
    row("mustToJson", &[Any], json::to_json),
    row("mustToPrettyJson", &[Any], json::to_pretty_json),
    row("mustToRawJson", &[Any], json::to_json),
    row("mustUniq", &[Any], lists::uniq).no_gaps(),
    row("mustWithout", &[Any], lists::without).and(Any).no_gaps(),
    row("must_date_modify", &[String, Time], dates::must_date_modify),
    row("nindent", &[Int, String], strings::nindent),
    row("nospace", &[String], words::nospace),
    row("now", &[], dates::now),
    row("omit", &[Map], dicts::omit).and(String),
    row("pick", &[Map], dicts::pick).and(String),
    row("pluck", &[String], dicts::pluck).and(Map),
    row("plural", &[String, String, Int], strings::plural),
    row("prepend", &[Any, Any], lists::prepend).no_gaps(),
    row("push", &[Any, Any], lists::append).no_gaps(),
    row("quote", &[], strings::quote).and(Any),
    row("regexFind", &[String, String], regex::find),
    row("regexFindAll", &[String, String, Int], regex::find_all),
    row("regexMatch", &[String, String], regex::matches),
    row("regexQuoteMeta", &[String], regex::quote_meta),
    row("regexReplaceAll", &[String, String, String], regex::replace_all),
    row("regexReplaceAllLiteral", &[String, String, String], regex::replace_all_literal),
    row("regexSplit", &[String, String, Int], regex::split),
    row("repeat", &[Int, String], strings::repeat),
    row("replace", &[String, String, String], strings::replace),
    row("rest", &[Any], lists::rest).no_gaps(),
    row("reverse", &[Any], lists::reverse).no_gaps(),
    row("round", &[Any, Int], numbers::round).and(Float),
    row("seq", &[], numbers::seq).and(Int),
    row("set", &[Map, String, Any], dicts::set),
    row("sha1sum", &[String], encoding::sha1sum),
    row("sha256sum", &[String], encoding::sha256sum),
    row("sha512sum", &[String], encoding::sha512sum),
    row("slice", &[Any], lists::slice).and(Any).any().no_gaps(),
    row("snakecase", &[String], words::snakecase),
    row("sortAlpha", &[Any], strings::sort_alpha),
    row("split", &[String, String], strings::split),
    row("splitList", &[String, String], strings::split_list),
    row("splitn", &[String, Int, String], strings::splitn),
    row("squote", &[], strings::squote).and(Any),
    row("sub", &[Any, Any], numbers::sub),
    row("subf", &[Any], decimals::subf).and(Any),
    row("substr", &[Int, Int, String], strings::substr),
    row("swapcase", &[String], words::swapcase),
    row("ternary", &[Any, Any, Bool], logic::ternary).any().optional(),
    row("title", &[String], words::title),
    row("toDate", &[String, String], dates::to_date),
    row("toDecimal", &[Any], convert::to_decimal),
    row("toJson", &[Any], json::to_json),
    row("toPrettyJson", &[Any], json::to_pretty_json),
    row("toRawJson", &[Any], json::to_json),
    row("toString", &[Any], convert::to_string),
    row("toStrings", &[Any], convert::to_strings),
    row("trim", &[String], strings::trim),
    row("trimAll", &[String, String], strings::trim_all),
    row("trimPrefix", &[String, String], strings::trim_prefix),
    row("trimSuffix", &[String, String], strings::trim_suffix),
    row("trimall", &[String, String], strings::trim_all),
    row("trunc", &[Int, String], strings::trunc),
    row("tuple", &[], lists::list).and(Any),
    row("typeIs", &[String, Any], convert::type_is),
    row("typeIsLike", &[String, Any], convert::type_is),
    row("typeOf", &[Any], convert::type_of),
    row("uniq", &[Any], lists::uniq).no_gaps(),
    row("unixEpoch", &[Time], dates::unix_epoch),
    row("unset", &[Map, String], dicts::unset),
    row("until", &[Int], numbers::until),
    row("untilStep", &[Int, Int, Int], numbers::until_step),
    row("untitle", &[String], words::untitle),
    row("upper", &[String], words::upper),
    row("uuidv4", &[], encoding::uuidv4),
    row("values", &[Map], dicts::values),
    row("without", &[Any], lists::without).and(Any).no_gaps(),
    row("wrap", &[Int, String], wrap::wrap),
    row("wrapWith", &[Int, String, String], wrap::wrap_with),
];

/// The functions that change a dict.
const CHANGING: [&str; 6] = ["merge", "mergeOverwrite", "mustMerge", "mustMergeOverwrite", "set", "unset"];

/// The function of a name.
pub fn find(name: &str) -> Option<&'static Row> {
    ROWS.binary_search_by(|row| row.name.cmp(name)).ok().and_then(|at| ROWS.get(at))
}

/// The names of all functions.
#[cfg(test)]
pub fn names() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.name)
}

/// Whether there is a function of this name here.
pub fn is_service_function(name: &str) -> bool {
    find(name).is_some()
}

/// Whether a function of this name changes maps.
pub fn changes_data(name: &str) -> bool {
    CHANGING.contains(&name)
}

/// What a function needs of its arguments.
pub fn use_of_arguments(name: &str) -> ArgumentUse {
    match (name, find(name).map(|row| row.signature.takes_missing)) {
        ("get" | "hasKey", _) => ArgumentUse::Member,
        (_, Some(Missing::Any)) => ArgumentUse::Tested,
        (_, Some(Missing::Last)) => ArgumentUse::LastTested,
        (_, Some(Missing::None) | None) => ArgumentUse::Needed,
    }
}
