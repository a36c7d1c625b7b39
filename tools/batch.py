#!/usr/bin/env python3
"""Compiles C files by few processes of clang, which takes longer to start than to compile most of them.

Usage: tools/batch.py FOLDER CLANG FLAG... <SOURCES: names of files.  Makes FOLDER/NAME.o and
FOLDER/NAME.d, as make does, for each NAME.c without an object.  Where clang objects to a file, those of
its process are left to make, which compiles each alone and says what is wrong."""
import concurrent.futures
import functools
import pathlib
import re
import shlex
import subprocess
import sys

MOST = 48  # files of a process
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"(.*)"', re.M)


@functools.cache
def headers(path):
    """The headers of ours that a file includes, and those that they include."""
    found = {}
    for name in INCLUDE.findall(path.read_text()):
        for header in (folder / name for folder in include if (folder / name).exists()):
            found[header] = None
            found.update(headers(header))
            break
    return found


def prepare(source):
    """Writes what the object depends on, and lets clang find the source where the object shall be."""
    link = folder / source
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(source.absolute())
    needs = [str(h) for h in headers(source)]
    rule = f"{link.with_suffix('.o')}: {source} {' '.join(needs)}\n"
    link.with_suffix(".d").write_text(rule + "".join(f"{n}:\n" for n in needs))
    return link


def compile_all(links):
    """By one process.  An object that is there is one that clang found nothing wrong with."""
    if subprocess.run([*command, *links], stdin=subprocess.DEVNULL, capture_output=True).returncode != 0:
        for link in links:
            link.with_suffix(".o").unlink(missing_ok=True)
    for link in links:
        link.unlink()


folder = pathlib.Path(sys.argv[1])
flags = [f for f in sys.argv[2:] if not f.startswith("-M")]
include = [pathlib.Path(f[2:]) for f in flags if f.startswith("-I")]
sources = [s for s in map(pathlib.Path, sys.stdin.read().split()) if not (folder / s).with_suffix(".o").exists()]
if not sources:
    sys.exit()
# The command of the compiler proper, which takes many files.  Each is read with no memory of those before it.
show = [*flags, f"-ffile-prefix-map={folder}/=", "-###", "-c", "-o", "-", sources[0]]
shown = subprocess.run(show, capture_output=True, text=True)
command = shlex.split(shown.stderr.splitlines()[-1])[:-1]
for option in "-o", "-main-file-name":
    at = command.index(option)
    del command[at : at + 2]
links = [prepare(s) for s in sources]
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    count = min(MOST, (len(links) + 1) // 2)
    list(pool.map(compile_all, [links[i : i + count] for i in range(0, len(links), count)]))
