/* Starts the page: reads the data, then ties what changes to what is drawn. */
function hasStacks(tree) {
  return tree.parent.some((parent, n) => n > 0 && parent !== 0 && tree.holder[n] === n) || tree.function.some((f) => f === 1 || f === 2);
}

async function loadParts(root) {
  const names = ["facts", "bins", "profile", "lanes", "calls", "memory"], parts = await Promise.all(names.map((name) => loadPart(name, root)));
  return Object.fromEntries(names.map((name, n) => [name, parts[n]]));
}

/* Puts the data into the view, in which other parts of the page keep what they draw. */
function fillView(view, { facts: { facts }, bins, profile, lanes, calls, memory }) {
  const ns = facts.ns_per_tick, events = facts.events.length;
  Object.assign(view, { facts, summary: facts.summary, server: facts.server || null });
  view.pyramid = makePyramid(bins, ns, 0);
  view.tree = makeTree(profile);
  view.blocks = makeBlocks(profile, ns, events);
  view.waits = makeWaits(profile, ns);
  view.lanes = makeLanes(lanes, ns);
  view.calls = makeCalls(calls, ns);
  view.memory = makeMemory(memory);
  view.hasStacks = hasStacks(view.tree);
  view.isFlat = view.tree.parent.every((parent) => parent === 0);
  view.end = Math.max(facts.last_tick * ns, facts.partial ? 0 : facts.summary.duration_ns, 1);
  view.pages = makePages(memory);
  view.metrics = [...makeBands(view), ...makeMetrics(facts)];
  view.objects = [...new Set(view.tree.functions.map((f) => f.object))].filter(Boolean);
}

/* They are the largest part; of a large trace the server gives those of a window. */
function takeSamples(view, group) {
  if (view.server && !group.facts.complete) {
    view.samples = null;
    return startServer(view);
  }
  view.samples = makeSamples(group, view.lanes.groups.map(([cpu]) => cpu), view.facts.ns_per_tick, view.facts.events.length);
}

/* Several CPUs: a row for each, of one metric, while that is not too many. */
function rowsAtFirst(view) {
  const bands = bandsAtFirst(view), cpus = view.pyramid.cpus.length, metrics = metricsAtFirst(view.metrics), split = cpus > 1 && cpus <= 8;
  if (bands.length) return { split: false, metrics: bands };
  return { split, metrics: split && cpus > 2 ? metrics.slice(0, 1) : metrics };
}

function connect(view) {
  const drawTimeline = () => {
    const start = performance.now();
    drawRuler();
    drawRows(view);
    drawLanes(view);
    drawMemory(view);
    drawMinimap(view);
    placeSelection();
    byId("resolution").textContent = resolutionWords(view);
    view.frameMs = performance.now() - start;
  };
  const rebuild = () => { makeRows(view); drawChips(view); view.redraw(); };
  const profile = whenQuiet(90, () => updateProfile(view)), later = whenQuiet(220, () => updateProfile(view));
  view.redraw = eachFrame(drawTimeline);
  view.redrawAll = () => { rebuild(); drawSpread(view); drawDurations(view); if (view.profile) drawFlame(view); };
  onChange(["from", "to", "selection"], view.redraw);
  onChange(["metrics", "split"], rebuild);
  onChange(["metrics"], () => { if (view.functionRows) drawFunctions(view); });
  onChange(["from", "to"], () => { if (!state.selection) later(); });
  onChange(["selection", "cpu", "process", "tid", "object", "weight"], profile);
  onChange(["object"], () => { byId("object").value = state.object; });
  onChange(["inlined"], () => { view.metrics = view.metrics.map((m) => (m.id === "bands.functions" ? bandMetric(functionBands(view)) : m)); rebuild(); profile(); });
  onChange(["search"], () => { if (view.functionRows) applySearch(view); });
  watchWidths(view);
}

/* The window changes the widths, and so do scroll bars, which come when the page grows. */
function watchWidths(view) {
  const fit = whenQuiet(80, () => {
    if (byId("rows").clientWidth !== stageWidth()) return view.redrawAll();
    if (view.profile && byId("flame").clientWidth !== view.flame.width) drawFlame(view);
  });
  const observer = new ResizeObserver(fit);
  for (const id of ["rows", "flame"]) observer.observe(byId(id));
}

/* What is the same for the whole run. */
function showFacts(view) {
  drawHeader(view);
  fillLists(view);
  fillMemory(view);
  byId("flame-time").hidden = view.waits.time.length === 0;
}

function showRest(view) {
  startCalls(view);
  startSpreads(view);
  drawRegions(view);
  drawQuality(view);
  drawFacts(view);
}

async function main() {
  try {
    const view = { rows: [], sort: { id: "self", direction: 1 }, profileTurn: 0, profileDrawn: 0 };
    fillView(view, await loadParts(document));
    window.hrView = { view, state, change, gutter: GUTTER, plotWidth, idle: () => waiting === 0, ready: false }; /* for tests and for the curious */
    Object.assign(state, { from: 0, to: view.end, ...rowsAtFirst(view) });
    startFlame(view);
    connect(view);
    startTheme(view);
    startControls(view);
    startStage(view);
    startMinimap(view);
    startMemory(view);
    showFacts(view);
    makeRows(view);
    drawChips(view);
    view.redraw();
    await new Promise((done) => requestAnimationFrame(done));
    byId("notice").hidden = true;
    window.hrView.firstPictureMs = performance.now();
    await updateProfile(view);
    showRest(view);
    takeSamples(view, await loadPart("samples", document)); /* after the first picture */
    view.redraw();
    if (view.samples && !view.profile.exact) await updateProfile(view);
    window.hrView.ready = true;
    window.hrView.readyMs = performance.now();
    startLive(view);
  } catch (error) {
    byId("notice").hidden = false;
    byId("notice").textContent = "This page cannot be shown: " + error.message;
    throw error;
  }
}

document.addEventListener("DOMContentLoaded", () => (byId("data-diff") ? mainDiff() : main()));
