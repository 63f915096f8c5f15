/* Keys and tokens: create (shown once), rotate, revoke, and when each was last used. The operator
 * names the tenant whose keys it works with. */

import { call, segment } from "./api.js";
import { h } from "./dom.js";
import { chooser, filterForm, pager, rowByRow, shownOf, table } from "./lists.js";
import { currentCaller, isAdmin, isOperator } from "./session.js";
import {
  announce,
  badge,
  checkbox,
  confirmDialog,
  empty,
  field,
  formatInstant,
  listOf,
  openDialog,
  select,
  showSecret,
  submit,
} from "./ui.js";

// A publisher may make documents public, a provisioner manages users and groups by SCIM.
const ROLES = ["reader", "writer", "admin", "publisher", "provisioner"];
const SCOPES = ["private", "shared", "tenant", "public"];
const KEY_DAYS = 90; // until a new key expires, unless another day is chosen

export function render(content, { fields, signal }) {
  const named = isOperator() ? { tenant: fields.get("tenant") } : {};
  if (isOperator()) content.append(tenantForm(fields));
  if (isAdmin() || named.tenant) keyList(content, named, fields, signal).show();
  if (!isOperator()) tokenList(content, fields, signal).show();
}

function tenantForm(fields) {
  const tenant = h("input", { type: "search", autocomplete: "off", required: true });
  const show = () => (location.hash = `#/keys?tenant=${segment(form.filter().tenant)}`);
  const form = filterForm({ tenant: ["Tenant", tenant] }, fields, show, "Show keys");
  return form.node;
}

/** named: {tenant}, whose keys the operator works with; empty for an admin. */
function keyList(content, named, fields, signal) {
  const list = h("div", { class: "stack" });
  const several = chooser((key) => key.id, [
    { label: "Revoke", kind: "danger", isFor: (key) => isLive(key) && !isOwn(key), act: (keys) => revoke(keys, pages) },
  ]);
  const pages = pager(
    "keys",
    list,
    async (cursor) => (await call("GET", "/v1/keys", { query: { cursor, ...named }, signal })).data,
    (page, number) => keyTable(page, number, pages, several),
    { fields },
  );
  content.append(
    h(
      "section",
      { class: "card", "aria-label": "Keys" },
      h("div", { class: "row spread" }, h("h2", {}, "Keys"),
        h("button", { type: "button", class: "primary", onclick: () => createKey(named, pages) }, "Create a key")),
      h("p", { class: "lead small" }, "A key stands for a person or a service until it is revoked or expires."),
      list,
    ),
  );
  return pages;
}

const isOwn = (key) => key.id === currentCaller().key_id;

function keyTable(page, number, pages, several) {
  const { keys } = page;
  if (!keys.length) return empty("No keys", "Create one for a person or a service.");
  return table(
    `${shownOf(keys, "key", page, number)}, revoked ones included`,
    [
      { label: "Key", cell: (key) => [key.name || h("span", { class: "muted" }, "without a name"), h("div", { class: "muted small" }, key.id)] },
      { label: "Subject", cell: (key) => key.subject, sortBy: (key) => key.subject },
      { label: "Groups", cell: (key) => key.groups.join(", ") || h("span", { class: "muted" }, "none") },
      { label: "Roles", cell: (key) => key.roles.join(", ") },
      { label: "Created", sortBy: (key) => key.created_at, cell: (key) => [formatInstant(key.created_at), h("div", { class: "muted small" }, "last used: ", formatInstant(key.last_used_at))] },
      { label: "State", cell: keyState },
      { label: "", cell: (key) => (isLive(key) ? keyActions(key, pages) : "") },
    ],
    keys,
    several,
  );
}

const isExpired = (key) => key.expires_at && new Date(key.expires_at) <= new Date();
const isLive = (key) => !key.revoked_at && !isExpired(key);

function keyState(key) {
  if (key.revoked_at) return badge("revoked", "bad");
  if (isExpired(key)) return badge("expired", "warn");
  if (key.expires_at) return ["until ", formatInstant(key.expires_at)];
  return badge("valid", "good");
}

