#!/bin/sh
# More programs, as somebody who tries Microtome would call them: output and status are those of a native run.
. "$(dirname "$0")/../lib.sh"

programs=$ROOT/tests/programs
LIMIT=${HR_TEST_LIMIT:-300}
export HOME=/root LC_ALL=C.UTF-8
unset LANGUAGE

input=/dev/null

head -c 80000 "$HR" >part
cp "$programs/work.js" "$programs/Work.java" .
ok 'git: a repository is made' git -c init.defaultBranch=main init -q repository
(cd repository && echo a >a && git add a && git -c user.name=a -c user.email=a@b commit -qm first) >/dev/null 2>&1
cat >programs.sh <<'END'
for tool in 'gzip -c' 'bzip2 -c' base64 md5sum b2sum cksum xxd strings; do
    t "$tool" $tool part
done
t dd dd if=part bs=1000 skip=3 count=5
t factor factor 600851475143 18446744073709551557
t numfmt numfmt --to=iec 123456789
t sed sed -n '1,5s/e/E/gp;$=' "$ROOT/Makefile"
t diff diff "$ROOT/Makefile" "$ROOT/README.md"
t bc bc -v
t iconv iconv -f UTF-8 -t UTF-16 "$ROOT/README.md"
t file file part
t objdump objdump -d /usr/bin/true
t tclsh tclsh "$ROOT/tests/programs/work.tcl"
t git git --version
t 'getent: a host that is none' getent hosts no-such-host.invalid
t 'bash: home' bash -c 'echo ~; cd; pwd'
t 'python3: asyncio' /usr/bin/python3 -S "$ROOT/tests/programs/loop.py"
END
together --env ROOT="$ROOT" -- programs.sh
cd repository && both 'git: of the working directory' -- git log --oneline
cd "$work" || exit 1
both 'node: a worker, timers' -- node work.js
if [ -n "${HR_TEST_LONG:-}" ] && command -v javac >/dev/null; then
    ok 'Java: it compiles' javac Work.java
    both 'Java: threads, collections of garbage, a fault' -- java Work
else
    skip 3 'Java takes long, or is not installed: HR_TEST_LONG=1'
fi

run_guest --mode off -q id -un
is 'the program has a name' "$(cat out)" user
is 'looking it up is no news' "$(cat err)" ''

ok 'POSIX: it compiles' gcc -D_GNU_SOURCE -O1 -pthread -o posix "$programs/posix.c"
both 'POSIX: timers, semaphores, shared memory, asynchronous I/O, names' -- ./posix
for sanitizer in address thread undefined; do
    if gcc -O1 -g -pthread -fsanitize=$sanitizer -o sanitized "$programs/sanitized.c" 2>/dev/null; then
        ASAN_OPTIONS=detect_leaks=0 both "gcc -fsanitize=$sanitizer" --env ASAN_OPTIONS=detect_leaks=0 -- ./sanitized
    else
        skip 2 "gcc has no -fsanitize=$sanitizer"
    fi
done
done_testing
