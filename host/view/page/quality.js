/* How far the figures can be trusted, and the facts of the run. */
function checkItem(kind, text) {
  return element("li", { className: kind, textContent: text });
}

function lossChecks(view, summary) {
  const list = [];
  const share = summary.lost / Math.max(1, summary.lost + summary.samples);
  if (isCounted(view)) list.push(["good", "every instruction was counted where it is"]);
  else list.push(summary.lost ? ["bad", `${plural(summary.lost, "sample")} lost (${formatShare(share)}): a ring or the buffer was full; a longer interval loses fewer`] : ["good", "no sample was lost"]);
  if (isLive(view)) list.push(["info", "the trace is still being written: all figures are those so far"]);
  else if (!summary.complete) list.push(["bad", `the trace is incomplete: ${plural(summary.damaged_chunks, "damaged chunk")}, ${summary.missing_chunks} missing, ${plural(summary.missing_samples, "sample")} gone`]);
  return list;
}

function timeChecks(view, summary) {
  const list = [], interval = summary.interval_ns, late = view.facts.spreads.find((s) => s.what === "lateness");
  if (interval.requested) {
    const off = interval.p99 / interval.requested;
    list.push([off > 1.5 ? "warn" : "good", `interval ${formatTime(interval.requested)} wanted; median ${formatTime(interval.p50)}, p99 ${formatTime(interval.p99)}, longest ${formatTime(interval.max)}`]);
  }
  if (late) {
    const [, p50, , p99, , max] = late.percentiles;
    list.push([interval.requested && p99 > interval.requested / 2 ? "warn" : "good", `lateness: median ${formatTime(p50)}, p99 ${formatTime(p99)}, largest ${formatTime(max)}`]);
  }
  if (summary.cost.sample_ns !== null && !isCounted(view)) {
    const share = summary.cost.sample_ns * summary.samples / Math.max(1, summary.duration_ns), off = view.facts.sampling.shared;
    list.push([share > 0.1 && !off ? "warn" : "good", `a sample costs ${formatTime(summary.cost.sample_ns)}, in all ${formatShare(share)} of the run` + (off ? ", which is off the program's clock" : "")]);
  }
  return list;
}

function sourceChecks(view, summary) {
  const list = [], { sampling, events } = view.facts;
  if (sampling.emulated) list.push(["info", "emulated: no hardware ran the program" + (summary.instructions_exact ? "; instructions are exact and repeat" : "")]);
  if (sampling.inexact) list.push(["warn", "emulated on several CPUs: figures are neither exact nor repeatable"]);
  const stubs = events.filter((event) => event.source === "stub");
  if (stubs.length) list.push(["warn", `${stubs.map((e) => e.name).join(", ")}: stub, a fixed ratio of instructions, not a measurement`]);
  if (view.facts.partial) list.push(["info", "a part of the trace was selected with options; the figures of this box are the whole trace's"]);
  for (const warning of summary.machine.warnings) list.push(["warn", warning]);
  for (const [file, problem] of view.facts.problems) list.push(["warn", `${file}: ${problem}`]);
  return list;
}

const STACKS_BAD = 0.05; /* a larger share of stacks without all callers deserves a warning */
const STACK_LIMITS = { fp: 512, dwarf: 32768 }; /* frames and bytes that hr run -g takes at most */

/* Stacks that did not end where their thread began: shares of all, and which option helps. */
function stackEnds(view) {
  const all = profileOfBlocks(view, 0, view.end).self[0], total = totalsOf(view, all), { parent, function: owner } = view.tree;
  const { kind, limit } = view.summary.stacks || {}, most = STACK_LIMITS[kind] || 0, ends = [0, 0];
  for (let n = 1; n < parent.length; n++)
    if (parent[n] === 0 && (owner[n] === 1 || owner[n] === 2)) ends[owner[n] - 1] += total[n];
  return [
    { share: ends[0] / Math.max(1, total[0]), word: "cut", option: limit < most ? `-g ${kind},${kind === "fp" ? most : Math.min(2 * limit, most)}` : "", why: "keeps more callers" },
    { share: ends[1] / Math.max(1, total[0]), word: "broken", option: kind === "fp" ? "-g dwarf" : "", why: "needs no frame pointers" },
  ];
}

function stackChecks(view) {
  if (!view.hasStacks) return [];
  const [cut, broken] = stackEnds(view), hints = [cut, broken].filter((end) => end.share > 0 && end.option).map((end) => `; ${end.option} ${end.why}`);
  return [[cut.share + broken.share > STACKS_BAD ? "warn" : "good", `call stacks: ${formatShare(cut.share)} deeper than was kept, ${formatShare(broken.share)} could not be followed to the end${hints.join("")}`]];
}

function stackBadges(view) {
  return (view.hasStacks ? stackEnds(view) : []).filter((end) => end.share > STACKS_BAD)
    .map((end) => ["warn", `${formatShare(end.share)} of stacks ${end.word}` + (end.option ? `: ${end.option} ${end.why}` : "")]);
}

