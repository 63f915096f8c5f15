/* Tenants, for the operator: what each stores, what it may store and spend, and its end. */

import { call, segment } from "./api.js";
import { h } from "./dom.js";
import { budgetBar, budgetShare, formatCost, monthlyCost, quotaTable } from "./insight-cost.js";
import { filterForm, pager, shownOf, table } from "./lists.js";
import { isOn } from "./session.js";
import { announce, badge, confirmDialog, empty, field, formatBytes, formatInstant, formatNumber, load, note, select, submit } from "./ui.js";

const ORDERS = [["id", "by identifier"], ["cost", "by cost"]];
const QUOTAS = [["documents", "Documents"], ["chunks", "Chunks"], ["bytes", "Bytes"], ["sources", "Sources"]];

export function render(content, { argument, fields, signal }) {
  if (argument) showTenant(content, argument, signal);
  else showList(content, fields, signal);
}

const tenantPath = (tenant) => `/v1/tenants/${segment(tenant)}`;

function showList(content, fields, signal) {
  const form = filterForm(
    {
      contains: ["Identifier or name contains", h("input", { type: "search", autocomplete: "off" })],
      order: ["Order", select(ORDERS)],
    },
    fields,
    () => pages.reset(),
  );
  const list = h("div", { class: "card" });
  const pages = pager(
    "tenants",
    list,
    async (cursor) => (await call("GET", "/v1/tenants", { query: { cursor, ...form.filter() }, signal })).data,
    (page, number) => tenantTable(page, number, form.filter().contains),
    { fields, chosen: form.filter },
  );
  content.append(
    h("p", { class: "lead" }, "Customers of this deployment, with what each stores and has cost this month. Its documents are found by its own callers: your key reads none of them."),
    createForm(),
    form.node,
    list,
  );
  pages.show();
}

function createForm() {
  const id = h("input", { autocomplete: "off", required: true });
  const name = h("input", { autocomplete: "off" });
  const place = h("div");
  const create = async () => {
    const { data } = await call("POST", "/v1/tenants", { body: { id: id.value.trim(), name: name.value.trim() } });
    announce("The tenant is created. Create its first key next.");
    location.hash = `#/tenants/${segment(data.id)}`;
  };
  return h(
    "form",
    { class: "card", "aria-label": "New tenant", onsubmit: (event) => (event.preventDefault(), submit(event.target, place, create)) },
    h("div", { class: "row end" },
      h("div", { class: "grow" }, field("Tenant", id, { name: "id" })),
      h("div", { class: "grow" }, field("Name for people", name, { name: "name" })),
      h("button", { type: "submit", class: "primary" }, "Create a tenant")),
    place,
  );
}

function tenantTable(page, number, contains) {
  const { tenants } = page;
  if (!tenants.length) return contains ? empty("No tenants", "No identifier and no name contains it.") : empty("No tenants", "Create the first one above.");
  const total = (name) => tenants.reduce((counted, row) => counted + row[name], 0);
  const sum = (name) => formatNumber(total(name));
  return table(
    `${shownOf(tenants, "tenant", page, number)}, with ${sum("documents")} documents, ${sum("chunks")} chunks and ${formatBytes(total("bytes"))}; cost this month: ${formatCost(total("cost_month"))}`,
    [
      { label: "Tenant", sortBy: (row) => row.id, cell: (row) => [h("a", { href: `#/tenants/${segment(row.id)}` }, row.id), row.name !== row.id && h("div", { class: "muted small" }, row.name)] },
      { label: "Documents", cell: (row) => formatNumber(row.documents), isNumber: true, sortBy: (row) => row.documents },
      { label: "Chunks", cell: (row) => formatNumber(row.chunks), isNumber: true, sortBy: (row) => row.chunks },
      { label: "Size", cell: (row) => formatBytes(row.bytes), isNumber: true, sortBy: (row) => row.bytes },
      { label: "Cost", cell: (row) => formatCost(row.cost_month), isNumber: true, sortBy: (row) => row.cost_month },
      { label: "Of its limit", isNumber: true, cell: (row) => (row.budget_month === null ? none() : [formatCost(row.budget_month), budgetBar(row)]), sortBy: (row) => (row.budget_month === null ? null : budgetShare(row)) },
      { label: "Created", cell: (row) => formatInstant(row.created_at), sortBy: (row) => row.created_at },
      { label: "State", cell: (row) => (row.is_being_deleted ? badge("being deleted", "warn") : badge("active", "good")) },
    ],
    tenants,
  );
}

const none = () => h("span", { class: "muted" }, "none");

