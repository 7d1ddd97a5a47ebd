//! Which environment variables are removed, and which are set: the lists, to be reviewed. Names are compared in capitals.

/// Set for every command, whatever the user has.
pub(super) const SET: [(&str, &str); 6] = [
    // No question for a password: nobody is there to answer it.
    ("GIT_TERMINAL_PROMPT", "0"),
    // `git status` does not write the index.
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("PAGER", "cat"),
    ("NO_COLOR", "1"),
    ("TERM", "dumb"),
];

/// Set for sandboxed commands, too. In a repository whose objects are incomplete (a partial clone) git fetches them when it looks
/// at them, by the program `remote.*.uploadpack` of the repository's own configuration. Old versions have no option against that.
pub(super) const SET_SANDBOXED: [(&str, &str); 2] =
    [("GIT_NO_LAZY_FETCH", "1"), ("GIT_ALLOW_PROTOCOL", "none")];

/// Words with spaces between them.
pub(super) type List = &'static [&'static str];

/// A name that contains one of these holds a secret, or leads to one. Some harmless names do, too (`KEYBOARD`): they are not missed.
pub(super) const SECRET_PARTS: List = &[
    "KEY TOKEN SECRET CRED AUTH COOKIE PRIVATE SIGNING WEBHOOK CONNECTION CONNSTR",
    // PASSWORD, PASSWD, PASSPHRASE, PASSFILE; MYSQL_PWD. PWD and OLDPWD are not true for the command's working directory.
    "PASS PWD",
];

/// A name of which one of these is a whole word (`GH_PAT`) holds a secret.
pub(super) const SECRET_WORDS: List = &["PAT DSN JWT SAS PIN OTP PW"];

/// All variables of programs that take code, programs or options from many of them.
pub(super) const PROGRAM_PREFIXES: List = &[
    // Programs for diffs, pagers, editors, ssh, merges; the configuration; another repository, index or worktree.
    "GIT_",
    // The dynamic linker loads what they name into every program.
    "LD_ DYLD_ MALLOC_",
    // Shells: functions, start files, options, prompts with commands.
    "BASH ZSH PROMPT",
    // Interpreters and their tools: start files, module paths, options, debuggers, profilers.
    "PYTHON PERL RUBY BUNDLE_ NODE_ NPM_ TS_NODE_ DENO_ BUN_ LUA_ PHP R_ JULIA_ GUILE_ ERL_ JDK_ DOTNET_ CORECLR_ COR_",
    // `less` runs preprocessors and, in its options, commands; so do other viewers.
    "LESS MOST_ BAT_ DELTA_ FZF_ GROFF_",
    // Agents, and programs that ask for passwords.
    "SSH_ GPG_ VSCODE_",
    // Transports and editors of other version control systems, and of copiers.
    "SVN_ HG RSYNC_",
];

/// Names that end so hold a program, a command, or options of a program, whatever comes before: `MANPAGER`, `TAR_OPTIONS`.
pub(super) const PROGRAM_SUFFIXES: List = &[
    "PAGER EDITOR BROWSER ASKPASS _SHELL _RSH _SSH _COMMAND _CMD _PROGRAM _EXEC _HELPER _HOOK _HOOKS",
    "_WRAPPER _RUNNER _LINKER _LAUNCHER _PROFILER _STARTUP",
    // RUBYOPT, XZ_OPT, MANROFFOPT; MAKEFLAGS, RUSTFLAGS, GOFLAGS (`-toolexec`), LDFLAGS.
    "OPT _OPTS _OPTIONS _ARGS _DEFAULTS FLAGS",
    "_PRELOAD _MODULES _MODULE_DIR _MODULE_FILE _PLUGIN _PLUGINS _PLUGIN_PATH",
];

/// Single variables.
pub(super) const PROGRAM_NAMES: List = &[
    // Programs that others start. Compilers and their tools are options of a build: who wants them says so in the command.
    "VISUAL SHELL FCEDIT RSH CC CXX CPP AR AS LD NM RANLIB STRIP LEX YACC FC F77 MAKE RUSTC RUSTDOC PKG_CONFIG CVS_RSH",
    // Shells.
    "ENV SHELLOPTS ZDOTDIR FPATH IFS CDPATH GLOBIGNORE FIGNORE EXECIGNORE MAILPATH MAILCHECK INPUTRC PS0 PS1 PS2 PS3 PS4",
    // The C library: tables and messages that it loads, tuning, hosts.
    "GCONV_PATH LOCPATH NLSPATH GETCONF_DIR GLIBC_TUNABLES HOSTALIASES LOCALDOMAIN NIS_PATH RESOLV_HOST_CONF",
    // Terminals.
    "TERMINFO TERMINFO_DIRS TERMCAP TERMPATH",
    // They change the meaning of options and operands, which were judged in their usual meaning.
    "POSIXLY_CORRECT _POSIX2_VERSION TAPE MORE GZIP BZIP BZIP2 UNZIP ZIPINFO LZMA XZ ZSTD_CLEVEL",
    // Configuration files that start programs.
    "RIPGREP_CONFIG_PATH MAKEFILES MAKEOVERRIDES CONFIG_SITE WGETRC CURL_HOME NETRC SCREENRC PSQLRC MAILCAPS MAILCAP MAGIC",
    "VIM VIMINIT EXINIT GVIMINIT MYVIMRC VIMRUNTIME EMACSLOADPATH",
    // Libraries that load others.
    "CLASSPATH OPENSSL_CONF OPENSSL_ENGINES GTK_PATH GIO_EXTRA_MODULES LIBGL_DRIVERS_PATH VK_LAYER_PATH KRB5_CONFIG",
    "SASL_PATH OCAMLRUNPARAM",
    // They overrule NO_COLOR.
    "FORCE_COLOR CLICOLOR_FORCE",
];
