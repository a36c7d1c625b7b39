/* The page of two traces: the profile's panel alone, with what changed from one to the other. */
const DIFF_ENDS = [[33, 102, 172], [178, 24, 43]]; /* blue: less; red: more */

/* How much more a node counts after, from -1 (gone) to 1 (new); 0 where chance alone may show as much. */
function changeBetween(view, before, after) {
  const [a, b] = view.diff.strides, chance = 3 * Math.sqrt(a * before + b * after), more = Math.max(before, after);
  return more > 0 && Math.abs(after - before) > chance ? (after - before) / more : 0;
}

function changeOf(view, n) {
  return changeBetween(view, view.diff.totals[0][n], view.diff.totals[1][n]);
}

function changeColour(part, dark) {
  const middle = dark ? 200 : 238, depth = Math.pow(Math.abs(part), 0.7) * 0.8, end = DIFF_ENDS[part > 0 ? 1 : 0];
  return `rgb(${end.map((value) => Math.round(middle + depth * (value - middle))).join(",")})`;
}

function signed(value) {
  return (value > 0 ? "+" : value < 0 ? "−" : "") + formatCount(Math.abs(value));
}

function ownWords(before, after) {
  if (before === after) return "0 %";
  if (before === 0 || after === 0) return before === 0 ? "new" : "gone";
  const percent = (after / before - 1) * 100;
  return (percent > 0 ? "+" : "−") + Math.abs(percent).toFixed(Math.abs(percent) < 0.1 ? 4 : 1) + " %";
}

function changeWords(view, before, after) {
  const all = view.diff.totals.map((total) => total[0]);
  const chance = before !== after && changeBetween(view, before, after) === 0 ? ", no more than chance" : "";
  return `before ${formatCount(before)} (${formatShare(before / all[0])}), after ${formatCount(after)} (${formatShare(after / all[1])}): ` +
    `${signed(after - before)} ${view.diff.event} (${ownWords(before, after)})${chance}`;
}

function diffColumns(view) {
  const kind = (row) => { const part = changeBetween(view, row.before, row.self); return part > 0 ? "grew" : part < 0 ? "shrank" : "quiet"; };
  return [
    { id: "change", name: "Change", get: (row) => Math.abs(row.self - row.before), text: (_, row) => signed(row.self - row.before), kind, title: "Of the function itself, without what it called" },
    { id: "own", name: "Relative", get: (row) => (row.before > 0 ? row.self / row.before : Infinity), text: (_, row) => ownWords(row.before, row.self), kind },
    { id: "before", name: "Before", get: (row) => row.before, text: formatCount },
    { id: "after", name: "After", get: (row) => row.self, text: formatCount },
    { id: "name", name: "Function", text: null, get: (row) => row.f.name },
  ];
}

function diffRows(view) {
  const rows = view.tree.functions.map((f) => ({ f, before: 0, self: 0 }));
  for (let n = 1; n < view.tree.parent.length; n++) {
    rows[view.tree.function[n]].before += view.diff.self[0][n];
    rows[view.tree.function[n]].self += view.diff.self[1][n];
  }
  return { rows: rows.filter((row) => row.before > 0 || row.self > 0), total: view.diff.totals[1][0] };
}

async function readDiff() {
  const group = await loadPart("diff"), { programs, event, strides, incomplete, exact } = group.facts;
  const view = { facts: { sampling: {}, events: [], samples: 1 }, waits: { time: [] }, metrics: [], sort: { id: "change", direction: 1 }, end: 1 };
  view.tree = makeTree(group);
  view.isFlat = view.tree.parent.every((parent) => parent === 0);
  view.hasStacks = group.facts.stacks;
  view.diff = { programs, event, strides, incomplete, exact, self: [group.column("before"), group.column("after")] };
  view.diff.totals = view.diff.self.map((self) => totalsOf(view, self));
  view.profile = { self: [view.diff.self[1]], exact: true };
  view.functionRows = diffRows(view);
  return view;
}

function describeDiff(view) {
  const { programs, event, totals, strides, exact, incomplete } = view.diff, sampled = strides[0] > 0 || strides[1] > 0;
  const [before, after] = totals.map((total) => total[0]);
  byId("program").textContent = programs[0] === programs[1] ? programs[0] : `${programs[0]} → ${programs[1]}`;
  document.title = `${byId("program").textContent}: difference – Microtome`;
  const badges = [["", `${formatCount(before)} → ${formatCount(after)} ${event}`], ["", ownWords(before, after)]];
  if (exact) badges.push(["", "virtual time"]);
  incomplete.forEach((is, i) => { if (is) badges.push(["bad", (i ? "after" : "before") + " is incomplete"]); });
  byId("badges").replaceChildren(...badges.map(([kind, text]) => element("li", { className: kind, textContent: text })));
  byId("profile-title").textContent = "Difference";
  byId("profile-range").textContent = changeWords(view, before, after);
  byId("flame-note").textContent = (sampled ? "White: equal, or no more than chance can do to samples (three standard deviations). " : "") +
    (!view.hasStacks ? "The traces have no call stacks (hr run -g records them): the graph shows functions only, and what was inlined into them." : "");
}

function startWidths(view) {
  const show = (side) => {
    view.profile.self[0] = view.diff.self[side];
    byId("widths-after").setAttribute("aria-pressed", side === 1);
    byId("widths-before").setAttribute("aria-pressed", side === 0);
    drawFlame(view);
  };
  byId("flame-widths").hidden = false;
  byId("widths-after").onclick = () => show(1);
  byId("widths-before").onclick = () => show(0);
}

function diffKey(view, event) {
  if (event.key === "Escape") return setSearch(view, "");
  if (event.target.closest("input, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") { byId("search").focus(); event.preventDefault(); }
  if (event.key.toLowerCase() === "t") view.toggleTheme();
}

function startDiff(view) {
  view.redrawAll = () => { colourLegend(); drawFlame(view); drawFunctions(view); };
  document.body.classList.add("diff");
  for (const panel of document.querySelectorAll("main > .panel, main > .cards")) panel.hidden = panel.id !== "profile";
  for (const pick of document.querySelectorAll("#profile .pick")) pick.hidden = true;
  byId("help").hidden = true;
  byId("diff-legend").hidden = false;
  startFlame(view);
  startWidths(view);
  startTheme(view);
  onChange(["search"], () => applySearch(view));
  byId("search").oninput = whenQuiet(60, () => change({ search: byId("search").value.trim() }));
  document.addEventListener("keydown", (event) => diffKey(view, event));
  new ResizeObserver(whenQuiet(80, () => { if (byId("flame").clientWidth !== view.flame.width) drawFlame(view); })).observe(byId("flame"));
}

function colourLegend() {
  const dark = document.documentElement.dataset.theme === "dark";
  document.querySelectorAll("#diff-legend i").forEach((swatch, i) => { swatch.style.background = changeColour([-1, -0.3, 0, 0.3, 1][i], dark); });
}

async function mainDiff() {
  try {
    const view = await readDiff();
    window.hrView = { view, state, change, idle: () => waiting === 0, ready: false };
    startDiff(view);
    byId("notice").hidden = true;
    describeDiff(view);
    colourLegend();
    drawFlame(view);
    applySearch(view);
    window.hrView.ready = true;
  } catch (error) {
    byId("notice").hidden = false;
    byId("notice").textContent = "This page cannot be shown: " + error.message;
    throw error;
  }
}
