/* Who reads documents: the owner and readers of one, and a change of the readers of several at once. */

import { call, segment } from "./api.js";
import { h } from "./dom.js";
import { rowByRow } from "./lists.js";
import { mayChange } from "./session.js";
import { announce, announceProblem, badge, checkbox, countOf, field, listOf, openDialog, submit } from "./ui.js";

const SHOWN_READERS = 20; // that the dialog offers to take away

const accessPath = (id) => `/v1/documents/${segment(id)}/access`;

/**
 * The readers as they are stored; the list has no texts, and a look at it is no opening. otherwise: of a
 * document that the caller no longer reads; null: that is a problem.
 */
async function readersOf(id, otherwise = null) {
  const { data } = await call("GET", "/v1/documents", { query: { prefix: id, limit: 1 } });
  const [found] = data.documents;
  if (found?.document_id === id) return found.readers;
  if (otherwise) return otherwise;
  throw Object.assign(new Error("The document does not exist, or you may not read it."), { title: "Not found", status: 404 });
}

/** Add and remove readers of one document. Answers what has changed, by which `undo` can put it back. */
async function changeReaders({ id, added, removed, otherwise }) {
  const readers = await readersOf(id, otherwise);
  const kept = without(readers, removed);
  const wanted = [...kept, ...without(added, kept)];
  if (wanted.length === readers.length && kept.length === readers.length) return { id, added: [], removed: [] };
  await call("PATCH", accessPath(id), { body: { readers: wanted } });
  const stored = await readersOf(id, wanted); // in the gateway's spelling, such as user:ana for user:Ana
  return { id, added: without(stored, readers), removed: without(readers, stored), otherwise: stored };
}

const without = (some, others) => some.filter((reader) => !others.includes(reader));

const hasChanged = ({ added, removed }) => added.length + removed.length > 0;

/**
 * Add and remove readers of each document, and offer to undo it for those that changed. again: shows
 * what holds by now. textOf(number): what is announced of so many changed documents.
 */
async function changeAll(ids, { added, removed }, again, textOf) {
  const changes = [];
  const change = async (id) => changes.push(await changeReaders({ id, added, removed }));
  try {
    await rowByRow(ids, (id) => id, change, again)();
  } finally {
    const changed = changes.filter(hasChanged);
    if (changed.length || changes.length === ids.length) announce(textOf(changed.length), "good", changed.length ? () => undo(changed, again) : null);
  }
}

async function undo(changes, again) {
  const back = ({ added, removed, ...change }) => changeReaders({ ...change, added: removed, removed: added });
  try {
    await rowByRow(changes, ({ id }) => id, back, again)();
    announce("The readers are as before");
  } catch (problem) {
    announceProblem(problem);
  }
}

/** Ask which readers these documents get and lose. rows: of the list of documents. */
export function shareSeveral(rows, again) {
  const counts = new Map();
  for (const reader of rows.flatMap((row) => row.readers)) counts.set(reader, (counts.get(reader) ?? 0) + 1);
  const known = [...counts].sort(([, one], [, other]) => other - one);
  const boxes = known.slice(0, SHOWN_READERS).map(([reader, count]) => [reader, checkbox(`${reader}: ${count} of ${rows.length}`)]);
  const added = h("textarea", { rows: "3", spellcheck: "false", autofocus: true });
  const place = h("div");
  const wanted = () => ({
    added: listOf(added.value),
    removed: boxes.filter(([, { input }]) => input.checked).map(([reader]) => reader),
  });
  const save = async () => {
    if (!hasChanged(wanted())) throw Object.assign(new Error("Name a reader to add, or choose one to take away."), { title: "Nothing to change" });
    const textOf = (number) => (number ? `The readers of ${countOf(number, "document")} are changed, from the next request on` : "The readers are so already");
    await changeAll(rows.map((row) => row.document_id), wanted(), again, textOf);
  };
  openDialog(`Share ${countOf(rows.length, "document")}`, (close) =>
    h(
      "form",
      { onsubmit: async (event) => (event.preventDefault(), (await submit(event.target, place, save)) && close()) },
      field("Add readers", added, { name: "readers", hint: "one a line: user:ID, group:ID, tenant or public" }),
      boxes.length > 0 && h("fieldset", {}, h("legend", {}, "Take away"), boxes.map(([, { node }]) => node)),
      known.length > boxes.length && h("p", { class: "muted small" }, `${known.length - boxes.length} other readers are changed at the document itself.`),
      place,
      h("div", { class: "row" }, h("button", { type: "submit", class: "primary" }, `Change ${countOf(rows.length, "document")}`), h("button", { type: "button", onclick: close }, "Cancel")),
    ),
  );
}

/** stored: the document that is shown; reload() shows it anew. */
export function sharing(stored, reload) {
  const owner = h("input", { autocomplete: "off", value: stored.owner ?? "" });
  const readers = h("textarea", { rows: "4", spellcheck: "false", value: stored.readers.join("\n") });
  const place = h("div");
  const save = async () => {
    const body = { readers: listOf(readers.value) };
    if (owner.value.trim() !== (stored.owner ?? "")) body.owner = owner.value.trim() || null;
    await call("PATCH", accessPath(stored.document_id), { body });
    await reload();
    announce("The readers are changed, from the next request on");
  };
  const revoke = (reader) => changeAll([stored.document_id], { added: [], removed: [reader] }, reload, () => `${reader} no longer reads it, from the next request on`);
  const chip = (reader) =>
    h(
      "li",
      { class: "row" },
      badge(reader, reader === "public" ? "warn" : "accent"),
      mayChange(stored) && h("button", { type: "button", class: "plain", "aria-label": `Revoke ${reader}`, onclick: () => submit(form, place, () => revoke(reader)) }, "Revoke"),
    );
  const form = h(
    "form",
    { onsubmit: (event) => (event.preventDefault(), submit(form, place, save)) },
    field("Owner", owner, { name: "owner", hint: "always reads and changes it" }),
    field("Readers", readers, { name: "readers", hint: "one a line: user:ID, group:ID, tenant or public" }),
    place,
    h("div", {}, h("button", { type: "submit", class: "primary" }, "Save readers")),
  );
  return h(
    "section",
    { class: "card", "aria-label": "Sharing" },
    h("h2", {}, "Who may read it"),
    h("p", {}, "Owner: ", stored.owner ?? "nobody"),
    stored.readers.length ? h("ul", { class: "chips" }, stored.readers.map(chip)) : h("p", { class: "muted" }, "Shared with nobody."),
    mayChange(stored) && h("details", {}, h("summary", {}, "Share or change the owner"), form),
  );
}
