/* One answer of a search: its hits with the scores of both legs, and how it was made. */

import { segment } from "./api.js";
import { fill, h } from "./dom.js";
import { markdown } from "./markdown.js";
import { trustBadge } from "./provenance.js";
import { snippets } from "./snippets.js";
import { badge, bar, countOf, empty, note } from "./ui.js";

/** result: what `call` answered. request: {title, path, body}. */
export function answerView(result, request) {
  const { data } = result;
  const [made, ...code] = madeView(result, request, badge(countOf(data.hits.length, "hit"), "accent"), data.low_confidence && badge("low confidence", "warn"));
  return [made, corrections(data.corrections), data.answer !== undefined && writtenText(data), hitsView(data, request), code];
}

/** How the answer was made, and the request and the answer as code. badges: further ones, of the hits. */
export function madeView({ data, headers, ms }, request, ...badges) {
  const told = (name) => headers.get(`nearhit-${name}`);
  return [
    [
      h("div", { class: "row" }, badges, cacheBadge(headers.get("cache-status")), told("consistency") && badge(`promise: ${told("consistency")}`), told("degraded") && badge(`degraded: ${told("degraded")}`, "warn")),
      timing(headers.get("server-timing"), ms),
    ],
    told("revision") && h("p", { class: "small muted" }, "Correct up to revision ", h("code", {}, told("revision"))),
    snippets(request.path, request.body),
    asJson(data),
  ];
}

/** Made once it is opened. */
function asJson(data) {
  const place = h("div");
  const show = () => fill(place, h("pre", { class: "snippet", tabindex: "0", "aria-label": "The answer" }, JSON.stringify(data, null, 2)));
  return h("details", { ontoggle: show }, h("summary", {}, "The answer as JSON"), place);
}

const FINISHED = { length: "cut at its greatest length", fallback: "no hit is good enough: the model was not asked" };

/** The text of a language model, in which each mark leads to the passage that it cites. */
function writtenText({ answer, citations, hits, finish_reason: reason, cached }) {
  const text = h("div", { class: "text written", role: "region", "aria-label": "Written answer" }, markdown(answer, { marks: citations, above: 3 }));
  for (const mark of text.querySelectorAll("mark")) {
    const cited = citations.find((each) => each.mark === mark.textContent);
    const hit = hits.find((each) => each.chunk_id === cited?.chunk_id);
    if (hit) mark.replaceWith(hitLink(hit, mark.textContent));
  }
  return [text, h("div", { class: "row" }, FINISHED[reason] && badge(FINISHED[reason], "warn"), cached && badge("text from the cache", "good"))];
}

export const hitsView = (data, request) => (data.hits.length ? hitList(data.hits, request) : nothing(data));

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

function hitList(hits, request) {
  return h("ol", { class: "hits" }, hits.map((hit, index) => hitItem(hit, index + 1, request)));
}

/** A link to the hit's passage in the caller's own document; another tenant's has none. */
export function hitLink(hit, text = hit.document_id) {
  if (hit.tenant) return `${text} of ${hit.tenant}`;
  const passage = hit.kind === "text" ? `?start=${hit.start}&end=${hit.end}` : "";
  return h("a", { href: `#/documents/${segment(hit.document_id)}${passage}`, title: hit.document_id }, text);
}

function hitItem(hit, rank, request) {
  return h(
    "li",
    { class: "hit", "data-chunk": hit.chunk_id },
    h(
      "div",
      { class: "row spread" },
      h("h3", {}, `${rank}.\u00a0`, h("bdi", {}, hit.title || hit.document_id)),
      h("span", { class: "row small" }, scopeBadge(hit), badge(hit.source), hit.language && badge(hit.language), hit.kind !== "text" && badge(hit.kind), trustBadge(hit.trust)),
    ),
    h("div", { class: "small" }, hitLink(hit), h("span", { class: "muted" }, ` · characters ${hit.start} to ${hit.end}`)),
    h("div", { class: "text", tabindex: "0", role: "region", "aria-label": `${request.title}: text of hit ${rank}` }, markdown(hit.text, { marks: hit.highlights, above: 3 })),
    scores(hit, request.body),
  );
}

/** Through which scope the caller sees the hit; another tenant's text stands out. */
const scopeBadge = (hit) => (hit.tenant ? badge(`public, of ${hit.tenant}`, "warn") : badge(hit.scope));

const CANDIDATES = 50; // of each leg, unless the request names a number
const RRF_MAX = 2 / 61; // what the first of both legs scores

/** The scores, each on the whole of its scale: how well a hit fits, not how it compares to others. */
function scores(hit, body) {
  const most = body.fusion === "rrf" ? RRF_MAX : 1;
  const required = hit.explain?.required_score ?? null;
  const isMissed = required !== null && hit.score < required;
  return h(
    "div",
    { class: "scores" },
    score("score", bar(hit.score / most, isMissed ? "bad" : "", required), hit.score.toFixed(4), isMissed && `below ${required}`),
    hit.rerank_score != null && score("reranked", null, hit.rerank_score.toFixed(4)),
    hit.explain && leg("meaning", hit.explain.dense, "dense", body),
    hit.explain && leg("words", hit.explain.lexical, "lexical", body),
    Object.entries(hit.explain?.boost ?? {}).map(([name, added]) => added && score(name, null, added.toFixed(4), "added to rank it")),
  );
}

function leg(label, found, kind, body) {
  if (!found) return score(label, bar(0, kind), "nothing in common");
  const rank = found.rank === null ? `not among the first ${body.candidates ?? CANDIDATES}` : `rank ${found.rank}`;
  return score(label, bar(found.score, kind), found.score.toFixed(4), rank);
}

const score = (label, meter, number, more) =>
  h("div", { class: "score" }, h("span", { class: "muted" }, label), meter, h("span", { class: "number" }, number), more && h("span", { class: "muted" }, more));

/** What each phase in the gateway took, and the whole as the browser saw it. */
function timing(header, ms) {
  const phases = parseTiming(header);
  const total = phases.find((phase) => phase.name === "total");
  const inside = phases.filter((phase) => phase !== total).map((phase) => `${phase.name} ${phase.ms.toFixed(2)}`);
  return h(
    "p",
    { class: "small muted timing", tabindex: "0" }, // a phone moves it aside
    total ? `${total.ms.toFixed(2)} ms in the gateway` : "the gateway tells no time",
    `, ${ms.toFixed(1)} ms in the browser`,
    inside.length > 0 && ` (${inside.join(", ")})`,
  );
}

function parseTiming(header) {
  return (header ?? "").split(",").flatMap((part) => {
    const [name, ...fields] = part.trim().split(";");
    const found = fields.map((text) => /^dur=([0-9.]+)$/.exec(text.trim())).find(Boolean);
    return found ? [{ name, ms: Number(found[1]) }] : [];
  });
}
