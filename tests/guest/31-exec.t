#!/bin/sh
# A program executes another one: what that finds, what fails, what is left, as natively.
. "$(dirname "$0")/../lib.sh"

# same_run NAME PROGRAM [OPTION...]: the workload prints the same natively and in the guest.
same_run() {
    name=$1 program=$2
    shift 2
    rm -rf execs.d
    "$program" >native
    rm -rf execs.d
    run_guest --accel tcg "$@" "$program"
    is "$name: status" "$status" 0
    same_file "$name: as natively" out native
    fails "$name: nothing is wrong" grep WRONG out
}

# same_shell NAME COMMAND [ARG...]: a command that a shell becomes does the same natively and in the guest.
same_shell() {
    name=$1
    shift
    env -i PATH="$PATH" LANG=C.UTF-8 /bin/sh -c "$@" >native 2>native.err
    wanted=$?
    run_hr run -q --mode off --env "PATH=$PATH" -- /bin/sh -c "$@"
    is "$name: status" "$status" "$wanted"
    same_file "$name: as natively" out native
    [ "$wanted" -gt 128 ] || same_file "$name: errors, too" err native.err
}

for each in execs execs_errors execs_threads; do
    same_run "$each" "$WORKLOADS/$each"
    [ ! -x "$WORKLOADS/$each-musl" ] || same_run "$each, musl" "$WORKLOADS/$each-musl"
    same_run "$each, several CPUs" "$WORKLOADS/$each" --cpus 2
done

printf 'echo $0 $1 text\n' >text
: >empty
head -c 50 /bin/true >"cut"
head -c 100 /bin/true >cut2
head -c 30000 /bin/true >cut3
printf '#!/bin/sh -e\necho "$0 $*"\nfalse\necho no\n' >script
chmod +x text empty cut cut2 cut3 script

# The first process of a run, and processes of a shell.
same_shell 'a dynamic program of the host' 'exec ls /usr'
same_shell 'a missing program' 'exec ./missing'
same_shell 'a cut program' 'exec ./cut3'
same_shell 'a script' 'exec ./script a b'
cat >shells.sh <<'END'
sh() { name=$1 && shift && t "$name" env -i PATH="$PATH" LANG=C.UTF-8 /bin/sh -c "$@"; }
sh 'its environment' 'A=1 exec env -u PWD -u LANG -u TZ -u PATH -u HOME'
sh 'one that executes another' 'exec env -i A=b sh -c "echo \$0 \$A \$*; exec env" x y'
sh 'a directory' 'exec /usr'
sh 'text' 'exec ./text a'
sh 'an empty file' 'exec ./empty'
sh 'a cut ELF header' 'exec ./cut'
sh 'cut program headers' 'exec ./cut2'
sh 'a script by its path' "PATH=. exec script"
sh 'python3' 'exec /usr/bin/python3 -S -c "import os; os.execvp(\"echo\", [\"echo\", \"a\", \"b c\"])"'
END
together --env "PATH=$PATH" -- shells.sh
while read -r name; do
    same_file "$name: errors, too" "guest.d/$name.err" "native.d/$name.err"
done <native.d/.names

# The next program's samples are of its own functions.
run_guest --accel tcg -o exec.bin -- /bin/sh -c "exec $WORKLOADS/spin 3"
is 'a traced program: status' "$status" 0
"$HR" report exec.bin >report 2>&1
like 'its functions have their names' report ' [a-z_]+ +spin$'

# A child that executes a static program costs some 88,000 instructions of the kernel that users run, and 12,000 of its own.
run_guest -q --kernel "$BUILD/guest.elf" --mode off --accel tcg --env COST= "$WORKLOADS/execs"
is 'vfork, execve, exit, wait: status' "$status" 0
within '... so many instructions' "$(cat out)" 30000 104000

# No memory is lost.
run_guest -q --mode off --env LOOP=1000 "$WORKLOADS/execs"
is 'executing 1,000 times: status' "$status" 0
is '... two looks at the free memory' "$(grep -c MemFree out)" 2
is '... find the same' "$(sort -u out | wc -l)" 1
done_testing
