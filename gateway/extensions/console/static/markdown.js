/* Renders Markdown as elements. No string is parsed as HTML: raw HTML stays text. An address becomes a
 * link only if it leads to the web or to mail; a picture becomes a link, because the page loads nothing
 * from elsewhere. What is marked in the source is marked in what is shown.
 *
 * Callers wrote the text, so each limit below bounds what a hostile one costs, and each pattern takes
 * time in proportion to what it reads. */

import { h } from "./dom.js";

const DEPTH_MAX = 8; // of lists and quotations in each other; deeper ones are text
const EMPHASIS_DEPTH_MAX = 8;
const EMPHASIS_RUN_MAX = 6; // characters, such as in ***bold***
const COLUMNS_MAX = 50;
const CODE_INDENT = 4;

const SAFE_ADDRESS = /^(?:https?:\/\/|mailto:)[^\s]/i;
const RULE = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+|$)/;
const UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})[^`]*$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])([ \t]+|$)/;
const COLUMN_RULE = /^\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?$/;
const SPECIAL = /[\\`*_~[\]<]|\bhttps?:\/\//g;
const ESCAPED = /[!-/:-@[-`{-~]/;
const SPACE = /^\s?$/;
const PUNCTUATION = /[\p{P}\p{S}]/u;
const TARGET = /\(\s{0,9}(?:<([^<>\n]{0,2000})>|([^\s()<>]{0,2000}(?:\([^\s()<>]{0,500}\)[^\s()<>]{0,500})?))(?:\s{1,9}(?:"[^"]{0,500}"|'[^']{0,500}'))?\s{0,9}\)/y;
const ANGLE_ADDRESS = /<((?:https?:\/\/|mailto:)[^\s<>]{1,2000})>/iy;
const BARE_ADDRESS = /https?:\/\/[^\s<>"`*|[\]]{1,2000}/y;
const AFTER_ADDRESS = ".,;:!?)'\"_";

/**
 * The nodes of a text. marks: {start, end} in code points of it, ascending. above: the level of the
 * heading that the text stands under; its own ones are lower, without a gap.
 */
export function markdown(text, { marks = [], above }) {
  const bounds = unitsOf(text, marks.flatMap(({ start, end }) => [start, end]));
  const context = {
    marks: marks.map((_, index) => ({ start: bounds[2 * index], end: bounds[2 * index + 1] })),
    above,
    level: above,
  };
  let start = 0;
  const lines = text.split("\n").map((line) => {
    const made = { start, text: line.endsWith("\r") ? line.slice(0, -1) : line };
    start += line.length + 1;
    return made;
  });
  return blocks(lines, context, 0);
}

/** Where these code points of a text, ascending, are in its UTF-16 units. */
function unitsOf(text, points) {
  let [point, unit] = [0, 0];
  return points.map((wanted) => {
    for (; point < wanted && unit < text.length; point += 1) unit += text.codePointAt(unit) > 0xffff ? 2 : 1;
    return unit;
  });
}

/* Blocks. A line is {start, text}: its place in the source, and what its containers leave of it. Each
 * reader answers [nodes, the next line], or null if the block at this line is another one. */

const READERS = [readFence, readRule, readHeading, readQuote, readList, readTable, readIndented, readParagraph];

function blocks(lines, context, depth) {
  const nodes = [];
  let at = 0;
  while (at < lines.length) {
    if (isBlank(lines[at])) {
      at += 1;
      continue;
    }
    for (const read of READERS) {
      const found = read(lines, at, context, depth);
      if (!found) continue;
      nodes.push(found[0]);
      at = found[1];
      break;
    }
  }
  return nodes;
}

const isBlank = (line) => !/\S/.test(line.text);
const cut = (line, count) => ({ start: line.start + count, text: line.text.slice(count) });
const trimmed = (line) => ({ start: line.start + line.text.length - line.text.trimStart().length, text: line.text.trim() });

/** How many columns of white space a line begins with, up to `most`, and their characters. */
function indentOf(text, most) {
  let [columns, count] = [0, 0];
  while (columns < most && (text[count] === " " || text[count] === "\t")) {
    columns += text[count] === "\t" ? CODE_INDENT : 1;
    count += 1;
  }
  return [columns, count];
}

const beginsBlock = ({ text }) => HEADING.test(text) || FENCE.test(text) || QUOTE.test(text) || RULE.test(text) || /^ {0,3}(?:[-*+]|1[.)])[ \t]+\S/.test(text);

function readFence(lines, at, context) {
  const mark = FENCE.exec(lines[at].text)?.[1];
  if (!mark) return null;
  const isEnd = ({ text }) => {
    const told = text.trim();
    return told.length >= mark.length && told.startsWith(mark) && !told.replaceAll(mark[0], "");
  };
  let end = at + 1;
  while (end < lines.length && !isEnd(lines[end])) end += 1;
  return [code(lines.slice(at + 1, end), context), end + 1];
}

