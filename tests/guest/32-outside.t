#!/bin/sh
# The outside of sockets: clients of the host drive servers in the guest, and the guest's connections leave.
. "$(dirname "$0")/../lib.sh"
command -v python3 >/dev/null || skip_all 'there is no python3'

# The program: a server for each kind of client, and a client of servers outside.  One run does several, in this order.
cat >program.py <<'END'
import errno, gc, selectors, socket, sys, threading, time, zlib

def say(*words):
    print(*words, flush=True)

def block(n):
    return (b"%063d\n" % n) * 1024

def listen(address="0.0.0.0"):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((address, int(sys.argv[2])))
    s.listen(256)
    say("ready")
    return s

def digest_of(s):
    digest = 0
    while data := s.recv(1 << 16):
        digest = zlib.crc32(data, digest)
    return "%08x" % digest

def upload():
    c, _ = listen("127.0.0.1").accept()
    c.sendall(digest_of(c).encode())
    c.close()

def download():
    c, _ = listen().accept()
    digest = 0
    for n in range(80):
        digest = zlib.crc32(block(n), digest)
        c.sendall(block(n))
    say("%08x" % digest)

def echo():
    c, _ = listen().accept()
    while data := c.recv(1 << 16):
        c.sendall(data)
    c.shutdown(socket.SHUT_WR)
    say(repr(c.recv(1)))

def many():
    s = listen()
    s.setblocking(False)
    sel = selectors.DefaultSelector()
    sel.register(s, selectors.EVENT_READ)
    waiting, served = [], 0
    while served < 200:
        for key, _ in sel.select():
            if key.fileobj is s:
                sel.register(s.accept()[0], selectors.EVENT_READ)
                continue
            data = key.fileobj.recv(100)
            if data:
                waiting.append((key.fileobj, data))
            else:
                sel.unregister(key.fileobj)
                key.fileobj.close()
                served += 1
        if len(waiting) == 200: # all are there at once
            for c, data in waiting:
                c.sendall(b"for " + data)
            waiting = []
    say("served", served)

def deaf():
    s = listen()
    first, _ = s.accept()
    def fill():
        try:
            for n in range(100000):
                first.sendall(block(n))
            say("it took everything")
        except OSError as error:
            say("the deaf client:", errno.errorcode[error.errno] in ("EPIPE", "ECONNRESET"))
    t = threading.Thread(target=fill)
    t.start()
    second, _ = s.accept()
    second.sendall(b"hello")
    second.close()
    t.join()

def vanish():
    c, _ = listen().accept()
    try:
        while c.recv(100):
            pass
        say("an end")
    except ConnectionResetError:
        say("reset")

def closes():
    s = listen()
    c, _ = s.accept()
    c.recv(1)
    c.close() # with data that were not read
    say("closed")

def datagrams():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("0.0.0.0", int(sys.argv[2])))
    say("ready")
    for _ in range(21):
        data, client = s.recvfrom(70000)
        s.sendto(b"echo " + data[:60000], client)
    say("last", len(data))

def names():
    c, client = listen(bound.pop(0)).accept()
    say(client[0], client == c.getpeername(), *c.getsockname())

def none():
    say("ready")
    sys.stdin.read()

def outgoing():
    host, port, refused = sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
    s = socket.create_connection((host, port))
    say(s.getpeername() == (host, port))
    t = threading.Thread(target=lambda: ([s.sendall(block(n)) for n in range(80)], s.shutdown(socket.SHUT_WR)))
    t.start()
    say(digest_of(s))
    t.join()
    try:
        socket.create_connection((host, refused))
    except OSError as error:
        say(errno.errorcode[error.errno])
    s = socket.socket()
    s.setblocking(False)
    say(errno.errorcode[s.connect_ex((host, port))])
    sel = selectors.DefaultSelector()
    sel.register(s, selectors.EVENT_WRITE)
    say(len(sel.select()), s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
    s.close()
    u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    u.connect((host, port))
    answers = []
    for n in range(20):
        u.send(b"%d" % n)
        answers.append(u.recv(100).decode())
    say(*answers)

def unreachable():
    for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM:
        try:
            socket.socket(socket.AF_INET, kind).connect(("10.0.2.2", 9))
        except OSError as error:
            say(errno.errorcode[error.errno])

def ticks(): # time passes for a thread that sleeps while clients come
    s = listen()
    woken = []
    def sleep():
        for _ in range(3):
            time.sleep(0.01)
            woken.append(1)
    threading.Thread(target=sleep).start()
    count = 0
    while count < 3:
        c, _ = s.accept()
        count = len(woken)
        c.sendall(b"%d" % count)
        c.close()

def late():
    c, _ = listen().accept()
    c.sendall(b"x" * 100000)

def input_too():
    s = listen()
    sel = selectors.DefaultSelector()
    sel.register(s, selectors.EVENT_READ)
    sel.register(sys.stdin, selectors.EVENT_READ)
    seen = []
    while len(seen) < 4:
        for key, _ in sel.select():
            if key.fileobj is s:
                c, _ = s.accept()
                c.sendall(b"accepted")
                c.close()
                seen.append("client")
            else:
                seen.append(sys.stdin.readline().strip())
                say("read")
    say(*seen)

def forever():
    listen().accept()

cases, bound = sys.argv[1].split(","), sys.argv[3:4] and sys.argv[3].split(",")
for case in cases:
    globals()[case]()
    gc.collect() # a selector and its sockets refer to each other
    if len(cases) > 1:
        say("end", case)
END

# The outside: starts the program, natively or by hr, waits until it is ready, and is its client or server.
cat >outside.py <<'END'
import errno, os, random, selectors, socket, struct, subprocess, sys, threading, zlib

cases, how, port = sys.argv[1].split(","), sys.argv[2], int(sys.argv[3])
options = sys.argv[4:]

def start(*arguments, **more):
    command = ["python3", "-S", "program.py", *map(str, arguments)]
    if how != "native":
        command = [os.environ["HR"], "run", "-q", "-o", how + ".bin", *options, *command]
    global program
    program = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **more)

