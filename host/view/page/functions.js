/* The table of functions, and the line that says what the profile covers. */
const ROWS_AT_FIRST = 100;

function functionColumns(view) {
  if (view.diff) return diffColumns(view);
  const columns = [{ id: "self", name: "Self", get: (row) => row.self, share: true }];
  if (view.hasStacks) columns.push({ id: "total", name: "Total", get: (row) => row.total, share: true, title: "With what it called" });
  const shown = (m) => state.metrics.includes(m.id), ratios = view.metrics.filter((m) => m.id.startsWith("per-base"));
  const ipc = view.metrics.find((m) => m.id === "ipc" && (!m.stub || shown(m)));
  if (ipc) columns.push({ id: "ipc", name: "IPC", get: (row) => ipc.value((e) => row.sums[e]), text: formatRate, title: "Instructions a cycle", stub: ipc.stub });
  const ratio = ratios.find(shown) || (!ipc && ratios.find((m) => !m.stub));
  if (ratio) columns.push({ id: "ratio", name: shortName(ratio.name), get: (row) => ratio.value((e) => row.sums[e]), text: formatRate, title: ratio.name + " per 1000 instructions", stub: ratio.stub });
  columns.push({ id: "name", name: "Function", text: null, get: (row) => row.f.name });
  return columns;
}

/* Of an event, for the head of a narrow column: per thousand instructions. */
function shortName(name) {
  const words = name.replace(/misses$/i, "miss").split(/[-_.]/);
  return (words.length > 1 ? words.map((word, i) => (i + 1 < words.length ? word.slice(0, 2) : word)).join(".") : name).slice(0, 9) + "/k";
}

function shareCell(value, total) {
  const share = total > 0 ? value / total : 0, bar = element("i");
  bar.style.width = Math.min(100, share * 100) + "%";
  return element("td", { className: "share" }, bar, element("b", { textContent: formatShare(share) }));
}

/* The colour of its band on the timeline. */
function bandColour(view, f) {
  const hue = view.hueOf && view.hueOf.get(f.number);
  return hue ? `var(--${hue})` : "transparent";
}

function functionRow(view, columns, row, total) {
  const words = weightWords(view), called = view.hasStacks ? ` itself, ${formatCount(row.total)} with what it called` : "";
  const title = `${row.f.name}\n${row.f.object}\n${formatCount(row.self)} ${words}${called}`;
  const line = element("tr", { title: view.diff ? `${row.f.name}\n${row.f.object}\n${changeWords(view, row.before, row.self)}` : title });
  for (const column of columns) {
    const value = column.get(row);
    if (column.share) line.append(shareCell(value, total));
    else if (column.id === "name")
      line.append(element("td", { className: view.diff ? "text" : "text banded", style: view.diff ? "" : `--hue: ${bandColour(view, row.f)}` }, (row.f.kernel ? "[kernel] " : "") + functionName(row.f), element("span", { className: "object", textContent: row.f.object })));
    else line.append(element("td", { textContent: column.text(value, row), className: column.kind ? column.kind(row) : "" }));
  }
  line.classList.toggle("found", matches(row.f, state.search));
  line.onclick = () => setSearch(view, state.search === row.f.name ? "" : row.f.name);
  return line;
}

function drawFunctions(view) {
  const { rows, total } = view.functionRows, columns = functionColumns(view), sort = view.sort;
  const by = columns.find((c) => c.id === sort.id) || columns[0];
  const table = byId("functions");
  rows.sort((a, b) => {
    const x = by.get(a), y = by.get(b);
    const order = by.id === "name" ? (x < y ? -1 : x > y ? 1 : 0) : (Number.isFinite(y) ? y : -1) - (Number.isFinite(x) ? x : -1);
    return order * sort.direction || b.self - a.self || a.f.number - b.f.number;
  });
  table.tHead.replaceChildren(element("tr", {}, ...columns.map((column) => {
    const sorted = column === by, button = element("button", { type: "button", textContent: column.name + (sorted ? (sort.direction > 0 ? " ▾" : " ▴") : ""), title: (column.title || "") + (column.stub ? " (stub: no measurement)" : "") });
    button.onclick = () => { view.sort = { id: column.id, direction: sorted ? -sort.direction : 1 }; drawFunctions(view); };
    const head = element("th", { className: column.id === "name" ? "text" : column.stub ? "stub" : "" }, button);
    head.setAttribute("aria-sort", sorted ? (sort.direction > 0 ? "descending" : "ascending") : "none");
    return head;
  })));
  table.tBodies[0].replaceChildren(...rows.slice(0, view.allRows ? rows.length : ROWS_AT_FIRST).map((row) => functionRow(view, columns, row, total)));
  noteRows(view, rows.length);
}

