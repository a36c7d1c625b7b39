#!/bin/sh
# hr sweep --hosts and hr suite run --hosts: runs on other machines count what runs here count; a machine that fails, dies
# or has another processor costs no run.  QEMU and FLAVOURS: see tests/flavours.sh.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/flavours.sh"
flavour=$(printf '%s\n' "$FLAVOURS" | head -n 1)
program=$WORKLOADS/hello

# The machines are folders, each with its emulator; `do` there is executed before each command.
for host in a b c; do
    mkdir -p $host/bin $host/tmp
    ln -s "$HR" $host/bin/hr
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$QEMU" >$host/bin/emulator
    chmod +x $host/bin/emulator
done
cat >ssh-to <<END
#!/bin/sh
cd "$work/\$1" || exit 255
echo "\$2" >>commands
[ ! -f do ] || . ./do
PATH=$work/\$1/bin:\$PATH TMPDIR=$work/\$1/tmp exec sh -c "\$2"
END
chmod +x ssh-to
events='cycles,branches,branch-misses,cache-references,cache-misses,L1-dcache-loads,L1-dcache-load-misses,L1-dcache-stores,dTLB-load-misses,iTLB-load-misses'
machine="--accel $accel --cpu $flavour --kernel $KERNEL -i 2us"
sweep() {
    rm -f ./*/commands
    # shellcheck disable=SC2086
    run_hr sweep -q $machine --repeat 2 -e "$events" "$@" "$program"
}
db() { sqlite3 sweep/sweep.db "$1"; }
by_hosts() { sweep --qemu emulator --ssh "$work/ssh-to" --hosts "$@"; }
show() { "$HR" sweep show -f csv "$1"; }

# One of them has another kernel, as far as its name tells.
if setarch --uname-2.6 true 2>/dev/null; then
    rm b/bin/hr
    printf '#!/bin/sh\nexec setarch --uname-2.6 "%s" "$@"\n' "$HR" >b/bin/hr
    chmod +x b/bin/hr
fi

sweep --qemu "$QEMU" -o here
is 'a sweep here' "$status" 0
show here >wanted
jobs=$(jq '.jobs | length' here/sweep.json)

by_hosts a,b
is 'a sweep on two machines' "$status" 0
is 'counts what one here counts' "$(show sweep)" "$(cat wanted)"
is 'each took a part' "$(db 'SELECT group_concat(host) FROM (SELECT DISTINCT host FROM runs ORDER BY host)')" a,b
is 'the machines are known' "$(db "SELECT kernel FROM hosts WHERE host='a'")" "$(uname -sr)"
if [ -h b/bin/hr ]; then
    skip 2 'setarch --uname-2.6 does not run here'
else
    run_hr sweep show sweep
    is 'one with another kernel is named' "$(sed -n 's/^# runs on \(.\) ([0-9]*): .*, \(Linux [0-9]*\).*/\1 \2/p' out | sort | tr '\n' ' ')" \
        "a $(uname -sr | sed 's/\..*//') b Linux 2 "
    like 'with what to do' out "^# these machines are not alike; 'hr diff --machine'"
fi
is 'and keep nothing' "$(find a/tmp b/tmp -name '*sweep*')" ''
is 'nothing waits to be taken' "$(ls sweep/tasks)" ''

# One dies at its second run, one fails at each run: the third does the work.
rm -rf sweep
# shellcheck disable=SC2016
echo '[ "$(wc -l <commands)" -lt 4 ] || { echo "Connection to a closed" >&2; exit 255; }' >a/do
echo 'case $2 in *mktemp*) sleep 1 ;; esac' >b/do
cp b/do c/do
printf '#!/bin/sh\nexit 1\n' >b/bin/emulator
by_hosts a,b,c
is 'machines that die and fail' "$status" 0
like 'the dead one is left out' err '^hr: a is left out: .*ssh-to ended with status 255: Connection to a closed$'
is 'the result is the same' "$(show sweep)" "$(cat wanted)"
is 'runs that failed were repeated elsewhere' "$(db "SELECT count(*) FROM runs WHERE state='done' AND host<>'b'")" "$jobs"

# All die; the sweep continues when they live again.
rm -rf sweep
cp a/do c/do
by_hosts a,c
is 'no machine is left' "$status" 125
like 'says so, and how to continue' err "no machine is left: .*; 'hr sweep --resume -o sweep' continues"
rm a/do c/do
run_hr sweep -q --resume
is 'continued: status' "$status" 0
is 'continued: the result' "$(show sweep)" "$(cat wanted)"

# Another processor is no match, and other words are no result.
rm -rf sweep
# shellcheck disable=SC2016
printf '#!/bin/sh\nfor w; do shift; case $w in %s*) w=EPYC-Milan,pmu=on ;; esac; set -- "$@" "$w"; done\nexec "%s" "$@"\n' \
    "${flavour%%,*}" "$QEMU" >c/bin/emulator
# shellcheck disable=SC2016
printf 'case $2 in *first) ;; *task*) echo Microtome parcel 1; echo version; exit 0 ;; esac\n' >b/do
# shellcheck disable=SC2016
printf 'case $2 in *first) ;; *task*) sleep 0.4 ;; esac\n' >a/do
# shellcheck disable=SC2016
printf 'case $2 in *mktemp*) sleep 1 ;; esac\n' >c/do
by_hosts a,b,c
is 'a machine with another processor' "$status" 0
like 'is left out' err '^hr: c is left out: its processor is .*AuthenticAMD.*, and that of this sweep is .*GenuineIntel'
like 'so is one that answers otherwise' err '^hr: b is left out: what came back is no result, or is cut$'
is 'one machine did all' "$(show sweep)$(db 'SELECT DISTINCT host FROM runs')" "$(cat wanted)a"

# A trace of another processor in the folder is not joined.
run_hr run -q --accel "$accel" --qemu "$QEMU" --cpu EPYC-Milan,pmu=on --kernel "$KERNEL" --force -o sweep/runs/0001-1.hr \
    -e instructions "$program"
run_hr sweep -q --resume
is 'a run of another processor in the folder' "$status" 1
run_hr sweep show
like 'is not joined' out '0001-1.hr: left out: it ran on another processor: AMD EPYC'

# A signal ends the run there, too, though its ssh is gone.
rm -rf sweep a/tmp/*
# shellcheck disable=SC2016
printf 'case $2 in *first) PATH=%s:$PATH TMPDIR=%s setsid -f sh -c "$2"; exec sleep 60 ;; esac\n' \
    "$work/a/bin" "$work/a/tmp" >a/do
rm a/bin/hr
printf '#!/bin/sh\n: >"%s/running"\nexec sleep 60\n' "$work" >a/bin/hr
chmod +x a/bin/hr
# shellcheck disable=SC2086
"$HR" sweep -q $machine -e cycles --qemu emulator --ssh "$work/ssh-to" --hosts a "$program" 2>/dev/null &
for _ in $(seq 200); do
    [ ! -e running ] || break
    sleep 0.1
done
there=$(cat a/tmp/microtome-sweep.*/hr.pid)
kill -TERM $!
wait $!
is 'a signal: status' $? 143
for _ in $(seq 100); do
    kill -0 "$there" 2>/dev/null || break
    sleep 0.1
