/* Operation, for the operator: whether the gateway is ready, its jobs, shards, latencies and audits. */

import { call } from "./api.js";
import { h } from "./dom.js";
import { follow } from "./live.js";
import { badge, formatBytes, formatNumber, note, problemNote, table } from "./ui.js";

const LATENCY = "nearhit_http_request_duration_seconds";
// Others change with each reading, and the page would be drawn anew.
const SHOWN = /^nearhit_(?:jobs|sources_needing_attention|resident_shards|search_answers|cache_events|http_request_duration_seconds_bucket)/;
const SHARES = [["50 %", 0.5], ["95 %", 0.95], ["99 %", 0.99]];
const TIERS = { memory: "from memory", redis: "from Redis", semantic: "of a similar question", miss: "computed" };
const AUDITS = { audit_other: "answers that were stale", audit_leaked: "answers with a document that its caller may not read", shard_audit_other: "searches through shards that differed" };

export function render(content, { signal }) {
  const body = h("div", { class: "stack" });
  content.append(h("p", { class: "lead" }, "This gateway since its start, and the queue of all tenants. The page follows them."), body);
  follow(body, () => fetchAll(signal), view, signal);
}

async function fetchAll(signal) {
  const get = async (path) => (await call("GET", path, { signal })).data;
  const [root, metrics, ready] = await Promise.all([get("/"), get("/metrics"), get("/readyz").catch((problem) => ({ problem }))]);
  if (ready.problem && !ready.problem.status) throw ready.problem; // the gateway itself is away
  return { version: root.version, samples: samplesOf(metrics).filter(({ name, labels }) => SHOWN.test(name) && labels.tier !== ""), ready };
}

/** The samples of a text in Prometheus's format: {name, labels, value}. */
function samplesOf(text) {
  return Array.from(text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm), ([, name, labels = "", value]) => ({
    name,
    labels: Object.fromEntries(Array.from(labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g), ([, label, told]) => [label, told])),
    value: Number(value.replace("Inf", "Infinity")),
  }));
}

function view({ version, samples, ready }) {
  const of = (name, labels = {}) => samples.filter((sample) => sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value));
  const total = (name, labels) => of(name, labels).reduce((sum, { value }) => sum + value, 0);
  return [
    ready.problem && problemNote(ready.problem),
    h("div", { class: "columns" }, stateCard(version, ready, total), queueCard(total)),
    h("div", { class: "columns" }, latencyCard(of), auditCard(total)),
    note("", h("strong", {}, "What this page can't tell"), h("span", {}, "The API names neither the other gateways nor the workers, and keeps no history of these figures: let Prometheus read /metrics of each process. A tenant's own page tells what it stores; its admin sees its searches and audits of 90 days under Insight.")),
  ];
}

const card = (title, ...children) => h("section", { class: "card", "aria-label": title }, h("h2", {}, title), children);
const facts = (...rows) => h("dl", { class: "facts" }, rows.map(([label, value]) => [h("dt", {}, label), h("dd", {}, value)]));

function stateCard(version, { problem, warm, redis }, total) {
  const failures = total("nearhit_cache_events_total", { event: "unavailable" });
  const outages = failures ? badge(`${formatNumber(failures)} calls failed`, "warn") : badge("no call failed", "good");
  return card(
    "Gateway",
    facts(
      ["Version", h("code", {}, version)],
      ["PostgreSQL", problem ? badge("does not answer", "bad") : badge("answers", "good")],
      ["Redis", redis ? badge(redis, "bad") : outages],
      ["Warm", problem ? "unknown" : warm ? "all is loaded" : "still loading: first calls take longer"],
      ["Shards in memory", `${formatNumber(total("nearhit_resident_shards"))}, ${formatBytes(total("nearhit_resident_shards_size_bytes"))}`],
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

function latencyCard(of) {
  const rows = Object.entries(TIERS).flatMap(([tier, label]) => {
    const bounds = new Map(); // of all routes: seconds, and how many took no longer
    for (const { labels, value } of of(`${LATENCY}_bucket`, { tier })) bounds.set(labels.le, (bounds.get(labels.le) ?? 0) + value);
    const count = bounds.get("+Inf") ?? 0;
    return count ? [{ label, count, bounds: [...bounds] }] : [];
  });
  const columns = SHARES.map(([label, share]) => ({ label, isNumber: true, cell: (row) => milliseconds(row, share) }));
  return card(
    "Latency of searches",
    rows.length
      ? table("So many of the answers took at most this time", [{ label: "Answers", cell: (row) => row.label }, { label: "Count", isNumber: true, cell: (row) => formatNumber(row.count) }, ...columns], rows)
      : h("p", { class: "muted" }, "No search came since the start."),
  );
}

function milliseconds({ bounds, count }, share) {
  const at = bounds.findIndex(([, passed]) => passed >= share * count);
  const [bound] = bounds[at];
  return bound === "+Inf" ? `more than ${formatNumber(1000 * Number(bounds[at - 1][0]))} ms` : `${1000 * Number(bound)} ms`;
}

function auditCard(total) {
  const found = Object.entries(AUDITS).map(([event, label]) => [label, total("nearhit_cache_events_total", { event })]);
  const equal = total("nearhit_cache_events_total", { event: "audit_equal" });
  const isClean = found.every(([, count]) => !count);
  return card(
    "Was any answer wrong?",
    isClean
      ? note(equal ? "good" : "", h("strong", {}, equal ? "No answer was wrong" : "No answer was audited"), h("span", {}, `${formatNumber(equal)} cached answers were computed again, and were equal.`))
      : note("bad", h("strong", {}, "This is a defect: please report it"), h("ul", {}, found.filter(([, count]) => count).map(([label, count]) => h("li", {}, `${formatNumber(count)} ${label}`)))),
  );
}
