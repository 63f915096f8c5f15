/* Insight: how searches were answered, what they cost, and whether a cached answer was ever wrong. */

import { move } from "./address.js";
import { call } from "./api.js";
import { columnChart } from "./charts.js";
import { h } from "./dom.js";
import { costCard, quotaCard } from "./insight-cost.js";
import { askedCard, openCard } from "./insight-questions.js";
import { table } from "./lists.js";
import { isOn } from "./session.js";
import { badge, empty, field, formatInstant, formatNumber, load, note, select, submit } from "./ui.js";

const DAY_MS = 86_400_000;
const HOURLY_DAYS = 2; // up to so many days are shown by hour
const QUESTIONS = 20; // that are listed as asked most
export const TIERS = [
  { name: "memory", label: "from memory" },
  { name: "redis", label: "from Redis" },
  { name: "semantic", label: "of a similar question" },
  { name: "miss", label: "computed" },
];
const USUAL_DAYS = "7";
const OUTCOMES = ["confident", "low_confidence", "empty"];
const RANGES = [
  ["1", "today"],
  ["7", "7 days"],
  ["30", "30 days"],
  ["90", "90 days"],
  ["", "from … to …"],
];

const dayOf = (ms) => new Date(ms).toISOString().slice(0, 10);
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const percent = (share) => `${(share * 100).toFixed(share && share < 0.1 ? 1 : 0)} %`;

export function render(content, { fields, signal }) {
  const isOwn = fields.has("from") && fields.has("to");
  const named = RANGES.find(([days]) => days === fields.get("days"));
  const range = select(RANGES, isOwn ? "" : named?.[0] ?? USUAL_DAYS);
  const from = h("input", { type: "date", required: true, value: fields.get("from") });
  const to = h("input", { type: "date", required: true, value: fields.get("to") });
  const own = h("div", { class: "row end" }, field("From", from, { name: "from" }), field("To", to, { name: "to" }), h("button", { type: "submit" }, "Show"));
  const place = h("div");
  const body = h("div", { class: "stack" });
  const show = async () => {
    const days = { from: from.value, to: to.value };
    await load(body, async () => view(days, await fetchAll(days, signal), show));
  };
  const showOwn = () => (move({ days: "", from: from.value, to: to.value }), show());
  const choose = () => {
    own.hidden = range.value !== "";
    if (own.hidden) {
      to.value = dayOf(Date.now());
      from.value = dayOf(Date.now() - (Number(range.value) - 1) * DAY_MS);
    }
    if (own.hidden || isOwn) show();
  };
  range.addEventListener("change", () => {
    if (range.value) move({ days: range.value === USUAL_DAYS ? "" : range.value, from: "", to: "" });
    choose();
  });
  content.append(
    h("form", { class: "row end", onsubmit: (event) => (event.preventDefault(), submit(event.target, place, showOwn)) }, field("Time", range), own, h("p", { class: "muted small hint-beside" }, "Days and hours are in UTC.")),
    place,
    body,
  );
  choose();
}

async function fetchAll(days, signal) {
  const step = daysIn(days) <= HOURLY_DAYS ? "hour" : "day";
  const get = async (path, query) => (await call("GET", path, { query, signal })).data;
  const [searches, asked, open, usage, status, semantic] = await Promise.all([
    get("/v1/search/statistics", { ...days, step }),
    isOn("curation") && get("/v1/search/questions", { ...days, limit: QUESTIONS }),
    isOn("curation") && get("/v1/curation", { state: "open" }),
    get("/v1/usage", days),
    isOn("jobs") && get("/v1/ingest/status"),
    isOn("similar_questions") && get("/v1/cache/semantic"),
  ]);
  return { step, searches, asked, open, usage, status, semantic };
}

const daysIn = ({ from, to }) => Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;

function view(days, data, reload) {
  return [
    searchCard(days, data),
    data.asked && h("div", { class: "columns" }, askedCard(data.asked, reload), openCard(data.open)),
    h("div", { class: "columns" }, latencyCard(data.searches), auditCard(data)),
    h("div", { class: "columns" }, costCard(days, data.usage), quotaCard(data.usage.quotas)),
    data.semantic && semanticCard(data.semantic),
  ];
}

const stat = (label, value, kind = "") => h("div", { class: `stat ${kind}` }, h("span", { class: "muted small" }, label), h("strong", {}, value));

function searchCard(days, { step, searches }) {
  const answered = (period) => sum(OUTCOMES.map((outcome) => period[outcome]));
  const total = sum(searches.periods.map(answered));
  const of = (condition) => sum(searches.periods.filter(condition).map(answered));
  const outcome = (name) => sum(searches.periods.map((period) => period[name]));
  if (!total) {
    return h("section", { class: "card", "aria-label": "Searches" }, h("h2", {}, "Searches"), empty("No searches", `Nothing was asked in this time. Counts are kept for ${searches.kept_days} days.`));
  }
  const rows = periodsOf(days, step).map(({ start, label, short }) => {
    const at = searches.periods.filter((period) => Date.parse(period.start) === start);
    const values = Object.fromEntries(at.map((period) => [period.tier, answered(period)]));
    const unsure = { low_confidence: sum(at.map((period) => period.low_confidence)), "no-hit": sum(at.map((period) => period.empty)) };
    return { label, short, values: { ...values, ...unsure } };
  });
  return h(
    "section",
    { class: "card", "aria-label": "Searches" },
    h("h2", {}, "Searches"),
    h(
      "div",
      { class: "stats" },
      stat("Answers", formatNumber(total)),
      stat("From a cache", percent(of((period) => period.tier !== "miss") / total)),
      stat("Without a hit", percent(outcome("empty") / total)),
      stat("Of low confidence", percent(outcome("low_confidence") / total)),
    ),
    h(
      "div",
      { class: "columns" },
      columnChart({ title: "Answers by what gave them", series: TIERS, rows }),
      columnChart({
        title: "Answers without a sure hit",
        series: [
          { name: "low_confidence", label: "of low confidence" },
          { name: "no-hit", label: "without a hit" },
        ],
        rows,
        empty: "Every answer had hits, and none was of low confidence.",
      }),
    ),
  );
}

