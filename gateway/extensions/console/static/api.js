/* Calls the public API with the key of the session.
 *
 * The key lives in this module alone: no storage, no cookie, no address holds it. */

const OFFLINE = "unreachable";
const ENDED = 401;

let key = "";
let onEnded = () => {};
let onReachable = () => {};

/** An answer that is no success: `status` 0 if the gateway could not be reached. */
export class Problem extends Error {
  constructor(status, document, retryAfter, requestId) {
    super(document.detail || document.title || `Status ${status}`);
    this.status = status;
    this.title = document.title || "Error";
    this.kind = (document.type || "").split(":").pop();
    this.errors = document.errors || [];
    this.retryAfter = retryAfter;
    this.requestId = requestId;
  }

  get isOffline() {
    return this.kind === OFFLINE;
  }

  /** Whether the key of the session is no longer taken. */
  get isEnded() {
    return this.status === ENDED;
  }
}

/** ended: called once a key is refused. reachable: called with whether the gateway answers. */
export function observe({ ended, reachable }) {
  onEnded = ended;
  onReachable = reachable;
}

export function setKey(text) {
  key = text;
}

/**
 * Call the API; throw a `Problem` if it does not succeed.
 *
 * body: sent as JSON. raw: {type, text} to send instead; the text may be bytes. Answers {status, headers, data, ms}; data is null for an empty body.
 */
export async function call(method, path, { body, raw, query, headers = {}, signal, as } = {}) {
  const used = as ?? key;
  const request = { method, signal, headers: { ...headers }, cache: "no-store", credentials: "omit" };
  if (used) request.headers.Authorization = `Bearer ${used}`;
  if (body !== undefined) {
    request.headers["Content-Type"] = "application/json";
    request.body = JSON.stringify(body);
  } else if (raw !== undefined) {
    if (raw.type) request.headers["Content-Type"] = raw.type;
    request.body = raw.text;
  }
  const began = performance.now();
  let response;
  let text;
  try {
    response = await fetch(address(path, query), request);
    text = await response.text();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    onReachable(false);
    throw new Problem(0, {
      type: OFFLINE,
      title: "The gateway does not answer",
      detail: "Nothing was lost here. The console tries again until the gateway is back.",
    });
  }
  onReachable(true);
  const ms = performance.now() - began;
  if (response.ok) {
    const isJson = /^application\/json\b/.test(response.headers.get("content-type") || "");
    const data = text && isJson ? JSON.parse(text) : text || null;
    return { status: response.status, headers: response.headers, data, ms };
  }
  const problem = parseProblem(response, text);
  if (problem.isEnded && as === undefined && used === key) onEnded(problem);
  throw problem;
}

/** The path with its query; parameters without a value are left out. */
export function address(path, query = {}) {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") parameters.set(name, value);
  }
  const text = parameters.toString();
  return text ? `${path}${path.includes("?") ? "&" : "?"}${text}` : path;
}

/** The identifier as a part of a path. */
export function segment(id) {
  return encodeURIComponent(id);
}

function parseProblem(response, text) {
  let document = {};
  try {
    document = JSON.parse(text);
    document = document.error ? { detail: document.error.message } : document;
  } catch {
    document = { title: `Status ${response.status}`, detail: "The answer is no JSON." };
  }
  const { headers, status } = response;
  // To a caller of the API it tells a header; here one has a field for the key.
  if (status === ENDED) document = { ...document, title: "The key is not taken", detail: "This key is mistyped, revoked or expired." };
  return new Problem(status, document, headers.get("retry-after"), headers.get("x-request-id"));
}
