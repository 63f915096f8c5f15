/* One document: its text and fields, who may read it and why, and how to remove it. */

import { move } from "./address.js";
import { call, segment } from "./api.js";
import { fill, h, marked } from "./dom.js";
import { table } from "./lists.js";
import { markdown } from "./markdown.js";
import { provenanceOf } from "./provenance.js";
import { sharing } from "./readers.js";
import { isAdmin, isOn, mayChange } from "./session.js";
import { announce, badge, confirmDialog, countOf, empty, field, formatInstant, formatNumber, load, note, submit } from "./ui.js";

const SHOWN_CHARACTERS = 100_000;
const SHOWN_CHUNKS = 100;
const SHOWN_OF_CHUNK = 200; // characters

/**
 * revision: at which it was read. edit(stored, etag) opens the editor; reload() shows the document anew.
 * fields: of the address. passage: [start, end] of the text that is marked, in code points; null for none.
 */
export function documentView(stored, etag, { revision, reload, edit, fields, passage }) {
  return [
    h(
      "section",
      { class: "card", "aria-label": "Document" },
      h(
        "div",
        { class: "row spread" },
        h("h2", {}, stored.title || stored.document_id),
        mayChange(stored) &&
          h(
            "div",
            { class: "row" },
            h("button", { type: "button", onclick: () => edit(stored, etag) }, "Edit"),
            h("button", { type: "button", class: "danger", onclick: () => remove(stored) }, "Delete"),
          ),
      ),
      facts(stored, etag, revision, reload),
      textView(stored.text, passage),
    ),
    chunkSection(stored, fields),
    h("div", { class: "columns" }, sharing(stored, reload), isAdmin() && isOn("access_explanation") && explanation(stored.document_id, fields)),
  ];
}

function facts(stored, etag, revision, reload) {
  const row = (name, value) => [h("dt", {}, name), h("dd", {}, value)];
  const none = h("span", { class: "muted" }, "none");
  return h(
    "dl",
    { class: "facts" },
    row("Identifier", h("code", {}, stored.document_id)),
    row("Source", stored.source),
    row("Language", stored.language),
    stored.uri && row("Address", address(stored.uri)),
    row("Tags", stored.tags.length ? stored.tags.map((tag) => [badge(tag), " "]) : none),
    Object.keys(stored.metadata).length > 0 && row("Metadata", h("code", {}, JSON.stringify(stored.metadata))),
    stored.relates_to && row("Relates to", relations(stored.relates_to)),
    row("Chunks by", stored.chunker),
    stored.summaries !== "none" && row("Summaries by", stored.summaries),
    row("Length", `${formatNumber(stored.text.length)} characters`),
    row("Written by", provenanceOf(stored, etag, reload)),
    row("First stored", formatInstant(stored.created_at)),
    row("Last changed", formatInstant(stored.updated_at)),
    row("Revision", revisionOf(stored, revision)),
    row("Version", h("code", {}, etag?.replaceAll('"', "") ?? "unknown")),
    !stored.active && row("State", badge("inactive: no search finds it", "warn")),
  );
}

/** Of the document's last change; the tenant's newest one is that of the last change of any document. */
function revisionOf(stored, newest) {
  const own = stored.revision === undefined ? h("span", { class: "muted" }, "older than the last 10,000") : h("code", {}, formatNumber(stored.revision));
  return [own, newest && h("span", { class: "muted" }, ` of ${formatNumber(Number.parseInt(newest, 10))} in the tenant`)];
}

const relations = (byName) =>
  Object.entries(byName).map(([name, ids]) => h("div", {}, h("span", { class: "muted" }, `${name.replaceAll("_", " ")} `), ids.map((id, index) => [index > 0 && ", ", h("a", { href: `#/documents/${segment(id)}` }, id)])));

