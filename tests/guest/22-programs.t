#!/bin/sh
# Programs as Debian has them: stdout and exit status are those of a native run.
. "$(dirname "$0")/../lib.sh"

programs=$ROOT/tests/programs
LIMIT=${HR_TEST_LIMIT:-300}
export HOME=/ LC_ALL=C.UTF-8
unset LANGUAGE PERL5LIB PYTHONPATH
if [ -n "${HR_TEST_LONG:-}" ]; then bytes=50000000; else bytes=1000000; fi

seq 1 400000 | awk '{ print $1 * 7919 % 400009, "line", $1 }' | head -c 300000 >numbers
{ cat numbers; cat /usr/bin/perl /usr/lib/x86_64-linux-gnu/libc.so.6; } | head -c 600000 >part
for _ in $(seq $((bytes / 600000 + 1))); do cat part; done | head -c $bytes >large
input=/dev/null

# ---- data bases and languages ----
cp "$programs"/work.* "$programs/fill.sql" .
/usr/bin/python3 -c 'import json; print(json.dumps([{"id": i, "tags": ["a", "b" * (i % 7)], "x": i / 8} for i in range(1000)]))' >items.json
both 'python3 of PATH' -- python3 -S -c 'import sys; print(sys.executable); sys.exit(4)'

sqlite3 native.db <fill.sql >native
run_guest --mode off -q --keep-files kept sqlite3 "$work/items.db" <fill.sql
same_file 'sqlite3 to a file: output' out native
kept=$(find kept -name items.db 2>/dev/null)
is 'sqlite3: the file comes back, and is sound' "$(sqlite3 "${kept:-none.db}" 'PRAGMA integrity_check; SELECT count(*) FROM item;' 2>&1)" \
    "$(sqlite3 native.db 'PRAGMA integrity_check; SELECT count(*) FROM item;')"
input=/dev/null

# ---- packers: what one side packs, the other unpacks ----
for packer in 'xz -T2 -1 --block-size=300000' 'zstd -T2 -3'; do
    name=${packer%% *}
    # shellcheck disable=SC2086
    run_guest --mode off -q $packer -c <large
    is "$packer: status" "$status" 0
    cp out "large.$name"
    "$name" -dc <"large.$name" >unpacked
    same_file "$packer: $name unpacks it natively" unpacked large
done

# ---- tools ----
# A second of virtual time costs three of an emulator's: openssl measures for one of the host's.
run_guest --timeout 60s --mode off -q --cpus 1 --accel tcg openssl speed -seconds 1 -bytes 1024 sha256
is 'openssl speed: status' "$status" 0
like 'openssl speed: its table' out '^sha256 +[0-9]+\.[0-9]+k$'
mkdir -p tree/a/b tree/c
cp "$ROOT"/lib/*.[ch] tree/a/b
cp "$ROOT"/host/base/*.c tree/c
cat >tools.sh <<'END'
t 'perl' perl work.pl
input=part
t 'python3 reads stdin' /usr/bin/python3 -S -c 'import sys, zlib; print(zlib.crc32(sys.stdin.buffer.read()))'
input=fill.sql
t 'sqlite3 in memory' sqlite3 :memory:
input=large.xz
t 'xz unpacks' xz -dc
input=large.zstd
t 'zstd unpacks' zstd -dc
input=
t 'OpenMP, 2 threads' env OMP_NUM_THREADS=2 ./parallel
t 'OpenMP, 5 threads on one CPU' env OMP_NUM_THREADS=5 ./parallel
t 'C++: exceptions and threads' ./threads
t 'Go: goroutines' ./goroutines
t 'lua' lua5.4 work.lua
t 'gawk' gawk '{ n[$1 % 101] += $3; s = s substr($2, 1, 1) } END { for (i = 0; i < 101; i++) t += n[i] * i; print NR, t, length(s), strftime("%Y", 0, 1); exit 8 }' numbers
t 'jq' jq -c 'map(select(.id % 97 == 0)) | group_by(.tags[1]) | map({key: .[0].tags[1], sum: (map(.x) | add)})' items.json
t 'jq: an error' jq '.[' items.json
t 'openssl dgst' openssl dgst -sha256 -sha3-256 part
t 'openssl enc' openssl enc -aes-256-cbc -pbkdf2 -iter 1000 -S 0011223344556677 -pass pass:x -in part
t 'sort --parallel=2' sort --parallel=2 -n numbers
t 'sort: by a key, stable, unique' sort --parallel=2 -s -u -k2,2 -k1,1nr numbers
t 'sha256sum, wc, cut' sha256sum part numbers large
t 'tac' tac numbers
t 'od' od -A x -t x1z -N 50000 part
t 'rg over a tree' rg --sort path -n 'static int [a-z]+\(' tree
t 'rg over a tree, on its threads' rg -j 2 -c --sort path include tree
t 'rg: nothing found' rg no-such-text-anywhere tree
t 'find' find tree -name '*.c' -newer /no/such/file
t 'grep' grep -c return tree/a/b/*.c
t 'tar' tar -C tree -cf - --sort=name --mtime=@0 --owner=0 --group=0 a
t 'bash' bash -c 'a=(3 1 2); for i in "${a[@]}"; do s+=$((i * i)); done; echo "$s ${#a[@]}"; [[ abc =~ b(.) ]] && echo "${BASH_REMATCH[1]}"; exit 9'
END

# ---- threads ----
run_guest --mode off -q sysbench cpu --threads=2 --events=100 --time=0 run
is 'sysbench: status' "$status" 0
like 'sysbench: it counts its events' out 'total number of events: +100$'
ok 'OpenMP: it compiles' gcc -O2 -fopenmp -o parallel "$programs/parallel.c"
ok 'C++: it compiles' g++ -std=c++17 -O1 -pthread -o threads "$programs/threads.cc"
OMP_NUM_THREADS=2 both 'OpenMP, 2 CPUs' --env OMP_NUM_THREADS=2 --cpus 2 --accel tcg -- ./parallel
both 'C++: 2 CPUs' --cpus 2 --accel tcg -- ./threads
if command -v go >/dev/null; then
    ok 'Go: it compiles' env GO111MODULE=off CGO_ENABLED=0 GOCACHE="$work/cache" go build -o goroutines "$programs/goroutines.go"
    both 'Go: 2 CPUs' --cpus 2 --accel tcg -- ./goroutines
else
    skip 3 'go is not installed (Debian package golang-go)'
fi
together -- tools.sh
both 'python3: 2 CPUs' --cpus 2 --accel tcg -- /usr/bin/python3 work.py

# ---- the same on every run, if the files are: python lists the working directory ----
mkdir runs
for program in './parallel' '/usr/bin/python3 work.py'; do
    # shellcheck disable=SC2086
    OMP_NUM_THREADS=3 both "$program" --mode timer -i 10us --env OMP_NUM_THREADS=3 -o runs/1.bin -- $program
    # shellcheck disable=SC2086
    run_guest -q -i 10us --env OMP_NUM_THREADS=3 -o runs/2.bin $program </dev/null
    for turn in 1 2; do
        "$HR" dump --format csv runs/$turn.bin >runs/$turn.csv 2>/dev/null
    done
    ok "$program: samples of several threads or at least many" test "$(wc -l <runs/1.csv)" -gt 100
    same_file "$program: two runs, the same samples" runs/1.csv runs/2.csv
    ok "$program: the trace is in order" "$HR" check runs/1.bin
done
done_testing
