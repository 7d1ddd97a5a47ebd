# Prints the folder of a skill, and then its SKILL.md. $1: the name of the folder, as octal numbers, $2: the most bytes.
name=$(printf '%b' "$(printf '%s' "$1" | sed 's/.../\\0&/g')")
case $name in
'' | .* | */*) exit 0 ;;
esac
for root in ./.kosmos-panel/skills "$HOME/.config/kosmos-panel/skills"; do
    for file in "$root/$name"/[Ss][Kk][Ii][Ll][Ll].[Mm][Dd]; do
        if [ -f "$file" ] && [ ! -h "$file" ] && [ ! -h "$root/$name" ]; then
            folder=$(cd "$root/$name" && pwd) || exit 1
            printf '%s\n' "$folder"
            head -c "$2" "$file"
            exit 0
        fi
    done
done
# The input stays open.
exit 0
