# The repository in which the sessions of git-branch-cleanup are played; $1 is the name of the case.
at() {
    GIT_AUTHOR_DATE="$1T12:00:00Z" GIT_COMMITTER_DATE="$1T12:00:00Z" git commit -q --allow-empty -m "$2"
}
git init -q -b main
at 2024-01-01 'Begin'
case "$1" in
"nothing is merged")
    git switch -q -c try-cache
    at 2024-01-15 'Try a cache'
    git switch -q main
    exit
    ;;
esac
git switch -q -c fix-login
at 2024-02-01 'Fix the login'
git switch -q -c faster-search main
at 2024-03-01 'Make the search faster'
git switch -q -c try-cache main
at 2024-01-15 'Try a cache'
git switch -q main
export GIT_AUTHOR_DATE=2024-03-02T12:00:00Z GIT_COMMITTER_DATE=2024-03-02T12:00:00Z
git merge -q --no-ff -m 'Merge the login' fix-login
git merge -q --no-ff -m 'Merge the search' faster-search
case "$1" in
"a branch in another worktree is refused")
    git worktree add -q other fix-login
    ;;
esac
