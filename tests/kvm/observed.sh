# The service CPU observes the calls of an instrumented program, of which each is seen or counted; and looks at page tables see
# what a program of known pattern touches.  Sourced after host.sh.
# shellcheck shell=sh

# all: the calls of a trace: those that are shown, and the others.
all() {
    seen=$("$HR" latency --format json hr.bin 2>/dev/null | jq '[.rows[] | .calls + .left] | add')
    echo $((seen + $(stat_of hr.bin '.calls.missed + .calls.beyond')))
}

# looks NAME: of the area that the program named, how many looks saw it, the most pages that one saw, the most written, and
# the pages of all looks.
looks() {
    # shellcheck disable=SC2046
    set -- $(sed -n "s/^$1 //p" out)
    sqlite3 -batch -noheader -separator ' ' pages.db "
        WITH part AS (SELECT time_ns, written,
            (min(address + pages * 4096, $1 + $2 * 4096) - max(address, $1)) / 4096 AS pages FROM pages),
        look AS (SELECT sum(pages) AS pages, sum(pages * written) AS written FROM part WHERE pages > 0 GROUP BY time_ns)
        SELECT count(*), max(pages), max(written), sum(pages) FROM look"
}

plan_observed() {
    gcc -O2 -static -o pages "$ROOT/tests/programs/pages.c" || exit 1
    guest calls --cpus 1 -m latency -- instrumented-musl calls 20000
    guest recurse --cpus 1 -m latency -- instrumented-musl recurse 1500
    guest threads --cpus 1 -m latency -- instrumented-musl threads 100
    guest fork --cpus 1 -m latency -- instrumented-musl fork 1000
    guest pages --cpus 1 -m off --pages 5ms -- "$PWD/pages" 30
}

check_observed() {
    for run in 'calls 20002' 'recurse 1502' 'threads 407' 'fork 5'; do
        name=${run%% *}
        seen "$name"
        is "$name: the program runs" "$status $(tail -n 1 out | grep -c 'done')" '0 1'
        ok "$name: the trace is whole" "$HR" check hr.bin
        is "$name: each call is seen or counted" "$(all)" "${run#* }"
        within "$name: the scan period is known" "$(stat_of hr.bin '.calls.scan_ns / .calls.scans')" 1 1e9
    done
    seen pages
    # shellcheck disable=SC2154 # set by seen
    is 'pages: the program runs' "$status" 0
    "$HR" export sqlite -o pages.db hr.bin 2>/dev/null
    looks cold >cold
    looks hot >hot
    looks scan >scan
    is 'pages: what was written once is seen once' "$(cut -d' ' -f4 cold)" 256
    is 'pages: what is written in each round' "$(cut -d' ' -f2,3 hot)" '128 128'
    is 'pages: what is read in each round, and not written' "$(cut -d' ' -f2,3 scan)" '384 0'
    within 'pages: looks that see what each round touches' "$(cut -d' ' -f1 hot)" 5 1000
    rm -f pages.db
}
