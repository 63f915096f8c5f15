/* The documents that the caller may read: the list, and one document with all that one can do. */

import { call, segment } from "./api.js";
import { fill, h } from "./dom.js";
import { documentView } from "./document.js";
import { editor } from "./editor.js";
import { isWriter } from "./session.js";
import { upload } from "./upload.js";
import { badge, empty, field, load, pager, table } from "./ui.js";

const PAGE = 50;

export const documentLink = (id, text = id) => h("a", { href: `#/documents/${segment(id)}` }, text);

export function render(content, { argument, signal }) {
  if (argument) showOne(content, argument, signal);
  else showList(content, signal);
}

function showOne(content, id, signal) {
  const place = h("div", { class: "stack" });
  content.append(h("p", {}, h("a", { href: "#/documents" }, "All documents")), place);
  const show = () =>
    load(place, async () => {
      const { data, headers } = await call("GET", `/v1/documents/${segment(id)}`, { signal });
      return documentView(data, headers.get("etag"), { reload: show, edit });
    });
  const edit = (stored, etag) =>
    fill(place, editor({ stored, etag, onClose: show, onSaved: show }));
  show();
}

function showList(content, signal) {
  const source = h("input", { type: "search", autocomplete: "off" });
  const id = h("input", { autocomplete: "off", required: true });
  const list = h("div", { class: "stack" });
  const work = h("div");
  const pages = pager(
    "documents",
    list,
    async (cursor) =>
      (await call("GET", "/v1/documents", { query: { cursor, limit: PAGE, source: source.value.trim() }, signal })).data,
    (page, number) => listView(page.documents, number, source.value.trim()),
  );
  content.append(
    h("p", { class: "lead" }, "The documents that your key may read, in the order of their identifiers."),
    h(
      "div",
      { class: "row end" },
      h("form", { class: "row end", onsubmit: (event) => (event.preventDefault(), pages.reset()) },
        field("Source", source), h("button", { type: "submit" }, "Filter")),
      h("form", { class: "row end", onsubmit: (event) => (event.preventDefault(), open(id.value)) },
        field("Identifier", id), h("button", { type: "submit" }, "Open")),
      isWriter() && h("button", { type: "button", class: "primary", onclick: () => create(work, pages) }, "New document"),
      isWriter() && h("button", { type: "button", onclick: () => fill(work, upload({ onDone: pages.reset })) }, "Upload files"),
    ),
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

function listView(documents, number, source) {
  if (!documents.length) {
    return empty(
      number > 1 ? "No more documents" : "No documents",
      source ? `No document of the source ${source} is visible to you.` : "Write one, upload files, or add a source.",
    );
  }
  return h(
    "div",
    { class: "card" },
    table(
      `${documents.length} documents on this page`,
      [
        { label: "Document", cell: (row) => [documentLink(row.document_id, row.title || row.document_id), h("div", { class: "muted small" }, row.document_id)] },
        { label: "Source", cell: (row) => row.source },
        { label: "Owner", cell: (row) => row.owner ?? h("span", { class: "muted" }, "none") },
        { label: "Readers", cell: (row) => readerList(row.readers) },
        { label: "Language", cell: (row) => row.language },
      ],
      documents,
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
