/* The building blocks of all pages: fields, notes, tables, dialogs, and the states of a part that
 * loads: loading, empty, failed, ready. */

import { fieldsOf } from "./address.js";
import { fill, h, uniqueId } from "./dom.js";

const SHOWN_MS = 6_000;
const UNDO_MS = 10_000;

const numbers = new Intl.NumberFormat("en");
const instants = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

export const formatNumber = (value, digits = 0) =>
  digits ? value.toFixed(digits) : numbers.format(value);

/** What a job did: its numbers that are not 0, and its texts. */
export function formatCounts(counts) {
  const told = Object.entries(counts ?? {}).filter(([, value]) => ["number", "string"].includes(typeof value));
  const parts = told.filter(([, value]) => value !== 0);
  if (told.length && !parts.length) return "nothing has changed";
  return parts.map(([name, value]) => `${name.replaceAll("_", " ")} ${typeof value === "number" ? formatNumber(value) : value}`).join(", ");
}

const SIZES = ["B", "KiB", "MiB", "GiB", "TiB"];

export function formatBytes(bytes) {
  let size = bytes;
  let unit = 0;
  while (size >= 1024 && unit < SIZES.length - 1) [size, unit] = [size / 1024, unit + 1];
  return `${unit && size < 10 ? size.toFixed(1) : formatNumber(Math.round(size))} ${SIZES[unit]}`;
}

export const formatInstant = (text) =>
  text ? h("time", { datetime: text, title: text }, instants.format(new Date(text))) : "never";

/** A labelled control; name: the field of the API's body, by which problems name it. */
export function field(label, control, { hint, name } = {}) {
  const id = uniqueId("field");
  control.id = id;
  if (name) Object.assign(control, { name }).dataset.field = name;
  const hintNode = hint && h("span", { class: "hint", id: `${id}-hint` }, hint);
  if (hint) control.setAttribute("aria-describedby", `${id}-hint`);
  return h("div", { class: "field" }, h("label", { for: id }, label), control, hintNode);
}

export function checkbox(label, { checked = false, ...properties } = {}) {
  const input = h("input", { type: "checkbox", ...properties });
  input.checked = checked;
  return { input, node: h("label", { class: "check" }, input, label) };
}

export function select(options, value) {
  const control = h(
    "select",
    {},
    options.map(([name, label]) => h("option", { value: name }, label ?? name)),
  );
  control.value = value ?? options[0][0];
  return control;
}

/** The items of a text with one item a line, or separated by commas. */
export const listOf = (text) =>
  text
    .split(/[\n,]/)
    .map((item) => item.trim())
    .filter(Boolean);

/** title: the text, which a narrow column cuts. */
export const badge = (text, kind = "") => h("span", { class: `badge ${kind}`, title: text }, text);

export function note(kind, ...children) {
  return h("div", { class: `note ${kind}` }, ...children);
}

/** What went wrong and what to do; retry: called by its button. labelOf(field): as the form has it. */
export function problemNote(problem, retry, labelOf = () => null) {
  return h(
    "div",
    { class: "note bad", role: "alert" },
    h("strong", {}, problem.title || "Error"),
    h("span", {}, problem.message),
    problem.errors?.length > 0 &&
      h(
        "ul",
        {},
        problem.errors.map((error) => h("li", {}, labelOf(error.field) ?? h("code", {}, error.field), ` ${error.detail}`)),
      ),
    problem.retryAfter && h("span", {}, `Retry in ${problem.retryAfter} s.`),
    problem.requestId && h("span", { class: "small" }, `Request ${problem.requestId}`),
    retry && h("div", { class: "row" }, h("button", { type: "button", onclick: retry }, "Try again")),
  );
}

export function empty(title, text, ...actions) {
  return h("div", { class: "empty" }, h("strong", {}, title), h("span", {}, text), ...actions);
}

export function loading(label = "Loading") {
  return h(
    "div",
    { class: "loading", role: "status" },
    h("span", { class: "visually-hidden" }, label),
    h("i"),
    h("i"),
    h("i"),
  );
}

export const BACK = "gateway-back"; // the document's event once the gateway answers again

/** If the gateway was away, do what only reads again once it is back. */
function repeatWhenBack(problem, again) {
  if (problem.isOffline) document.addEventListener(BACK, again, { once: true });
}

