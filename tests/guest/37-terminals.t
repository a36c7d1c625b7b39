#!/bin/sh
# Terminals: pairs, sessions, job control, and what runs in them, as natively; the command's own terminal.
. "$(dirname "$0")/../lib.sh"

cp "$ROOT/tests/programs/terminals.py" .
if /usr/bin/python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
    timeout -k 5 "$LIMIT" /usr/bin/python3 terminals.py >native
    for cpus in 0 2; do
        run_guest --accel tcg --cpus $cpus --mode off -q /usr/bin/python3 terminals.py
        is "--cpus $cpus: pseudo terminals" "$status" 0
        same_file "--cpus $cpus: as natively" out native
    done
else
    skip 4 'python3 is missing'
fi

# The command's own terminal: `script` gives hr one.
cat >job.sh <<'END'
exec "$HR" run --mode off -q /usr/bin/python3 terminals.py command </dev/tty
END
if command -v script >/dev/null && [ -x /usr/bin/python3 ]; then
    timeout -k 5 "$LIMIT" script -q -e -c 'sh job.sh' typescript >out 2>&1 </dev/null
    is "the command's terminal: groups of the background stop" "$(tr -d '\r' <out)" "$(grep -A 5 '^SIGTTIN -9' native)"
    printf 'first\nsecond\n\004' | script -q -c 'tty; stty size; sh -c "read a; echo got \$a"; cat' typescript | cat >native
    # shellcheck disable=SC2016
    run_guest --mode off -q sh -c 'printf "first\nsecond\n\004" | script -q -c "tty; stty size; sh -c \"read a; echo got \\\$a\"; cat" typescript'
    is 'script in the guest' "$(tr -d '\r' <out | grep -v '^/dev/pts')" "$(tr -d '\r' <native | grep -v '^/dev/pts')"
else
    skip 2 'script is missing'
fi

cat >windows.sh <<'END'
export TERM=screen LC_ALL=C.UTF-8 TMUX_TMPDIR=$PWD
tmux -L x -f /dev/null new-session -d -x 60 -y 10 'PS1="$ " sh'
# Waits until the window shows a text.
shows() { for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do tmux -L x capture-pane -p | grep -qx "$1" && break; sleep 0.3; done; }
shows '\$'
tmux -L x send-keys 'echo $((6*7)); stty size; sleep 100' Enter
shows '10 60'
sleep 0.3
tmux -L x send-keys C-c
shows '\$'
tmux -L x capture-pane -p | grep -v '^$'
tmux -L x kill-server
END
if command -v tmux >/dev/null; then
    timeout -k 5 60 sh windows.sh >native 2>&1
    run_guest --mode off -q sh windows.sh
    same_file 'tmux: as natively' out native
else
    skip 1 'tmux is missing'
fi
done_testing
