/* Bands: areas stacked over time, as a row of the timeline that zooms, moves and selects with it.  A metric is drawn so if it has `bands`:
 *   layers   [{ name, hue }] from the bottom; hue: a colour's name in style.css, b0 to b7 or rest
 *   read     (from, to, pixels, cpus) -> { start, step, values, top, samples }: bins of `step` ns from `start` on, `values[layer][bin]`, the scale's
 *            end; samples: a bin is no longer than a sample
 *   text     a value in words, also on the scale; per: what the pointer's words add to it, " / ms"
 *   whole    one row, also where each CPU has one; search: a click on a name searches for it
 *   tall     a row that is higher than others */
const BANDS_LEGEND = 19; /* px below the areas, for the names */
const BANDS_EDGE = 6; /* px above them */
const BANDS_TOLD = 7; /* layers that the pointer's words name */

function bandsBox(row) {
  return { left: GUTTER, right: GUTTER + plotWidth(), top: BANDS_EDGE, bottom: row.height - BANDS_LEGEND - 2 };
}

/* Draws the areas into a box; toX: from ns to pixels; lit: the layer that stands out, -1: none. */
function paintBands(context, bands, series, box, toX, lit) {
  const { start, step, values, top } = series, count = values.length ? values[0].length : 0, tall = box.bottom - box.top;
  const x = Float64Array.from({ length: count + 1 }, (_, i) => Math.max(box.left, Math.min(box.right, toX(start + i * step))));
  const below = new Float64Array(count), y = (value) => box.bottom - Math.min(1, value / top) * tall;
  values.forEach((layer, n) => {
    context.beginPath();
    context.moveTo(x[0], count ? y(below[0]) : box.bottom);
    for (let i = 0; i < count; i++) {
      const line = y(below[i] + layer[i]);
      context.lineTo(x[i], line);
      context.lineTo(x[i + 1], line);
    }
    for (let i = count - 1; i >= 0; i--) {
      const line = y(below[i]);
      context.lineTo(x[i + 1], line);
      context.lineTo(x[i], line);
      below[i] += layer[i];
    }
    context.globalAlpha = lit < 0 || lit === n ? 1 : 0.35;
    context.fillStyle = colour(bands.layers[n].hue);
    context.fill();
  });
  context.globalAlpha = 1;
}

function drawBandScale(context, row, box) {
  const { bands } = row.metric, { top } = row.series, ticks = top === 1 && box.bottom - box.top > 40 ? [0, 0.5, 1] : verticalTicks(top);
  context.font = textFont(10.5);
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const tick of ticks) {
    const y = Math.round(box.bottom - tick / top * (box.bottom - box.top)) + 0.5;
    context.fillStyle = colour("quiet");
    context.fillText(bands.text(tick), GUTTER - 5, y);
    context.fillStyle = colour("text");
    context.globalAlpha = 0.12;
    context.fillRect(box.left, y - 0.5, box.right - box.left, 1);
    context.globalAlpha = 1;
  }
  context.textAlign = "left";
}

function drawBands(row) {
  const box = bandsBox(row), { bands } = row.metric, context = prepareCanvas(row.canvas, stageWidth(), row.height);
  row.series = bands.read(state.from, state.to, plotWidth(), row.cpus);
  paintBands(context, bands, row.series, box, toPixel, row.lit);
  drawBandScale(context, row, box);
}

/* The layers' names below; one stands out while the pointer is on it. */
function makeBandRow(view, row) {
  const { bands } = row.metric, light = (n) => { if (row.lit !== n) { row.lit = n; drawBands(row); } };
  row.canvas = element("canvas", { className: "bands" });
  row.lit = -1;
  row.light = light;
  row.legend = element("div", { className: "bands-legend" }, ...bands.layers.map((layer, n) => {
    const name = element(bands.search ? "button" : "span", { title: layer.title || layer.name }, element("i"), element("b", { textContent: layer.name }));
    name.firstChild.style.background = `var(--${layer.hue})`;
    name.onpointerenter = () => light(n);
    name.onpointerleave = () => light(-1);
    if (bands.search && layer.hue !== "rest") name.onclick = () => setSearch(view, state.search === layer.name ? "" : layer.name);
    return name;
  }));
  row.element.append(row.canvas, row.legend);
}

/* The row of bands under the pointer lights the layer there; returns the words for it, "" for none. */
function bandWords(view, event, ns) {
  const element = event.target.closest ? event.target.closest(".row") : null;
  let words = "";
  for (const row of view.rows.filter((r) => r.metric.bands)) {
    const here = row.element === element && row.series && !event.target.closest(".bands-legend");
    const bin = here ? Math.floor((ns - row.series.start) / row.series.step) : -1;
    if (here && row.series.values.length && bin >= 0 && bin < row.series.values[0].length) words = layerWords(row, bin, event.clientY - element.getBoundingClientRect().top);
    else if (!event.target.closest || !event.target.closest(".bands-legend")) row.light(-1);
  }
  return words;
}

function layerWords(row, bin, y) {
  const { bands } = row.metric, { values, top } = row.series, box = bandsBox(row);
  let left = (box.bottom - y) / (box.bottom - box.top) * top, at = -1;
  values.forEach((layer, n) => { if (at < 0 && left >= 0 && (left -= layer[bin]) < 0) at = n; });
  row.light(y > box.bottom ? -1 : at);
  const order = values.map((layer, n) => n).filter((n) => values[n][bin] > 0).sort((a, b) => (b === at) - (a === at) || values[b][bin] - values[a][bin]);
  return order.slice(0, BANDS_TOLD).map((n) => `${bands.text(values[n][bin])}${bands.per || ""}  ${bands.layers[n].name}`).join("\n");
}

function unlightBands(view) {
  for (const row of view.rows) if (row.metric.bands) row.light(-1);
}

/* A width of bins of 2^n * `base` ns that is at least `least` pixels. */
function bandStep(base, from, to, pixels, least) {
  return base * 2 ** Math.max(0, Math.ceil(Math.log2((to - from) / pixels * least / base)));
}

/* Bins of a width that cover a window: { start, step, count }. */
function bandBins(step, from, to, end) {
  const start = Math.max(0, Math.floor(from / step)) * step;
  return { start, step, count: Math.max(0, Math.ceil((Math.min(to, end) - start) / step)) };
}

/* Divides each bin by what it has in all. */
function toShares(values) {
  for (let i = 0; values.length && i < values[0].length; i++) {
    let all = 0;
    for (const layer of values) all += layer[i];
    for (const layer of values) layer[i] = all > 0 ? layer[i] / all : 0;
  }
}

/* Adds a span of time with an amount to the bins that it covers, in proportion. */
function spreadSpan(layer, bins, first, last, amount) {
  const { start, step } = bins, length = Math.max(last - first, 1e-9);
  const end = Math.min(layer.length - 1, Math.floor((last - start) / step));
  for (let i = Math.max(0, Math.floor((first - start) / step)); i <= end; i++)
    layer[i] += amount * Math.max(0, Math.min(last, start + (i + 1) * step) - Math.max(first, start + i * step)) / length;
}
