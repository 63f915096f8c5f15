/* Whether the tenant receives other tenants' public documents; its admin decides. */

import { call } from "./api.js";
import { h } from "./dom.js";
import { refreshCaller } from "./session.js";
import { announce, badge, confirmDialog, load } from "./ui.js";

const PATH = "/v1/public-documents";

export function publicDocuments(signal) {
  const state = h("div", { class: "stack" });
  const show = () => load(state, async () => view((await call("GET", PATH, { signal })).data, show));
  show();
  return h(
    "section",
    { class: "card", "aria-label": "Public documents" },
    h("h2", {}, "Public documents of other tenants"),
    h("p", { class: "lead small" }, "Other tenants decide what these documents say, and agents read them. The tenant's own public documents are found in any case."),
    state,
  );
}

function view({ receives, allowed }, show) {
  const label = receives ? "Stop receiving" : "Receive them";
  return [
    h(
      "div",
      { class: "row spread" },
      badge(receives ? "received" : "not received", receives ? "warn" : "good"),
      h("button", { type: "button", disabled: !allowed && !receives, onclick: () => ask(!receives, label, show) }, label),
    ),
    !allowed && h("p", { class: "small muted" }, "This deployment lets no tenant receive them: NEARHIT_PUBLIC_DOCUMENTS."),
  ];
}

function ask(receives, action, show) {
  confirmDialog({
    title: `${action}?`,
    text: receives
      ? "From the next request on, searches of this tenant also find what other tenants have made public. Hits name the other tenant."
      : "From the next request on, searches of this tenant find its own documents alone.",
    action,
    isDanger: receives,
    run: async () => {
      await call("PUT", PATH, { body: { receives } });
      await refreshCaller();
      announce(receives ? "Public documents are received" : "Public documents are no longer received");
      show();
    },
  });
}
