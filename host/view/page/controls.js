/* Chips, lists and keys of the page. */
function drawChips(view) {
  byId("metrics").replaceChildren(...state.metrics.map((id, n) => {
    const metric = view.metrics.find((m) => m.id === id), swatch = element("i");
    swatch.style.background = metric.bands ? "linear-gradient(var(--b1) 33%, var(--b2) 33% 66%, var(--b0) 66%)" : `var(--m${n % 6})`;
    const chip = element("button", { type: "button", className: "chip", title: `Remove ${metric.name} ${metric.unit}` }, swatch, `${metric.name} ${metric.id === "ipc" || metric.bands ? "" : metric.unit}${stubMark(metric)} ✕`);
    chip.onclick = () => change({ metrics: state.metrics.filter((other) => other !== id) });
    return chip;
  }));
  const add = byId("metric-add");
  add.replaceChildren(element("option", { value: "", textContent: "metric …" }), ...view.metrics.filter((m) => !state.metrics.includes(m.id))
    .map((m) => element("option", { value: m.id, textContent: `${m.name} ${m.unit}${stubMark(m)}` })));
}

function fillLists(view) {
  const cpus = view.pyramid.cpus.map((c) => c.cpu), { events } = view.facts, { threads, processes } = view.lanes;
  const option = (value, text) => element("option", { value, textContent: text });
  byId("weight").replaceChildren(option(-1, weightUnit(view) + "s"), ...events.map((e, i) => option(i, e.name + (e.source === "stub" ? " (stub)" : ""))));
  byId("cpu").replaceChildren(option(-1, "all"), ...cpus.map((cpu) => option(cpu, "CPU " + cpu)));
  byId("tid").replaceChildren(option(-1, "all"), ...threads.map((t) => option(t.tid, `${t.tid} (${formatTime(t.ns)})`)));
  byId("process").replaceChildren(option(-1, "all"), ...[...new Set(threads.map((t) => t.process))].filter((p) => processes[p])
    .map((p) => option(p, `${processes[p].name} ${processes[p].pid}`)));
  const { bands } = memoryAccesses(view);
  byId("object").replaceChildren(option(-1, "all"), ...bands.map((band) => option(band.number, band.name)).reverse());
  for (const id of ["weight", "cpu", "tid", "process", "object"]) byId(id).value = state[id];
  byId("object-label").hidden = bands.length === 0;
  byId("process-label").hidden = processes.length < 2;
  byId("cpu-label").hidden = cpus.length < 2;
  byId("split-label").hidden = cpus.length < 2;
  byId("tid-label").hidden = threads.length < 2;
  byId("split").checked = state.split;
  byId("inlined-label").hidden = !view.tree.functions.some((f) => f.inlined);
}

function setTheme(name) {
  colours.clear();
  document.documentElement.dataset.theme = name;
  byId("theme").textContent = name === "dark" ? "Light" : "Dark";
}

function startTheme(view) {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const toggle = () => { setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"); view.redrawAll(); };
  setTheme(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => { setTheme(dark.matches ? "dark" : "light"); view.redrawAll(); });
  byId("theme").onclick = toggle;
  view.toggleTheme = toggle;
}

function onKey(view, event) {
  const typing = event.target.closest("input, select, dialog, #flame, .table-scroll");
  if (event.key === "Escape" && !byId("keys").open) {
    setSearch(view, "");
    change({ selection: null });
    if (typing) event.target.blur();
    return;
  }
  if (event.target.closest("input, select, dialog") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") { byId("search").focus(); event.preventDefault(); return; }
  if (event.key === "?") return byId("keys").showModal();
  if (event.key.toLowerCase() === "t") return view.toggleTheme();
  if (typing && event.key.startsWith("Arrow")) return;
  timelineKey(view, event);
}

function startControls(view) {
  byId("metric-add").onchange = (event) => { if (event.target.value) change({ metrics: state.metrics.concat(event.target.value) }); };
  byId("split").onchange = (event) => change({ split: event.target.checked });
  byId("inlined").onchange = (event) => change({ inlined: event.target.checked });
  byId("weight").onchange = (event) => change({ weight: Number(event.target.value) });
  byId("cpu").onchange = (event) => change({ cpu: Number(event.target.value) });
  byId("process").onchange = (event) => change({ process: Number(event.target.value) });
  byId("object").onchange = (event) => change({ object: Number(event.target.value) });
  byId("tid").onchange = (event) => change({ tid: Number(event.target.value) });
  byId("clear").onclick = () => change({ selection: null });
  byId("help").onclick = () => byId("keys").showModal();
  byId("search").oninput = whenQuiet(60, () => change({ search: byId("search").value.trim() }));
  document.addEventListener("keydown", (event) => onKey(view, event));
}
