/* The person who uses the console: logged in with a key that this page alone keeps. */

import { forget } from "./address.js";
import { call, observe, setKey } from "./api.js";
import { fill, h } from "./dom.js";
import { BACK, field, note, openDialog, submit } from "./ui.js";

let caller = null;

export const currentCaller = () => caller;
export const isAdmin = () => caller?.roles.includes("admin") ?? false;
export const isWriter = () => isAdmin() || (caller?.roles.includes("writer") ?? false);
/** Whether the caller may change, share and delete the document, which it may read. */
export const mayChange = ({ owner }) => isAdmin() || (isWriter() && owner === caller.subject);
/** Whether an extension of the gateway is on; what is off answers 404. */
export const isOn = (extension) => document.documentElement.dataset.extensions.split(" ").includes(extension);
export const isOperator = () => caller?.is_operator ?? false;

/** Ask for a key until one is right; then call `onEntered`. */
export function showLogin(place, onEntered) {
  fill(
    place,
    h(
      "main",
      { class: "login" },
      h(
        "div",
        { class: "card" },
        h("h1", { tabindex: "-1" }, "Nearhit console"),
        h("p", { class: "lead" }, "Log in with a key or a token of your tenant, or the operator's key."),
        keyForm("Log in", onEntered),
        h(
          "p",
          { class: "muted small" },
          "The key stays in the memory of this page: nothing stores it, and it is gone when the page is closed or loaded again.",
        ),
      ),
    ),
  );
  place.querySelector("input[name=key]").focus();
}

/**
 * Ask for a key again, over the page: what was typed stays. onOther: called if another caller
 * logs in, to whom the page must not be shown.
 */
export function showExpired(problem, onOther) {
  if (document.querySelector("dialog[data-expired]")) return;
  const before = caller;
  const content = (close) => [
    note("warn", problem.message),
    h("p", {}, "What you have typed is still there. What was to be saved, save again."),
    keyForm("Log in", () => {
      close();
      if (isSame(before, caller)) return document.dispatchEvent(new Event(BACK));
      forget();
      onOther();
    }),
    h("button", { type: "button", onclick: logOut }, "Leave the console"),
  ];
  openDialog("Log in again", content, { isLasting: true }).dataset.expired = "";
}

/** Forget the key and everything that was shown. */
export function logOut() {
  setKey("");
  forget();
  location.reload();
}

export function watch(onEnded, onReachable) {
  observe({ ended: onEnded, reachable: onReachable });
}

function keyForm(label, onEntered) {
  const input = h("input", {
    type: "password",
    name: "key",
    autocomplete: "current-password",
    required: true,
    spellcheck: "false",
  });
  const place = h("div");
  return h(
    "form",
    {
      onsubmit: async (event) => {
        event.preventDefault();
        const logIn = async () => {
          const typed = input.value.trim();
          if (!/^[\x21-\x7e]+$/.test(typed)) {
            throw Object.assign(new Error("A key has no spaces and no letters with accents."), { title: "This is no key" });
          }
          caller = (await call("GET", "/v1/caller", { as: typed })).data;
          setKey(typed);
          onEntered();
        };
        await submit(event.target, place, logIn, { isRead: true });
      },
    },
    // Password managers want a name beside a password.
    h("input", { type: "text", name: "username", value: location.host, autocomplete: "username", hidden: true, readonly: true }),
    field("Key", input),
    place,
    h("button", { type: "submit", class: "primary" }, label),
  );
}

const isSame = (one, other) =>
  one?.tenant === other?.tenant &&
  one?.subject === other?.subject &&
  one?.is_operator === other?.is_operator &&
  String(one?.roles) === String(other?.roles);

/** Ask again who the caller is, after a change of what its tenant receives. */
export async function refreshCaller() {
  caller = (await call("GET", "/v1/caller")).data;
}
