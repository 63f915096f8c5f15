/* What somebody who may read no document yet can do first, in place of an empty page. */

import { h } from "./dom.js";
import { isAdmin, isOn, isWriter } from "./session.js";
import { empty } from "./ui.js";

const STEPS = [
  {
    title: "Bring in documents",
    text: "Upload files or write a document. What you save is found by the next search.",
    link: ["#/documents", "Documents"],
    isFor: isWriter,
  },
  {
    title: "Or let the worker read them",
    text: "Add a folder, a table, a repository or a help centre. The worker reads it on a schedule and embeds only what has changed.",
    link: ["#/sources", "Sources"],
    isFor: () => isAdmin() && isOn("sources"),
  },
  {
    title: "Ask a question",
    text: "Search above as your agents do. Each hit shows its scores, and each answer how long it took and which cache gave it.",
  },
  {
    title: "Connect an agent",
    text: "Create a key or a token for it. After a search, this page has the same request for curl, Python and MCP.",
    link: ["#/keys", "Keys and tokens"],
    isFor: isWriter,
  },
];

export function welcome() {
  if (!isWriter()) return empty("Nothing is shared with you yet", "As soon as somebody shares a document with you, with a group of yours or with the tenant, a search finds it.");
  const steps = STEPS.filter((step) => step.isFor?.() ?? true);
  return h(
    "section",
    { class: "card", "aria-label": "First steps" },
    h("h2", {}, "There is no document that you may read yet"),
    h("ol", { class: "steps" }, steps.map(stepItem)),
  );
}

function stepItem({ title, text, link }) {
  return h("li", {}, h("h3", {}, title), h("p", { class: "muted" }, text), link && h("p", {}, h("a", { href: link[0] }, `Open ${link[1]}`)));
}
