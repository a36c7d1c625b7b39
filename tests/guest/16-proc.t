#!/bin/sh
# What /proc and /sys say: in Linux's forms, and the same as the system calls say.
. "$(dirname "$0")/../lib.sh"
busybox=$(command -v busybox) || skip_all 'busybox is not installed (Debian package busybox-static)'

# from PATH: what the file says in the guest, in the file out.
from() {
    run_guest -q --mode off "$busybox" cat "$@"
}

# field NAME: the value on the line that starts with NAME.
field() {
    sed -n "s/^$1[: \t]*//p" out
}

from /proc/self/maps
is 'maps: status' "$status" 0
fails 'maps: every line is as on Linux' \
    grep -vE '^[0-9a-f]{8,16}-[0-9a-f]{8,16} [r-][w-][x-][ps] [0-9a-f]{8} [0-9a-f]{2}:[0-9a-f]{2} [0-9]+ *([[/].*)?$' out
like 'maps: the program' out " r-xp .* $busybox\$"
like 'maps: the stack' out ' rw-p .* \[stack\]$'
like 'maps: the heap' out ' rw-p .* \[heap\]$'
bytes=$(awk -F'[- ]' '{ printf "0x%s 0x%s\n", $2, $1 }' out | while read -r end start; do echo $((end - start)); done |
    awk '{ n += $1 } END { print n }')
from /proc/self/statm
is 'statm: pages as maps has them' "$(($(cut -d' ' -f1 out) * 4096))" "$bytes"
from /proc/self/status
is 'status: VmSize too' "$(field VmSize)" "$((bytes / 1024)) kB"
is 'status: Pid' "$(field Pid)" 1000
is 'status: Threads' "$(field Threads)" 1
from /proc/self/stat
is 'stat: 52 fields' "$(wc -w <out)" 52
is 'stat: name' "$(cut -d' ' -f2 out)" '(busybox)'
is 'stat: bytes as maps has them' "$(cut -d' ' -f23 out)" "$bytes"
from /proc/1000/comm /proc/self/task/1000/comm /proc/thread-self/comm
is 'a process by number, a thread' "$(cat out)" "$(printf 'busybox\nbusybox\nbusybox')"
from /proc/self/task/1001/comm
is 'a thread that does not exist' "$status" 1
from /proc/self/limits
is 'limits: as on Linux' "$(cut -c 1-25 out)" "$(cut -c 1-25 /proc/self/limits)"
is 'limits: open files' "$(awk '/^Max open files/ { print $4 }' out)" 1024
from /proc/self/cmdline
is 'cmdline' "$(tr '\0' '|' <out)" "$busybox|cat|/proc/self/cmdline|"
run_guest -q --mode off --env 'A=b c' "$busybox" cat /proc/self/environ
is 'environ' "$(tr '\0' '\n' <out | grep '^A=')" 'A=b c'
from /proc/self/auxv
is 'auxv: page size, the end' "$(od -A n -t u8 -w16 out | awk '$1 == 6 || $1 == 0 { print $1, $2 }')" "$(printf '6 4096\n0 0')"
from /proc/self/smaps
is 'smaps: as large as maps' "$(awk '/^Size:/ { n += $2 } END { print n * 1024 }' out)" "$bytes"
resident=$(awk '/^Rss:/ { n += $2 } END { print n }' out)
within 'smaps: so much is resident' "$resident" 100 "$((bytes / 1024))"
tr ' ' '\n' <<EOF | sort >wanted # Linux 6.1
Name Umask State Tgid Ngid Pid PPid TracerPid Uid Gid FDSize Groups VmPeak VmSize VmLck VmPin VmHWM VmRSS RssAnon
RssFile RssShmem VmData VmStk VmExe VmLib VmPTE VmSwap CoreDumping THP_enabled Threads SigQ SigPnd ShdPnd SigBlk SigIgn
SigCgt CapInh CapPrm CapEff CapBnd CapAmb NoNewPrivs Seccomp Seccomp_filters Cpus_allowed Cpus_allowed_list Mems_allowed
Mems_allowed_list
EOF
from /proc/self/status
cut -d: -f1 out | sort >got
is 'status: no line of Linux is missing' "$(comm -13 got wanted)" ''