/** Every hour or day of the range, so that a time without searches is a gap. */
export function periodsOf({ from, to }, step) {
  const length = step === "hour" ? DAY_MS / 24 : DAY_MS;
  const end = Math.min(Date.parse(to) + DAY_MS, Date.now());
  const periods = [];
  for (let start = Date.parse(from); start < end; start += length) {
    const text = new Date(start).toISOString();
    periods.push(step === "hour" ? { start, label: `${text.slice(0, 13).replace("T", " ")}:00`, short: text.slice(11, 16) } : { start, label: text.slice(0, 10), short: text.slice(5, 10) });
  }
  return periods;
}

function latencyCard({ latencies }) {
  const tiers = [...TIERS.filter(({ name }) => latencies.some((row) => row.tier === name)), { name: null, label: "all" }];
  const row = ({ name, label }) => {
    const counts = latencies.filter((count) => name === null || count.tier === name);
    return { label, count: sum(counts.map((count) => count.answers)), shares: [0.5, 0.95, 0.99].map((share) => percentile(counts, share)) };
  };
  return h(
    "section",
    { class: "card", "aria-label": "Latency" },
    h("h2", {}, "Latency in the gateway"),
    latencies.length
      ? table(
          "So many of the answers took at most this time; some, such as those of a batch, are not measured one by one",
          [
            { label: "Answers", cell: (each) => each.label },
            { label: "Count", isNumber: true, cell: (each) => formatNumber(each.count) },
            ...["50 %", "95 %", "99 %"].map((label, index) => ({ label, isNumber: true, cell: (each) => `${formatNumber(each.shares[index])} ms` })),
          ],
          tiers.map(row),
        )
      : h("p", { class: "muted" }, "No search was measured in this time."),
  );
}

/** The least upper bound below which so large a share of the answers is. */
export function percentile(counts, share) {
  const sorted = counts.toSorted((one, other) => one.latency_ms_max - other.latency_ms_max);
  const wanted = share * sum(sorted.map((count) => count.answers));
  let passed = 0;
  return sorted.find((count) => (passed += count.answers) >= wanted)?.latency_ms_max ?? 0;
}

function indexNote({ audited_at: at, problems }) {
  const counts = Object.entries(problems);
  return counts.length
    ? note("bad", h("strong", {}, "The last audit of the index found problems"), h("ul", {}, counts.map(([kind, count]) => h("li", {}, `${kind.replaceAll("_", " ")}: ${formatNumber(count)}`))))
    : note(at ? "good" : "", h("strong", {}, at ? "0 problems in the index" : "The index was not audited yet"), at && h("span", {}, "Audited ", formatInstant(at)));
}

function auditCard({ searches: { audits }, status }) {
  const checked = audits.equal + audits.other;
  return h(
    "section",
    { class: "card", "aria-label": "Audits" },
    h("h2", {}, "Was any answer wrong?"),
    audits.other
      ? note("bad", h("strong", {}, `${formatNumber(audits.other)} of ${formatNumber(checked)} audited answers were stale`), h("span", {}, "Each was dropped. This is a defect: please report it with the log's lines of the event audit."))
      : checked
        ? note("good", h("strong", {}, "0 stale answers"), h("span", {}, `Cached answers that were computed again, and were equal: ${formatNumber(checked)}.`))
        : note("", h("strong", {}, "No answer was audited"), h("span", {}, "NEARHIT_CACHE_AUDIT_PER_MILLE sets the share of answers that are computed again and compared.")),
    status && indexNote(status),
  );
}

function semanticCard({ error_max: errorMax, pairs, served, verified, wrong, missing_right: missing }) {
  return h(
    "section",
    { class: "card", "aria-label": "Similar questions" },
    h("h2", {}, "Answers of similar questions"),
    h("p", { class: "muted small" }, `Served while the share of wrong ones is below ${percent(errorMax)} with 95 % confidence.`),
    pairs || verified
      ? h(
          "p",
          {},
          missing ? badge("not yet") : badge(`${formatNumber(served)} served`, "good"),
          ` Of ${formatNumber(pairs)} pairs of questions ${formatNumber(verified)} were verified: ${formatNumber(wrong)} wrong.`,
          missing ? ` ${formatNumber(missing)} right ones in a row are missing.` : "",
        )
      : h("p", { class: "muted" }, "No search has asked for it: set semantic to bounded."),
  );
}
