/* How many documents have which source, language or tag; a click on a value narrows the search to it. */

import { h } from "./dom.js";
import { countOf, formatNumber, listOf } from "./ui.js";

const SHOWN_VALUES = 10;

/** The fields that are counted, by name: the label, and the field of the filter that narrows to a value. */
const FIELDS = { source: ["Source", "sources"], language: ["Language", "languages"], tags: ["Tag", "tags_any"] };
export const FACETS = { facets: Object.keys(FIELDS), facet_values_max: SHOWN_VALUES };

/**
 * facets: of the answer. controls: by the name of the filter's field, the input with its values and commas.
 * ask: searches anew.
 */
export function facetView({ documents, fields }, controls, ask) {
  const choose = (control, value) => {
    const values = listOf(control.value);
    control.value = (values.includes(value) ? values.filter((each) => each !== value) : [...values, value]).join(", ");
    ask();
  };
  const chip = (label, control, { value, count }) =>
    h(
      "li",
      {},
      h("button", { type: "button", class: "chip", "aria-pressed": String(listOf(control.value).includes(value)), "aria-label": `${label} ${value}: ${countOf(count, "document")}`, onclick: () => choose(control, value) },
        h("bdi", {}, value), h("span", { class: "muted" }, formatNumber(count))),
    );
  const row = ([name, { values, other_values: others }]) => {
    const [label, field] = FIELDS[name];
    return [
      h("dt", {}, label),
      h("dd", {}, h("ul", { class: "chips" }, values.map((each) => chip(label, controls[field], each)), others > 0 && h("li", { class: "muted small" }, `and ${countOf(others, "other value")}`))),
    ];
  };
  const shown = Object.entries(fields).filter(([, { values }]) => values.length);
  return h(
    "section",
    { class: "card", "aria-label": "Values" },
    h("p", { class: "muted small" }, `Of the ${countOf(documents, "document")} that you may read and the filter admits, whatever the question. A click narrows the search, another one widens it again.`),
    h("dl", { class: "facts" }, shown.map(row)),
  );
}
