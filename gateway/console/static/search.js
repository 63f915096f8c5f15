/* The playground: a question with all that a search accepts, and its answer; for admins beside the
 * answer that another subject or group would get. */

import { fieldsOf, move } from "./address.js";
import { call } from "./api.js";
import { answerView } from "./answer.js";
import { fill, h } from "./dom.js";
import { FACETS, facetView } from "./facets.js";
import { currentCaller, isAdmin } from "./session.js";
import { readSettings } from "./settings.js";
import { badge, checkbox, empty, field, listOf, load, note, select, submit } from "./ui.js";
import { welcome } from "./welcome.js";

const SCOPES = ["private", "shared", "tenant", "public"];

export function render(content, { fields, signal }) {
  const form = searchForm();
  const asked = fieldsOf(form.node);
  const values = h("div");
  const results = h("div", { class: "columns", "aria-live": "polite" });
  // A look as somebody else is in the audit log, so no address alone makes one.
  let isAsked = fields.has("query") && !fields.has("subject") && !fields.has("groups");
  asked.write(fields);
  const again = () => form.node.requestSubmit();
  const showValues = ({ facets }) => fill(values, facets && facetView(facets, form.filters, again));
  const ask = () => submit(form.node, form.place, async () => showValues(await showAnswers(results, form.read(), signal)), { isRead: true });
  form.node.addEventListener("submit", async (event) => {
    event.preventDefault();
    isAsked = true;
    move(asked.read());
    await ask();
  });
  if (isAsked) ask();
  else showStart(results, signal, () => isAsked);
  content.append(
    h("p", { class: "lead" }, "Search as your agents do: from exactly what the caller may read."),
    form.node,
    values,
    results,
  );
}

/** Before the first question: what to expect, or the first steps if there is nothing to be found. */
async function showStart(results, signal, isAsked) {
  fill(results, empty("Ask a question", "The hits appear here, with their scores and how the answer was made."));
  try {
    const { data } = await call("GET", "/v1/documents", { query: { limit: 1 }, signal });
    if (!data.documents.length && !isAsked()) fill(results, welcome());
  } catch {
    // the question itself will tell what is wrong
  }
}

function searchForm() {
  const query = h("input", { type: "search", required: true, autocomplete: "off", placeholder: "How many days of annual leave do I get?" });
  const topK = h("input", { type: "number", min: "1", max: "1000", value: "5" });
  const fusion = select([["absolute"], ["relative"], ["rrf", "rrf (ranks)"]]);
  const alpha = h("input", { type: "number", min: "0", max: "1", step: "0.05", placeholder: "the embedder's" });
  const minScore = h("input", { type: "number", min: "0", step: "0.01" });
  // The service refuses `public` by name where the tenant does not receive it; its own is found anyway.
  const isNamed = (name) => currentCaller().scopes.includes(name) && (name !== "public" || currentCaller().receives_public);
  const nameable = SCOPES.filter(isNamed);
  const scopes = SCOPES.map((name) => [name, checkbox(name, { checked: isNamed(name), disabled: !isNamed(name), name })]);
  const sources = h("input", { autocomplete: "off" });
  const tags = h("input", { autocomplete: "off" });
  const languages = h("input", { autocomplete: "off", placeholder: "en, pt" });
  const validOn = h("input", { type: "date" });
  const after = h("input", { type: "date" });
  const before = h("input", { type: "date" });
  const metadata = h("input", { autocomplete: "off", placeholder: '{"team": "support"}' });
  const staleness = h("input", { type: "number", min: "0", max: "3600000", placeholder: "0: never stale" });
  const explain = checkbox("explain the scores", { checked: true, name: "explain" });
  const semantic = checkbox("accept the cached answer of a similar question", { name: "semantic" });
  const rerank = checkbox("rerank the hits", { name: "rerank" });
  const counts = checkbox("count the documents by source, language and tag", { name: "facets" });
  const settings = h("textarea", { class: "code", rows: "2", spellcheck: "false", placeholder: "alpha=0.4\nfusion=rrf rerank=true" });
  const other = isAdmin() ? otherCaller() : null;
  const place = h("div");

  const read = () => {
    const body = { query: query.value, explain: explain.input.checked, highlights: true };
    const chosen = scopes.filter(([, box]) => box.input.checked).map(([name]) => name);
    if (topK.value) body.top_k = Number(topK.value);
    if (fusion.value !== "absolute") body.fusion = fusion.value;
    if (alpha.value) body.alpha = Number(alpha.value);
    if (minScore.value) body.min_score = Number(minScore.value);
    if (chosen.length < nameable.length) body.scopes = chosen;
    if (staleness.value) body.max_staleness_ms = Number(staleness.value);
    if (semantic.input.checked) body.semantic = "bounded";
    if (rerank.input.checked) body.rerank = true;
    if (counts.input.checked) Object.assign(body, FACETS);
    const filter = readFilter({ sources, tags, languages, validOn, after, before, metadata });
    if (Object.keys(filter).length) body.filter = filter;
    return { body, other: other?.read(), settings: readSettings(settings.value) };
  };

  const node = h(
    "form",
    { class: "card", role: "search" },
    h(
      "div",
      { class: "row end" },
      h("div", { class: "grow" }, field("Question", query, { name: "query" })),
      h("button", { type: "submit", class: "primary" }, "Search"),
    ),
    h(
      "div",
      { class: "row options" },
      other?.node,
      h(
        "details",
        {},
        h("summary", {}, "Scopes, filter and ranking"),
        h(
          "div",
          { class: "stack" },
          h("fieldset", {}, h("legend", {}, "Scopes"), h("div", { class: "row" }, scopes.map(([, box]) => box.node))),
          h(
            "div",
            { class: "grid" },
            field("Sources", sources, { name: "filter.sources", hint: "any of these, with commas" }),
            field("Tags", tags, { name: "filter.tags_any", hint: "any of these, with commas" }),
            field("Languages", languages, { name: "filter.languages", hint: "any of these, with commas" }),
            field("Valid on", validOn, { name: "filter.valid_on", hint: "of documents with valid_from or valid_to" }),
            field("Updated from", after, { name: "filter.updated_after" }),
            field("Updated before", before, { name: "filter.updated_before" }),
            field("Metadata", metadata, { name: "filter.metadata", hint: "JSON that must be contained" }),
            field("Hits at most", topK, { name: "top_k" }),
            field("Fusion", fusion, { name: "fusion" }),
            field("Alpha", alpha, { name: "alpha", hint: "0: words alone, 1: meaning alone" }),
            field("Least score", minScore, { name: "min_score" }),
            field("Staleness in ms", staleness, { name: "max_staleness_ms", hint: "how old the answer may be" }),
          ),
          h("div", { class: "row" }, explain.node, semantic.node, rerank.node, counts.node),
          field("Compare with", settings, { name: "settings", hint: "a setting a line: fields of the search, each answered beside yours; at most 4" }),
        ),
      ),
    ),
    place,
  );
  return { node, place, read, filters: { sources, languages, tags_any: tags } };
}

