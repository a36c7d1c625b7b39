# For tests of the page: sourced after tests/lib.sh.
# shellcheck shell=sh
command -v chromium >/dev/null || skip_all 'chromium is not installed'

# look PAGE SCENARIO[=ARGUMENT]...: what a reader sees, as JSON in the file seen.
look() {
    timeout -k 10 "$LIMIT" python3 "$ROOT/tests/view/page.py" "$@" >seen 2>seen.err || {
        echo "# $*: $(tail -n 3 seen.err)"
        echo '{"problems": ["the browser failed"]}' >seen
    }
    is "${1##*/} $2: no error, nothing asked for" "$(jq -c .problems seen)" '[]'
}
seen() { jq -r "$1" seen; }
