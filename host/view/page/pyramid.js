/* The timeline's levels of detail: the page brings the finest bins, each further level halves them. */
const RATE_STEPS = 256, RATE_ZERO = 64; /* of the codes of least and largest rates */

function decodeRate(code) {
  return code === 0 ? NaN : code === 1 ? 0 : 2 ** (code / RATE_STEPS - RATE_ZERO);
}

function halve(array, join) {
  const out = new array.constructor((array.length + 1) >> 1);
  for (let i = 0; i < out.length; i++)
    out[i] = 2 * i + 1 < array.length ? join(array[2 * i], array[2 * i + 1]) : array[2 * i];
  return out;
}

const joins = {
  sum: (a, b) => a + b,
  least: (a, b) => (a <= b || b !== b ? a : b),
  largest: (a, b) => (a >= b || b !== b ? a : b),
};

/* One column at every level; levels are made when they are first asked for. */
function levelsOf(finest, join) {
  const levels = [finest];
  return (level) => {
    while (levels.length <= level) levels.push(halve(levels[levels.length - 1], join));
    return levels[level];
  };
}

function makePyramid(group, nsPerTick, originNs) {
  const binNs = group.facts.bin_ticks * nsPerTick;
  const cpus = group.facts.cpus.sort((a, b) => a - b).map((cpu) => {
    const rates = (kind, join) => (event) => {
      const codes = group.column(`${cpu}.${kind}.${event}`);
      return levelsOf(Float32Array.from(codes, decodeRate), join);
    };
    const make = { samples: () => levelsOf(group.column(`${cpu}.samples`), joins.sum),
      ticks: () => levelsOf(group.column(`${cpu}.ticks`), joins.sum),
      sum: (event) => levelsOf(group.column(`${cpu}.sum.${event}`), joins.sum),
      rate_min: rates("rate_min", joins.least), rate_max: rates("rate_max", joins.largest),
      ratio_min: rates("ratio_min", joins.least), ratio_max: rates("ratio_max", joins.largest) };
    const done = new Map();
    function get(kind, event, level) {
      const key = kind + event;
      if (!done.has(key)) done.set(key, make[kind](event));
      return done.get(key)(level);
    }
    return { cpu, get };
  });
  const count = cpus.reduce((most, c) => Math.max(most, c.get("samples", "", 0).length), 0);
  return { cpus, binNs, count, originNs };
}

/* The coarsest level that still has a bin for about every pixel. */
function levelFor(pyramid, span, pixels) {
  const level = Math.floor(Math.log2(span / pixels / pyramid.binNs));
  return Math.max(0, Math.min(level, Math.ceil(Math.log2(Math.max(pyramid.count, 1)))));
}
