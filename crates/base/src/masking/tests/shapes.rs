//! Secrets of known shape, PEM blocks, URLs and authorization.

use super::{Case, check};

const KEYS: &[Case] = &[
    ("sk-{48}", "[masked: OpenAI key]", "OpenAI's first keys"),
    ("my key is sk-proj-{40}_{20}-{8}.", "my key is [masked: OpenAI key].", "a project's key in a sentence"),
    ("sk-svcacct-{60},", "[masked: OpenAI key],", "a service account's key"),
    ("sk-abcdefghijklmnopqrstuvwx", "[masked: OpenAI key]", "letters alone, too many for a word"),
    ("sk-ant-api03-{60}-{10}AA", "[masked: Anthropic key]", "Anthropic"),
    ("AKIAIOSFODNN7EXAMPLE", "[masked: AWS access key]", "AWS, in the documentation"),
    ("id: ASIAIOSFODNN7EXAMPLE;", "id: [masked: AWS access key];", "a temporary one"),
    ("ghp_{36}", "[masked: GitHub token]", "GitHub, personal"),
    ("gho_{36} ghu_{36}", "[masked: GitHub token] [masked: GitHub token]", "two on a line"),
    ("ghs_{36}\nghr_{36}", "[masked: GitHub token]\n[masked: GitHub token]", "two lines"),
    ("'github_pat_{22}_{59}'", "'[masked: GitHub token]'", "GitHub, fine-grained"),
    ("glpat-{20}", "[masked: GitLab token]", "GitLab"),
    ("xoxb-123456789012-{24}", "[masked: Slack token]", "Slack, a bot"),
    (
        "xoxp-1-2-{24} xoxa-2-{12} xoxr-{12} xoxs-{12}",
        "[masked: Slack token] [masked: Slack token] [masked: Slack token] [masked: Slack token]",
        "the others",
    ),
    ("xapp-1-A012-345-{40}", "[masked: Slack token]", "Slack, an app"),
    (
        "https://hooks.slack.com/services/T0/B0/{24}",
        "https://hooks.slack.com/services/[masked: Slack webhook]",
        "the path is the secret",
    ),
    ("AIza{35}", "[masked: Google key]", "Google, a key"),
    ("ya29.{40}-{20}", "[masked: Google token]", "Google, a token"),
    (
        "sk_live_{24} rk_live_{24} sk_test_{24}",
        "[masked: Stripe key] [masked: Stripe key] [masked: Stripe key]",
        "Stripe",
    ),
    ("npm_{36}", "[masked: npm token]", "npm"),
    ("pypi-AgEI{60}", "[masked: PyPI token]", "PyPI"),
    ("hf_{34}", "[masked: Hugging Face token]", "Hugging Face"),
    ("SG.{22}.{43}", "[masked: SendGrid key]", "SendGrid"),
    ("bot123456789:AA{33}", "bot123456789:[masked: Telegram token]", "Telegram; the number names the bot"),
    ("eyJ{20}.eyJ{40}.{43}", "[masked: JWT]", "a JWT"),
    ("eyJ{20}.eyJ{40}", "[masked: JWT]", "a JWT that was cut"),
    ("eyJ{2000}.eyJ{40}.{43}!", "[masked: JWT]!", "a header that is longer than is looked at"),
    ("x=\"a\\nghp_{36}\\n\"", "x=\"a\\n[masked: GitHub token]\\n\"", "after an escaped line end"),
    ("?q=%20ghp_{36}&r", "?q=%20[masked: GitHub token]&r", "after an escaped space"),
    ("\u{1b}[31mghp_{36}\u{1b}[0m", "\u{1b}[31m[masked: GitHub token]\u{1b}[0m", "after a colour"),
    ("密钥ghp_{36}。", "密钥[masked: GitHub token]。", "after a word without spaces"),
];

