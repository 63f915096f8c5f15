/* A search as a caller would send it: with curl, Python, TypeScript or an agent's MCP call. */

import { fill, h, uniqueId } from "./dom.js";
import { isOn } from "./session.js";
import { copyButton } from "./ui.js";

const SEARCHES = ["/v1/search", "/v1/search/as"]; // whose answers have hits and nothing else

/** Tabs with the request in each form. path: of the call, such as `/v1/search`. */
export function snippets(path, body) {
  const forms = [
    ["curl", curl(path, body)],
    ["Python", python(path, body)],
    ["TypeScript", typescript(path, body)],
    ...(isOn("mcp") && SEARCHES.includes(path) ? [["MCP", mcp(path, body)]] : []),
  ];
  const panelId = uniqueId("snippet");
  const panel = h("div", { role: "tabpanel", id: panelId, class: "stack", tabindex: "0" });
  const tabs = forms.map(([name], index) =>
    h("button", { type: "button", role: "tab", id: uniqueId("tab"), "aria-controls": panelId, onclick: () => choose(index) }, name),
  );
  const choose = (chosen) => {
    tabs.forEach((tab, index) => {
      tab.setAttribute("aria-selected", String(index === chosen));
      tab.tabIndex = index === chosen ? 0 : -1;
    });
    panel.setAttribute("aria-labelledby", tabs[chosen].id);
    fill(panel, h("pre", { class: "snippet" }, forms[chosen][1]), h("div", {}, copyButton(() => forms[chosen][1])));
  };
  const list = h(
    "div",
    {
      class: "row",
      role: "tablist",
      "aria-label": "Forms of the request",
      onkeydown: (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const next = (tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length;
        choose(next);
        tabs[next].focus();
      },
    },
    tabs,
  );
  choose(0);
  return h("details", {}, h("summary", {}, "The request as code"), h("div", { class: "stack" }, list, panel));
}

/** Quote for a POSIX shell: within single quotes nothing has a meaning but the quote itself. */
const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

function curl(path, body) {
  return [
    `curl -s ${quoted(location.origin + path)}`,
    `  -H "Authorization: Bearer $NEARHIT_KEY"`,
    `  -H 'Content-Type: application/json'`,
    `  -d ${quoted(JSON.stringify(body))}`,
  ].join(" \\\n");
}

function python(path, body) {
  return `import json
import os

import httpx2

answer = httpx2.post(
    ${JSON.stringify(location.origin + path)},
    headers={"Authorization": "Bearer " + os.environ["NEARHIT_KEY"]},
    json=json.loads(${JSON.stringify(JSON.stringify(body))}),
)
answer.raise_for_status()
${SEARCHES.includes(path) ? 'for hit in answer.json()["hits"]:\n    print(hit["score"], hit["document_id"], hit["title"])' : "print(answer.json())"}`;
}

function typescript(path, body) {
  return `const response = await fetch(${JSON.stringify(location.origin + path)}, {
  method: "POST",
  headers: { Authorization: \`Bearer \${process.env.NEARHIT_KEY}\`, "Content-Type": "application/json" },
  body: JSON.stringify(${JSON.stringify(body)}),
});
if (!response.ok) throw new Error(await response.text());
${SEARCHES.includes(path) ? "const answer: { hits: { score: number; document_id: string; title: string }[] } = await response.json();\nfor (const hit of answer.hits) console.log(hit.score, hit.document_id, hit.title);" : "console.log(await response.json());"}`;
}

function mcp(path, body) {
  const search = body.search ?? body;
  const taken = { query: search.query };
  if (search.top_k !== undefined) taken.top_k = search.top_k;
  if (search.filter?.sources) taken.sources = search.filter.sources;
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "search", arguments: taken } };
  const known = new Set(["query", "top_k", "filter", "explain"]);
  const others = Object.keys(search).filter((name) => !known.has(name));
  const left = [
    ...(body.search ? ["the other caller: an agent uses its own token"] : []),
    ...others,
    ...Object.keys(search.filter ?? {}).filter((name) => name !== "sources").map((name) => `filter.${name}`),
  ];
  const remark = left.length ? `// The tool has no argument for: ${left.join(", ")}\n` : "";
  return `${remark}// POST ${location.origin}/mcp\n${JSON.stringify(call, null, 2)}`;
}
