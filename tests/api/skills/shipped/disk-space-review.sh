# The folder in which the sessions of disk-space-review are played; $1 is the name of the case.
file() {
    mkdir -p "$(dirname "$1")"
    head -c "$2" /dev/zero > "$1"
}
file 'site/node_modules/big/index.js' 3000000
file 'site/src/page.js' 20000
file 'videos/old talk.mp4' 1500000
file 'notes.txt' 4000
