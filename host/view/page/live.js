/* The page of a trace that is still being written: takes what has come in the place of what it shows, and keeps what one looks at. */
const LIVE_LOOK_MS = 1000;

function isLive(view) {
  return Boolean(view.server && view.server.growing);
}

/* The server's answer about the page that it has now: { version, growing }. */
async function askVersion() {
  const answer = await fetch("version");
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

/* The groups of columns of the page that the server has now. */
async function fetchParts() {
  const answer = await fetch("./");
  if (!answer.ok) throw new Error(await answer.text());
  const root = new DOMParser().parseFromString(await answer.text(), "text/html");
  return { ...await loadParts(root), samples: await loadPart("samples", root) };
}

/* What the state holds that must change with the data: all stays all, a part stays the same part, and objects have other numbers. */
function noteState(view) {
  const object = memoryAccesses(view).bands[state.object], first = rowsAtFirst(view).metrics;
  return { all: state.from === 0 && state.to === view.end, object: object && object.name, asAtFirst: first.join() === state.metrics.join() };
}

function keepState(view, { all, object, asAtFirst }) {
  const band = memoryAccesses(view).bands.find((other) => other.name === object), kept = state.metrics.filter((id) => view.metrics.some((m) => m.id === id));
  change({ to: all ? view.end : state.to, object: band ? band.number : -1, metrics: asAtFirst ? rowsAtFirst(view).metrics : kept });
}

async function takeParts(view, parts) {
  const before = noteState(view), { calls, memory } = view, zoomed = zoomedPath(view);
  const chosen = calls && calls.chosen ? calls.chosen.name : "", top = window.scrollY, lists = [...document.querySelectorAll("#scroller, #lane-scroller, .table-scroll")].map((node) => [node, node.scrollTop]);
  if (view.reading) view.reading.abort();
  fillView(view, parts);
  Object.assign(view, { fine: null, bars: null });
  if (calls) Object.assign(view.calls, { sort: calls.sort, tailShown: calls.tailShown, chosen: view.calls.rows.find((row) => row.name === chosen) || view.calls.rows[0] });
  view.memory.map = view.memory.maps.find((map) => memory.map && map.of === memory.map.of) || view.memory.map;
  keepState(view, before);
  takeSamples(view, parts.samples);
  showFacts(view);
  makeRows(view);
  drawChips(view);
  view.taking = true;
  await updateProfile(view);
  view.taking = false;
  zoomToPath(view, zoomed);
  showRest(view);
  for (const [node, place] of lists) node.scrollTop = place;
  window.scrollTo(0, top);
  view.redraw();
}

/* Not while a button of the mouse is down: what moves with it would be replaced. */
function watchButtons(view) {
  const note = (event) => { view.pressed = event.buttons !== 0; };
  for (const kind of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) document.addEventListener(kind, note, true);
}

function startLive(view) {
  const look = async () => {
    try {
      const now = await askVersion();
      if (!view.pressed && now.version !== view.server.version) await takeParts(view, await fetchParts());
    } catch (error) {
      return complain(error);
    }
    if (isLive(view)) setTimeout(look, LIVE_LOOK_MS);
  };
  if (!isLive(view)) return;
  watchButtons(view);
  setTimeout(look, LIVE_LOOK_MS);
}
