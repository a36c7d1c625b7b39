# socket, selectors, socketserver, http.server with urllib, asyncio: servers and clients of one process.
import array
import sys

sys.modules["ssl"] = None  # what nothing here uses takes long to load
import asyncio
import errno
import http.server
import os
import selectors
import socket
import socketserver
import tempfile
import threading
import urllib.request


def addresses():
    for name, family in (("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6), ("localhost", socket.AF_INET)):
        found = socket.getaddrinfo(name, 80, family, socket.SOCK_STREAM)
        print(name, [(f.name, t.name, p, a) for f, t, p, _, a in found])
    print(socket.getservbyname("http") if os.path.exists("/etc/services") else 80)
    print(socket.gethostbyname("localhost"))
    try:
        socket.create_connection(("192.0.2.1", 9), 0.01).close()
    except OSError as e:
        pass


def pairs():
    here, there = socket.socketpair()
    with here, there:
        socket.send_fds(here, [b"file"], [there.fileno()])
        data, fds, flags, _ = socket.recv_fds(there, 100, 4)
        print(data, len(fds), flags)
        os.close(fds[0])
        here.settimeout(0.01)
        try:
            here.recv(1)
        except TimeoutError as e:
            print(e)
        print(there.sendmsg([b"a", b"bc"]), here.recv(10))
        print(socket.CMSG_SPACE(array.array("i", [1]).itemsize))


class Upper(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            self.wfile.write(line.upper())


def talk(family, address, path=None):
    kind = socketserver.ThreadingUnixStreamServer if path else socketserver.ThreadingTCPServer
    kind.address_family = family
    with kind(path or address, Upper) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        with socket.socket(family, socket.SOCK_STREAM) as s:
            s.connect(server.server_address)
            with s.makefile("rwb") as f:
                for i in range(10):
                    f.write(b"line %d\n" % i)
                    f.flush()
                    print(f.readline())
        server.shutdown()


def select():
    with selectors.DefaultSelector() as selector:
        listener = socket.create_server(("127.0.0.1", 0))
        listener.setblocking(False)
        selector.register(listener, selectors.EVENT_READ)
        clients = [socket.create_connection(listener.getsockname()) for _ in range(20)]
        for i, c in enumerate(clients):
            c.sendall(b"%d" % i)
        got = []
        while len(got) < 20:
            for key, _ in selector.select():
                if key.fileobj is listener:
                    connection, _ = listener.accept()
                    selector.register(connection, selectors.EVENT_READ)
                else:
                    got.append(int(key.fileobj.recv(100)))
                    selector.unregister(key.fileobj)
                    key.fileobj.close()
        print(sorted(got))
        for c in clients:
            c.close()
        listener.close()


class Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body[::-1])


def fetch():
    with open("large", "wb") as f:
        f.write(bytes(range(256)) * 2048)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        url = "http://localhost:%d/" % server.server_port
        print(len(urllib.request.urlopen(url + "large").read()))
        print(urllib.request.urlopen(url, b"backwards").read())
        try:
            urllib.request.urlopen(url + "absent")
        except urllib.error.HTTPError as e:
            print(e.code)
        server.shutdown()
    try:
        urllib.request.urlopen(url)
    except urllib.error.URLError as e:
        print(e)


async def echo(reader, writer):
    while data := await reader.read(1000):
        writer.write(data)
        await writer.drain()
    writer.close()


async def ask(open_it, i):
    reader, writer = await open_it()
    writer.write(b"x" * i * 1000)
    writer.write_eof()
    data = await reader.read()
    writer.close()
    return len(data)


class Datagrams(asyncio.DatagramProtocol):
    def __init__(self, answers):
        self.answers = answers

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, address):
        if self.answers is None:
            self.transport.sendto(data[::-1], address)
        else:
            self.answers.put_nowait(data)


async def loop():
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    print(await asyncio.gather(*[ask(lambda: asyncio.open_connection("127.0.0.1", port), i) for i in range(1, 20)]))
    server.close()
    server = await asyncio.start_unix_server(echo, "path")
    print(await asyncio.gather(*[ask(lambda: asyncio.open_unix_connection("path"), i) for i in range(1, 20)]))
    server.close()
    running, answers = asyncio.get_running_loop(), asyncio.Queue()
    a, _ = await running.create_datagram_endpoint(lambda: Datagrams(None), ("127.0.0.1", 0))
    b, _ = await running.create_datagram_endpoint(
        lambda: Datagrams(answers), remote_addr=a.get_extra_info("sockname")
    )
    b.sendto(b"datagram")
    print(await answers.get())
    a.close()
    b.close()
    try:
        await asyncio.open_connection("127.0.0.1", port)
    except OSError as e:
        print(errno.errorcode[e.errno])


os.chdir(tempfile.mkdtemp())
addresses()
pairs()
talk(socket.AF_INET, ("127.0.0.1", 0))
talk(socket.AF_INET6, ("::1", 0))
talk(socket.AF_UNIX, None, "talk")
select()
fetch()
asyncio.run(loop())