const loads = new WeakMap(); // by element, the last call of `load`, which alone may fill it

/** Fill the element with what `make` answers; meanwhile with a placeholder, or with its problem. */
export async function load(element, make) {
  const own = {};
  const isLast = () => loads.get(element) === own;
  loads.set(element, own);
  fill(element, loading());
  element.setAttribute("aria-busy", "true");
  try {
    const made = await make();
    if (isLast()) fill(element, made);
  } catch (problem) {
    if (problem.name === "AbortError" || !isLast()) return;
    fill(element, problemNote(problem, () => load(element, make)));
    repeatWhenBack(problem, () => isLast() && load(element, make));
  } finally {
    if (isLast()) element.removeAttribute("aria-busy");
  }
}

/**
 * Run an action of a form: its button is off meanwhile, a problem is shown in `place`, and the
 * fields that the problem names are marked. Answers whether it succeeded. isRead: whether the action
 * changes nothing.
 */
export async function submit(form, place, action, { isRead = false } = {}) {
  const buttons = [...form.querySelectorAll("button[type=submit]")];
  for (const button of buttons) button.disabled = true;
  for (const marked of form.querySelectorAll("[aria-invalid]")) marked.removeAttribute("aria-invalid");
  fill(place);
  try {
    await action();
    return true;
  } catch (problem) {
    if (problem.name === "AbortError") return false;
    fill(place, problemNote(problem, null, (path) => labelOf(controlOf(form, path))));
    for (const { field: path } of problem.errors ?? []) controlOf(form, path)?.setAttribute("aria-invalid", "true");
    if (isRead) repeatWhenBack(problem, () => form.isConnected && submit(form, place, action, { isRead }));
    return false;
  } finally {
    for (const button of buttons) button.disabled = false;
  }
}

/** The control that a problem names; of a body in a union, the first part of the path is its kind. */
function controlOf(form, path) {
  const parts = path.split(".");
  const names = [path, parts[0], parts.at(-1)];
  return form.querySelector(names.map((name) => `[data-field="${CSS.escape(name)}"]`).join(", "));
}

const labelOf = (control) => control?.labels?.[0] && h("strong", {}, control.labels[0].textContent);

/**
 * columns: {label, cell(row), isNumber, sortBy(row)}; the first is the row's header. By one with `sortBy`,
 * a number or a text, a click on its label orders the rows: numbers begin with the largest.
 * several: of a `chooser`, if rows can be chosen.
 */
export function table(caption, columns, rows, several = null) {
  const body = h("tbody");
  const boxes = several?.(rows);
  const show = (shown) => fill(body, shown.map((row) => h("tr", {}, boxes?.cell(row), columns.map((column, index) => cell(column, row, index)))));
  const head = h("tr", {}, boxes?.heading, columns.map((column) => heading(column, (isDescending) => {
    for (const other of head.querySelectorAll("[aria-sort]")) other.removeAttribute("aria-sort");
    show(ordered(rows, column.sortBy, isDescending));
  })));
  show(rows);
  const scroll = h("div", { class: "scroll" }, h("table", { class: "cards" }, h("caption", {}, caption), h("thead", {}, head), body));
  return several ? [scroll, boxes.actions] : scroll;
}

/**
 * Lets one choose several rows of a table. nameOf(row): tells it from all others, also to screen readers.
 * actions: {label, kind, isFor(row), act(rows)}. What is chosen stays so while the table is made anew.
 */
export function chooser(nameOf, actions) {
  let names = new Set();
  return (rows) => {
    names = new Set(rows.map(nameOf).filter((name) => names.has(name)));
    const all = h("input", { type: "checkbox", "aria-label": "Choose all that are shown", onchange: () => choose(rows, all.checked) });
    const boxes = new Map(rows.map((row) => [row, h("input", { type: "checkbox", "aria-label": `Choose ${nameOf(row)}`, onchange: (event) => choose([row], event.target.checked) })]));
    const place = h("div", { class: "row chosen", role: "group", "aria-label": "What is chosen" });
    const choose = (some, isChosen) => {
      for (const row of some) names[isChosen ? "add" : "delete"](nameOf(row));
      for (const [row, box] of boxes) box.checked = names.has(nameOf(row));
      Object.assign(all, { checked: names.size > 0 && names.size === rows.length, indeterminate: names.size > 0 && names.size < rows.length });
      const chosen = rows.filter((row) => names.has(nameOf(row)));
      fill(place, chosen.length > 0 && [h("strong", { role: "status" }, `${chosen.length} chosen`), actions.map((action) => actionButton(action, chosen.filter(action.isFor)))]);
    };
    choose([], true);
    return { heading: h("td", { class: "choice" }, all), cell: (row) => h("td", { class: "choice" }, boxes.get(row)), actions: place };
  };
}

