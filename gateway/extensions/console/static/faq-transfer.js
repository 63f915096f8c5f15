/* Import and export of FAQs: one FAQ a line or a row of CSV, or a list in JSON for the import. */

import { call } from "./api.js";
import { fill, h } from "./dom.js";
import { table } from "./lists.js";
import { announce, announceProblem, field, note, submit } from "./ui.js";

const NDJSON = "application/x-ndjson";
const CSV = "text/csv";
const SHOWN_PROBLEMS = 50;
const SHOWN_LINES = 20;
const HEAD_BYTES = 1_000;

/** format: "jsonl" or "csv". */
export async function exportFaqs(button, format) {
  button.disabled = true;
  try {
    const isCsv = format === "csv";
    const { data } = await call("GET", isCsv ? "/v1/faq-export/csv" : "/v1/faq-export");
    if (isCsv ? data.trimEnd().split("\n").length < 2 : !data) {
      announce("There are no FAQs to export", "warn");
      return;
    }
    const address = URL.createObjectURL(new Blob([isCsv ? withByteOrderMark(data) : data], { type: isCsv ? CSV : NDJSON }));
    const link = h("a", { href: address, download: `faqs.${format}` });
    link.click();
    URL.revokeObjectURL(address);
    announce("The file is being saved");
  } catch (problem) {
    announceProblem(problem);
  } finally {
    button.disabled = false;
  }
}

export function importForm({ onDone, onClose }) {
  const file = h("input", { type: "file", required: true, accept: ".csv,.tsv,.txt,.jsonl,.ndjson,.json,application/json,text/csv" });
  const place = h("div");
  const result = h("div", { "aria-live": "polite" });
  const send = async () => {
    fill(result);
    const bytes = await readBytes(file.files[0]);
    const { data } = isJson(bytes)
      ? await call("POST", "/v1/faq-import", { raw: { type: NDJSON, text: toLines(decode(bytes)) } })
      : await call("POST", "/v1/faq-import/csv", { raw: { type: CSV, text: bytes } });
    const results = data.split("\n").filter(Boolean).map((line) => JSON.parse(line));
    fill(result, outcome(results));
    await onDone();
  };
  return h(
    "section",
    { class: "card", "aria-label": "Import" },
    h(
      "form",
      { onsubmit: (event) => (event.preventDefault(), submit(event.target, place, send)) },
      h("h2", {}, "Import FAQs"),
      h("p", {}, "A line with the id of a FAQ replaces that FAQ. A line that is refused stops no other."),
      field("File", file, { hint: "an export, a list of FAQs in JSON, or CSV with the columns question and answer, as Excel saves it" }),
      place,
      h(
        "div",
        { class: "row" },
        h("button", { type: "submit", class: "primary" }, "Import the file"),
        h("button", { type: "button", onclick: onClose }, "Close"),
      ),
    ),
    result,
  );
}

/** Decoding a response drops the mark, by which spreadsheets know UTF-8. */
function withByteOrderMark(text) {
  return text.startsWith("\ufeff") ? text : `\ufeff${text}`;
}

async function readBytes(file) {
  try {
    return new Uint8Array(await file.arrayBuffer());
  } catch {
    throw Object.assign(new Error("It may have been moved or changed since you chose it."), { title: "The browser can't read the file" });
  }
}

/** Whether the first character is that of a FAQ or a list in JSON; everything else is CSV. */
function isJson(bytes) {
  const start = new TextDecoder().decode(bytes.subarray(0, HEAD_BYTES)).trimStart();
  return start.startsWith("{") || start.startsWith("[");
}

function decode(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw Object.assign(new Error("A file in JSON must be UTF-8."), { title: "This is no text" });
  }
}

/** One FAQ a line; a list in JSON is taken apart, and everything else is sent as it is. */
function toLines(text) {
  if (!text.trimStart().startsWith("[")) return text;
  try {
    return JSON.parse(text).map((entry) => JSON.stringify(entry)).join("\n");
  } catch (error) {
    throw Object.assign(new Error(String(error.message)), { title: "This is no JSON" });
  }
}

function outcome(results) {
  const problems = results.filter((line) => line.status);
  const written = results.length - problems.length;
  const doubtful = results.filter((line) => line.warning);
  const warning = doubtful.length > 0 && note("warn", h("strong", {}, `Check ${doubtful.length === 1 ? "one FAQ" : `${doubtful.length} FAQs`}`), h("span", {}, doubtful[0].warning), h("span", { class: "small" }, `Lines ${doubtful.slice(0, SHOWN_LINES).map((line) => line.line).join(", ")}${doubtful.length > SHOWN_LINES ? " …" : ""}`));
  if (!problems.length) return [note("good", `${written} FAQs are written.`), warning];
  const more = problems.length - SHOWN_PROBLEMS;
  return [
    warning,
    note("bad", `${written} FAQs are written, ${problems.length} lines are refused.`),
    table(
      "Refused lines",
      [
        { label: "Line", cell: (line) => String(line.line), isNumber: true },
        { label: "Why", cell: (line) => [line.title, ": ", (line.errors ?? []).map((error) => `${error.field}: ${error.detail}`).join("; ") || line.detail] },
      ],
      problems.slice(0, SHOWN_PROBLEMS),
    ),
    more > 0 && h("p", { class: "muted" }, `and ${more} more`),
  ];
}
