//! Values after names that name secrets.

use super::{Case, check};

const ASSIGNED: &[Case] = &[
    ("API_KEY=abc", "API_KEY=[masked]", "an environment variable"),
    ("export API_KEY='a b c' # mine", "export API_KEY='[masked]' # mine", "quoted, with spaces"),
    ("PGPASSWORD=x psql -h db", "PGPASSWORD=[masked] psql -h db", "before a command"),
    ("DB_PASS=hunter2", "DB_PASS=[masked]", "the short word"),
    ("PASSWORD=a&b;c,d)e", "PASSWORD=[masked]", "punctuation belongs to a word of the shell"),
    ("MY_SECRET_2=foo", "MY_SECRET_2=[masked]", "a number after the word"),
    ("SECRET_KEY_BASE=foo", "SECRET_KEY_BASE=[masked]", "an unknown word after it"),
    ("AWS_SECRET_ACCESS_KEY={40}", "AWS_SECRET_ACCESS_KEY=[masked]", "AWS"),
    ("aws_secret_access_key = {20}/{19}", "aws_secret_access_key = [masked]", "AWS, in its file"),
    ("API_KEY=3f2504e04f8911d39a0c0305e82c3301", "API_KEY=[masked]", "hexadecimal, but named"),
    ("db.password=correct horse battery", "db.password=[masked]", "properties have spaces"),
    ("password = hunter2\nuser = x", "password = [masked]\nuser = x", "an INI file"),
    ("client-secret: foo", "client-secret: [masked]", "kebab case"),
    ("accessToken: 'foo'", "accessToken: '[masked]'", "camel case"),
    ("password: 123456", "password: [masked]", "a number may be a password"),
    (
        "  password: correct horse # old\n  user: x",
        "  password: [masked] # old\n  user: x",
        "YAML without quotes",
    ),
    ("password: |\n  hunter2\n  more\nuser: x", "password: |\n  [masked]\nuser: x", "a block of YAML"),
    ("{password: a, user: b}", "{password: [masked], user: b}", "YAML in braces"),
    ("[x]\ntoken = \"abc\" # c", "[x]\ntoken = \"[masked]\" # c", "TOML"),
    ("//registry.npmjs.org/:_authToken=abc123", "//registry.npmjs.org/:_authToken=[masked]", "npm's file"),
    (
        "Server=x;User Id=sa;Password=a;b;Encrypt=true",
        "Server=x;User Id=sa;Password=[masked];Encrypt=true",
        "a connection string",
    ),
    ("grant_type=x&client_secret=abc&scope=y", "grant_type=x&client_secret=[masked]&scope=y", "a form"),
    (
        "INFO login failed password: hunter2, user: bob",
        "INFO login failed password: [masked], user: bob",
        "a log",
    ),
    ("JSESSIONID={32}; path=/", "JSESSIONID=[masked]; path=/", "a session"),
    ("key = \"{32}\"", "key = \"[masked]\"", "a name that says little, a value that says much"),
    ("пароль_password=тайна", "пароль_password=[masked]", "not only ASCII"),
    ("auth_token: ключ", "auth_token: [masked]", "a value that is not ASCII"),
    ("PASSWORD=\"unfinished\nnext", "PASSWORD=\"[masked]\nnext", "an open quote ends with its line"),
    ("${DB_PASSWORD:-hunter2}", "${DB_PASSWORD:[masked]}", "the default of a variable"),
    (
        "hash_password: $2b$12${50}",
        "hash_password: [masked]",
        "a hash of a password that begins like a variable",
    ),
];

