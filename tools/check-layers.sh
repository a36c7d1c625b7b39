#!/bin/sh
# Checks that layers include only headers of the layers that they may use (docs/architecture.md).
set -eu
cd "$(dirname "$0")/.."
failed=0

# allow LAYER REGEX: the path in every #include "..." of LAYER's files must begin with one of these folders.
allow() {
    [ -d "$1" ] || return 0
    bad=$(grep -rnE --include='*.[chS]' '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$1" |
        grep -vE "include[[:space:]]*\"($2)/" || true)
    [ -z "$bad" ] || { echo "$1 may include only $2:"; echo "$bad"; failed=1; }
}

allow include 'include'
allow lib 'include|lib'
allow drivers 'include|lib|drivers'
allow guest 'include|lib|drivers|guest'
allow boot 'include|lib|drivers|boot' # of drivers only those that need no kernel, such as uart
allow host 'include|lib|host'
allow plugin 'include|plugin'
for room in lib/*/; do
    bad=$(grep -rnE '#include "lib/[a-z]+/' "$room" | grep -v "#include \"$room" || true)
    [ -z "$bad" ] || { echo "the rooms of lib/ may not include each other's headers:"; echo "$bad"; failed=1; }
done
# A workload may use the workload API and files that workloads share; libhr, which implements the API, also the system call's header.
bad=$(grep -rnE '#[[:space:]]*include[[:space:]]*"' workloads | grep -vE '"(include/hr|workloads/[a-z_]+)\.h"' |
    grep -vE '^workloads/libhr(_shadow)?\.[ch]:.*"include/hr_abi\.h"' || true)
[ -z "$bad" ] || { echo 'workloads may include only include/hr.h and what they share:'; echo "$bad"; failed=1; }
# No conditional compilation in a .c file: choose by file list, table or capability.
bad=$(grep -nE '^[[:space:]]*#[[:space:]]*if' -r --include='*.c' lib drivers guest boot host plugin workloads 2>/dev/null || true)
[ -z "$bad" ] || { echo 'no #if in a .c file:'; echo "$bad"; failed=1; }

# Rooms, bottom first: a file may use its own room and those before it, by includes and by calls.  What is not in a
# room (guest/main.c, host/main.c) may use all.  A folder in a room is a room of its own, which stands before the one
# that it is in.
guest_rooms='base memory cpu transport net vm sample trace service thread signal fs file socket ipc exec proc probe calls
    syscall/futex syscall/file syscall/memory syscall/process syscall/time syscall'
host_rooms='base draw trace object unwind symbols probe scan heap metrics events options launch
    pack/list pack/libraries pack/program pack/collect pack/archive pack collector serve network collect machine summary exact ctl
    stat run doctor noise memory/pages memory/allocations memory/accesses memory/lines memory/map memory latency follow report annotate dump check timeline hist
    export/common export/text export/firefox export/perf export/perfetto export/pprof export/sqlite export diff plot
    view/data view/model view/html view/server view usb trial remote bench pair
    sweep/plan sweep/folder sweep/database sweep/runs sweep/show sweep compare suite'

# Arrows upwards that are meant: FILE ROOM REASON.
exceptions() {
    cat <<'END'
guest/cpu/cpu syscall the IDT and the system call MSR name the entry points
guest/thread/threads syscall a new thread begins at an entry point
guest/sample/calibrate_loop syscall calibration enters ring 3 without a thread
guest/service/service_end thread the end of a run says where a thread was
guest/service/service_cpu thread a CPU that waited for the service may have missed its slice
guest/trace/trace_process thread a record says a process's number and its program
guest/vm/vm_area fs an area holds the name that its file was opened by
guest/vm/uaccess thread user memory is that of the current thread's process
END
}

# rooms TOP ORDER: names arrows upwards, and exceptions that are none; BUILD has the objects of TOP.
rooms() {
    {
        exceptions | sed "s/^/exception /"
        grep -rnE --include='*.[chS]' '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$1" |
            sed -E 's/^([^:]*):[0-9]+:[^"]*"([^"]*)".*/include \1 \2/'
        find "$1" -name '*.[cS]' ! -path 'guest/vdso/*' | sed "s#^\(.*\)\.[cS]\$#$BUILD/$1/\1.o#" | xargs nm -A 2>/dev/null |
            sed -nE "s#^$BUILD/$1/([^:]*)\.o:[0-9a-f]* +([A-Za-z]) (.*)#symbol \1 \2 \3#p"
    } | awk -v top="$1" -v order="$2" '
        function stem(file) { sub(/\.[chSo]$/, "", file); return file }
        # The position of a file of this tree; 0: elsewhere.
        function place(file, parts, n) {
            n = split(file, parts, "/")
            if (parts[1] != top) return 0
            if (parts[2] == "variants" || parts[2] == "vdso") return 0 # a variant stands where it is called
            return n == 2 || !(room(file) in position) ? last + 1 : position[room(file)]
        }
        function room(file, parts, n) {
            n = split(file, parts, "/")
            return n > 3 ? parts[2] "/" parts[3] : parts[2]
        }
        function arrow(from, to, how) {
            if (place(from) == 0 || place(to) == 0 || place(from) >= place(to)) return
            if ((from, room(to)) in excepted) { used[from, room(to)] = 1; return }
            if (!((from, to, how) in seen)) print from " uses " to ", which is above it: " how
            seen[from, to, how] = 1
            bad = 1
        }
        BEGIN { last = split(order, names); for (i = 1; i <= last; i++) position[names[i]] = i }
        $1 == "exception" { if (index($2, top "/") == 1) excepted[$2, $3] = 1 }
        $1 == "include" { arrow(stem($2), stem($3), "includes " $3) }
        $1 == "symbol" && $3 ~ /[A-TV-Z]/ { definition[$4] = $2 }
        $1 == "symbol" && $3 == "U" { wanted[++count] = $2 " " $4 }
        END {
            for (i = 1; i <= count; i++) {
                split(wanted[i], use)
                if (use[2] in definition) arrow(use[1], definition[use[2]], "calls " use[2])
            }
            for (pair in excepted) if (!(pair in used)) {
                split(pair, both, SUBSEP)
                print both[1] " no longer uses the room " both[2] ": remove the exception"
                bad = 1
            }
            exit bad
        }' || failed=1
}
: "${BUILD:=build}"
rooms guest "$guest_rooms"
rooms host "$host_rooms"
exit $failed
