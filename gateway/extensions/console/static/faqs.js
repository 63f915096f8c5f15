/* FAQs: the list by category, and what one does with one of them. */

import { call, segment } from "./api.js";
import { fill, h } from "./dom.js";
import { faqEditor } from "./faq-editor.js";
import { exportFaqs, importForm } from "./faq-transfer.js";
import { pager, shownOf, table, toggles } from "./lists.js";
import { announce, announceProblem, badge, confirmDialog, empty, field, formatNumber, load } from "./ui.js";

const PAGE = 50;
const ALL = "all"; // of the categories; the empty text is that of FAQs without one
const STATES = [
  ["", "All"],
  ["active", "Active"],
  ["inactive", "Inactive"],
];

const path = (faq) => `/v1/faqs/${segment(faq.id)}`;

export function render(content, { fields, signal }) {
  let category = fields.get("category") || ALL;
  const categories = h("select", { onchange: () => ((category = categories.value), pages.reset()) });
  const state = toggles("State", STATES, fields.get("state"), () => pages.reset());
  const list = h("div", { class: "card" });
  const work = h("div");
  const pages = pager(
    "FAQs",
    list,
    async (cursor) => {
      const query = { state: state.value(), limit: PAGE, cursor };
      const named = category === ALL ? "" : `?category=${encodeURIComponent(category.slice(1))}`;
      return (await call("GET", `/v1/faqs${named}`, { query, signal })).data;
    },
    (page, number) => faqTable(page, number, actions),
    { fields, chosen: () => ({ category: category === ALL ? "" : category, state: state.value() }) },
  );
  const showCategories = async () => {
    const { data } = await call("GET", "/v1/faq-categories", { signal });
    const options = data.categories.map(({ category: name, faqs }) => [`=${name ?? ""}`, `${name ?? "without a category"} (${formatNumber(faqs)})`]);
    fill(categories, [[ALL, "all"], ...options].map(([value, label]) => h("option", { value }, label)));
    if (!options.some(([value]) => value === category)) category = ALL;
    categories.value = category;
  };
  const changed = async () => {
    await showCategories();
    await pages.show();
  };
  const close = () => fill(work);
  const edit = (faq) =>
    load(work, async () => {
      const { data, headers } = await call("GET", path(faq), { signal });
      return faqEditor({ stored: data, etag: headers.get("etag"), onClose: close, onSaved: () => (close(), changed()) });
    }).then(() => work.querySelector("input")?.focus());
  const actions = { edit, setActive: (faq, button) => setActive(faq, button, changed), remove: (faq) => remove(faq, changed) };
  const create = () => {
    fill(work, faqEditor({ stored: null, etag: null, onClose: close, onSaved: () => (close(), changed()) }));
    work.querySelector("input").focus();
  };

  content.append(
    h("p", { class: "lead" }, "Questions with answers that searches find. An inactive one is in no answer; the priority orders this list, and a search that asks for it."),
    h(
      "div",
      { class: "row end spread" },
      h("div", { class: "row end" }, field("Category", categories), state.node),
      h(
        "div",
        { class: "row" },
        h("button", { type: "button", class: "primary", onclick: create }, "New FAQ"),
        h("button", { type: "button", onclick: () => fill(work, importForm({ onDone: changed, onClose: close })) }, "Import"),
        h("button", { type: "button", onclick: (event) => exportFaqs(event.target, "jsonl") }, "Export"),
        h("button", { type: "button", onclick: (event) => exportFaqs(event.target, "csv") }, "Export as CSV"),
      ),
    ),
    work,
    list,
  );
  load(list, async () => (await showCategories(), null)).then(() => {
    if (!list.querySelector('[role="alert"]') && !signal.aborted) pages.show();
  });
}

function faqTable(page, number, actions) {
  const { faqs } = page;
  if (!faqs.length) {
    return empty(number > 1 ? "No more FAQs" : "No FAQs", "Write one, import a file, or answer an open question with one.");
  }
  return table(
    shownOf(faqs, "FAQ", page, number),
    [
      { label: "Question", sortBy: (faq) => faq.question, cell: (faq) => [faq.question, h("div", { class: "muted small" }, shortened(faq.answer))] },
      { label: "Category", cell: (faq) => faq.category ?? h("span", { class: "muted" }, "none") },
      { label: "Priority", cell: (faq) => String(faq.priority), isNumber: true, sortBy: (faq) => faq.priority },
      { label: "State", cell: (faq) => (faq.active ? badge("active", "good") : badge("inactive", "warn")) },
      { label: "Readers", cell: (faq) => h("span", { class: "row" }, faq.readers.map((reader) => badge(reader, reader === "public" ? "warn" : ""))) },
      { label: "", cell: (faq) => buttonsOf(faq, actions) },
    ],
    faqs,
  );
}

const SHOWN = 140;
const shortened = (text) => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);

function buttonsOf(faq, { edit, setActive, remove }) {
  const toggle = faq.active ? "Deactivate" : "Activate";
  return h(
    "span",
    { class: "row" },
    h("button", { type: "button", "aria-label": `Edit ${faq.question}`, onclick: () => edit(faq) }, "Edit"),
    h("button", { type: "button", "aria-label": `${toggle} ${faq.question}`, onclick: (event) => setActive(faq, event.target) }, toggle),
    h("button", { type: "button", class: "danger", "aria-label": `Delete ${faq.question}`, onclick: () => remove(faq) }, "Delete"),
  );
}

/** Change the state alone, of the FAQ as it is stored by now. */
async function setActive(faq, button, changed) {
  button.disabled = true;
  try {
    const { data, headers } = await call("GET", path(faq));
    const { id, document_id, ...body } = data;
    await call("PUT", path(faq), { body: { ...body, active: !faq.active }, headers: { "If-Match": headers.get("etag") } });
    announce(faq.active ? "No search finds it any more" : "The next search finds it");
    await changed();
  } catch (problem) {
    announceProblem(problem);
  } finally {
    button.disabled = false;
  }
}

function remove(faq, changed) {
  confirmDialog({
    title: "Delete the FAQ?",
    text: `“${faq.question}” is removed with its vectors and cached answers. This can't be undone; an inactive FAQ can be activated again.`,
    action: "Delete",
    run: async () => {
      await call("DELETE", path(faq));
      announce("The FAQ is deleted");
      await changed();
    },
  });
}
