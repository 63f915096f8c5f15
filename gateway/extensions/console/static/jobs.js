/* Jobs: what the worker does, how far it is, and what has failed and can be queued again. */

import { move } from "./address.js";
import { call, segment } from "./api.js";
import { h } from "./dom.js";
import { chooser, rowByRow, shownOf, table } from "./lists.js";
import { follow } from "./live.js";
import { isAdmin } from "./session.js";
import { announce, announceProblem, badge, confirmDialog, empty, field, formatCounts, formatInstant, openDialog, select } from "./ui.js";

const STATES = [["", "all"], ["waiting"], ["running"], ["failed"], ["done"]];
const KINDS = { waiting: "", running: "accent", failed: "bad", done: "good" };
const PAGE = 50;

export function render(content, { fields, signal }) {
  const state = select(STATES, STATES.some(([name]) => name === fields.get("state")) ? fields.get("state") : "");
  const list = h("div", { class: "card" });
  const first = fields.get("cursor"); // of the page that the address names
  let cursors = first ? ["", first] : [""]; // of the pages up to the one that is shown
  const query = () => ({ state: state.value, limit: PAGE, cursor: cursors.at(-1) });
  const ask = follow(
    list,
    async () => (await call("GET", "/v1/jobs", { query: query(), signal })).data,
    (page) => [jobTable(page, cursors.length, ask, several), pageButtons(page.cursor)],
    signal,
  );
  const several = !isAdmin() ? null : chooser(nameOf, [
    { label: "Replay", kind: "primary", isFor: hasFailed, act: (jobs) => replay(jobs, ask) },
    { label: "Delete", kind: "danger", isFor: isAtRest, act: (jobs) => drop(jobs, ask) },
  ]);
  const turn = (changed) => {
    cursors = changed;
    move({ state: state.value, cursor: cursors.at(-1) });
    ask();
  };
  const pageButtons = (next) =>
    (next || cursors.length > 1) &&
    h(
      "nav",
      { class: "row", "aria-label": "Pages of jobs" },
      cursors.length > 1 && h("button", { type: "button", "aria-label": "Newer jobs", onclick: () => turn(cursors.slice(0, -1)) }, first && cursors.length === 2 ? "Newest jobs" : "Newer jobs"),
      next && h("button", { type: "button", "aria-label": "Older jobs", onclick: () => turn([...cursors, next]) }, "Older jobs"),
      !first && h("span", { class: "muted small" }, `Page ${cursors.length}`),
    );
  state.addEventListener("change", () => turn([""]));
  content.append(
    h("p", { class: "lead" }, isAdmin() ? "The jobs of the tenant, newest first. The page follows them." : "Your jobs, newest first. The page follows them."),
    h("div", { class: "row" }, field("State", state)),
    list,
  );
}

const nameOf = (job) => job.job_id;
const hasFailed = (job) => job.state === "failed";
const isAtRest = (job) => job.state !== "running";

function jobTable(page, number, ask, several) {
  const { jobs } = page;
  if (!jobs.length) return empty(number > 1 ? "No older jobs" : "No jobs", "Long documents, sources and deletions make jobs.");
  return table(
    shownOf(jobs, "job", page, number),
    [
      { label: "Job", cell: (job) => [job.kind, h("div", { class: "muted small" }, job.target)] },
      { label: "State", cell: (job) => badge(job.state, KINDS[job.state]) },
      { label: "Progress", cell: progress },
      { label: "Attempts", cell: (job) => `${job.attempts} of ${job.attempts_max}`, isNumber: true },
      { label: "Created", cell: (job) => formatInstant(job.created_at) },
      { label: "", cell: (job) => actions(job, ask) },
    ],
    jobs,
    several,
  );
}

/** The numbers of what is done so far, or of the result, or the error. */
function progress(job) {
  if (job.error) return h("span", { class: "small" }, job.error);
  return h("span", { class: "small" }, formatCounts(job.state === "done" ? job.result : job.progress));
}

function actions(job, ask) {
  return h(
    "span",
    { class: "row" },
    h("button", { type: "button", "aria-label": `Show ${job.job_id}`, onclick: () => showJob(job) }, "Show"),
    isAdmin() && hasFailed(job) && h("button", { type: "button", class: "primary", "aria-label": `Replay ${job.job_id}`, onclick: () => replay([job], ask) }, "Replay"),
    isAdmin() && isAtRest(job) && h("button", { type: "button", class: "danger", "aria-label": `Delete ${job.job_id}`, onclick: () => drop([job], ask) }, "Delete"),
  );
}

function showJob(job) {
  openDialog(
    `Job ${job.job_id}`,
    (close) => [
      h("pre", { class: "snippet", tabindex: "0", "aria-label": "The job" }, JSON.stringify(job, null, 2)),
      h("div", {}, h("button", { type: "button", onclick: close }, "Close")),
    ],
    { isWide: true },
  );
}

async function replay(jobs, ask) {
  try {
    await rowByRow(jobs, nameOf, (job) => call("POST", `/v1/jobs/${segment(job.job_id)}/replay`), ask)();
    announce(jobs.length === 1 ? "The job is queued again" : `${jobs.length} jobs are queued again`);
  } catch (problem) {
    announceProblem(problem);
  }
}

function drop(jobs, ask) {
  const what = jobs.length === 1 ? `The record of ${jobs[0].kind} of ${jobs[0].target} is removed. If the job waits, it is not done.` : "Their records are removed. Those that wait are not done.";
  const dropAll = rowByRow(jobs, nameOf, (job) => call("DELETE", `/v1/jobs/${segment(job.job_id)}`), ask);
  confirmDialog({
    title: jobs.length === 1 ? "Delete the job?" : `Delete ${jobs.length} jobs?`,
    text: what,
    action: "Delete",
    run: async () => {
      await dropAll();
      announce(jobs.length === 1 ? "The job is deleted" : `${jobs.length} jobs are deleted`);
    },
  });
}
