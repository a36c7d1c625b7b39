#!/bin/sh
# Sockets: what calls return is the same natively and in the guest; servers and clients of one process.
. "$(dirname "$0")/../lib.sh"

# alike PROGRAM: with threads, alone on one CPU; on several, later, with the others.
alike() {
    mkdir -p native.dir
    (cd native.dir && timeout -k 5 "$LIMIT" "$WORKLOADS/$1" threads >../native)
    run_guest --accel tcg -q -i 1ms "$WORKLOADS/$1" threads
    is "$1: the program ends well" "$status" 0
    same_file "$1: as natively" out native
    ok "$1: the trace is complete" "$HR" check hr.bin
    echo "t '$1 on several CPUs' $WORKLOADS/$1 threads" >>programs.sh
}

alike io_unix
alike io_rights
alike io_inet
alike io_netlink
alike io_urgent
has_v6=$(grep -c '^00000000000000000000000000000001 ' /proc/net/if_inet6 2>/dev/null)
if [ "$has_v6" = 1 ]; then
    alike io_udp
else
    skip 5 'this machine has no IPv6 loopback to compare with'
fi
mkdir several && cd several || exit 1
together --accel tcg --cpus 3 -- ../programs.sh
cd .. && is 'on several CPUs: they end well' "$(sort -u several/native.d/*.status)" 0

# Amounts: 30,000 sockets and as many datagrams, more than there is memory for; a client that never reads, a port that is taken, all ports taken.
"$WORKLOADS/io_crowd" >native
for cpus in 0 2; do
    run_guest --accel tcg --cpus $cpus --mode off --mem 96M "$WORKLOADS/io_crowd"
    is "--cpus $cpus: too much of everything" "$status: $(cat out)" "0: $(cat native)"
done

# python3, in a directory of its own; its servers and clients are threads.
cp "$ROOT/tests/programs/sockets.py" .
if [ "$has_v6" = 1 ] && /usr/bin/python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
    /usr/bin/python3 -S sockets.py >native
    for cpus in 0 2; do
        run_guest --accel tcg --cpus $cpus --mode off /usr/bin/python3 -S sockets.py
        is "--cpus $cpus: python3's servers and clients" "$status" 0
        same_file "--cpus $cpus: python3: as natively" out native
    done
else
    skip 4 'python3 or an IPv6 loopback is missing'
fi

# Interfaces as programs show them, natively in a network that has a loopback only.
cat >interfaces.sh <<'END'
ip addr; ip -s link; ip -br addr; ip addr show dev lo; ip link show lo; ip route; ip route show table all; ip neigh
ip link set lo down; ip addr add 10.0.0.1/8 dev lo; ip link show nosuch
busybox ip addr; busybox ip link; busybox ip route; busybox ip route show table local
busybox ifconfig; busybox route -n; cat /proc/net/dev /proc/net/if_inet6 /proc/net/route
END
# Sockets as netstat shows them, from /proc/net; counts of users and numbers of files are left out.
cat >shown.py <<'END'
import os, socket, subprocess, time
tcp = socket.create_server(("127.0.0.1", 7001))
client = socket.socket()
client.bind(("127.0.0.1", 7002))
client.connect(("127.0.0.1", 7001))
client.send(b"12345")
half = socket.socket()
half.bind(("127.0.0.1", 7003))
half.connect(("127.0.0.1", 7001))
half.shutdown(socket.SHUT_WR)
tcp6 = socket.create_server(("::1", 7004), family=socket.AF_INET6)
client6 = socket.socket(socket.AF_INET6)
client6.bind(("::1", 7005))
client6.connect(("::1", 7004))
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("0.0.0.0", 7006))
udp6 = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
udp6.bind(("::1", 7007))
udp6.connect(("::1", 7008))
local = socket.socket(socket.AF_UNIX)
local.bind("named")
local.listen()
abstract = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
abstract.bind(b"\0abstract")
pair = socket.socketpair()
held = [socket.SocketKind(s.type).name for s in pair]
print(os.readlink(f"/proc/self/fd/{tcp.fileno()}") == f"socket:[{os.fstat(tcp.fileno()).st_ino}]")
accepted = [tcp.accept(), tcp.accept(), tcp6.accept()]
time.sleep(0.5)  # Linux acknowledges what it received some time later
for command in ("netstat -tuan", "busybox netstat -tuan", "netstat -xa | awk 'NR > 2 {$2 = $NF ~ /^[0-9]+$/ ? $NF = \"\" : \"\"; $(NF-1) = \"\"; print}'"):
    print("\n".join(sorted(subprocess.run(command, shell=True, stdout=subprocess.PIPE, text=True).stdout.splitlines())))
for name in ("tcp", "tcp6", "udp", "udp6", "unix"):
    with open(f"/proc/net/{name}") as f:
        print(f.readline(), sorted(" ".join(l.split()[1:4]) for l in f if name != "unix"))
END
chmod 755 . # for the user of native.sh
cat >native.sh <<'END'
ip link set lo up
exec setpriv --reuid 1000 --regid 1000 --clear-groups sh "$@"
END
if command -v ip >/dev/null && command -v busybox >/dev/null && unshare -n true 2>/dev/null; then
    unshare -n sh native.sh interfaces.sh >native 2>native.err || true
    if [ -s native ]; then
        run_guest --mode off -q sh interfaces.sh
        same_file 'ip and its busybox kind: as natively' out native
        same_file 'and what they refuse' err native.err
    else
        skip 2 'only root makes networks here'
    fi
    if [ -s native ] && command -v netstat >/dev/null && [ -x /usr/bin/python3 ]; then
        mkdir shown && chmod 777 shown
        unshare -n sh native.sh -c 'cd shown && exec /usr/bin/python3 -S ../shown.py' >native 2>&1 || true
        run_guest --mode off -q /usr/bin/python3 -S shown.py
        is 'netstat ends well' "$status: $(cat err)" '0: '
        same_file 'and shows what it shows natively' out native
    else
        skip 2 'netstat or python3 is missing'
    fi
    run_guest --mode off -q --network user sh -c 'ip -br addr; ip route'
    is 'with a network outside there is another interface' "$(tr -s ' ' <out | sed 's/ $//')" \
        'lo UNKNOWN 127.0.0.1/8 ::1/128
eth0 UP 10.0.2.15/24 fd00::a00:20f/64
default via 10.0.2.2 dev eth0
10.0.2.0/24 dev eth0 proto kernel scope link src 10.0.2.15'
else
    skip 3 'ip, busybox or namespaces are missing'
fi

# Addresses elsewhere: there is no network, and hr says so.
if command -v curl >/dev/null; then
    run_guest --mode off "$(command -v curl)" -s http://192.0.2.1/
    is 'curl to another machine: could not connect' "$status" 7
    like 'and hr says why' err '^hr: the program asked for connect [0-9]+ times?: there is no network$'
    run_guest --mode off "$(command -v curl)" -s http://127.0.0.1:9/
    is 'curl to a port without a server: could not connect' "$status" 7
    fails 'which is no matter of the network' grep 'there is no network' err
else
    skip 4 'curl is not installed'
fi
done_testing
