# Sections of bench.sh, which reads this file: networks, sticks, sweeps, comparisons.
# shellcheck shell=sh

# streamed MODEL BLOCKS: seconds of wall time of a run whose program writes so many blocks of 64 KiB to its standard
# output, which travel over TCP through an emulated network card to hr collect.
streamed() {
    "$HR" pack -o stream.cpio --cpus 1 --mode off busybox dd if=/dev/zero bs=64k "count=$2" >/dev/null 2>err || missed=1
    rm -rf streamed
    "$HR" collect --listen tcp:4819 -o streamed --runs 1 -q 2>collect.err &
    collector=$!
    begin=$(date +%s%N)
    timeout 300 qemu-system-x86_64 -machine q35 -accel tcg -cpu max -smp 2 -m 512 -nodefaults -display none -no-reboot \
        -device isa-debug-exit,iobase=0xf4,iosize=4 -netdev user,id=net -device "$1,netdev=net" \
        -kernel "$BUILD/guest.elf" -initrd stream.cpio -serial file:serial.log \
        -append "output=network collector=10.0.2.2:4819 address=10.0.2.15/24 buffer=64M machine=bench run=dd id=1" \
        </dev/null >qemu.log 2>&1
    wait "$collector" || { cat collect.err serial.log >&2; missed=1; }
    calc %.3f "($(date +%s%N) - $begin) / 1e9"
    [ "$(stat -c %s streamed/bench/dd-1/stdout)" -eq $((65536 * $2)) ] || missed=1
}

# What arrives over TCP through a card of the emulator, beside what iperf3 gets from a Linux guest through the same.
bench_network() {
    linux_dir=${HR_BENCH_LINUX:-$work/linux}
    sh "$root/tests/bench/linux_network.sh" prepare "$linux_dir" || missed=1
    for card in virtio-net-pci e1000 e1000e; do
        linux=$(sh "$root/tests/bench/linux_network.sh" measure "$linux_dir" $card) || missed=1
        short=$(streamed $card 400)
        long=$(streamed $card 4400)
        ours=$(calc %.0f "65536 * 4000 / ($long - $short)")
        row "$card: iperf3 from a Linux guest" "$(calc %.1f "$linux / 1e6")" MB/s
        row "$card: a run's output to hr collect" "$(calc %.1f "$ours / 1e6")" MB/s
        row "$card: as a share of iperf3" "$(calc %.0f "100 * $ours / $linux")" % ge 60
    done
}

# Results onto a stick, beside what the firmware's own shell makes of its file system.
bench_stick() {
    sh "$root/tests/bench/stick.sh" >rates || missed=1
    read -r ours shell <rates
    row 'a stick: the loader writes a trace' "$(calc %.1f "$ours / 1e6")" MB/s
    row 'a stick: cp of the UEFI shell' "$(calc %.1f "$shell / 1e6")" MB/s
    row 'a stick: the loader as a share of the shell' "$(calc %.0f "100 * $ours / $shell")" % ge 100
}

# made_up COUNT: a folder of a sweep that ended, in which each of COUNT runs has the trace one.bin, which has five events.
made_up() {
    mkdir -p made/runs
    ln one.bin made/runs/first.hr
    echo '4294967295,0,1,0,0,00000000' >made/jobs.csv
    for n in $(seq 1 "$1"); do
        ln one.bin "made/runs/$(printf %04d "$n")-1.hr"
        echo "$((n - 1)),0,1,0,0,00000000" >>made/jobs.csv
    done
    jq -n --argjson n "$1" '{version: 1, program: ["x"], options: [], processor: "x", repeat: 1, seed: 1, least: $n,
        events: [range(4 * $n) | {name: "e\(.)", description: ""}], runs: [range($n) | [4 * . + range(4)]],
        jobs: [range($n) | [., 0]]}' >made/sweep.json
}

