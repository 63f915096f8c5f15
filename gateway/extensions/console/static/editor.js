/* Writes a document. Of two people who edit it at once, the second sees both versions and decides. */

import { call, segment } from "./api.js";
import { fill, h } from "./dom.js";
import { announce, field, listOf, submit } from "./ui.js";
import { markSaved, watchChanges } from "./unsaved.js";

/**
 * stored: the document as it was read, or null for a new one. etag: of that version.
 * onSaved: called with the identifier of a new document.
 */
export function editor({ stored, etag, onClose, onSaved }) {
  const controls = {
    id: h("input", { autocomplete: "off", required: true, value: stored?.document_id ?? "", readonly: stored !== null }),
    title: h("input", { autocomplete: "off", value: stored?.title ?? "" }),
    text: h("textarea", { rows: "16", required: true, value: stored?.text ?? "" }),
    source: h("input", { autocomplete: "off", value: stored?.source ?? "api" }),
    uri: h("input", { autocomplete: "off", value: stored?.uri ?? "" }),
    language: h("input", { autocomplete: "off", value: stored?.language ?? "", placeholder: "the gateway's" }),
    tags: h("input", { autocomplete: "off", value: (stored?.tags ?? []).join(", ") }),
    metadata: h("textarea", { rows: "2", class: "code", spellcheck: "false", value: JSON.stringify(stored?.metadata ?? {}) }),
    readers: h("input", { autocomplete: "off", value: stored ? "" : "tenant" }),
  };
  const place = h("div");
  let known = etag;

  const save = async () => {
    const body = readBody(controls, stored);
    const id = controls.id.value.trim();
    const headers = known === null ? { "If-None-Match": "*" } : { "If-Match": known };
    const answer = await call("PUT", `/v1/documents/${segment(id)}`, { body, headers });
    markSaved(form);
    const isQueued = answer.status === 202;
    announce(isQueued ? "It is long, so a worker writes it: see Jobs" : "Saved");
    if (isQueued) onClose();
    else onSaved(stored ? undefined : id);
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
    h("h2", {}, stored ? `Edit ${stored.title || stored.document_id}` : "New document"),
    h(
      "div",
      { class: "grid" },
      !stored && field("Identifier", controls.id, { name: "document_id", hint: "such as handbook/leave" }),
      field("Title", controls.title, { name: "title" }),
      field("Source", controls.source, { name: "source" }),
      field("Language", controls.language, { name: "language" }),
      field("Tags", controls.tags, { name: "tags", hint: "with commas" }),
      field("Address", controls.uri, { name: "uri" }),
      !stored && field("Readers", controls.readers, { name: "readers", hint: "user:ID, group:ID, tenant or public; empty: only you" }),
    ),
    field("Text", controls.text, { name: "text" }),
    field("Metadata", controls.metadata, { name: "metadata", hint: "JSON" }),
    place,
    h(
      "div",
      { class: "row" },
      h("button", { type: "submit", class: "primary" }, "Save"),
      h("button", { type: "button", onclick: onClose }, "Cancel"),
    ),
  );

  /** Show what the other editor wrote beside the form, which keeps what this one wrote. */
  async function showConflict() {
    const { data, headers } = await call("GET", `/v1/documents/${segment(stored.document_id)}`);
    const overwrite = () => {
      known = headers.get("etag");
      form.requestSubmit();
    };
    fill(
      place,
      h(
        "div",
        { class: "note warn", role: "alert" },
        h("strong", {}, "Somebody else has changed this document"),
        h("span", {}, "Nothing was saved, and your text is still above. This is what is stored now:"),
        h("p", {}, h("strong", {}, data.title || data.document_id)),
        h("pre", { class: "document-text", tabindex: "0", role: "region", "aria-label": "Stored text" }, data.text.slice(0, 20_000)),
        h(
          "div",
          { class: "row" },
          h("button", { type: "button", onclick: overwrite }, "Save mine over it"),
          h("button", { type: "button", onclick: onClose }, "Drop mine"),
        ),
      ),
    );
  }

  watchChanges(form);
  return h("section", { class: "card", "aria-label": "Editor" }, form);
}

function readBody(controls, stored) {
  const body = {
    title: controls.title.value,
    text: controls.text.value,
    source: controls.source.value.trim() || "api",
    uri: controls.uri.value.trim(),
    tags: listOf(controls.tags.value),
    metadata: parseMetadata(controls.metadata.value),
  };
  if (controls.language.value.trim()) body.language = controls.language.value.trim();
  if (!stored) body.readers = listOf(controls.readers.value);
  return body;
}

function parseMetadata(text) {
  try {
    return text.trim() ? JSON.parse(text) : {};
  } catch {
    const errors = [{ field: "metadata", detail: "must be JSON" }];
    throw Object.assign(new Error("Correct the metadata."), { title: "Invalid field", errors });
  }
}
