/* Evaluation: questions whose answers are known, asked with one setting after the other; how good each
 * setting is, and which questions it answers worst. */

import { fieldsOf } from "./address.js";
import { call } from "./api.js";
import { documentLink } from "./documents.js";
import { fill, h } from "./dom.js";
import { table } from "./lists.js";
import { currentCaller } from "./session.js";
import { readSettings } from "./settings.js";
import { announce, badge, bar, copyButton, field, formatNumber, select, submit } from "./ui.js";

const TOGETHER = 32; // questions of one call
const QUESTIONS_MAX = 1_000;
const ATTEMPTS_MAX = 8;
const WORST = 20;
const BUSY = [429, 503];
const DIGITS = 3;
const MEASURES = { recall: "Recall", mrr: "MRR", ndcg: "nDCG" };
const OWN = { name: "as it is", fields: {} };
const EXAMPLE = '{"question": "How many days of leave?", "documents": ["handbook/leave.md"]}\n{"question": "What does ERR_1042 mean?", "passage": "The probe\'s battery"}';

let last = null; // what its caller typed and measured, for who comes back from a search

export function render(content, { signal }) {
  if (last?.caller !== currentCaller()) last = { caller: currentCaller(), typed: {}, outcome: null };
  const kept = last;
  const questions = h("textarea", { class: "code", rows: "8", required: true, spellcheck: "false", placeholder: EXAMPLE });
  const file = h("input", { type: "file", accept: ".jsonl,.ndjson,.json,.txt" });
  const number = h("input", { type: "number", min: "1", max: "200", value: "50" });
  const settings = h("textarea", { class: "code", rows: "3", spellcheck: "false", placeholder: "alpha=0.4\nfusion=rrf rerank=true" });
  const depth = h("input", { type: "number", min: "1", max: "100", value: "10", required: true });
  const place = h("div");
  const results = h("div", { class: "stack", "aria-live": "polite" });
  const show = (outcome) => fill(results, outcome && outcomeView(outcome));

  const make = async () => {
    const { data } = await call("POST", "/v1/evaluation/questions", { body: { number: Number(number.value) }, signal });
    if (!data.questions.length) throw mistake("questions", "none can be made: each takes a Markdown heading that only one section has, and 30 characters below it", "No questions");
    questions.value = data.questions.map((each) => JSON.stringify(each)).join("\n");
    announce(`${data.questions.length} questions, from ${formatNumber(data.documents)} documents`);
  };
  const measure = async () => {
    kept.typed = asked.read();
    const judged = readQuestions(questions.value);
    const chosen = [OWN, ...readSettings(settings.value)];
    const all = judged.length * chosen.length;
    const done = h("progress", { max: all, value: 0, "aria-label": "Answers" });
    const told = h("p", { class: "muted small" }, `0 of ${formatNumber(all)} answers`);
    fill(results, told, done);
    const count = (more) => fill(told, `${formatNumber((done.value += more))} of ${formatNumber(all)} answers`);
    try {
      const ask = (setting) => answersTo(judged, setting, Number(depth.value), count, signal);
      const answers = [];
      for (const setting of chosen) answers.push(await ask(setting));
      const { data } = await call("POST", "/v1/evaluation/comparison", { body: { settings: answers.map(valuesOf) }, signal });
      kept.outcome = { judged, chosen, answers, means: data.settings, depth: Number(depth.value) };
    } finally {
      show(kept.outcome);
    }
  };

  const form = h(
    "form",
    { class: "card", "aria-label": "What to measure", onsubmit: (event) => (event.preventDefault(), submit(form, place, measure, { isRead: true })) },
    field("Questions", questions, { name: "questions", hint: "one a line, as JSON, with the documents or the passage that answers it; at most 1,000" }),
    h(
      "div",
      { class: "row end" },
      field("From a file", file),
      field("How many", number),
      h("button", { type: "button", onclick: () => submit(form, place, make) }, "Make from my documents"),
      copyButton(() => questions.value, "Copy the questions"),
    ),
    h("p", { class: "muted small" }, "Questions are made of the headings of up to 100 documents that you may read, and replace those above. They are easier than what people ask."),
    h(
      "div",
      { class: "row end" },
      h("div", { class: "grow" }, field("Compare with", settings, { name: "settings", hint: "a setting a line: fields of the search beside its defaults; at most 4" })),
      field("Hits of each answer", depth, { name: "top_k", hint: "1 to 100" }),
    ),
    place,
    h("div", {}, h("button", { type: "submit", class: "primary" }, "Measure")),
  );
  file.addEventListener("change", async () => (questions.value = await file.files[0].text()));
  const asked = fieldsOf(form);
  asked.write(new URLSearchParams(kept.typed));
  content.append(
    h("p", { class: "lead" }, "How good your answers are, by questions whose right answers you know. They are asked as you, and count as your searches."),
    form,
    results,
  );
  show(kept.outcome);
}

/** A problem of a field of the form. */
const mistake = (name, detail, title = "Invalid field") => Object.assign(new Error("Nothing was measured."), { title, errors: [{ field: name, detail }] });

function readQuestions(text) {
  const lines = text.split("\n").map((line, index) => ({ line: line.trim(), number: index + 1 })).filter(({ line }) => line);
  if (lines.length > QUESTIONS_MAX) throw mistake("questions", `must be at most ${formatNumber(QUESTIONS_MAX)}`);
  return lines.map(({ line, number }) => {
    try {
      return { number, body: JSON.parse(line) };
    } catch {
      throw mistake("questions", `line ${number} is no JSON`);
    }
  });
}

