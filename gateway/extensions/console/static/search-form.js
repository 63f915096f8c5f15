/* The form of a search: a control for each field of its body, named by the field's path. */

import { fieldsOf } from "./address.js";
import { fill, h, uniqueId } from "./dom.js";
import { FACETS } from "./facets.js";
import { currentCaller, isAdmin, isOn } from "./session.js";
import { readSettings } from "./settings.js";
import { checkbox, field, listOf, select } from "./ui.js";

const SCOPES = ["private", "shared", "tenant", "public"];
const ANY = "any of these, with commas";

/** Kinds of fields: the type of the control, and how its text is read and written. */
const TEXT = { type: "text", read: String, write: String };
const NUMBER = { type: "number", read: Number, write: String };
const LIST = { type: "text", read: listOf, write: (values) => values.join(", ") };
const OBJECT = { type: "text", read: JSON.parse, write: JSON.stringify };
const DAY = { type: "date", read: String, write: String };
const MIDNIGHT = { type: "date", read: (text) => `${text}T00:00:00Z`, write: (text) => text.slice(0, 10) };
const INSTANT = { type: "datetime-local", read: (text) => `${text}Z`, write: (text) => text.replace("Z", "") };
/** One of these: [value, label]; the first one is what the body says by default. */
const oneOf = (...options) => ({ options, read: (text) => (text === "true" ? true : text), write: String });

const WEIGHT = { min: "0", max: "10", step: "any" };
const PARTS = [
  ["Filter", [
    ["filter.sources", "Sources", LIST, { hint: ANY }],
    ["filter.tags_any", "Tags", LIST, { hint: ANY }],
    ["filter.tags_all", "All tags", LIST, { hint: "each of these, with commas" }],
    ["filter.languages", "Languages", LIST, { hint: ANY, placeholder: "en, pt" }],
    ["filter.documents", "Only documents", LIST, { hint: "identifiers, with commas" }],
    ["filter.exclude_documents", "Without documents", LIST, { hint: "identifiers, with commas" }],
    ["filter.valid_on", "Valid on", DAY, { hint: "of documents with valid_from or valid_to" }],
    ["filter.as_of", "Valid at", INSTANT, { hint: "the same to the second, in UTC", step: "1" }],
    ["filter.updated_after", "Updated from", MIDNIGHT],
    ["filter.updated_before", "Updated before", MIDNIGHT],
    ["filter.metadata", "Metadata", OBJECT, { hint: "JSON that must be contained", placeholder: '{"team": "support"}' }],
    ["filter.attributes", "Comparison", OBJECT, { hint: "of metadata, as JSON", placeholder: '{"type": "gte", "key": "year", "value": 2025}' }],
  ]],
  ["Ranking", [
    ["top_k", "Hits at most", NUMBER, { min: "1", max: "1000", value: "5" }],
    ["document_hits_max", "Hits of a document", NUMBER, { min: "1", placeholder: "no limit" }],
    ["fusion", "Fusion", oneOf(["absolute"], ["relative"], ["rrf", "rrf (ranks)"])],
    ["alpha", "Alpha", NUMBER, { min: "0", max: "1", step: "0.05", placeholder: "the embedder's", hint: "0: words alone, 1: meaning alone" }],
    ["min_score", "Least score", NUMBER, { min: "0", step: "any" }],
    ["diversity", "Diversity", NUMBER, { min: "0", max: "1", step: "any", hint: "likeness to better hits counts against a hit" }],
    ["rerank", "Rerank", oneOf(["", "no"], ["true", "as this gateway does"], ["words", "by words"])],
    ["candidates", "Hits to rerank", NUMBER, { min: "1", placeholder: "20" }],
    ["expand", "Around a hit", oneOf(["", "nothing"], ["neighbours", "the chunks beside it"], ["relations", "related documents"])],
    ["language", "Question's language", TEXT, { placeholder: "detected" }],
    ["max_staleness_ms", "Staleness in ms", NUMBER, { min: "0", max: "3600000", placeholder: "0: never stale", hint: "how old the answer may be" }],
  ]],
  ["Boosts", [
    ["boost.recency.weight", "Recency", NUMBER, { ...WEIGHT, hint: "weight of each half-life that a document is newer" }],
    ["boost.recency.half_life_days", "Half-life in days", NUMBER, { min: "0.01", step: "any" }],
    ["boost.importance.weight", "Importance", NUMBER, { ...WEIGHT, hint: "weight of a number in the metadata" }],
    ["boost.importance.key", "Number under", TEXT, { placeholder: "priority" }],
    ["boost.importance.full", "Full number", NUMBER, { placeholder: "1", step: "any" }],
    ["boost.popularity.weight", "Popularity", NUMBER, { ...WEIGHT, hint: "weight of openings" }],
    ["boost.replaced.weight", "Replaced", NUMBER, { ...WEIGHT, hint: "taken from what another document replaces" }],
  ]],
];

