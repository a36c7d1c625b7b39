/* What is shown: one object, changed through change(), which tells those who want to know. */
const state = {
  from: 0, to: 1, /* ns: the part of the run that the timeline shows */
  selection: null, /* [ns, ns] or null */
  metrics: [], /* of the rows, by id */
  split: false, /* a row for each CPU */
  cpu: -1, tid: -1, /* what the profile counts; -1: all */
  weight: -1, /* -1: samples, else an event */
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

/* Runs `call` once in the next frame, however often it is asked for. */
function eachFrame(call) {
  let due = false;
  return () => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => { due = false; call(); });
  };
}

/* Runs `call` when it has not been asked for some milliseconds. */
function whenQuiet(ms, call) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(call, ms);
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

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}
