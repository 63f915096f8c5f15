/* The building blocks of all pages: fields, notes, dialogs, and the states of a part that loads: loading,
 * empty, failed, ready. */

import { fill, h, uniqueId } from "./dom.js";

const SHOWN_MS = 6_000;
const UNDO_MS = 10_000;

const numbers = new Intl.NumberFormat("en");
const instants = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

export const formatNumber = (value, digits = 0) =>
  digits ? value.toFixed(digits) : numbers.format(value);

/** Such as "1 document" or "1,200 documents". */
export const countOf = (number, noun) => `${formatNumber(number)} ${noun}${number === 1 ? "" : "s"}`;

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
    problem.failures && h("ul", {}, reasonsOf(problem.failures).map(([reason, names]) => h("li", {}, `${reason} `, names.map((name, index) => [index > 0 && ", ", h("code", {}, name)])))),
    problem.retryAfter && h("span", {}, `Retry in ${problem.retryAfter} s.`),
    problem.requestId && h("span", { class: "small" }, `Request ${problem.requestId}`),
    retry && h("div", { class: "row" }, h("button", { type: "button", onclick: retry }, "Try again")),
  );
}

/** By reason, the names of the rows that failed for it. */
function reasonsOf(failures) {
  const byReason = new Map();
  for (const [name, reason] of failures) byReason.set(reason, [...(byReason.get(reason) ?? []), name]);
  return [...byReason];
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

export const BACK = "gateway-back"; // the document's event once the gateway answers the caller again

/** If the gateway was away or the key ended, do what only reads again once there is an answer. */
function repeatWhenBack(problem, again) {
  if (problem.isOffline || problem.isEnded) document.addEventListener(BACK, again, { once: true });
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
  const taken = () => (message.remove(), undo());
  const message = note(kind, text, undo && h("div", { class: "row" }, h("button", { type: "button", onclick: taken }, "Undo")));
  showFor(message, undo ? UNDO_MS : SHOWN_MS);
}

/** Show for some seconds what went wrong with an action that has no form. */
export const announceProblem = (problem) => showFor(problemNote(problem), UNDO_MS);

function showFor(message, ms) {
  document.querySelector(".status")?.append(message);
  setTimeout(() => message.remove(), ms);
}

/** A bar whose value is told in text beside it. share: 0 to 1. mark: likewise, a line at that place. */
export function bar(share, kind = "", mark = null) {
  const inner = share > 0 && h("i", { class: kind });
  if (inner) inner.style.width = percent(share);
  const line = mark !== null && h("b");
  if (line) line.style.left = percent(mark);
  return h("span", { class: "bar", "aria-hidden": "true" }, inner, line);
}

const percent = (share) => `${Math.max(0, Math.min(1, share)) * 100}%`;
