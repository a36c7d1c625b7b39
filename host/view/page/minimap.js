/* The whole run in one line, with what the timeline shows of it. */
/* The bars, drawn anew only when they change. */
function minimapBars(view, width, height) {
  const key = [state.metrics[0], width, document.documentElement.dataset.theme].join();
  if (view.bars && view.bars.key === key) return view.bars.canvas;
  const canvas = document.createElement("canvas"), context = prepareCanvas(canvas, width, height);
  const metric = view.metrics.find((m) => m.id === state.metrics[0]) || view.metrics[0], cpus = view.pyramid.cpus.map((c) => c.cpu);
  if (metric.bands) {
    const series = metric.bands.read(0, view.end, width, cpus);
    paintBands(context, metric.bands, series, { left: 0, right: width, top: 4, bottom: height }, (ns) => ns / view.end * width, -1);
    view.bars = { key, canvas };
    return canvas;
  }
  const series = binSeries(view, metric, cpus, 0, view.end, width), top = topOf({ mean: series.mean }), x = (ns) => ns / view.end * width;
  context.fillStyle = colour("m0") + "55";
  for (let i = 0; i < series.x.length; i++) {
    if (series.mean[i] === null) continue;
    const tall = Math.min(1, series.mean[i] / top) * (height - 4);
    context.fillRect(x(series.x[i]), height - tall, Math.max(1, x(series.step)), tall);
  }
  view.bars = { key, canvas };
  return canvas;
}

function drawMinimap(view) {
  const canvas = byId("minimap"), width = stageWidth(), height = 34;
  const context = prepareCanvas(canvas, width, height), x = (ns) => ns / view.end * width;
  context.drawImage(minimapBars(view, width, height), 0, 0, width, height);
  if (state.selection) {
    context.fillStyle = colour("accent-soft");
    context.fillRect(x(state.selection[0]), 0, Math.max(1, x(state.selection[1] - state.selection[0])), height);
  }
  context.fillStyle = colour("ground") + "c8";
  context.fillRect(0, 0, x(state.from), height);
  context.fillRect(x(state.to), 0, width - x(state.to), height);
  context.strokeStyle = colour("accent");
  context.lineWidth = 1.5;
  const a = Math.min(x(state.from), width - 4);
  context.strokeRect(a + 0.75, 0.75, Math.max(3, x(state.to) - a - 1.5), height - 1.5);
  canvas.setAttribute("aria-valuetext", `${formatPoint(state.from, view.end / 1e4, view.end)} to ${formatPoint(state.to, view.end / 1e4, view.end)}`);
  canvas.setAttribute("aria-valuemin", 0);
  canvas.setAttribute("aria-valuemax", 100);
  canvas.setAttribute("aria-valuenow", Math.round((state.from + state.to) / 2 / view.end * 100));
}

/* Drags the window or one of its ends; a press elsewhere brings the window there. */
function startMinimap(view) {
  const canvas = byId("minimap");
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoomAt(view, (state.from + state.to) / 2, Math.exp(event.deltaY * 0.002));
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    const left = canvas.getBoundingClientRect().left, ns = (e) => (e.clientX - left) / canvas.clientWidth * view.end;
    const grip = 6 / canvas.clientWidth * view.end, start = ns(event);
    let { from, to } = state;
    const side = Math.abs(start - from) < grip ? "from" : Math.abs(start - to) < grip ? "to" : "both";
    if (side === "both" && (start < from || start > to)) {
      setWindow(view, start - (to - from) / 2, start + (to - from) / 2);
      ({ from, to } = state);
    }
    const onMove = (e) => {
      const by = ns(e) - start;
      if (side === "from") setWindow(view, Math.max(0, Math.min(from + by, to - SPAN_LEAST_NS)), to);
      else if (side === "to") setWindow(view, from, Math.min(view.end, Math.max(to + by, from + SPAN_LEAST_NS)));
      else setWindow(view, from + by, to + by);
    };
    canvas.setPointerCapture(event.pointerId);
    canvas.addEventListener("pointermove", onMove);
    canvas.addEventListener("pointerup", () => canvas.removeEventListener("pointermove", onMove), { once: true });
  });
}
