/* Mouse, touch pad and keys on the timeline. */
const SPAN_LEAST_NS = 20; /* nothing is shorter: a few instructions */

function setWindow(view, from, to) {
  const least = Math.min(SPAN_LEAST_NS, view.end), span = Math.min(Math.max(to - from, least), view.end);
  const middle = (from + to) / 2;
  from = Math.max(0, Math.min(to - from === span ? from : middle - span / 2, view.end - span));
  change({ from, to: from + span });
}

function zoomAt(view, ns, factor) {
  setWindow(view, ns - (ns - state.from) * factor, ns + (state.to - ns) * factor);
}

function move(view, share) {
  const by = (state.to - state.from) * share;
  setWindow(view, state.from + by, state.to + by);
}

function zoomToSelection(view) {
  if (!state.selection) return;
  const [a, b] = state.selection, room = (b - a) * 0.04;
  setWindow(view, a - room, b + room);
}

function onWheel(view, event) {
  event.preventDefault();
  const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 300 : 1;
  const sideways = event.shiftKey && !event.deltaX ? event.deltaY : event.deltaX;
  if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY))
    return move(view, sideways * unit / plotWidth());
  const x = event.clientX - event.currentTarget.getBoundingClientRect().left;
  zoomAt(view, toTime(Math.max(x, GUTTER)), Math.exp(event.deltaY * unit * 0.002));
}

/* Selects from where the button went down, or moves with Shift or the middle button: on the timeline, and on the map of memory. */
function onPointerDown(view, event) {
  if (event.button > 1 || event.target.closest("button")) return;
  const stage = event.currentTarget, left = stage.getBoundingClientRect().left;
  const start = event.clientX - left, moving = event.shiftKey || event.button === 1;
  const from = state.from, to = state.to, anchor = toTime(Math.max(GUTTER, start));
  if (start > GUTTER + plotWidth() + EDGE) return; /* the scroll bar */
  let dragged = false;
  function onMove(e) {
    const x = e.clientX - left;
    if (!dragged && Math.abs(x - start) < 4) return;
    dragged = true;
    if (moving) {
      const by = (start - x) / plotWidth() * (to - from);
      return setWindow(view, from + by, to + by);
    }
    const here = Math.max(state.from, Math.min(state.to, toTime(x)));
    change({ selection: [Math.max(0, Math.min(anchor, here)), Math.min(view.end, Math.max(anchor, here))] });
  }
  function onUp(e) {
    stage.removeEventListener("pointermove", onMove);
    stage.removeEventListener("pointerup", onUp);
    stage.removeEventListener("pointercancel", onUp);
    if (!dragged && !moving && e.detail < 2 && start >= GUTTER && e.type === "pointerup") change({ selection: null });
  }
  stage.setPointerCapture(event.pointerId);
  stage.addEventListener("pointermove", onMove);
  stage.addEventListener("pointerup", onUp);
  stage.addEventListener("pointercancel", onUp);
}

function showTip(text, x, y) {
  const tip = byId("tip"), stage = byId("stage");
  tip.hidden = text === "";
  if (tip.hidden) return;
  tip.textContent = text;
  tip.style.left = Math.max(0, Math.min(x + 12, stage.clientWidth - tip.offsetWidth - 4)) + "px";
  tip.style.top = Math.max(0, y + 16 + tip.offsetHeight > stage.clientHeight ? y - tip.offsetHeight - 6 : y + 16) + "px";
}

function onHover(view, event) {
  const stage = byId("stage").getBoundingClientRect(), lanes = byId("lanes").getBoundingClientRect();
  const x = event.clientX - stage.left, y = event.clientY - stage.top, ns = toTime(x);
  const inside = x >= GUTTER && x <= GUTTER + plotWidth();
  const hair = byId("hair");
  hair.hidden = !inside;
  hair.style.left = x + "px";
  showValues(view, inside ? ns : null);
  const point = formatPoint(ns, (state.to - state.from) / plotWidth(), state.to - state.from);
  const below = event.clientY >= lanes.top, bands = bandWords(view, event, inside && !below ? ns : NaN);
  const words = inside && below ? laneWords(view, event.clientY - lanes.top, ns) : bands;
  showTip(words ? words : inside && y < 24 ? point : "", x, y);
  byId("resolution").textContent = inside ? "at " + point : resolutionWords(view);
}

