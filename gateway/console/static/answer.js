/* One answer of a search: its hits with the scores of both legs, and how it was made. */

import { h } from "./dom.js";
import { snippets } from "./snippets.js";
import { badge, bar, empty, note } from "./ui.js";

/** result: what `call` answered. request: {title, path, body}. documentLink(hit) answers a node. */
export function answerView(result, request, documentLink) {
  const { data, headers } = result;
  return [
    h(
      "div",
      { class: "row" },
      badge(`${data.hits.length} ${data.hits.length === 1 ? "hit" : "hits"}`, "accent"),
      cacheBadge(headers.get("cache-status")),
      headers.get("nearhit-consistency") && badge(`promise: ${headers.get("nearhit-consistency")}`),
      headers.get("nearhit-degraded") && badge(`degraded: ${headers.get("nearhit-degraded")}`, "warn"),
      data.low_confidence && badge("low confidence", "warn"),
    ),
    corrections(data.corrections),
    waterfall(headers.get("server-timing"), result.ms),
    data.hits.length ? hitList(data.hits, request.title, documentLink) : nothing(data),
    h(
      "div",
      { class: "stack" },
      headers.get("nearhit-revision") &&
        h("p", { class: "small muted" }, "Correct up to revision ", h("code", {}, headers.get("nearhit-revision"))),
      snippets(request.path, request.body),
    ),
  ];
}

const nothing = (data) =>
  empty(
    data.gate === "closed" ? "Not searched" : "No hit",
    data.gate === "closed"
      ? "The query gate took the message for no question."
      : "No document that this caller may read matches the question and the filter.",
  );

function cacheBadge(status) {
  if (!status) return badge("cache: not told");
  const isHit = /;\s*hit/.test(status);
  const tier = /detail="?([^";]+)"?/.exec(status)?.[1];
  if (isHit) return badge(`answered by cache: ${tier ?? "hit"}`, "good");
  return badge(status.includes("stored") ? "computed, now cached" : "computed");
}

function corrections(byWord) {
  const words = Object.entries(byWord ?? {});
  if (!words.length) return null;
  return note("", words.map(([word, taken]) => h("span", {}, `“${word}” is no known word: searched as ${taken.join(", ")}`)));
}

function hitList(hits, title, documentLink) {
  const best = { total: 0, dense: 0, lexical: 0 };
  for (const hit of hits) {
    best.total = Math.max(best.total, hit.score);
    best.dense = Math.max(best.dense, hit.explain?.dense?.score ?? 0);
    best.lexical = Math.max(best.lexical, hit.explain?.lexical?.score ?? 0);
  }
  return h("ol", { class: "hits" }, hits.map((hit, index) => hitItem(hit, index + 1, title, best, documentLink)));
}

function hitItem(hit, rank, title, best, documentLink) {
  return h(
    "li",
    { class: "hit" },
    h(
      "div",
      { class: "row spread" },
      h("h3", {}, `${rank}. `, hit.title || hit.document_id),
      h("span", { class: "row small" }, scopeBadge(hit), badge(hit.source), hit.language && badge(hit.language), hit.kind !== "text" && badge(hit.kind)),
    ),
    h("div", { class: "small" }, documentLink(hit), h("span", { class: "muted" }, ` · characters ${hit.start} to ${hit.end}`)),
    h("div", { class: "text", tabindex: "0", role: "region", "aria-label": `${title}: text of hit ${rank}` }, hit.text),
    h(
      "div",
      { class: "bars" },
      scoreRow("score", hit.score, best.total, ""),
      hit.rerank_score != null && scoreRow("reranked", hit.rerank_score, hit.rerank_score, ""),
      hit.explain && legRow("meaning (dense)", hit.explain.dense, best.dense, "dense"),
      hit.explain && legRow("words (lexical)", hit.explain.lexical, best.lexical, "lexical"),
    ),
  );
}

/** Through which scope the caller sees the hit; another tenant's text stands out. */
const scopeBadge = (hit) => (hit.tenant ? badge(`public, of ${hit.tenant}`, "warn") : badge(hit.scope));

function scoreRow(label, score, most, kind) {
  return [h("span", {}, label), bar(most ? score / most : 0, kind), h("span", { class: "number" }, score.toFixed(4))];
}

function legRow(label, leg, most, kind) {
  if (!leg) return [h("span", {}, label), bar(0, kind), h("span", { class: "number muted" }, "not found by it")];
  return [
    h("span", {}, label),
    bar(most ? leg.score / most : 0, kind),
    h("span", { class: "number" }, `${leg.score.toFixed(4)} · rank ${leg.rank}`),
  ];
}

/** The phases of `Server-Timing` one after the other, and what the way to the browser took. */
function waterfall(header, ms) {
  const phases = parseTiming(header);
  if (!phases.length) return h("p", { class: "small muted" }, `${ms.toFixed(1)} ms in the browser; the gateway tells no phases.`);
  const inside = phases.filter((phase) => phase.name !== "total");
  const total = phases.find((phase) => phase.name === "total")?.ms ?? inside.reduce((sum, phase) => sum + phase.ms, 0);
  let before = 0;
  const rows = inside.map((phase) => {
    const row = timingRow(phase.name, before, phase.ms, total);
    before += phase.ms;
    return row;
  });
  return h(
    "div",
    { class: "stack" },
    h("h3", {}, "Time in the gateway"),
    h("div", { class: "bars" }, rows, h("strong", {}, "total"), h("span"), h("strong", { class: "number" }, `${total.toFixed(2)} ms`)),
    h("p", { class: "small muted" }, `${ms.toFixed(1)} ms as the browser saw it`),
  );
}

function timingRow(name, startMs, ms, total) {
  const inner = bar(total ? ms / total : 0);
  inner.firstChild.style.marginLeft = `${total ? Math.min(99, (startMs / total) * 100) : 0}%`;
  return [h("span", {}, name), inner, h("span", { class: "number" }, `${ms.toFixed(2)} ms`)];
}

export function parseTiming(header) {
  return (header ?? "").split(",").flatMap((part) => {
    const [name, ...fields] = part.trim().split(";");
    const found = fields.map((text) => /^dur=([0-9.]+)$/.exec(text.trim())).find(Boolean);
    return found ? [{ name, ms: Number(found[1]) }] : [];
  });
}
