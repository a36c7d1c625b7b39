# The commands of a document as tests.  Sourced after ../lib.sh.
# shellcheck shell=sh

# transcript DOCUMENT: runs its commands in this folder, with the files of docs/examples; a test for each.
# shellcheck disable=SC2154 # of lib.sh
transcript() {
    cp "$ROOT"/docs/examples/* . || exit 1
    PATH=$BUILD:$PATH LC_ALL=C.UTF-8 python3 "$ROOT/tests/docs/transcript.py" "$1" >"$work/transcript" 2>&1
    tried=$?
    wanted=$(awk '/^```/ { shown = /console/ } shown && /^\$ /' "$1" | wc -l)
    is 'every command was tried' "$tried $(grep -c '^[a-z]* *ok	' "$work/transcript")" "0 $wanted"
    while IFS='	' read -r verdict command; do
        case $verdict in
        ok) result 0 "$command" ;;
        'not ok') result 1 "$command" ;;
        *) echo "$verdict $command" >&2 ;;
        esac
    done <"$work/transcript"
}
