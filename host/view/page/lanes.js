/* Lanes below the rows: who ran where, gaps, system calls, output, losses and marks. */
const LANE_HEIGHT = 17;
const THREAD_LANES_MAX = 64;
const GAP_WORDS = ["", "asleep", "waiting for input", "waiting for its output to be taken", "waiting for another thread"];
const SWITCH_WORDS = ["went on", "started", "ended", "had to wait", "its time slice ended", "was woken", "yielded"];

/* Spans in the order of their starts, and up to where those so far reach. */
function sortSpans(spans, picked) {
  const take = (column) => Float64Array.from(picked, (i) => column[i]);
  const out = { ...spans, first: take(spans.first), last: take(spans.last), value: take(spans.value), group: take(spans.group), reach: new Float64Array(picked.length) };
  let reach = 0;
  for (let n = 0; n < picked.length; n++) out.reach[n] = reach = Math.max(reach, out.last[n]);
  return out;
}

function readSpans(group, name, nsPerTick) {
  const first = group.column(name + ".first").map((tick) => tick * nsPerTick), length = group.column(name + ".length");
  const spans = { ...group.facts[name], name, first, last: first.map((ns, n) => ns + length[n] * nsPerTick),
    value: group.column(name + ".value"), group: group.column(name + ".group") };
  return sortSpans(spans, Array.from(first.keys()).sort((a, b) => first[a] - first[b]));
}

/* The runs of each thread. */
function runsByThread(runs, groups) {
  const picked = new Map();
  for (let n = 0; n < runs.first.length; n++) {
    const tid = groups[runs.group[n]][1];
    if (!picked.has(tid)) picked.set(tid, []);
    picked.get(tid).push(n);
  }
  return new Map([...picked].map(([tid, list]) => [tid, sortSpans(runs, list)]));
}

/* Threads by the time that they ran, and the lanes of what else there is. */
function makeLanes(group, nsPerTick) {
  const lanes = { groups: group.facts.groups, cellNs: group.facts.cell_ticks * nsPerTick, cells: group.column("run_cells"),
    callCells: readCells(group, "call_cells", nsPerTick), marks: group.facts.marks.map(([tick, cpu, tid, text]) => ({ ns: tick * nsPerTick, cpu, tid, text })),
    markCount: group.facts.mark_count, callNames: group.facts.call_names };
  for (const name of ["runs", "gaps", "lost", "calls", "outputs"]) lanes[name] = readSpans(group, name, nsPerTick);
  lanes.threadRuns = runsByThread(lanes.runs, lanes.groups);
  lanes.marks.sort((a, b) => a.ns - b.ns);
  const ran = new Map();
  lanes.groups.forEach(([, tid], g) => {
    let sum = 0;
    for (let i = 0; i < CELLS; i++) sum += lanes.cells[g * CELLS + i];
    if (sum > 0) ran.set(tid, (ran.get(tid) || 0) + sum * lanes.cellNs / 255);
  });
  const processOf = new Map(lanes.groups.map(([, tid, process]) => [tid, process]));
  lanes.threads = [...ran].map(([tid, ns]) => ({ tid, ns, process: processOf.get(tid) })).sort((a, b) => a.process - b.process || a.tid - b.tid);
  lanes.processes = readProcesses(group.facts.processes, nsPerTick);
  lanes.list = [];
  if (lanes.markCount) lanes.list.push({ kind: "marks", name: "marks" });
  if (lanes.lost.seen) lanes.list.push({ kind: "lost", name: "lost samples" });
  if (lanes.gaps.seen) lanes.list.push({ kind: "gaps", name: "not running" });
  if (lanes.calls.seen) lanes.list.push({ kind: "calls", name: "system calls" });
  if (lanes.outputs.seen) lanes.list.push({ kind: "outputs", name: "output" });
  lanes.list.push(...threadLanes(lanes));
  return lanes;
}

function readProcesses(processes, nsPerTick) {
  return processes.map((p) => ({ ...p, start: p.start * nsPerTick, end: p.end === null ? null : p.end * nsPerTick,
    names: p.names.map(([tick, name]) => ({ ns: tick * nsPerTick, name })) }));
}

