/* The table of the regions that the program named with libhr: hr report --regions. */
function regionColumns(view, regions) {
  const ns = view.facts.ns_per_tick, ticks = (figure) => (region) => region.ticks[figure] * ns;
  const names = [...new Set(regions.flatMap((region) => region.events.map((event) => event.name)))];
  const columns = [
    { name: "Region", text: true, get: (region) => region.name || "(no name)" },
    { name: "Passes", get: (region) => region.passes, show: formatCount },
    { name: "Threads", get: (region) => region.threads, show: formatCount },
    { name: "Time", title: "Of all passes together", get: ticks("sum"), show: formatTime },
    ...["mean", "p50", "p99", "max"].map((figure) => ({ name: figure, title: "Time of a pass", get: ticks(figure), show: formatTime })),
  ];
  for (const name of names) {
    const of = (region) => region.events.find((event) => event.name === name);
    const stub = view.facts.events.some((event) => event.name === name && event.source === "stub");
    columns.push({ name, stub, title: "In a pass, on average" + (stub ? " (stub: no measurement)" : ""), get: (region) => of(region)?.mean,
      show: (mean) => (mean === undefined ? "–" : formatRate(mean)), all: (region) => (of(region) ? `${formatCount(of(region).sum)} in all` : "") });
  }
  return columns;
}

function drawRegions(view) {
  const regions = [...view.summary.regions].sort((a, b) => b.ticks.sum - a.ticks.sum), columns = regionColumns(view, regions);
  const kind = (column) => (column.text ? "text" : column.stub ? "stub" : ""), table = byId("regions-table");
  byId("regions").hidden = regions.length === 0;
  byId("regions-note").textContent = plural(regions.length, "region") + " of the whole run";
  table.tHead.replaceChildren(element("tr", {}, ...columns.map((column) => element("th", { textContent: column.name, title: column.title || "", className: kind(column) }))));
  table.tBodies[0].replaceChildren(...regions.map((region) => element("tr", {}, ...columns.map((column) =>
    element("td", { className: kind(column), title: column.all ? column.all(region) : "", textContent: column.text ? column.get(region) : column.show(column.get(region)) })))));
}
