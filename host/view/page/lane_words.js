/* What a lane says about the place under the pointer. */
function nearestSpan(spans, ns) {
  const slack = 3 * (state.to - state.from) / plotWidth();
  let best = -1, distance = slack;
  eachSpan(spans, ns - slack, ns + slack, (n) => {
    const away = Math.max(spans.first[n] - ns, ns - spans.last[n], 0);
    if (away < distance) { distance = away; best = n; }
  });
  return best;
}

function placeWords(view, spans, n) {
  const [cpu, tid, process] = view.lanes.groups[spans.group[n]] || [0, 0, -1];
  const of = view.lanes.processes[process];
  return (tid ? `thread ${tid}${of ? ` of ${of.name} ${of.pid}` : ""} on ` : "") + `CPU ${cpu}`;
}

function spanWords(view, lane, ns) {
  const { lanes } = view;
  const spans = { thread: lanes.threadRuns.get(lane.tid), gaps: lanes.gaps, calls: lanes.calls, lost: lanes.lost, outputs: lanes.outputs }[lane.kind];
  const n = spans ? nearestSpan(spans, ns) : -1;
  if (n < 0) return "";
  const place = placeWords(view, spans, n), length = formatTime(spans.last[n] - spans.first[n]);
  if (lane.kind === "thread") return `${place}\nran ${length}, then ${SWITCH_WORDS[spans.value[n]] || "switched"}`;
  if (lane.kind === "gaps") return `${place}\n${length} ${GAP_WORDS[spans.value[n]] || "not running"}`;
  if (lane.kind === "calls") return `${lanes.callNames[spans.value[n]] || "system call " + spans.value[n]}\n${length}, ${place}`;
  if (lane.kind === "lost") return `${plural(spans.value[n], "sample")} lost in ${length}\n${place}: its ring or the buffer was full`;
  return `${plural(spans.value[n], "byte")} written\n${place}`;
}

function markWords(view, ns) {
  const slack = 4 * (state.to - state.from) / plotWidth();
  const near = view.lanes.marks.filter((mark) => Math.abs(mark.ns - ns) <= slack);
  return near.slice(0, 5).map((mark) => `${mark.text}\n${formatPoint(mark.ns, slack / 4, state.to - state.from)}, thread ${mark.tid} on CPU ${mark.cpu}`).join("\n");
}

function processWords(view, { process }, ns) {
  const ran = process.names.filter((run) => run.ns <= ns), span = state.to - state.from, end = process.end === null ? view.end : process.end;
  if (ns < process.start || ns > end) return "";
  return `${ran.length ? ran[ran.length - 1].name : process.name}, process ${process.pid}\n` +
    (process.parent === null ? "" : `started by ${process.parent} at ${formatPoint(process.start, span / 1000, span)}, `) +
    `lasted ${formatTime(end - process.start)}` + (process.ending === null ? "" : `\n${process.ending}`);
}

/* The words for a place on the lanes' canvas, "" for none. */
function laneWords(view, y, ns) {
  const lane = view.lanes.list[Math.floor((y - 3) / LANE_HEIGHT)];
  if (!lane) return "";
  if (lane.kind === "process") return processWords(view, lane, ns);
  return lane.kind === "marks" ? markWords(view, ns) : spanWords(view, lane, ns);
}
