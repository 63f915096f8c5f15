/* Import and export of FAQs: one FAQ a line, or a list in JSON for the import. */

import { call } from "./api.js";
import { fill, h } from "./dom.js";
import { announce, field, note, submit, table } from "./ui.js";

const NDJSON = "application/x-ndjson";
const SHOWN_PROBLEMS = 50;

export async function exportFaqs(button) {
  button.disabled = true;
  try {
    const { data } = await call("GET", "/v1/faq-export");
    if (!data) {
      announce("There are no FAQs to export", "warn");
      return;
    }
    const address = URL.createObjectURL(new Blob([data], { type: NDJSON }));
    const link = h("a", { href: address, download: "faqs.jsonl" });
    link.click();
    URL.revokeObjectURL(address);
    announce("The file is being saved");
  } catch (problem) {
    announce(problem.message, "bad");
  } finally {
    button.disabled = false;
  }
}

export function importForm({ onDone, onClose }) {
  const file = h("input", { type: "file", required: true, accept: ".jsonl,.ndjson,.json,application/json" });
  const place = h("div");
  const result = h("div", { "aria-live": "polite" });
  const send = async () => {
    fill(result);
    const raw = { type: NDJSON, text: toLines(await readText(file.files[0])) };
    const { data } = await call("POST", "/v1/faq-import", { raw });
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
      field("File", file, { hint: "an export, or a list of FAQs in JSON" }),
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

async function readText(file) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    throw Object.assign(new Error("The file must be UTF-8, and the browser must be able to read it."), { title: "This is no text" });
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
  if (!problems.length) return note("good", `${written} FAQs are written.`);
  const more = problems.length - SHOWN_PROBLEMS;
  return [
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
