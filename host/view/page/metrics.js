/* The rates that a row can show: how they follow from sums, and from the extremes of single samples. */

/* Each metric: value(sum, ticks, samples) from sums over a bin, where sum(event) is what it counted;
 * ends(get) the least and largest of a single sample, or null; sample(increments, ticks) of one. */
function makeMetrics(facts) {
  const base = facts.base, ns = facts.ns_per_tick;
  const names = facts.events.map((event) => event.name.replace(/:u$/, ""));
  const cycles = names.findIndex((name) => /^(cpu[-_])?cycles\b|CPU_CLK_UNHALTED|CYCLES_NOT_IN_HALT/i.test(name));
  const list = [];
  const stub = (...events) => events.some((event) => facts.events[event].source === "stub");
  if (base >= 0 && cycles >= 0)
    list.push({ id: "ipc", name: "IPC", unit: "instr. / cycle", stub: stub(base, cycles),
      value: (sum) => sum(base) / sum(cycles),
      ends: (get) => [flip(get("ratio_max", cycles)), flip(get("ratio_min", cycles))] });
  for (let e = 0; e < names.length; e++)
    if (base >= 0 && e !== base && e !== cycles)
      list.push({ id: "per-base." + e, name: names[e], unit: "/ 1000 instr.", stub: stub(base, e),
        value: (sum) => 1000 * sum(e) / sum(base),
        ends: (get) => [times(get("ratio_min", e), 1000), times(get("ratio_max", e), 1000)] });
  for (let e = 0; e < names.length; e++)
    list.push({ id: "rate." + e, name: names[e], unit: "/ us", stub: stub(e),
      value: (sum, ticks) => 1000 * sum(e) / (ticks * ns),
      ends: (get) => [times(get("rate_min", e), 1000 / ns), times(get("rate_max", e), 1000 / ns)] });
  for (const flow of facts.flows) { /* bytes between CPUs and memory: lines of 64 */
    const all = (sum, events) => events.reduce((total, e) => total + sum(e), 0);
    list.push({ id: "flow." + flow.id, name: flow.name, unit: "MB/s", stub: false, ends: null,
      value: (sum, ticks) => 64000 * Math.max(0, all(sum, flow.plus) - all(sum, flow.minus)) / (ticks * ns) });
  }
  list.push(...formulaMetrics(facts));
  list.push({ id: "interval", name: "interval", unit: "ns a sample", value: (sum, ticks, samples) => ticks * ns / samples, ends: null });
  return list;
}

function flip(value) {
  return 1 / value;
}

function times(value, factor) {
  return value * factor;
}

/* What a reader is told of a metric that a stub counter made up. */
function stubMark(metric) {
  return metric.stub ? " (stub)" : "";
}

/* Two that were measured: ratios before rates, and the time between samples where there is nothing else. */
function metricsAtFirst(list) {
  const measured = list.filter((m) => !m.stub), find = (pattern) => measured.filter((m) => pattern.test(m.id));
  const misses = find(/^per-base/).filter((m) => /miss/i.test(m.name));
  return [...find(/^bands\.topdown/), ...find(/^ipc/), ...misses, ...find(/^rate/), ...find(/^interval/)].slice(0, 2).map((m) => m.id);
}
