/* The flame graph of the profile, drawn by d3-flame-graph. */
const FRAME_HEIGHT = 18;
const FRAMES_MAX = 6000; /* the heaviest ... */
const LEAST_SHARE = 1 / 5000; /* ... but none that is narrower than a pixel when it is five times as wide */

/* The profile as nested frames; nodes lighter than the bound are left out, their weight stays with the caller. */
function nestedFrames(view, weight) {
  const { parent, function: owner, functions } = view.tree, total = totalsOf(view, weight);
  const least = leastShown(total);
  const frames = new Array(total.length);
  frames[0] = { node: 0, name: "all", value: total[0], self: weight[0], children: [], f: functions[0] };
  for (let n = 1; n < total.length; n++) {
    if (total[n] <= 0 || total[n] < least || !frames[parent[n]]) continue;
    const f = functions[owner[n]];
    frames[n] = { node: n, name: functionName(f), value: total[n], self: weight[n], children: [], f };
    frames[parent[n]].children.push(frames[n]);
  }
  const byName = (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
  const order = view.hasStacks ? byName : (a, b) => b.value - a.value || byName(a, b);
  for (const frame of frames) if (frame) frame.children.sort(order);
  return frames[0];
}

function leastShown(total) {
  const least = total[0] * LEAST_SHARE, heavy = total.filter((value) => value >= least);
  return heavy.length <= FRAMES_MAX ? least : heavy.sort()[heavy.length - FRAMES_MAX];
}

function hashOf(text) {
  let hash = 7;
  for (let i = 0; i < text.length; i++) hash = (hash * 31 + text.charCodeAt(i)) | 0;
  return (hash >>> 0) / 4294967296;
}

/* A hue for each file of the program, a shade for each function; what was found stands out. */
function frameColour(view, d) {
  const dark = document.documentElement.dataset.theme === "dark";
  if (d.highlight) return dark ? "#ffd54a" : "#ffc400";
  if (view.diff) return changeColour(changeOf(view, d.data.node), dark);
  if (d.data.f.number < FIXED_FUNCTIONS.length) return dark ? "#8b949f" : "#c9cfd6";
  const hues = [28, 208, 165, 318, 48, 262], n = view.objects.indexOf(d.data.f.object);
  const shade = hashOf(d.data.f.name);
  return `hsl(${hues[(n < 0 ? 5 : n) % 6] + shade * 14 - 7}, ${n < 0 ? 12 : dark ? 48 : 62}%, ${(dark ? 60 : 70) + shade * 12}%)`;
}

/* d3-flame-graph wants a selection of d3, of which it uses these two. */
function selectionOf(node) {
  return {
    datum(value) { node.__data__ = typeof value === "function" ? value.call(node, node.__data__, 0, [node]) : value; return this; },
    each(call) { call.call(node, node.__data__, 0, [node]); return this; },
  };
}

function frameWords(view, d) {
  if (view.diff) return `${d.data.name}${d.data.f.object ? "  [" + d.data.f.object + "]" : ""}: ${changeWords(view, view.diff.totals[0][d.data.node], view.diff.totals[1][d.data.node])}`;
  const root = view.flame.total;
  const value = view.flame.offCpu ? formatTime(d.data.value) + " off CPU" : `${formatCount(d.data.value)} ${weightWords(view)}`;
  return `${d.data.name}${d.data.f.object ? "  [" + d.data.f.object + "]" : ""}: ${value}, ${formatShare(d.data.value / root)}; itself ${formatShare(d.data.self / root)}`;
}

function weightWords(view) {
  return state.weight < 0 ? weightUnit(view) + "s" : view.facts.events[state.weight].name;
}

function drawFlame(view) {
  const holder = byId("flame"), off = view.flame.offCpu;
  const root = nestedFrames(view, off ? waitedIn(view, ...profileRange(view)) : view.profile.self[state.weight + 1]);
  const upward = view.flame.upward, quiet = view.taking || window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  holder.replaceChildren();
  holder.classList.toggle("upward", upward);
  document.querySelector(".columns").classList.toggle("flat", view.isFlat);
  view.flame.total = root.value;
  view.flame.width = holder.clientWidth;
  byId("flame-reset").disabled = true;
  byId("flame-detail").textContent = "";
  if (root.value <= 0) {
    byId("flame-note").textContent = off ? "No thread waited here." : isLive(view) ? "No samples here so far." : view.facts.samples ? "Nothing was counted here." : "The trace has no samples: the program ended before the first one was due, or sampling was off.";
    view.flame.chart = null;
    return;
  }
  const chart = flamegraph().width(Math.max(200, holder.clientWidth - 2)).cellHeight(FRAME_HEIGHT).minFrameSize(2)
    .transitionDuration(quiet ? 0 : 120).inverted(!upward).resetHeightOnZoom(true).selfValue(false)
    .setColorMapper((d) => frameColour(view, d)).label((d) => frameWords(view, d))
    .setDetailsHandler((text) => { byId("flame-detail").textContent = text || ""; })
    .setSearchMatch((d, term) => matches(d.data.f, term))
    .setSearchHandler(() => {})
    .onClick((d) => { byId("flame-reset").disabled = !d.parent; view.flame.focus = view.flame.zoomed = d; markFocus(view); });
  chart(selectionOf(holder).datum(root));
  view.flame.chart = chart;
  view.flame.focus = holder.__data__;
  if (state.search) chart.search(state.search);
  if (upward) holder.scrollTop = holder.scrollHeight;
}

function matches(f, term) {
  return term !== "" && (f.name.toLowerCase().includes(term.toLowerCase()) || f.object.toLowerCase() === term.toLowerCase());
}

function markFocus(view) {
  for (const g of byId("flame").querySelectorAll("g.frame")) {
    const focused = g.__data__ === view.flame.focus;
    g.classList.toggle("focused", focused);
    if (focused) g.scrollIntoView({ block: "nearest" });
  }
  if (view.flame.focus) byId("flame-detail").textContent = frameWords(view, view.flame.focus);
}

/* Arrows walk over the frames, Enter zooms into one, Backspace shows all. */
function flameKey(view, event) {
  const here = view.flame.focus, chart = view.flame.chart;
  if (!here || !chart) return;
  const outward = view.flame.upward ? "ArrowUp" : "ArrowDown", inward = view.flame.upward ? "ArrowDown" : "ArrowUp";
  const row = here.parent ? here.parent.children : [here], n = row.indexOf(here);
  const next = { [outward]: here.children && here.children.reduce((a, b) => (b.data.value > a.data.value ? b : a)), [inward]: here.parent,
    ArrowLeft: row[n - 1], ArrowRight: row[n + 1] }[event.key];
  if (event.key === "Enter") chart.zoomTo(here);
  else if (event.key === "Backspace") resetFlame(view);
  else if (next) view.flame.focus = next;
  else if (!event.key.startsWith("Arrow")) return;
  markFocus(view);
  event.preventDefault();
  event.stopPropagation();
}

function resetFlame(view) {
  if (!view.flame.chart) return;
  view.flame.chart.resetZoom();
  byId("flame-reset").disabled = true;
}

/* The names of the frames from the root to the one that the graph is zoomed to. */
function zoomedPath(view) {
  const names = [];
  for (let d = byId("flame-reset").disabled ? null : view.flame.zoomed; d && d.parent; d = d.parent) names.unshift(d.data.name);
  return names;
}

function zoomToPath(view, names) {
  const frame = names.reduce((d, name) => d && d.children && d.children.find((child) => child.data.name === name), byId("flame").__data__);
  if (view.flame.chart && names.length && frame) view.flame.chart.zoomTo(frame);
}

function startFlame(view) {
  const direct = (upward) => {
    view.flame.upward = upward;
    byId("as-flame").setAttribute("aria-pressed", upward);
    byId("as-icicle").setAttribute("aria-pressed", !upward);
    if (view.profile) drawFlame(view);
  };
  const time = (offCpu) => {
    view.flame.offCpu = offCpu;
    byId("on-cpu").setAttribute("aria-pressed", !offCpu);
    byId("off-cpu").setAttribute("aria-pressed", offCpu);
    if (!view.profile) return;
    describeProfile(view);
    drawFlame(view);
  };
  view.flame = { upward: true, offCpu: false, chart: null, focus: null, total: 0, width: 0 };
  byId("as-flame").onclick = () => direct(true);
  byId("as-icicle").onclick = () => direct(false);
  byId("on-cpu").onclick = () => time(false);
  byId("off-cpu").onclick = () => time(true);
  byId("flame-reset").onclick = () => resetFlame(view);
  byId("flame").addEventListener("keydown", (event) => flameKey(view, event));
}
