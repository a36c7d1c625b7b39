# For tests on real KVM code: runs inside a Linux host that kvm-host boots in an emulator, many runs to a boot.
# Sourced after lib.sh.  A test plans runs by `guest`, does them by `boot`, and looks at each after `seen`.
# KVM_HOST: the script kvm-host, where it is not in ../shared.
# shellcheck shell=sh

KVM_HOST=${KVM_HOST:-$ROOT/../shared/kvm-host/kvm-host}
[ -x "$KVM_HOST" ] || skip_all "no kvm-host: $KVM_HOST is absent (KVM_HOST=PATH names it)"

# quoted WORD...: the words as a shell reads them again.
quoted() {
    for word in "$@"; do
        printf "'%s' " "$(printf '%s' "$word" | sed "s/'/'\\\\''/g")"
    done
}

# plan_begin: forgets what was planned.
plan_begin() {
    rm -rf results
    printf '%s\n' "$HR" "${HR%/*}/guest.elf" >files
    {
        echo "HR=$(quoted "$HR") WORKLOADS=$(quoted "$WORKLOADS")"
        cat "$ROOT/tests/kvm/inside.sh"
    } >plan
}

# needs FILE...: these are there inside, with their libraries.
needs() {
    printf '%s\n' "$@" >>files
}

# inside COMMAND: a line of shell.
inside() {
    printf '%s\n' "$*" >>plan
}

