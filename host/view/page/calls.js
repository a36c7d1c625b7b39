/* Probed functions, and requests: a table of how long they took, with small distributions; hr latency. */
const SVG_SPACE = "http://www.w3.org/2000/svg";
const SPARK_HEIGHT = 22;
const CALL_ROWS_AT_FIRST = 50;
const SPENT_COLOURS = ["m0", "m1", "m6", "m7", "m2", "m8", "quiet", "m4", "m3"]; /* as calls.words */
const REQUEST_COLOURS = ["m0", "m5"]; /* with threads, without one */
const REQUEST_WORDS = ["threads work for it", "waits for a thread"];

function makeCalls(group, nsPerTick) {
  const { rows, shares, all, refused, spent_words: words, arguments: argumentCount } = group.facts;
  const quantiles = group.column("quantiles").map((ticks) => ticks * nsPerTick), count = shares.length;
  const column = (name) => group.column(name);
  let place = 0;
  rows.forEach((row, n) => {
    const [median, p90, p99, p999, longest] = row.percentiles.map((ticks) => ticks * nsPerTick);
    Object.assign(row, { number: n, median, p90, p99, p999, longest, tail: p999 - median, total: row.total * nsPerTick, own: row.own * nsPerTick,
      quantiles: quantiles.subarray(n * count, (n + 1) * count), first: place, worst: row.worst || 0, sampled: row.sampled || 0, hasDots: "worst" in row });
    place += row.worst + row.sampled;
  });
  const dots = { time: column("time").map((t) => t * nsPerTick), ns: column("ticks").map((t) => t * nsPerTick), value: column("value"), tid: column("tid"), cpu: column("cpu"),
    spent: words.map((_, i) => column("spent." + i).map((t) => t * nsPerTick)) };
  return { rows, shares, all, refused, words, argumentCount, dots, nsPerTick, sort: { id: "tail", direction: 1 }, chosen: rows[0], tailShown: true };
}

/* The least duration that a bin of a histogram counts, in ticks: four bins for each power of two. */
function binStart(bin) {
  return bin < 4 ? bin : (4 + bin % 4) * 2 ** (Math.floor(bin / 4) - 1);
}

/* Where a duration is among the bins, with a fraction. */
function binPlace(ticks) {
  const power = Math.floor(Math.log2(Math.max(ticks, 1)));
  return ticks < 4 ? ticks : 4 * (power - 1) + 4 * (ticks / 2 ** power - 1);
}

function callColumns(calls) {
  return [
    { id: "name", name: "Function", get: (row) => row.name },
    { id: "calls", name: "Calls", get: (row) => row.calls, show: formatCount },
    { id: "median", name: "Median", get: (row) => row.median, show: formatTime },
    { id: "p99", name: "p99", get: (row) => row.p99, show: formatTime },
    { id: "p999", name: "p99.9", get: (row) => row.p999, show: formatTime },
    { id: "longest", name: "Longest", get: (row) => row.longest, show: formatTime },
    { id: "tail", name: "Tail", title: "p99.9 less median", get: (row) => row.tail, show: formatTime },
    { id: "total", name: "Total", get: (row) => row.total, show: formatTime },
    { id: "spent", name: "Its time", title: calls.words.join(", "), get: (row) => -(row.spent[0] / Math.max(1, row.spent.reduce((a, b) => a + b, 0))) },
    { id: "spark", name: sparkRange(calls), title: "How many calls took how long: both axes are logarithmic; marks: median and p99.9", get: (row) => row.median },
  ];
}

/* The bins that the small distributions show, all the same ones. */
function sparkBins(calls) {
  const counted = calls.rows.filter((row) => row.calls > 0);
  if (counted.length === 0) return [0, 0];
  return [Math.min(...counted.map((row) => row.bins[0])), Math.max(...counted.map((row) => row.bins[0] + row.bins.length - 1))];
}

function sparkRange(calls) {
  const [first, last] = sparkBins(calls);
  return `${formatTime(binStart(first) * calls.nsPerTick)} … ${formatTime(binStart(last + 1) * calls.nsPerTick)}`;
}

