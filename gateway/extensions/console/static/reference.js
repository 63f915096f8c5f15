/* The reference of the API: what `/openapi.json` says, for people. It needs no key. */

import { call } from "./api.js";
import { fill, h } from "./dom.js";
import { table } from "./lists.js";
import { isOn } from "./session.js";
import { badge, copyButton, empty, field, load } from "./ui.js";

const DEPTH_MAX = 4; // of fields within fields
const ANY = 2 ** 31 - 1; // no limit of the API, but of the database's numbers
const METHODS = { get: "good", delete: "bad", patch: "warn", put: "warn" };

const content = h("main", { id: "content", tabindex: "-1" });
const groups = h("ul");

function start() {
  const icon = new URL("./icon.svg", import.meta.url).pathname;
  fill(
    document.body,
    h(
      "div",
      { class: "frame" },
      h(
        "header",
        { class: "side" },
        h("div", { class: "brand" }, h("img", { src: icon, alt: "" }), "Nearhit API"),
        h("nav", { "aria-label": "Groups of calls" }, groups),
      ),
      content,
    ),
    h("div", { class: "status", role: "status" }),
  );
  if (!isOn("openapi")) return fill(content, empty("No description", "The extension openapi is off on this gateway."));
  load(content, async () => page((await call("GET", "/openapi.json")).data)).then(openNamed);
  addEventListener("hashchange", openNamed);
}

function page(api) {
  const calls = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => callOf(api, method, path, operation)),
  );
  const sections = Map.groupBy
    ? Map.groupBy(calls, (each) => each.group)
    : calls.reduce((all, each) => all.set(each.group, [...(all.get(each.group) ?? []), each]), new Map());
  fill(groups, [...sections.keys()].map((group) => h("li", {}, h("a", { href: `#group-${group}` }, group))));
  const none = h("div", { hidden: true }, empty("No call", "No method, path or summary has these words."));
  const search = h("input", { type: "search", autocomplete: "off", placeholder: "documents, PUT, webhook …" });
  const narrow = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const each of calls) each.element.hidden = !words.every((word) => each.text.includes(word));
    for (const section of content.querySelectorAll("section")) section.hidden = !section.querySelector("details:not([hidden])");
    none.hidden = calls.some((each) => !each.element.hidden);
  };
  search.addEventListener("input", narrow);
  return [
    h("h1", {}, "API reference"),
    h("p", { class: "lead" }, `Version ${api.info.version}, ${calls.length} calls. A call that needs a key takes it as `, h("code", {}, "Authorization: Bearer KEY"), ". The machine's copy of this page is ", h("a", { href: "/openapi.json" }, "/openapi.json"), "."),
    h("div", { role: "search" }, field("Find a call", search)),
    none,
    [...sections].map(([group, members]) =>
      h("section", {}, h("h2", { id: `group-${group}` }, group), members.map((each) => each.element)),
    ),
  ];
}

/** One call; its details are made when they are opened first. */
function callOf(api, method, path, operation) {
  const place = h("div", { class: "stack" });
  const element = h(
    "details",
    { class: "card", id: operation.operationId, ontoggle: () => element.open && !place.childNodes.length && fill(place, details(api, method, path, operation)) },
    h("summary", {}, badge(method.toUpperCase(), METHODS[method]), " ", h("code", {}, path), " ", h("span", { class: "muted" }, operation.summary)),
    place,
  );
  const text = `${method} ${path} ${operation.summary} ${operation.operationId}`.toLowerCase();
  return { group: operation.tags[0], element, text };
}

function details(api, method, path, operation) {
  const [type, body] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const answers = Object.entries(operation.responses);
  const example = body?.example ?? body?.schema?.examples?.[0] ?? resolved(api, body?.schema ?? {}).examples?.[0];
  const curl = curlLine(method, path, operation, type, example);
  return [
    operation.description && h("p", {}, prose(operation.description)),
    h("p", { class: "muted small" }, operation.security.length ? "Needs a key or a token." : "Needs no key.", ` Link: #${operation.operationId}`),
    h("div", { class: "row end" }, copyButton(() => curl, "Copy curl")),
    h("pre", { class: "snippet", tabindex: "0", "aria-label": "curl" }, curl),
    operation.parameters?.length > 0 && fieldTable("Parameters", operation.parameters.map((each) => ({ ...row(api, `${each.name} (${each.in})`, each.schema), isRequired: each.required, description: each.description }))),
    body && fieldTable(`Body: ${type}`, rows(api, body.schema, "", 0)),
    answers.filter(([status]) => status < "400").map(([status, answer]) => answerTable(api, status, answer)),
    h("p", { class: "small" }, "Problems: ", answers.filter(([status]) => status >= "400").map(([status, answer], index) => [index > 0 && ", ", h("span", { title: Object.values(answer.content ?? {})[0]?.example?.detail }, `${status} ${answer.description}`)])),
  ];
}

