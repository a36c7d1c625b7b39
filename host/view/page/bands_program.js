/* What the program did, as bands: its functions, and its threads on the CPUs. */
const BANDS_MAX = 8; /* layers that are told apart: as many as there are colours */
const BANDS_LEAST = 0.004; /* of all; less is among the others */
const BANDS_PIXELS = 2; /* of a bin, at least */
const BANDS_SAMPLES = 20000; /* are drawn one by one, if there are no more */
const BLOCK_SAMPLES = 6; /* in a bin, about */
const SAMPLE_PIXELS = 8; /* of a bin of several samples, at most */

/* The functions that most samples are in; `layer` says of each node of the tree where it counts. */
function topFunctions(view) {
  const { function: owner, functions } = view.tree, holder = countedNodes(view.tree), sums = new Float64Array(functions.length);
  let all = 0;
  view.blocks.samples.forEach((samples, i) => { sums[owner[holder[view.blocks.node[i]]]] += samples; all += samples; });
  const top = Array.from(sums.keys()).sort((a, b) => sums[b] - sums[a] || a - b).slice(0, BANDS_MAX).filter((f) => sums[f] > all * BANDS_LEAST);
  const place = new Map(top.map((f, n) => [f, n]));
  const layer = Uint8Array.from(owner, (_, n) => { const at = place.get(owner[holder[n]]); return at === undefined ? top.length : at; });
  const layers = top.map((f, n) => ({ name: functions[f].name, title: `${functionName(functions[f])}  ${functions[f].object}`, hue: "b" + n }));
  view.hueOf = new Map(top.map((f, n) => [f, "b" + n]));
  if (layer.some((n) => n === top.length)) layers.push({ name: "others", hue: "rest" });
  return { layer, layers };
}

/* Samples of each layer by blocks, at every level of detail. */
function functionLevels(view, layer, count, cpus) {
  const b = view.blocks, blocks = b.block.length ? b.block[b.block.length - 1] + 1 : 0, here = view.lanes.groups.map(([cpu]) => cpus.includes(cpu));
  const sums = Array.from({ length: count }, () => new Float64Array(blocks));
  for (let i = 0; i < b.block.length; i++) if (here[b.group[i]]) sums[layer[b.node[i]]][b.block[i]] += b.samples[i];
  return sums.map((list) => levelsOf(list, joins.sum));
}

function functionsOfBlocks(view, levels, from, to, pixels) {
  const apart = view.end / Math.max(1, view.facts.samples) * view.pyramid.cpus.length * BLOCK_SAMPLES;
  const step = bandStep(view.blocks.ns, from, to, pixels, Math.max(BANDS_PIXELS, apart * pixels / (to - from))), level = Math.round(Math.log2(step / view.blocks.ns));
  const first = Math.max(0, Math.floor(from / step)), end = Math.ceil(to / step) + 1;
  return { start: first * step, step, values: levels.map((of) => of(level).slice(first, end)), top: 1, samples: false };
}

/* A sample stands for the time since the one before it.  Some are in a bin together, while that makes none wider than SAMPLE_PIXELS. */
function functionsOfSamples(view, layer, count, cpus, from, to, pixels) {
  const s = view.samples, apart = pixels / Math.max(1, countSamples(s, from, to)) * cpus.length, single = apart >= SAMPLE_PIXELS;
  const least = single ? BANDS_PIXELS : Math.max(BANDS_PIXELS, Math.min(SAMPLE_PIXELS, BLOCK_SAMPLES * apart));
  const bins = bandBins(bandStep(1, from, to, pixels, least), from, to, view.end);
  const values = Array.from({ length: count }, () => new Float64Array(bins.count));
  for (const cpu of cpus) {
    const list = s.byCpu.get(cpu) || [], end = Math.min(list.length, lowerSample(s, list, to) + 1);
    for (let i = lowerSample(s, list, from); i < end; i++) {
      const n = list[i], last = s.time[n] * s.nsPerTick, ns = s.ticks[n] * s.nsPerTick;
      if (ns > 0) spreadSpan(values[layer[s.node[n]] ?? count - 1], bins, last - ns, last, ns);
    }
  }
  return { ...bins, values, top: 1, samples: single };
}

function functionBands(view) {
  const { layer, layers } = topFunctions(view), levels = new Map();
  function read(from, to, pixels, cpus) {
    const s = view.samples, key = cpus.join();
    let series;
    if (s && from >= s.from && to <= s.to && (view.blocks.ns > (to - from) / pixels * BANDS_PIXELS || countSamples(s, from, to) <= BANDS_SAMPLES))
      series = functionsOfSamples(view, layer, layers.length, cpus, from, to, pixels);
    else {
      if (!levels.has(key)) levels.set(key, functionLevels(view, layer, layers.length, cpus));
      series = functionsOfBlocks(view, levels.get(key), from, to, pixels);
    }
    toShares(series.values);
    lowerIdle(view, series, cpus);
    return series;
  }
  return { id: "bands.functions", name: "functions", unit: "of CPU time", bands: { layers, read, text: formatRound, tall: true, search: true } };
}