/* Threads below the process that they are of, if there are several. */
function threadLanes(lanes) {
  const list = [];
  let last = -1;
  for (const { tid, process } of lanes.threads.slice(0, THREAD_LANES_MAX)) {
    const of = lanes.processes[process];
    if (of && process !== last) list.push({ kind: "process", process: of, name: `${of.name} ${of.pid}` });
    last = process;
    list.push({ kind: "thread", tid, name: (of ? "   " : "") + "thread " + tid });
  }
  return list;
}

function lowerPlace(array, value) {
  let low = 0, high = array.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (array[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* Calls use(n) for the spans that touch the window. */
function eachSpan(spans, from, to, use) {
  for (let n = lowerPlace(spans.reach, from); n < spans.first.length && spans.first[n] <= to; n++)
    if (spans.last[n] >= from) use(n);
}

function drawSpan(context, first, last, y, height) {
  const a = Math.max(toPixel(first), GUTTER), b = Math.min(toPixel(last), GUTTER + plotWidth());
  if (b >= GUTTER && a <= GUTTER + plotWidth()) context.fillRect(a, y, Math.max(b - a, 1), height);
}

/* Draws the spans of the window; of those within a pixel that is drawn already, none. */
function drawSpans(context, spans, y, colourOf) {
  let drawn = -Infinity;
  eachSpan(spans, state.from, state.to, (n) => {
    const end = toPixel(spans.last[n]);
    if (end < drawn) return;
    context.fillStyle = colourOf(n);
    drawSpan(context, spans.first[n], spans.last[n], y, LANE_HEIGHT - 5);
    drawn = Math.max(end, toPixel(spans.first[n]) + 1);
  });
}

function cpuColour(view, cpu) {
  const n = view.pyramid.cpus.findIndex((c) => c.cpu === cpu);
  return colour("m" + (n < 0 ? 0 : n % 6));
}

/* Where short runs are not kept one by one, cells say how much of each a thread ran. */
function drawCells(context, view, lane, y) {
  const { lanes } = view;
  const first = Math.max(0, Math.floor(state.from / lanes.cellNs)), last = Math.min(CELLS - 1, Math.ceil(state.to / lanes.cellNs));
  lanes.groups.forEach(([cpu, tid], g) => {
    if (tid !== lane.tid) return;
    context.fillStyle = cpuColour(view, cpu);
    for (let i = first; i <= last; i++) {
      const share = lanes.cells[g * CELLS + i] / 255;
      if (share === 0) continue;
      context.globalAlpha = 0.85;
      drawSpan(context, i * lanes.cellNs, (i + 1) * lanes.cellNs, y + (LANE_HEIGHT - 5) * (1 - Math.min(1, share)), (LANE_HEIGHT - 5) * Math.min(1, share));
    }
  });
  context.globalAlpha = 1;
}

function drawThread(context, view, lane, y) {
  const { runs, groups, threadRuns } = view.lanes;
  if (runs.least > (state.to - state.from) / plotWidth()) return drawCells(context, view, lane, y);
  const own = threadRuns.get(lane.tid);
  if (own) drawSpans(context, own, y, (n) => cpuColour(view, groups[own.group[n]][0]));
}

function drawCalls(context, view, y) {
  const { calls, callCells } = view.lanes;
  context.fillStyle = colour("m5");
  if (calls.least > (state.to - state.from) / plotWidth()) {
    const counts = Array.from({ length: CELLS }, (_, i) => callCells.kinds.reduce((sum, kind) => sum + kind.counts[i], 0)), most = Math.max(1, ...counts);
    counts.forEach((count, i) => {
      const height = (LANE_HEIGHT - 5) * count / most;
      if (count) drawSpan(context, i * callCells.ns, (i + 1) * callCells.ns, y + LANE_HEIGHT - 5 - height, height);
    });
    return;
  }
  drawSpans(context, calls, y, () => colour("m5"));
}

function drawMarks(context, view, y) {
  let free = GUTTER;
  context.font = textFont(11);
  for (const mark of view.lanes.marks) {
    const x = toPixel(mark.ns);
    if (x < GUTTER || x > GUTTER + plotWidth()) continue;
    context.fillStyle = colour("m3");
    context.fillRect(x - 0.75, y - 2, 1.5, LANE_HEIGHT);
    const width = context.measureText(mark.text).width;
    if (x + 3 < free || x + 5 + Math.min(width, 60) > GUTTER + plotWidth()) continue;
    const text = width <= 160 ? mark.text : mark.text.slice(0, 22) + "…";
    context.fillStyle = colour("text");
    context.fillText(text, x + 4, y + LANE_HEIGHT / 2 - 2);
    free = x + 10 + context.measureText(text).width;
  }
}

/* A process's life as a bar, with the programs that it ran one after the other, and how it ended. */
function drawProcess(context, view, { process }, y) {
  const end = process.end === null ? view.end : process.end, height = LANE_HEIGHT - 5;
  const runs = process.names.map((run, n) => ({ from: run.ns, name: run.name, to: n + 1 < process.names.length ? process.names[n + 1].ns : end }));
  context.fillStyle = colour("process");
  drawSpan(context, process.start, end, y, height);
  context.font = textFont(11);
  for (const { from, to, name } of runs) {
    const x = Math.max(toPixel(from), GUTTER), room = Math.min(toPixel(to), GUTTER + plotWidth()) - x;
    context.fillStyle = colour("m3");
    if (toPixel(from) >= GUTTER && toPixel(from) <= GUTTER + plotWidth()) context.fillRect(x - 0.75, y - 2, 1.5, LANE_HEIGHT - 1);
    context.fillStyle = colour("text");
    if (context.measureText(name).width + 8 < room) context.fillText(name, x + 4, y + LANE_HEIGHT / 2 - 2);
  }
  if (process.end === null || !failed(process) || toPixel(end) < GUTTER || toPixel(end) > GUTTER + plotWidth()) return;
  context.fillStyle = colour("bad");
  context.fillRect(toPixel(end) - 3, y, 3, height);
  const width = context.measureText(process.ending).width, last = runs.length ? runs[runs.length - 1] : { from: process.start, name: "" };
  if (toPixel(end) - Math.max(toPixel(last.from), GUTTER) > context.measureText(last.name).width + width + 20)
    context.fillText(process.ending, toPixel(end) - width - 7, y + LANE_HEIGHT / 2 - 2);
}

/* Whether it ended otherwise than by exit 0. */
function failed(process) {
  return process.ending !== null && process.ending !== "exit 0";
}

function drawLane(context, view, lane, y) {
  const { gaps, lost, outputs } = view.lanes;
  if (lane.kind === "thread") drawThread(context, view, lane, y);
  else if (lane.kind === "process") drawProcess(context, view, lane, y);
  else if (lane.kind === "calls") drawCalls(context, view, y);
  else if (lane.kind === "marks") drawMarks(context, view, y);
  else {
    const spans = { gaps, lost, outputs }[lane.kind];
    const hue = (n) => (lane.kind === "lost" ? "bad" : lane.kind === "outputs" ? "m4" : "m" + [4, 1, 3, 5, 2][spans.value[n] % 5]);
    drawSpans(context, spans, y, (n) => colour(hue(n)));
  }
}

/* A process's number is at the end: its name is cut. */
function fitText(context, text, room) {
  const cut = text.lastIndexOf(" ");
  let name = text.slice(0, Math.max(cut, 0));
  if (context.measureText(text).width <= room) return text;
  while (name && context.measureText(name + "…" + text.slice(cut)).width > room) name = name.slice(0, -1);
  return name + "…" + text.slice(cut);
}

function drawLanes(view) {
  const width = stageWidth(), height = view.lanes.list.length * LANE_HEIGHT + 4;
  const context = prepareCanvas(byId("lanes"), width, height);
  byId("lane-scroller").classList.toggle("tall", view.lanes.processes.length > 1);
  context.textBaseline = "middle";
  view.lanes.list.forEach((lane, i) => {
    const y = i * LANE_HEIGHT + 5;
    context.fillStyle = colour("grid");
    context.fillRect(0, y - 3, width, 1);
    drawLane(context, view, lane, y);
    context.font = textFont(11);
    context.fillStyle = colour(lane.kind === "process" ? "text" : "quiet");
    context.fillText(fitText(context, lane.name, GUTTER - 6), 0, y + LANE_HEIGHT / 2 - 2);
  });
}
