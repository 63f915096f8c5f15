/* The audit log: who saw which documents, as whom an admin looked, and who changed what. */

import { call } from "./api.js";
import { documentLink } from "./documents.js";
import { h } from "./dom.js";
import { filterForm, pager, table } from "./lists.js";
import { badge, countOf, empty, formatInstant, formatNumber } from "./ui.js";

const SHOWN_DOCUMENTS = 5;
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
    (page) => rowTable(page),
    { fields, chosen: form.filter },
  );
  content.append(
    h("p", { class: "lead" }, "Who saw which documents, as whom an admin looked, and who changed what, newest first. Each row seals the one before it; ", h("code", {}, "nearhit audit log --verify"), " checks them all."),
    form.node,
    list,
  );
  pages.show();
}

function rowTable({ rows, cursor }) {
  if (!rows.length) return empty("No rows", cursor ? "None among those that were looked through. There are older ones." : "Nothing that meets the filter is in the log.");
  return table(
    `${countOf(rows.length, "row")} on this page`,
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
  const told = Object.entries(others).filter(([, value]) => value?.length !== 0).map(([name, value]) => `${name.replaceAll("_", " ")}: ${typeof value === "string" ? value : JSON.stringify(value)}`);
  return h(
    "div",
    { class: "piece" },
    entries.slice(0, SHOWN_DOCUMENTS).map(([id, change]) => h("div", {}, documentLink(id), change && h("span", { class: "muted" }, ` ${typeof change === "string" ? change : JSON.stringify(change)}`))),
    entries.length > SHOWN_DOCUMENTS && h("div", { class: "muted small" }, `and ${formatNumber(entries.length - SHOWN_DOCUMENTS)} more`),
    told.length > 0 && h("div", { class: "muted small" }, told.join(", ")),
  );
}
