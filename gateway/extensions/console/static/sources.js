/* Sources: what the worker reads and when, how far it is behind, how to add one; public documents. */

import { call, segment } from "./api.js";
import { h } from "./dom.js";
import { COUNTED_MAX, table } from "./lists.js";
import { follow } from "./live.js";
import { publicDocuments } from "./public-documents.js";
import { isOn } from "./session.js";
import { announce, announceProblem, badge, checkbox, confirmDialog, countOf, empty, field, formatCounts, formatInstant, formatNumber, listOf, openDialog, select, submit } from "./ui.js";

const KINDS = [
  ["folder"],
  ...(isOn("sources_git") ? [["git"]] : []),
  ...(isOn("sources_web") ? [["web", "web pages"]] : []),
  ...(isOn("sources_records") ? [["csv"], ["parquet"], ["faqs"], ["conversations"]] : []),
];
const PAGES_MAX = 10; // of 100 sources: the page asks for them every two seconds
const STATES = { idle: "good", running: "accent", failed: "bad", paused: "warn", needs_attention: "warn" };

export function render(content, { signal }) {
  if (isOn("sources")) showSources(content, signal);
  if (isOn("tenants")) content.append(publicDocuments(signal));
}

function showSources(content, signal) {
  const list = h("div", { class: "stack" });
  const ask = follow(
    list,
    async () => {
      const [sources, status] = await Promise.all([
        allSources(signal),
        isOn("jobs") && call("GET", "/v1/ingest/status", { signal }),
      ]);
      return { ...sources, status: status && rounded(status.data) };
    },
    (data) => view(data, ask),
    signal,
  );
  content.append(
    h("div", { class: "row spread" },
      h("p", { class: "lead" }, "Folders, tables, repositories and web pages that the worker reads. The page follows them."),
      h("button", { type: "button", class: "primary", onclick: () => configure(null, ask) }, "Add a source")),
    list,
  );
}

/** The sources of the first pages; hasMore: whether there are others. */
async function allSources(signal) {
  const sources = [];
  let cursor = "";
  for (let page = 0; page < PAGES_MAX && cursor !== null; page += 1) {
    const { data } = await call("GET", "/v1/sources", { query: { cursor }, signal });
    sources.push(...data.sources);
    cursor = data.cursor;
  }
  return { sources, hasMore: cursor !== null };
}

/** Ages in whole seconds, so that the page is not made anew for their fractions. */
function rounded(status) {
  const whole = (value) => (value === null ? null : Math.round(value));
  return { ...status, lag_s: whole(status.lag_s), oldest_waiting_s: whole(status.oldest_waiting_s) };
}

function view({ sources, hasMore, status }, ask) {
  return [
    status && ingestion(status),
    h("section", { class: "card", "aria-label": "Sources" }, sources.length ? sourceTable(sources, ask) : empty("No sources", "Add a folder or a repository, or write documents over the API."),
      hasMore && h("p", { class: "muted small" }, `The first ${formatNumber(sources.length)} by name. GET /v1/sources lists the others.`)),
  ];
}

function ingestion(status) {
  const problems = Object.entries(status.problems).filter(([, number]) => number > 0);
  return h(
    "section",
    { class: "card", "aria-label": "Ingestion" },
    h(
      "div",
      { class: "stats" },
      stat("jobs waiting", formatNumber(status.waiting)),
      stat("jobs running", formatNumber(status.running)),
      h("div", { class: "stat" }, h("strong", {}, formatNumber(status.failed)), status.failed ? h("a", { href: "#/jobs?state=failed" }, "jobs failed") : h("span", { class: "muted" }, "jobs failed")),
      stat("behind", `${formatNumber(status.lag_s)} s`),
      stat("texts embedded", formatNumber(status.texts_embedded)),
      stat("embeddings reused", formatNumber(status.embeddings_reused)),
    ),
    h("p", { class: "small" }, "Last audit of the index: ", formatInstant(status.audited_at), ". ",
      status.audited_at && (problems.length ? badge(problems.map(([kind, number]) => `${kind}: ${number}`).join(", "), "bad") : badge("no problems", "good"))),
  );
}

const stat = (label, value) => h("div", { class: "stat" }, h("strong", {}, value), h("span", { class: "muted" }, label));

function sourceTable(sources, ask) {
  return table(
    countOf(sources.length, "source"),
    [
      { label: "Source", cell: (row) => [h("strong", {}, row.source), h("div", { class: "muted small" }, place(row))] },
      { label: "State", cell: (row) => [row.kind ? badge(row.state.replaceAll("_", " "), STATES[row.state]) : badge("written by callers"), row.last_error && h("div", { class: "small" }, row.last_error), row.pending_removals && h("div", { class: "small" }, missing(row))] },
      { label: "Schedule", cell: (row) => (row.schedule ? h("code", {}, row.schedule) : row.kind && h("span", { class: "muted" }, "on request")) },
      { label: "Last read", cell: (row) => row.kind && h("span", {}, formatInstant(row.last_run_at), h("div", { class: "muted small" }, formatCounts(row.counts))) },
      { label: "", cell: (row) => actions(row, ask) },
    ],
    sources,
  );
}

const place = (row) => (row.kind ? `${row.kind}: ${row.settings.url ?? row.settings.path}` : "documents of the API");

