#!/bin/sh
# Processes: fork, wait, signals between them, and the programs of Debian that use them, each as in a native run.
. "$(dirname "$0")/../lib.sh"

LIMIT=${HR_TEST_LIMIT:-300}
export HOME="$work" LC_ALL=C.UTF-8
for program in processes processes_signals; do
    "$WORKLOADS/$program-glibc-static" >native 2>&1
    modes=$(sed 's/: good$//' native)
    is "$program: all is good natively" "$(grep -vc ': good$' native)" 0
    # The last stops are a race of CPUs in the kernel, one or two in 5,000: each number of them has it with one of the two libraries.
    for how in '0 500 500' '2 5000 500' '4 500 5000'; do
        # shellcheck disable=SC2086
        set -- $how
        run_guest --cpus "$1" --mode off -q --keep-files kept.d -- sh -c 'STOPS=$0 "$2" >first; STOPS=$1 exec "$3"' "$2" "$3" \
            "$WORKLOADS/$program-glibc-static" "$WORKLOADS/$program-musl"
        is "$program-glibc-static with --cpus $1" "$(cat "kept.d$PWD/first")" "$(printf '%s\n' "$modes" | sed 's/$/: good/')"
        if [ -x "$WORKLOADS/$program-musl" ]; then
            is "$program-musl with --cpus $1" "$(cat out)" "$(printf '%s\n' "$modes" | sed 's/$/: good/')"
        else
            skip 1 'musl-tools is not installed'
        fi
    done
done

