#!/bin/sh
# hr doctor: the table and JSON on this machine, and what it makes of other machines' files.
. "$(dirname "$0")/../lib.sh"
cpu=sys/devices/system/cpu
esc=$(printf '\033')

run_hr doctor
ok 'this machine: an answer' test "$status" -le 1
is 'this machine: nothing on stderr' "$(cat err)" ''
like 'this machine: heading' out '^STATE +CHECK +FOUND'
like 'this machine: verdict' out '^(Faithful runs are possible|Emulated runs are exact|No run is possible) here'
is 'not a terminal: no colours' "$(grep -c "$esc" out)" 0
is 'not a terminal: 100 columns' "$(grep -vE '^ +(\$|sudo) ' out | awk 'length > 100' | wc -l)" 0
table=$(grep -cE '^(ok|warning|problem|unknown) ' out)
answer=$status
run_hr doctor --json
is 'JSON: same answer' "$status" "$answer"
is 'JSON: faithful is the exit status' "$(jq -r .faithful out)" "$([ "$answer" -eq 0 ] && echo true || echo false)"
is 'JSON: as many checks as the table' "$(jq '.checks | length' out)" "$table"
is 'JSON: every check has what it must have' "$(jq -r '.checks[] | select(
    (.id | type) == "string" and (.found | type) == "string" and .found != "" and
    (.state | IN("ok", "warning", "problem", "unknown")) and has("effect") and has("remedy")) | .id' out | sort -u | wc -l)" "$table"
is 'JSON: a problem is never without a remedy' "$(jq -r '.checks[] | select(.state == "problem" and .remedy == null) | .id' out)" ''

# Another machine's files: everything as it should be.
mkdir -p root/proc/sys/kernel root/sys/module/kvm/parameters root/sys/module/kvm_intel/parameters \
    root/$cpu/smt root/$cpu/vulnerabilities root/$cpu/intel_pstate root/sys/kernel/mm/hugepages/hugepages-2048kB \
    root/sys/devices/system/clocksource/clocksource0
for i in 0 1 2 3; do
    mkdir -p "root/$cpu/cpu$i/cpufreq" "root/$cpu/cpu$i/topology"
    echo performance >"root/$cpu/cpu$i/cpufreq/scaling_governor"
    echo "$i" >"root/$cpu/cpu$i/topology/thread_siblings_list"
done
echo 6.12.30 >root/proc/sys/kernel/osrelease
echo 0 >root/proc/sys/kernel/nmi_watchdog
echo Y | tee root/sys/module/kvm/parameters/enable_pmu root/sys/module/kvm/initstate \
    root/sys/module/kvm_intel/initstate root/sys/module/kvm_intel/parameters/enable_mediated_pmu \
    root/sys/module/kvm_intel/parameters/enable_apicv root/sys/module/kvm_intel/parameters/enable_ipiv >/dev/null
echo 0-3 >root/$cpu/online
echo 2-3 | tee root/$cpu/isolated >root/$cpu/nohz_full
echo 0 >root/$cpu/smt/active
echo 'Not affected' >root/$cpu/vulnerabilities/l1tf
echo 1 >root/$cpu/intel_pstate/no_turbo
echo 512 | tee root/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages >root/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages
files='linux enable_pmu mediated_pmu apic l1tf nmi_watchdog isolated_cpus smt governor turbo hugepages'

# examine ARG...: hr doctor --json ARG...; what it says is in the file findings, a line "ID FIELD VALUE" each.
examine() {
    run_hr doctor --json "$@"
    jq -r '.checks[] | .id as $id | to_entries[] | "\($id) \(.key) \(.value)"' out >findings
}

# finding ID FIELD: what examine found.
finding() {
    sed -n "s/^$1 $2 //p" findings
}

# changed NAME ID STATE REMEDY PATH TEXT: after the change, the check has this state and remedy; then it is undone.
changed() {
    cp "root/$5" before
    printf '%s' "$6" >"root/$5"
    examine --root root
    is "$1: state" "$(finding "$2" state)" "$3"
    is "$1: remedy" "$(finding "$2" remedy)" "$4"
    cp before "root/$5"
}

