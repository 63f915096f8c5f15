/* Writes a FAQ. Of two people who edit it at once, the second sees both versions and decides. */

import { call, segment } from "./api.js";
import { fill, h } from "./dom.js";
import { announce, checkbox, field, listOf, submit } from "./ui.js";
import { markSaved, watchChanges } from "./unsaved.js";

const ID_BYTES = 8;

/** stored: the FAQ as it was read, or null for a new one. etag: of that version. */
export function faqEditor({ stored, etag, onClose, onSaved }) {
  const controls = {
    question: h("input", { autocomplete: "off", required: true, value: stored?.question ?? "" }),
    answer: h("textarea", { rows: "8", required: true, value: stored?.answer ?? "" }),
    category: h("input", { autocomplete: "off", value: stored?.category ?? "" }),
    keywords: h("input", { autocomplete: "off", value: (stored?.keywords ?? []).join(", ") }),
    priority: h("input", { type: "number", min: "-1000", max: "1000", step: "1", value: String(stored?.priority ?? 0) }),
    language: h("input", { autocomplete: "off", value: stored?.language ?? "", placeholder: "the gateway's" }),
    readers: h("input", { autocomplete: "off", value: (stored?.readers ?? ["tenant"]).join(", ") }),
    active: checkbox("active: searches find it", { checked: stored?.active ?? true }),
  };
  const id = stored?.id ?? newId();
  const place = h("div");
  let known = etag; // null: it must not exist yet

  const save = async () => {
    const headers = known === null ? { "If-None-Match": "*" } : { "If-Match": known };
    await call("PUT", `/v1/faqs/${segment(id)}`, { body: readBody(controls), headers });
    markSaved(form);
    announce(controls.active.input.checked ? "Saved: the next search finds it" : "Saved: no search finds it");
    onSaved();
  };
  const form = h(
    "form",
    {
      onsubmit: async (event) => {
        event.preventDefault();
        await submit(form, place, async () => {
          try {
            await save();
          } catch (problem) {
            if (problem.status !== 412 || stored === null) throw problem;
            await showConflict();
          }
        });
      },
    },
    h("h2", {}, stored ? "Edit the FAQ" : "New FAQ"),
    field("Question", controls.question, { name: "question" }),
    field("Answer", controls.answer, { name: "answer" }),
    h(
      "div",
      { class: "grid" },
      field("Category of the FAQ", controls.category, { name: "category" }),
      field("Keywords", controls.keywords, { name: "keywords", hint: "further words to find it by, with commas" }),
      field("Priority", controls.priority, { name: "priority", hint: "the highest is first in the list" }),
      field("Language", controls.language, { name: "language" }),
      field("Readers", controls.readers, { name: "readers", hint: "user:ID, group:ID, tenant or public" }),
    ),
    controls.active.node,
    place,
    h(
      "div",
      { class: "row" },
      h("button", { type: "submit", class: "primary" }, "Save"),
      h("button", { type: "button", onclick: onClose }, "Cancel"),
    ),
  );

  /** Show what the other editor wrote or did below the form, which keeps what this one wrote. */
  async function showConflict() {
    const other = await readOther();
    const overwrite = () => {
      known = other.etag;
      form.requestSubmit();
    };
    fill(
      place,
      h(
        "div",
        { class: "note warn", role: "alert" },
        h("strong", {}, other.faq ? "Somebody else has changed this FAQ" : "Somebody else has deleted this FAQ"),
        h("span", {}, "Nothing was saved, and your text is still above."),
        other.faq && storedView(other.faq),
        h(
          "div",
          { class: "row" },
          h("button", { type: "button", onclick: overwrite }, other.faq ? "Save mine over it" : "Save mine as a new one"),
          h("button", { type: "button", onclick: onClose }, "Drop mine"),
        ),
      ),
    );
  }

  async function readOther() {
    try {
      const { data, headers } = await call("GET", `/v1/faqs/${segment(id)}`);
      return { faq: data, etag: headers.get("etag") };
    } catch (problem) {
      if (problem.status === 404) return { faq: null, etag: null };
      throw problem;
    }
  }

  watchChanges(form);
  return h("section", { class: "card", "aria-label": "FAQ editor" }, form);
}

function storedView(faq) {
  const state = `${faq.active ? "active" : "inactive"}, priority ${faq.priority}, ${faq.category ?? "without a category"}, for ${faq.readers.join(", ")}`;
  return [
    h("span", {}, "This is what is stored now:"),
    h("p", {}, h("strong", {}, faq.question)),
    h("pre", { class: "document-text", tabindex: "0", role: "region", "aria-label": "Stored answer" }, faq.answer),
    h("span", { class: "small" }, state),
  ];
}

function readBody(controls) {
  const body = {
    question: controls.question.value,
    answer: controls.answer.value,
    keywords: listOf(controls.keywords.value),
    priority: Number(controls.priority.value || 0),
    active: controls.active.input.checked,
    readers: listOf(controls.readers.value),
  };
  if (controls.category.value.trim()) body.category = controls.category.value.trim();
  if (controls.language.value.trim()) body.language = controls.language.value.trim();
  return body;
}

function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(ID_BYTES));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