function readFilter({ sources, tags, languages, validOn, after, before, metadata }) {
  const filter = {};
  if (listOf(sources.value).length) filter.sources = listOf(sources.value);
  if (listOf(tags.value).length) filter.tags_any = listOf(tags.value);
  if (listOf(languages.value).length) filter.languages = listOf(languages.value);
  if (validOn.value) filter.valid_on = validOn.value;
  if (after.value) filter.updated_after = `${after.value}T00:00:00Z`;
  if (before.value) filter.updated_before = `${before.value}T00:00:00Z`;
  if (metadata.value.trim()) filter.metadata = parseMetadata(metadata.value);
  return filter;
}

function parseMetadata(text) {
  try {
    return JSON.parse(text);
  } catch {
    const errors = [{ field: "filter.metadata", detail: "must be JSON, such as {\"team\": \"support\"}" }];
    throw Object.assign(new Error("Correct the metadata."), { title: "Invalid field", errors });
  }
}

/** Whom to compare with: a subject with its groups, or somebody who has groups alone. */
function otherCaller() {
  const subject = h("input", { autocomplete: "off", placeholder: "ben" });
  const groups = h("input", { autocomplete: "off", placeholder: "sales" });
  return {
    node: h(
      "details",
      {},
      h("summary", {}, "See as somebody else"),
      h(
        "div",
        { class: "stack" },
        h("p", { class: "small muted" }, "The answer of another subject or group beside yours. The audit log keeps who looked, as whom, and at which documents."),
        h(
          "div",
          { class: "grid" },
          field("Subject", subject, { name: "subject", hint: "with the groups that it is a member of" }),
          field("Groups", groups, { name: "groups", hint: "with commas; also without a subject" }),
        ),
      ),
    ),
    read: () => {
      const fields = {};
      if (subject.value.trim()) fields.subject = subject.value.trim();
      if (listOf(groups.value).length) fields.groups = listOf(groups.value);
      return Object.keys(fields).length ? fields : null;
    },
  };
}

/** Show each answer in a column, and answer the caller's own. */
async function showAnswers(results, { body, other, settings }, signal) {
  const requests = [{ title: `As you, ${currentCaller().subject}`, path: "/v1/search", body }];
  const { facets, facet_values_max, ...plain } = body; // counted once
  if (other) {
    const who = [other.subject, ...(other.groups ?? []).map((group) => `group ${group}`)].filter(Boolean).join(", ");
    requests.push({ title: `As ${who}`, path: "/v1/search/as", body: { ...other, search: plain }, isOther: true });
  }
  for (const { name, fields } of settings) {
    const filter = { ...plain.filter, ...fields.filter };
    requests.push({ title: `With ${name}`, path: "/v1/search", body: { ...plain, ...fields, ...(Object.keys(filter).length > 0 && { filter }) } });
  }
  const ask = (request) => call("POST", request.path, { body: request.body, signal });
  const first = await ask(requests[0]); // a mistake in the search is shown at the form
  fill(
    results,
    requests.map((request, index) => {
      const answer = h("div", { class: "stack" });
      load(answer, async () => answerView(index ? await ask(request) : first, request, documentLink)).then(() => markDifferences(results));
      return h(
        "section",
        { class: "card", "aria-label": request.title },
        h("h2", {}, request.title),
        request.isOther && note("warn", "This look is in the audit log."),
        answer,
      );
    }),
  );
  return first.data;
}

/** Once all answers are there, mark the hits that another one lacks. */
function markDifferences(results) {
  const answers = [...results.children];
  if (answers.length < 2 || results.querySelector("[aria-busy], [role=alert]")) return;
  for (const hit of results.querySelectorAll(".hit")) {
    const others = answers.filter((answer) => !answer.contains(hit));
    if (others.every((answer) => answer.querySelector(`[data-chunk="${hit.dataset.chunk}"]`))) continue;
    hit.querySelector("h3").append(" ", badge(others.length === 1 ? "not in the other answer" : "not in every answer", "accent"));
  }
}

/** A link to the hit's passage in the caller's own document; another tenant's has none. */
function documentLink(hit) {
  if (hit.tenant) return `${hit.document_id} of ${hit.tenant}`;
  const passage = hit.kind === "text" ? `?start=${hit.start}&end=${hit.end}` : "";
  return h("a", { href: `#/documents/${encodeURIComponent(hit.document_id)}${passage}` }, hit.document_id);
}
