/* Groups: who is a member of which. A membership counts from the next request on. */

import { call, segment } from "./api.js";
import { h } from "./dom.js";
import { pager, shownOf, table } from "./lists.js";
import { announce, confirmDialog, empty, field, formatInstant, formatNumber, submit } from "./ui.js";

export function render(content, { argument, fields, signal }) {
  if (argument) showGroup(content, argument, fields, signal);
  else showList(content, fields, signal);
}

const memberPath = (group, subject) => `/v1/groups/${segment(group)}/members/${segment(subject)}`;

function showList(content, fields, signal) {
  const list = h("div", { class: "card" });
  const pages = pager(
    "groups",
    list,
    async (cursor) => (await call("GET", "/v1/groups", { query: { cursor }, signal })).data,
    groupTable,
    { fields },
  );
  content.append(
    h("p", { class: "lead" }, "A document that is shared with group:NAME is read by its members. Groups that only keys name are not listed."),
    memberForm(null, () => pages.reset()),
    list,
  );
  pages.show();
}

function groupTable(page, number) {
  const { groups } = page;
  if (!groups.length) return empty("No groups", "Add the first member to a group, and the group is there.");
  return table(
    shownOf(groups, "group", page, number),
    [
      { label: "Group", cell: (row) => h("a", { href: `#/groups/${segment(row.group)}` }, row.group) },
      { label: "Members", cell: (row) => formatNumber(row.members), isNumber: true, sortBy: (row) => row.members },
    ],
    groups,
  );
}

function showGroup(content, group, fields, signal) {
  const list = h("div", { class: "card" });
  const pages = pager(
    "members",
    list,
    async (cursor) => (await call("GET", `/v1/groups/${segment(group)}/members`, { query: { cursor }, signal })).data,
    (page, number) => memberTable(group, page, number, pages),
    { fields },
  );
  content.append(
    h("p", {}, h("a", { href: "#/groups" }, "All groups")),
    h("h2", {}, group),
    memberForm(group, () => pages.reset()),
    list,
  );
  pages.show();
}

function memberTable(group, page, number, pages) {
  const { members } = page;
  if (!members.length) return empty("No members", "Nobody reads what is shared with this group, but keys that name it.");
  return table(
    `${shownOf(members, "member", page, number)} of ${group}`,
    [
      { label: "Subject", cell: (row) => row.subject },
      { label: "Since", cell: (row) => formatInstant(row.added_at) },
      { label: "", cell: (row) => h("button", { type: "button", class: "danger", "aria-label": `Remove ${row.subject}`, onclick: () => remove(group, row.subject, pages) }, "Remove") },
    ],
    members,
  );
}

function remove(group, subject, pages) {
  confirmDialog({
    title: `Remove ${subject} from ${group}?`,
    text: "What is shared with the group is hidden from the subject from the next request on.",
    action: "Remove",
    run: async () => {
      await call("DELETE", memberPath(group, subject));
      announce("The member is removed");
      pages.reset();
    },
  });
}

/** group: null if the form asks for it. */
function memberForm(group, onAdded) {
  const name = h("input", { autocomplete: "off", required: true, value: group ?? "" });
  const subject = h("input", { autocomplete: "off", required: true });
  const place = h("div");
  const add = async () => {
    await call("PUT", memberPath(name.value.trim(), subject.value.trim()));
    subject.value = "";
    announce("The member is added");
    onAdded();
  };
  return h(
    "form",
    { class: "card", onsubmit: (event) => (event.preventDefault(), submit(event.target, place, add)) },
    h("div", { class: "row end" },
      !group && h("div", { class: "grow" }, field("Group", name, { name: "group" })),
      h("div", { class: "grow" }, field("Subject", subject, { name: "subject" })),
      h("button", { type: "submit", class: "primary" }, "Add member")),
    place,
  );
}
