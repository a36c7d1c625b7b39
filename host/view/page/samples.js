/* Single samples, by CPU and in the order of time: all of a small trace, or a window from the server. */
function makeSamples(group, cpuOfGroup, nsPerTick, eventCount) {
  if (!group.facts.complete) return null;
  const time = group.column("time"), owner = group.column("group");
  const byCpu = new Map();
  for (let i = 0; i < time.length; i++) {
    const cpu = cpuOfGroup[owner[i]];
    if (!byCpu.has(cpu)) byCpu.set(cpu, []);
    byCpu.get(cpu).push(i);
  }
  for (const list of byCpu.values()) list.sort((a, b) => time[a] - time[b]);
  const sums = Array.from({ length: eventCount }, (_, e) => group.column("sum." + e));
  return { byCpu, time, sums, nsPerTick, ticks: group.column("ticks"), group: owner, node: group.column("node"),
    cost: group.column("cost"), flags: group.column("flags"), count: time.length,
    from: -Infinity, to: Infinity };
}

/* The first place in a CPU's list whose sample is not before `ns`. */
function lowerSample(samples, list, ns) {
  const tick = ns / samples.nsPerTick;
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (samples.time[list[middle]] < tick) low = middle + 1;
    else high = middle;
  }
  return low;
}

function countSamples(samples, from, to) {
  let count = 0;
  for (const list of samples.byCpu.values())
    count += lowerSample(samples, list, to) - lowerSample(samples, list, from);
  return count;
}