done
ok 'a signal: no run is left there' test ! -e "/proc/$there"
is 'a signal: nothing is left there' "$(ls a/tmp)" ''

# A real sshd, one for each connection: the client's configuration starts it in place of a network.
sshd=$(PATH=$PATH:/usr/sbin:/sbin command -v sshd) || sshd=
real_sshd() {
    [ "$(id -u)" -ne 0 ] || mkdir -p /run/sshd # which a service would make
    ssh-keygen -q -t ed25519 -N '' -f host && ssh-keygen -q -t ed25519 -N '' -f user || return
    mkdir there
    cat >sshd.conf <<END
HostKey $work/host
AuthorizedKeysFile $work/user.pub
StrictModes no
PidFile none
UsePAM no
SetEnv TMPDIR=$work/there
END
    echo "node* $(cat host.pub)" >known
    cat >ssh.conf <<END
Host node* stranger
    ProxyCommand $sshd -i -f $work/sshd.conf -E $work/sshd.log
    UserKnownHostsFile $work/known
    IdentitiesOnly yes
    IdentityFile $work/user
    BatchMode yes
END
    ssh -F ssh.conf node1 true
}
if [ -z "$sshd" ]; then
    skip 9 'no sshd here; Debian has it in openssh-server'
elif ! real_sshd >sshd.out 2>&1; then
    skip 9 "sshd does not let its user in here: $(cat sshd.out sshd.log 2>/dev/null | tail -n 1)"