const OF_RAG = ["rerank", "candidates"];

/**
 * Answers {node, place, read, write, address, labelOf, filters, fold}. read: what is asked for. write(body):
 * fills the form. address: as of `fieldsOf`. labelOf(path): of the field. filters: the inputs that facets
 * narrow. fold: hides the options on a phone, where the answer comes first, unless one is in them.
 */
export function searchForm() {
  const query = makeRow(["query", "Question", TEXT, { required: true, placeholder: "How many days of annual leave do I get?" }]);
  query.control.type = "search";
  const isServed = ([path]) => isOn("rag") || !OF_RAG.includes(path);
  const parts = PARTS.map(([legend, all]) => [legend, all.filter(isServed).map(makeRow)]);
  const rows = [query, ...parts.flatMap(([, all]) => all)];
  const rowOf = (path) => rows.find((row) => row.path === path);
  // The service refuses `public` by name where the tenant does not receive it; its own is found anyway.
  const isNamed = (name) => currentCaller().scopes.includes(name) && (name !== "public" || currentCaller().receives_public);
  const nameable = SCOPES.filter(isNamed);
  const scopes = SCOPES.map((name) => [name, checkbox(name, { checked: isNamed(name), disabled: !isNamed(name), name })]);
  const flags = [
    ["explain", [true, checkbox("explain the scores", { checked: true, name: "explain" })]],
    ["semantic", ["bounded", checkbox("accept the cached answer of a similar question", { name: "semantic" })]],
  ].filter(([name]) => name !== "semantic" || isOn("similar_questions"));
  const counts = checkbox("count the documents by source, language and tag", { name: "facets" });
  const typed = checkbox("search while I type", { checked: true, name: "typing" });
  const written = checkbox("Write an answer", { name: "answer" });
  const others = h("textarea", { class: "code", rows: "2", spellcheck: "false", placeholder: '{"context": {"token_budget": 500}}' });
  const settings = h("textarea", { class: "code", rows: "2", spellcheck: "false", placeholder: "alpha=0.4\nfusion=rrf rerank=true" });
  const expected = isOn("why_not") ? expectedDocument() : null;
  const other = isAdmin() && isOn("search_as") ? otherCaller() : null;
  const place = h("div");
  const used = h("span", { class: "muted small" });

  const read = () => {
    const body = { ...(others.value.trim() && readText("others", JSON.parse, others.value)), highlights: true };
    for (const row of rows) {
      const text = row.control.value.trim();
      if (text && text !== row.options?.[0][0]) put(body, row.path, readText(row.path, row.read, text));
    }
    const chosen = scopes.filter(([, box]) => box.input.checked).map(([name]) => name);
    if (chosen.length < nameable.length) body.scopes = chosen;
    for (const [name, [value, box]] of flags) if (box.input.checked) body[name] = value;
    if (counts.input.checked) Object.assign(body, FACETS);
    return { body, other: other?.read(), expected: expected?.read(), settings: readSettings(settings.value), isWritten: written.input.checked, isTyped: typed.input.checked };
  };
  const write = (body) => {
    const { highlights, scopes: chosen = nameable, facets, facet_values_max, ...rest } = structuredClone(body);
    for (const row of rows) {
      const value = take(rest, row.path);
      row.control.value = value === undefined ? row.options?.[0][0] ?? "" : row.write(value);
    }
    for (const [name, box] of scopes) box.input.checked = chosen.includes(name);
    for (const [name, [value, box]] of flags) box.input.checked = take(rest, name) === value;
    counts.input.checked = facets !== undefined;
    others.value = Object.keys(rest).length ? JSON.stringify(rest) : "";
  };

  const options = h("div", { class: "row options", id: uniqueId("options") });
  const unfold = h("button", { type: "button", class: "plain unfold", "aria-controls": options.id, onclick: () => setFolded(!node.classList.contains("folded")) }, "Options");
  const setFolded = (isFolded) => {
    node.classList.toggle("folded", isFolded);
    unfold.setAttribute("aria-expanded", String(!isFolded));
  };
  const node = h(
    "form",
    { class: "card", role: "search" },
    h("div", { class: "row end" }, h("div", { class: "grow" }, query.node), h("button", { type: "submit", class: "primary" }, "Search")),
    unfold,
    fill(
      options,
      isOn("answers") && written.node,
      other?.node,
      expected?.node,
      h(
        "details",
        { "data-closed": true },
        h("summary", {}, "Scopes, filter and ranking", used),
        h(
          "div",
          { class: "stack" },
          part("Scopes", "row", scopes.map(([, box]) => box.node)),
          parts.map(([legend, all]) => part(legend, "grid", all.map((row) => row.node))),
          h("div", { class: "row" }, flags.map(([, [, box]]) => box.node), counts.node, typed.node),
          field("Other fields", others, { name: "others", hint: "of the body, as JSON" }),
          field("Compare with", settings, { name: "settings", hint: "a setting a line: fields of the search, each answered beside yours; at most 4" }),
        ),
      ),
    ),
    place,
  );
  setFolded(false);
  const address = fieldsOf(node);
  const optional = new Set(Array.from(used.closest("details").querySelectorAll("[name]"), (control) => control.name));
  const tellUsed = () => {
    const changed = Object.entries(address.read()).filter(([name, value]) => value && optional.has(name)).length;
    fill(used, changed > 0 && ` (${changed} set)`);
  };
  for (const event of ["input", "submit"]) node.addEventListener(event, tellUsed);
  return {
    ...{ node, place, read, write },
    fold: () => setFolded(!options.contains(document.activeElement)),
    address: { ...address, write: (fields) => (address.write(fields), tellUsed()) },
    labelOf: (path) => rowOf(path)?.label ?? path,
    filters: Object.fromEntries(["sources", "languages", "tags_any"].map((name) => [name, rowOf(`filter.${name}`).control])),
  };
}

