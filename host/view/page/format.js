/* Figures and times as people read them, with units. */
const numberFormats = new Map();

/* Making a format takes long; there are few. */
function numberFormat(least, most) {
  const key = least * 32 + most;
  if (!numberFormats.has(key))
    numberFormats.set(key, new Intl.NumberFormat("en-US", { minimumFractionDigits: least, maximumFractionDigits: most }));
  return numberFormats.get(key);
}

function formatNumber(value, digits) {
  return Number.isFinite(value) ? numberFormat(0, digits).format(value) : "–";
}

/* Three significant digits or so: 0.0123, 1.23, 12.3, 1,234. */
function formatRate(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e6) return formatNumber(value / 1e6, 2) + " M";
  if (size >= 100) return formatNumber(value, 0);
  return formatNumber(value, size >= 10 ? 1 : size >= 1 ? 2 : size >= 0.01 ? 3 : 6);
}

function formatCount(value) {
  return formatNumber(Math.round(value), 0);
}

const TIME_UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];

function timeUnit(ns) {
  return TIME_UNITS.find(([size]) => Math.abs(ns) >= size) || TIME_UNITS[3];
}

/* A length of time: 950 ns, 12.35 us, 1.204 ms. */
function formatTime(ns) {
  if (!Number.isFinite(ns)) return "–";
  const [size, unit] = timeUnit(ns);
  const value = ns / size;
  return formatNumber(value, size === 1 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3) + " " + unit;
}

/* A point in time, fine enough to tell it from others `step` ns away. */
function formatPoint(ns, step, span) {
  const [size, unit] = timeUnit(Math.max(Math.abs(ns), span || 0));
  const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(size / Math.max(step, 1e-3)))));
  return numberFormat(digits, digits).format(ns / size) + " " + unit;
}

function formatShare(share) {
  if (!Number.isFinite(share)) return "–";
  const percent = share * 100;
  return percent.toFixed(percent >= 10 || percent === 0 ? 1 : 2) + " %";
}

function formatBytes(bytes) {
  for (const [size, unit] of [[1e9, "GB"], [1e6, "MB"], [1e3, "KB"]])
    if (bytes >= size) return formatNumber(bytes / size, 2) + " " + unit;
  return bytes + " bytes";
}

function plural(count, word) {
  return formatCount(count) + " " + word + (count === 1 ? "" : "s");
}