examine --root root
for id in $files; do
    is "all is well: $id" "$(finding "$id" state)" ok
done
changed 'watchdog, mediated vPMU' nmi_watchdog problem 'sudo sysctl kernel.nmi_watchdog=0' proc/sys/kernel/nmi_watchdog 1
mediated=sys/module/kvm_intel/parameters/enable_mediated_pmu
echo N >root/$mediated
changed watchdog nmi_watchdog warning 'echo 0 | sudo tee /proc/sys/kernel/nmi_watchdog' proc/sys/kernel/nmi_watchdog 1
echo Y >root/$mediated
changed 'flushes of the cache' l1tf warning \
    'echo never | sudo tee /sys/module/kvm_intel/parameters/vmentry_l1d_flush  # if you trust what all guests run' \
    $cpu/vulnerabilities/l1tf 'Mitigation: PTE Inversion; VMX: cache flushes, SMT disabled'
changed governor governor warning "echo performance | sudo tee /$cpu/cpu*/cpufreq/scaling_governor" \
    $cpu/cpu3/cpufreq/scaling_governor powersave
changed SMT smt warning "echo off | sudo tee /$cpu/smt/control" $cpu/smt/active 1
changed turbo turbo warning "echo 1 | sudo tee /$cpu/intel_pstate/no_turbo" $cpu/intel_pstate/no_turbo 0
changed isolation isolated_cpus warning 'start the kernel with isolcpus=2-3 nohz_full=2-3 rcu_nocbs=2-3' $cpu/isolated ''
changed 'a word for a number' hugepages unknown null sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages many
changed 'escape sequences' nmi_watchdog unknown null proc/sys/kernel/nmi_watchdog "${esc}[2J"
changed 'an empty file' smt unknown null $cpu/smt/active ''
head -c 3000000 /dev/zero >zeroes
cp zeroes root/$cpu/isolated
cp zeroes root/sys/module/kvm/parameters/enable_pmu
run_hr doctor --root root
ok 'megabytes of zeroes: an answer' test "$status" -le 1
like 'megabytes of zeroes: said' out "^unknown +Isolated CPUs +/$cpu/isolated makes no sense"
like 'megabytes of zeroes: said of the parameter' out '^unknown +KVM enable_pmu .*makes no sense'
rm -r root/sys root/proc
examine --root root
ok 'no files at all: an answer' test "$status" -le 1
is 'no files at all: nothing is well' "$(for id in linux enable_pmu apic nmi_watchdog isolated_cpus governor hugepages; do
    finding $id state; done | sort -u)" unknown

# The emulator.
examine --qemu "$work/no-such-emulator"
is 'no emulator: status' "$status" 1
is 'no emulator: state' "$(finding qemu state)" problem
is 'no emulator: the kernel is found nevertheless' "$(finding guest_kernel state)" ok
like 'no emulator: verdict' out 'No run is possible here:.* QEMU is missing'
printf '#!/bin/sh\nexec yes\n' >babbler
printf '#!/bin/sh\necho QEMU emulator version 8.1.0 of mine\n' >emulator
chmod +x babbler emulator
examine --qemu "$work/babbler"
is 'an emulator that never ends: state' "$(finding qemu state)" problem
examine --qemu "$work/emulator"
is 'another emulator: version' "$(finding qemu found)" "8.1.0, $work/emulator"

# The doctor's own failures.
for arguments in '--root no-such-directory' '--no-such-option' 'superfluous'; do
    # shellcheck disable=SC2086
    run_hr doctor $arguments
    is "$arguments: status" "$status" 125
    ok "$arguments: said" test -s err
    is "$arguments: no table" "$(cat out)" ''
done
status=0
"$HR" doctor >/dev/full 2>err || status=$?
is 'a full disk: status' "$status" 125
like 'a full disk: message' err '^hr: standard output: No space left'
done_testing
