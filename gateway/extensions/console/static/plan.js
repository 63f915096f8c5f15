/* A plan: several searches in one call, of which later ones use what earlier ones found. */

import { fieldsOf, move } from "./address.js";
import { call } from "./api.js";
import { hitsView, madeView } from "./answer.js";
import { fill, h } from "./dom.js";
import { badge, countOf, empty, field, load, note, submit } from "./ui.js";

const EXAMPLE = {
  steps: [
    { name: "rules", query: "annual leave", top_k: 3, explain: true },
    { name: "elsewhere", query: "days of leave", filter: { exclude_documents: { from: "rules.document_ids" } }, explain: true },
    { name: "both", operation: "union", of: ["rules", "elsewhere"] },
  ],
};
const asText = (plan) => JSON.stringify(plan, null, 2);

/** The form and its answer; fields: of the address. */
export function planPage(fields, signal) {
  const plan = h("textarea", { class: "code", rows: "14", required: true, spellcheck: "false" });
  const place = h("div");
  const results = h("div", { class: "stack", "aria-live": "polite" });
  const ask = async () => {
    const request = { title: "The plan", path: "/v1/search/plan", body: readPlan(plan.value) };
    move(address.read());
    fill(results, planView(await call("POST", request.path, { body: request.body, signal }), request));
  };
  const run = () => submit(form, place, ask, { isRead: true });
  const form = h(
    "form",
    { class: "card", "aria-label": "Plan", onsubmit: (event) => (event.preventDefault(), run()) },
    field("Plan", plan, { name: "plan", hint: "the body of POST /v1/search/plan: steps, or the name of a strategy with its parameters" }),
    place,
    h("div", { class: "row" }, h("button", { type: "submit", class: "primary" }, "Run"), strategyButtons(plan, signal)),
  );
  const address = fieldsOf(form);
  plan.value = asText(EXAMPLE);
  address.write(fields);
  if (fields.has("plan")) run();
  else fill(results, empty("Run the plan", "The hits of each step appear here."));
  return [form, results];
}

/** Each fills in the strategy's name and its parameters, with their defaults. */
function strategyButtons(plan, signal) {
  const place = h("div", { class: "row" });
  const fillIn = ({ name, parameters }) => {
    const values = Object.entries(parameters).map(([each, parameter]) => [each, parameter.default ?? parameter.description]);
    plan.value = asText({ strategy: name, parameters: Object.fromEntries(values) });
  };
  load(place, async () => {
    const { strategies } = (await call("GET", "/v1/strategies", { signal })).data;
    return strategies.length > 0 && [h("span", { class: "muted" }, "or a strategy:"), strategies.map((each) => h("button", { type: "button", title: each.description, onclick: () => fillIn(each) }, each.name))];
  });
  return place;
}

function readPlan(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw Object.assign(new Error(error.message), { title: "Invalid field", errors: [{ field: "plan", detail: "must be JSON" }] });
  }
}

function planView(result, request) {
  const { steps, unfinished } = result.data;
  return [
    h("section", { class: "card", "aria-label": "How it was made" }, madeView(result, request), unfinished.length > 0 && note("warn", `Out of time before: ${unfinished.join(", ")}`)),
    steps.map((step) =>
      h(
        "section",
        { class: "card", "aria-label": step.name },
        h("div", { class: "row" }, h("h2", {}, step.name), badge(countOf(step.answer.hits.length, "hit"), "accent"), step.left_out > 0 && badge(`${step.left_out} left out for lack of tokens`, "warn")),
        Object.entries(step.resolved ?? {}).map(([name, values]) => h("p", { class: "small muted" }, `${name}: ${values.join(", ")}`)),
        hitsView(step.answer, { ...request, title: step.name }),
      ),
    ),
  ];
}