const JSON: &[Case] = &[
    (r#"{"password": "hunter2", "user": "x"}"#, r#"{"password": "[masked]", "user": "x"}"#, "JSON"),
    (r#"{"apiKey":"a\"b\\"}"#, r#"{"apiKey":"[masked]"}"#, "escaped quotes and backslashes"),
    (r#"{"password": 123456}"#, r#"{"password": [masked]}"#, "a number"),
    (
        r#"{"x": "{\"password\": \"hunter2\", \"a\": 1}"}"#,
        r#"{"x": "{\"password\": \"[masked]\", \"a\": 1}"}"#,
        "JSON in a string",
    ),
    (r#""{\"token\":\"a\\\"b\",\"c\":1}""#, r#""{\"token\":\"[masked]\",\"c\":1}""#, "with a quote inside"),
    (r#""{\\\"secret\\\": \\\"x\\\", 1}""#, r#""{\\\"secret\\\": \\\"[masked]\\\", 1}""#, "two strings deep"),
    (
        r#"{"out": "DB_PASSWORD=x y\nUSER=z"}"#,
        r#"{"out": "DB_PASSWORD=[masked] y\nUSER=z"}"#,
        "a shell's text in JSON",
    ),
    (
        r#"{"name": "API_KEY", "value": "abc"}"#,
        r#"{"name": "API_KEY", "value": "[masked]"}"#,
        "a name and a value",
    ),
    ("- name: DB_PASSWORD\n  value: hunter2", "- name: DB_PASSWORD\n  value: [masked]", "the same in YAML"),
    (r#"["--password", "hunter2", "-v"]"#, r#"["--password", "[masked]", "-v"]"#, "arguments"),
    (r#"{"tokens": ["a"], "max_tokens": 4096, "total_tokens": 12}"#, "", "counts"),
    (r#"{"key": "name", "keys": 3, "primary_key": "id"}"#, "", "keys that are none"),
    (r#"{"password": "", "token": null, "secret": false}"#, "", "nothing there"),
    (r#"{"password": {"type": "string"}}"#, "", "a schema"),
];

const OPTIONS: &[Case] = &[
    ("x --password hunter2 --verbose", "x --password [masked] --verbose", "an option"),
    ("x --token=abc -v", "x --token=[masked] -v", "with an equals sign"),
    ("x --api-key 'a b'", "x --api-key '[masked]'", "quoted"),
    ("machine h login me password x\n", "machine h login me password [masked]\n", "netrc"),
    (
        "machine h\n  login me\n  password x1\n",
        "machine h\n  login me\n  password [masked]\n",
        "netrc on lines",
    ),
    ("ALTER USER x PASSWORD 'hunter2';", "ALTER USER x PASSWORD '[masked]';", "SQL"),
    (
        "curl -s -u me:hunter2 x; docker run -u 1:2 y",
        "curl -s -u me:[masked] x; docker run -u 1:2 y",
        "curl's user",
    ),
    ("curl --user 'me:$PASS' x; git push -u a:b", "", "curl's user, with a placeholder"),
    ("<password>hunter2</password>", "<password>[masked]</password>", "XML"),
    ("use --password to set it, --token-file x, --key path", "", "texts about options"),
    ("x --password --verbose", "", "an option without value"),
];

const CODE: &[Case] = &[
    ("const API_KEY: &str = \"abc\";", "const API_KEY: &str = \"[masked]\";", "after a type"),
    ("password: str = 'hunter2'", "password: str = '[masked]'", "after a type of Python"),
    ("if password == \"hunter2\" {", "if password == \"[masked]\" {", "compared with a literal"),
    ("config['password'] = 'x'", "config['password'] = '[masked]'", "in brackets"),
    ("'password' => 'x',", "'password' => '[masked]',", "PHP and Ruby"),
    ("token := \"abc\"", "token := \"[masked]\"", "Go"),
    ("connect(user=u, password='x')", "connect(user=u, password='[masked]')", "an argument"),
];

#[test]
fn values_after_names_are_masked() {
    check(ASSIGNED);
}

#[test]
fn values_in_json_are_masked() {
    check(JSON);
}

#[test]
fn options_and_the_like_are_masked() {
    check(OPTIONS);
}

#[test]
fn literals_in_code_are_masked() {
    check(CODE);
}
