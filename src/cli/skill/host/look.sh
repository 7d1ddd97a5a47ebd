# Prints the system's name, and then the first file of knowledge that is there. $1: the most bytes of it.
uname -s
for file in ./.kosmos-panel/ai_system_promt.md "$HOME/.config/kosmos-panel/ai_system_promt.md"; do
    if [ -f "$file" ] && [ ! -h "$file" ] && grep -q '[^[:space:]]' "$file"; then
        head -c "$1" "$file"
        break
    fi
done
# The input stays open.
exit 0
