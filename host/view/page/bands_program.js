/* What the program did, as bands: its functions, and its threads on the CPUs. */
const BANDS_MAX = 8; /* layers that are told apart: as many as there are colours */
const BANDS_LEAST = 0.004; /* of all; less is among the others */
const BANDS_PIXELS = 2; /* of a bin, at least */
const BANDS_SAMPLES = 20000; /* are drawn one by one, if there are no more */
const BLOCK_SAMPLES = 4; /* in a bin of blocks, about */

/* The functions that most samples are in; `layer` says of each node of the tree where it counts. */
function topFunctions(view) {
  const { function: owner, functions, holder } = view.tree, sums = new Float64Array(functions.length);
  let all = 0;
  view.blocks.samples.forEach((samples, i) => { sums[owner[holder[view.blocks.node[i]]]] += samples; all += samples; });
  const top = Array.from(sums.keys()).sort((a, b) => sums[b] - sums[a] || a - b).slice(0, BANDS_MAX).filter((f) => sums[f] > all * BANDS_LEAST);
  const place = new Map(top.map((f, n) => [f, n]));
  const layer = Uint8Array.from(owner, (_, n) => { const at = place.get(owner[holder[n]]); return at === undefined ? top.length : at; });
  const layers = top.map((f, n) => ({ name: functions[f].name, title: `${functions[f].name}  ${functions[f].object}`, hue: "b" + n }));
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

/* A sample stands for the time since the one before it. */
function functionsOfSamples(view, layer, count, cpus, from, to, pixels) {
  const s = view.samples, bins = bandBins(bandStep(1, from, to, pixels, BANDS_PIXELS), from, to, view.end);
  const values = Array.from({ length: count }, () => new Float64Array(bins.count));
  for (const cpu of cpus) {
    const list = s.byCpu.get(cpu) || [], end = Math.min(list.length, lowerSample(s, list, to) + 1);
    for (let i = lowerSample(s, list, from); i < end; i++) {
      const n = list[i], last = s.time[n] * s.nsPerTick, ns = s.ticks[n] * s.nsPerTick;
      if (ns > 0) spreadSpan(values[layer[s.node[n]] ?? count - 1], bins, last - ns, last, ns);
    }
  }
  return { ...bins, values, top: 1, samples: samplesFit(view, from, to, pixels) };
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
    return series;
  }
  return { id: "bands.functions", name: "functions", unit: "of the samples", bands: { layers, read, text: formatRound, tall: true, search: true } };
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

/* From the runs themselves where all are kept, else from cells that say how much of each a thread ran. */
function usageBands(view) {
  const { lanes } = view, { layers, layer } = threadLayers(view), cellCount = view.lanes.cells.length / Math.max(1, lanes.groups.length);
  function read(from, to, pixels, cpus) {
    const step = bandStep(1, from, to, pixels, BANDS_PIXELS), bySpans = lanes.runs.least <= step;
    const bins = bandBins(bySpans ? step : Math.max(step, lanes.cellNs), from, to, view.end), wanted = lanes.groups.map(([cpu]) => cpus.includes(cpu));
    const values = layers.map(() => new Float64Array(bins.count)), add = (g, first, last, ns) => spreadSpan(values[layer[g]], bins, first, last, ns / bins.step);
    if (bySpans) eachSpan(lanes.runs, bins.start, to, (n) => { if (wanted[lanes.runs.group[n]]) add(lanes.runs.group[n], lanes.runs.first[n], lanes.runs.last[n], lanes.runs.last[n] - lanes.runs.first[n]); });
    else wanted.forEach((use, g) => {
      for (let i = Math.floor(bins.start / lanes.cellNs); use && i < cellCount && i * lanes.cellNs < to; i++)
        if (lanes.cells[g * cellCount + i]) add(g, i * lanes.cellNs, (i + 1) * lanes.cellNs, lanes.cells[g * cellCount + i] / 255 * lanes.cellNs);
    });
    return { ...bins, values, top: cpus.length, samples: false };
  }
  const several = view.pyramid.cpus.length > 1;
  return { id: "bands.usage", name: "CPU usage", unit: "by thread", bands: { layers, read, text: several ? (cpus) => formatNumber(cpus, Number.isInteger(cpus) ? 0 : 2) + (cpus === 1 ? " CPU" : " CPUs") : formatRound } };
}

/* The bands that a trace has something for. */
function makeBands(view) {
  const list = [];
  if (!isCounted(view) && view.blocks.block.length) list.push(functionBands(view));
  if (view.lanes.threads.length) list.push(usageBands(view));
  return list.map((metric) => ({ stub: false, ends: null, ...metric }));
}

/* Where nothing was measured by counters, what the program did comes first: usage alone where there is more to see than one thread that always runs. */
function bandsAtFirst(view) {
  const idle = view.lanes.threads.length > 1 || view.lanes.gaps.seen > 0;
  return view.facts.events.some((event) => event.source === "pmu") ? [] : view.metrics.filter((m) => m.bands && (m.id !== "bands.usage" || idle)).map((m) => m.id);
}
