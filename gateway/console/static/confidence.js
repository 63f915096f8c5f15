/* The least score of a sure answer: what it is, and which open questions another one would settle. */

import { call } from "./api.js";
import { columnChart } from "./charts.js";
import { fill, h } from "./dom.js";
import { announce, field, formatNumber, listOf, submit } from "./ui.js";

const COLUMNS = 20; // of the scores from 0 to 1
const PATH = "/v1/confidence";
const SERIES = [
  { name: "low_confidence", label: "would be flagged" },
  { name: "memory", label: "would be sure" },
];

/** items: open questions. stored: what `GET /v1/confidence` answers. onSaved: called after a change. */
export function confidenceCard(items, stored, { isOpen, onSaved }) {
  const score = h("input", { type: "number", min: "0", max: "1", step: "0.01", inputmode: "decimal", placeholder: "the gateway's own", value: stored.score_min ?? "" });
  const sources = h("textarea", { rows: "2", spellcheck: "false", value: Object.entries(stored.sources).map(([name, least]) => `${name}: ${least}`).join("\n") });
  const fallback = h("input", { autocomplete: "off", value: stored.fallback ?? "" });
  const place = h("div");
  const effect = h("div", { class: "stack" });
  const wanted = () => (score.value === "" ? stored.score_min : Number(score.value));
  const show = () => fill(effect, effectOf(items, wanted()));
  score.addEventListener("input", show);
  const save = async () => {
    const body = { score_min: score.value === "" ? null : Number(score.value), sources: readSources(sources.value), fallback: fallback.value.trim() || null };
    await call("PUT", PATH, { body });
    announce("The least score holds from the next request on");
    await onSaved();
  };
  const form = h(
    "form",
    { "aria-label": "Least score", onsubmit: (event) => (event.preventDefault(), submit(form, place, save)) },
    h("p", { class: "muted small" }, "An answer is flagged if no hit reaches the least score. Without a number the gateway's own holds; if it has none either, each question has one that is measured for it, and no answer is flagged."),
    h("div", { class: "grid" },
      field("Least score", score, { name: "score_min", hint: "0 to 1" }),
      field("Of single sources", sources, { name: "sources", hint: "one a line, such as wiki: 0.4" }),
      field("Answer instead", fallback, { name: "fallback", hint: "what a cited answer says if it is flagged" })),
    effect,
    place,
    h("div", {}, h("button", { type: "submit", class: "primary" }, "Save")),
  );
  show();
  return h("section", { class: "card", "aria-label": "Confidence" }, h("details", { open: isOpen }, h("summary", {}, `How sure an answer has to be: ${stored.score_min ?? "the gateway's own least score"}`), form));
}

function readSources(text) {
  const entries = listOf(text).map((line) => {
    const [, name, least] = /^(.+?)\s*:\s*([0-9.]+)$/.exec(line) ?? [];
    if (name === undefined || Number.isNaN(Number(least))) {
      const errors = [{ field: "sources", detail: `must be a name and a score, and not “${line}”` }];
      throw Object.assign(new Error("Correct the sources."), { title: "Invalid field", errors });
    }
    return [name, Number(least)];
  });
  return Object.fromEntries(entries);
}

/** The open questions by the score of their best hit, and how many a least score would flag. */
function effectOf(items, least) {
  const best = items.map((item) => ({ count: item.count, score: Math.max(0, ...item.hits.map((hit) => hit.score)) }));
  if (!best.length) return h("p", { class: "muted" }, "No question is open. Once answers are flagged, you see here which of them another score would settle.");
  const isFlagged = ({ score }) => least === null || score < least;
  const asked = (questions) => questions.reduce((sum, { count }) => sum + count, 0);
  const rows = Array.from({ length: COLUMNS }, (_, index) => {
    const [from, to] = [index / COLUMNS, (index + 1) / COLUMNS];
    const within = best.filter(({ score }) => score >= from && (score < to || (index === COLUMNS - 1 && score <= to)));
    const flagged = within.filter(isFlagged);
    return { label: `${from.toFixed(2)} to ${to.toFixed(2)}`, short: from.toFixed(2), values: { low_confidence: asked(flagged), memory: asked(within) - asked(flagged) } };
  });
  const flagged = best.filter(isFlagged);
  return [
    columnChart({ title: "Open questions by the score of their best hit", series: SERIES, rows, head: "Score", empty: "None of them has a hit." }),
    h("p", { role: "status" }, least === null
      ? "Type a score to see what it would settle."
      : `A least score of ${least.toFixed(2)} flags ${formatNumber(flagged.length)} of these ${formatNumber(best.length)} questions, asked ${formatNumber(asked(flagged))} of ${formatNumber(asked(best))} times.`),
    h("p", { class: "muted small" }, "Of the open questions that were asked most, with the hits of the first time; without a hit the score is 0, and scores of single sources are left out. How many sure answers a higher score would flag is not told: no scores of them are kept."),
  ];
}
