/* What the program asked of the system, as bands: calls, page faults, its working set. */
const CALLS_MANY = 100; /* fewer are on their lane alone at first */
const COUNT_PIXELS = 4; /* of a bin of counts, at least */
const CELLS = 1024; /* of each kind, as view_cells.h has them */

/* Counts by kind and piece of time; the kinds with most come first, those without a name last. */
function readCells(group, name, nsPerUnit) {
  const counts = group.column(name), kinds = (group.facts[name + ".kinds"] || []).map((kind, n) => {
    const own = counts.subarray(n * CELLS, (n + 1) * CELLS);
    return { kind, counts: own, all: own.reduce((a, b) => a + b, 0) };
  });
  return { ns: (group.facts[name + ".ticks"] || 1) * nsPerUnit, kinds: kinds.sort((a, b) => (a.kind === null) - (b.kind === null) || b.all - a.all) };
}

/* Layers of the first kinds; all others are one more. */
function kindLayers(cells, nameOf) {
  const told = cells.kinds.filter(({ kind }) => kind !== null).slice(0, BANDS_MAX);
  const layers = told.map(({ kind }, n) => ({ name: nameOf(kind), hue: "b" + n })), place = new Map(told.map(({ kind }, n) => [kind, n]));
  if (told.length < cells.kinds.length) layers.push({ name: "others", hue: "rest" });
  return { layers, layerOf: (kind) => place.get(kind) ?? layers.length - 1 };
}

/* The end of a scale that all bins fit on. */
function stackTop(values) {
  let top = 0;
  for (let i = 0; values.length && i < values[0].length; i++) top = Math.max(top, values.reduce((sum, layer) => sum + layer[i], 0));
  return top > 0 ? top * 1.05 : 1;
}

/* How often things happened in a ms: from cells, or from each moment where all are known. */
function countSeries(view, layers, cells, layerOf, moments, from, to, pixels) {
  const step = bandStep(1, from, to, pixels, COUNT_PIXELS), single = moments && moments.least <= step;
  const bins = bandBins(single ? step : bandStep(cells.ns, from, to, pixels, COUNT_PIXELS), from, to, view.end), perMs = 1e6 / bins.step;
  const values = layers.map(() => new Float64Array(bins.count)), end = bins.start + bins.step * bins.count;
  const add = (kind, ns, count) => { const bin = Math.floor((ns - bins.start) / bins.step); if (bin >= 0 && bin < bins.count) values[layerOf(kind)][bin] += count * perMs; };
  if (single) for (let n = lowerPlace(moments.first, bins.start); n < moments.first.length && moments.first[n] < end; n++) add(moments.value[n], moments.first[n], 1);
  else for (const { kind, counts } of cells.kinds)
    for (let i = Math.floor(bins.start / cells.ns); i < counts.length && i * cells.ns < end; i++) if (counts[i]) add(kind, i * cells.ns, counts[i]);
  return { ...bins, values, top: stackTop(values), samples: false };
}

function countBands(view, id, name, cells, nameOf, moments) {
  const { layers, layerOf } = kindLayers(cells, nameOf);
  const read = (from, to, pixels) => countSeries(view, layers, cells, layerOf, moments, from, to, pixels);
  return { id, name, unit: "/ ms", bands: { layers, read, text: formatRate, per: " / ms", whole: true } };
}

function callBands(view) {
  const { lanes } = view;
  return countBands(view, "bands.calls", "system calls", lanes.callCells, (number) => lanes.callNames[number] || "call " + number, lanes.calls);
}

function faultBands(view, pages) {
  const bands = countBands(view, "bands.faults", "page faults", pages.faults, (n) => pages.names[n][0], null);
  bands.bands.layers.forEach((layer, n) => { if (pages.names[n] && layer.hue !== "rest") layer.title = `${layer.name}  ${pages.names[n][1]}\nmemory that it touched first`; });
  return bands;
}

/* Memory that was touched between two looks at the page tables. */
function setBands(view, pages) {
  const layers = [{ name: "written", hue: "b1" }, { name: "read only", hue: "b0" }];
  const ofLook = [(n) => pages.written[n], (n) => pages.set[n] - pages.written[n]], end = pages.from + pages.set.length * pages.ns;
  function read(from, to, pixels) {
    const bins = bandBins(bandStep(pages.ns, from, to, pixels, 1), from, to, end), together = Math.round(bins.step / pages.ns);
    const first = Math.round((bins.start - pages.from) / pages.ns), count = Math.max(0, Math.min(bins.count, Math.ceil((pages.set.length - first) / together)));
    const values = layers.map((_, n) => Float64Array.from({ length: count }, (__, bin) => {
      let sum = 0, looks = 0;
      for (let i = Math.max(0, first + bin * together); i < Math.min(pages.set.length, first + (bin + 1) * together); i++, looks++) sum += ofLook[n](i);
      return looks ? sum / looks * PAGE_BYTES : 0;
    }));
    return { ...bins, values, top: stackTop(values), samples: false };
  }
  return { id: "bands.set", name: "working set", unit: `in ${formatTime(pages.ns)}`, bands: { layers, read, text: (bytes) => (bytes ? formatBytes(bytes) : "0"), whole: true } };
}

const PAGE_BYTES = 4096;

/* Looks and page faults of a run with --pages. */
function makePages(group) {
  if (!group.has("looks.set")) return null;
  return { set: group.column("looks.set"), written: group.column("looks.written"), from: group.facts.looks_from, ns: group.facts.looks_ns,
    faults: readCells(group, "faults", 1), names: group.facts["faults.names"] };
}
