/* The address of what is shown: `#/PAGE/ARGUMENT?FIELD=VALUE`. Whoever opens it sees the same, and
 * the browser's Back and Forward move between what was shown. Nothing of it is sent to a server. */

let shown = ""; // the address of the page that is shown

/** The page, its argument and its fields, which are the page of today's address from now on. */
export function arrive() {
  shown = location.hash;
  const [, name, argument, fields] = /^#\/([a-z]+)(?:\/([^?]*))?(?:\?(.*))?$/s.exec(shown) ?? [];
  return { name, argument: decode(argument), fields: new URLSearchParams(fields) };
}

/** Put the address of the page that is shown back. Answers whether another one had taken its place. */
export function stay() {
  const isOther = location.hash !== shown;
  history.replaceState(null, "", shown || "#/");
  return isOther;
}

/** The address tells nothing of what was shown: the next caller is another one. */
export function forget() {
  history.replaceState(null, "", location.pathname);
}

/**
 * The same page shows what these fields say, and else what it showed; empty ones are left out. isMore:
 * whether that takes the place of what it showed, so that Back leads to what came before both.
 */
export function move(fields, isMore = false) {
  const [page, before] = shown.split("?");
  const all = { ...Object.fromEntries(new URLSearchParams(before)), ...fields };
  const filled = Object.entries(all).filter(([, value]) => value);
  const address = filled.length ? `${page || "#/search"}?${new URLSearchParams(filled)}` : page;
  if (address === shown) return;
  history[isMore ? "replaceState" : "pushState"](null, "", address);
  shown = location.hash;
}

/**
 * What a form says differently than when it was made, by the names of its controls; else empty. `write`
 * opens the details that hold a control which it fills, unless they are `data-closed`.
 */
export function fieldsOf(form) {
  const controls = [...form.elements].filter((control) => control.name);
  const stateOf = (control) => (control.type === "checkbox" ? String(control.checked) : control.value);
  const first = new Map(controls.map((control) => [control, stateOf(control)]));
  const changed = (control) => (stateOf(control) === first.get(control) ? "" : stateOf(control));
  return {
    read: () => Object.fromEntries(controls.map((control) => [control.name, changed(control)])),
    write: (fields) => {
      for (const control of controls) {
        const value = fields.get(control.name);
        if (!value) continue;
        control.closest("details:not([data-closed])")?.setAttribute("open", "");
        if (control.type === "checkbox") control.checked = value === "true";
        else control.value = value;
      }
    },
  };
}

function decode(argument = "") {
  try {
    return decodeURIComponent(argument);
  } catch {
    return "";
  }
}