function readIndented(lines, at, context) {
  const isIndented = (line) => indentOf(line.text, CODE_INDENT)[0] >= CODE_INDENT;
  if (!isIndented(lines[at])) return null;
  let end = at + 1;
  for (let next = end; next < lines.length && (isBlank(lines[next]) || isIndented(lines[next])); next += 1) {
    if (!isBlank(lines[next])) end = next + 1;
  }
  return [code(lines.slice(at, end).map((line) => cut(line, indentOf(line.text, CODE_INDENT)[1])), context), end];
}

const code = (lines, context) => {
  const joined = join(lines, context);
  return h("pre", {}, h("code", {}, pieces(joined, 0, joined.text.length)));
};

function readRule(lines, at) {
  return RULE.test(lines[at].text) ? [h("hr"), at + 1] : null;
}

function readHeading(lines, at, context) {
  const found = HEADING.exec(lines[at].text);
  if (!found) return null;
  const line = trimmed(cut(lines[at], found[0].length));
  let end = line.text.length;
  while (line.text[end - 1] === "#") end -= 1;
  if (end === 0 || /\s/.test(line.text[end - 1])) line.text = line.text.slice(0, end).trimEnd();
  return [heading(line, found[1].length, context), at + 1];
}

function heading(line, level, context) {
  if (!line.text) return h("p");
  context.level = Math.min(context.above + level, context.level + 1, 6);
  return h(`h${context.level}`, { dir: "auto" }, inline([line], context));
}

function readQuote(lines, at, context, depth) {
  if (depth >= DEPTH_MAX || !QUOTE.test(lines[at].text)) return null;
  const own = [];
  for (; at < lines.length && QUOTE.test(lines[at].text); at += 1) own.push(cut(lines[at], QUOTE.exec(lines[at].text)[0].length));
  return [h("blockquote", { dir: "auto" }, blocks(own, context, depth + 1)), at];
}

/** The item that a line begins: its list's kind, its number, and the characters before its text. */
function itemOf({ text }) {
  const found = RULE.test(text) ? null : ITEM.exec(text);
  if (!found) return null;
  const [all, indent, mark, gap] = found;
  const isWide = gap.length > CODE_INDENT || all.length === text.length;
  return { kind: mark.at(-1), number: Number.parseInt(mark, 10), width: isWide ? indent.length + mark.length + Math.min(gap.length, 1) : all.length };
}

function readList(lines, at, context, depth) {
  const first = itemOf(lines[at]);
  if (!first || depth >= DEPTH_MAX) return null;
  const items = [];
  for (let item = first; item?.kind === first.kind; item = at < lines.length ? itemOf(lines[at]) : null) {
    const own = [cut(lines[at], item.width)];
    let isAfterBlank = false;
    for (at += 1; at < lines.length; at += 1) {
      const line = lines[at];
      const [columns, count] = indentOf(line.text, item.width);
      if (isBlank(line)) own.push(line);
      else if (columns >= item.width) own.push(cut(line, count));
      else if (isAfterBlank || itemOf(line) || beginsBlock(line)) break;
      else own.push(line);
      isAfterBlank = isBlank(line);
    }
    items.push(h("li", {}, blocks(own, context, depth + 1)));
  }
  const isOrdered = first.kind === "." || first.kind === ")";
  return [h(isOrdered ? "ol" : "ul", { dir: "auto", start: isOrdered && first.number !== 1 && first.number }, items), at];
}

function readTable(lines, at, context) {
  const rule = lines[at + 1]?.text.trim() ?? "";
  if (!rule.includes("-") || !lines[at].text.includes("|") || !COLUMN_RULE.test(rule)) return null;
  const columns = cellsOf(lines[at + 1]).map((cell) => (cell.text.endsWith(":") ? "number" : null));
  const head = cellsOf(lines[at]);
  if (head.length !== columns.length || head.length > COLUMNS_MAX) return null;
  const row = (cells, tag) =>
    h("tr", {}, columns.map((kind, index) => h(cells[index]?.text ? tag : "td", { class: kind }, cells[index] && inline([cells[index]], context))));
  const body = [];
  for (at += 2; at < lines.length && !isBlank(lines[at]) && !beginsBlock(lines[at]); at += 1) body.push(cellsOf(lines[at]));
  return [h("table", { dir: "auto" }, h("thead", {}, row(head, "th")), h("tbody", {}, body.map((cells) => row(cells, "td")))), at];
}