function drawQuality(view) {
  const { summary, events } = view.facts;
  byId("checks").replaceChildren(...[...lossChecks(view, summary), ...timeChecks(view, summary), ...stackChecks(view), ...sourceChecks(view, summary)].map(([kind, text]) => checkItem(kind, text)));
  const table = byId("sources");
  table.tHead.replaceChildren(element("tr", {}, ...["Event", "Total", "Source"].map((text, i) => element("th", { textContent: text, className: i === 1 ? "" : "text" }))));
  table.tBodies[0].replaceChildren(...events.map((event, i) => element("tr", {},
    element("td", { className: "text", textContent: event.name }),
    element("td", { textContent: formatCount(summary.events[i] ? summary.events[i].total : 0) }),
    element("td", { className: "text", title: event.words }, element("span", { className: "tag " + event.source, textContent: event.source })))));
}

function runFacts(view) {
  const { summary, facts } = view, made = summary.machine.facts, text = (key) => (facts.texts.find(([k]) => k === key) || [])[1];
  const exit = summary.exit_status === null ? "unknown" : "status " + summary.exit_status + (summary.fault ? `, signal ${summary.fault.signal} at ${summary.fault.symbol || summary.fault.ip}` : "");
  return [
    ["Program", summary.program], ["Command", summary.arguments], ["Exit", exit],
    ["Duration", formatTime(summary.duration_ns) + (text("run.virtual_time") === "yes" ? " of virtual time" : "")],
    ["Started", facts.start_unix_ns ? new Date(facts.start_unix_ns / 1e6).toISOString().replace("T", " ").slice(0, 19) + " UTC" : ""],
    ["Trigger", `mode ${summary.mode}` + (summary.interval_ns.requested ? ", every " + formatTime(summary.interval_ns.requested) : "") + (text("sampling.trigger") ? ` (${text("sampling.trigger")})` : "")],
    ["CPU", [text("machine.model"), text("machine.family")].filter(Boolean).join(", ")],
    ["Machine", [text("machine.cpus") && plural(Number(text("machine.cpus")), "CPU"), text("machine.memory") && formatBytes(Number(text("machine.memory"))), text("machine.hypervisor")].filter(Boolean).join(", ")],
    ["Made by", [made.system, made.board].filter(Boolean).join("; ")], ["Firmware", made.bios], ["Microcode", made.microcode], ["Memory", made.memory_modules],
    ["Frequency", [made.frequency && made.frequency + " on average", made.turbo && "turbo " + made.turbo].filter(Boolean).join(", ")],
    ["SMIs", made.smis], ["Throttled", made.throttled],
    ["Counters", text("pmu.driver") ? `driver ${text("pmu.driver")}` : ""], ["Clock", `${facts.summary.clock.method}, ${formatNumber(facts.summary.clock.ticks_per_second / 1e6, 3)} MHz`],
    ["Page faults", summary.page_faults === null ? "" : formatCount(summary.page_faults)], ["Build-id", text("program.build_id")],
    ["Trace", formatBytes(summary.bytes) + (summary.samples ? `, ${formatNumber(summary.bytes / summary.samples, 2)} bytes a sample` : "")], ["Kernel", text("kernel.version")], ["Page", "Microtome " + facts.version],
  ];
}

function drawFacts(view) {
  byId("facts").replaceChildren(...runFacts(view).filter(([, value]) => value).flatMap(([name, value]) => [element("dt", { textContent: name }), element("dd", { textContent: value })]));
}

function drawHeader(view) {
  const { summary, facts } = view, name = summary.program.split("/").pop() || "a program", badges = [];
  byId("program").textContent = name;
  byId("arguments").textContent = summary.arguments.split(" ").slice(1).join(" ");
  document.title = `${name} ${byId("arguments").textContent} – Microtome`;
  badges.push(isLive(view) ? ["live", `live: ${facts.samples ? formatTime(view.end) : "nothing"} so far`] : ["", formatTime(summary.duration_ns)], ["", plural(facts.samples, weightUnit(view))]);
  if (summary.interval_ns.requested) badges.push(["", "every " + formatTime(summary.interval_ns.requested)]);
  if (facts.sampling.emulated) badges.push(["", "emulated"]);
  if (facts.events.some((e) => e.source === "stub")) badges.push(["warn", "stub counters"]);
  badges.push(...stackBadges(view));
  if (summary.lost) badges.push(["bad", `${formatCount(summary.lost)} lost`]);
  if (!summary.complete && !isLive(view)) badges.push(["bad", "incomplete"]);
  if (summary.exit_status) badges.push(["warn", `exit ${summary.exit_status}`]);
  byId("badges").replaceChildren(...badges.map(([kind, text]) => element("li", { className: kind, textContent: text })));
}
