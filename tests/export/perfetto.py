"""Reads what `protoc --decode` made of a Perfetto trace from standard input, and checks it as its
reader would: every reference has its target in an earlier packet, slices nest.  Prints what it saw,
a line a fact; what is wrong begins with "bad".
"""
import ast
import collections
import sys


def parse(lines):
    """A message of protobuf's text format: field -> list of values."""
    message = collections.defaultdict(list)
    for line in lines:
        line = line.strip()
        if line == "}":
            break
        if line.endswith(" {"):
            message[line[:-2]].append(parse(lines))
            continue
        field, value = line.split(": ", 1)
        if value.isdigit():
            value = int(value)
        elif value[0] in '"0123456789':
            value = ast.literal_eval(value)
        message[field].append(value)
    return message


class Checker:
    def __init__(self):
        self.interned = collections.defaultdict(dict)
        self.tracks = {}
        self.open = collections.Counter()
        self.facts = collections.Counter()
        self.begun = {}
        self.area = collections.Counter()
        self.last = {}
        self.slices = collections.defaultdict(list)
        self.flows = collections.defaultdict(list)

    def bad(self, what):
        self.facts["bad " + what] += 1

    def need(self, table, iid):
        if iid not in self.interned[table]:
            self.bad("reference to " + table)
        return self.interned[table].get(iid)

    def intern(self, data):
        for table, entries in data.items():
            for entry in entries:
                if entry["iid"][0] in self.interned[table]:
                    self.bad("entry twice in " + table)
                self.interned[table][entry["iid"][0]] = entry
        for mapping in data["mappings"]:
            self.need("mapping_paths", mapping["path_string_ids"][0])
            self.need("build_ids", mapping["build_id"][0])
        for frame in data["frames"]:
            self.need("function_names", frame["function_name_id"][0])
            self.need("mappings", frame["mapping_id"][0])
        for stack in data["callstacks"]:
            for frame in stack["frame_ids"]:
                self.need("frames", frame)

    def event(self, event, time):
        kind, uuid = event["type"][0], event["track_uuid"][0]
        track = self.tracks.get(uuid)
        if track is None:
            return self.bad("event on no track")
        name = "?"
        if event["name_iid"]:
            name = self.need("event_names", event["name_iid"][0])["name"][0]
        arguments = {}
        for argument in event["debug_annotations"]:
            key = self.need("debug_annotation_names", argument["name_iid"][0])["name"][0]
            arguments[key] = (argument["string_value"] + argument["uint_value"])[0]
        if kind.startswith("TYPE_SLICE"):
            self.slices[uuid].append((time, kind, name, arguments))
        for flow in event["flow_ids"]:
            self.flows[flow].append((time, track, name, False))
        for flow in event["terminating_flow_ids"]:
            self.flows[flow].append((time, track, name, True))
        if kind == "TYPE_SLICE_BEGIN":
            self.open[uuid] += 1
            self.begun[uuid] = time
            self.facts[f"slice {track}: {name}"] += 1
        elif kind == "TYPE_SLICE_END":
            self.open[uuid] -= 1
            if self.open[uuid] < 0 or time < self.begun[uuid]:
                self.bad("nesting on " + track)
        elif kind == "TYPE_INSTANT":
            self.facts[f"instant {track}: {name}"] += 1
        else:  # a counter: its value holds until the next one
            if uuid in self.last:
                before, value = self.last[uuid]
                self.area[track] += value * (time - before) / 1000
            self.last[uuid] = (time, event["double_counter_value"][0])

    def nest(self):
        """Slices as the reader puts them together: by time, then in the order of the file."""
        for uuid, events in self.slices.items():
            open_ones = []
            for time, kind, name, arguments in sorted(events, key=lambda event: event[0]):
                if kind == "TYPE_SLICE_BEGIN":
                    open_ones.append((name, time, arguments))
                elif not open_ones:
                    self.bad("end without a slice on " + self.tracks[uuid])
                else:
                    name, begun, first = open_ones.pop()
                    words = " ".join(f"{key}={value}" for key, value in {**first, **arguments}.items())
                    print(f"span {self.tracks[uuid]}: {name} from {begun} took {time - begun} depth {len(open_ones)} {words}".rstrip())
        for events in self.flows.values():
            print("flow " + " -> ".join(f"{track}: {name} at {time}" for time, track, name, _ in sorted(events)))
            if any(end for *_, end in sorted(events)[:-1]):
                self.bad("flow that ends early")

    def sample(self, sample):
        stack = self.need("callstacks", sample["callstack_iid"][0])
        names = []
        for iid in stack["frame_ids"]:
            frame = self.interned["frames"][iid]
            names.append(self.interned["function_names"][frame["function_name_id"][0]]["str"][0])
        self.facts["samples"] += 1
        self.facts[f"thread {sample['tid'][0]} {sample['cpu_mode'][0]}"] += 1
        self.facts["stack " + ";".join(names).replace(" ", "_")] += 1
        self.facts["function " + names[-1]] += 1

    def packet(self, packet, first):
        if packet["trusted_packet_sequence_id"] != [1] or packet["sequence_flags"] != [3 if first else 2]:
            self.bad("sequence")
        for data in packet["interned_data"]:
            self.intern(data)
        for track in packet["track_descriptor"]:
            parent = track["parent_uuid"]
            if track["uuid"][0] in self.tracks or (parent and parent[0] not in self.tracks):
                self.bad("track")
            self.tracks[track["uuid"][0]] = track["name"][0]
        for event in packet["track_event"]:
            self.event(event, packet["timestamp"][0])
        for sample in packet["perf_sample"]:
            self.sample(sample)


def main():
    checker = Checker()
    packets = parse(iter(sys.stdin))["packet"]
    for i, packet in enumerate(packets):
        if any(name.isdigit() for name in packet):
            checker.bad("field")
        checker.packet(packet, i == 0)
    for uuid, count in checker.open.items():
        if count:
            checker.bad("open slice on " + checker.tracks[uuid])
    if len(packets) < 100000:
        checker.nest()
    for track in checker.tracks.values():
        print("track", track)
    for track, area in checker.area.items():
        print(f"sum {track}: {area:.0f}")
    for fact, count in checker.facts.items():
        print(fact, count)


main()