function cellsOf(line) {
  let { start, text } = trimmed(line);
  if (text.startsWith("|")) [start, text] = [start + 1, text.slice(1)];
  if (text.endsWith("|") && !text.endsWith("\\|")) text = text.slice(0, -1);
  return text.split(/(?<!\\)\|/).map((cell) => {
    const found = trimmed({ start, text: cell });
    start += cell.length + 1;
    return found;
  });
}

function readParagraph(lines, at, context) {
  let end = at + 1;
  if (end < lines.length && UNDERLINE.test(lines[end].text)) {
    return [heading(trimmed(lines[at]), lines[end].text.includes("=") ? 1 : 2, context), end + 1];
  }
  while (end < lines.length && !isBlank(lines[end]) && !beginsBlock(lines[end])) end += 1;
  return [h("p", {}, inline(lines.slice(at, end).map(trimmed), context)), end];
}

/* Inlines: a text is cut into tokens from left to right, links as soon as they end, emphasis last. */

/** The lines as one text, with the marks at their places in it. */
function join(lines, context) {
  const marks = [];
  let at = 0;
  for (const { start, text } of lines) {
    for (const mark of context.marks) {
      const [from, to] = [Math.max(mark.start, start), Math.min(mark.end, start + text.length)];
      if (from >= to) continue;
      const last = marks.at(-1);
      const own = { start: at + from - start, end: at + to - start, mark };
      if (last?.mark === mark) last.end = own.end; // over the end of the line
      else marks.push(own);
    }
    at += text.length + 1;
  }
  return { text: lines.map((line) => line.text).join("\n"), marks };
}

/** A part of a joined text, in which the marks are elements. */
function pieces({ text, marks }, start, end) {
  const nodes = [];
  for (const mark of marks) {
    const [from, to] = [Math.max(mark.start, start), Math.min(mark.end, end)];
    if (from >= to) continue;
    nodes.push(text.slice(start, from), h("mark", {}, text.slice(from, to)));
    start = to;
  }
  return [...nodes, text.slice(start, end)];
}

function inline(lines, context) {
  const joined = join(lines, context);
  return shown(emphasized(tokensOf(joined.text)), joined);
}

function tokensOf(text) {
  const codeEnd = codeEndsOf(text);
  const tokens = [];
  let openers = []; // brackets: their place in `tokens`
  let [taken, next] = [0, 0]; // what is in tokens already, and where the next special character may be
  const flush = (end) => taken < end && tokens.push({ kind: "text", start: taken, end });
  const take = (token) => {
    flush(token.start);
    tokens.push(token);
    taken = next = token.end;
  };
  const runEnd = (start) => {
    let end = start + 1;
    while (text[end] === text[start]) end += 1;
    return end;
  };
  const matched = (pattern, at) => {
    pattern.lastIndex = at;
    return pattern.exec(text);
  };
  for (const { index: start, 0: special } of text.matchAll(SPECIAL)) {
    if (start < next) continue;
    if (special === "\\") {
      if (!ESCAPED.test(text[start + 1] ?? "")) continue;
      flush(start);
      [taken, next] = [start + 1, start + 2];
    } else if (special === "`") {
      const inner = runEnd(start);
      const innerEnd = codeEnd(start, inner - start);
      if (innerEnd === undefined) next = inner;
      else take({ kind: "code", start, end: innerEnd + inner - start, inner, innerEnd });
    } else if (special === "[") {
      const isPicture = text[start - 1] === "!" && start > taken;
      take({ kind: "text", start: start - isPicture, end: start + 1 });
      openers.push({ place: tokens.length - 1, isPicture });
    } else if (special === "]") {
      const opener = openers.pop();
      const target = opener && matched(TARGET, start + 1);
      if (!target) continue;
      flush(start);
      const [bracket, ...inner] = tokens.splice(opener.place);
      const place = { start: bracket.start, end: TARGET.lastIndex, inner: bracket.end, innerEnd: start };
      tokens.push({ kind: opener.isPicture ? "picture" : "link", ...place, address: target[1] ?? target[2], tokens: opener.isPicture ? [] : inner });
      taken = next = place.end;
      if (!opener.isPicture) openers = []; // no link is in another one
    } else if (special === "<") {
      const found = matched(ANGLE_ADDRESS, start);
      if (found) take({ kind: "address", start, end: start + found[0].length, inner: start + 1, innerEnd: start + 1 + found[1].length, address: found[1] });
    } else if (special.length > 1) {
      let address = matched(BARE_ADDRESS, start)?.[0] ?? "";
      while (address && AFTER_ADDRESS.includes(address.at(-1))) address = address.slice(0, -1);
      const end = start + address.length;
      if (address.length > special.length) take({ kind: "address", start, end, inner: start, innerEnd: end, address });
    } else {
      take(emphasisMark(text, start, runEnd(start)));
    }
  }
  flush(text.length);
  return tokens;
}