function answerTable(api, status, answer) {
  const [type, content] = Object.entries(answer.content ?? {})[0] ?? ["no body"];
  const found = content?.schema ? rows(api, content.schema, "", 0) : [];
  const headers = Object.entries(answer.headers ?? {}).map(([name, header]) => ({ ...row(api, `${name} (header)`, header.schema), description: header.description }));
  return fieldTable(`Answer ${status}: ${type}`, [...headers, ...found]);
}

function fieldTable(caption, found) {
  if (!found.length) return h("p", {}, caption);
  return table(
    caption,
    [
      { label: "Name", cell: (each) => [h("code", {}, each.name), each.isRequired && h("span", { class: "muted small" }, " required")] },
      { label: "Type", cell: (each) => h("span", { class: "small" }, each.type) },
      { label: "What", cell: (each) => h("div", {}, prose(each.description), each.limits && h("div", { class: "muted small" }, each.limits)) },
    ],
    found,
  );
}

/** The fields of an object, those within them after it: `filter.sources`, `hits[].text`. */
function rows(api, schema, prefix, depth) {
  const { properties = {}, required = [] } = resolved(api, schema);
  return Object.entries(properties).flatMap(([name, value]) => {
    const inner = resolved(api, value);
    const isList = inner.type === "array";
    const own = { ...row(api, prefix + name, value), isRequired: required.includes(name) };
    const within = depth < DEPTH_MAX ? rows(api, isList ? (inner.items ?? {}) : inner, `${prefix}${name}${isList ? "[]" : ""}.`, depth + 1) : [];
    return [own, ...within];
  });
}

function row(api, name, schema) {
  const inner = resolved(api, schema);
  return { name, type: typeOf(api, schema), description: schema.description ?? inner.description, limits: limitsOf(schema, inner) };
}

/** The schema that a reference names, and of alternatives the only one besides null. */
function resolved(api, schema) {
  if (schema.$ref) return resolved(api, api.components.schemas[schema.$ref.split("/").pop()] ?? {});
  const others = (schema.anyOf ?? []).filter((each) => each.type !== "null");
  return others.length === 1 ? resolved(api, others[0]) : schema;
}

function typeOf(api, schema) {
  const inner = resolved(api, schema);
  const others = (inner.anyOf ?? inner.oneOf ?? []).filter((each) => each.type !== "null");
  if (others.length) return [...new Set(others.map((each) => typeOf(api, each)))].join(" or ");
  if (inner.enum) return inner.enum.map((each) => JSON.stringify(each)).join(" or ");
  if (inner.const !== undefined) return JSON.stringify(inner.const);
  if (inner.type === "array") return `list of ${inner.items ? typeOf(api, inner.items) : "anything"}`;
  return inner.format ?? inner.type ?? "anything";
}

/** What is between back quotes is code. */
const prose = (text = "") => text.split("`").map((part, index) => (index % 2 ? h("code", {}, part) : part));

function limitsOf(schema, inner) {
  const has = (name) => inner[name] !== undefined;
  const told = [
    has("minimum") && `at least ${inner.minimum}`,
    has("maximum") && inner.maximum < ANY && `at most ${inner.maximum}`,
    has("maxLength") && `up to ${inner.maxLength} characters`,
    has("maxItems") && `up to ${inner.maxItems} items`,
    schema.default !== undefined && schema.default !== null && typeof schema.default !== "object" && `default ${JSON.stringify(schema.default)}`,
  ];
  return told.filter(Boolean).join(", ");
}

function curlLine(method, path, operation, type, example) {
  const parts = [`curl -X ${method.toUpperCase()} "$NEARHIT_URL${path}"`];
  if (operation.security.length) parts.push('-H "Authorization: Bearer $NEARHIT_KEY"');
  if (type && type !== "application/json") parts.push(`-H "Content-Type: ${type}"`);
  if (example !== undefined) parts.push(`-d '${(typeof example === "string" ? example : JSON.stringify(example)).replaceAll("'", "'\\''")}'`);
  return parts.join(" \\\n  ");
}

/** Open the call that the address names. */
function openNamed() {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (named?.matches("details")) named.open = true;
  named?.scrollIntoView();
}

start();
