# The repository in which the sessions of git-release-notes are played; $1 is the name of the case.
commit() {
    git commit -q --allow-empty -m "$1"
}
git init -q -b main
commit 'Begin'
case "$1" in
"a repository without tags")
    commit 'feat: Print times in UTC'
    exit
    ;;
esac
git tag v1.0.0
case "$1" in
"nothing has changed") exit ;;
esac
commit 'feat: Read settings from a file'
commit 'fix: Files with spaces in their names are found'
commit 'refactor: Split the parser'
commit 'feat!: Drop the option --old

BREAKING CHANGE: use --new.'
case "$1" in
"a file that exists is appended to") printf '## 1.0.0\n\nThe first release.\n' > RELEASE_NOTES.md ;;
esac
