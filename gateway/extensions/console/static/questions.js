/* Questions whose answers had low confidence: answer one with a new document or FAQ, or dismiss it. */

import { call, segment } from "./api.js";
import { confidenceCard } from "./confidence.js";
import { documentLink } from "./documents.js";
import { h } from "./dom.js";
import { pager, toggles } from "./lists.js";
import { isOn } from "./session.js";
import { announce, badge, confirmDialog, empty, field, formatInstant, formatNumber, listOf, load, openDialog, select, submit } from "./ui.js";

const STATES = [
  ["open", "Open"],
  ["resolved", "Answered"],
  ["dismissed", "Dismissed"],
];

export function render(content, { fields, signal }) {
  const state = toggles("State", STATES, fields.get("state"), () => pages.reset());
  const list = h("div", { class: "stack" });
  const least = h("div");
  const get = async (path, query) => (await call("GET", path, { query, signal })).data;
  const showLeast = (isOpen) =>
    load(least, async () => {
      const [stored, scores] = await Promise.all([get("/v1/confidence"), get("/v1/confidence/scores")]);
      return confidenceCard(stored, scores, { isOpen, onSaved: () => showLeast(true) });
    });
  const pages = pager(
    "questions",
    list,
    (cursor) => get("/v1/curation", { cursor, state: state.value() }),
    (page) => itemList(page.items, state.value(), pages),
    { fields, chosen: () => ({ state: state.value() }) },
  );
  content.append(
    h("p", { class: "lead" }, "What was asked and found no sure answer, the most frequent first. An answer becomes a document or a FAQ that the next search finds."),
    least,
    state.node,
    list,
  );
  pages.show();
  showLeast(false);
}

const NONE = {
  open: ["No open questions", "Every question found an answer that is sure enough, or no least score is set."],
  resolved: ["None was answered yet", "An answer that you write appears here."],
  dismissed: ["None was dismissed", "A question that needs no answer can be dismissed."],
};

function itemList(items, state, pages) {
  if (!items.length) return empty(...NONE[state]);
  return items.map((item) =>
    h(
      "article",
      { class: "card", "aria-label": item.question },
      h("div", { class: "row spread" }, h("h2", {}, item.question), badge(`asked ${formatNumber(item.count)} ${item.count === 1 ? "time" : "times"}`, "accent")),
      h("p", { class: "muted small" }, "First ", formatInstant(item.first_at), ", last ", formatInstant(item.last_at)),
      bestHits(item),
      item.document_id && h("p", {}, "Answered by ", documentLink(item.document_id)),
      state === "open" &&
        h(
          "div",
          { class: "row" },
          h("button", { type: "button", class: "primary", onclick: () => answer(item, pages) }, "Answer"),
          h("button", { type: "button", onclick: () => dismiss(item, pages) }, "Dismiss"),
        ),
    ),
  );
}

function bestHits(item) {
  if (!item.hits.length) return h("p", { class: "small" }, "No document was found.");
  return h(
    "details",
    {},
    h("summary", {}, `The best of ${item.hits.length} hits was not sure enough`),
    h("ul", {}, item.hits.map((hit) => h("li", {}, hit.tenant ? `${hit.document_id} of ${hit.tenant}` : documentLink(hit.document_id), ` with ${hit.score.toFixed(3)}`))),
  );
}

const path = (item) => `/v1/curation/${segment(item.item_id)}/resolve`;

function answer(item, pages) {
  const question = h("input", { autocomplete: "off", required: true, value: item.question });
  const text = h("textarea", { rows: "8", required: true });
  const readers = h("input", { autocomplete: "off", value: "tenant" });
  const tags = h("input", { autocomplete: "off" });
  const category = h("input", { autocomplete: "off", required: true });
  const kind = select([["document", "a document"], ...(isOn("faqs") ? [["faq", "a FAQ"]] : [])]);
  const tagsField = field("Tags", tags, { name: "tags", hint: "with commas" });
  const categoryField = field("Category", category, { name: "faq_category" });
  const choose = () => {
    tagsField.hidden = kind.value === "faq";
    categoryField.hidden = !tagsField.hidden;
    category.disabled = categoryField.hidden; // a hidden field must not stop the form
  };
  kind.addEventListener("change", choose);
  choose();
  openDialog(
    "Answer the question",
    (close) => {
      const place = h("div");
      const save = async () => {
        const body = { answer: text.value, question: question.value, readers: listOf(readers.value) };
        if (kind.value === "faq") body.faq_category = category.value.trim();
        else body.tags = listOf(tags.value);
        await call("POST", path(item), { body });
        close();
        announce("Answered: the next search finds it");
        pages.reset();
      };
      return h(
        "form",
        { onsubmit: (event) => (event.preventDefault(), submit(event.target, place, save)) },
        field("Question", question, { name: "question", hint: "reword it if that helps others to find it" }),
        field("Answer", text, { name: "answer" }),
        h("div", { class: "grid" }, field("Readers", readers, { name: "readers", hint: "user:ID, group:ID, tenant or public" }), field("Save it as", kind), tagsField, categoryField),
        place,
        h("div", { class: "row" }, h("button", { type: "submit", class: "primary" }, "Save the answer"), h("button", { type: "button", onclick: close }, "Cancel")),
      );
    },
    { isWide: true },
  );
}

function dismiss(item, pages) {
  confirmDialog({
    title: "Dismiss the question?",
    text: `“${item.question}” stays dismissed if it is asked again.`,
    action: "Dismiss",
    isDanger: false,
    run: async () => {
      await call("POST", path(item), { body: { dismiss: true } });
      announce("Dismissed");
      pages.reset();
    },
  });
}
