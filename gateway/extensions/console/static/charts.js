/* Stacked columns over time as inline SVG, with the same figures as a table. */

import { h } from "./dom.js";
import { table } from "./lists.js";
import { formatNumber } from "./ui.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 640;
const HEIGHT = 160;
const LEFT = 64; // for the numbers of the axis
const BOTTOM = 22; // for the dates
const TOP = 10;
const GAP = 0.2; // of a column's width
const LABELS_MAX = 8;

function svg(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/**
 * title: of the chart, and of its table. series: [{name, label}], the lowest first; `name` is the
 * CSS class of its colour. rows: [{label, values: {name: number}}] in their order. head: what the labels
 * of the rows are. isNested: each value includes those below it, as percentiles do.
 */
export function columnChart({ title, series, rows, format = formatNumber, empty, head = "Time", isNested = false }) {
  const shown = series.filter(({ name }) => rows.some((row) => row.values[name]));
  if (!shown.length) return h("figure", { class: "chart" }, h("figcaption", {}, title), h("p", { class: "muted" }, empty));
  return h(
    "figure",
    { class: "chart" },
    h("figcaption", {}, title),
    legend(shown),
    drawing(shown, rows, format, isNested),
    h("details", {}, h("summary", {}, `${title} as a table`), figures(title, shown, rows, format, head)),
  );
}

function legend(series) {
  if (series.length < 2) return null;
  return h("ul", { class: "legend" }, series.map(({ name, label }) => h("li", {}, h("i", { class: `swatch ${name}` }), label)));
}

/** The table and the legend tell the same, so that screen readers leave the drawing out. */
function drawing(series, rows, format, isNested) {
  const totals = rows.map((row) => series.reduce((sum, { name }) => (isNested ? 0 : sum) + (row.values[name] ?? 0), 0));
  const top = roundedUp(Math.max(...totals));
  const height = (value) => ((HEIGHT - TOP - BOTTOM) * value) / top;
  const step = (WIDTH - LEFT) / rows.length;
  const every = Math.ceil(rows.length / LABELS_MAX);
  const parts = [0, top / 2, top].flatMap((value) => {
    const y = HEIGHT - BOTTOM - height(value);
    return [
      svg("line", { x1: LEFT, x2: WIDTH, y1: y, y2: y, class: "axis" }),
      svg("text", { x: LEFT - 6, y: y + 4, "text-anchor": "end" }, format(value)),
    ];
  });
  rows.forEach((row, index) => {
    const x = LEFT + step * (index + GAP / 2);
    let y = HEIGHT - BOTTOM;
    const lines = [];
    let below = 0;
    for (const { name, label } of series) {
      const value = row.values[name] ?? 0;
      if (!value) continue;
      const own = height(value - below);
      if (isNested) below = value;
      y -= own;
      lines.push(`${label} ${format(value)}`);
      parts.push(svg("rect", { x, y, width: step * (1 - GAP), height: own, class: name }));
    }
    const area = svg("rect", { x: LEFT + step * index, y: TOP, width: step, height: HEIGHT - TOP - BOTTOM, class: "area" });
    area.append(svg("title", {}, [row.label, ...lines].join("\n")));
    parts.push(area);
    if (index % every === 0) parts.push(svg("text", { x: x + (step * (1 - GAP)) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, row.short ?? row.label));
  });
  return svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true", focusable: "false" }, ...parts);
}

/** The next number of 1, 2, 4, 6, 8 or 10 times a power of ten. */
function roundedUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 6, 8, 10].find((factor) => value <= factor * power) * power;
}

function figures(title, series, rows, format, head) {
  return table(
    title,
    [
      { label: head, cell: (row) => row.label },
      ...series.map(({ name, label }) => ({ label, isNumber: true, cell: (row) => format(row.values[name] ?? 0) })),
    ],
    rows.filter((row) => series.some(({ name }) => row.values[name])),
  );
}
