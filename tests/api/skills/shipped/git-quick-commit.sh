# The repository in which the sessions of git-quick-commit are played; $1 is the name of the case.
case "$1" in
"a folder that is no repository") exit ;;
esac
git init -q -b main
printf 'one\n' > a.txt
printf 'one\n' > b.txt
git add .
git commit -q -m 'Begin'
case "$1" in
"nothing to commit") ;;
"a file with secrets is left out")
    printf 'TOKEN=x\n' > .env
    printf 'two\n' > a.txt
    ;;
"staged changes alone")
    printf 'two\n' > a.txt
    git add a.txt
    printf 'two\n' > b.txt
    ;;
"files with conflicts are not committed")
    git switch -q -c other
    printf 'two\n' > a.txt
    git commit -q -a -m 'Change it'
    git switch -q main
    printf 'three\n' > a.txt
    git commit -q -a -m 'Change it otherwise'
    git merge -q other > merge.log || rm merge.log
    ;;
"a hook refuses the commit")
    printf '#!/bin/sh\necho "lint: a.txt:1: trailing space" >&2\nexit 1\n' > .git/hooks/pre-commit
    chmod +x .git/hooks/pre-commit
    printf 'one \n' > a.txt
    ;;
*)
    printf 'one\ntwo\n' > a.txt
    printf 'new\n' > c.txt
    ;;
esac
