/* What the tenant's use of models costs by day and operation, and what it stores of what it may. */

import { columnChart } from "./charts.js";
import { h } from "./dom.js";
import { table } from "./lists.js";
import { bar, formatNumber } from "./ui.js";

const DAY_MS = 86_400_000;
const WARN = 0.8; // of a limit
const COLOURS = 8; // classes operation-0 … in the style
const COST_DIGITS = 2;
const SMALL_DIGITS = 4;

export const formatCost = (cost) => (cost === 0 ? "0" : cost.toFixed(Math.abs(cost) < 1 ? SMALL_DIGITS : COST_DIGITS));

export function costCard({ from, to }, usage) {
  const operations = [...new Set(usage.days.map((day) => day.operation))].sort();
  const name = (operation) => `operation-${operations.indexOf(operation) % COLOURS}`;
  const series = operations.map((operation) => ({ name: name(operation), label: operation }));
  const chart = (title, amount, format, empty) => columnChart({ title, series, rows: rowsOf(from, to, usage.days, name, amount), format, empty });
  return h(
    "section",
    { class: "card", "aria-label": "Cost" },
    h("h2", {}, "Cost"),
    monthlyCost(usage),
    chart("Cost by day and operation", (day) => day.cost, formatCost, "Nothing cost anything in this time: without prices, models are free."),
    chart("Tokens by day and operation", (day) => day.tokens, formatNumber, "No model was used in this time."),
  );
}

function rowsOf(from, to, days, name, amount) {
  const rows = [];
  for (let at = Date.parse(from); at <= Date.parse(to) && at <= Date.now(); at += DAY_MS) {
    const label = new Date(at).toISOString().slice(0, 10);
    const values = {};
    for (const day of days) {
      if (day.day === label) values[name(day.operation)] = (values[name(day.operation)] ?? 0) + amount(day);
    }
    rows.push({ label, short: label.slice(5), values });
  }
  return rows;
}

/** The share of this month's limit that is spent. */
export const budgetShare = ({ cost_month: cost, budget_month: limit }) => (limit ? cost / limit : 1);

export const budgetBar = (month) => bar(budgetShare(month), kindOf(budgetShare(month)));

/** This month's cost beside its limit. */
export function monthlyCost(month) {
  const { cost_month: cost, budget_month: limit } = month;
  if (limit === null) return h("p", {}, `This month: ${formatCost(cost)}, without a limit.`);
  return h("div", { class: "stack" }, h("p", {}, `This month: ${formatCost(cost)} of ${formatCost(limit)}`), budgetBar(month));
}

const kindOf = (share) => (share >= 1 ? "bad" : share >= WARN ? "lexical" : "good");

export function quotaCard(quotas) {
  return h("section", { class: "card", "aria-label": "Storage" }, h("h2", {}, "What is stored"), quotaTable(quotas));
}

export function quotaTable(quotas) {
  return table(
    "Of what may be stored",
    [
      { label: "What", cell: ([name]) => name },
      { label: "Used", isNumber: true, cell: ([, quota]) => formatNumber(quota.used) },
      { label: "Limit", isNumber: true, cell: ([, quota]) => (quota.limit === null ? "none" : formatNumber(quota.limit)) },
      { label: "Share", cell: ([, quota]) => quota.limit !== null && bar(quota.used / Math.max(1, quota.limit), kindOf(quota.used / Math.max(1, quota.limit))) },
    ],
    Object.entries(quotas),
  );
}