else
    rm -rf sweep
    by_real() { sweep --qemu "$QEMU" --hr "$HR" --ssh "ssh -F $work/ssh.conf" --hosts "$@"; }
    by_real node1,stranger,node2
    is 'by a real sshd' "$status" 0
    like 'a machine whose key is not known is left out' err '^hr: stranger is left out: ssh .* 255: Host key verification failed'
    is 'counts what runs here count' "$(show sweep)" "$(cat wanted)"
    is 'both took a part' "$(db 'SELECT group_concat(host) FROM (SELECT DISTINCT host FROM runs ORDER BY host)')" node1,node2
    is 'and keep nothing' "$(ls there)" ''

    # The connection breaks while a program runs there that does not end.
    program=$WORKLOADS/crash-musl
    set -- "$program" loop
    rm -rf sweep
    # shellcheck disable=SC2086
    "$HR" sweep -q $machine -e cycles --qemu "$QEMU" --hr "$HR" --ssh "ssh -F $work/ssh.conf" --hosts node1 "$@" \
        >/dev/null 2>err &
    for _ in $(seq 200); do
        there=$(cat there/*/hr.pid 2>/dev/null) && [ -n "$(pgrep -P "$there")" ] && break
        sleep 0.1
    done
    kill -KILL "$(pgrep -P $! ssh)"
    wait $!
    is 'a connection that breaks: status' $? 125
    like 'is said' err 'no machine is left: ssh ended with status 137'
    for _ in $(seq 100); do
        kill -0 "$there" 2>/dev/null || break
        sleep 0.1
    done
    ok 'no run is left there' test ! -e "/proc/$there"
    is 'and nothing else' "$(ls there)" ''
    program=$WORKLOADS/hello
fi

# Suites: the same machines.  `hardware` has no virtual time, so its runs vary.
rm -f a/do a/bin/hr
ln -s "$HR" a/bin/hr
mkdir -p data
echo words >data/input
cp "$program" data/program
cat >microtome.toml <<END
[default]
options = ["--accel=$accel", "--kernel=$KERNEL", "--qemu=emulator"]
directory = "data"
tags = "plain"

[[benchmark]]
name = "exact"
command = ["./program"]
stdin = "input"
repeat = 2

[[benchmark]]
name = "counters"
command = ["./program"]
mode = "off"
events = ["instructions", "cycles"]
options = ["--accel=$accel", "--kernel=$KERNEL", "--qemu=emulator", "--cpu=$flavour"]
repeat = 2

[[benchmark]]
name = "fails"
command = ["./program"]
exit_status = 1

[[benchmark]]
name = "hardware"
command = ["./program"]
mode = "off"
options = ["--accel=$accel", "--kernel=$KERNEL", "--qemu=emulator", "--cpus=1"]
repeat = 2
tags = "varies"
END
printf '#!/bin/sh\nexec "%s" "$@"\n' "$QEMU" >c/bin/emulator
cp c/bin/emulator b/bin/emulator
rm -f b/do c/do
suite() { # HOSTS OPTION...
    hosts=$1
    shift
    rm -f ./*/commands
    run_hr suite run --ssh "$work/ssh-to" --hosts "$hosts" "$@"
}
same() { jq -S .benchmarks "$1/results.json"; }
PATH=$work/a/bin:$PATH run_hr suite run -q --tag plain -o suite-here
is 'a suite here: one benchmark fails' "$status" 2
same suite-here >wanted
suite a,b --tag plain -o suite
is 'a suite on two machines' "$status" 2
is 'counts what one here counts' "$(same suite)" "$(cat wanted)"
is 'each took a part' "$(sort suite/hosts.csv | cut -d, -f 1 | uniq | tr '\n' ' ')" 'a b '
is 'each run once; what fails, three times' "$(cat a/commands b/commands | grep -c 'suite task')" 7
like 'why it fails' err '^hr: 3 of 3: fails: it ended with status 0, not 1: '
is 'the traces of first runs stay' "$(find suite -name '*.hr' -o -name tasks | wc -l)" 3
is 'machines keep nothing' "$(ls a/tmp b/tmp)" "$(printf 'a/tmp:\n\nb/tmp:')"