function svgElement(name, attributes) {
  const node = document.createElementNS(SVG_SPACE, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
}

function sparkOf(calls, row) {
  const [first, last] = sparkBins(calls), bins = last - first + 1, most = Math.log1p(Math.max(...row.bins.slice(1), 1));
  const spark = svgElement("svg", { viewBox: `0 0 ${bins} ${SPARK_HEIGHT}`, preserveAspectRatio: "none", class: "spark" });
  const place = (ns) => binPlace(ns / calls.nsPerTick) - first;
  let path = "";
  row.bins.slice(1).forEach((count, n) => {
    const height = count === 0 ? 0 : Math.max(2, Math.log1p(count) / most * (SPARK_HEIGHT - 2));
    if (height) path += `M${row.bins[0] - first + n} ${SPARK_HEIGHT}v${-height}h1v${height}z`;
  });
  spark.append(svgElement("path", { d: path, class: "bars" }));
  for (const [ns, kind] of [[row.median, "median"], [row.p999, "p999"]])
    spark.append(svgElement("line", { x1: place(ns), x2: place(ns), y1: 0, y2: SPARK_HEIGHT, class: kind }));
  return spark;
}

/* Parts of a row's time: [words, share, colour]. */
function spentParts(calls, row) {
  const all = row.spent.reduce((a, b) => a + b, 0);
  const [words, colours] = row.requests ? [REQUEST_WORDS, REQUEST_COLOURS] : [calls.words, SPENT_COLOURS];
  return words.map((word, i) => [word, all > 0 ? row.spent[i] / all : 0, colours[i]]).filter(([, share]) => share > 0);
}

function spentWords(parts) {
  return parts.filter(([, share]) => share >= 0.005).sort((a, b) => b[1] - a[1]).map(([word, share]) => `${word} ${formatShare(share)}`).join(", ");
}

function spentBar(calls, row) {
  const bar = element("span", { className: "spent" });
  for (const [, share, name] of spentParts(calls, row)) {
    const piece = element("i", {});
    piece.style.width = share * 100 + "%";
    piece.style.background = `var(--${name})`;
    bar.append(piece);
  }
  return bar;
}

function callRow(view, columns, row) {
  const { calls } = view, lost = row.left + row.unknown;
  const title = `${row.name}\n${row.object}\n${spentWords(spentParts(calls, row))}` + (lost ? `\n${formatCount(row.left)} left, ${formatCount(row.unknown)} without a known end: not among the calls` : "");
  const line = element("tr", { title, className: row === calls.chosen ? "found" : "" });
  for (const column of columns) {
    if (column.id === "name")
      line.append(element("td", { className: "text" }, row.name, element("span", { className: "object", textContent: row.requests ? "of the program" : row.object.replace(/.*\//, "") })));
    else if (column.id === "spent") line.append(element("td", {}, spentBar(calls, row)));
    else if (column.id === "spark") line.append(element("td", {}, sparkOf(calls, row)));
    else line.append(element("td", { textContent: row.calls ? column.show(column.get(row)) : column.id === "calls" ? "0" : "–" }));
  }
  line.onclick = () => chooseCalls(view, row);
  return line;
}

function chooseCalls(view, row) {
  view.calls.chosen = row;
  drawDurations(view);
}

function drawCallTable(view) {
  const { calls } = view, { sort } = calls, columns = callColumns(calls), by = columns.find((column) => column.id === sort.id), table = byId("calls-table");
  const rows = [...calls.rows].sort((a, b) => {
    const x = by.get(a), y = by.get(b);
    return (by.id === "name" ? (x < y ? -1 : x > y ? 1 : 0) : y - x) * sort.direction || a.number - b.number;
  });
  table.tHead.replaceChildren(element("tr", {}, ...columns.map((column) => {
    const sorted = column === by, button = element("button", { type: "button", textContent: column.name + (sorted ? (sort.direction > 0 ? " ▾" : " ▴") : ""), title: column.title || "" });
    button.onclick = () => { calls.sort = { id: column.id, direction: sorted ? -sort.direction : 1 }; drawCallTable(view); };
    const head = element("th", { className: column.id === "name" ? "text" : column.id }, button);
    head.setAttribute("aria-sort", sorted ? (sort.direction > 0 ? "descending" : "ascending") : "none");
    return head;
  })));
  table.tBodies[0].replaceChildren(...rows.slice(0, calls.allRows ? rows.length : CALL_ROWS_AT_FIRST).map((row) => callRow(view, columns, row)));
  const more = element("button", { type: "button", textContent: `Show all ${formatCount(rows.length)} functions` });
  more.onclick = () => { calls.allRows = true; drawCallTable(view); };
  byId("calls-more").replaceChildren(...(rows.length > CALL_ROWS_AT_FIRST && !calls.allRows ? [more] : []));
}

function drawCallLegend(calls) {
  const rows = calls.rows.filter((row) => !row.requests);
  const used = calls.words.map((word, i) => [word, SPENT_COLOURS[i], rows.some((row) => row.spent[i] > 0)]).filter(([, , is]) => is);
  if (calls.rows.some((row) => row.requests && row.spent[1] > 0)) used.push(["request without a thread", REQUEST_COLOURS[1]]);
  byId("calls-legend").replaceChildren(...used.map(([word, name]) => {
    const swatch = element("i", {});
    swatch.style.background = `var(--${name})`;
    return element("span", {}, swatch, word);
  }));
}

function drawDurations(view) {
  if (!view.calls || byId("calls").hidden) return;
  drawCallTable(view);
  drawCallPlots(view);
}

function startCalls(view) {
  const { calls } = view, { rows } = calls, functions = rows.filter((row) => !row.requests).length;
  byId("calls").hidden = rows.length === 0;
  if (rows.length === 0) {
    view.calls = null;
    return;
  }
  const notes = [functions ? plural(functions, "probed function") : "", rows.length > functions ? (functions ? "and " : "") + "requests" : ""].filter(Boolean);
  if (calls.all > rows.length) notes.push(`${formatCount(calls.all - rows.length)} with shorter tails are left out`);
  if (calls.refused) notes.push(`${formatCount(calls.refused)} calls are left out: there are too many`);
  byId("calls-note").textContent = notes.join(functions && rows.length > functions && notes.length === 2 ? " " : ", ");
  for (const [id, tail] of [["calls-share", false], ["calls-tail", true]])
    byId(id).onclick = () => { calls.tailShown = tail; drawCallPlots(view); };
  drawCallLegend(calls);
  drawDurations(view);
}
