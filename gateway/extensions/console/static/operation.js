/* Operation, for the operator: which gateways and workers run, whether this one is ready, the queue, how
 * long searches take, and audits. */

import { move } from "./address.js";
import { call } from "./api.js";
import { columnChart } from "./charts.js";
import { h } from "./dom.js";
import { TIERS, percentile, periodsOf } from "./insight.js";
import { table } from "./lists.js";
import { follow } from "./live.js";
import { isOn } from "./session.js";
import { badge, countOf, empty, field, formatBytes, formatInstant, formatNumber, load, note, problemNote, select } from "./ui.js";

const DAY_MS = 86_400_000;
// Others change with each reading, and the page would be drawn anew.
const SHOWN = /^nearhit_(?:jobs|sources_needing_attention|resident_shards|search_answers|cache_events)/;
// The colours tell them apart; each column reaches to the time of the last.
const SHARES = [{ name: "memory", label: "50 %", share: 0.5 }, { name: "redis", label: "95 %", share: 0.95 }, { name: "miss", label: "99 %", share: 0.99 }];
const STEPS = [["hour", "24 hours"], ["day", "30 days"]];
const AUDITS = { audit_other: "answers that were stale", audit_leaked: "answers with a document that its caller may not read", shard_audit_other: "searches through shards that differed" };

export function render(content, { fields, signal }) {
  const body = h("div", { class: "stack" });
  content.append(h("p", { class: "lead" }, "The processes of this deployment, the queue and the searches of all tenants, and this gateway since its start. The page follows them."), body, ...(isOn("activity") ? [latencyCard(fields, signal)] : []));
  follow(body, () => fetchAll(signal), view, signal);
}

async function fetchAll(signal) {
  const get = async (path) => (await call("GET", path, { signal })).data;
  const orProblem = (path) => get(path).catch((problem) => ({ problem }));
  const [root, metrics, ready, known] = await Promise.all([get("/"), get("/metrics"), orProblem("/readyz"), isOn("activity") ? orProblem("/v1/processes") : {}]);
  if (ready.problem && !ready.problem.status) throw ready.problem; // the gateway itself is away
  const processes = known.processes?.map(({ seen_s_ago: seen, ...each }) => ({ ...each, silent: each.is_alive ? 0 : Math.round(seen / 60) }));
  return { version: root.version, samples: samplesOf(metrics).filter(({ name }) => SHOWN.test(name)), ready, processes };
}

/** The samples of a text in Prometheus's format: {name, labels, value}. */
function samplesOf(text) {
  return Array.from(text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm), ([, name, labels = "", value]) => ({
    name,
    labels: Object.fromEntries(Array.from(labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g), ([, label, told]) => [label, told])),
    value: Number(value.replace("Inf", "Infinity")),
  }));
}

function view({ version, samples, ready, processes }) {
  const of = (name, labels = {}) => samples.filter((sample) => sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value));
  const total = (name, labels) => of(name, labels).reduce((sum, { value }) => sum + value, 0);
  return [
    ready.problem && problemNote(ready.problem),
    processes && processCard(processes),
    h("div", { class: "columns" }, stateCard(version, ready, total), h("div", { class: "stack" }, queueCard(total), auditCard(total))),
    note("", h("strong", {}, "What this page can't tell"), h("span", {}, "Shards, answers and audits are of the gateway that serves this page: let Prometheus read /metrics of each process. A tenant's own page tells what it stores; its admin sees its searches and audits of 90 days under Insight.")),
  ];
}

const card = (title, ...children) => h("section", { class: "card", "aria-label": title }, h("h2", {}, title), children);
const facts = (...rows) => h("dl", { class: "facts" }, rows.map(([label, value]) => [h("dt", {}, label), h("dd", {}, value)]));

function stateCard(version, { problem, warm, redis }, total) {
  const failures = total("nearhit_cache_events_total", { event: "unavailable" });
  const outages = [badge("answers", "good"), failures > 0 && h("span", { class: "muted" }, ` ${countOf(failures, "call")} failed since the start`)];
  return card(
    "This gateway",
    facts(
      ["Version", h("code", {}, version)],
      ["PostgreSQL", problem ? badge("does not answer", "bad") : badge("answers", "good")],
      ["Redis", redis ? badge(redis, "bad") : outages],
      ["Warm", problem ? "unknown" : warm ? "all is loaded" : "still loading: first calls take longer"],
      ["Shards in memory", `${formatNumber(total("nearhit_resident_shards"))}, together ${formatBytes(total("nearhit_resident_shards_size_bytes"))}`],
      ["Answers to searches", formatNumber(total("nearhit_search_answers_total"))],
      ["Without a hit", formatNumber(total("nearhit_search_answers_total", { outcome: "empty" }))],
      ["Of low confidence", formatNumber(total("nearhit_search_answers_total", { outcome: "low_confidence" }))],
    ),
  );
}

