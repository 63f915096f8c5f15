/* Uploads files, one document each; a text that exists already is kept unless one says so. */

import { call, segment } from "./api.js";
import { fill, h } from "./dom.js";
import { table } from "./lists.js";
import { isText, uploadExtracted } from "./upload-extracted.js";
import { badge, checkbox, field, listOf, note } from "./ui.js";

const FILES_MAX = 200; // of one choice: more belong into a source
const BYTES_MAX = 4_194_304;

export function upload({ onDone }) {
  const files = h("input", { type: "file", multiple: true, required: true });
  const prefix = h("input", { autocomplete: "off", value: "uploads/" });
  const readers = h("input", { autocomplete: "off", value: "tenant" });
  const replace = checkbox("replace documents that exist");
  const result = h("div", { "aria-live": "polite" });
  const form = h(
    "form",
    {
      onsubmit: async (event) => {
        event.preventDefault();
        const chosen = [...files.files];
        if (chosen.length > FILES_MAX) {
          fill(result, note("bad", `At most ${FILES_MAX} files at once. Add a source for more.`));
          return;
        }
        await sendAll(chosen, { prefix: prefix.value.trim(), readers: listOf(readers.value), isReplacing: replace.input.checked }, result);
        onDone();
      },
    },
    h("h2", {}, "Upload files"),
    h(
      "div",
      { class: "grid" },
      field("Files", files, { hint: "Markdown, text in UTF-8, office files, PDF, HTML and others" }),
      field("Identifiers begin with", prefix, { hint: "of Markdown and text; the others get one of their own, each time" }),
      field("Readers", readers, { hint: "user:ID, group:ID, tenant or public; empty: only you" }),
    ),
    replace.node,
    h("div", {}, h("button", { type: "submit", class: "primary" }, "Upload")),
  );
  return h("section", { class: "card", "aria-label": "Upload" }, form, result);
}

async function sendAll(files, options, result) {
  const rows = files.map((file) => ({ file, state: "waiting", detail: "" }));
  const show = () => fill(result, progress(rows));
  for (const row of rows) {
    row.state = "sending";
    show();
    try {
      row.state = await (isText(row.file.name) ? send(row.file, options) : sendExtracted(row.file, options));
    } catch (problem) {
      const exists = problem.status === 412;
      row.state = exists ? "kept" : "failed";
      row.detail = exists ? "A document has this identifier already." : problem.message;
      if (problem.isOffline || problem.status === 401) break;
    }
  }
  show();
}

function sendExtracted(file, { readers }) {
  requireShort(file);
  return uploadExtracted(file, readers);
}

function requireShort(file) {
  if (file.size > BYTES_MAX) throw new Error("The file is longer than 4 MiB.");
}

/** Answers `written`, or `queued` if a worker writes it. */
async function send(file, { prefix, readers, isReplacing }) {
  requireShort(file);
  const text = new TextDecoder("utf-8", { fatal: true }).decode(await readBytes(file));
  const heading = /^#\s+(.+)$/m.exec(text);
  const body = { title: (heading?.[1] ?? file.name).slice(0, 200), text, readers };
  const headers = isReplacing ? {} : { "If-None-Match": "*" };
  const { status } = await call("PUT", `/v1/documents/${segment(prefix + file.name)}`, { body, headers });
  return status === 202 ? "queued" : "written";
}

async function readBytes(file) {
  try {
    return await file.arrayBuffer();
  } catch {
    throw new Error("The browser can't read the file.");
  }
}

const KINDS = { written: "good", queued: "accent", failed: "bad", kept: "warn" };

function progress(rows) {
  const done = rows.filter((row) => row.state in KINDS).length;
  return table(
    `${done} of ${rows.length} files`,
    [
      { label: "File", cell: (row) => row.file.name },
      { label: "State", cell: (row) => badge(row.state, KINDS[row.state]) },
      { label: "Detail", cell: (row) => row.detail },
    ],
    rows,
  );
}
