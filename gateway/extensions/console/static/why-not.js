/* Why a document is not in an answer, of the extension `why_not`; and the change that would bring it in. */

import { call } from "./api.js";
import { hitLink } from "./answer.js";
import { h } from "./dom.js";
import { table } from "./lists.js";
import { load, note } from "./ui.js";

/** In the order of a search; {conditions, scopes, rank} are of the answer. */
const REASONS = {
  not_found: () => "There is no such document, or you may not read it: nothing tells the two apart.",
  inactive: () => "It is inactive: no search finds it.",
  scopes: ({ scopes }) => `It is in ${scopes.join(" and ")}, where is not searched.`,
  filter: ({ conditions }) => `The filter leaves it out: ${conditions}.`,
  not_indexed: () => "It has no passage that a search could find.",
  unrelated: () => "No passage of it has a word or a meaning in common with the question.",
  min_score: () => "Its best passage is below the least score.",
  duplicate: () => "A better passage has the same words.",
  boost: () => "The boosts lift others above it.",
  diversity: () => "It is too like to better hits.",
  outranked: ({ rank }) => `Others fit better${rank ? `: it would be number ${rank}` : ""}.`,
  reranked: () => "The reranker prefers others.",
  missed: () => "The index, which is searched in part, did not reach it.",
};

/** asked: as the form says it. form: of the search, which a change fills. again(): searches anew. */
export function whyNotView({ body, expected }, form, again, signal) {
  const place = h("div", { class: "stack" });
  const apply = (change) => (form.write(patched(body, change)), again());
  load(place, async () => answer((await call("POST", "/v1/search/why-not", { body: { ...body, ...expected }, signal })).data, form.labelOf, apply));
  return h("section", { class: "card", "aria-label": "Why not?" }, h("h2", {}, `Why not “`, h("bdi", {}, expected.document_id), "”?"), place);
}

function answer(data, labelOf, apply) {
  const told = { ...data, conditions: data.conditions.map((name) => labelOf(`filter.${name}`)).join(", ") };
  const isOwn = data.last?.chunk_id === data.best?.chunk_id;
  const passages = [["Its best passage", data.best], [isOwn ? null : "The last hit", data.last], ["The better passage", data.duplicate_of]];
  const changes = leaves(data.change ?? {}).map(([path, value]) => `${labelOf(path)}: ${value === null ? "not set" : value}`);
  return [
    data.in_answer
      ? note("good", h("strong", {}, `It is in the answer, as number ${data.rank}`))
      : note("warn", h("strong", {}, "It is not in the answer"), h("ul", {}, data.reasons.map((reason) => h("li", {}, REASONS[reason](told))))),
    data.best && passageTable(passages.filter(([label, passage]) => label && passage)),
    changes.length > 0 && h("div", { class: "row" }, h("span", {}, "What would bring it in: ", changes.join(", ")), h("button", { type: "button", class: "primary", onclick: () => apply(data.change) }, "Search with this change")),
    !data.in_answer && !changes.length && data.best && h("p", { class: "muted" }, "No change of the search brings it in for certain."),
  ];
}

function passageTable(passages) {
  const score = (name) => ([, passage]) => passage[name]?.toFixed(4) ?? h("span", { class: "muted" }, "none");
  const columns = [["Score", "score"], ["Meaning", "dense"], ["Words", "lexical"], ...(passages.some(([, { boost }]) => boost) ? [["Boost", "boost"]] : [])];
  return table(
    "What they are ranked by",
    [{ label: "Passage", cell: ([label, passage]) => [label, h("div", { class: "small" }, hitLink(passage))] }, ...columns.map(([label, name]) => ({ label, isNumber: true, cell: score(name) }))],
    passages,
  );
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** [path, value] of each value that the patch sets or takes away. */
const leaves = (patch) => Object.entries(patch).flatMap(([name, value]) => (isObject(value) ? leaves(value).map(([path, leaf]) => [`${name}.${path}`, leaf]) : [[name, value]]));

/** The JSON Merge Patch of RFC 7396. */
function patched(target, patch) {
  if (!isObject(patch)) return patch;
  const result = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = patched(result[name], value);
  }
  return result;
}