const part = (legend, kind, nodes) => h("fieldset", {}, h("legend", {}, legend), h("div", { class: kind }, nodes));

function makeRow([path, label, kind, { hint, ...properties } = {}]) {
  const control = kind.options ? select(kind.options) : h("input", { type: kind.type, autocomplete: "off", ...properties });
  return { path, label, control, node: field(label, control, { name: path, hint }), ...kind };
}

function readText(name, read, text) {
  try {
    return read(text);
  } catch {
    const errors = [{ field: name, detail: 'must be JSON, such as {"team": "support"}' }];
    throw Object.assign(new Error("Correct the field."), { title: "Invalid field", errors });
  }
}

function put(body, path, value) {
  const names = path.split(".");
  const last = names.pop();
  names.reduce((inner, name) => (inner[name] ??= {}), body)[last] = value;
}

/** Remove the value from the body, with what is empty without it. */
function take(body, path) {
  const [name, ...rest] = path.split(".");
  const value = rest.length && body[name] ? take(body[name], rest.join(".")) : body[name];
  if (!rest.length || !Object.keys(body[name] ?? {}).length) delete body[name];
  return value;
}

/** Whom to compare with: a subject with its groups, or somebody who has groups alone. */
function otherCaller() {
  const subject = h("input", { autocomplete: "off", placeholder: "ben" });
  const groups = h("input", { autocomplete: "off", placeholder: "sales" });
  return {
    node: more(
      "See as somebody else",
      "The answer of another subject or group beside yours. The audit log keeps who looked, as whom, and at which documents.",
      field("Subject", subject, { name: "subject", hint: "with the groups that it is a member of" }),
      field("Groups", groups, { name: "groups", hint: "with commas; also without a subject" }),
    ),
    read: () => {
      const fields = {};
      if (subject.value.trim()) fields.subject = subject.value.trim();
      if (listOf(groups.value).length) fields.groups = listOf(groups.value);
      return Object.keys(fields).length ? fields : null;
    },
  };
}

/** A document of which one asks why it is no hit. */
function expectedDocument() {
  const id = h("input", { autocomplete: "off", placeholder: "handbook/leave.md" });
  const tenant = h("input", { autocomplete: "off" });
  return {
    node: more(
      "A document that I expected",
      "Why it is in the answer, or not, and what would bring it in.",
      field("Document", id, { name: "document_id", hint: "its identifier" }),
      currentCaller().receives_public && field("Of another tenant", tenant, { name: "tenant", hint: "if it is a public one" }),
    ),
    read: () => (id.value.trim() ? { document_id: id.value.trim(), ...(tenant.value.trim() && { tenant: tenant.value.trim() }) } : null),
  };
}

const more = (summary, text, ...fields) =>
  h("details", {}, h("summary", {}, summary), h("div", { class: "stack" }, h("p", { class: "small muted" }, text), h("div", { class: "columns" }, fields)));
