/* What the map of memory says about the place under the pointer, and what a press does there. */
const MEMORY_FRAMES = 8;

function addressText(address) {
  return "0x" + address.toString(16);
}

function memoryBandWords(map, band) {
  const sums = map.of === "accesses" ? `${formatCount(band.reads)} reads and ${formatCount(band.writes)} writes recorded` : map.of === "pages" ? "" : `${formatBytes(band.bytes)} in ${plural(band.objects, "object")}`;
  return `${band.name}, process ${band.pid}\n${addressText(band.start)} to ${addressText(band.end)}` + (sums ? "\n" + sums : "");
}

/* The band, time and address at a place of the canvas; null: none. */
function memoryAt(view, event) {
  const stage = byId("memory-stage").getBoundingClientRect(), x = event.clientX - stage.left, y = event.clientY - stage.top;
  const box = view.memory.boxes.find((one) => y >= one.y && y < one.y + one.height);
  if (!box) return null;
  const offset = (1 - (y - box.y) / box.height) * box.band.size;
  return { band: box.band, x, y, ns: toTime(x), offset, perPixel: box.band.size / box.height, inPlot: x >= GUTTER && x <= GUTTER + plotWidth() };
}

/* The cell there; -1: it is empty. */
function memoryCellAt(map, at) {
  const { band } = at, bin = Math.floor((at.ns - map.from) / map.binNs), row = Math.min(band.rows - 1, Math.floor(at.offset / band.size * band.rows));
  const place = bin * band.rows + row, n = band.first + lowerPlace(map.cells.place.subarray(band.first, band.last), place);
  return bin >= 0 && bin < map.bins && n < band.last && map.cells.place[n] === place ? n : -1;
}

/* The object of the heap there, the smallest of several; -1: none that is kept. */
function memoryLifeAt(map, at) {
  const { lives } = map, slack = at.perPixel, nearNs = (state.to - state.from) / plotWidth();
  let best = -1;
  for (let n = at.band.firstLife; n < at.band.lastLife; n++) {
    const low = lives.low[n], end = lives.length[n] ? lives.from[n] + lives.length[n] : map.to;
    if (at.offset < low - slack || at.offset > low + lives.bytes[n] + slack || at.ns < lives.from[n] - nearNs || at.ns > end + nearNs) continue;
    if (best < 0 || lives.bytes[n] < lives.bytes[best]) best = n;
  }
  return best;
}

function memoryCellWords(map, band, n) {
  const { cells } = map, row = cells.place[n] % band.rows, from = map.from + Math.floor(cells.place[n] / band.rows) * map.binNs;
  const lines = [`${addressText(memoryRowStart(map, band, row))} to ${addressText(memoryRowStart(map, band, row + 1))}, ${formatPoint(from, map.binNs, state.to)} to ${formatPoint(from + map.binNs, map.binNs, state.to)}`];
  const what = map.of === "pages" ? "page" : "record";
  if (cells.reads[n] + cells.writes[n] > 0) {
    const latency = cells.timed[n] ? `, ${formatRate(cells.latency[n] / cells.timed[n])} cycles on average` : "";
    const thread = map.of === "pages" ? "" : cells.tid[n] ? `, by thread ${cells.tid[n] - 1}` : ", by several threads";
    lines.push(`${plural(cells.reads[n], what)} read, ${formatCount(cells.writes[n])} written${latency}${thread}`);
  }
  if (cells.live[n]) lines.push(`${formatShare(cells.live[n] / 255)} of it allocated`);
  return lines.join("\n");
}

function memoryLifeWords(map, n) {
  const { lives } = map, step = map.binNs / 100;
  return `${formatBytes(lives.bytes[n])} at ${addressText(BigInt(lives.address[n]))}, allocated at ${formatPoint(lives.from[n], step, map.to)} by thread ${lives.tid[n]}, ` +
    (lives.length[n] ? `freed after ${formatTime(lives.length[n])}` : "never freed");
}

function memoryWords(view, at) {
  const { map } = view.memory, lines = [memoryBandWords(map, at.band)];
  const cell = at.inPlot ? memoryCellAt(map, at) : -1, life = at.inPlot ? memoryLifeAt(map, at) : -1;
  if (cell >= 0) lines.push(memoryCellWords(map, at.band, cell));
  if (life >= 0) lines.push(memoryLifeWords(map, life));
  lines.push(...at.band.detail.slice(0, MEMORY_FRAMES).map((frame, i) => (i ? "  ← " : "  ") + frame));
  return lines.join("\n");
}

function hoverMemory(view, event) {
  const at = memoryAt(view, event), tip = byId("memory-tip"), stage = byId("memory-stage");
  tip.hidden = !at || event.buttons !== 0;
  if (tip.hidden) return;
  tip.textContent = memoryWords(view, at);
  tip.style.left = Math.max(0, Math.min(at.x + 12, stage.clientWidth - tip.offsetWidth - 4)) + "px";
  tip.style.top = (event.clientY + tip.offsetHeight + 20 > window.innerHeight ? at.y - tip.offsetHeight - 8 : at.y + 16) + "px";
}

/* On a name: that object alone, or all again.  In the map: selects time. */
function memoryPress(view, event) {
  const at = memoryAt(view, event), { memory } = view;
  if (event.button === 0 && at && at.x < GUTTER) return onlyMemory(view, memory.only < 0 ? at.band.number : -1);
  if (at) chooseMemory(view, at.band.number);
  onPointerDown(view, event);
}

/* From an object's allocation until it is freed: the graph shows what ran meanwhile. */
function selectMemoryLife(view, event) {
  const at = memoryAt(view, event), { map } = view.memory, life = at && at.inPlot ? memoryLifeAt(map, at) : -1;
  if (life < 0) return;
  const from = map.lives.from[life], to = map.lives.length[life] ? from + map.lives.length[life] : map.to;
  change({ selection: [from, Math.min(view.end, to)] });
}