function keyActions(key, pages) {
  return h(
    "span",
    { class: "row" },
    h("button", { type: "button", "aria-label": `Rotate ${key.id}`, onclick: () => rotate(key, pages) }, "Rotate"),
    h("button", { type: "button", class: "danger", "aria-label": `Revoke ${key.id}`, onclick: () => revoke([key], pages) }, "Revoke"),
  );
}

function rotate(key, pages) {
  const overlap = select([["0", "at once"], ["3600", "in an hour"], ["86400", "in a day"], ["604800", "in a week"]], "86400");
  openDialog(`Rotate the key of ${key.subject}`, (close) => {
    const place = h("div");
    return h(
      "form",
      {
        onsubmit: (event) => {
          event.preventDefault();
          submit(event.target, place, async () => {
            const body = { overlap_s: Number(overlap.value) };
            const { data } = await call("POST", `/v1/keys/${segment(key.id)}/rotate`, { body });
            close();
            pages.reset();
            showSecret("The new key", data.key, "It is shown this once. Store it before you close this.");
          });
        },
      },
      field("The old key ends", overlap),
      place,
      h("div", { class: "row" }, h("button", { type: "submit", class: "primary" }, "Make the new key"), h("button", { type: "button", onclick: close }, "Cancel")),
    );
  });
}

function revoke(keys, pages) {
  const [key] = keys;
  const revokeAll = rowByRow(keys, (each) => each.id, (each) => call("DELETE", `/v1/keys/${segment(each.id)}`), pages.reset);
  confirmDialog({
    title: keys.length === 1 ? `Revoke the key of ${key.subject}?` : `Revoke ${keys.length} keys?`,
    text: `${isOwn(key) ? "You are logged in with this key. " : ""}${keys.length === 1 ? "It and its tokens are" : "They and their tokens are"} refused from the next request on.`,
    action: "Revoke",
    run: async () => {
      await revokeAll();
      announce(keys.length === 1 ? "The key is revoked" : `${keys.length} keys are revoked`);
    },
  });
}

