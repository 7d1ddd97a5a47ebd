//! The environment that commands get: what the user has, without secrets, and without what makes a program start another one.

mod names;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::lookup::{clean_path, joined};

/// Environment variables by their names.
pub type Environment = BTreeMap<OsString, OsString>;

/// `environment` as commands get it.
///
/// Removed are variables whose names speak of secrets, or name or load programs, libraries or options; those whose values hold a URL
/// with a user or a password, or a shell function; and names that are no names. `PATH` becomes its [`clean_path`]. Set are
/// variables that keep programs from asking, paging and colouring.
///
/// It reads nothing but the folders of `PATH`, and is what [`Executor`](crate::Executor) uses: what this shows is what commands get.
pub fn scrubbed(environment: &Environment, workspace: &Path) -> Environment {
    let kept = environment.iter().filter(|(name, value)| is_kept(name, value));
    let mut scrubbed: Environment = kept.map(|(name, value)| (name.clone(), value.clone())).collect();
    let path = environment.get(OsStr::new("PATH")).map(OsString::as_os_str).unwrap_or_default();
    scrubbed.insert("PATH".into(), joined(&clean_path(path, workspace)));
    scrubbed.extend(names::SET.map(|(name, value)| (name.into(), value.into())));
    scrubbed
}

/// The variables that sandboxed commands get besides: they keep git from fetching what it lacks.
pub(crate) fn of_the_sandbox() -> [(&'static str, &'static str); 2] {
    names::SET_SANDBOXED
}

fn is_kept(name: &OsStr, value: &OsStr) -> bool {
    // A name that is no UTF-8 is nobody's, and cannot be compared with the lists.
    let Some(name) = name.to_str() else { return false };
    let value = value.to_string_lossy();
    let well_formed = !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0');
    let name = name.to_uppercase();
    let value_is_fine = !value.starts_with("() {") && !holds_url_with_user(&value);
    well_formed && !is_secret(&name) && !names_programs(&name) && value_is_fine
}

/// Whether a name, in capitals, speaks of a secret.
fn is_secret(name: &str) -> bool {
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    any_of(names::SECRET_PARTS, |part| name.contains(part))
        || words.any(|word| any_of(names::SECRET_WORDS, |secret| secret == word))
}

/// Whether a variable, by its name in capitals, says which programs, libraries or options are used.
fn names_programs(name: &str) -> bool {
    any_of(names::PROGRAM_NAMES, |known| known == name)
        || any_of(names::PROGRAM_PREFIXES, |prefix| name.starts_with(prefix))
        || any_of(names::PROGRAM_SUFFIXES, |suffix| name.ends_with(suffix))
}

fn any_of(list: names::List, is_it: impl FnMut(&str) -> bool) -> bool {
    list.iter().flat_map(|line| line.split_whitespace()).any(is_it)
}