def ready():
    line = program.stdout.readline()
    assert line == "ready\n", line

def finish(case): # what the program says until then, each line with the case's name
    for line in iter(program.stdout.readline, "end %s\n" % case):
        assert line, case
        show(line.rstrip("\n"))
    show("end")

def show(*words):
    print(case + ":", *words, flush=True)

def connect():
    return socket.create_connection(("127.0.0.1", port))

def block(n):
    return (b"%063d\n" % n) * 1024

def digest_of(s):
    digest = 0
    while data := s.recv(1 << 16):
        digest = zlib.crc32(data, digest)
    return "%08x" % digest

def reset(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()

def upload():
    s, digest = connect(), 0
    for n in range(80):
        digest = zlib.crc32(block(n), digest)
        s.sendall(block(n))
    s.shutdown(socket.SHUT_WR)
    show(s.recv(100).decode() == "%08x" % digest)

def download():
    show(digest_of(connect()))

def echo():
    s, data = connect(), random.Random(1).randbytes(1000000)
    threading.Thread(target=lambda: (s.sendall(data), s.shutdown(socket.SHUT_WR))).start()
    show(digest_of(s) == "%08x" % zlib.crc32(data))

def many():
    clients = [connect() for _ in range(200)]
    for n, s in enumerate(clients):
        s.sendall(b"%d" % n)
    show(all(s.recv(100) == b"for %d" % n for n, s in enumerate(clients)))
    for s in clients:
        s.close()

def deaf():
    first = connect()
    second = connect()
    show(second.recv(100), second.recv(100))
    first.close()

def vanish():
    s = connect()
    s.sendall(b"x")
    reset(s)

def closes():
    s = connect()
    s.sendall(b"x" * 10)
    try:
        show(s.recv(10))
    except ConnectionResetError:
        show("the client is reset")

def datagrams():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.connect(("127.0.0.1", port))
    other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    other.connect(("127.0.0.1", port))
    for n in range(10):
        s.send(b"%d" % n)
        other.send(b"other %d" % n)
        show(s.recv(100).decode(), other.recv(100).decode())
    s.send(b"x" * 60000)
    show(len(s.recv(70000)))

def ticks():
    while (answer := connect().recv(10)) != b"3":
        pass
    show(answer)

def late(): # what a program that has ended sent
    global late_reader
    late_reader = connect()

def input_too():
    for n in range(2):
        show(connect().recv(100).decode())
        program.stdin.write("line %d\n" % n)
        program.stdin.flush()
        show(program.stdout.readline().rstrip("\n"))

def serve():
    s = socket.create_server(("127.0.0.1", 0), backlog=10)
    u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    u.bind(s.getsockname())
    closed = socket.socket() # bound and not listening: refuses
    closed.bind(("127.0.0.1", 0))
    def datagrams():
        while True:
            data, client = u.recvfrom(1000)
            u.sendto(b"re" + data, client)
    def streams():
        while True:
            c, _ = s.accept()
            try:
                while data := c.recv(1 << 16):
                    c.sendall(data)
                c.close()
            except OSError:
                pass
    for f in datagrams, streams:
        threading.Thread(target=f, daemon=True).start()
    global outer # it stays
    outer = s, u, closed
    return "127.0.0.1" if how == "native" else "10.0.2.2", s.getsockname()[1], closed.getsockname()[1]

start(",".join(cases), port, *serve(), stdin=subprocess.PIPE)
for case in cases:
    if case != "outgoing":
        ready()
        globals()[case]()
    finish(case)
print("status", program.wait())
show(digest_of(late_reader))
END

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')

# outside HOW [OPTION...]: all cases natively or by hr; their results are in the file HOW.
cases='upload download echo many deaf vanish closes datagrams ticks input_too outgoing late'
outside() {
    how=$1
    shift
    timeout -k 10 "$LIMIT" python3 outside.py "$(echo "$cases" | tr ' ' ,)" "$how" "$port" --accel tcg "$@" >"$how" 2>err </dev/null ||
        show_errors
}

outside native
like 'natively the program ends' native '^status 0$'
for cpus in 0 2; do
    outside guest --cpus "$cpus" -i 1ms --network user --publish "$port:$port" --publish "$port:$port/udp"
    for case in $cases; do
        like "$case: natively it ends" native "^$case: end\$"
        is "$case, --cpus $cpus: as natively" "$(grep "^$case: " guest)" "$(grep "^$case: " native)"
    done
    is "--cpus $cpus: the program ends" "$(grep '^status' guest)" 'status 0'
    ok "--cpus $cpus: the trace is right" "$HR" check guest.bin
done

# What the program sees of a client, of a client of a port without a listener, and of the outside.  Port 0 is one that the
# system chooses.
mkfifo fifo input
timeout -k 5 "$LIMIT" "$HR" run -q --accel tcg --publish "$port:80" --publish 127.0.0.1:0:81 python3 -S program.py \
    names,names,names,none,unreachable,forever 80 0.0.0.0,127.0.0.1,10.0.2.15 <input >fifo 2>err &
pid=$!
exec 4>input 3<fifo
# says COUNT: the next lines of the program, but for the ends of its cases.
says() {
    for _ in $(seq "$1"); do
        read -r line <&3
        case $line in end*) read -r line <&3 ;; esac
        echo "$line"
    done | paste -sd' '
}
for bound in 0.0.0.0 127.0.0.1 10.0.2.15; do
    is "bound to $bound: ready" "$(says 1)" ready
    python3 -c 'import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])))' "$port"
    own=$bound
    [ $bound != 0.0.0.0 ] || own=10.0.2.15
    is "bound to $bound: the client's address, and the server's" "$(says 1)" "10.0.2.2 True $own 80"
