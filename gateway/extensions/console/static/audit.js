/* The audit log: who saw which documents, as whom an admin looked, and who changed what. */

import { call } from "./api.js";
import { documentLink } from "./documents.js";
import { fill, h } from "./dom.js";
import { filterForm, pager, shownOf, table } from "./lists.js";
import { badge, copyButton, empty, field, formatInstant, formatNumber, note, submit } from "./ui.js";

const SHOWN_DOCUMENTS = 5;
const SHOWN_CHARACTERS = 200; // of what else a row tells
const HASH_CHARACTERS = 12;
const KINDS = { "search.as": "warn", "access.denied": "bad", "documents.remove": "warn", "log.prune": "warn" };

export function render(content, { fields, signal }) {
  const list = h("div", { class: "card" });
  const form = filterForm(
    {
      subject: ["Who", h("input", { type: "search", autocomplete: "off", placeholder: "ana, operator or system" })],
      document: ["Document", h("input", { type: "search", autocomplete: "off" })],
      since: ["Since (UTC)", h("input", { type: "date" })],
    },
    fields,
    () => pages.reset(),
  );
  const query = ({ since, ...others }) => ({ ...others, since: since && `${since}T00:00:00Z` });
  const pages = pager(
    "the audit log",
    list,
    async (cursor) => (await call("GET", "/v1/audit/log", { query: { ...query(form.filter()), cursor }, signal })).data,
    rowTable,
    { fields, chosen: form.filter },
  );
  content.append(
    h("p", { class: "lead" }, "Who saw which documents, as whom an admin looked, and who changed what, newest first. Each row seals the one before it."),
    verification(signal),
    form.node,
    list,
  );
  pages.show();
}

/** Verifies the chain in parts, up to its end or to what is broken, while one stays on the page. */
function verification(signal) {
  const kept = h("input", { autocomplete: "off", spellcheck: "false", placeholder: "812:9b1c…" });
  const place = h("div", { role: "status", "aria-label": "Verification" });
  const problems = h("div");
  const verify = async () => {
    let after = kept.value.trim().split(":").slice(-2).join(":"); // without the name of the tenant
    for (let isDone = false; !isDone; ) {
      const { data } = await call("GET", "/v1/audit/verification", { query: { after }, signal });
      const reached = Number(data.verified?.split(":")[0] ?? 0);
      isDone = data.fault !== null || reached >= data.last;
      fill(place, verdict(data, reached, isDone));
      after = data.verified;
    }
  };
  const form = h(
    "form",
    { class: "card", onsubmit: (event) => (event.preventDefault(), submit(form, problems, verify, { isRead: true })) },
    h(
      "div",
      { class: "row" },
      h("button", { type: "submit" }, "Verify the log"),
      h(
        "details",
        { class: "grow" },
        h("summary", {}, "Since a line that was kept"),
        field("Number and hash", kept, { name: "after", hint: "kept elsewhere, they reveal a log whose end was cut off or written anew; only later rows are verified" }),
      ),
    ),
    problems,
    place,
  );
  return form;
}

function verdict({ verified, last, fault }, reached, isDone) {
  const upTo = reached ? `Verified up to row ${formatNumber(reached)}` : "No row is verified";
  if (fault !== null) return note("bad", h("strong", {}, "The log is not as it was written"), h("span", {}, `${upTo} of ${formatNumber(last)}: ${fault}.`));
  if (!isDone) return note("", `${upTo} of ${formatNumber(last)} …`);
  if (!reached) return note("", "The log is empty.");
  return note("good", h("strong", {}, upTo), h("span", {}, "All are as they were written, and none is missing. Keep this line on another system:"), h("div", { class: "row" }, h("code", {}, verified), copyButton(() => verified)));
}

function rowTable(page, number) {
  const { rows, cursor } = page;
  if (!rows.length) return empty("No rows", cursor ? "None among those that were looked through. There are older ones." : "Nothing that meets the filter is in the log.");
  return table(
    shownOf(rows, "row", page, number),
    [
      { label: "Row", cell: (row) => [formatNumber(row.number), h("div", { class: "muted small mono", title: row.hash }, row.hash.slice(0, HASH_CHARACTERS))] },
      { label: "When", cell: (row) => formatInstant(row.at) },
      { label: "Who", cell: (row) => [row.subject ?? row.key_id, row.subject && h("div", { class: "muted small" }, row.key_id ?? "web token")] },
      { label: "What", cell: (row) => [badge(row.action.replaceAll(/[._]/g, " "), KINDS[row.action]), row.target && h("div", { class: "piece" }, row.target)] },
      { label: "Details", cell: (row) => details(row.details) },
    ],
    rows,
  );
}

/** documents: a list of those that were seen, or what happened to each. */
function details({ documents = [], first: _first, last: _last, ...others }) {
  const entries = Array.isArray(documents) ? documents.map((id) => [id, ""]) : Object.entries(documents);
  const told = Object.entries(others).filter(([, value]) => value?.length !== 0).map(([name, value]) => `${name.replaceAll("_", " ")}: ${typeof value === "string" ? value : JSON.stringify(value)}`).join(", ");
  return h(
    "div",
    { class: "piece" },
    entries.slice(0, SHOWN_DOCUMENTS).map(([id, change]) => h("div", {}, documentLink(id), change && h("span", { class: "muted" }, ` ${typeof change === "string" ? change : JSON.stringify(change)}`))),
    entries.length > SHOWN_DOCUMENTS && h("div", { class: "muted small" }, `and ${formatNumber(entries.length - SHOWN_DOCUMENTS)} more`),
    told && h("div", { class: "muted small" }, told.length <= SHOWN_CHARACTERS ? told : h("details", {}, h("summary", {}, `${told.slice(0, SHOWN_CHARACTERS)} …`), told)),
  );
}
