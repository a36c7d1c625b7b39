# What a test of Python's profile looks for, in shares that are known: `hot` does three times as much as `Worker.cool`.
import sys
import threading
import zlib


def hot(n):
    total = 0
    for i in range(n):
        total = (total + 7) & 127
        total = (total + 7) & 127  # as much as the line before
    return total


class Worker:
    def cool(self, n):
        total = 0
        for i in range(n):
            total = (total + 7) & 127
            total = (total + 7) & 127
        return total


def packed(data):
    return zlib.crc32(data)  # takes its time in C


def größe(n):
    return sum([i & 1 for i in range(n)])


def made(turn):
    # each is made, used and freed, so the next one may be where it was
    names = {}
    exec(f"def made_{turn}(n):\n    for i in range(n):\n        pass\n", names)
    names[f"made_{turn}"](2000)


def main(turns):
    worker = Worker()
    for turn in range(turns):
        hot(3000)
        worker.cool(1000)
        if turn < 12:
            made(turn)
        (lambda n: größe(n))(500)
    print(packed(bytes(1000000)), hot(10), worker.cool(10))
    other = threading.Thread(target=hot, args=(30000,))
    other.start()
    other.join()


main(int(sys.argv[1]))