cat >jobs.sh <<'END'
set -m
sleep 100 &
sleeper=$!
trap 'echo got usr1' USR1
kill -USR1 $$
jobs -r | wc -l
kill -STOP %1
while ! jobs -s | grep -q .; do :; done
kill -CONT %1
kill %1
wait "$sleeper" 2>/dev/null
echo "status $?"
(exit 7) | cat
echo "${PIPESTATUS[@]}"
for i in 1 2 3; do (exit $i) & done
wait
diff <(seq 3) <(seq 4)
coproc cat
echo hello >&"${COPROC[1]}"
read -r line <&"${COPROC[0]}"
echo "$line"
END
cat >children.py <<'END'
import os, signal, subprocess
print(subprocess.run(['sh', '-c', 'echo out; echo err >&2; exit 4'], capture_output=True))
p = subprocess.Popen(['cat'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
print(p.communicate(b'data'))
p = subprocess.Popen(['sleep', '100'])
p.terminate()
print(p.wait())
try:
    subprocess.run(['sleep', '100'], timeout=0.05)
except subprocess.TimeoutExpired:
    print('timeout')
END
cat >pools.py <<'END'
import multiprocessing

def square(x):
    return x * x

if __name__ == '__main__':
    for kind, processes in ('fork', 2), ('spawn', 1):
        with multiprocessing.get_context(kind).Pool(processes) as pool:
            print(kind, sum(pool.map(square, range(100))))
END
cat >hello.c <<'END'
int puts(const char *);
int main(void) { puts("hello"); return 6; }
END
cat >Makefile <<'END'
all: both
both: a.o b.o
	gcc -o $@ $^
a.c: hello.c
	cp hello.c $@
b.c:
	echo 'int unused;' >$@
%.o: %.c
	gcc -O1 -c -o $@ $<
END
cat >programs.sh <<'END'
t 'a pipeline' sh -c 'ls /usr | sort | uniq -c'
t 'a subshell and its status' sh -c '(exit 3); echo $?; x=$(echo a | tr a b); echo $x'
t '20 MB through a pipe' sh -c 'head -c 20000000 /dev/zero | cksum'
t 'three through pipes' sh -c 'seq 20000 | grep 7 | wc -l'
t 'jobs of bash' bash jobs.sh
t 'xargs -P2' sh -c 'seq 9 | xargs -P2 -n2 echo | sort'
t 'env' env -i A=3 /bin/sh -c 'echo $A'
t 'nice' nice -n 5 nice
t 'timeout' timeout 0.2 sleep 50
t 'timeout that is not needed' timeout 50 sh -c 'exit 5'
t 'perl' perl -e 'print `echo hi | tr a-z A-Z`; system("sh", "-c", "exit 3"); print $? >> 8, "\n"; my $pid = fork; exit 4 unless $pid; waitpid $pid, 0; print $? >> 8, "\n"'
t 'subprocess of python' python3 -S children.py
t 'multiprocessing of python' python3 -S pools.py
t 'gcc, and what it made' sh -c 'gcc -O2 hello.c -o hello && ./hello'
t 'make -j2' sh -c 'make -s -j2 && ./both; rm -f both a.[co] b.[co]'
t 'git' sh -c 'rm -rf r; git init -q r && cd r && echo 1 >f && git add f && git -c user.name=a -c user.email=b@c commit -qm m && git log --format=%s && git fsck && cd .. && rm -rf r'
END
together -- programs.sh
# The first process of a run.
input=/dev/null
both 'jobs of bash, alone' -- bash jobs.sh 2>/dev/null

# ---- a process looks into another one ----
"$WORKLOADS/io_peers" >native
for cpus in 0 2; do
    run_guest --cpus $cpus --mode off -q "$WORKLOADS/io_peers"
    is "--cpus $cpus: a process looks into another one" "$status" 0
    same_file "--cpus $cpus: as natively" out native
done

# ---- memory runs out: the process that needs it is killed, not the run ----
cat >killed <<'END'
by touch: signal 9
by copy: signal 9
by call: signal 9
by threads: signal 9
the parent stays
END
group=/sys/fs/cgroup/memory/microtome-$$
if mkdir "$group" 2>/dev/null && echo 64M >"$group/memory.limit_in_bytes"; then
    sh -c "echo \$\$ >$group/cgroup.procs && exec $WORKLOADS/killed 200 20" >native
    same_file 'memory runs out natively' native killed
else
    skip 1 'there is no group of control for memory here'
fi
[ ! -d "$group" ] || rmdir "$group"
for cpus in 0 3; do
    run_guest --cpus $cpus --mode off -q --mem 64M "$WORKLOADS/killed" 200 20
    is "--cpus $cpus: memory runs out" "$status" 0
    same_file "--cpus $cpus: its processes are killed" out killed
    is "--cpus $cpus: and the user is told" "$(cat err)" "$(for pid in 1001 1002 1003 1004; do
        echo "hr: out of memory: process $pid (killed) was killed; --mem gives more"
    done)"
    run_guest --cpus $cpus --mode off -q --mem 64M sh -c "sleep 1000 & exec $WORKLOADS/crash memory"
    is "--cpus $cpus: if it is the first process, the run ends" "$status: $(cat err)" \
        '137: hr: out of memory: the program needs more than --mem gives it'
done

# ---- what is seen of processes ----
run_guest --mode off -q sh -c 'sleep 100 & ps -eo pid,ppid,stat,args --no-headers; pgrep sleep; kill $!'
is 'ps and pgrep' "$(tr -s ' ' <out | sed 's/^ //')" "1000 1 Ss sh -c sleep 100 & ps -eo pid,ppid,stat,args --no-headers; pgrep sleep; kill \$!
1001 1000 S sleep 100
1002 1000 R ps -eo pid,ppid,stat,args --no-headers
1001"
run_guest --mode off -q sh -c 'sleep 100 & sleep 0.1; exit 3'
is 'what the first process leaves' "$status" 3
like 'is named' err '^hr: 1 process was left when the program ended, and ended with it: 1001 \(sleep\)$'
run_guest --mode off -q --processes 5 bash -c 'for i in 1 2 3 4 5 6; do sleep 100 & done; echo $?; kill $(jobs -p)'
like 'a limit of processes' err 'fork: retry: Resource temporarily unavailable'
cat >bomb.sh <<'END'
bomb() { bomb 2>/dev/null | bomb 2>/dev/null & }
bomb
sleep 1
echo survived
END
run_guest --mode off -q --processes 60 bash bomb.sh
is 'a fork bomb hits the limit' "$(cat out)" survived
done_testing