# A sweep beside its own runs one after the other; the reading of many traces.
bench_sweep() {
    "$TOOLS/gentrace" --elf "$WORKLOADS/phases" 1000000 one.bin || missed=1
    made_up 200
    read_s=$(seconds /usr/bin/time -f '%M' -o usage "$HR" sweep --resume -q -o made)
    row 'hr sweep, 200 traces of a million samples: reading' "$(calc %.1f "200 / $read_s")" 'M samples/s' ge 16.7
    row 'hr sweep: resident memory' "$(calc %.0f "$(cat usage) / 1024")" MiB le 500
    rm -rf made
    modelled=Icelake-Server,model=106,pmu=on
    if [ -z "${QEMU:-}" ]; then
        echo '| sweep: its runs are left out, QEMU names no emulator with a modelled PMU | | | | |'
        return
    fi
    set -- --accel tcg --qemu "$QEMU" --cpu "$modelled"
    sweep_s=$(seconds "$HR" sweep -q "$@" -e cycles -e 'BR_*' -e 'MEM_*' -e 'L2_*' -o swept "$WORKLOADS/phases" 20 1)
    begin=$(date +%s%N)
    jq -r '.events as $e | .runs[] | map($e[.].name) | join(",")' swept/sweep.json | while read -r list; do
        "$HR" run -q -o swept/again.bin "$@" -e "instructions,$list" "$WORKLOADS/phases" 20 1 >out 2>err </dev/null
    done
    alone_s=$(calc %.3f "($(date +%s%N) - $begin) / 1e9")
    row "a sweep of phases, $(jq '.events | length' swept/sweep.json) events" "$sweep_s" s
    row "its $(jq '.runs | length' swept/sweep.json) runs, one after the other" "$alone_s" s
    row 'the sweep by its runs' "$(calc %.2f "$sweep_s / $alone_s")" times le 1.15
    rm -rf swept
}

# The instructions of one program on several machines; not by default, because it fetches Debian 13's emulator (38 MB), which
# HR_BENCH_MACHINES=FOLDER keeps.
bench_machines() {
    export BUILD HR
    sh "$root/tests/bench/machines.sh" "${HR_BENCH_MACHINES:-$work/machines}" >machines.tsv || missed=1
    tab=$(printf '\t')
    while IFS=$tab read -r what where count; do
        count=${count%%,*}
        row "$what: $where" "${count#[}" instructions
    done <machines.tsv
    row 'microtome: machines' "$(grep -c "^microtome.*\[" machines.tsv)" '' ge 4
    row 'microtome: different counts of any event' "$(sed -n 's/^microtome.*\[/[/p' machines.tsv | sort -u | wc -l)" '' le 1
    for what in callgrind perf; do
        sed -n "s/^$what$tab.*$tab\([0-9]\)/\1/p" machines.tsv | sort -n >counts
        [ ! -s counts ] || row "$what: from the least to the most" "$(calc %.2f "100 * $(tail -n 1 counts) / $(head -n 1 counts) - 100")" %
    done
}

# A comparison and its own runs one after the other.
bench_compare() {
    set -- --accel tcg
    compare_s=$(seconds "$HR" compare -q --repeat 10 "$@" -- "$WORKLOADS/phases" 20 1 ::: "$WORKLOADS/phases" 21 1)
    begin=$(date +%s%N)
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        for passes in 20 21; do
            "$HR" run -q -o again.bin "$@" "$WORKLOADS/phases" $passes 1 >out 2>err </dev/null
        done
    done
    alone_s=$(calc %.3f "($(date +%s%N) - $begin) / 1e9")
    row 'a comparison of ten runs each' "$compare_s" s
    row 'its runs, one after the other' "$alone_s" s
    row 'the comparison by its runs' "$(calc %.2f "$compare_s / $alone_s")" times le 1.15
}

# kill_node NAME: as if its power failed: its slurmd and all that it started.
kill_node() {
    kill -9 "$(cat "$slurm/$1.pid")"
    rm "$slurm/$1.pid"
    for process in /proc/[0-9]*; do
        ! tr '\0' '\n' <"$process/environ" 2>/dev/null | grep -qx "SLURMD_NODENAME=$1" || kill -9 "${process#/proc/}"
    done 2>/dev/null
}

# A sweep of 200 tasks by a Slurm of four nodes on this machine, of which one dies.
bench_slurm() {
    . "$root/tests/slurm.sh"
    if [ -z "${QEMU:-}" ] || ! slurm_is_here || ! slurm_start 4 "$work/slurm"; then
        echo '| slurm: left out, there is no Slurm, or QEMU names no emulator with a modelled PMU | | | | |'
        return
    fi
    (
        until [ "$(wc -l 2>/dev/null <tasks/jobs.csv || echo 0)" -gt 50 ]; do sleep 0.2; done
        kill_node n2
    ) &
    sweep_s=$(seconds "$HR" sweep -q --slurm --accel tcg --qemu "$QEMU" --cpu Icelake-Server,model=106,pmu=on -e all \
        --repeat 4 -o tasks "$WORKLOADS/hello")
    wait
    slurm_stop
    row "a sweep by four nodes of Slurm, of which one dies: $(jq '.jobs | length' tasks/sweep.json) tasks" "$sweep_s" s
    row 'its runs that are there' "$(sqlite3 tasks/sweep.db "SELECT 100.0 * sum(state='done' AND note='') / count(*) FROM runs")" % ge 100
    rm -rf tasks
}
