#!/usr/bin/env python3
"""Writes C files that include sources, as many together as define no name twice: a header is read once for all of them.

Usage: tools/groups.py FOLDER <SOURCES >GROUPS: names of files, a line each.  Where the sources of a group cannot stand
together after all, a compiler says so, and they are to be looked at one by one."""
import functools
import pathlib
import re
import sys

MOST = 24  # sources in a group
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|.)*", re.M)
INCLUDE = re.compile(r'^#include "(.*)"', re.M)
KERNEL = re.compile(r"^#include <linux/(?:time|timex|resource)\.h>", re.M)  # has structures of the C library's
LIBRARY = {"accept", "bind", "memory_order", "option", "send", "stat"}  # names that some sources define, and headers of the system
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
NAME = r"[^;{}()=\[]*?(?:__attribute__\(\(.*?\)\)\s*)?(\w+)\s*[(\[=;]"
GLOBAL = re.compile(r"^(?!_Static_assert|asm)[a-z_]" + NAME, re.M)
STATIC = re.compile(r"^static" + NAME, re.M)
TAG = re.compile(r"^(?:static |const )*(?:struct|enum|union)\s+(\w+)\s*\{", re.M)
ENUM = re.compile(r"^(?:static |const )*enum\s*\w*\s*\{(.*?)\}", re.M | re.S)
ENUMERATOR = re.compile(r"(\w+)\s*(?:=[^,]*)?(?:,|$)")


class File:
    def __init__(self, path):
        self.path = path
        text = COMMENT.sub("", pathlib.Path(path).read_text())
        headers = [header(p) for p in INCLUDE.findall(text) if pathlib.Path(p).exists()]
        kernel = bool(KERNEL.search(text)) or any("kernel" in h.kind for h in headers)
        self.macros = sorted(set(MACRO.findall(text)))
        text = DIRECTIVE.sub("", text)
        self.private = {*STATIC.findall(text), *TAG.findall(text)}
        for body in ENUM.findall(text):
            self.private.update(ENUMERATOR.findall(body.strip()))
        self.own = self.private.union(GLOBAL.findall(text))
        self.seen = set().union(*(h.own | h.seen for h in headers))  # what its headers declare
        self.kind = (self.private | self.seen) & LIBRARY | ({"kernel"} if kernel else set())


header = functools.cache(File)


class Group:
    def __init__(self, kind):
        self.kind, self.files, self.private, self.own, self.seen = kind, [], set(), set(), set()

    def has_room(self, file):
        return (len(self.files) < MOST and self.kind == file.kind and not self.own & file.own
                and not self.private & file.seen and not self.seen & file.private)

    def add(self, file):
        self.files.append(file)
        self.private |= file.private
        self.own |= file.own
        self.seen |= file.seen


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
groups = []
for file in map(File, sys.stdin.read().split()):
    group = next((g for g in groups if g.has_room(file)), None)
    if group is None:
        group = Group(file.kind)
        groups.append(group)
    group.add(file)
for number, group in enumerate(groups):
    path = folder / f"{number}.c"
    path.write_text("".join(f'#include "{file.path}" // NOLINT\n' + "".join(f"#undef {m}\n" for m in file.macros)
                            for file in group.files))
    print(path)