const actionButton = ({ label, kind, act }, rows) =>
  rows.length > 0 && h("button", { type: "button", class: kind, onclick: () => act(rows) }, `${label} ${rows.length}`);

/** Do the work for each row, also after one that fails: the first problem is thrown at the end, after `again`. */
export async function forEach(rows, work, again) {
  const problems = [];
  for (const row of rows) await work(row).catch((problem) => problems.push(problem));
  again();
  if (problems.length) throw problems[0];
}

/** order: orders the rows by the column. */
function heading(column, order) {
  if (!column.label) return h("td", {}, h("span", { class: "visually-hidden" }, "Actions"));
  if (!column.sortBy) return h("th", { scope: "col", class: column.isNumber && "number" }, column.label);
  const sort = () => {
    const before = node.getAttribute("aria-sort");
    const isDescending = before ? before === "ascending" : Boolean(column.isNumber);
    order(isDescending);
    node.setAttribute("aria-sort", isDescending ? "descending" : "ascending");
  };
  const node = h("th", { scope: "col", class: column.isNumber && "number" }, h("button", { type: "button", class: "sort", title: "Order the rows that are shown", onclick: sort }, column.label));
  return node;
}

/** Equal rows stay as they are; those without a value come last. */
function ordered(rows, sortBy, isDescending) {
  const isMissing = (row) => Number((sortBy(row) ?? "") === "");
  const compare = (one, other) => (typeof one === "number" ? one - other : String(one).localeCompare(String(other)));
  return rows.toSorted((one, other) => isMissing(one) - isMissing(other) || (isDescending ? -1 : 1) * compare(sortBy(one), sortBy(other)));
}

function cell(column, row, index) {
  const content = column.cell(row);
  if (index === 0) return h("th", { scope: "row" }, content);
  const whole = Array.isArray(content) ? h("div", {}, content) : content; // beside its label on a phone
  const kind = column.isNumber ? "number" : column.label ? null : "actions";
  return h("td", { class: kind, "data-label": column.label }, whole);
}

/**
 * Open a dialog; `build(close)` answers its content. The element with the focus gets it back.
 * isLasting: only its own buttons close it, and not the Escape key.
 */
