/* Of the function that is chosen: the shares of calls by duration, and the calls over time. */
const DOT_REACH = 12; /* pixels from the pointer */

function isWide(least, most) {
  return most > 8 * Math.max(least, 0.5);
}

/* A scale of durations: logarithmic where they differ much. */
function timeScale(least, most) {
  const log = isWide(least, most), low = Math.max(log ? least : Math.min(least, most * 0.98), 0.5);
  const room = log ? 1.25 : 1, gap = log ? 0 : Math.max((most - low) * 0.08, most * 0.01);
  return { distr: log ? 3 : 1, time: false, range: () => [Math.max(low / room - gap, log ? 0.4 : 0), most * room + gap] };
}

/* The lines of a logarithmic axis: decades, and 2 and 5 where it is short. */
function roundSplits(u, axis, min, max) {
  const digits = max / min < 200 ? [1, 2, 5] : [1], splits = [];
  for (let power = Math.floor(Math.log10(min)); 10 ** power <= max; power++)
    splits.push(...digits.map((digit) => Number(`${digit}e${power}`)).filter((v) => v >= min && v <= max));
  return splits;
}

function timeAxis(log, more) {
  return plotAxis({ ...(log ? { splits: roundSplits } : {}), values: (u, splits) => splits.map((v) => (v === null || v < 0 ? "" : formatTime(v))), ...more });
}

function plotAxis(more) {
  return { stroke: colour("quiet"), ticks: { show: false }, font: textFont(10.5), grid: { stroke: colour("grid") }, ...more };
}

/* Shares of calls that take at most so long, or longer. */
function drawShares(view, row) {
  const { calls } = view, holder = byId("calls-shares"), tail = calls.tailShown, least = 1 / Math.max(row.calls, 1);
  const log = isWide(row.quantiles[0], row.longest), x = [], y = [];
  row.quantiles.forEach((ns, i) => {
    const share = tail ? 1 - calls.shares[i] : calls.shares[i];
    x.push(Math.max(ns, 0.5));
    y.push(tail ? (share < least * 0.999 ? least : share) : share);
  });
  holder.replaceChildren();
  const marks = (u) => drawPercentileMarks(u, row);
  calls.shareChart = new uPlot({
    width: holder.clientWidth, height: 210, padding: [16, 26, 0, 0], legend: { show: false }, cursor: { show: false },
    scales: { x: timeScale(row.quantiles[0], row.longest), y: tail ? { distr: 3, range: () => [least / 1.6, 1] } : { range: () => [0, 1] } },
    series: [{}, { stroke: colour("m0"), width: 2, points: { show: false }, paths: uPlot.paths.stepped({ align: 1 }) }],
    axes: [timeAxis(log, { space: 60, size: 26 }),
      plotAxis({ size: 62, ...(tail ? { splits: roundSplits } : {}), values: (u, splits) => splits.map((v) => (v === null ? "" : formatNumber(v * 100, 7) + " %")) })],
    hooks: { draw: [marks] },
  }, [x, y], holder);
  byId("calls-share").setAttribute("aria-pressed", String(!tail));
  byId("calls-tail").setAttribute("aria-pressed", String(tail));
}

function drawPercentileMarks(u, row) {
  const { ctx, bbox } = u, ratio = devicePixelRatio;
  let last = -Infinity;
  ctx.save();
  ctx.font = textFont(10.5 * ratio);
  ctx.textAlign = "center";
  for (const [word, ns] of [["median", row.median], ["p99", row.p99], ["p99.9", row.p999]]) {
    const x = u.valToPos(Math.max(ns, 0.5), "x", true);
    ctx.fillStyle = ctx.strokeStyle = colour("m1");
    ctx.globalAlpha = 0.8;
    ctx.fillRect(x, bbox.top, ratio, bbox.height);
    ctx.globalAlpha = 1;
    if (x - last > 44 * ratio) {
      ctx.fillText(word, x, bbox.top - 4 * ratio);
      last = x;
    }
  }
  ctx.restore();
}

