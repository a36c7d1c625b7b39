/* What is shown: one object, changed through change(), which tells those who want to know. */
const state = {
  from: 0, to: 1, /* ns: the part of the run that the timeline shows */
  selection: null, /* [ns, ns] or null */
  metrics: [], /* of the rows, by id */
  split: false, /* a row for each CPU */
  cpu: -1, process: -1, tid: -1, object: -1, /* what the profile counts; -1: all */
  weight: -1, /* -1: samples, else an event */
  inlined: false, /* whether inlined functions count by themselves */
  search: "",
};
const listeners = [];

/* `keys` are those of the state that call the function when they change. */
function onChange(keys, call) {
  listeners.push([keys, call]);
}

function change(values) {
  const changed = Object.keys(values).filter((key) => state[key] !== values[key]);
  Object.assign(state, values);
  for (const [keys, call] of listeners)
    if (keys.some((key) => changed.includes(key))) call();
}

let waiting = 0; /* things to draw that were asked for and are not drawn yet */

/* Runs `call` once in the next frame, however often it is asked for. */
function eachFrame(call) {
  let due = false;
  return () => {
    if (due) return;
    due = true;
    waiting++;
    requestAnimationFrame(() => { due = false; waiting--; call(); });
  };
}

/* Runs `call` when it has not been asked for some milliseconds: more of them when it takes long. */
function whenQuiet(ms, call) {
  let timer = 0, took = 0;
  return () => {
    if (timer) clearTimeout(timer);
    else waiting++;
    timer = setTimeout(async () => {
      const start = performance.now();
      timer = 0;
      await call();
      waiting--;
      took = performance.now() - start;
    }, Math.min(400, Math.max(ms, 1.5 * took)));
  };
}

function element(name, properties, ...children) {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...children);
  return node;
}

function byId(id) {
  return document.getElementById(id);
}

const colours = new Map(); /* of the theme; asking the browser takes long */

function colour(name) {
  if (!colours.has(name))
    colours.set(name, getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim());
  return colours.get(name);
}