const PEM: &[Case] = &[
    (
        "a\n-----BEGIN RSA PRIVATE KEY-----\n{64}\n{64}\nab==\n-----END RSA PRIVATE KEY-----\nb",
        "a\n[masked: private key]\nb",
        "a block",
    ),
    ("-----BEGIN PRIVATE KEY-----\n{64}\n{30}", "[masked: private key]", "the end is missing"),
    (
        "-----BEGIN PRIVATE KEY-----\n{64}\n{30}\n2 files were read\n",
        "[masked: private key]2 files were read\n",
        "and a text follows",
    ),
    (
        "{\"k\": \"-----BEGIN PRIVATE KEY-----\\n{64}\\n{30}\\n-----END PRIVATE KEY-----\\n\", \"a\": 1}",
        "{\"k\": \"[masked: private key]\\n\", \"a\": 1}",
        "escaped in JSON",
    ),
    (
        "{\"k\": \"-----BEGIN PRIVATE KEY-----\\n{64}\\n{30}\", \"a\": 1}",
        "{\"k\": \"[masked: private key]\", \"a\": 1}",
        "escaped, without an end",
    ),
    (
        "-----BEGIN OPENSSH PRIVATE KEY-----\n  {64}\n  {8}\n  -----END OPENSSH PRIVATE KEY-----",
        "[masked: private key]",
        "indented",
    ),
    (
        "    1\t-----BEGIN EC PRIVATE KEY-----\n    2\t{64}\n    3\tab==\n    4\t-----END EC PRIVATE KEY-----\n",
        "    1\t[masked: private key]\n",
        "with the numbers of lines",
    ),
    (
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n{64}\n-----END RSA PRIVATE KEY-----",
        "[masked: private key]",
        "encrypted, with headers",
    ),
    (
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{64}\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----",
        "[masked: private key]",
        "PGP",
    ),
    (
        "KEY = \"-----BEGIN PRIVATE KEY-----\\n\" +\n  \"{64}\\n\" +\n  \"-----END PRIVATE KEY-----\"",
        "KEY = \"[masked: private key]\"",
        "joined in code",
    ),
    (
        "private_key: |\n  -----BEGIN PRIVATE KEY-----\n  {64}\n  -----END PRIVATE KEY-----\nuser: x",
        "private_key: |\n  [masked: private key]\nuser: x",
        "in YAML",
    ),
    ("-----BEGIN CERTIFICATE-----\n{64}\n-----END CERTIFICATE-----", "", "a certificate is public"),
    ("-----BEGIN PUBLIC KEY-----\n{64}\n-----END PUBLIC KEY-----", "", "so is this"),
];

const URLS: &[Case] = &[
    ("https://user:hunter2@host/path", "https://user:[masked]@host/path", "user and password"),
    ("postgres://app:p@ss:w0rd@db:5432/x", "postgres://app:[masked]@db:5432/x", "a password with signs"),
    ("redis://:hunter2@localhost", "redis://:[masked]@localhost", "no user"),
    ("DATABASE_URL=mysql://root:1234@db/x", "DATABASE_URL=mysql://root:[masked]@db/x", "digits alone"),
    ("https://oauth2:{900}@gitlab.com/x", "https://oauth2:[masked]@gitlab.com/x", "longer than is looked at"),
    (
        "https://x-access-token:ghs_{36}@github.com/a",
        "https://x-access-token:[masked]@github.com/a",
        "a token as password",
    ),
    ("https://ghp_{36}@github.com/a", "https://[masked: GitHub token]@github.com/a", "a token as user"),
    ("https://api/x?token=abc123&user=bob", "https://api/x?token=[masked]&user=bob", "in a query"),
    ("http://localhost:8080/@scope/pkg and a@b.c", "", "a port is no password"),
    ("http://host/a:b@c ftp://me@host", "", "a path, and a user without password"),
    ("https://user:${PASS}@host https://user:$PASS@host", "", "placeholders"),
];

const AUTHORIZATION: &[Case] = &[
    ("Authorization: Bearer abc", "Authorization: Bearer [masked]", "the scheme stays"),
    ("curl -H 'Authorization: Basic dXNlcjpwYXNz' x", "curl -H 'Authorization: Basic [masked]' x", "Basic"),
    ("{\"Authorization\": \"Bearer {20}\"}", "{\"Authorization\": \"Bearer [masked]\"}", "JSON"),
    ("authorization: {32}", "authorization: [masked]", "no scheme"),
    ("proxy-authorization: Basic abc=\n", "proxy-authorization: Basic [masked]\n", "a proxy's"),
    ("send Bearer {24} with it", "send Bearer [masked] with it", "elsewhere"),
    ("Authorization: Bearer <token>\nAuthorization: Bearer $TOKEN", "", "placeholders"),
    ("a bearer token is needed; Bearer authentication", "", "words"),
    ("headers[\"Authorization\"] = f\"Bearer {token}\"", "", "a placeholder in code"),
    ("X-Api-Key: abcdef\nX-Auth-Token: {20}", "X-Api-Key: [masked]\nX-Auth-Token: [masked]", "other headers"),
];

#[test]
fn keys_and_tokens_of_known_shape_are_masked() {
    check(KEYS);
}

#[test]
fn private_keys_are_masked_as_blocks() {
    check(PEM);
}

#[test]
fn passwords_in_urls_are_masked() {
    check(URLS);
}

#[test]
fn authorization_keeps_its_scheme() {
    check(AUTHORIZATION);
}
