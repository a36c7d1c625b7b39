/* What a row draws: times, and least, mean and largest of a metric there. */

/* Single samples are drawn when there are no more than this for a pixel. */
const SAMPLES_PER_PIXEL = 1;

function samplesFit(view, from, to, pixels) {
  const s = view.samples;
  return s && from >= s.from && to <= s.to && countSamples(s, from, to) <= pixels * SAMPLES_PER_PIXEL;
}

/* One point at the end of each sample's interval; drawn as a step back to where it began. */
function sampleSeries(view, metric, cpus, from, to) {
  const s = view.samples, picked = [];
  for (const cpu of cpus) {
    const list = s.byCpu.get(cpu) || [];
    const first = Math.max(0, lowerSample(s, list, from) - 1);
    const last = Math.min(list.length, lowerSample(s, list, to) + 1);
    for (let i = first; i < last; i++) picked.push(list[i]);
  }
  if (cpus.length > 1) picked.sort((a, b) => s.time[a] - s.time[b]);
  const x = new Float64Array(picked.length), mean = new Array(picked.length);
  picked.forEach((n, i) => {
    x[i] = s.time[n] * s.nsPerTick;
    const value = s.ticks[n] ? metric.value((event) => s.sums[event][n], s.ticks[n], 1) : NaN;
    mean[i] = Number.isFinite(value) ? value : null;
  });
  return { x, mean, least: null, largest: null, samples: true, step: 0 };
}

/* The page's own levels, or finer ones that the server gave for this window. */
function pyramidFor(view, from, to, pixels) {
  const fine = view.fine;
  return fine && from >= fine.from && to <= fine.to && (to - from) / pixels < view.pyramid.binNs ? fine.pyramid : view.pyramid;
}

function binSeries(view, metric, cpus, from, to, pixels) {
  const p = pyramidFor(view, from, to, pixels), level = levelFor(p, to - from, pixels), step = p.binNs * 2 ** level;
  const first = Math.max(0, Math.floor((from - p.originNs) / step) - 1);
  const last = Math.min(Math.ceil(p.count / 2 ** level), Math.ceil((to - p.originNs) / step) + 1);
  const count = Math.max(0, last - first);
  const x = new Float64Array(count), mean = new Array(count).fill(null);
  const least = metric.ends ? new Array(count).fill(null) : null;
  const largest = metric.ends ? new Array(count).fill(null) : null;
  const rows = p.cpus.filter((c) => cpus.includes(c.cpu)), lists = new Map();
  let n = first, row = null;
  const list = (kind, event) => { /* a column of every CPU, found once */
    const key = kind + event;
    if (!lists.has(key)) lists.set(key, rows.map((c) => c.get(kind, event, level)));
    return lists.get(key);
  };
  const add = (columns) => { let sum = 0; for (const column of columns) sum += column[n] || 0; return sum; };
  const sums = (event) => add(list("sum", event)), end = (kind, event) => { const v = list(kind, event)[row][n]; return v === undefined ? NaN : v; };
  const samples = list("samples", ""), ticks = list("ticks", "");
  for (let i = 0; i < count; i++) {
    n = first + i;
    x[i] = p.originNs + n * step;
    const covered = add(ticks);
    if (covered === 0) continue;
    const value = metric.value(sums, covered, add(samples));
    mean[i] = Number.isFinite(value) ? value : null;
    for (row = 0; least && row < rows.length; row++) {
      const [low, high] = metric.ends(end);
      if (Number.isFinite(low) && (least[i] === null || low < least[i])) least[i] = low;
      if (Number.isFinite(high) && (largest[i] === null || high > largest[i])) largest[i] = high;
    }
  }
  return { x, mean, least, largest, samples: false, step };
}

function seriesFor(view, metric, cpus, from, to, pixels) {
  return samplesFit(view, from, to, pixels)
    ? sampleSeries(view, metric, cpus, from, to)
    : binSeries(view, metric, cpus, from, to, pixels);
}

/* The top of the scale: all means, and the largest of most samples, so that one outlier squeezes nothing. */
function topOf(series) {
  let top = 0;
  for (const value of series.mean) if (value > top) top = value;
  if (series.largest) {
    const sorted = series.largest.filter((v) => v !== null).sort((a, b) => a - b);
    const most = sorted[Math.floor((sorted.length - 1) * 0.98)];
    if (most > top) top = Math.min(most, top * 4);
  }
  return top > 0 ? top * 1.12 : 1;
}
