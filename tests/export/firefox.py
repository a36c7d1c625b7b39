"""Checks a profile for the Firefox Profiler: columns are as long as their tables say, every index is
in range, callers come before what they call.  Prints what it saw, a line a fact; what is wrong
begins with "bad".
"""
import collections
import json
import sys

profile = json.load(open(sys.argv[1], encoding="utf-8"))
facts = collections.Counter()


def check(good, what):
    if not good:
        facts["bad " + what] += 1


def columns(table, name):
    for column, values in table.items():
        if isinstance(values, list):
            check(len(values) == table["length"], f"{name}.{column} length")


def indices(values, limit, what, *others):
    check(all(v in others or (type(v) is int and 0 <= v < limit) for v in values), what)


meta = profile["meta"]
check(meta["preprocessedProfileVersion"] == 48, "version")
check(any(c["color"] == "grey" for c in meta["categories"]), "default category")
schemas = {schema["name"] for schema in meta["markerSchema"]}
facts["libs"] = len(profile["libs"])
for thread in profile["threads"]:
    tables = ["samples", "markers", "stackTable", "frameTable", "funcTable", "resourceTable", "nativeSymbols"]
    for name in tables:
        columns(thread[name], name)
    samples, markers, stacks, frames, funcs, resources, _ = (thread[name] for name in tables)
    strings, categories = thread["stringArray"], len(meta["categories"])
    indices(samples["stack"], stacks["length"], "sample.stack", None)
    indices(stacks["frame"], frames["length"], "stack.frame")
    indices(stacks["category"], categories, "stack.category")
    indices(frames["category"], categories, "frame.category")
    indices(frames["func"], funcs["length"], "frame.func")
    indices(funcs["name"], len(strings), "func.name")
    indices(funcs["resource"], resources["length"], "func.resource", -1)
    indices(resources["lib"], len(profile["libs"]), "resource.lib")
    indices(resources["name"], len(strings), "resource.name")
    indices(markers["name"], len(strings), "marker.name")
    check(all(p is None or 0 <= p < i for i, p in enumerate(stacks["prefix"])), "stack.prefix")
    check(samples["time"] == sorted(samples["time"]), "time order")
    check(all(d["type"] in schemas for d in markers["data"]), "marker schema")
    check(type(thread["pid"]) is str, "pid")
    for begin, end, phase in zip(markers["startTime"], markers["endTime"], markers["phase"]):
        check(phase == 0 and end is None or phase == 1 and end >= begin, "marker times")
    paths = []
    for prefix, frame in zip(stacks["prefix"], stacks["frame"]):
        name = strings[funcs["name"][frames["func"][frame]]]
        paths.append((paths[prefix] + ";" if prefix is not None else "") + name)
    for stack in samples["stack"]:
        facts["stack " + paths[stack].replace(" ", "_")] += 1
        facts["function " + paths[stack].rsplit(";", 1)[-1]] += 1
    for name, data in zip(markers["name"], markers["data"]):
        facts[f"marker {data['type']} {strings[name]}"] += 1
    facts[f"thread {thread['tid']}"] += samples["length"]
    facts["samples"] += samples["length"]
for fact, count in facts.items():
    print(fact, count)
