/* Lists: tables whose rows can be ordered and chosen, the form that narrows one, and its pages. */

import { fieldsOf, move } from "./address.js";
import { fill, h } from "./dom.js";
import { countOf, field, formatNumber, load, submit } from "./ui.js";

const TOGETHER = 4; // rows that are worked on at once
const OF_ONE_ROW = [403, 404, 409, 412]; // statuses that tell nothing of the other rows

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

export const COUNTED_MAX = 10_000; // of a list's total, which tells no more

/** How many rows the page shows, and of how many. page: what a `pager` fetches; its `total` may be absent. */
export function shownOf(rows, noun, { cursor, total }, number = 1) {
  if (number === 1 && !cursor) return countOf(rows.length, noun);
  const all = total > COUNTED_MAX ? `more than ${formatNumber(COUNTED_MAX)}` : formatNumber(total ?? 0);
  return total === undefined ? `${countOf(rows.length, noun)} on this page` : `${formatNumber(rows.length)} of ${all} ${noun}s`;
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

/**
 * Answers a function that does the work for each row, also after one that fails, and throws at the end,
 * after `again`, which rows failed and why. Called once more, it does those alone. A problem that tells
 * nothing of a single row, such as a field that is wrong, ends it at once.
 */
export function rowByRow(rows, nameOf, work, again) {
  let left = rows;
  return async () => {
    const all = left;
    const failures = [];
    try {
      for (let start = 0; start < all.length; start += TOGETHER) {
        const rows = all.slice(start, start + TOGETHER);
        const results = await Promise.allSettled(rows.map(work));
        left = left.filter((row) => results[rows.indexOf(row)]?.status !== "fulfilled");
        const problems = results.flatMap(({ reason }, index) => (reason ? [[rows[index], reason]] : []));
        const ending = problems.find(([, { status }]) => all.length === 1 || !OF_ONE_ROW.includes(status));
        if (ending) throw ending[1];
        failures.push(...problems.map(([row, { message }]) => [nameOf(row), message]));
      }
    } finally {
      await again();
    }
    const done = all.length - failures.length;
    if (failures.length) throw Object.assign(new Error(done === 1 ? "The other one is done." : `The other ${formatNumber(done)} are done.`), { title: `${formatNumber(failures.length)} of ${formatNumber(all.length)} failed`, failures });
  };
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
 * A form that narrows a list. controls: by the name of the query's field, [label, control]. fields: of
 * the address, which fill it first. onFilter: called after a change. `filter` answers what was chosen.
 */
export function filterForm(controls, fields, onFilter, action = "Filter") {
  const place = h("div");
  const chosen = () => Object.fromEntries(Object.entries(controls).map(([name, [, control]]) => [name, control.value.trim()]));
  const narrow = () => {
    filter = chosen();
    return onFilter();
  };
  const node = h(
    "form",
    { class: "card", role: "search", "aria-label": "Filter", onsubmit: (event) => (event.preventDefault(), submit(node, place, narrow)) },
    h("div", { class: "row end filters" }, Object.entries(controls).map(([name, [label, control]]) => field(label, control, { name })), h("button", { type: "submit" }, action)),
    place,
  );
  fieldsOf(node).write(fields);
  let filter = chosen(); // of the list that is shown
  return { node, filter: () => filter };
}

/** Buttons of which one is pressed. options: [value, label]. onChoose: called after a change. */
export function toggles(label, options, chosen, onChoose) {
  let value = options.some(([name]) => name === chosen) ? chosen : options[0][0];
  const choose = (name) => {
    value = name;
    buttons.forEach((button, index) => button.setAttribute("aria-pressed", String(options[index][0] === name)));
    onChoose();
  };
  const buttons = options.map(([name, text]) => h("button", { type: "button", "aria-pressed": String(name === value), onclick: () => choose(name) }, text));
  return { node: h("div", { class: "row", role: "group", "aria-label": label }, buttons), value: () => value };
}

/**
 * The pages of a list with a cursor: at most one page is in the document at a time.
 * name: what is listed, by which screen readers tell two lists apart. fields: of the address. chosen:
 * answers what else they say of the list. at: the field with the cursor of the page that is shown.
 */
export function pager(name, element, fetchPage, render, { fields, chosen = () => ({}), at = "cursor" }) {
  const first = fields.get(at);
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
  const moved = () => (move({ ...chosen(), [at]: cursors.at(-1) }), show());
  const back = () => (cursors.pop(), moved());
  const forward = (cursor) => (cursors.push(cursor), moved());
  return { show, reset: () => (cursors.splice(1), moved()) };
}
