# In place of run_hr: one hr performs all commands, each in a fork (tests/plugins/many.c).  Sourced after lib.sh, by tests that
# read traces hundreds of times.  What the environment is when it is sourced, it is for all of them.
# shellcheck shell=sh

mkfifo ask told
# ASan would say that it has to be the first library.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 MANY_LIMIT=$LIMIT LD_PRELOAD=$TOOLS/many.so "$HR" <ask >told &
many=$!
exec 3>ask 4<told
trap 'exec 3>&-; wait "$many"; rm -rf "$work"' EXIT

# run_hr ARG...: `hr ARG...` with stdout in the file out, or $to, stderr in err, exit status in $status, and the most KB that it
# took in $taken.
# shellcheck disable=SC2034
run_hr() {
    status=125
    printf '%s\t' "${to:-out}" "$@" >&3
    echo >&3
    read -r status taken <&4
}