function noteRows(view, count) {
  const more = element("button", { type: "button", textContent: `Show all ${formatCount(count)} functions` });
  more.onclick = () => { view.allRows = true; drawFunctions(view); };
  byId("functions-note").replaceChildren(count > ROWS_AT_FIRST && !view.allRows ? more : plural(count, "function"));
}

function setSearch(view, text) {
  byId("search").value = text;
  change({ search: text });
}

function applySearch(view) {
  const found = view.functionRows.rows.filter((row) => matches(row.f, state.search));
  const self = found.reduce((sum, row) => sum + row.self, 0);
  byId("found").textContent = state.search === "" ? "" : `${plural(found.length, "function")}, ${formatShare(self / view.functionRows.total)} self`;
  if (view.flame.chart) {
    if (state.search) view.flame.chart.search(state.search);
    else view.flame.chart.clear();
  }
  drawFunctions(view);
}

function profileRange(view) {
  return state.selection || [state.from, state.to];
}

function describeProfile(view) {
  const [from, to] = isCounted(view) ? [0, view.end] : profileRange(view), whole = from <= 0 && to >= view.end, step = (to - from) / 100;
  byId("profile-title").textContent = state.selection && !isCounted(view) ? "Profile of the selection" : whole ? "Profile of the run" : "Profile of what is shown";
  byId("profile-range").textContent = (whole ? formatTime(view.end) : `${formatPoint(from, step, to)} – ${formatPoint(to, step, to)} (${formatTime(to - from)})`) +
    ` · ${plural(view.samplesInProfile, weightUnit(view))}`;
  byId("clear").hidden = !state.selection;
  const notes = [];
  if (isCounted(view)) notes.push("Every instruction was counted where it is, over the whole run: mode exact has no times and no call stacks.");
  else if (!view.hasStacks) notes.push("The trace has no call stacks (hr run -g records them): the graph shows functions only, and what was inlined into them.");
  if (!view.profile.exact) notes.push(`Counts are in blocks of ${formatTime(view.profile.roundNs)}; a block that is cut counts in part. hr view --serve counts exactly.`);
  if (state.object >= 0) notes.push(`Accesses to ${memoryAccesses(view).bands[state.object].name} alone.` + (view.facts.objects_refused ? ` ${formatCount(view.facts.objects_refused)} accesses to objects are not told apart: there are too many threads.` : ""));
  if (view.flame.offCpu) {
    const left = view.waits.refused ? ` ${formatCount(view.waits.refused)} waits more are not in it.` : "";
    notes.splice(0, notes.length, "Off CPU: how long threads waited, by the stack at which they began to, until they ran again. The table shows the profile on the CPU." + left);
  }
  byId("flame-note").textContent = notes.join(" ");
}

async function updateProfile(view) {
  const [from, to] = profileRange(view), turn = ++view.profileTurn;
  const profile = await profileOf(view, from, to);
  if (turn !== view.profileTurn) return; /* another one was asked for meanwhile */
  view.profile = profile;
  view.samplesInProfile = profile.self[0].reduce((a, b) => a + b, 0);
  view.functionRows = functionsOf(view, profile);
  describeProfile(view);
  drawFlame(view);
  applySearch(view);
  view.profileDrawn = turn;
}
