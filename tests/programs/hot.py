# Three quarters of the loop's turns are in hot(), a quarter in cool(): line numbers matter to a test.
import sys
import zlib


def hot(n):
    total = 0
    for i in range(n):
        total += i * i  # line 9: the hot line
    return total


class Worker:
    def cool(self, n):
        total = 0
        for i in range(n):
            total += i * i  # line 17: the cool line
        return total


def packs(data):
    return zlib.crc32(data)  # line 22: C code


def main(turns):
    worker = Worker()
    for _ in range(turns):
        hot(3000)
        worker.cool(1000)
    print(packs(bytes(1000)))


main(int(sys.argv[1]))