/* What one point of the picture stands for. */
function resolutionWords(view) {
  const row = view.rows[0];
  if (!row || !row.series || view.pyramid.cpus.length === 0) return "";
  if (row.series.samples) return "every sample";
  const finest = row.series.step === view.pyramid.binNs && !view.samples;
  return `a point is ${formatTime(row.series.step)}` + (!finest ? "" : view.server ? ", reading more" : ", the finest of this page");
}

function placeSelection() {
  for (const name of ["selection", "memory-selection"]) placeBox(byId(name));
}

function placeBox(box) {
  box.hidden = !state.selection;
  if (box.hidden) return;
  const a = Math.max(GUTTER, toPixel(state.selection[0])), b = Math.min(GUTTER + plotWidth(), toPixel(state.selection[1]));
  box.hidden = b < GUTTER || a > GUTTER + plotWidth();
  box.style.left = a + "px";
  box.style.width = Math.max(1, b - a) + "px";
}

/* Moves the selection's later end by a share of what is shown. */
function growSelection(view, share) {
  const by = (state.to - state.from) * share;
  const [a, b] = state.selection || [state.from, state.from + (state.to - state.from) / 10];
  change({ selection: [a, Math.max(a + SPAN_LEAST_NS, Math.min(view.end, b + by))] });
}

function timelineKey(view, event) {
  const actions = { ArrowLeft: () => event.shiftKey ? growSelection(view, -0.02) : move(view, -0.1), ArrowRight: () => event.shiftKey ? growSelection(view, 0.02) : move(view, 0.1),
    a: () => move(view, -0.1), d: () => move(view, 0.1), w: () => zoomAt(view, (state.from + state.to) / 2, 0.7), s: () => zoomAt(view, (state.from + state.to) / 2, 1 / 0.7),
    "+": () => zoomAt(view, (state.from + state.to) / 2, 0.7), "=": () => zoomAt(view, (state.from + state.to) / 2, 0.7), "-": () => zoomAt(view, (state.from + state.to) / 2, 1 / 0.7),
    z: () => zoomToSelection(view), "0": () => setWindow(view, 0, view.end), Home: () => setWindow(view, 0, state.to - state.from), End: () => setWindow(view, view.end - (state.to - state.from), view.end) };
  const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!action || event.ctrlKey || event.metaKey || event.altKey) return false;
  action();
  event.preventDefault();
  return true;
}

function startStage(view) {
  const stage = byId("stage");
  stage.addEventListener("wheel", (event) => onWheel(view, event), { passive: false });
  stage.addEventListener("pointerdown", (event) => onPointerDown(view, event));
  stage.addEventListener("pointermove", (event) => onHover(view, event));
  stage.addEventListener("pointerleave", () => { byId("hair").hidden = true; byId("tip").hidden = true; unlightBands(view); showValues(view, null); byId("resolution").textContent = resolutionWords(view); });
  stage.addEventListener("dblclick", (event) => {
    if (state.selection) return zoomToSelection(view);
    zoomAt(view, toTime(event.clientX - stage.getBoundingClientRect().left), 0.35);
  });
  byId("zoom-in").onclick = () => zoomAt(view, (state.from + state.to) / 2, 0.5);
  byId("zoom-out").onclick = () => zoomAt(view, (state.from + state.to) / 2, 2);
  byId("zoom-all").onclick = () => setWindow(view, 0, view.end);
  byId("zoom-selection").onclick = () => zoomToSelection(view);
  byId("scroller").addEventListener("scroll", view.redraw);
}
