/* The rows of the timeline: one uPlot or bands for each metric, or for each metric and CPU. */
const GUTTER = 146; /* px left of every plot: names and scales */
const EDGE = 10; /* px right of it */

/* All rows share the place that style.css gives them, while none becomes too low. */
function rowHeight(metric, all) {
  const weight = (m) => (m.bands && m.bands.tall ? 1.7 : 1), room = Math.max(230, window.innerHeight * 0.42) - 2 - all.length;
  return Math.floor(Math.max(60, Math.min(112 * weight(metric), room * weight(metric) / all.reduce((sum, m) => sum + weight(m), 0))));
}

let measuredWidth = 0; /* of the stage; set when the rows are made */

function stageWidth() {
  return measuredWidth;
}

function makePlot(row, height) {
  const hue = colour("m" + row.hue);
  const series = [
    {},
    { stroke: "transparent", width: 0, points: { show: false } },
    { stroke: "transparent", width: 0, points: { show: false } },
    { stroke: hue, width: 1.25, points: { show: () => row.points, size: 4, fill: hue } },
  ];
  const axis = { stroke: colour("quiet"), grid: { stroke: colour("grid"), width: 1 }, ticks: { show: false }, font: textFont(10.5) };
  const plot = new uPlot({
    width: stageWidth(), height, series,
    padding: [7, EDGE, 6, 0],
    legend: { show: false }, cursor: { show: false },
    scales: { x: { time: false, auto: false }, y: { auto: false } },
    bands: [{ series: [2, 1], fill: hue + "3d" }],
    axes: [
      { ...axis, size: 0, values: () => [], splits: () => rulerTicks().map((t) => t.ns) },
      { ...axis, size: GUTTER, gap: 4, space: 22, values: (u, splits) => splits.map((v) => formatRate(v)), splits: () => verticalTicks(row.top) },
    ],
  }, [[], [], [], []], row.element);
  return plot;
}

/* Zero, and one or two round numbers above it. */
function verticalTicks(top) {
  const power = 10 ** Math.floor(Math.log10(top));
  const step = [0.1, 0.2, 0.25, 0.5, 1, 2, 2.5, 5].map((n) => n * power).find((n) => top / n <= 2.99) || power;
  const ticks = [];
  for (let i = 0; i * step <= top; i++) ticks.push(i * step);
  return ticks;
}

function makeRows(view) {
  const holder = byId("rows");
  const cpus = view.pyramid.cpus.map((c) => c.cpu);
  const shown = state.metrics.map((id) => view.metrics.find((m) => m.id === id)).filter(Boolean);
  const parts = state.split ? cpus.map((cpu) => [cpu]) : [cpus];
  const places = parts.flatMap((part, n) => shown.filter((m) => n === 0 || !(m.bands && m.bands.whole)).map((metric) => ({ metric, part: metric.bands && metric.bands.whole ? cpus : part })));
  holder.replaceChildren();
  measuredWidth = holder.clientWidth;
  view.rows = [];
  for (const { metric, part } of places) {
    const height = rowHeight(metric, places.map((place) => place.metric)), owner = cpus.length < 2 ? "" : part.length > 1 ? `${cpus.length} CPUs` : `CPU ${part[0]}`;
    const row = { metric, cpus: part, top: 1, hue: shown.indexOf(metric) % 6, height, element: element("div", { className: "row" }) };
    row.value = element("div", { className: "value" });
    row.element.append(
      element("div", { className: "name" }, element("b", { textContent: metric.name }),
        element("span", { textContent: metric.unit }),
        element("span", {}, owner + " ", element("i", { textContent: metric.stub ? "stub" : "", className: metric.stub ? "tag stub" : "" }))),
      row.value);
    row.element.style.height = height + "px";
    holder.append(row.element);
    if (metric.bands) makeBandRow(view, row);
    else row.plot = makePlot(row, height);
    view.rows.push(row);
  }
}

/* Draws the rows that can be seen. */
function drawRows(view) {
  const scroller = byId("scroller");
  const top = scroller.scrollTop, bottom = top + scroller.clientHeight, pixels = Math.max(50, stageWidth() - GUTTER - EDGE);
  let end = 0;
  for (const row of view.rows) {
    end += row.height;
    if (end - row.height > bottom || end < top) continue;
    if (row.metric.bands) {
      drawBands(row);
      continue;
    }
    const series = seriesFor(view, row.metric, row.cpus, state.from, state.to, pixels);
    const wide = series.samples || series.step > (state.to - state.from) / pixels * 3;
    const s = row.plot.series;
    const paths = series.samples ? uPlot.paths.stepped({ align: -1 }) : wide ? uPlot.paths.stepped({ align: 1 }) : uPlot.paths.linear();
    s[1].paths = s[2].paths = s[3].paths = paths;
    row.points = series.samples && series.x.length < pixels / 6;
    row.series = series;
    row.top = topOf(series);
    row.plot.batch(() => {
      row.plot.setData([series.x, series.least || series.mean, series.largest || series.mean, series.mean], false);
      row.plot.setScale("x", { min: state.from, max: state.to });
      row.plot.setScale("y", { min: 0, max: row.top });
    });
  }
}

/* The point of a row that holds a time, or null. */
function pointAt(row, ns) {
  const { x, mean, samples, step } = row.series || { x: [] };
  let low = 0, high = x.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (samples ? x[middle] < ns : x[middle] <= ns) low = middle + 1;
    else high = middle;
  }
  const n = samples ? low : low - 1;
  if (n < 0 || n >= x.length || mean[n] === null || (!samples && ns >= x[n] + step)) return null;
  return { mean: mean[n], least: row.series.least && row.series.least[n], largest: row.series.largest && row.series.largest[n] };
}

function showValues(view, ns) {
  for (const row of view.rows) {
    const point = ns === null || row.metric.bands ? null : pointAt(row, ns);
    row.value.textContent = !point ? "" : formatRate(point.mean) +
      (point.least !== null && point.least !== undefined && point.largest !== null && point.least !== point.largest
        ? `  (${formatRate(point.least)} – ${formatRate(point.largest)})` : "");
  }
}
