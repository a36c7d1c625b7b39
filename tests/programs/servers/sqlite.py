"""sqlite3 behind an AF_UNIX server: one process serves, four processes ask."""
import os
import socket
import sqlite3

PATH = "sqlite.socket"


def serve(listener, clients):
    base = sqlite3.connect(":memory:")
    base.execute("create table words (client integer, word text)")
    for _ in range(clients):
        connection, _address = listener.accept()
        with connection, connection.makefile("rw") as stream:
            for line in stream:
                client, word = line.split()
                base.execute("insert into words values (?, ?)", (int(client), word))
                count = base.execute("select count(*) from words where client = ?", (client,)).fetchone()[0]
                stream.write(f"{count}\n")
                stream.flush()
    for row in base.execute("select client, count(*), min(word), max(word) from words group by client order by client"):
        print(*row)
    print("pages:", base.execute("pragma page_count").fetchone()[0])


def ask(client, words):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(PATH)
        stream = connection.makefile("rw")
        for i in range(words):
            stream.write(f"{client} word{i:04}\n")
            stream.flush()
            assert int(stream.readline()) == i + 1
    os._exit(client)


with socket.socket(socket.AF_UNIX) as listening:
    listening.bind(PATH)
    listening.listen(4)
    children = []
    for number in range(1, 5):
        child = os.fork()
        if child == 0:
            ask(number, 40 * number)
        children.append(child)
    serve(listening, len(children))
for child in children:
    print("client", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
os.unlink(PATH)