function actions(row, ask) {
  const act = (label, run, kind = "") =>
    h("button", { type: "button", class: kind, "aria-label": `${label} ${row.source}`, onclick: run }, label);
  const path = `/v1/sources/${segment(row.source)}`;
  const quick = async (text, run) => {
    try {
      await run();
      announce(text);
    } catch (problem) {
      announceProblem(problem);
    }
    ask();
  };
  return h(
    "span",
    { class: "row" },
    row.kind && act("Read now", () => quick("The worker reads it", () => call("POST", `${path}/reindex`))),
    row.kind && act(row.state === "paused" ? "Resume" : "Pause", () => quick("Saved", () => call("PUT", path, { body: bodyOf(row, { paused: row.state !== "paused" }) }))),
    row.kind && row.pending_removals && act("Remove missing", () => confirmRemovals(row, ask), "danger"),
    row.kind && act("Change", () => configure(row, ask)),
    act("Delete", () => remove(row, ask).catch(announceProblem), "danger"),
  );
}

/** What `PUT /v1/sources/{source}` takes, of what the list shows. */
const bodyOf = (row, changes) => ({
  kind: row.kind,
  settings: row.settings,
  schedule: row.schedule,
  paused: row.state === "paused",
  ...changes,
});

/** How many documents of the source the caller may read: others may have more there. */
async function readable({ source }) {
  const { total } = (await call("GET", "/v1/documents", { query: { source, total: true, limit: 1 } })).data;
  return total > COUNTED_MAX ? `more than ${documents(COUNTED_MAX)}` : documents(total);
}

const documents = (number) => `${formatNumber(number)} document${number === 1 ? "" : "s"}`;

const missing = (row) =>
  `${documents(row.pending_removals)} ${row.pending_removals === 1 ? "is" : "are"} no longer there, and kept until you confirm the removal.`;

function confirmRemovals(row, ask) {
  confirmDialog({
    title: `Remove the missing documents of ${row.source}?`,
    text: `The last reading no longer found ${documents(row.pending_removals)}. The worker reads the source again and removes up to that many. If its folder is not mounted, cancel.`,
    action: "Remove",
    run: async () => {
      await call("POST", `/v1/sources/${segment(row.source)}/confirm-removals`);
      announce("A worker removes them");
      ask();
    },
  });
}

async function remove(row, ask) {
  confirmDialog({
    title: `Delete the source ${row.source}?`,
    text: `You may read ${await readable(row)} of it. All are deleted, whoever owns them and may read them. This can't be undone.`,
    action: "Delete",
    typed: row.source,
    run: async () => {
      await call("DELETE", `/v1/sources/${segment(row.source)}`);
      announce("A worker deletes it");
      ask();
    },
  });
}

function configure(row, ask) {
  const known = row?.settings ?? {};
  const name = h("input", { autocomplete: "off", required: true, value: row?.source ?? "", readonly: row !== null });
  const kind = select(KINDS, row?.kind ?? "folder");
  const url = h("input", { autocomplete: "off", value: known.url ?? "" });
  const within = h("input", { autocomplete: "off", value: known.within ?? "/", placeholder: "/help/" });
  const rate = h("input", { type: "number", min: "0.02", max: "10", step: "any", value: known.pages_per_s ?? 1 });
  const path = h("input", { autocomplete: "off", value: known.path ?? "", placeholder: "handbook" });
  const schedule = h("input", { autocomplete: "off", value: row?.schedule ?? "", placeholder: "0 3 * * *" });
  const readers = h("input", { autocomplete: "off", value: (known.readers ?? ["tenant"]).join(", ") });
  const paused = checkbox("paused", { checked: row?.state === "paused" });
  openDialog(row ? `Change ${row.source}` : "Add a source", (close) => {
    const place = h("div");
    const save = async () => {
      const kept = row?.kind === kind.value ? known : {};
      const settings = { ...kept, readers: listOf(readers.value) };
      if (kind.value === "git" || kind.value === "web") settings.url = url.value.trim();
      if (kind.value === "web") Object.assign(settings, { within: within.value.trim() || "/", pages_per_s: Number(rate.value) || 1 });
      else if (path.value.trim()) settings.path = path.value.trim();
      const body = { kind: kind.value, settings, schedule: schedule.value.trim() || null, paused: paused.input.checked };
      await call("PUT", `/v1/sources/${segment(name.value.trim())}`, { body });
      close();
      announce("Saved");
      ask();
    };
    const urlField = field("URL", url, { name: "url", hint: "of the repository; or of a sitemap, or a page whose links are followed" });
    const pathField = field("Path", path, { name: "path", hint: "in the tenant's folder of sources, or in the repository" });
    const webFields = h("div", { class: "grid" }, field("Only below", within, { name: "within", hint: "the beginning of the pages' paths" }), field("Pages a second", rate, { name: "pages_per_s", hint: "at most; of all sources of the host" }));
    const choose = () => {
      urlField.hidden = kind.value !== "git" && kind.value !== "web";
      webFields.hidden = kind.value !== "web";
      pathField.hidden = kind.value === "web";
      url.required = !urlField.hidden;
    };
    kind.addEventListener("change", choose);
    choose();
    return h(
      "form",
      { onsubmit: (event) => (event.preventDefault(), submit(event.target, place, save)) },
      field("Name", name, { name: "source" }),
      field("Kind", kind, { name: "kind" }),
      urlField,
      webFields,
      pathField,
      field("Schedule", schedule, { name: "schedule", hint: "cron in UTC; empty: on request" }),
      field("Readers", readers, { name: "readers", hint: "of documents that name none" }),
      paused.node,
      place,
      h("div", { class: "row" }, h("button", { type: "submit", class: "primary" }, "Save"), h("button", { type: "button", onclick: close }, "Cancel")),
    );
  });
}
