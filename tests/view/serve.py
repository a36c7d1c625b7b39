#!/usr/bin/env python3
"""Asks hr view --serve for what it gives and for what it must refuse; prints the answers as one JSON object.

    serve.py URL
"""
import http.client
import json
import socket
import struct
import sys
import urllib.parse

TIMEOUT = 60


def ask(url, path, method="GET", host=None, body=None, address=None):
    connection = http.client.HTTPConnection(address or url.hostname, url.port, timeout=TIMEOUT)
    headers = {"Host": host} if host else {}
    connection.request(method, path, body=body, headers=headers)
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer.status, data, dict(answer.getheaders())


def column(group, name):
    """The values of one column of a group, as docs/architecture/page.md describes it."""
    size = struct.unpack_from("<I", group)[0]
    facts = json.loads(group[4:4 + size])
    place, count = facts["columns"][name]
    at, value, out = 4 + size + place, 0, []
    for _ in range(count):
        z, shift = 0, 0
        while True:
            byte = group[at]
            at += 1
            z |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        value += (z >> 1) ^ -(z & 1)
        out.append(value)
    return out


def raw(url, data):
    """Sends bytes that are no request; the first line of the answer, if there is one."""
    with socket.create_connection((url.hostname, url.port), timeout=TIMEOUT) as s:
        s.sendall(data)
        s.shutdown(socket.SHUT_WR)
        try:
            return s.recv(4096).split(b"\r\n")[0].decode("latin-1")
        except ConnectionError:
            return ""


def main():
    url = urllib.parse.urlparse(sys.argv[1])
    key = url.path
    page = ask(url, key)
    window = ask(url, key + "samples?from=30000000&to=31000000")[1]
    first = struct.unpack_from("<I", window)[0]
    profile = ask(url, key + "profile?from=30000000&to=31000000")[1]
    seen = {
        "page": page[0], "type": page[2]["Content-Type"], "cache": page[2]["Cache-Control"],
        "starts": page[1][:15].decode(), "samples": len(column(window[4 + first:], "time")),
        "profile": sum(column(profile, "samples")), "bins": sum(column(window[4:4 + first], "0.samples")),
        "rebinding": ask(url, key, host="evil.example")[0], "no port": ask(url, key, host="127.0.0.1")[0],
        "post": ask(url, key, method="POST", body=b"x" * 100000)[0], "put": ask(url, key, method="PUT")[0],
        "no key": ask(url, "/")[0], "wrong key": ask(url, "/" + "0" * 32 + "/")[0],
        "path": ask(url, key + "../../etc/passwd")[0], "nothing": ask(url, key + "samples")[0],
        "words": ask(url, key + "samples?from=a&to=b")[0], "backwards": ask(url, key + "profile?from=9&to=1")[0],
        "negative": ask(url, key + "samples?from=-1&to=1")[0],
        "huge": ask(url, key + "samples?from=0&to=99999999999999999999999")[0],
        "late": ask(url, key + "profile?from=18446744073709551614&to=18446744073709551615")[0],
        "six": 200,
    }
    try:
        seen["six"] = ask(url, key, host=f"[::1]:{url.port}", address="::1")[0]
    except OSError:
        pass  # a machine without IPv6
    for junk in (b"\0" * 5000, b"GET " + b"A" * 200000 + b" HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 50000):
        try:
            raw(url, junk)
        except OSError:
            pass
    idle = [socket.create_connection((url.hostname, url.port), timeout=TIMEOUT) for _ in range(6)]
    seen["beside idle ones"] = ask(url, key)[0]
    for s in idle:
        s.close()
    print(json.dumps(seen))


main()