done
is 'nobody listens: ready' "$(says 1)" ready
chosen=$(sed -n 's/^hr: published: port \([0-9]*\) of 127.0.0.1 is port 81 of the program$/\1/p' err)
is 'port 0: a client of the port that was printed, without a listener' \
    "$(python3 -c 'import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
try:
    print(s.recv(1))
except ConnectionResetError:
    print("reset")' "$chosen")" reset
exec 4>&-
is 'a published port lets nothing out' "$(says 2)" 'ENETUNREACH ENETUNREACH'
is 'a server that nobody comes to' "$(says 1)" ready
kill -INT "$(ps -o pid= --ppid $pid)"
status=0
wait $pid || status=$?
exec 3<&-
is 'SIGINT ends an idle server' "$status" 130
ok 'SIGINT ends an idle server: the trace is right' "$HR" check hr.bin

# Without the options there is no outside.
cat >unreachable.py <<'END'
import errno, _socket
for kind in _socket.SOCK_STREAM, _socket.SOCK_DGRAM:
    try:
        _socket.socket(_socket.AF_INET, kind).connect(("10.0.2.2", 9))
    except OSError as error:
        print(errno.errorcode[error.errno])
END
run_hr run -q --accel tcg python3 -I -S unreachable.py
is 'no network: connect fails at once' "$(tr '\n' ' ' <out)" 'ENETUNREACH ENETUNREACH '

# A port that is taken.
python3 -c 'import socket, sys; s = socket.create_server(("127.0.0.1", int(sys.argv[1]))); print(flush=True); sys.stdin.read()' \
    "$port" <input >fifo &
exec 4>input 3<fifo
read -r line <&3
run_hr run --accel tcg --publish "$port:80" python3 program.py forever 80
is 'a taken port: status' "$status" 125
is 'a taken port: one line' "$(cat err)" "hr: --publish: port $port of 127.0.0.1: Address already in use"
exec 4>&- 3<&-
wait $!

# A server that nobody comes to.
for cpus in 0 1; do
    run_hr run -q --accel tcg --cpus $cpus --duration 300ms --publish "$port:80" busybox nc -l -p 80
    is "--cpus $cpus: --duration ends an idle server" "$status" 143
done
done_testing
