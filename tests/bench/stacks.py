# A program with deep and varied call stacks: stacks.py ROUNDS.  For the bench of call stacks.
import json
import re
import sys


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


class Item:
    def __init__(self, key):
        self.key = key

    def __lt__(self, other):
        return self.key < other.key


def work():
    rows = [{"a": i, "b": [str(j) for j in range(i % 7)], "c": {"x": i * 1.5}} for i in range(40)]
    text = json.dumps(rows)
    items = sorted(Item((row["a"] * 7919) % 101) for row in json.loads(text))
    return len(items) + len(re.findall(r'"(\w)": (\d+)', text)) + fib(9)


print(sum(work() for _ in range(int(sys.argv[1]))))