function queueCard(total) {
  const jobs = (state) => total("nearhit_jobs", { state });
  const attention = total("nearhit_sources_needing_attention");
  return card(
    "Jobs of all tenants",
    facts(
      ["Waiting", formatNumber(jobs("waiting"))],
      ["Running", formatNumber(jobs("running"))],
      ["Failed", jobs("failed") ? badge(formatNumber(jobs("failed")), "bad") : "0"],
      ["The oldest is due for", `${formatNumber(Math.round(total("nearhit_jobs_oldest_due_seconds")))} s`],
      ["Sources that need a look", attention ? badge(formatNumber(attention), "warn") : "0"],
    ),
  );
}

function processCard(processes) {
  return card(
    "Gateways and workers",
    table(
      `${formatNumber(processes.filter((each) => each.is_alive).length)} of ${formatNumber(processes.length)} run, as each says every 15 s; one that was killed stays in the list for a day`,
      [
        { label: "Process", cell: (each) => h("code", {}, each.process) },
        { label: "Kind", cell: (each) => each.kind },
        { label: "State", cell: (each) => (each.is_alive ? badge("alive", "good") : badge(`silent for ${formatNumber(each.silent)} min`, "bad")) },
        { label: "Warm", cell: (each) => ({ true: "all is loaded", false: "still loading", null: h("span", { class: "muted" }, "loads nothing ahead") })[each.is_warm] },
        { label: "Version", cell: (each) => h("code", {}, each.version) },
        { label: "Started", cell: (each) => formatInstant(each.started_at) },
      ],
      processes,
    ),
  );
}

/** Of all tenants, from the stored counts. */
function latencyCard(fields, signal) {
  const step = select(STEPS, fields.get("step") === "day" ? "day" : "hour");
  const place = h("div", { class: "stack" });
  const show = () =>
    load(place, async () => latencyCharts((await call("GET", "/v1/latencies", { query: { step: step.value }, signal })).data.latencies, step.value));
  step.addEventListener("change", () => (move({ step: step.value === "day" ? "day" : "" }), show()));
  show();
  return h("section", { class: "card", "aria-label": "Latency of searches" }, h("div", { class: "row end spread" }, h("h2", {}, "Latency of searches"), field("Time", step)), place);
}

function latencyCharts(counts, step) {
  const tiers = TIERS.filter(({ name }) => counts.some((count) => count.tier === name));
  if (!tiers.length) return empty("No searches", "No search of any tenant was measured in this time.");
  const shares = (of) => Object.fromEntries(SHARES.map(({ name, share }) => [name, percentile(of, share)]));
  const milliseconds = (value) => `${formatNumber(value)} ms`;
  return [
    h("p", { class: "muted small" }, "So many of the answers took at most this time in the gateway; all tenants, in UTC."),
    table(
      "In the whole time",
      [
        { label: "Answers", cell: ({ label }) => label },
        { label: "Count", isNumber: true, cell: ({ of }) => formatNumber(of.reduce((sum, { answers }) => sum + answers, 0)) },
        ...SHARES.map(({ name, label }) => ({ label, isNumber: true, cell: ({ of }) => milliseconds(shares(of)[name]) })),
      ],
      tiers.map(({ name, label }) => ({ label, of: counts.filter((count) => count.tier === name) })),
    ),
    h("div", { class: "columns charts" }, tiers.map(({ name, label }) => {
      const rows = timesOf(step).map(({ start, ...row }) => ({ ...row, values: shares(counts.filter((count) => count.tier === name && Date.parse(count.start) === start)) }));
      return columnChart({ title: `Answers ${label}, in ms`, series: SHARES, rows, isNested: true });
    })),
  ];
}

/** The hours or days that the gateway tells of. */
function timesOf(step) {
  const day = (ms) => new Date(ms).toISOString().slice(0, 10);
  const now = Date.now();
  const from = now - (step === "hour" ? DAY_MS : 29 * DAY_MS);
  return periodsOf({ from: day(from), to: day(now) }, step).filter(({ start }) => step === "day" || start > from);
}

function auditCard(total) {
  const found = Object.entries(AUDITS).map(([event, label]) => [label, total("nearhit_cache_events_total", { event })]);
  const equal = total("nearhit_cache_events_total", { event: "audit_equal" });
  const isClean = found.every(([, count]) => !count);
  return card(
    "Was any answer wrong?",
    isClean
      ? note(equal ? "good" : "", h("strong", {}, equal ? "No answer was wrong" : "No answer was audited"), h("span", {}, `Cached answers that were computed again, and were equal: ${formatNumber(equal)}.`))
      : note("bad", h("strong", {}, "This is a defect: please report it"), h("ul", {}, found.filter(([, count]) => count).map(([label, count]) => h("li", {}, `${formatNumber(count)} ${label}`)))),
  );
}