const dayAfter = (days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const boxes = (names, checked) => names.map((name) => [name, checkbox(name, { checked: checked.includes(name) })]);
const chosen = (list) => list.filter(([, box]) => box.input.checked).map(([name]) => name);
const choice = (label, list) => h("fieldset", {}, h("legend", {}, label), h("div", { class: "row" }, list.map(([, box]) => box.node)));

function createKey(named, pages) {
  const subject = h("input", { autocomplete: "off", required: true });
  const name = h("input", { autocomplete: "off" });
  const groups = h("input", { autocomplete: "off" });
  const expires = h("input", { type: "date", value: dayAfter(KEY_DAYS) });
  const roles = boxes(ROLES, ["reader"]);
  const scopes = boxes(SCOPES, SCOPES);
  openDialog("Create a key", (close) => {
    const place = h("div");
    const create = async () => {
      const body = { subject: subject.value.trim(), name: name.value, groups: listOf(groups.value), roles: chosen(roles), scopes: chosen(scopes), ...named };
      if (expires.value) body.expires_at = `${expires.value}T23:59:59Z`;
      const { data } = await call("POST", "/v1/keys", { body });
      close();
      pages.reset();
      showSecret("The key", data.key, `It is shown this once. Give it to ${body.subject} in private.`);
    };
    return h(
      "form",
      { onsubmit: (event) => (event.preventDefault(), submit(event.target, place, create)) },
      field("Subject", subject, { name: "subject", hint: "whom it stands for, such as ana" }),
      field("Name", name, { name: "name", hint: "a label for you" }),
      field("Groups", groups, { name: "groups", hint: "besides memberships; with commas" }),
      choice("Roles", roles),
      choice("Scopes", scopes),
      field("Expires at the end of", expires, { name: "expires_at", hint: "in UTC; empty: never" }),
      place,
      h("div", { class: "row" }, h("button", { type: "submit", class: "primary" }, "Create"), h("button", { type: "button", onclick: close }, "Cancel")),
    );
  });
}

function tokenList(content, fields, signal) {
  const list = h("div", { class: "stack" });
  const pages = pager(
    "tokens",
    list,
    async (cursor) => (await call("GET", "/v1/tokens", { query: { cursor }, signal })).data,
    (page, number) => tokenTable(page, number, pages),
    { fields, at: "tokens" },
  );
  content.append(
    h(
      "section",
      { class: "card", "aria-label": "Tokens" },
      h("div", { class: "row spread" }, h("h2", {}, "Tokens"),
        h("button", { type: "button", class: "primary", onclick: () => createToken(pages) }, "Create a token")),
      h("p", { class: "lead small" }, "A token is for an agent: it does less than the credential that makes it, and expires."),
      list,
    ),
  );
  return pages;
}

function tokenTable(page, number, pages) {
  const { tokens } = page;
  if (!tokens.length) return empty("No tokens", "Create one for an agent, with only the rights that it needs.");
  return table(
    shownOf(tokens, "token", page, number),
    [
      { label: "Token", cell: (token) => [token.name || h("span", { class: "muted" }, "without a name"), h("div", { class: "muted small" }, token.id)] },
      { label: "Subject", cell: (token) => token.subject },
      { label: "Roles", cell: (token) => token.roles.join(", ") },
      { label: "Scopes", cell: (token) => token.scopes.join(", ") },
      { label: "Last used", cell: (token) => formatInstant(token.last_used_at), sortBy: (token) => token.last_used_at },
      { label: "Expires", cell: (token) => formatInstant(token.expires_at), sortBy: (token) => token.expires_at },
      { label: "", cell: (token) => h("button", { type: "button", class: "danger", "aria-label": `Revoke ${token.id}`, onclick: () => revokeToken(token, pages) }, "Revoke") },
    ],
    tokens,
  );
}

function revokeToken(token, pages) {
  const isOwn = token.subject === currentCaller().subject;
  confirmDialog({
    title: "Revoke the token?",
    text: "It and the tokens made with it are refused from the next request on.",
    action: "Revoke",
    run: async () => {
      await call("DELETE", `/v1/${isOwn ? "tokens" : "keys"}/${segment(token.id)}`);
      announce("The token is revoked");
      pages.reset();
    },
  });
}

function createToken(pages) {
  const caller = currentCaller();
  const name = h("input", { autocomplete: "off" });
  const readOnly = checkbox("read only", { checked: true });
  const scopes = boxes(caller.scopes, caller.scopes);
  const groups = boxes(caller.groups, caller.groups);
  const sources = h("input", { autocomplete: "off" });
  const lifetime = select([["3600", "in an hour"], ["86400", "in a day"], ["604800", "in a week"], ["2592000", "in 30 days"]], "3600");
  openDialog("Create a token", (close) => {
    const place = h("div");
    const create = async () => {
      const body = { name: name.value, scopes: chosen(scopes), expires_in_s: Number(lifetime.value) };
      if (readOnly.input.checked) body.read_only = true;
      if (chosen(groups).length < groups.length) body.groups = chosen(groups);
      if (listOf(sources.value).length) body.filter = { sources: listOf(sources.value) };
      const { data } = await call("POST", "/v1/tokens", { body });
      close();
      pages.reset();
      showSecret("The token", data.token, "It is shown this once. Put it into the agent's settings.");
    };
    return h(
      "form",
      { onsubmit: (event) => (event.preventDefault(), submit(event.target, place, create)) },
      field("Name", name, { name: "name", hint: "a label for you" }),
      readOnly.node,
      choice("Scopes", scopes),
      groups.length > 0 && choice("Groups", groups),
      field("Only these sources", sources, { name: "filter", hint: "with commas; empty: all" }),
      field("Expires", lifetime, { name: "expires_in_s" }),
      place,
      h("div", { class: "row" }, h("button", { type: "submit", class: "primary" }, "Create"), h("button", { type: "button", onclick: close }, "Cancel")),
    );
  });
}
