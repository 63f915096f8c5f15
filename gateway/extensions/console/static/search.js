/* The playground: a question with all that a search accepts, and its answer; for admins beside the
 * answer that another subject or group would get. Or a plan of several searches. */

import { move } from "./address.js";
import { call } from "./api.js";
import { answerView } from "./answer.js";
import { fill, h } from "./dom.js";
import { facetView } from "./facets.js";
import { planPage } from "./plan.js";
import { searchForm } from "./search-form.js";
import { currentCaller, isOn } from "./session.js";
import { badge, empty, load, loading, note, submit } from "./ui.js";
import { welcome } from "./welcome.js";
import { whyNotView } from "./why-not.js";

const REST_MS = 200; // between two keys, until a search is made while one types
const COSTLY = ["rerank", "semantic", "history", "gate", "context"]; // fields that may ask a language model

export function render(content, { fields, signal }) {
  const isPlan = isOn("plans") && fields.get("kind") === "plan";
  const other = isPlan ? h("a", { href: "#/search" }, "One search") : h("a", { href: "#/search?kind=plan" }, "A plan of several searches");
  content.append(
    h("div", { class: "row spread" }, h("p", { class: "lead" }, "Search as your agents do: from exactly what the caller may read."), isOn("plans") && other),
    ...(isPlan ? planPage(fields, signal) : searchPage(fields, signal)),
  );
}

function searchPage(fields, signal) {
  const form = searchForm();
  const above = h("div", { class: "stack" });
  const results = h("div", { class: "columns" });
  form.address.write(fields);
  const again = () => form.node.requestSubmit();
  const showAll = async (asked, ended, isTyped = false) => {
    results.setAttribute("aria-live", isTyped ? "off" : "polite"); // nobody wants each prefix's hits read aloud
    const { facets } = await showAnswers(results, asked, ended, isTyped);
    fill(above, asked.expected && whyNotView(asked, form, again, ended), facets && facetView(facets, form.filters, again));
    form.fold();
  };
  const typing = searchWhileTyping(form, signal, (asked, ended) => showAll(asked, ended, true));
  const ask = () => submit(form.node, form.place, () => showAll(form.read(), signal), { isRead: true });
  // A look as somebody else is in the audit log, so no address alone makes one.
  let isAsked = fields.has("query") && !fields.has("subject") && !fields.has("groups");
  form.node.addEventListener("submit", (event) => {
    event.preventDefault();
    isAsked = true;
    typing.end();
    ask();
  });
  form.node.addEventListener("input", () => (isAsked = true));
  if (isAsked) ask();
  else showStart(results, signal, () => isAsked);
  return [form.node, above, results];
}

/**
 * Searches while one types, by `show(asked, signal)`, if that asks no language model and is nobody else's
 * look. The last search of these is a question, and counts as one, once one asks it or leaves the page.
 */
function searchWhileTyping(form, signal, show) {
  let timer = 0;
  let ending = new AbortController();
  let shown = null; // what was asked last while one typed, and by whom
  const search = async () => {
    const ended = AbortSignal.any([signal, ending.signal]);
    try {
      const asked = form.read();
      if (!asked.isTyped || !asked.body.query || asked.other || asked.expected || asked.settings.length || asked.isWritten) return;
      if (COSTLY.some((name) => asked.body[name])) return;
      await show(asked, ended);
      move(form.address.read(), shown !== null);
      shown = { body: asked.body, caller: currentCaller() };
    } catch {
      // the search that one asks for tells what is wrong
    }
  };
  const stop = () => {
    clearTimeout(timer);
    ending.abort();
    ending = new AbortController();
  };
  form.node.addEventListener("input", () => (stop(), (timer = setTimeout(search, REST_MS))));
  signal.addEventListener("abort", () => {
    stop();
    if (shown?.caller === currentCaller()) call("POST", "/v1/search", { body: shown.body }).catch(() => {});
  });
  /** The search that one asks for takes its place. */
  const end = () => {
    stop();
    move(form.address.read(), shown !== null);
    shown = null;
  };
  return { end };
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

/** Show each answer in a column, and answer the caller's own. */
async function showAnswers(results, { body, other, settings, isWritten }, signal, isTyped) {
  const { facets, facet_values_max, ...plain } = body; // counted once, and not for a text
  const requests = [{ title: `As you, ${currentCaller().subject}`, path: isWritten ? "/v1/answer" : "/v1/search", body: isWritten ? plain : body }];
  if (other) {
    const who = [other.subject, ...(other.groups ?? []).map((group) => `group ${group}`)].filter(Boolean).join(", ");
    requests.push({ title: `As ${who}`, path: "/v1/search/as", body: { ...other, search: plain }, isOther: true });
  }
  for (const { name, fields } of settings) {
    const filter = { ...plain.filter, ...fields.filter };
    requests.push({ title: `With ${name}`, path: "/v1/search", body: { ...plain, ...fields, ...(Object.keys(filter).length > 0 && { filter }) } });
  }
  const ask = (request) => call("POST", request.path, { body: isTyped ? { ...request.body, typing: true } : request.body, signal });
  const waiting = results.querySelector(".hits") ? null : loading("Searching");
  if (waiting) fill(results, waiting);
  const first = await ask(requests[0]).finally(() => waiting?.remove()); // a mistake in the search is shown at the form
  fill(
    results,
    requests.map((request, index) => {
      const answer = h("div", { class: "stack" });
      load(answer, async () => answerView(index ? await ask(request) : first, request)).then(() => markDifferences(results));
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
