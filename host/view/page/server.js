/* What hr view --serve reads from the trace while one looks at it: windows of samples, exact profiles. */
const WINDOW_MARGIN = 1; /* windows to either side that are read, too, so that moving needs no waiting */

/* An answer of a server that already has more of a growing trace is stale: live.js takes that, and asks again. */
function answerError(answer, text) {
  return Object.assign(new Error(text), { stale: answer.status === 409 });
}

/* Bins and samples of a window, as view_window.c puts them. */
async function fetchWindow(view, from, to, signal) {
  const answer = await fetch(`samples?from=${Math.floor(from)}&to=${Math.ceil(to)}&version=${view.server.version}`, { signal });
  if (!answer.ok) throw answerError(answer, await answer.text());
  const bytes = new Uint8Array(await answer.arrayBuffer()), ns = view.facts.ns_per_tick;
  const second = 4 + new DataView(bytes.buffer).getUint32(0, true);
  const pyramid = makePyramid(readGroup(bytes.subarray(4, second)), ns, Math.floor(from));
  const samples = makeSamples(readGroup(bytes.subarray(second)), view.lanes.groups.map(([cpu]) => cpu), ns, view.facts.events.length);
  return { from, to, pyramid, samples: samples && Object.assign(samples, { from, to }) };
}

/* Reads what the page's own levels are too coarse for. */
async function refine(view) {
  const { from, to } = state, span = to - from, fine = view.fine;
  if (span / plotWidth() >= view.pyramid.binNs || (fine && from >= fine.from && to <= fine.to && (fine.samples || span > fine.span / 4))) return;
  if (view.reading) view.reading.abort();
  const reading = view.reading = new AbortController();
  try {
    const window = await fetchWindow(view, Math.max(0, from - span * WINDOW_MARGIN), to + span * WINDOW_MARGIN, reading.signal);
    if (view.reading !== reading) return;
    view.fine = Object.assign(window, { span });
    view.samples = window.samples;
    view.redraw();
  } catch (error) {
    if (error.name !== "AbortError" && !error.stale) complain(error);
  }
}

function complain(error) {
  byId("notice").hidden = false;
  byId("notice").textContent = "The server does not answer (" + error.message.trim() + "); is hr view still running?";
}

/* Exact counts of any span. */
async function profileOfServer(view, from, to) {
  const out = emptyProfile(view), wanted = wantedGroups(view), nodes = view.tree.parent.length;
  const group = await fetchPart(`profile?from=${Math.ceil(from)}&to=${Math.floor(to)}&version=${view.server.version}`);
  const owner = group.column("group"), node = group.column("node");
  const columns = [group.column("samples"), ...view.facts.events.map((_, e) => group.column("sum." + e))];
  for (let i = 0; i < node.length; i++)
    if (wanted[owner[i]])
      columns.forEach((column, w) => { out.self[w][node[i] < nodes ? node[i] : 0] += column[i]; });
  return out;
}

function startServer(view) {
  if (!view.ask) {
    view.ask = whenQuiet(60, () => refine(view));
    onChange(["from", "to"], view.ask);
  }
  view.ask();
}