/** Answers where code ends that begins with so many backticks: at the next run of as many. */
function codeEndsOf(text) {
  const runs = new Map();
  for (const { index, 0: run } of text.matchAll(/`+/g)) {
    if (!runs.has(run.length)) runs.set(run.length, { starts: [], passed: 0 });
    runs.get(run.length).starts.push(index);
  }
  return (start, length) => {
    const run = runs.get(length);
    while (run?.starts[run.passed] <= start) run.passed += 1;
    return run?.starts[run.passed];
  };
}

/** Whether a run of these characters may begin or end emphasis, as CommonMark has it. */
function emphasisMark(text, start, end) {
  const [mark, before, after] = [text[start], text[start - 1] ?? "", text[end] ?? ""];
  const isKnown = mark === "~" ? end - start === 2 : end - start <= EMPHASIS_RUN_MAX;
  if (!isKnown) return { kind: "text", start, end };
  const [isBefore, isAfter] = [before, after].map((character) => (SPACE.test(character) ? "space" : PUNCTUATION.test(character) ? "punctuation" : ""));
  const isLeft = isAfter !== "space" && (!isAfter || isBefore !== "");
  const isRight = isBefore !== "space" && (!isBefore || isAfter !== "");
  const isWithin = mark === "_" && isLeft && isRight; // as in snake_case
  return { kind: "mark", mark, start, end, opens: isLeft && (!isWithin || isBefore !== ""), closes: isRight && (!isWithin || isAfter !== "") };
}

/** The tokens with those of emphasis put around what is between them; a mark without its other is text. */
function emphasized(tokens) {
  const frames = [{ tokens: [] }]; // of marks that are open, the innermost last
  const open = { "*": 0, _: 0, "~": 0 };
  const giveUp = (from) => {
    const kept = frames[from - 1].tokens;
    for (const { mark, start, end, tokens: inner } of frames.splice(from)) {
      open[mark] -= 1;
      kept.push({ kind: "text", start, end });
      for (const token of inner) kept.push(token);
    }
  };
  for (const token of tokens) {
    if (token.kind !== "mark") {
      frames.at(-1).tokens.push(token);
      continue;
    }
    const { mark } = token;
    while (token.closes && token.start < token.end && open[mark]) {
      const place = frames.findLastIndex((frame) => frame.mark === mark);
      giveUp(place + 1);
      const frame = frames[place];
      const count = Math.min(2, token.end - token.start, frame.end - frame.start);
      const made = { kind: count === 1 ? "em" : mark === "~" ? "del" : "strong", tokens: frame.tokens };
      token.start += count;
      frame.end -= count;
      frame.tokens = [made];
      if (frame.start < frame.end) continue;
      frames.pop();
      open[mark] -= 1;
      frames.at(-1).tokens.push(made);
    }
    if (token.start === token.end) continue;
    if (token.opens && frames.length <= EMPHASIS_DEPTH_MAX) {
      frames.push({ mark, start: token.start, end: token.end, tokens: [] });
      open[mark] += 1;
    } else frames.at(-1).tokens.push({ kind: "text", start: token.start, end: token.end });
  }
  giveUp(1);
  return frames[0].tokens;
}

function shown(tokens, joined, isInLink = false) {
  return withTextsJoined(tokens).map((token) => {
    const { kind, start, end, inner, innerEnd } = token;
    if (kind === "text") return pieces(joined, start, end);
    if (kind === "code") return h("code", {}, pieces(joined, inner, innerEnd));
    if (kind === "link") return link(token, joined, shown(emphasized(token.tokens), joined, true), isInLink);
    if (kind === "address") return link(token, joined, pieces(joined, inner, innerEnd), isInLink);
    if (kind === "picture") return [h("span", { class: "muted" }, "picture: "), link(token, joined, pieces(joined, inner, innerEnd), isInLink)];
    return h(kind, {}, shown(token.tokens, joined, isInLink));
  });
}

function withTextsJoined(tokens) {
  const joined = [];
  for (const token of tokens) {
    const last = joined.at(-1);
    if (token.kind === "text" && last?.kind === "text" && last.end === token.start) last.end = token.end;
    else joined.push(token);
  }
  return joined;
}

/** A link whose hidden address has a marked word is marked as a whole. */
function link({ address, inner, innerEnd, end }, { text, marks }, content, isInLink) {
  if (!text.slice(inner, innerEnd).trim()) content = [address];
  const isMarked = (from, to) => marks.some((mark) => mark.start < to && mark.end > from);
  if (isMarked(innerEnd, end) && !isMarked(inner, innerEnd)) content = [h("mark", {}, content)];
  if (isInLink || !SAFE_ADDRESS.test(address)) return content;
  return h("a", { href: address, title: address, rel: "noopener noreferrer", target: "_blank" }, content);
}
