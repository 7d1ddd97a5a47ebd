//! Files that are known to hold secrets, by their names.

/// Names of folders and files that are secret with all that is below them.
const NAMES: &[&str] = &[
    ".dev.vars",
    ".dockercfg",
    ".flaskenv",
    ".s3cfg",
    ".secrets",
    ".yarnrc.yml",
    "auth.json",
    "kubeconfig",
    ".aws",
    ".azure",
    ".env",
    ".envrc",
    ".git-credentials",
    ".gnupg",
    ".htpasswd",
    ".kube",
    ".my.cnf",
    ".netrc",
    ".npmrc",
    ".password-store",
    ".pgpass",
    ".pypirc",
    ".ssh",
    ".vault-token",
    ".wgetrc",
    "_netrc",
    "ai-prompt-shell.toml",
    "credentials",
    "gshadow",
    "keychains",
    "llm-base.json",
    "master.key",
    "master.passwd",
    "secrets",
    "shadow",
    "sudoers",
    "sudoers.d",
];

/// What copies of files end with.
const COPIES: &[&str] = &[".bak", ".backup", ".old", ".orig", ".save", ".swo", ".swp"];

/// What such names begin with.
const STARTS: &[&str] = &[
    ".env-",
    ".env_",
    "secret.",
    "secrets-",
    "service-account",
    ".env.",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_rsa",
    "ssh_host_",
    "credentials.",
    "secrets.",
];

/// What such names end with.
const ENDS: &[&str] = &[
    ".tfstate",
    ".tfvars",
    ".env",
    ".jks",
    ".kdbx",
    ".key",
    ".keystore",
    ".ovpn",
    ".p12",
    ".pem",
    ".pfx",
    ".ppk",
    "_history",
];

/// What shows that a name of such a kind is harmless: examples, and public halves of keys.
const HARMLESS_ENDS: &[&str] =
    &[".example", ".sample", ".template", ".dist", ".pub", ".example.env", ".sample.env"];

/// Paths of several parts.
const PLACES: &[&[&str]] = &[
    &[".config", "gh"],
    &[".config", "gcloud"],
    &[".config", "ai-prompt-shell"],
    &[".docker", "config.json"],
    &[".cargo", "credentials.toml"],
    &[".gem", "credentials"],
    &[".git", "config"],
    &[".m2", "settings.xml"],
    &[".terraform.d", "credentials.tfrc.json"],
];

/// Files of a process that show its memory, its environment or its command line.
const OF_PROCESSES: &[&str] = &["environ", "mem", "maps", "cmdline", "fd", "root", "cwd", "task"];

/// Whether a path names a file, or a folder, that is known to hold secrets. A pattern of file names counts as a path.
pub fn is_secret(path: &str) -> bool {
    let path = path.to_lowercase();
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let in_proc = matches!(parts.as_slice(), ["proc", _, rest @ ..] if rest.iter().any(|part| OF_PROCESSES.contains(part)));
    in_proc
        || parts.iter().any(|part| is_secret_name(part))
        || PLACES.iter().any(|place| has_run(&parts, place))
}

/// Names that stand for files with secrets, and for others, when a pattern is tried.
const SAMPLES: &[&str] = &[
    ".env",
    ".env.local",
    ".netrc",
    ".npmrc",
    ".pgpass",
    "id_rsa",
    "id_ed25519",
    "credentials",
    "server.pem",
    "server.key",
];
const OTHERS: &[&str] = &["readme.md", "main.rs", "a"];

/// Whether a pattern of file names means files with secrets: it matches one, and not just any file.
pub fn matches_secret(pattern: &str) -> bool {
    if pattern.len() > MOST_BYTES {
        return true;
    }
    let name = pattern.rsplit('/').next().unwrap_or(pattern).to_lowercase();
    name.contains(['*', '?', '[', '{'])
        && alternatives(&name).iter().any(|name| matches_any(name, SAMPLES) && !matches_any(name, OTHERS))
}

