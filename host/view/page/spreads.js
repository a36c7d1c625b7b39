/* How intervals, costs, lateness and events of single samples spread. */
const SPREAD_WORDS = { interval: "time between samples", cost: "reading of the counters", lateness: "lateness at the grid point" };

function spreadName(view, spread) {
  if (!spread.what.startsWith("event.")) return SPREAD_WORDS[spread.what];
  const event = view.facts.events[Number(spread.what.slice(6))];
  return event.name + " in a sample" + stubMark({ stub: event.source === "stub" });
}

function spreadValue(spread, value) {
  return spread.what.startsWith("event.") ? formatCount(value) : formatTime(value);
}

function drawSpread(view) {
  const spread = view.facts.spreads[Number(byId("spread").value)], holder = byId("spread-plot");
  holder.replaceChildren();
  byId("spread-facts").replaceChildren();
  if (!spread) {
    holder.textContent = "No samples, so nothing to show.";
    return;
  }
  const log = byId("spread-log").checked, counts = spread.counts.slice(1, -1);
  let last = counts.length - 1;
  while (last > 20 && counts[last] === 0) last--;
  const x = counts.slice(0, last + 1).map((_, i) => spread.low + i * spread.step), y = counts.slice(0, last + 1).map((n) => (log && n === 0 ? null : n));
  const most = Math.max(...counts, 1), axis = { stroke: colour("quiet"), ticks: { show: false }, font: textFont(10.5) };
  new uPlot({
    width: holder.clientWidth, height: 190, padding: [8, 12, 0, 0], legend: { show: false }, cursor: { show: false },
    scales: { x: { time: false, range: () => [spread.low - spread.step / 2, spread.low + (last + 1) * spread.step] }, y: log ? { distr: 3, range: () => [0.5, most * 1.5] } : { range: () => [0, most * 1.08] } },
    series: [{}, { fill: colour("m0") + "b0", stroke: colour("m0"), width: 0, points: { show: false }, paths: uPlot.paths.bars({ size: [1, 40], gap: 1, align: 1 }) }],
    axes: [{ ...axis, grid: { show: false }, space: 80, values: (u, splits) => splits.map((v) => (v < 0 ? "" : spreadValue(spread, v))) },
      { ...axis, size: 58, grid: { stroke: colour("grid") }, values: (u, splits) => splits.map((v) => (v !== null && (v === 0 || v >= 1 && Math.log10(v) % 1 === 0 || !log) ? formatRate(v) : "")) }],
  }, [x, y], holder);
  const names = ["p1", "median", "p90", "p99", "p99.9", "largest"];
  byId("spread-facts").append(...spread.percentiles.map((value, i) => element("div", {}, element("dt", { textContent: names[i] }), element("dd", { textContent: spreadValue(spread, value) }))),
    element("div", {}, element("dt", { textContent: "beyond the plot" }), element("dd", { textContent: formatCount(spread.counts[0] + spread.counts[spread.counts.length - 1]) })));
}

function startSpreads(view) {
  const select = byId("spread"), shown = select.value;
  select.replaceChildren(...view.facts.spreads.map((spread, i) => element("option", { value: i, textContent: spreadName(view, spread) })));
  if (shown !== "") select.value = shown;
  select.onchange = byId("spread-log").onchange = () => drawSpread(view);
  drawSpread(view);
}
