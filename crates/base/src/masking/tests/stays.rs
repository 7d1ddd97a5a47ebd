//! What must stay as it is.

use super::{Case, check};

const WORDS: &[Case] = &[
    ("sk-learn task-force risk-averse sk-learn-contrib", "", "hyphens"),
    ("ghp ghp_ AKIA AKIAB hf_hub_download npm_config_registry xoxb", "", "prefixes alone"),
    (
        "keyboard: US, monkey=1, tokenizer: bpe, keyword: x, author: Ann, passenger: 3, secretary: Bob",
        "",
        "ordinary words",
    ),
    ("key: value", "", "prose, YAML"),
    ("error: unexpected token: identifier", "", "a compiler"),
    ("the password is secret, the key: patience", "", "prose"),
    ("password:\npassword: \nEnter password:", "", "no value"),
    ("max_tokens: 4096\ntokens=12\ntoken_count: 3\ntoken_type: bearer", "", "about tokens"),
    ("sort_key: name\nforeign_key=user_id\nPRIMARY_KEY=id\npublic_key=abcdef", "", "keys of other kinds"),
    ("PWD=/home/me/work OLDPWD=/tmp", "", "paths"),
    ("secret_name: db-credentials\npassword_file=/run/secrets/db", "", "where it is"),
    ("ssl_key: /etc/ssl/private/x.key\nsecret: ./a/b", "", "files"),
    ("auth: none\nauthentication: required\nauth: true", "", "settings"),
    ("token_url: https://x/token\nsecret: https://x/y", "", "URLs"),
    ("a@b.example, me.you+x@mail.example", "", "addresses"),
    ("/usr/lib/x86_64-linux-gnu/libsecret-1.so.0: ELF", "", "a file's name"),
    (
        "src/token.rs:12:let x = 1;\nsrc/password.py:3:def f():\nk8s/secret.yaml:kind: Secret",
        "",
        "what a search prints",
    ),
];

const PLACEHOLDERS: &[Case] = &[
    ("API_KEY=<your-key>", "", "angle brackets"),
    ("API_KEY=${API_KEY} TOKEN=$TOKEN PASSWORD=\"$PASSWORD\"", "", "variables of the shell"),
    ("api_key: your-api-key-here", "", "a text"),
    ("API_KEY=os.environ[\"API_KEY\"]", "", "Python"),
    ("apiKey: process.env.API_KEY,", "", "JavaScript"),
    ("password: ********", "", "stars"),
    ("token: ${{ secrets.GITHUB_TOKEN }}", "", "GitHub's actions"),
    ("password: {{ .Values.password }}", "", "a template"),
    ("PASSWORD=$(cat /run/secret)", "", "a command"),
    ("secret: !Ref DbSecret", "", "a tag of YAML"),
    ("password=[REDACTED] token=[masked] x=[masked: JWT]", "", "masked already"),
];

const CODE: &[Case] = &[
    ("let token = lexer.next();", "", "a call"),
    ("if token == Token::Eof { return }", "", "a comparison"),
    ("token: String,\n    password: Option<String>,\n    secret: &'a str,", "", "the fields of a struct"),
    ("fn key(token: &str, password: &str) -> Secret {", "", "parameters"),
    ("def login(password: str, token: Optional[str] = None):", "", "Python"),
    ("token?: string;\npassword: string;", "", "TypeScript"),
    ("self.token = token\nthis.password = password;", "", "assignments"),
    ("connect(password=password, token=self.token)", "", "arguments"),
    ("password = getpass()\nsecret = secrets.token_hex(16)", "", "calls"),
    ("let password = rpassword::read_password()?;", "", "paths of Rust"),
    ("$token = $this->token; $password = $_POST['password'];", "", "PHP"),
    ("const token = await getToken(x);", "", "await"),
    ("match token { Token::Key => 1 }", "", "match"),
    ("for (key, value) in map { key.len(); }", "", "a loop"),
    ("token = next_token", "", "a variable"),
    ("Token: token.clone(),", "", "a field"),
];

const HASHES: &[Case] = &[
    ("commit 3f2504e04f8911d39a0c0305e82c330112345678", "", "git"),
    ("3f2504e 3f2504e04f8911d39a0c0305e82c3301  a.txt", "", "short ones, and md5"),
    ("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  x", "", "sha256"),
    ("id: 3f2504e0-4f89-11d3-9a0c-0305e82c3301", "", "a UUID"),
    (
        "key: 3f2504e0-4f89-11d3-9a0c-0305e82c3301\ncache_key: 3f2504e04f8911d39a0c0305e82c3301",
        "",
        "named by a key",
    ),
    ("\"integrity\": \"sha512-{60}{26}==\"", "", "a lock file"),
    ("ssh-rsa AAAAB3NzaC1yc2E{60}{60} me@host", "", "a public key"),
    ("data:image/png;base64,iVBORw0KGgo{60}{60}", "", "an image"),
    ("AKIAIOSFODNN7EXAMPLEX xAKIAIOSFODNN7EXAMPLE", "", "a part of something longer"),
];

#[test]
fn ordinary_texts_stay() {
    check(WORDS);
}

#[test]
fn placeholders_stay() {
    check(PLACEHOLDERS);
}

#[test]
fn code_stays() {
    check(CODE);
}

#[test]
fn hashes_and_public_keys_stay() {
    check(HASHES);
}
