#!/bin/sh
# What /proc and /sys say: in Linux's forms, and the same as the system calls say.
. "$(dirname "$0")/../lib.sh"
busybox=$(command -v busybox) || skip_all 'busybox is not installed (Debian package busybox-static)'

# One program reads these, with a line of its own between them.
cat >paths <<'END'
/proc/self/maps
/proc/self/statm
/proc/self/status
/proc/self/stat
/proc/1000/comm
/proc/self/task/1000/comm
/proc/thread-self/comm
/proc/self/limits
/proc/self/auxv
/proc/self/smaps
/proc/cpuinfo
/sys/devices/system/cpu/cpu0/cache/index0/type
/sys/devices/system/cpu/cpu0/cache/index1/type
/sys/devices/system/cpu/cpu0/cache/index2/type
/sys/devices/system/cpu/cpu0/cache/index0/size
/sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size
/proc/uptime
/proc/loadavg
/proc/sys/kernel/random/uuid
/proc/sys/vm/overcommit_memory
/proc/sys/vm/max_map_count
/sys/kernel/mm/transparent_hugepage/enabled
/sys/devices/system/node/online
/sys/devices/system/node/node0/cpulist
END
echo '==== and then' >between
# shellcheck disable=SC2046
run_guest -q --mode off "$busybox" cat $(sed "s,\$, $work/between," paths)
is 'everything can be read' "$status: $(cat err)" '0: '
mkdir parts
perl -e '$/ = "==== and then\n"; while (<STDIN>) { chomp; open my $part, ">", "parts/$."; print $part $_ }' <out

# from PATH...: what the files said, in the file out.
from() {
    for path in "$@"; do
        cat "parts/$(grep -nFx "$path" paths | cut -d: -f1)"
    done >out
}

# field NAME: the value on the line that starts with NAME.
field() {
    sed -n "s/^$1[: \t]*//p" out
}

from /proc/self/maps
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
from /proc/self/limits
is 'limits: as on Linux' "$(cut -c 1-25 out)" "$(cut -c 1-25 /proc/self/limits)"
is 'limits: open files' "$(awk '/^Max open files/ { print $4 }' out)" 1024
run_guest -q --mode off --env 'A=b c' "$busybox" cat /proc/self/cmdline /proc/self/environ
is 'cmdline' "$(tr '\0' '|' <out | cut -d '|' -f -4)" "$busybox|cat|/proc/self/cmdline|/proc/self/environ"
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

cpu=/sys/devices/system/cpu
for cpus in 0 1 3; do
    run_guest -q --mode off --cpus $cpus --accel tcg "$busybox" sh -c "nproc; cat $cpu/online /proc/cpuinfo
        cd $cpu/cpu2/topology && cat core_id thread_siblings core_siblings"
    most=$((cpus > 1 ? cpus : 1))
    is "--cpus $cpus: CPUs in cpuinfo" "$(grep -c '^processor' out)" "$most"
    is "--cpus $cpus: nproc" "$(sed -n 1p out)" "$most"
    is "--cpus $cpus: online" "$(sed -n 2p out)" "$([ "$most" -eq 1 ] && echo 0 || echo "0-$((most - 1))")"
done
is 'CPU 2 of 3' "$(tail -n 3 out)" "$(printf '2\n4\n7')"

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

run_guest -q --mode off --mem 256M "$busybox" sh -c 'free -k; cat /proc/meminfo /proc/sys/kernel/osrelease; uname -r'
is 'meminfo: total as sysinfo says' "$(field MemTotal)" "$(awk '/^Mem:/ { print $2 }' out) kB"
within 'meminfo: about --mem' "$(field MemTotal | tr -dc 0-9)" 200000 262144
is 'osrelease is what uname says' "$(tail -n 1 out)" "$(tail -n 2 out | head -n 1)"
from /proc/uptime /proc/loadavg
like 'uptime' out '^[0-9]+\.[0-9][0-9] [0-9]+\.[0-9][0-9]$'
like 'loadavg' out '^0.00 0.00 0.00 1/1 1000$'
from /proc/sys/kernel/random/uuid
like 'a UUID' out '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$'
from /proc/sys/vm/overcommit_memory /proc/sys/vm/max_map_count /sys/kernel/mm/transparent_hugepage/enabled \
    /sys/devices/system/node/online /sys/devices/system/node/node0/cpulist
is 'settings' "$(cat out)" "$(printf '0\n65530\n[always] madvise never\n0\n0')"
run_guest -q --mode off "$busybox" cat /proc/no-such-file /proc/self/task/1001/comm /sys/devices/system/cpu/cpu1/topology/core_id
is 'what is not there' "$status" 1
like 'a file' err "open '/proc/no-such-file': No such file"
like 'a thread' err "open '/proc/self/task/1001/comm': No such file"
like 'a CPU' err "open '/sys/devices/system/cpu/cpu1/topology/core_id': No such file"
done_testing
