/* Lanes below the rows: who ran where, gaps, system calls, output, losses and marks. */
const LANE_HEIGHT = 17;
const THREAD_LANES_MAX = 64;
const GAP_WORDS = ["", "asleep", "waiting for input", "waiting for its output to be taken", "waiting for another thread"];
const SWITCH_WORDS = ["went on", "started", "ended", "had to wait", "its time slice ended", "was woken", "yielded"];

function readSpans(group, name, nsPerTick) {
  const first = group.column(name + ".first"), length = group.column(name + ".length");
  const order = Array.from(first.keys()).sort((a, b) => first[a] - first[b]);
  return { ...group.facts[name], name,
    first: Float64Array.from(order, (i) => first[i] * nsPerTick),
    last: Float64Array.from(order, (i) => (first[i] + length[i]) * nsPerTick),
    value: Float64Array.from(order, (i) => group.column(name + ".value")[i]),
    group: Float64Array.from(order, (i) => group.column(name + ".group")[i]) };
}

/* Threads by the time that they ran, and the lanes of what else there is. */
function makeLanes(group, nsPerTick) {
  const lanes = { groups: group.facts.groups, cellNs: group.facts.cell_ticks * nsPerTick, cells: group.column("run_cells"),
    callCells: group.column("call_cells"), marks: group.facts.marks.map(([tick, cpu, tid, text]) => ({ ns: tick * nsPerTick, cpu, tid, text })),
    markCount: group.facts.mark_count };
  for (const name of ["runs", "gaps", "lost", "calls", "outputs"]) lanes[name] = readSpans(group, name, nsPerTick);
  lanes.marks.sort((a, b) => a.ns - b.ns);
  const cellCount = lanes.callCells.length;
  const ran = new Map();
  lanes.groups.forEach(([, tid], g) => {
    let sum = 0;
    for (let i = 0; i < cellCount; i++) sum += lanes.cells[g * cellCount + i];
    if (sum > 0) ran.set(tid, (ran.get(tid) || 0) + sum * lanes.cellNs / 255);
  });
  lanes.threads = [...ran].sort((a, b) => a[0] - b[0]).map(([tid, ns]) => ({ tid, ns }));
  lanes.list = [];
  if (lanes.markCount) lanes.list.push({ kind: "marks", name: "marks" });
  if (lanes.lost.seen) lanes.list.push({ kind: "lost", name: "lost samples" });
  if (lanes.gaps.seen) lanes.list.push({ kind: "gaps", name: "not running" });
  if (lanes.calls.seen) lanes.list.push({ kind: "calls", name: "system calls" });
  if (lanes.outputs.seen) lanes.list.push({ kind: "outputs", name: "output" });
  for (const { tid } of lanes.threads.slice(0, THREAD_LANES_MAX)) lanes.list.push({ kind: "thread", tid, name: "thread " + tid });
  return lanes;
}

/* Calls use(n) for the spans that touch the window. */
function eachSpan(spans, from, to, use) {
  let low = 0, high = spans.first.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans.first[middle] <= to) low = middle + 1;
    else high = middle;
  }
  for (let n = 0; n < low; n++) if (spans.last[n] >= from) use(n);
}

function drawSpan(context, first, last, y, height) {
  const a = Math.max(toPixel(first), GUTTER), b = Math.min(toPixel(last), GUTTER + plotWidth());
  if (b >= GUTTER && a <= GUTTER + plotWidth()) context.fillRect(a, y, Math.max(b - a, 1), height);
}

function cpuColour(view, cpu) {
  const n = view.pyramid.cpus.findIndex((c) => c.cpu === cpu);
  return colour("m" + (n < 0 ? 0 : n % 6));
}

/* Where short runs are not kept one by one, cells say how much of each a thread ran. */
function drawCells(context, view, lane, y) {
  const { lanes } = view, count = lanes.callCells.length;
  const first = Math.max(0, Math.floor(state.from / lanes.cellNs)), last = Math.min(count - 1, Math.ceil(state.to / lanes.cellNs));
  lanes.groups.forEach(([cpu, tid], g) => {
    if (tid !== lane.tid) return;
    context.fillStyle = cpuColour(view, cpu);
    for (let i = first; i <= last; i++) {
      const share = lanes.cells[g * count + i] / 255;
      if (share === 0) continue;
      context.globalAlpha = 0.85;
      drawSpan(context, i * lanes.cellNs, (i + 1) * lanes.cellNs, y + (LANE_HEIGHT - 5) * (1 - Math.min(1, share)), (LANE_HEIGHT - 5) * Math.min(1, share));
    }
  });
  context.globalAlpha = 1;
}

function drawThread(context, view, lane, y) {
  const { runs, groups } = view.lanes;
  if (runs.least > (state.to - state.from) / plotWidth()) return drawCells(context, view, lane, y);
  eachSpan(runs, state.from, state.to, (n) => {
    const [cpu, tid] = groups[runs.group[n]];
    if (tid !== lane.tid) return;
    context.fillStyle = cpuColour(view, cpu);
    drawSpan(context, runs.first[n], runs.last[n], y, LANE_HEIGHT - 5);
  });
}

function drawCalls(context, view, y) {
  const { calls, callCells, cellNs } = view.lanes;
  context.fillStyle = colour("m5");
  if (calls.least > (state.to - state.from) / plotWidth()) {
    const most = callCells.reduce((a, b) => Math.max(a, b), 1);
    callCells.forEach((count, i) => {
      const height = (LANE_HEIGHT - 5) * count / most;
      if (count) drawSpan(context, i * cellNs, (i + 1) * cellNs, y + LANE_HEIGHT - 5 - height, height);
    });
    return;
  }
  eachSpan(calls, state.from, state.to, (n) => drawSpan(context, calls.first[n], calls.last[n], y, LANE_HEIGHT - 5));
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

function drawLane(context, view, lane, y) {
  const { gaps, lost, outputs } = view.lanes;
  if (lane.kind === "thread") drawThread(context, view, lane, y);
  else if (lane.kind === "calls") drawCalls(context, view, y);
  else if (lane.kind === "marks") drawMarks(context, view, y);
  else {
    const spans = { gaps, lost, outputs }[lane.kind];
    eachSpan(spans, state.from, state.to, (n) => {
      context.fillStyle = lane.kind === "lost" ? colour("bad") : lane.kind === "outputs" ? colour("m4") : colour("m" + [4, 1, 3, 5, 2][spans.value[n] % 5]);
      drawSpan(context, spans.first[n], spans.last[n], y, LANE_HEIGHT - 5);
    });
  }
}

function drawLanes(view) {
  const width = stageWidth(), height = view.lanes.list.length * LANE_HEIGHT + 4;
  const context = prepareCanvas(byId("lanes"), width, height);
  context.textBaseline = "middle";
  view.lanes.list.forEach((lane, i) => {
    const y = i * LANE_HEIGHT + 5;
    context.fillStyle = colour("grid");
    context.fillRect(0, y - 3, width, 1);
    drawLane(context, view, lane, y);
    context.font = textFont(11);
    context.fillStyle = colour("quiet");
    context.fillText(lane.name, 0, y + LANE_HEIGHT / 2 - 2);
  });
}