/// Whether a text has a URL with something before an `@`: `https://user:password@host`, `https://token@host`.
fn holds_url_with_user(value: &str) -> bool {
    value.split("://").skip(1).any(|rest| {
        let authority = rest.split(|c: char| "/?#".contains(c) || c.is_whitespace()).next();
        authority.is_some_and(|authority| authority.contains('@'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Environment {
        let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        scrubbed(&variables.collect(), Path::new("/nowhere"))
    }

    fn keeps(name: &str, value: &str) -> bool {
        of(&[(name, value)]).get(OsStr::new(name)).is_some_and(|kept| kept == value)
    }

    #[test]
    fn secrets_are_removed() {
        let names = "OPENAI_API_KEY aws_secret_access_key GITHUB_TOKEN NPM_CONFIG__AUTH DB_PASSWORD MYSQL_PWD PGPASSFILE \
                     PASSPHRASE GOOGLE_APPLICATION_CREDENTIALS COOKIE_JAR SSH_AUTH_SOCK XAUTHORITY GH_PAT SENTRY_DSN apikey \
                     SLACK_WEBHOOK PRIVATE_PEM CONNECTION_STRING OAUTH SESSION_JWT";
        for name in names.split_whitespace() {
            assert!(!keeps(name, "x"), "{name} is kept");
        }
    }

    #[test]
    fn what_names_programs_or_loads_code_is_removed() {
        let names = "PAGER MANPAGER SYSTEMD_PAGER EDITOR VISUAL BROWSER GIT_EXTERNAL_DIFF GIT_SSH_COMMAND GIT_CONFIG_COUNT \
                     GIT_DIR LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES NODE_OPTIONS JAVA_TOOL_OPTIONS \
                     _JAVA_OPTIONS MAVEN_OPTS RUBYOPT PERL5OPT PERL5LIB PYTHONSTARTUP PYTHONPATH PYTHONWARNINGS BASH_ENV ENV \
                     SHELLOPTS BASH_FUNC_ls%% PROMPT_COMMAND PS4 LESS LESSOPEN LESSCLOSE TAR_OPTIONS TAPE GREP_OPTIONS \
                     RIPGREP_CONFIG_PATH FZF_DEFAULT_COMMAND SSH_ASKPASS GPG_TTY MAKEFLAGS RUSTC_WRAPPER RUSTFLAGS GOFLAGS CC CXX \
                     GCONV_PATH LOCPATH NLSPATH TERMINFO IFS CDPATH POSIXLY_CORRECT GLIBC_TUNABLES OPENSSL_CONF LUA_INIT_5_4 \
                     DOTNET_STARTUP_HOOKS BAT_PAGER DELTA_PAGER GZIP XZ_DEFAULTS UNZIP ZIPOPT RSYNC_RSH CVS_RSH SHELL \
                     CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER MAGIC VIMINIT PWD OLDPWD GTK_MODULES ld_preload";
        for name in names.split_whitespace() {
            assert!(!keeps(name, "x"), "{name} is kept");
        }
    }

    #[test]
    fn what_programs_need_stays() {
        let names = "HOME USER LOGNAME LANG LC_ALL TZ TMPDIR XDG_CONFIG_HOME XDG_RUNTIME_DIR DISPLAY CARGO_HOME GOPATH \
                     JAVA_HOME VIRTUAL_ENV HTTPS_PROXY NO_PROXY KUBECONFIG DOCKER_HOST SYSTEMROOT EMAIL http_proxy";
        for name in names.split_whitespace() {
            assert!(keeps(name, "http://a.example:1/x?y=a@b"), "{name} is removed");
        }
    }

    #[test]
    fn values_with_credentials_or_functions_are_removed() {
        assert!(!keeps("HTTPS_PROXY", "http://me:word@proxy.example:8080"));
        assert!(!keeps("INDEX", "https://ghp_x@host.example/"));
        assert!(!keeps("TWO", "http://a.example http://u:p@b.example"));
        assert!(!keeps("F", "() { :; }; echo"));
        assert!(!keeps("NUL", "a\0b"));
        assert!(!keeps("", "x") && !keeps("A=B", "x") && !keeps("A\0", "x"));
    }

    #[test]
    fn programs_are_told_not_to_ask_page_or_colour() {
        let environment = of(&[("GIT_TERMINAL_PROMPT", "1"), ("TERM", "xterm"), ("PATH", "/usr/bin:.:x")]);
        let expected = [
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_PAGER", "cat"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("NO_COLOR", "1"),
            ("PAGER", "cat"),
            ("PATH", "/usr/bin"),
            ("TERM", "dumb"),
        ];
        assert_eq!(environment, expected.map(|(name, value)| (name.into(), value.into())).into());
    }

    #[test]
    fn scrubbing_twice_changes_nothing() {
        let once = of(&[("HOME", "/h"), ("PAGER", "less"), ("PATH", "/usr/bin")]);
        assert_eq!(scrubbed(&once, Path::new("/nowhere")), once);
    }
}
