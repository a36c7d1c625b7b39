#!/bin/sh
# Servers from Debian's packages with their own clients, all inside one run: what the clients print is what they print
# natively.  tools/servers.sh unpacks the packages.  The native run has a network of its own where that is allowed, so
# that its ports are free; without that, a port that is taken fails the test.
. "$(dirname "$0")/../lib.sh"

root=$BUILD/servers/root
[ -e "$BUILD/servers/packages" ] || skip_all 'tools/servers.sh has not unpacked the servers'
busybox=$(command -v busybox) || skip_all 'busybox is not installed (Debian package busybox-static)'
programs=$ROOT/tests/programs/servers
as_user='setpriv --reuid=1000 --regid=1000 --clear-groups'
# In a private folder, such as root's own, this user finds neither: links in this one.
if [ "$(id -u)" -eq 0 ] && ! $as_user test -r "$programs/redis.sh"; then
    cp -al "$root" root 2>/dev/null || cp -a "$root" root
    cp -r "$programs" programs
    root=$PWD/root programs=$PWD/programs
fi
path=$root/usr/bin:$root/usr/sbin:$root/usr/lib/postgresql/15/bin:/usr/local/bin:/usr/bin:/bin
libraries=$root/usr/lib/x86_64-linux-gnu
chmod 755 .

# natively COMMAND...: as a user like the guest's, because some servers refuse to be root.
natively() {
    set -- env -i PATH="$path" LD_LIBRARY_PATH="$libraries" HOME="$PWD" LANG=C.UTF-8 TZ=UTC0 "$@"
    if [ "$(id -u)" -eq 0 ]; then
        # shellcheck disable=SC2086
        set -- $as_user "$@"
        ! unshare -n true 2>/dev/null ||
            set -- unshare -n sh -c "$busybox ip link set lo up && exec \"\$@\"" sh "$@"
    fi
    timeout -k 10 120 "$@" >native 2>native.err </dev/null
}

# served COMMAND...: in the guest.
served() {
    LIMIT=240 run_hr run -q -i 1ms --mem 1G --env PATH="$path" --env LD_LIBRARY_PATH="$libraries" --env HOME="$PWD" "$@" </dev/null
}

# compare NAME [OPTION...] -- COMMAND...: the replies of a server's clients, in a directory of its own.
compare() {
    name=$1
    shift
    take_options "$@"
    shift "$taken"
    mkdir "$name-native" "$name"
    [ "$(id -u)" -ne 0 ] || chown 1000:1000 "$name-native"
    cd "$name-native" || exit 1
    natively "$@"
    cd "../$name" || exit 1
    # shellcheck disable=SC2086
    served $options "$@"
    is "$name: exit status" "$status" 0
    is "$name: the clients' replies" "$(cat out)" "$(cat ../"$name-native/native")"
    ok "$name: the trace is right" "$HR" check hr.bin
    cd ..
}

# calls NAME FUNCTION: how many calls of it the trace of that run has.
calls() {
    "$HR" latency -f csv "$1/hr.bin" 2>/dev/null | sed -n "s/^$2,[^,]*,duration_ns,\([0-9]*\),.*/\1/p"
}

redis=$root/usr/bin/redis-server
probes="-i 10us --probe $redis:processCommand --probe $redis:call --probe $redis:lookupKey"
# shellcheck disable=SC2086
compare redis $probes -- sh "$programs/redis.sh"
within 'redis: probes: commands of its clients' "$(calls redis processCommand)" 1030 1100
"$HR" latency redis/hr.bin >rows
like 'redis: probes: the longest command' rows '^# processCommand: the [0-9]+ calls above p99 took '
# memcached has no symbols; its libraries have.
compare memcached --probe 'libevent*:event_base_loop' --probe libc:sendmsg --probe libc:pthread_mutex_lock -- sh "$programs/memcached.sh"
within 'memcached: probes: answers of the server, and what its clients send' "$(calls memcached sendmsg)" 800 1000
within 'memcached: probes: loops, which do not return' "$("$HR" latency -f json memcached/hr.bin |
    jq '.rows[] | select(.function == "event_base_loop") | .calls + .left + .unknown')" 5 20
within 'memcached: probes: locks' "$(calls memcached pthread_mutex_lock)" 30000 40000
compare nginx -- sh "$programs/nginx.sh"
compare lighttpd -- sh "$programs/lighttpd.sh"
compare http -- sh "$programs/http.sh"
compare sqlite -- /usr/bin/python3 "$programs/sqlite.py"
compare postgres -- sh "$programs/postgres.sh"

# Each call of the allocator, jemalloc, as a preloaded library counts them in the same run. The server's process is a shell's child
# at first.
gcc -O1 -D_GNU_SOURCE -shared -fPIC -o counter.so "$ROOT/tests/programs/counter.c" -ldl || exit 1
mkdir alloc && cd alloc || exit 1
served --alloc --env LD_PRELOAD="$work/counter.so" --env requests=200 sh "$programs/redis.sh"
read -r _ server counted <<COUNTED
$(grep '^counter: ' err | sort -k3n | tail -n 1)
COUNTED
ok 'redis: a preloaded library counts allocations' test -n "$counted"
is 'redis: allocations are those that a preloaded library counts' \
    "$("$HR" memory --pid "$server" --by function -n 0 -f json hr.bin | jq -r '.rows | map(select(.object | test("dash|busybox") | not)) |
        "\(map(.count) | add) \(map(.bytes) | add) \(map(.freed) | add)"')" "$counted"
cd ..

# The run repeats to the instruction, although the host takes the trace at other moments.  redis reads its directory,
# which therefore holds equal files each time.
counts() { stat_of hr.bin '[.samples, .duration_ns, .events[0].total] | join(" ")'; }
cd redis || exit 1
first=$(counts)
rm -f ./*
# shellcheck disable=SC2086
served $probes sh "$programs/redis.sh"
is 'redis: again, the same samples, time and instructions' "$(counts)" "$first"
cd ..

# On CPUs of their own.
mkdir cpus
cd cpus || exit 1
served --cpus 2 sh "$programs/redis.sh"
is 'redis on two CPUs: exit status' "$status" 0
is 'redis on two CPUs: replies' "$(cat out)" "$(cat ../redis-native/native)"
cd ..

# A server that would serve forever ends in an orderly way.
mkdir duration
cd duration || exit 1
served --duration 2s "$root/usr/bin/redis-server" --port 26379 --save '' --dir .
is '--duration: the server ends by itself' "$status" 0
like '--duration: it was asked to' out 'Received SIGTERM scheduling shutdown'
cd ..
done_testing