/* Calls over time: those that are kept. */
function drawDots(view, row) {
  const { dots } = view.calls, holder = byId("calls-dots"), count = row.worst + row.sampled;
  const order = Array.from({ length: count }, (_, i) => row.first + i).sort((a, b) => dots.time[a] - dots.time[b]);
  const of = (wanted) => order.map((i) => ((i - row.first < row.worst) === wanted ? Math.max(dots.ns[i], 0.5) : null));
  const least = Math.min(...order.map((i) => dots.ns[i])), log = isWide(least, row.longest);
  const points = (name, size) => ({ width: 0, paths: () => null, points: { show: true, size, fill: colour(name) + "b0", stroke: colour(name), width: 0 } });
  holder.replaceChildren();
  view.calls.dotChart = null;
  if (count === 0) {
    holder.textContent = "The page has no single calls of this function.";
    return;
  }
  const chart = view.calls.dotChart = new uPlot({
    width: holder.clientWidth, height: 210, padding: [16, 26, 0, 0], legend: { show: false }, cursor: { show: false },
    scales: { x: { time: false, range: () => [0, view.end] }, y: timeScale(least, row.longest) },
    series: [{}, points("m0", 5), points("m1", 6)],
    axes: [timeAxis(false, { space: 90, size: 26 }), timeAxis(log, { size: 62 })],
  }, [order.map((i) => dots.time[i]), of(false), of(true)], holder);
  const tip = element("div", { className: "dot-tip", hidden: true });
  chart.over.append(tip);
  chart.over.onpointermove = (event) => showDot(view, row, tip, dotAt(view, row, event));
  chart.over.onpointerleave = () => { tip.hidden = true; };
  chart.over.onclick = (event) => { const dot = dotAt(view, row, event); if (dot >= 0) goToDot(view, dot); };
}

/* The dot nearest to the pointer; -1: none is near. */
function dotAt(view, row, event) {
  const { dots, dotChart: chart } = view.calls, box = chart.over.getBoundingClientRect();
  const x = event.clientX - box.left, y = event.clientY - box.top;
  let best = -1, distance = DOT_REACH;
  for (let i = row.first; i < row.first + row.worst + row.sampled; i++) {
    const away = Math.hypot(chart.valToPos(dots.time[i], "x") - x, chart.valToPos(Math.max(dots.ns[i], 0.5), "y") - y);
    if (away < distance) { distance = away; best = i; }
  }
  return best;
}

function dotWords(view, row, i) {
  const { calls } = view, { dots } = calls, spent = dots.spent.map((column) => column[i]);
  const parts = spentWords(spentParts(calls, { ...row, spent })), who = `thread ${dots.tid[i]}` + (row.requests ? "" : ` on CPU ${dots.cpu[i]}`);
  const value = row.requests ? `request ${formatNumber(dots.value[i], 0)}, ` : "";
  const argument = !row.requests && calls.argumentCount ? `, first argument ${formatNumber(dots.value[i], 0)}` : "";
  return `${value}${formatTime(dots.ns[i])} at ${formatPoint(dots.time[i], Math.max(dots.ns[i] / 10, 1), view.end)}\n${row.requests ? "began in " : ""}${who}${argument}\n${parts}`;
}

function showDot(view, row, tip, dot) {
  const { dots, dotChart: chart } = view.calls;
  tip.hidden = dot < 0;
  chart.over.style.cursor = dot < 0 ? "" : "pointer";
  if (dot < 0) return;
  tip.textContent = dotWords(view, row, dot);
  const x = chart.valToPos(dots.time[dot], "x"), y = chart.valToPos(Math.max(dots.ns[dot], 0.5), "y");
  tip.style.left = Math.max(0, Math.min(x + 10, chart.over.clientWidth - tip.offsetWidth)) + "px";
  tip.style.top = (y > chart.over.clientHeight / 2 ? y - tip.offsetHeight - 8 : y + 10) + "px";
}

/* Shows a call on the timeline. */
function goToDot(view, i) {
  const { dots } = view.calls, from = dots.time[i], to = Math.min(from + dots.ns[i], view.end), room = Math.max((to - from) * 0.3, SPAN_LEAST_NS);
  change({ selection: [from, Math.max(to, from + 1)] });
  setWindow(view, from - room, to + room);
  byId("timeline").scrollIntoView({ block: "nearest" });
}

function drawCallPlots(view) {
  const row = view.calls.chosen, kept = row.worst + row.sampled;
  byId("calls-name").textContent = row.name;
  byId("calls-shown").textContent = row.calls === 0 ? "no call returned"
    : kept === row.calls ? `all ${plural(row.calls, row.requests ? "request" : "call")}; click one to see it on the timeline`
      : `the ${formatCount(row.worst)} longest (orange) and ${formatCount(row.sampled)} others of ${plural(row.calls, row.requests ? "request" : "call")}; click one to see it on the timeline`;
  for (const id of ["calls-shares", "calls-dots"]) byId(id).hidden = row.calls === 0;
  if (row.calls === 0) return;
  drawShares(view, row);
  drawDots(view, row);
}
