/* The least score of a sure answer: what it is, and how many of the last answers another one would flag. */

import { call } from "./api.js";
import { columnChart } from "./charts.js";
import { fill, h } from "./dom.js";
import { table } from "./lists.js";
import { announce, field, formatNumber, listOf, submit } from "./ui.js";

const COLUMNS = 20; // of the scores from 0 to 1
const PATH = "/v1/confidence";
const SERIES = [
  { name: "low_confidence", label: "would be flagged" },
  { name: "memory", label: "would be sure" },
];

/** stored, scores: what `GET /v1/confidence` and its `scores` answer. onSaved: called after a change. */
export function confidenceCard(stored, scores, { isOpen, onSaved }) {
  const score = h("input", { type: "number", min: "0", max: "1", step: "0.01", inputmode: "decimal", placeholder: "the gateway's own", value: stored.score_min ?? "" });
  const sources = h("textarea", { rows: "2", spellcheck: "false", value: Object.entries(stored.sources).map(([name, least]) => `${name}: ${least}`).join("\n") });
  const fallback = h("input", { autocomplete: "off", value: stored.fallback ?? "" });
  const place = h("div");
  const effect = h("div", { class: "stack" });
  const wanted = () => (score.value === "" ? stored.score_min : Number(score.value));
  const show = () => fill(effect, effectOf(scores, wanted()));
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
    h("p", { class: "muted small" }, "An answer is flagged if no hit reaches the least score. Without a number the gateway's own holds; if it has none either, the embedder's, which is measured for short questions in the documents' language; answers to others are then not flagged."),
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

/** The answers by the score of their best hit, and how many each least score would flag. */
function effectOf({ scores, kept_days: days }, least) {
  const count = (condition) => scores.filter(condition).reduce((sum, { answers }) => sum + answers, 0);
  const total = count(() => true);
  if (!total) return h("p", { class: "muted" }, `Nothing was asked in the last ${days} days. Once something was, you see here what another score would flag.`);
  const isFlagged = ({ score }) => least !== null && score < least;
  const steps = Array.from({ length: COLUMNS }, (_, index) => [index / COLUMNS, (index + 1) / COLUMNS]);
  const rows = steps.map(([from, to]) => {
    const isWithin = ({ score }) => score >= from && (score < to || to === 1);
    const flagged = count((each) => isWithin(each) && isFlagged(each));
    return { label: `${from.toFixed(2)} to ${to.toFixed(2)}`, short: from.toFixed(2), values: { low_confidence: flagged, memory: count(isWithin) - flagged } };
  });
  const flaggedBelow = (bound) => count(({ score }) => score < bound);
  const share = (answers) => `${((100 * answers) / total).toFixed(1)} %`;
  return [
    columnChart({ title: `Answers of ${days} days by the score of their best hit`, series: least === null ? SERIES.slice(1).map((each) => ({ ...each, label: "answers" })) : SERIES, rows, head: "Score" }),
    h("p", { role: "status" }, least === null
      ? "Type a score to see what it would flag."
      : `A least score of ${least.toFixed(2)} would have flagged ${formatNumber(flaggedBelow(least))} of ${formatNumber(total)} answers, ${share(flaggedBelow(least))}.`),
    h(
      "details",
      {},
      h("summary", {}, "What each least score would have flagged"),
      table(
        "Of all answers, cached ones too",
        [
          { label: "Least score", cell: ([, bound]) => bound.toFixed(2) },
          { label: "Flagged", isNumber: true, cell: ([, bound]) => formatNumber(flaggedBelow(bound)) },
          { label: "Share", isNumber: true, cell: ([, bound]) => share(flaggedBelow(bound)) },
        ],
        steps,
      ),
    ),
    h("p", { class: "muted small" }, "Sure answers count too; an answer without a hit has the score 0. Scores of single sources are left out, and so are searches with another fusion than absolute."),
  ];
}