# guest NAME [OPTION...] -- PROGRAM ARG...: plans `hr run` of a workload, or of a program by its path.
# As little memory as there may be, unless told otherwise: it is locked, and 32 MiB take 0.7 s of CPU time in there.
guest() {
    name=$1
    shift
    case " $* " in *' --mem '*) ;; *) set -- --mem 32M "$@" ;; esac
    set -- "$name" "$@"
    line=
    while [ "$1" != -- ]; do
        line="$line$(quoted "$1")"
        shift
    done
    shift
    case $1 in /*) program=$1 ;; *) program=$WORKLOADS/$1 ;; esac
    shift
    needs "$program"
    printf 'run %s%s%s\n' "$line" "$(quoted "$program")" "$(quoted "$@")" >>plan
}

# group NAME OPTION... -- : plans one run of the lines `t NAME PROGRAM ARG...` on stdin, by a shell; "last" in place of t: in
# place of the shell, with the run's stdin.
group() {
    busybox=$(command -v busybox || echo /bin/busybox)
    run=$1
    shift
    {
        echo 't() { echo "== $1"; shift; status=0; "$@" </dev/null || status=$?; echo "== status $status"; }'
        echo 'last() { echo "== $1"; shift; exec "$@"; }'
        sed "s,WORKLOADS,$WORKLOADS,; s,BUSYBOX,$busybox,"
    } >"$run.sh"
    needs "$PWD/$run.sh"
    sed -n "s,^[a-z]* [a-z-]* \(/[^ ]*\).*,\1,p" "$run.sh" >>files
    guest "$run" "$@" "$busybox" sh "$PWD/$run.sh"
}

# planned: sets planned_command, which does what is planned.  Locking an emulator's memory takes a fifth of the time of a short run in there, so
# nothing but a boot with `locks=yes` has the privilege.
planned() {
    planned_command=$(cat plan; echo exit 0)
    if [ "${locks:-no}" = no ] && command -v capsh >/dev/null; then
        needs "$(command -v capsh)"
        planned_command="exec $(command -v capsh) --drop=cap_ipc_lock --shell=/bin/sh -- -c $(quoted "$planned_command")"
    fi
}

# quick_boot KERNEL: halves a boot's time; puts what kvm-host is to add into `stage`.  Of programs in front of the others gzip
# stores, as the kernel takes an initramfs as it is, and ldd says nothing: kvm-host starts seven programs for each program and
# each library, so all are found and copied here, once.  They are not executable by others, which would have kvm-host look at them.
# Modules have neither a signature, which is a hash of all of them, nor symbols that nothing needs, which are searched for
# each function.
quick_boot() {
    rm -rf stage
    mkdir -p quick stage/lib/modules
    printf '#!/bin/sh\nexec cat\n' >quick/gzip
    printf '#!/bin/sh\n' >quick/ldd
    chmod +x quick/gzip quick/ldd
    xargs realpath -s <files >files.named
    xargs ldd /usr/bin/qemu-system-x86_64 <files.named 2>/dev/null |
        awk '$2 == "=>" && $3 ~ /^\// { print $3 } /^\t\// { print $1 }' >libraries
    sort -u files.named libraries | xargs cp -L --parents -t stage
    strip -o "stage$HR" "$HR"
    # shellcheck disable=SC2154 # of lib.sh
    if cp "$users_cache/kvm-host/$1"/*.ko stage/lib/modules 2>/dev/null; then # else kvm-host fetches them with this boot
        strip --strip-unneeded stage/lib/modules/*.ko
    fi
    find stage -type f -exec chmod o-x {} +
}

# crash: what the host's kernel said last.
crash() {
    sed -n '/^\[kvm-host\]/p
        /BUG:\|Oops\|fault:\|exception\|RIP: 0010\|EFLAGS\|Kernel panic/s/^.*\] /  /p' host.err |
        head -n 12 | sed 's/^/# /'
}

# boot NAME [OPTION...]: boots kvm-host and does what is planned; false where it failed, which is said.
# A crash of the host's own kernel (125) is the emulated machine's; once more, then.  So is a host that stands still (124):
# each run in it has a limit of its own.  Linux 6.12 crashes in there with anything, now and then: twice, and its tests
# are skipped.  KVM_HOST_LIMIT: seconds for a boot, on a busy machine.
# The kernel is not to go on after a fault of its own, nor to take a slow emulator's timer for a broken one, nor to use
# CMPXCHG16B: after that instruction we saw flags that cannot be and crashes in the kernel's allocator.  It is to copy and
# clear pages without string instructions, which the emulator does a word at a time: a tenth less of time.  A program is to
# be at the same address each time: the emulator then translates its code once.  The kernel does not test its cryptography.
boot() {
    about=$1
    shift
    planned
    case " $* " in *' -k 6.12 '*) quick_boot 6.12 ;; *) quick_boot 6.1 ;; esac
    set -- -v -a "oops=panic panic=-1 no_timer_check clearcpuid=cx16,rep_good,erms,fsrm norandmaps cryptomgr.notests" \
        -m 1500 -t "${KVM_HOST_LIMIT:-300}" -o results -d "$PWD/stage:/" "$@"
    for attempt in first second third; do # 6.12 crashes in about one of four boots
        echo "# $about: booting at $(date +%T)"
        status=0
        # shellcheck disable=SC2154 # of lib.sh
        PATH=$PWD/quick:$PATH XDG_CACHE_HOME=$users_cache "$KVM_HOST" "$@" -- "$planned_command" >host.out 2>host.err || status=$?
        case $status-$attempt in
        125-first | 125-second) echo "# $about: the host's kernel crashed (status 125); once more" ;;
        124-first)
            echo "# $about: the host stood still (status 124) after what follows; once more"
            sed 's/^/# in there: /' host.out
            ;;
        *) break ;;
        esac
        crash
    done
    sed 's/^/# in there: /' host.out
    [ "$status" -eq 0 ] && return 0
    case $status-$about in
    125-*6.12)
        skip 1 "$about: the host's own kernel crashed three times in the emulated machine"
        return 1
        ;;
    esac
    result 1 "$about: the host ran to its end"
    echo "# status $status"
    crash
    return 1
}

# seen NAME: what a run gave is in $status and in the files out, err and hr.bin.
# shellcheck disable=SC2034
seen() {
    rm -f out err hr.bin
    status=$(cat "results/$1.status" 2>/dev/null || echo none)
    for part in out err; do
        [ ! -e "results/$1.$part" ] || cp "results/$1.$part" $part
    done
    [ ! -e "results/$1.bin" ] || cp "results/$1.bin" hr.bin
}

# whole NAME STATUS: how the run of a group ended, and that its trace is whole.
whole() {
    seen "$1"
    is "$1: status" "$status" "$2"
    ok "$1: the trace is whole" "$HR" check hr.bin
}

# said NAME: what a program of the group that was seen wrote; but for the last one, with its status at the end.
said() {
    awk -v name="$1" '/^== / && !/^== status / { on = $2 == name; next } on' out
}

# told NAME STATUS OUTPUT: how a program of a group ended and what it said.
told() {
    is "$1: the result" "$(said "$1")" "${3:+$3
}== status $2"
}

# conserved NAME PERIOD: the samples of hr.bin are whole periods of the first event apart; all periods are sampled or
# counted as left out, but for those after the last sample.
conserved() {
    skipped=$(stat_of hr.bin .share.skipped)
    within "$1: there are samples" "$(stat_of hr.bin .samples)" 2 10000
    is "$1: none lost" "$(stat_of hr.bin .lost)" 0
    "$HR" dump --format csv hr.bin | awk -F, -v period="$2" '
        NR > 1 && ($6 == 0 || $6 % period || $1 <= last) { print > "bad.csv" }
        NR > 1 { last = $1; periods += $6 / period; if ($6 / period > longest) longest = $6 / period }
        END { print periods + 0, longest + 0 }' >periods
    ok "$1: every sample whole periods after the last" test ! -e bad.csv
    rm -f bad.csv
    read -r periods longest <periods
    is "$1: each period is a sample or was left out" "$(stat_of hr.bin '.samples + .share.skipped')" "$periods"
    all=$(($(stat_of hr.bin '.events[0].total') / $2))
    within "$1: up to the end" "$periods" $((all - longest - 1)) "$all"
    [ "$skipped" -gt 0 ] || is "$1: with nothing left out, one sample a period" "$periods" "$all"
}
