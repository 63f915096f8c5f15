/* The frame: log-in, navigation, and the page that the address names. */

import { arrive, stay } from "./address.js";
import * as audit from "./audit.js";
import * as documents from "./documents.js";
import { fill, h } from "./dom.js";
import * as evaluation from "./evaluation.js";
import * as faqs from "./faqs.js";
import * as groups from "./groups.js";
import * as insight from "./insight.js";
import * as jobs from "./jobs.js";
import * as keys from "./keys.js";
import * as operation from "./operation.js";
import * as questions from "./questions.js";
import * as search from "./search.js";
import { currentCaller, isAdmin, isOn, isOperator, isWriter, logOut, showExpired, showLogin, watch } from "./session.js";
import * as sources from "./sources.js";
import * as tenants from "./tenants.js";
import { BACK, announce, hasSecret, note, problemNote } from "./ui.js";
import { askBeforeLeaving, hasUnsaved } from "./unsaved.js";

const THEME = "nearhit-theme"; // the only thing that the console stores
const RETRY_MS = 2000;

const PAGES = [
  { name: "tenants", title: "Tenants", page: tenants, isFor: () => isOperator() && isOn("tenants") },
  { name: "operation", title: "Operation", page: operation, isFor: isOperator },
  { name: "search", title: "Search", page: search, isFor: () => !isOperator() },
  { name: "documents", title: "Documents", page: documents, isFor: () => !isOperator() },
  { name: "faqs", title: "FAQs", page: faqs, isFor: () => isAdmin() && isOn("faqs") },
  { name: "questions", title: "Questions", page: questions, isFor: () => isAdmin() && isOn("curation") },
  { name: "sources", title: isOn("sources") ? "Sources" : "Public documents", page: sources, isFor: () => isAdmin() && (isOn("sources") || isOn("tenants")) },
  { name: "jobs", title: "Jobs", page: jobs, isFor: () => isWriter() && isOn("jobs") },
  { name: "insight", title: "Insight", page: insight, isFor: () => isAdmin() && isOn("activity") },
  { name: "evaluation", title: "Evaluation", page: evaluation, isFor: () => !isOperator() && isOn("evaluation") },
  { name: "keys", title: "Keys and tokens", page: keys, isFor: () => isOn("keys") },
  { name: "groups", title: "Groups", page: groups, isFor: () => isAdmin() && isOn("keys") },
  { name: "audit", title: "Audit log", page: audit, isFor: () => isAdmin() && isOn("activity") },
];

let isDown = false;
let ending = new AbortController();

function start() {
  applyTheme(storedTheme());
  watch((problem) => showExpired(problem, enter), noteReachable);
  showLogin(document.body, enter);
  addEventListener("hashchange", show);
  addEventListener("keydown", goToSearch);
  addEventListener("beforeunload", (event) => (hasUnsaved() || hasSecret()) && event.preventDefault());
}

function enter() {
  const caller = currentCaller();
  for (const dialog of document.querySelectorAll("dialog")) dialog.remove();
  fill(
    document.body,
    h("a", { class: "skip", href: "#content", onclick: skip }, "Skip to the content"),
    h(
      "div",
      { class: "frame" },
      h(
        "header",
        { class: "side" },
        h("div", { class: "brand" }, h("img", { src: icon(), alt: "" }), "Nearhit"),
        h("nav", { "aria-label": "Console" }, h("ul", {}, visiblePages().map(navigationItem))),
        h(
          "div",
          { class: "who" },
          h("dl", {}, callerFacts(caller)),
          h(
            "div",
            { class: "row" },
            h("button", { type: "button", onclick: switchTheme }, "Light or dark"),
            h("button", { type: "button", onclick: logOut }, "Log out"),
          ),
        ),
      ),
      h("main", { id: "content", tabindex: "-1" }),
    ),
    h("div", { class: "status", role: "status" }),
  );
  show();
}

const visiblePages = () => PAGES.filter((entry) => entry.isFor());

function navigationItem(entry) {
  return h("li", {}, h("a", { href: `#/${entry.name}`, "data-page": entry.name }, entry.title));
}

function callerFacts(caller) {
  if (caller.is_operator) return [h("dt", {}, "You are"), h("dd", {}, "the operator")];
  const role = isAdmin() ? "admin" : caller.roles.join(", ");
  return [
    [h("dt", {}, "Tenant"), h("dd", {}, caller.tenant)],
    [h("dt", {}, "You are"), h("dd", {}, caller.subject)],
    [h("dt", {}, "Role"), h("dd", {}, role)],
  ];
}

/** Show the page that the address names. */
function show() {
  const content = document.querySelector("#content");
  if (!content || !currentCaller()) return;
  if (hasUnsaved()) {
    const target = location.hash;
    if (stay()) askBeforeLeaving(() => (location.hash = target));
    return;
  }
  // The dialog belongs to the page that one leaves, by "Back" on a phone.
  for (const dialog of document.querySelectorAll("dialog:not([data-secret], [data-leaving], [data-expired])")) dialog.close();
  ending.abort();
  ending = new AbortController();
  const { name, argument, fields } = arrive();
  const entry = visiblePages().find((each) => each.name === name) ?? visiblePages()[0];
  for (const link of document.querySelectorAll("nav a[data-page]")) {
    if (link.dataset.page === entry.name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${entry.title} · Nearhit console`;
  const heading = h("h1", { tabindex: "-1" }, entry.title);
  fill(content, heading);
  try {
    entry.page.render(content, { argument, fields, signal: ending.signal });
  } catch (error) {
    content.append(problemNote({ title: "The page failed", message: String(error) }, show));
  }
  heading.focus({ preventScroll: true });
  document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" }); // a phone has them in one line
  scrollTo(0, 0);
}

/** By `/` outside of a field, and by Ctrl or Command with K. */
function goToSearch(event) {
  const isTyping = event.target.matches("input, textarea, select");
  const isWanted = event.key === "k" ? event.ctrlKey || event.metaKey : event.key === "/" && !isTyping;
  if (!isWanted || !document.querySelector("a[data-page=search]") || document.querySelector("dialog")) return;
  event.preventDefault();
  const focus = () => document.querySelector("input[name=query]")?.select();
  if (document.querySelector("input[name=query]")) focus();
  else {
    addEventListener("hashchange", focus, { once: true }); // after `show`
    location.hash = "#/search";
  }
}

function skip(event) {
  event.preventDefault();
  document.querySelector("#content").focus();
}

/** While the gateway is away, ask it until it is back; the page stays as it is. */
async function noteReachable(isReachable) {
  if (isReachable || isDown) return;
  isDown = true;
  const message = note("bad", h("strong", {}, "The gateway does not answer"), "Trying again …");
  document.querySelector(".status")?.append(message);
  while (isDown) {
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    try {
      await fetch("/healthz", { cache: "no-store", credentials: "omit" });
      isDown = false;
    } catch {
      // still away
    }
  }
  message.remove();
  announce("The gateway is back. What was to be saved, save again.");
  document.dispatchEvent(new Event(BACK));
}

function storedTheme() {
  try {
    return localStorage.getItem(THEME) ?? "";
  } catch {
    return ""; // the browser allows no storage
  }
}

function applyTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
}

function switchTheme() {
  const shown =
    document.documentElement.dataset.theme ||
    (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const other = shown === "dark" ? "light" : "dark";
  applyTheme(other);
  try {
    localStorage.setItem(THEME, other);
  } catch {
    // the choice holds for this page alone
  }
}

const icon = () => new URL("./icon.svg", import.meta.url).pathname;

start();
