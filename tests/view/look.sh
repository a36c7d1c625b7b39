# For tests of the page: sourced after tests/lib.sh.
# shellcheck shell=sh
command -v chromium >/dev/null || skip_all 'chromium is not installed'

mkfifo look.ask look.told
TMPDIR=$work python3 "$ROOT/tests/view/page.py" <look.ask >look.told 2>seen.err &
looker=$!
exec 5>look.ask 6<look.told
trap 'exec 5>&-; wait "$looker"; rm -rf "$work"' EXIT

# look PAGE SCENARIO[=ARGUMENT]...: what a reader sees, as JSON in the file seen.
look() {
    printf '%s\t' "$@" >&5
    echo >&5
    read -r problems <&6 || problems="the browser failed: $(tail -n 1 seen.err)"
    is "${1##*/} $2: no error, nothing asked for" "$problems" '[]'
}

# seen FILTER: what jq's FILTER gives on the file seen.
seen() { jq -r "$1" seen; }

# sees <<END: checks of the file seen, a line each: NAME :: FILTER :: WANTED.  One jq does all: it takes 25 ms to start.
sees() {
    separator=$(printf '\001')
    sed "s/ :: /$separator/g" >sees.lines
    jq -r "$(cut -d "$separator" -f 2 sees.lines | sed 's/.*/[&]/' | paste -sd ,) | map(tostring) | join(\" \")" seen >sees.got
    while IFS=$separator read -r name filter wanted; do
        IFS= read -r got <&7 || got="nothing from $filter"
        is "$name" "$got" "$wanted"
    done <sees.lines 7<sees.got
}
