# Runs a command in a group of processes of its own, and kills the group when the command has ended, when its time is over, or
# when the connection is gone. $1: the command, $2: the most seconds, $3: its SKILL_DIR, if there is one. Texts are octal numbers.
text() {
    text=$(printf '%b' "$(printf '%s' "$1" | sed 's/.../\\0&/g')" && echo x)
    text=${text%x}
}

end() {
    kill -s KILL -- "-$job" || kill -s KILL "$job"
} 2>/dev/null

# A function, so that all of it is read before anything else reads the input.
main() {
    text "$1"
    command=$text
    text "$3"
    [ -z "$text" ] || { SKILL_DIR=$text && export SKILL_DIR; }
    exec 3<&0
    if command -v setsid >/dev/null 2>&1; then
        setsid sh -c "$command" </dev/null 3<&- &
    else
        set -m 2>/dev/null
        sh -c "$command" </dev/null 3<&- &
    fi
    job=$!
    # The input ends with the connection.
    { cat <&3 && end; } >/dev/null 2>&1 &
    connection=$!
    { trap 'kill "$pause"; exit' TERM; sleep "$2" & pause=$!; wait "$pause" && end; } </dev/null >/dev/null 2>&1 3<&- &
    limit=$!
    wait "$job" 2>/dev/null
    code=$?
    end
    kill "$limit" "$connection" 2>/dev/null
    exit "$code"
}
main "$@"