for cpus in 0 1 3; do
    run_guest -q --mode off --cpus $cpus --accel tcg "$busybox" cat /proc/cpuinfo
    most=$((cpus > 1 ? cpus : 1))
    is "--cpus $cpus: CPUs in cpuinfo" "$(grep -c '^processor' out)" "$most"
    run_guest -q --mode off --cpus $cpus --accel tcg "$busybox" nproc
    is "--cpus $cpus: nproc" "$(cat out)" "$most"
    run_guest -q --mode off --cpus $cpus --accel tcg "$busybox" cat /sys/devices/system/cpu/online
    is "--cpus $cpus: online" "$(cat out)" "$([ "$most" -eq 1 ] && echo 0 || echo "0-$((most - 1))")"
done
run_guest -q --mode off --cpus 3 --accel tcg "$busybox" cat /sys/devices/system/cpu/cpu2/topology/core_id \
    /sys/devices/system/cpu/cpu2/topology/thread_siblings /sys/devices/system/cpu/cpu2/topology/core_siblings
is 'CPU 2 of 3' "$(cat out)" "$(printf '2\n4\n7')"
from /sys/devices/system/cpu/cpu1/topology/core_id
is 'a CPU that is not there' "$status" 1

from /proc/cpuinfo
like 'cpuinfo: AVX2 and the hypervisor' out '^flags.* avx2 .*'
tr '|' '\n' <<EOF | sort >wanted
processor|vendor_id|cpu family|model|model name|stepping|microcode|cpu MHz|cache size|physical id|siblings|core id
cpu cores|apicid|initial apicid|fpu|fpu_exception|cpuid level|wp|flags|bugs|bogomips|clflush size|cache_alignment
address sizes|power management
EOF
cut -f1 out | sed 's/ *:.*//' | sort -u >got
is 'cpuinfo: no line of Linux is missing' "$(comm -13 got wanted)" ''
from /sys/devices/system/cpu/cpu0/cache/index0/type /sys/devices/system/cpu/cpu0/cache/index1/type \
    /sys/devices/system/cpu/cpu0/cache/index2/type
is 'caches' "$(cat out)" "$(printf 'Data\nInstruction\nUnified')"
from /sys/devices/system/cpu/cpu0/cache/index0/size /sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size
like 'a size with its unit' out '^[1-9][0-9]*K$'
like 'a line' out '^64$'

run_guest -q --mode off --mem 256M "$busybox" free -k
cp out free
run_guest -q --mode off --mem 256M "$busybox" cat /proc/meminfo
is 'meminfo: total as sysinfo says' "$(field MemTotal)" "$(awk '/^Mem:/ { print $2 }' free) kB"
within 'meminfo: about --mem' "$(field MemTotal | tr -dc 0-9)" 200000 262144
from /proc/uptime /proc/loadavg
like 'uptime' out '^[0-9]+\.[0-9][0-9] [0-9]+\.[0-9][0-9]$'
like 'loadavg' out '^0.00 0.00 0.00 1/1 1000$'
from /proc/sys/kernel/osrelease
cp out release
run_guest -q --mode off "$busybox" uname -r
same_file 'osrelease is what uname says' out release
from /proc/sys/kernel/random/uuid
like 'a UUID' out '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$'
from /proc/sys/vm/overcommit_memory /proc/sys/vm/max_map_count /sys/kernel/mm/transparent_hugepage/enabled \
    /sys/devices/system/node/online /sys/devices/system/node/node0/cpulist
is 'settings' "$(cat out)" "$(printf '0\n65530\n[always] madvise never\n0\n0')"
from /proc/no-such-file
is 'what is not there' "$status" 1
done_testing
