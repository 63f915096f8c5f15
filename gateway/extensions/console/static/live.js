/* A part of a page that follows the gateway while the page is shown. */

import { fill } from "./dom.js";
import { loading, problemNote } from "./ui.js";

const EVERY_MS = 2000;

/**
 * Fill the element with what `render` makes of what `fetch` answers, and again when that changes.
 * It asks every two seconds while the tab is visible, until the signal ends it. Answers a function
 * that asks at once. The focus stays on a button with the same label.
 */
export function follow(element, fetch, render, signal) {
  let shown = "";
  let timer = 0;
  let asked = 0; // an answer that comes after a later question is left out
  fill(element, loading());
  element.setAttribute("aria-busy", "true");

  const ask = async () => {
    clearTimeout(timer);
    if (signal.aborted) return;
    asked += 1;
    const number = asked;
    try {
      if (document.visibilityState === "visible") {
        const data = await fetch();
        if (number !== asked) return;
        show(data);
      }
    } catch (problem) {
      if (number !== asked || signal.aborted || problem.name === "AbortError") return;
      shown = "";
      fill(element, problemNote(problem, ask));
    }
    element.removeAttribute("aria-busy");
    clearTimeout(timer);
    timer = setTimeout(ask, EVERY_MS);
  };

  const show = (data) => {
    const text = JSON.stringify(data);
    if (text === shown || signal.aborted) return;
    shown = text;
    const label = element.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
    fill(element, render(data));
    if (label) element.querySelector(`[aria-label="${CSS.escape(label)}"]`)?.focus();
  };

  signal.addEventListener("abort", () => clearTimeout(timer));
  ask();
  return ask;
}
