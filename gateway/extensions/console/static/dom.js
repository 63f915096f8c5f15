/* Builds elements. All text becomes text nodes: no string is ever parsed as HTML. */

/**
 * Create an element.
 *
 * Properties that begin with `on` are listeners; `true` sets an attribute, and false, null and
 * undefined leave it out. Children are nodes, texts, or nested lists of both.
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child);
  }
}

/** Replace the children of an element. */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/** The text with these parts marked. parts: {start, end} in code points, ascending. */
export function marked(text, parts) {
  if (!parts.length) return [text];
  const letters = Array.from(text);
  const pieces = [];
  let end = 0;
  for (const part of parts) {
    pieces.push(letters.slice(end, part.start).join(""), h("mark", {}, letters.slice(part.start, part.end).join("")));
    end = part.end;
  }
  return [...pieces, letters.slice(end).join("")];
}

let counter = 0;

/** An identifier that no other element of the page has. */
export function uniqueId(prefix) {
  counter += 1;
  return `${prefix}-${counter}`;
}
