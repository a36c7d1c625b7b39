/* Memory over time and address: an object a band, the highest addresses at the top; hr memory --map. */
const MEMORY_HEIGHT = 340;
const MEMORY_BAND_LEAST = 15;
const MEMORY_BAND_GAP = 3;
const MEMORY_OF_WORDS = { accesses: "accesses", pages: "pages touched", allocations: "allocations" };
const MEMORY_HUES = [["m0", "read"], ["m3", "both"], ["m1", "written"]];

function makeMemory(group) {
  const maps = group.facts.maps.map((map) => makeMemoryMap(map, (name) => group.column(`${map.of}.${name}`)));
  return { maps, map: maps[0] || null, chosen: -1, only: -1, boxes: [] };
}

function makeMemoryMap(map, column) {
  const cells = { place: column("place"), reads: column("reads"), writes: column("writes"), timed: column("timed"), latency: column("latency"), tid: column("tid"), live: column("live") };
  const lives = { band: column("life.band"), address: column("life.address"), bytes: column("life.bytes"), from: column("life.from"), length: column("life.length"), tid: column("life.tid") };
  lives.low = new Float64Array(lives.band.length); /* bytes from the band's start */
  let first = 0, life = 0;
  const bands = map.bands.map((band, number) => {
    const out = { ...band, number, start: BigInt(band.start), end: BigInt(band.end), first, last: first + band.cells, firstLife: life };
    out.size = Number(out.end - out.start);
    for (; life < lives.band.length && lives.band[life] === number; life++) lives.low[life] = Number(BigInt(lives.address[life]) - out.start);
    out.lastLife = life;
    first = out.last;
    return out;
  });
  return { ...map, binNs: (map.to - map.from) / map.bins, bands, cells, lives };
}

/* How much there was in a cell, from 0 to 1: as memory_map_strength(). */
function memoryStrength(map, band, n) {
  const all = map.cells.reads[n] + map.cells.writes[n];
  if (map.of === "pages") return Math.min(1, all / (band.size / map.unit / band.rows * map.looks / map.bins));
  return map.most > 1 ? Math.log(all + 1) / Math.log(map.most + 1) : 1;
}

/* The first address of a row: as memory_map_row_start(). */
function memoryRowStart(map, band, row) {
  const unit = BigInt(map.unit);
  return band.start + (band.end - band.start) / unit * BigInt(row) / BigInt(band.rows) * unit;
}

/* Where the bands are on the canvas, the last one first. */
function layOutMemory(memory) {
  const shown = memory.map.bands.filter((band) => memory.only < 0 || band.number === memory.only).reverse();
  const rows = shown.reduce((sum, band) => sum + band.rows, 0), room = MEMORY_HEIGHT - shown.length * MEMORY_BAND_GAP;
  let y = 1;
  memory.boxes = shown.map((band) => {
    const box = { band, y, height: Math.max(MEMORY_BAND_LEAST, Math.round(room * band.rows / rows)) };
    y += box.height + MEMORY_BAND_GAP;
    return box;
  });
  return y;
}

/* A rectangle of time and address (in bytes from the band's start), if it is in the window. */
function memoryRect(context, box, fromNs, toNs, low, high) {
  if (toNs < state.from || fromNs > state.to) return;
  const left = Math.round(Math.max(GUTTER, toPixel(fromNs))), right = Math.round(Math.min(GUTTER + plotWidth(), toPixel(toNs)));
  const top = box.y + Math.round(box.height * (1 - high / box.band.size)), bottom = box.y + Math.round(box.height * (1 - low / box.band.size));
  context.fillRect(left, top, Math.max(1, right - left), Math.max(1, bottom - top));
}

function drawMemoryLives(context, map, box, alone) {
  const { lives } = map, { band } = box;
  context.globalAlpha = alone ? 0.55 : 0.28;
  for (let n = band.firstLife; n < band.lastLife; n++) {
    const low = lives.low[n];
    memoryRect(context, box, lives.from[n], lives.length[n] ? lives.from[n] + lives.length[n] : map.to, Math.max(0, low), Math.min(band.size, low + lives.bytes[n]));
  }
}

/* Of a colour of the theme, "#rrggbb". */
function channelsOf(name) {
  const number = parseInt(colour(name).slice(1), 16);
  return [number >> 16, number >> 8 & 255, number & 255];
}