/* Where no CPU was busy all the time there is less of everything. */
function lowerIdle(view, series, cpus) {
  if (view.lanes.threads.length === 0 || series.values.length === 0) return;
  const [busy] = ranIn(view, { ...series, count: series.values[0].length }, cpus, () => 0, 1), last = Math.floor((view.end - series.start) / series.step);
  if (last < busy.length) busy[last] *= series.step / Math.max(1, view.end - series.start - last * series.step); /* the run ends in this bin */
  for (const layer of series.values) for (let i = 0; i < layer.length; i++) layer[i] *= Math.min(1, busy[i]);
}

function formatRound(share) {
  return formatNumber(share * 100, share === 0 || share === 1 || share === 0.5 ? 0 : 1) + " %";
}

/* The threads that ran longest. */
function threadLayers(view) {
  const { lanes } = view, sorted = lanes.threads.slice().sort((a, b) => b.ns - a.ns || a.tid - b.tid), told = sorted.length <= BANDS_MAX ? sorted : sorted.slice(0, BANDS_MAX - 1);
  const name = ({ tid, process }) => (lanes.processes.length > 1 && lanes.processes[process] ? lanes.processes[process].name + " " : "thread ") + tid;
  const layers = told.map((thread, n) => ({ name: name(thread), hue: "b" + n }));
  if (told.length < sorted.length) layers.push({ name: plural(sorted.length - told.length, "other thread"), hue: "rest" });
  const place = new Map(told.map(({ tid }, n) => [tid, n]));
  return { layers, layer: lanes.groups.map(([, tid]) => place.has(tid) ? place.get(tid) : layers.length - 1) };
}

/* How many CPUs each layer ran on in each bin: from the runs themselves where all are kept, else from cells that say how much of each a thread ran. */
function ranIn(view, bins, cpus, layerOf, count) {
  const { groups, runs, cells, cellNs } = view.lanes, end = bins.start + bins.step * bins.count, wanted = groups.map(([cpu]) => cpus.includes(cpu));
  const values = Array.from({ length: count }, () => new Float64Array(bins.count)), add = (g, first, last, ns) => spreadSpan(values[layerOf(g)], bins, first, last, ns / bins.step);
  if (runs.least <= bins.step) eachSpan(runs, bins.start, end, (n) => { if (wanted[runs.group[n]]) add(runs.group[n], runs.first[n], runs.last[n], runs.last[n] - runs.first[n]); });
  else wanted.forEach((use, g) => {
    for (let i = Math.floor(bins.start / cellNs); use && i < CELLS && i * cellNs < end; i++)
      if (cells[g * CELLS + i]) add(g, i * cellNs, (i + 1) * cellNs, cells[g * CELLS + i] / 255 * cellNs);
  });
  return values;
}

function usageBands(view) {
  const { layers, layer } = threadLayers(view), { lanes } = view;
  function read(from, to, pixels, cpus) {
    const step = bandStep(1, from, to, pixels, BANDS_PIXELS), bins = bandBins(lanes.runs.least <= step ? step : Math.max(step, lanes.cellNs), from, to, view.end);
    return { ...bins, values: ranIn(view, bins, cpus, (g) => layer[g], layers.length), top: cpus.length, samples: false };
  }
  const several = view.pyramid.cpus.length > 1;
  return { id: "bands.usage", name: "CPU usage", unit: "by thread", bands: { layers, read, text: several ? (cpus) => formatNumber(cpus, Number.isInteger(cpus) ? 0 : 2) + (cpus === 1 ? " CPU" : " CPUs") : formatRound } };
}

/* The bands that a trace has something for. */
function makeBands(view) {
  const list = topdownBands(view);
  if (!isCounted(view) && view.blocks.block.length) list.push(functionBands(view));
  if (view.lanes.threads.length) list.push(usageBands(view));
  if (view.lanes.callCells.kinds.length) list.push(callBands(view));
  if (view.pages && view.pages.faults.kinds.length) list.push(faultBands(view, view.pages));
  if (view.pages) list.push(setBands(view, view.pages));
  return list.map(bandMetric);
}

function bandMetric(metric) {
  return { stub: false, ends: null, ...metric };
}

/* Where nothing was measured by counters, what the program did comes first, as far as there is something to see. */
function bandsAtFirst(view) {
  const { lanes } = view, dull = { "bands.usage": lanes.threads.length === 1 && lanes.gaps.seen === 0, "bands.calls": lanes.calls.seen < CALLS_MANY };
  return view.facts.events.some((event) => event.source === "pmu") ? [] : view.metrics.filter((m) => m.bands && !dull[m.id]).map((m) => m.id);
}