function showTenant(content, id, signal) {
  const place = h("div", { class: "stack" });
  content.append(h("p", {}, h("a", { href: "#/tenants" }, "All tenants")), place);
  const get = async (path) => (await call("GET", path, { signal })).data;
  const show = () =>
    load(place, async () => {
      const tenant = await get(tenantPath(id));
      if (tenant.is_being_deleted) return overview(tenant, show);
      if (!isOn("budgets")) return [overview(tenant, show), amounts(tenant)];
      const [quotas, budget] = await Promise.all([get(`${tenantPath(id)}/quotas`), get(`${tenantPath(id)}/budget`)]);
      return [overview(tenant, show), h("div", { class: "columns" }, amounts(tenant), limitForm(id, quotas, budget, show))];
    });
  show();
}

function overview(tenant, reload) {
  const row = (label, value) => [h("dt", {}, label), h("dd", {}, value)];
  return h(
    "section",
    { class: "card", "aria-label": "Tenant" },
    h("div", { class: "row spread" },
      h("h2", {}, tenant.name),
      !tenant.is_being_deleted && h("div", { class: "row" },
        isOn("keys") && h("a", { class: "button", href: `#/keys?tenant=${segment(tenant.id)}` }, "Keys"),
        h("button", { type: "button", onclick: () => clearCache(tenant, reload) }, "Drop cached answers"),
        h("button", { type: "button", class: "danger", onclick: () => remove(tenant) }, "Delete"))),
    tenant.is_being_deleted && note("warn", "The tenant is being deleted: its keys are refused, and a worker removes what is left."),
    h(
      "dl",
      { class: "facts" },
      row("Tenant", h("code", {}, tenant.id)),
      row("Created", formatInstant(tenant.created_at)),
      row("Keys that work", formatNumber(tenant.keys)),
      row("Groups", formatNumber(tenant.groups)),
      row("Languages", tenant.languages.join(", ") || none()),
      row("Revision", formatNumber(tenant.revision)),
      row("Cached answers", tenant.cache_entries === null ? "unknown: Redis does not answer" : formatNumber(tenant.cache_entries)),
    ),
  );
}

function amounts(tenant) {
  return h(
    "section",
    { class: "card", "aria-label": "Stored and spent" },
    h("h2", {}, "Stored and spent"),
    quotaTable(tenant.quotas),
    monthlyCost(tenant),
  );
}

/** quotas, budget: the tenant's own; those of all tenants hold where a field is empty. */
function limitForm(id, quotas, budget, reload) {
  const number = (value, step) => h("input", { type: "number", min: "0", step, inputmode: "decimal", value: value ?? "" });
  const controls = Object.fromEntries(QUOTAS.map(([name]) => [name, number(quotas[name], "1")]));
  const cost = number(budget.budget_month, "any");
  const valueOf = (control) => (control.value === "" ? null : Number(control.value));
  const place = h("div");
  const save = async () => {
    const body = Object.fromEntries(QUOTAS.map(([name]) => [name, valueOf(controls[name])]));
    await call("PUT", `${tenantPath(id)}/quotas`, { body });
    await call("PUT", `${tenantPath(id)}/budget`, { body: { budget_month: valueOf(cost) } });
    announce("The limits hold from the next write on");
    await reload();
  };
  return h(
    "form",
    { class: "card", "aria-label": "Limits", onsubmit: (event) => (event.preventDefault(), submit(event.target, place, save)) },
    h("h2", {}, "Limits of this tenant"),
    h("p", { class: "muted small" }, "An empty field is the limit of all tenants, which the settings of the gateway name. What is stored beyond a limit stays; new writes are refused."),
    h("div", { class: "grid" },
      QUOTAS.map(([name, label]) => field(label, controls[name], { name })),
      field("Cost of a month", cost, { name: "budget_month" })),
    place,
    h("div", {}, h("button", { type: "submit", class: "primary" }, "Save")),
  );
}

function clearCache(tenant, reload) {
  confirmDialog({
    title: "Drop all cached answers?",
    text: `Every answer to ${tenant.id} is computed again at its next request, so searches take longer for a while.`,
    action: "Drop them",
    isDanger: false,
    run: async () => {
      await call("DELETE", `${tenantPath(tenant.id)}/cache`);
      announce("The cached answers are dropped in every gateway");
      reload();
    },
  });
}

function remove(tenant) {
  confirmDialog({
    title: `Delete ${tenant.id}?`,
    text: `Its keys are refused at once, and ${formatNumber(tenant.documents)} documents are removed with all that belongs to them. This can't be undone.`,
    action: "Delete the tenant",
    typed: tenant.id,
    run: async () => {
      await call("DELETE", tenantPath(tenant.id));
      announce("The tenant is closed. A worker removes its data.");
      location.hash = "#/tenants";
    },
  });
}
