//! The words that names are made of, and what each says about a value.

/// Ends of words that make a name strong, such as in `PGPASSWORD`.
#[rustfmt::skip]
pub(super) const STRONG: &[&str] = &[
    "password", "passwd", "passphrase", "passwort", "passcode", "pwd", "clientsecret", "appsecret",
    "apisecret", "jwtsecret", "sharedsecret", "mysecret",
];

/// Whole words that make a name strong: `libsecret` is another one.
#[rustfmt::skip]
pub(super) const STRONG_WORDS: &[&str] = &[
    "secret",
];

/// Ends of words that make a name medium, such as in `authToken`.
#[rustfmt::skip]
pub(super) const MEDIUM: &[&str] = &[
    "token", "apikey", "accesskey", "secretkey", "privatekey", "authkey", "authorization", "credential",
    "credentials", "passwords", "secrets",
];

/// The same, as whole words: `author` is another word.
#[rustfmt::skip]
pub(super) const MEDIUM_WORDS: &[&str] = &[
    "auth", "cred", "creds",
];

/// What a word before `key` says: that the key is no secret …
#[rustfmt::skip]
pub(super) const PLAIN_KEYS: &[&str] = &[
    "primary", "foreign", "sort", "public", "pub", "partition", "cache", "index", "row", "hash", "range",
    "unique", "composite", "surrogate", "natural", "hot", "arrow", "map", "dict", "dictionary", "group",
    "grouping", "order", "join", "lookup", "object", "routing", "registry", "json", "yaml", "sorted",
    "search", "document", "doc", "name", "config", "parent", "child", "min", "max", "first", "last", "next",
    "any", "press", "shift", "ctrl", "control", "alt", "meta", "function", "translation", "i18n", "message",
    "label", "idempotency", "dedup", "storage", "column", "field", "property", "metric", "shard", "bucket",
    "tag",
];

/// … or that it is one, even where a colon follows it in lower case.
#[rustfmt::skip]
pub(super) const SECRET_KEYS: &[&str] = &[
    "api", "access", "secret", "private", "auth", "signing", "signature", "encryption", "encrypt", "master",
    "service", "account", "client", "ssh", "deploy", "webhook", "admin", "app", "application", "license",
    "jwt", "hmac", "aes", "rsa", "crypt", "crypto", "session", "cookie", "server", "project",
    "subscription", "anon", "openai", "stripe", "aws", "azure", "google", "shared", "consumer", "symmetric",
    "ssl", "tls", "role", "write", "instrumentation", "wrapping", "gpg", "pgp",
];

/// Words before `token` that make it a part of a text or of a list.
#[rustfmt::skip]
pub(super) const PLAIN_TOKENS: &[&str] = &[
    "max", "min", "next", "eos", "bos", "pad", "unk", "mask", "sep", "cls", "special", "stop", "num",
    "prompt", "completion", "page", "continuation", "prev", "previous", "current", "last", "first",
    "unexpected", "per", "expected", "invalid", "end", "start", "key", "public",
];

/// Words after the secret's that name something else about it.
#[rustfmt::skip]
pub(super) const DESCRIBING: &[&str] = &[
    "count", "counts", "id", "ids", "type", "types", "name", "names", "len", "length", "size", "limit",
    "limits", "max", "min", "budget", "usage", "used", "url", "uri", "endpoint", "path", "paths", "file",
    "files", "filename", "dir", "expiry", "expires", "expiration", "expire", "ttl", "age", "timeout",
    "policy", "field", "fields", "label", "prefix", "suffix", "required", "enabled", "disabled", "index",
    "version", "format", "algorithm", "alg", "ref", "refs", "arn", "provider", "manager", "store",
    "service", "strategy", "method", "mode", "status", "state", "error", "errors", "class", "module",
    "column", "generator", "validator", "handler", "parser", "iterator", "stream", "kind", "position",
    "pos", "offset", "start", "end", "line", "rate", "price", "cost", "per", "frequency", "binding", "hint",
    "help", "message", "title", "description", "reset", "rotation", "created", "updated", "at", "on", "in",
    "by", "for", "is", "user", "username", "login", "email", "host", "port", "scheme", "request",
    "response", "flow", "server", "source", "sources", "callback", "command", "cmd", "env", "set", "map",
    "list",
];

/// Ends of the names of files, which stand before a colon in what searches print.
#[rustfmt::skip]
pub(super) const FILES: &[&str] = &[
    "rs", "py", "js", "mjs", "ts", "tsx", "jsx", "go", "java", "kt", "rb", "php", "c", "h", "cc", "cpp",
    "hpp", "cs", "swift", "md", "txt", "json", "jsonl", "yaml", "yml", "toml", "ini", "cfg", "conf", "html",
    "css", "scss", "sh", "bash", "zsh", "lock", "xml", "sql", "proto", "vue", "svelte", "so", "a", "o",
    "dll", "exe", "log", "csv", "pem", "crt", "pub",
];
