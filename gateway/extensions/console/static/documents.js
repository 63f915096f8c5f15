/* The documents that the caller may read: the list, and one document with all that one can do. */

import { call, segment } from "./api.js";
import { fill, h } from "./dom.js";
import { documentView } from "./document.js";
import { editor } from "./editor.js";
import { chooser, filterForm, pager, rowByRow, shownOf, table } from "./lists.js";
import { shareSeveral } from "./readers.js";
import { isWriter, mayChange } from "./session.js";
import { upload } from "./upload.js";
import { announce, badge, confirmDialog, countOf, empty, load } from "./ui.js";

const PAGE = 50;

export const documentLink = (id, text = id) => h("a", { href: `#/documents/${segment(id)}` }, text);

export function render(content, { argument, fields, signal }) {
  if (argument) showOne(content, argument, fields, signal);
  else showList(content, fields, signal);
}

function showOne(content, id, fields, signal) {
  const place = h("div", { class: "stack" });
  content.append(h("p", {}, h("a", { href: "#/documents" }, "All documents")), place);
  const show = () =>
    load(place, async () => {
      const { data, headers } = await call("GET", `/v1/documents/${segment(id)}`, { signal });
      return documentView(data, headers.get("etag"), { revision: headers.get("nearhit-revision"), reload: show, edit, fields, passage: passageOf(fields, data.text) });
    });
  const edit = (stored, etag) =>
    fill(place, editor({ stored, etag, onClose: show, onSaved: show }));
  show();
}

/** What the address says of a passage, such as `start=0&end=80`; null for none that the text has. */
function passageOf(fields, text) {
  const [start, end] = ["start", "end"].map((name) => Number(fields.get(name) || NaN));
  return start >= 0 && start < end && end <= text.length ? [start, end] : null;
}

function showList(content, fields, signal) {
  const text = (placeholder) => h("input", { type: "search", autocomplete: "off", placeholder });
  const form = filterForm(
    {
      prefix: ["Identifier begins with", text("handbook/")],
      source: ["Source", text()],
      tag: ["Tag", text()],
      language: ["Language", text("en")],
    },
    fields,
    () => pages.reset(),
  );
  const list = h("div", { class: "stack" });
  const work = h("div");
  const pages = pager(
    "documents",
    list,
    async (cursor) =>
      (await call("GET", "/v1/documents", { query: { cursor, limit: PAGE, total: true, ...form.filter() }, signal })).data,
    (page, number) => listView(page, number, form.filter(), several),
    { fields, chosen: form.filter },
  );
  const several = isWriter() ? chooser(nameOf, [
    { label: "Share", isFor: mayChange, act: (rows) => shareSeveral(rows, pages.show) },
    { label: "Delete", kind: "danger", isFor: mayChange, act: (rows) => remove(rows, pages) },
  ]) : null;
  const actions = isWriter() && [
    h("button", { type: "button", class: "primary", onclick: () => create(work, pages) }, "New document"),
    h("button", { type: "button", onclick: () => fill(work, upload({ onDone: pages.reset })) }, "Upload files"),
  ];
  content.append(
    h(
      "div",
      { class: "row spread" },
      h("p", { class: "lead" }, "The documents that your key may read, in the order of their identifiers. To find them by what they say, ", h("a", { href: "#/search" }, "ask a question"), "."),
      h("div", { class: "row" }, actions),
    ),
    form.node,
    work,
    list,
  );
  pages.show();
}

const open = (id) => {
  location.hash = `#/documents/${segment(id.trim())}`;
};

function create(work, pages) {
  fill(
    work,
    editor({
      stored: null,
      etag: null,
      onClose: () => fill(work),
      onSaved: (id) => (id ? open(id) : (fill(work), pages.reset())),
    }),
  );
  work.querySelector("input").focus();
}

const NAMED = 5;

const nameOf = (row) => row.document_id;

function remove(rows, pages) {
  const named = rows.slice(0, NAMED).map((row) => row.title || row.document_id).join(", ");
  const more = rows.length > NAMED ? ` and ${rows.length - NAMED} more` : "";
  const removeAll = rowByRow(rows, nameOf, (row) => call("DELETE", `/v1/documents/${segment(row.document_id)}`), pages.show);
  confirmDialog({
    title: `Delete ${countOf(rows.length, "document")}?`,
    text: `${named}${more}: removed with vectors and cached answers. This can't be undone.`,
    action: `Delete ${countOf(rows.length, "document")}`,
    run: async () => {
      await removeAll();
      announce(`${countOf(rows.length, "document")} deleted`);
    },
  });
}

function listView(page, number, filter, several) {
  const { documents } = page;
  if (!documents.length) {
    if (number > 1) return empty("No more documents", "Those that this page had are gone.");
    if (Object.values(filter).some(Boolean)) return empty("No documents", "None that you may read meets the filter.");
    return empty("No documents", isWriter() ? "Write one, upload files, or add a source: your agents find it at the next search." : "Nothing is shared with you yet.");
  }
  return h(
    "div",
    { class: "card" },
    table(
      shownOf(documents, "document", page, number),
      [
        { label: "Document", sortBy: (row) => row.title || row.document_id, cell: (row) => [documentLink(row.document_id, row.title || row.document_id), h("div", { class: "muted small" }, row.document_id)] },
        { label: "Source", cell: (row) => row.source, sortBy: (row) => row.source },
        { label: "Owner", sortBy: (row) => row.owner, cell: (row) => row.owner ?? h("span", { class: "muted" }, "none") },
        { label: "Readers", cell: (row) => readerList(row.readers) },
        { label: "Language", cell: (row) => row.language, sortBy: (row) => row.language },
      ],
      documents,
      several,
    ),
  );
}

const SHOWN_READERS = 4;

function readerList(readers) {
  if (!readers.length) return h("span", { class: "muted" }, "owner only");
  const more = readers.length - SHOWN_READERS;
  return h(
    "span",
    { class: "row" },
    readers.slice(0, SHOWN_READERS).map((reader) => badge(reader, reader === "public" ? "warn" : "")),
    more > 0 && h("span", { class: "muted" }, `and ${more} more`),
  );
}
