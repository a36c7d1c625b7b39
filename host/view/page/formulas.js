/* Metrics of the vendors: formulas over what events counted; the categories of top-down analysis as bands. */

/* Like hr's own: what is divided by zero, or computed from no value, has none. */
const OPERATORS = {
  "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => b === 0 ? NaN : a / b,
  min: (a, b) => Math.min(a, b), max: (a, b) => Math.max(a, b),
};

/* The value of a formula in postfix; its depth is bounded by the one who wrote it. */
function formulaValue(list, n, sum, seconds) {
  const stack = [];
  for (const step of list[n].steps) {
    if (typeof step === "number") stack.push(step);
    else if (step === "t") stack.push(seconds);
    else if (step in OPERATORS) { const b = stack.pop(); stack.push(OPERATORS[step](stack.pop(), b)); }
    else stack.push(step[0] === "e" ? sum(Number(step.slice(1))) : formulaValue(list, Number(step.slice(1)), sum, seconds));
  }
  return stack[0];
}

/* One metric for each formula, but for IPC and bandwidth, which the page has anyway. */
function formulaMetrics(facts) {
  const ns = facts.ns_per_tick, all = facts.metrics;
  return all.map((m, n) => ({ id: "formula." + m.name, name: m.name, unit: m.unit, level: m.level, title: m.words, stub: false, ends: null,
    value: (sum, ticks) => formulaValue(all, n, sum, ticks * ns / 1e9) }))
    .filter((m) => m.name !== "IPC" && !(m.unit === "MB/s" && facts.flows.length));
}

const TOPDOWN_HUES = ["b1", "b4", "b0", "b2", "b3"];

/* The categories of level 1 of top-down analysis: shares of the slots of each bin. */
function topdownBands(view) {
  const parts = formulaMetrics(view.facts).filter((m) => m.level === 1);
  if (parts.length < 3) return [];
  const layers = parts.map((m, n) => ({ name: m.name, title: m.title, hue: TOPDOWN_HUES[n % TOPDOWN_HUES.length] }));
  function read(from, to, pixels, cpus) {
    const each = parts.map((m) => binSeries(view, m, cpus, from, to, pixels)), { x, step } = each[0];
    return { start: x.length ? x[0] : from, step, values: each.map((series) => Float64Array.from(series.mean, (v) => Math.max(0, v) / 100)), top: 1, samples: false };
  }
  return [{ id: "bands.topdown", name: "top-down", unit: "of slots", bands: { layers, read, text: formatShare } }];
}