/** A link only for the web: an address such as `javascript:…` stays text. */
function address(uri) {
  if (!/^https?:\/\//i.test(uri)) return h("code", {}, uri);
  return h("a", { href: uri, rel: "noopener noreferrer", target: "_blank" }, uri);
}

function textView(text, passage) {
  const marks = passage ? [{ start: passage[0], end: passage[1] }] : [];
  const body = h("div", { class: "document-text", tabindex: "0", role: "region", "aria-label": "Text" });
  let isWhole = passage !== null || text.length <= SHOWN_CHARACTERS;
  let isRendered = true;
  const show = () => {
    const part = isWhole ? text : text.slice(0, SHOWN_CHARACTERS);
    fill(body, isRendered ? markdown(part, { marks, above: 2 }) : h("pre", {}, marked(part, marks)));
    requestAnimationFrame(() => body.querySelector("mark")?.scrollIntoView({ block: "center" }));
  };
  const asWritten = () => {
    isRendered = !isRendered;
    written.setAttribute("aria-pressed", String(!isRendered));
    show();
  };
  const whole = () => {
    isWhole = true;
    more.remove();
    show();
  };
  const written = h("button", { type: "button", "aria-pressed": "false", onclick: asWritten }, "As written");
  const more = h("button", { type: "button", onclick: whole }, `Show all ${formatNumber(text.length)} characters`);
  show();
  if (passage) requestAnimationFrame(() => focusFirst(body));
  return [h("div", { class: "row" }, written, !isWhole && more), body];
}

function focusFirst(body) {
  const mark = body.querySelector("mark");
  mark?.setAttribute("tabindex", "-1");
  mark?.focus({ preventScroll: true });
}

/** Where the document is cut and what each piece embeds, asked for once the part is opened. */
function chunkSection({ document_id: id }, fields) {
  const place = h("div", { class: "stack" });
  const path = `/v1/documents/${segment(id)}`;
  const toggled = ({ target }) => {
    move({ chunks: target.open ? "shown" : "" });
    if (!target.open || place.hasChildNodes()) return;
    load(place, async () => {
      const [{ data }, views] = await Promise.all([call("GET", path, { query: { chunks: true } }), viewsOf(id)]);
      return chunkTable(id, data.chunks, views);
    });
  };
  return h("section", { class: "card", "aria-label": "Chunks" }, h("details", { open: fields.has("chunks"), ontoggle: toggled }, h("summary", {}, "Chunks: where it is cut, and what is embedded"), place));
}

/** How often the audit log has each chunk, for those who may read it; else null. */
async function viewsOf(id) {
  if (!isAdmin() || !isOn("activity")) return null;
  const { chunks, cursor } = (await call("GET", "/v1/audit/chunks", { query: { document: id } })).data;
  return { of: new Map(chunks.map((each) => [each.chunk_id, each])), isCut: cursor !== null };
}

function foundCell(views) {
  if (!views) return h("span", { class: "muted" }, "never");
  return [countOf(views.views, "time"), h("div", { class: "muted small" }, "last ", formatInstant(views.last))];
}

function chunkTable(id, chunks, views, isWhole = chunks.length <= SHOWN_CHUNKS) {
  if (!chunks.length) return empty("No chunks", "No search finds an inactive document.");
  const place = h("div", { class: "stack" });
  const summaries = chunks.filter((chunk) => chunk.kind === "summary").length;
  const lengths = chunks.map((chunk) => chunk.end - chunk.start);
  const columns = [
    { label: "Characters", cell: (chunk) => [h("a", { href: `#/documents/${segment(id)}?start=${chunk.start}&end=${chunk.end}` }, `${formatNumber(chunk.start)} to ${formatNumber(chunk.end)}`), chunk.kind !== "text" && [" ", badge(chunk.kind)]] },
    views && { label: "Found", isNumber: true, sortBy: (chunk) => views.of.get(chunk.chunk_id)?.views ?? 0, cell: (chunk) => foundCell(views.of.get(chunk.chunk_id)) },
    { label: "Embedded before the text", cell: (chunk) => (chunk.headings === null ? h("span", { class: "muted" }, "unknown: today it would be cut otherwise") : chunk.headings.join(" › ") || h("span", { class: "muted" }, "no heading")) },
    { label: "Embedded text", cell: (chunk) => h("div", { class: "piece" }, chunk.text.length <= SHOWN_OF_CHUNK ? chunk.text : h("details", {}, h("summary", {}, `${chunk.text.slice(0, SHOWN_OF_CHUNK)} …`), h("pre", {}, chunk.text))) },
  ].filter(Boolean);
  return fill(
    place,
    table(`Pieces: ${formatNumber(chunks.length - summaries)}, of up to ${formatNumber(Math.max(...lengths))} characters. Summaries: ${formatNumber(summaries)}. The title counts for the words, and is not embedded.`, columns, isWhole ? chunks : chunks.slice(0, SHOWN_CHUNKS)),
    views && h("p", { class: "muted small" }, `Found: in how many rows of ${views.isCut ? "the newest 100,000 of " : ""}the audit log, of which each caller adds one a second at most. It counts since the passage was last edited, and only if the log keeps views.`),
    !isWhole && h("div", {}, h("button", { type: "button", onclick: () => place.replaceWith(chunkTable(id, chunks, views, true)) }, `Show all ${formatNumber(chunks.length)}`)),
  );
}

function remove(stored) {
  confirmDialog({
    title: "Delete the document?",
    text: `${stored.title || stored.document_id} is removed with its vectors and cached answers. This can't be undone.`,
    action: "Delete",
    run: async () => {
      await call("DELETE", `/v1/documents/${segment(stored.document_id)}`);
      location.hash = "#/documents";
      announce("The document is deleted");
    },
  });
}

function explanation(id, fields) {
  const subject = h("input", { autocomplete: "off", required: true, placeholder: "ben", value: fields.get("subject") });
  const result = h("div", { "aria-live": "polite" });
  const explain = () => {
    const query = { subject: subject.value.trim() };
    move(query);
    load(result, async () => explained((await call("GET", `/v1/documents/${segment(id)}/access/explain`, { query })).data));
  };
  const form = h(
    "form",
    { onsubmit: (event) => (event.preventDefault(), explain()) },
    h("div", { class: "row end" }, h("div", { class: "grow" }, field("Subject", subject, { name: "subject" })), h("button", { type: "submit" }, "Explain")),
  );
  if (subject.value) explain();
  return h("section", { class: "card", "aria-label": "Visibility" }, h("h2", {}, "Why is it visible, or not?"), form, result, isOn("activity") && h("p", {}, h("a", { href: `#/audit?document=${segment(id)}` }, "Who was shown it, and when"), ", by the audit log"));
}

function explained(data) {
  return h(
    "div",
    { class: "stack" },
    note(
      data.can_read ? "good" : "bad",
      h("strong", {}, data.can_read ? `${data.subject} can read it` : `${data.subject} cannot read it`),
      data.can_read && h("span", {}, `in the scope${data.scopes.length === 1 ? "" : "s"} ${data.scopes.join(", ")}`),
    ),
    table(
      "Its owner and readers",
      [
        { label: "Reader", cell: (row) => h("code", {}, row.reader) },
        { label: "Matches", cell: (row) => (row.matches ? badge("yes", "good") : badge("no")) },
        { label: "Why", cell: (row) => row.reason },
      ],
      data.readers,
    ),
    data.keys.length > 0 &&
      table(
        `Keys and tokens of ${data.subject}`,
        [
          { label: "Key", cell: (row) => [row.name || row.id, h("div", { class: "muted small" }, row.id)] },
          { label: "Reads it", cell: (row) => (row.can_read ? badge("yes", "good") : badge("no", "bad")) },
          { label: "Why", cell: (row) => row.reason },
        ],
        data.keys,
      ),
  );
}
