/* What a span of time, a CPU and a thread amount to: samples and events for every node of the call tree. */
const FIXED_FUNCTIONS = ["all", "(deeper than was kept)", "(callers unknown)", "(other functions)"];

function makeTree(group) {
  const functions = group.facts.functions.map(([name, object, kernel, inlined], i) => ({ name: name || FIXED_FUNCTIONS[i] || "?", object, kernel, inlined, number: i }));
  const parent = Int32Array.from(group.column("parent")), owner = Int32Array.from(group.column("function")), holder = new Int32Array(owner.length);
  for (let n = 1; n < owner.length; n++) holder[n] = functions[owner[n]].inlined ? holder[parent[n]] : n; /* the node of the function that holds the code */
  return { functions, parent, function: owner, holder };
}

function makeBlocks(group, nsPerTick, eventCount) {
  return { ns: group.facts.block_ticks * nsPerTick, block: group.column("block"), group: group.column("group"), node: group.column("node"),
    samples: group.column("samples"), sums: Array.from({ length: eventCount }, (_, e) => group.column("sum." + e)) };
}

/* Waits: when a thread began to wait, how long, and where. */
function makeWaits(group, nsPerTick) {
  return { time: group.column("wait.time").map((t) => t * nsPerTick), ns: group.column("wait.ticks").map((t) => t * nsPerTick),
    group: group.column("wait.group"), node: group.column("wait.node"), refused: group.facts.waits_refused };
}

/* Nanoseconds that threads waited within a span, for every node of the call tree. */
function waitedIn(view, from, to) {
  const w = view.waits, wanted = wantedGroups(view, -1), out = new Float64Array(view.tree.parent.length);
  for (let i = 0; i < w.time.length; i++)
    if (wanted[w.group[i]]) out[w.node[i]] += Math.max(0, Math.min(w.time[i] + w.ns[i], to) - Math.max(w.time[i], from));
  return out;
}

function wantedGroups(view, object = state.object) {
  return view.lanes.groups.map(([cpu, tid, process, accessed]) => (state.cpu < 0 || cpu === state.cpu) &&
    (object < 0 || accessed === object + 1) && (state.tid < 0 || tid === state.tid) && (state.process < 0 || process === state.process));
}

function emptyProfile(view) {
  const nodes = view.tree.parent.length;
  return { self: Array.from({ length: view.facts.events.length + 1 }, () => new Float64Array(nodes)), exact: true, roundNs: 0 };
}

function profileOfSamples(view, from, to) {
  const s = view.samples, wanted = wantedGroups(view), out = emptyProfile(view);
  for (const list of s.byCpu.values()) {
    const end = to >= view.end ? list.length : lowerSample(s, list, to);
    for (let i = lowerSample(s, list, from); i < end; i++) {
      const n = list[i], node = s.node[n];
      if (!wanted[s.group[n]]) continue;
      out.self[0][node]++;
      for (let e = 0; e < s.sums.length; e++) out.self[e + 1][node] += s.sums[e][n];
    }
  }
  return out;
}

/* Counts of the emulator, not samples: of the whole run, whatever is selected. */
function isCounted(view) {
  return view.facts.sampling.mode === "exact";
}

/* What a weight of 1 is. */
function weightUnit(view) {
  return isCounted(view) ? "instruction" : "sample";
}

/* A block that the span covers in part counts in part. */
function profileOfBlocks(view, from, to) {
  if (isCounted(view)) [from, to] = [0, view.end];
  const b = view.blocks, wanted = wantedGroups(view), out = emptyProfile(view);
  for (let i = 0; i < b.block.length; i++) {
    if (!wanted[b.group[i]]) continue;
    const start = b.block[i] * b.ns, end = Math.min(start + b.ns, view.end);
    const share = end > start ? Math.max(0, Math.min(end, to) - Math.max(start, from)) / (end - start) : from <= start && to >= start ? 1 : 0;
    if (share <= 0) continue;
    out.self[0][b.node[i]] += b.samples[i] * share;
    for (let e = 0; e < b.sums.length; e++) out.self[e + 1][b.node[i]] += b.sums[e][i] * share;
  }
  if (from > 0 || to < view.end) {
    out.exact = false;
    out.roundNs = b.ns;
  }
  return out;
}

/* Adds what is below each node: a parent's number is less than its children's. */
function totalsOf(view, self) {
  const total = Float64Array.from(self), parent = view.tree.parent;
  for (let n = total.length - 1; n > 0; n--) total[parent[n]] += total[n];
  return total;
}

async function profileOf(view, from, to) {
  const alone = !view.server || state.object < 0; /* the server tells no objects apart */
  if (view.samples && alone && from >= view.samples.from && to <= view.samples.to) return profileOfSamples(view, from, to);
  if (view.server && alone && !isCounted(view) && (from > 0 || to < view.end))
    return profileOfServer(view, from, to).catch((error) => { if (!error.stale) complain(error); return profileOfBlocks(view, from, to); });
  return profileOfBlocks(view, from, to);
}

/* The node that each node's samples count for in tables and bands: that of the function that holds its code, or itself. */
function countedNodes(tree) {
  return state.inlined ? Int32Array.from(tree.holder.keys()) : tree.holder;
}

function functionName(f) {
  return f.name + (f.inlined ? " (inlined)" : "");
}

/* Self and total of every function; recursion counts once. */
function functionsOf(view, profile) {
  const { parent, function: owner, functions } = view.tree, holder = countedNodes(view.tree), weight = profile.self[state.weight + 1];
  const rows = functions.map((f) => ({ f, self: 0, total: 0, sums: null, samples: 0 }));
  const total = totalsOf(view, weight);
  for (let n = 1; n < parent.length; n++) {
    if (total[n] === 0 && profile.self[0][n] === 0) continue;
    const row = rows[owner[holder[n]]];
    row.self += weight[n];
    row.samples += profile.self[0][n];
    if (!row.sums) row.sums = new Float64Array(profile.self.length - 1);
    for (let e = 1; e < profile.self.length; e++) row.sums[e - 1] += profile.self[e][n];
    if (holder[n] === n && !isBelowItself(parent, owner, n)) row.total += total[n];
  }
  return { rows: rows.filter((row) => row.total > 0 || row.samples > 0), total: total[0] };
}

function isBelowItself(parent, owner, node) {
  for (let n = parent[node]; n > 0; n = parent[n]) if (owner[n] === owner[node]) return true;
  return false;
}