async function answersTo(judged, setting, depth, onAnswers, signal) {
  const answers = [];
  for (let begin = 0; begin < judged.length; begin += TOGETHER) {
    const block = judged.slice(begin, begin + TOGETHER);
    const body = { questions: block.map((each) => each.body), search: setting.fields, top_k: depth };
    try {
      answers.push(...(await patiently(() => call("POST", "/v1/evaluation/answers", { body, signal }))).data.answers);
    } catch (problem) {
      throw problem.errors?.length ? mistakeOf(problem.errors[0], block, setting) : problem;
    }
    onAnswers(block.length);
  }
  return answers;
}

/** What the gateway says of one question, or of the setting. */
function mistakeOf({ field: path, detail }, block, setting) {
  const [, place, rest] = /^questions\.(\d+)\.?(.*)$/.exec(path) ?? [];
  if (!place) return mistake("settings", `“${setting.name}”: ${path} ${detail}`);
  return mistake("questions", `line ${block[place].number}: ${`${rest} ${detail}`.trim()}`);
}

/** Ask again while the gateway is busy, or the key's rate is used up. */
async function patiently(ask) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask();
    } catch (problem) {
      if (!BUSY.includes(problem.status) || attempt === ATTEMPTS_MAX) throw problem;
      await new Promise((resolve) => setTimeout(resolve, 1_000 * (Number(problem.retryAfter) || 1)));
    }
  }
}

const valuesOf = (answers) => Object.fromEntries(Object.keys(MEASURES).map((name) => [name, answers.map((answer) => answer[name])]));

function outcomeView({ judged, chosen, answers, means, depth }) {
  const worst = h("div", { class: "stack" });
  const shown = select(chosen.map(({ name }, index) => [String(index), name]));
  const show = () => fill(worst, worstTable(judged, chosen, answers, depth, Number(shown.value)));
  shown.addEventListener("change", show);
  show();
  return [
    h(
      "section",
      { class: "card", "aria-label": "Settings" },
      h("h2", {}, "Settings side by side"),
      table(
        `${formatNumber(judged.length)} ${judged.length === 1 ? "question" : "questions"}, ${depth} hits each; below a mean is its 95 % interval`,
        [
          { label: "Setting", cell: (place) => h("code", {}, chosen[place].name) },
          ...Object.entries(MEASURES).map(([name, label]) => ({ label, isNumber: true, cell: (place) => meanCell(means[place][name]) })),
          { label: "Gain of nDCG", isNumber: true, cell: (place) => gainCell(means[place].gain) },
        ],
        chosen.map((_, place) => place),
      ),
    ),
    h(
      "section",
      { class: "card", "aria-label": "Worst questions" },
      h("div", { class: "row end spread" }, h("h2", {}, "The worst questions first"), chosen.length > 1 && field("With the setting", shown)),
      worst,
    ),
  ];
}

const meanCell = ({ mean, low, high }) => [mean.toFixed(DIGITS), bar(mean), h("div", { class: "muted small" }, `${low.toFixed(DIGITS)} to ${high.toFixed(DIGITS)}`)];

const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(DIGITS)}`;

function gainCell(gain) {
  if (!gain) return h("span", { class: "muted" }, "compared with it");
  const verdict = gain.low > 0 ? badge("better", "good") : gain.high < 0 ? badge("worse", "bad") : badge("can't be told apart");
  return [signed(gain.mean), h("div", {}, verdict), h("div", { class: "muted small" }, `${signed(gain.low)} to ${signed(gain.high)}`)];
}

function worstTable(judged, chosen, answers, depth, shown) {
  const places = judged.map((_, place) => place).sort((one, other) => answers[shown][one].ndcg - answers[shown][other].ndcg);
  const search = (place, index, text) => h("a", { href: searchAddress(judged[place].body.question, chosen[index], depth), "aria-label": index === shown ? null : `${judged[place].body.question}, ${chosen[index].name}: ${text}` }, text);
  return table(
    places.length > WORST ? `${WORST} of ${formatNumber(places.length)} questions; each leads to its search` : "Each leads to its search",
    [
      { label: "Question", cell: (place) => search(place, shown, judged[place].body.question) },
      { label: "Right", cell: (place) => rightCell(judged[place].body) },
      { label: "First hit", cell: (place) => answers[shown][place].first ?? h("span", { class: "muted" }, "no hit") },
      ...chosen.map(({ name }, index) => ({
        label: chosen.length > 1 ? `nDCG, ${name}` : "nDCG",
        isNumber: true,
        sortBy: (place) => answers[index][place].ndcg,
        cell: (place) => (index === shown ? answers[index][place].ndcg.toFixed(2) : search(place, index, answers[index][place].ndcg.toFixed(2))),
      })),
    ],
    places.slice(0, WORST),
  );
}

const rightCell = ({ documents = [], passage }) => h("span", {}, documents.map((id, index) => [index > 0 && ", ", documentLink(id)]), passage && h("div", { class: "muted small" }, passage));

/** What the search's page has of the setting. */
function searchAddress(question, { fields: { filter, boost, ...fields } }, depth) {
  const within = (path, values) => Object.entries(values ?? {}).map(([name, value]) => [`${path}.${name}`, value]);
  const named = [...within("filter", filter), ...within("boost", boost).flatMap(([path, values]) => within(path, values))];
  const textOf = (value) => (Array.isArray(value) ? value.join(", ") : typeof value === "object" ? JSON.stringify(value) : String(value));
  const all = [["query", question], ["top_k", depth], ...Object.entries(fields), ...named];
  return `#/search?${new URLSearchParams(all.map(([name, value]) => [name, textOf(value)]))}`;
}