fn matches_any(pattern: &str, names: &[&str]) -> bool {
    let letters = |text: &str| text.chars().collect::<Vec<char>>();
    names.iter().any(|name| matches(&letters(pattern), &letters(name), &mut MOST_STEPS.clone()))
}

/// The patterns that one with `{a,b}` stands for.
fn alternatives(pattern: &str) -> Vec<String> {
    let parts = pattern.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    match parts {
        Some((before, (middle, after))) => {
            middle.split(',').take(MOST_PARTS).map(|part| format!("{before}{part}{after}")).collect()
        }
        None => vec![pattern.to_owned()],
    }
}

/// Alternatives of a pattern that are tried, and bytes of a pattern: a longer one counts as one that means secrets.
const MOST_PARTS: usize = 64;
const MOST_BYTES: usize = 1_000;

/// Steps of one comparison.
const MOST_STEPS: usize = 10_000;

/// Whether a pattern (`*`, `?`, `[…]` for any letter) matches a name.
fn matches(pattern: &[char], name: &[char], steps: &mut usize) -> bool {
    if *steps == 0 {
        return true;
    }
    *steps -= 1;
    match (pattern, name) {
        ([], []) => true,
        (['*', rest @ ..], _) => {
            matches(rest, name, steps)
                || name.split_first().is_some_and(|(_, name)| matches(pattern, name, steps))
        }
        (['[', rest @ ..], [_, name @ ..]) => {
            let after =
                rest.iter().skip(1).position(|letter| *letter == ']').and_then(|end| rest.get(end + 2..));
            matches(after.unwrap_or_default(), name, steps)
        }
        (['?', rest @ ..], [_, name @ ..]) => matches(rest, name, steps),
        ([one, rest @ ..], [other, name @ ..]) if one == other => matches(rest, name, steps),
        _ => false,
    }
}

fn is_secret_name(name: &str) -> bool {
    // In a pattern, what stands around the name may match nothing.
    let name = name.trim_matches(['*', '#', '~']);
    // Copies and what editors keep: `.env.bak`, `..env.swp`.
    let copied = COPIES.iter().find_map(|end| name.strip_suffix(end));
    let name =
        copied.map_or(name, |name| if name.starts_with("..") { name.trim_start_matches("..") } else { name });
    let dotted = format!(".{name}");
    let is_harmless = HARMLESS_ENDS.iter().any(|end| name.ends_with(end));
    let begins = STARTS.iter().any(|start| name.starts_with(start));
    let ends = ENDS.iter().any(|end| name.ends_with(end));
    NAMES.contains(&name)
        || (copied.is_some() && NAMES.contains(&dotted.as_str()))
        || (!is_harmless && (begins || ends))
}

fn has_run(parts: &[&str], place: &[&str]) -> bool {
    parts.windows(place.len()).any(|window| window == place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_mean_files_with_secrets_are_known() {
        for pattern in [".en[v]", ".en?", "**/.e*", "id_*", "*.pe?", "*.{pem,key}"] {
            assert!(matches_secret(pattern), "{pattern}");
        }
        for pattern in ["*", "**/*", "*.rs", "*.[ch]", "src/*"] {
            assert!(!matches_secret(pattern), "{pattern}");
        }
    }

    #[test]
    fn files_with_secrets_are_known_by_their_names() {
        for path in [
            ".env",
            "sub/.env.local",
            "~/.ssh/id_rsa",
            "/etc/shadow",
            "/proc/self/environ",
            "/proc/1/root/etc",
            "k.pem",
            "*.pem",
            "**/.env*",
            ".ENV",
            "home/.config/gh/hosts.yml",
            ".bash_history",
            "prod.env",
            "id_ed25519",
        ] {
            assert!(is_secret(path), "{path}");
        }
        for path in [
            ".env.example",
            "id_rsa.pub",
            "src/main.rs",
            "environment.md",
            "shadows.css",
            "/proc/cpuinfo",
            "keys.rs",
            "history.md",
            ".envoy.yaml",
            "config",
            "prod.env.example",
        ] {
            assert!(!is_secret(path), "{path}");
        }
    }
}