export function openDialog(title, build, { isWide = false, isLasting = false } = {}) {
  const titleId = uniqueId("dialog");
  const dialog = h("dialog", { class: isWide && "wide", "aria-labelledby": titleId });
  const close = () => (dialog.close(), dialog.remove()); // at once: it may hold a secret
  dialog.addEventListener("close", () => dialog.remove());
  if (isLasting) {
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    // After one `cancel` that is prevented a browser closes the dialog by the next Escape.
    dialog.addEventListener("keydown", (event) => event.key === "Escape" && event.preventDefault());
  }
  dialog.append(
    h("div", { class: "stack" }, h("h2", { id: titleId }, title), build(close, dialog)),
  );
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/**
 * Ask before an action that can't be undone; the dialog stays open if the action fails.
 * typed: what has to be typed first. Without it the focus is on Cancel.
 */
export function confirmDialog({ title, text, action, run, isDanger = true, typed = null }) {
  const input = typed && h("input", { autocomplete: "off", spellcheck: "false", autofocus: true });
  const confirmed = async () => {
    if (typed && input.value.trim() !== typed) throw Object.assign(new Error(`Type ${typed} to confirm.`), { title: "Nothing is deleted" });
    await run();
  };
  return openDialog(title, (close) => {
    const place = h("div");
    return h(
      "form",
      {
        onsubmit: async (event) => {
          event.preventDefault();
          if (await submit(event.target, place, confirmed)) close();
        },
      },
      h("p", {}, text),
      typed && field(`Type ${typed} to confirm`, input),
      place,
      h(
        "div",
        { class: "row" },
        h("button", { type: "submit", class: isDanger ? "danger" : "primary" }, action),
        h("button", { type: "button", onclick: close, autofocus: !typed }, "Cancel"),
      ),
    );
  });
}

/** A secret that is shown once, until the person says that it is stored. */
export function showSecret(title, secret, text) {
  const content = (close) => [
    h("p", {}, text),
    h("pre", { class: "snippet", tabindex: "0", "aria-label": "the secret" }, secret),
    h(
      "div",
      { class: "row" },
      copyButton(() => secret),
      h("button", { type: "button", onclick: close }, "I have stored it"),
    ),
  ];
  openDialog(title, content, { isLasting: true }).dataset.secret = "";
}

export const hasSecret = () => document.querySelector("dialog[data-secret]") !== null;

export function copyButton(text, label = "Copy") {
  const button = h("button", {
    type: "button",
    onclick: async () => {
      try {
        await navigator.clipboard.writeText(text());
        announce("Copied");
        button.textContent = "Copied";
      } catch {
        announce("The browser refused to copy. Select the text instead.");
      }
    },
  }, label);
  return button;
}

/** Show a message for some seconds; screen readers read it. undo: called by its button. */
export function announce(text, kind = "good", undo = null) {
  const place = document.querySelector(".status");
  const taken = () => (message.remove(), undo());
  const message = note(kind, text, undo && h("div", { class: "row" }, h("button", { type: "button", onclick: taken }, "Undo")));
  place?.append(message);
  setTimeout(() => message.remove(), undo ? UNDO_MS : SHOWN_MS);
}

/** A bar whose value is told in text beside it. share: 0 to 1. mark: likewise, a line at that place. */
export function bar(share, kind = "", mark = null) {
  const inner = h("i", { class: kind });
  inner.style.width = percent(share);
  const line = mark !== null && h("b");
  if (line) line.style.left = percent(mark);
  return h("span", { class: "bar", "aria-hidden": "true" }, inner, line);
}

const percent = (share) => `${Math.max(0, Math.min(1, share)) * 100}%`;

/**
 * A form that narrows a list. controls: by the name of the query's field, [label, control]. fields: of
 * the address, which fill it first. onFilter: called after a change. `filter` answers what was chosen.
 */
export function filterForm(controls, fields, onFilter) {
  const place = h("div");
  const chosen = () => Object.fromEntries(Object.entries(controls).map(([name, [, control]]) => [name, control.value.trim()]));
  const narrow = () => {
    filter = chosen();
    return onFilter();
  };
  const node = h(
    "form",
    { class: "card", role: "search", "aria-label": "Filter", onsubmit: (event) => (event.preventDefault(), submit(node, place, narrow)) },
    h("div", { class: "row end filters" }, Object.entries(controls).map(([name, [label, control]]) => field(label, control, { name })), h("button", { type: "submit" }, "Filter")),
    place,
  );
  fieldsOf(node).write(fields);
  let filter = chosen(); // of the list that is shown
  return { node, filter: () => filter };
}

/**
 * The pages of a list with a cursor: at most one page is in the document at a time.
 * name: what is listed, by which screen readers tell two lists apart. first: the cursor to begin
 * at. onMove: called with the cursor of the page that is shown next.
 */
export function pager(name, element, fetchPage, render, { first = "", onMove = () => {} } = {}) {
  const cursors = first ? ["", first] : [""];
  const show = () =>
    load(element, async () => {
      const page = await fetchPage(cursors.at(-1));
      if (cursors.length === 1 && !page.cursor) return render(page, 1);
      const buttons = h(
        "nav",
        { class: "row", "aria-label": `Pages of ${name}` },
        cursors.length > 1 && h("button", { type: "button", onclick: back }, isAtFirst() ? "First page" : "Previous page"),
        page.cursor && h("button", { type: "button", onclick: () => forward(page.cursor) }, "Next page"),
        !first && h("span", { class: "muted small" }, `Page ${cursors.length}`),
      );
      return [render(page, cursors.length), buttons];
    });
  const isAtFirst = () => first && cursors.length === 2; // what came before it is not known
  const moved = () => (onMove(cursors.at(-1)), show());
  const back = () => (cursors.pop(), moved());
  const forward = (cursor) => (cursors.push(cursor), moved());
  return { show, reset: () => (cursors.splice(1), moved()) };
}
