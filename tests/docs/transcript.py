#!/usr/bin/env python3
"""Runs the commands of a document and looks for the output that it shows.

    transcript.py DOCUMENT

Of each block that begins with ```console, lines after "$ " are commands for bash, run in order in this folder; the
lines below each are what it prints, on either stream. "[...]" stands for lines that are left out. Every shown line must
be in the output, numbers and bars aside: those depend on the compiler and the C library. One line of result a command:
"ok" or "not ok", a tab, the command; then what is wrong with it, behind "# ".
"""
import re
import subprocess
import sys

LIMIT_SECONDS = 120


def commands(text):
    """Commands with the lines shown below each, in order."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif line.strip() not in ("", "[...]"):
                found[-1][1].append(line)
    return found


def blur(line):
    """The line without what may differ between two C libraries: counts, addresses, bars, padding."""
    line = re.sub(r"0x[0-9a-f]+|\b[0-9a-f]{12}\b", "ADDRESS", line)
    line = re.sub(r"[▁▂▃▄▅▆▇█▏▎▍▌▋▊▉]+", "BAR", line)
    line = re.sub(r"[-+]?\d[\d,.]*( ?(ns|us|ms|s|KB|MB|%))?", "N", line)
    line = " ".join(line.split())
    return re.sub(r"\bN( N)+\b", "N", line)  # a column may be empty where a sample fell elsewhere


def run(command):
    """Its status and the lines that it printed on both streams."""
    done = subprocess.run(["bash", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=LIMIT_SECONDS, check=False)
    return done.returncode, done.stdout.decode(errors="replace").splitlines()


def complaints(command, shown):
    """What is wrong with the command or with the lines shown of it."""
    try:
        status, lines = run(command)
    except subprocess.TimeoutExpired:
        return [f"not done within {LIMIT_SECONDS} s"]
    wrong = [f"status {status}"] + lines[:5] if status else []
    printed = {blur(line) for line in lines}
    return wrong + [f"not printed: {line}" for line in shown if blur(line) not in printed]


def main():
    with open(sys.argv[1], encoding="utf-8") as document:
        for command, shown in commands(document.read()):
            wrong = complaints(command, shown)
            print(f"{'not ok' if wrong else 'ok'}\t{command}")
            for line in wrong[:10]:
                print(f"# {line}")


main()
