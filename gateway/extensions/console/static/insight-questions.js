/* What was asked most, if an admin has questions recorded, and what found no sure answer. */

import { call, segment } from "./api.js";
import { h } from "./dom.js";
import { table } from "./lists.js";
import { announce, bar, confirmDialog, field, formatNumber, select, submit } from "./ui.js";

const QUESTIONS = 10;
const DEFAULT_DAYS = "30";
const RECORDING = "/v1/search/questions/recording";
const KEPT = [["7", "7 days"], ["30", "30 days"], ["92", "92 days"]];

/** reload: shows the page anew. */
export function askedCard({ questions, kept_days: keptDays }, reload) {
  return h(
    "section",
    { class: "card", "aria-label": "Asked questions" },
    h("h2", {}, "Most asked questions"),
    keptDays ? recorded(questions, keptDays, reload) : offer(reload),
  );
}

function offer(reload) {
  const days = select(KEPT, DEFAULT_DAYS);
  const place = h("div");
  const record = async () => {
    await call("PUT", RECORDING, { body: { kept_days: Number(days.value) } });
    announce("Questions are recorded from the next search on");
    await reload();
  };
  return [
    h("p", {}, "Questions are not recorded."),
    h("p", { class: "muted" }, "You can have them counted. Nothing says who asked, and the text of a question is stored once the same question has come twice."),
    h(
      "form",
      { class: "row end", onsubmit: (event) => (event.preventDefault(), submit(event.target, place, record)) },
      field("Keep them for", days, { name: "kept_days" }),
      h("button", { type: "submit" }, "Record questions"),
    ),
    place,
  ];
}

function recorded(questions, keptDays, reload) {
  const most = Math.max(1, ...questions.map((each) => each.asked));
  return [
    questions.length
      ? table(
          "In this time, in any spelling of case and punctuation",
          [
            { label: "Question", cell: (each) => [each.question, bar(each.asked / most)] },
            { label: "Asked", isNumber: true, sortBy: (each) => each.asked, cell: (each) => formatNumber(each.asked) },
            { label: "Not sure", isNumber: true, sortBy: (each) => each.unsure, cell: (each) => formatNumber(each.unsure) },
            { label: "", cell: (each) => removeButton(each, reload) },
          ],
          questions,
        )
      : h("p", { class: "muted" }, "No question has come twice in this time."),
    h(
      "div",
      { class: "row spread" },
      h("span", { class: "muted small" }, `Kept for ${keptDays} days, without who asked.`),
      h("button", { type: "button", onclick: () => stop(reload) }, "Stop and delete them"),
    ),
  ];
}

function removeButton(question, reload) {
  const remove = async () => {
    await call("DELETE", `/v1/search/questions/${segment(question.question_id)}`);
    announce("The question is deleted");
    await reload();
  };
  const ask = () =>
    confirmDialog({
      title: "Delete the question?",
      text: `“${question.question}” and its counts of all days are deleted. If it comes again, it is counted anew.`,
      action: "Delete",
      run: remove,
    });
  return h("button", { type: "button", class: "plain", "aria-label": `Delete ${question.question}`, onclick: ask }, "Delete");
}

function stop(reload) {
  confirmDialog({
    title: "Stop recording questions?",
    text: "All recorded questions of the tenant are deleted. This can't be undone.",
    action: "Stop and delete",
    run: async () => {
      await call("PUT", RECORDING, { body: { kept_days: 0 } });
      await reload();
    },
  });
}

export function openCard({ items }) {
  const top = items.slice(0, QUESTIONS);
  const most = Math.max(1, ...top.map((item) => item.count));
  return h(
    "section",
    { class: "card", "aria-label": "Open questions" },
    h("h2", {}, "Most asked without a sure answer"),
    top.length
      ? [
          table(
            "Open questions, of all time",
            [
              { label: "Question", cell: (item) => [item.question, bar(item.count / most)] },
              { label: "Asked", isNumber: true, cell: (item) => formatNumber(item.count) },
            ],
            top,
          ),
          h("p", {}, h("a", { href: "#/questions" }, "Answer them, or set how sure an answer has to be")),
        ]
      : h("p", { class: "muted" }, "There is no open question."),
  );
}
