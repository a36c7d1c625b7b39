#!/bin/sh
# hr sweep --slurm and hr suite run --slurm: the tasks of a job array count what runs here count; what a node loses that dies, another one does.
# A real Slurm with three nodes on this machine.  QEMU and FLAVOURS: see tests/flavours.sh.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/flavours.sh"
. "$ROOT/tests/slurm.sh"
flavour=$(printf '%s\n' "$FLAVOURS" | head -n 1)
slurm_is_here || skip_all 'Slurm is not installed (Debian: slurmctld slurmd slurm-client munge)'
trap 'slurm_stop; rm -rf "$work"' EXIT
slurm_start 3 "$work/slurm" || skip_all "Slurm does not start here: $(tail -n 1 "$work/slurm/start.log")"

events=cycles,branches,branch-misses,cache-references,cache-misses,L1-dcache-loads,dTLB-load-misses
sweep() {
    run_hr sweep -q --accel "$accel" --qemu "$QEMU" --cpu "$flavour" --kernel "$KERNEL" -i 2us -e "$events" "$@" "$WORKLOADS/hello"
}
db() { sqlite3 sweep/sweep.db "$1"; }
show() { "$HR" sweep show -f csv "$1"; }
sweep --repeat 8 -o here
is 'a sweep here' "$status" 0
show here >wanted

# At its second task the node n2 dies, as it does when its power fails.
cat >hr-there <<TEXT
#!/bin/sh
# hr sweep task FOLDER JOB
echo "\$4" >>"$work/\$SLURMD_NODENAME.tasks"
if [ "\$SLURMD_NODENAME" = n2 ] && [ "\$(wc -l <"$work/n2.tasks")" -eq 2 ]; then
    kill -9 "\$(cat "$work/slurm/n2.pid")" "\$PPID"
    rm "$work/slurm/n2.pid"
    scontrol update nodename=n2 state=down reason=power
    exit 1
fi
exec "$HR" "\$@"
TEXT
chmod +x hr-there
sweep --repeat 8 --slurm=--time=5 --hr "$work/hr-there"
is 'a sweep by Slurm' "$status" 0
is 'counts what one here counts' "$(show sweep)" "$(cat wanted)"
is 'a node died at a task' "$(wc -l <n2.tasks)" 2
ok 'which another one did' sqlite3 sweep/sweep.db "SELECT 1/count(*) FROM runs WHERE host NOT IN ('', 'n2') AND run=$(tail -n 1 n2.tasks)"
is 'no task was done twice but that one' "$(($(cat n*.tasks | wc -l) - 2))" "$(db 'SELECT count(*) FROM runs')"
is 'nothing waits to be taken' "$(ls sweep/tasks)" ''

# hr is killed; its tasks end without it, and --resume takes what they brought.
rm -rf sweep n?.tasks
cat >hr-there <<TEXT
#!/bin/sh
[ "\$4" = first ] || kill -9 "\$(cat "$work/hr.pid")" 2>/dev/null
exec "$HR" "\$@"
TEXT
mkdir killed
cat >killed/hr <<TEXT
#!/bin/sh
echo \$\$ >"$work/hr.pid"
exec "$HR" "\$@"
TEXT
chmod +x killed/hr
HR=$work/killed/hr sweep --repeat 3 --slurm --hr "$work/hr-there"
is 'hr was killed' "$status" 137
for _ in $(seq 100); do
    [ "$(find sweep/tasks -name '*.parcel' | wc -l)" -lt 3 ] || break
    sleep 0.1
done
is 'its tasks ended' "$(find sweep/tasks -name '*.parcel' | wc -l)" 3
parcel=$(find sweep/tasks -name '*.parcel' | head -n 1)
head -c 400 "$parcel" >part
cp part "$parcel"
run_hr sweep -q --resume
is 'continued' "$status" 0
is 'what was cut was done again' "$(jq '.jobs | length' sweep/sweep.json) $(db "SELECT count(*) FROM runs WHERE state='done'")" '3 3'
is 'with the same result' "$(show sweep | cut -d, -f 1,3)" "$(cut -d, -f 1,3 wanted)"

# A suite: a task fails at its first try, and another one does the run.
mkdir data
cp "$WORKLOADS/hello" data/program
cat >microtome.toml <<END
[default]
options = ["--accel=$accel", "--kernel=$KERNEL", "--qemu=$QEMU"]
directory = "data"

[[benchmark]]
name = "one"
command = ["./program"]

[[benchmark]]
name = "two"
command = ["./program", "argument"]
repeat = 2
END
cat >hr-there <<TEXT
#!/bin/sh
[ "\$4" != two+1 ] || ! mkdir "$work/tried" 2>/dev/null || exit 1
exec "$HR" "\$@"
TEXT
run_hr suite run -q -o suite-here
run_hr suite run -q -o suite --slurm=--time=5 --hr "$work/hr-there"
is 'a suite by Slurm' "$status.$(cat err)" 0.
ok 'a task failed' test -d tried
is 'counts what one here counts' "$(jq -S .benchmarks suite/results.json)" "$(jq -S .benchmarks suite-here/results.json)"
ok 'nothing waits to be taken' test ! -e suite/tasks

rm -rf sweep
sweep --slurm=--no-such-option
is 'an option that sbatch does not know: status' "$status" 125
like 'an option that sbatch does not know' err '^hr: --slurm: sbatch: unrecognized option'
ok 'an option that sbatch does not know: nothing is left' test ! -e sweep
done_testing