# All die; the suite continues when they live again.
# shellcheck disable=SC2016
echo '[ "$(wc -l <commands)" -lt 3 ] || { echo "Connection to a closed" >&2; exit 255; }' >a/do
cp a/do c/do
suite a,c --only exact --only counters -q -o suite
is 'no machine is left' "$status" 2
like 'says so, and how to continue' err '^hr: the same command with --resume takes the runs that are there$'
done_before=$(wc -l <suite/jobs.csv)
rm a/do c/do
suite a,c --only exact --only counters -q -o suite --resume
is 'continued' "$status $(same suite | cksum)" "0 $(jq -S '.[:2]' wanted | cksum)"
is 'only what was missing' "$(cat ?/commands | grep -c 'suite task')" $((4 - done_before))

# Another processor is no match; another kernel is said.
# shellcheck disable=SC2016
printf '#!/bin/sh\nfor w; do shift; case $w in %s*) w=EPYC-Milan,pmu=on ;; esac; set -- "$@" "$w"; done\nexec "%s" "$@"\n' \
    "${flavour%%,*}" "$QEMU" >c/bin/emulator
echo 'case $2 in *mktemp*) sleep 1 ;; esac' >c/do
# shellcheck disable=SC2016
echo 'case $2 in *task*) sleep 0.4 ;; esac' >a/do
suite a,c --only counters --repeat 3 -q -o suite
is 'a machine with another processor' "$status $(jq -S '.benchmarks[0]' suite/results.json | cksum)" "0 $(jq -S '.[1]' wanted | cksum)"
like 'is left out' err '^hr: c is left out: its processor is .*, and that of this suite is '
if setarch --uname-2.6 true 2>/dev/null; then
    # shellcheck disable=SC2016
    printf 'PATH=%s:$PATH TMPDIR=%s exec setarch --uname-2.6 sh -c "$2"\n' "$work/c/bin" "$work/c/tmp" >c/do
    rm a/do
    PATH=$work/a/bin:$PATH run_hr suite run -q --tag varies --repeat 1 -o suite-here
    suite a,c --tag varies --repeat 3 -q -o suite
    like 'machines with different kernels: said' err '^hr: hardware: its runs are of machines with different kernels: .*2\.6\.'
    run_hr suite compare suite-here suite
    like 'and when they are compared' out 'not the same: .*Linux \('
else
    skip 2 'setarch cannot show another kernel'
fi

rm -rf sweep
run_hr sweep --ssh ' ' --hosts a "$program"
like 'no command for ssh' err '--ssh: name a command'
run_hr sweep --hosts=-x "$program"
is 'a machine whose name is an option' "$status" 125
run_hr sweep --hosts a --slurm "$program"
like 'two ways at once' err 'choose one of them'
run_hr sweep pair --placement nowhere ls ::: ls
like 'a pair at no place' err '--placement nowhere: choose smt, l2, l3, socket or all'
run_hr sweep pair ls
like 'a pair of one' err 'name two programs, with ::: between them'
run_hr sweep pair --accel tcg ls ::: ls
like 'a pair that is emulated' err 'two programs share nothing but under KVM'
run_hr sweep task . 0
like 'no sweep' err 'name the folder of a sweep'
run_hr sweep -q --hosts a -o none ./no-such-program
is 'a program that is not there: status' "$status" 127
ok 'a program that is not there: nothing is left' test ! -e none
done_testing