/* The cells of a band, a pixel each: accesses by hue, more of them denser; else, of many objects, what is allocated. */
function memoryImage(map, band) {
  const canvas = element("canvas", { width: map.bins, height: band.rows }), context = canvas.getContext("2d"), { cells } = map;
  const image = context.createImageData(map.bins, band.rows), hues = MEMORY_HUES.map(([name]) => channelsOf(name)), alone = map.of === "allocations";
  const live = channelsOf(alone ? "m2" : "quiet"), shares = map.lives_left_out !== 0;
  for (let n = band.first; n < band.last; n++) {
    const all = cells.reads[n] + cells.writes[n], share = all ? cells.writes[n] / all : 0;
    const alpha = all ? 0.3 + 0.7 * memoryStrength(map, band, n) : shares ? (0.25 + 0.75 * cells.live[n] / 255) * (alone ? 0.6 : 0.35) : 0;
    const bin = Math.floor(cells.place[n] / band.rows), row = cells.place[n] % band.rows;
    image.data.set([...(all ? hues[share < 0.2 ? 0 : share > 0.8 ? 2 : 1] : live), 255 * alpha], 4 * ((band.rows - 1 - row) * map.bins + bin));
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/* Drawn anew only when the theme changes. */
function memoryImageOf(map, band) {
  const theme = document.documentElement.dataset.theme;
  if (!band.image || band.image.theme !== theme) band.image = { theme, canvas: memoryImage(map, band) };
  return band.image.canvas;
}

/* The part of the image that is in the window. */
function drawMemoryCells(context, map, box) {
  const from = Math.max(map.from, state.from), to = Math.min(map.to, state.to), left = toPixel(from), wide = Math.max(1, toPixel(to) - left);
  if (to <= from) return;
  context.imageSmoothingEnabled = wide < (to - from) / map.binNs;
  context.drawImage(memoryImageOf(map, box.band), (from - map.from) / map.binNs, 0, Math.max((to - from) / map.binNs, 1e-6), box.band.rows, left, box.y, wide, box.height);
}

function drawMemoryBand(context, memory, box) {
  const { map } = memory, { band } = box, alone = map.of === "allocations";
  context.fillStyle = colour("grid");
  context.globalAlpha = 0.6;
  context.fillRect(GUTTER, box.y, plotWidth(), box.height);
  context.fillStyle = colour(alone ? "m2" : "quiet");
  if (map.lives_left_out === 0) drawMemoryLives(context, map, box, alone);
  context.globalAlpha = 1;
  drawMemoryCells(context, map, box);
  context.fillStyle = colour(band.number === memory.chosen ? "accent" : "text");
  context.fillText(fitText(context, band.name, GUTTER - 12), 0, box.y + Math.min(box.height, 40) / 2);
}

function drawMemory(view) {
  const { memory } = view;
  if (!memory.map) return;
  const height = layOutMemory(memory), context = prepareCanvas(byId("memory-map"), stageWidth(), height);
  context.textBaseline = "middle";
  context.font = textFont(11);
  for (const box of memory.boxes) drawMemoryBand(context, memory, box);
}

/* The map of accesses, whose objects the profile tells apart; one without objects if there is none. */
function memoryAccesses(view) {
  return view.memory.maps.find((map) => map.of === "accesses") || { bands: [] };
}

function showMemoryMap(view, map) {
  const { memory } = view, hues = map.of === "allocations" ? [] : MEMORY_HUES;
  Object.assign(memory, { map, chosen: -1, only: -1 });
  const notes = [plural(map.bands.length, map.of === "pages" ? "range" : "object"), `a cell is ${formatTime(map.binNs)}`];
  if (map.left_out) notes.push(`${formatCount(map.left_out)} with less are left out`);
  byId("memory-note").textContent = notes.join(", ");
  byId("memory-legend").replaceChildren(...[...hues, ...(map.lives.band.length ? [[map.of === "allocations" ? "m2" : "quiet", "allocated"]] : [])].map(([name, word]) => {
    const swatch = element("i", {});
    swatch.style.background = `var(--${name})`;
    return element("span", {}, swatch, word);
  }));
  chooseMemory(view, -1);
}

/* Names an object below the map. */
function chooseMemory(view, number) {
  const { memory } = view, band = memory.map.bands[number];
  memory.chosen = number;
  byId("memory-object").textContent = band ? memoryBandWords(memory.map, band).replaceAll("\n", " · ") : "Drag over the map: the graph below shows what ran then. Click on an object to choose it.";
  byId("memory-graph").hidden = !band || memory.map.of !== "accesses";
  view.redraw();
}

/* One object as tall as the map, or all. */
function onlyMemory(view, number) {
  view.memory.only = number;
  byId("memory-all").disabled = number < 0;
  chooseMemory(view, number);
}

function memoryKey(view, event) {
  const { memory } = view, at = memory.boxes.findIndex((box) => box.band.number === memory.chosen);
  if (event.key === "ArrowUp" || event.key === "ArrowDown") {
    const next = memory.boxes[at < 0 ? 0 : at + (event.key === "ArrowDown" ? 1 : -1)];
    if (next) chooseMemory(view, next.band.number);
  } else if (event.key === "Enter") onlyMemory(view, memory.only < 0 ? memory.chosen : -1);
  else if (event.key === "Backspace") onlyMemory(view, -1);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

function startMemory(view) {
  const stage = byId("memory-stage"), select = byId("memory-of");
  select.onchange = () => showMemoryMap(view, view.memory.maps[Number(select.value)]);
  byId("memory-graph").onclick = () => change({ object: state.object === view.memory.chosen ? -1 : view.memory.chosen });
  byId("memory-all").onclick = () => onlyMemory(view, -1);
  stage.addEventListener("wheel", (event) => onWheel(view, event), { passive: false });
  stage.addEventListener("pointerdown", (event) => memoryPress(view, event));
  stage.addEventListener("pointermove", (event) => hoverMemory(view, event));
  stage.addEventListener("pointerleave", () => { byId("memory-tip").hidden = true; });
  stage.addEventListener("dblclick", (event) => selectMemoryLife(view, event));
  stage.addEventListener("keydown", (event) => memoryKey(view, event));
}

function fillMemory(view) {
  const { memory } = view, select = byId("memory-of");
  byId("memory").hidden = !memory.map;
  if (!memory.map) return;
  select.replaceChildren(...memory.maps.map((map, i) => element("option", { value: i, textContent: MEMORY_OF_WORDS[map.of] })));
  select.value = memory.maps.indexOf(memory.map);
  byId("memory-of-label").hidden = memory.maps.length < 2;
  showMemoryMap(view, memory.map);
}
