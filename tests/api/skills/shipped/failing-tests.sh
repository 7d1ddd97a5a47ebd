# The project in which the sessions of failing-tests are played; $1 is the name of the case.
case "$1" in
"no tests are found")
    printf 'words\n' > notes.txt
    exit
    ;;
esac
printf '.PHONY: test\ntest:\n\t@sh tests.sh\n' > Makefile
cat > price.sh <<'CODE'
# Prints the price of $1 pieces at $2 cents each; from 10 pieces on, one is free.
pieces=$1
if [ "$pieces" -gt 10 ]; then
    pieces=$((pieces - 1))
fi
echo $((pieces * $2))
CODE
case "$1" in
"all tests pass") sed -i 's/-gt 10/-ge 10/' price.sh ;;
esac
cat > tests.sh <<'CODE'
failed=0
check() {
    found=$(sh price.sh "$1" "$2")
    [ "$found" = "$3" ] || { echo "tests.sh: $1 pieces at $2: expected $3, got $found"; failed=1; }
}
check 1 50 50
check 9 50 450
check 10 50 450
[ "$failed" = 0 ] && echo 'tests.sh: all pass'
exit "$failed"
CODE
git init -q -b main
git add .
git commit -q -m 'Begin'
