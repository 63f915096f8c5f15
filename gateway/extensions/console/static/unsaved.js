/* What was typed into an editor and is not saved yet: leaving its page asks first. */

import { confirmDialog } from "./ui.js";

const CHANGED = "form[data-changed]";

/** Mark the form as changed from the first input on. */
export function watchChanges(form) {
  form.addEventListener("input", () => (form.dataset.changed = ""));
}

export function markSaved(form) {
  delete form.dataset.changed;
}

export const hasUnsaved = () => document.querySelector(CHANGED) !== null;

/** leave: called if the person drops what was typed. */
export function askBeforeLeaving(leave) {
  if (document.querySelector("dialog[data-leaving]")) return;
  const dialog = confirmDialog({
    title: "Leave without saving?",
    text: "What you have typed on this page is not saved, and is gone when you leave it.",
    action: "Leave",
    run: async () => {
      document.querySelectorAll(CHANGED).forEach(markSaved);
      leave();
    },
  });
  dialog.dataset.leaving = "";
}
