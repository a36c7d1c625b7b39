/* The scale of time above the rows, and where a time is on the stage. */
function plotWidth() {
  return Math.max(50, stageWidth() - GUTTER - EDGE);
}

function toPixel(ns) {
  return GUTTER + (ns - state.from) / (state.to - state.from) * plotWidth();
}

function toTime(pixel) {
  return state.from + (pixel - GUTTER) / plotWidth() * (state.to - state.from);
}

/* Round times, 90 px apart or more. */
function rulerTicks() {
  const span = state.to - state.from, least = span * 96 / plotWidth();
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= least) || least;
  const ticks = [];
  for (let i = Math.ceil(state.from / step); i * step <= state.to; i++)
    ticks.push({ ns: i * step, text: formatPoint(i * step, step, span) });
  return ticks;
}

/* A canvas's context, cleared, in CSS pixels at the screen's resolution. */
function prepareCanvas(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.height = height + "px";
    canvas.style.width = width + "px";
  }
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

let fontFamily = "";

function textFont(size) {
  fontFamily ||= getComputedStyle(document.body).fontFamily;
  return size + "px " + fontFamily;
}

function drawRuler() {
  const width = stageWidth();
  const context = prepareCanvas(byId("ruler"), width, 20);
  context.font = textFont(11);
  context.fillStyle = colour("quiet");
  context.strokeStyle = colour("line");
  context.textBaseline = "middle";
  context.textAlign = "center";
  for (const tick of rulerTicks()) {
    const x = toPixel(tick.ns), half = context.measureText(tick.text).width / 2;
    if (x - half < GUTTER - 30 || x + half > width) continue;
    context.fillText(tick.text, x, 8);
    context.beginPath();
    context.moveTo(Math.round(x) + 0.5, 15);
    context.lineTo(Math.round(x) + 0.5, 20);
    context.stroke();
  }
  context.textAlign = "left";
  context.fillText(`${formatTime(state.to - state.from)} shown`, 0, 8);
}
