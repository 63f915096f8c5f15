// When the TypeScript client sends a call again, and what it makes of streams that break.
// test_packages.py runs this, with the installed package.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Client, NearhitError } from "nearhit-client";

const LOST = { lost: "ECONNRESET", refused: "ECONNREFUSED" };
const FIRST = 'id: 4-a\nevent: answer\ndata: {"number": 4}\n\n:\n\n';
const ENDED = 'event: ended\ndata: {"reason": "deleted"}\n\n';
const DELTA = 'event: delta\ndata: {"text": "25 dias até já"}\n\n';
const ERROR = 'event: error\ndata: {"type": "urn:nearhit:problem:x", "status": 503}\n\n';

// A client of a gateway that gives these replies one after the other, and what it was sent.
function scripted(replies, options = {}) {
  const sent = [];
  const left = [...replies];
  const fetch = async (url, request) => {
    sent.push({ url, ...request });
    const reply = left.shift();
    if (reply in LOST) throw new TypeError("fetch failed", { cause: { code: LOST[reply], message: reply } });
    if (typeof reply === "function") return reply(request);
    const fields = typeof reply === "number" ? { status: reply } : reply;
    const headers = { "Content-Type": "application/json", ...fields.headers };
    if (fields.retry_after !== undefined) headers["Retry-After"] = fields.retry_after;
    const hasBody = ![204, 304].includes(fields.status);
    return new Response(hasBody ? JSON.stringify(fields) : null, { status: fields.status, headers });
  };
  return { sent, client: new Client({ url: "http://gateway.test/", key: "key", backoffS: 0, fetch, ...options }) };
}

// A stream of one byte at a time; `ends` says how: by itself, broken, or never.
const stream = (text, ends = "closed") => (request) => {
  const bytes = new TextEncoder().encode(text);
  let next = 0;
  const body = new ReadableStream({
    pull(controller) {
      if (next < bytes.length) controller.enqueue(bytes.slice(next, ++next));
      else if (ends === "closed") controller.close();
      else if (ends === "broken") controller.error(new TypeError("terminated"));
      else return new Promise((_, reject) => request.signal.addEventListener("abort", () => reject(request.signal.reason)));
    },
  });
  return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
};

async function all(events) {
  const found = [];
  for await (const event of events) found.push(event);
  return found;
}

for (const { case: name, method, replies, sent: count, ...options } of JSON.parse(readFileSync("retries.json"))) {
  test(name, async () => {
    const { client, sent } = scripted(replies);
    const last = replies[count - 1];
    if (typeof last === "number" && last < 400) {
      assert.equal((await client.request(method, "/x", options)).status, last);
    } else {
      await assert.rejects(client.request(method, "/x", options), NearhitError);
    }
    assert.equal(sent.length, count);
  });
}

test("an error has the fields of its problem", async () => {
  const errors = [{ field: "text", detail: "is one too many" }];
  const problem = { type: "urn:nearhit:problem:quota-exceeded", title: "Quota exceeded", detail: "Full.", errors };
  const headers = { "X-Request-Id": "r-1", "Retry-After": "7" };
  const { client } = scripted([{ status: 409, ...problem, quota: "documents", headers }], { retriesMax: 0 });

  const error = await client.putDocument("team/leave", { text: "25 days" }).catch((error) => error);

  assert.ok(error instanceof NearhitError);
  assert.deepEqual([error.status, error.kind, error.detail, error.retryAfterS], [409, "quota-exceeded", "Full.", 7]);
  assert.deepEqual([error.errors, error.problem.quota, error.requestId], [errors, "documents", "r-1"]);
  assert.equal(error.message, "409 Quota exceeded: Full. text: is one too many");
});

test("identifiers, parameters and bodies are encoded", async () => {
  const { client, sent } = scripted([200, 200, 200]);

  await client.getDocument("team/a b", { chunks: "true", tenant: undefined });
  await client.search({ query: "leave" });
  await client.putBatch([{ document_id: "a", text: "x" }, { document_id: "b", text: "y" }]);

  assert.equal(sent[0].url, "http://gateway.test/v1/documents/team%2Fa%20b?chunks=true");
  assert.deepEqual(sent[1].headers, { Authorization: "Bearer key", "Content-Type": "application/json" });
  assert.equal(sent[2].body, '{"document_id":"a","text":"x"}\n{"document_id":"b","text":"y"}\n');
});

for (const ends of ["closed", "broken"]) {
  test(`a subscription goes on after the last event of a stream that is ${ends}`, async () => {
    const { client, sent } = scripted([stream(FIRST, ends), 503, stream("", "broken"), stream(ENDED)]);

    const events = await all(client.events("sub_1"));

    assert.deepEqual(events, [
      { name: "answer", data: { number: 4 }, id: "4-a" },
      { name: "ended", data: { reason: "deleted" }, id: "" },
    ]);
    const after = sent.map((request) => request.headers["Last-Event-ID"]);
    assert.deepEqual(after, [undefined, "4-a", "4-a", "4-a"]);
  });
}

test("a subscription that is refused is over", async () => {
  const { client } = scripted([stream(FIRST), 401]);
  await assert.rejects(all(client.events("sub_1")), { status: 401 });
});

test("half an answer is an error", async () => {
  for (const [reply, status] of [
    [stream(DELTA + ERROR), 503],
    [stream(DELTA, "broken"), 0],
    [stream(DELTA), 0],
  ]) {
    const { client, sent } = scripted([reply]);
    await assert.rejects(all(client.streamAnswer({ query: "leave" })), { name: "NearhitError", status });
    assert.equal(sent.length, 1);
  }
});

test("an answer is asked for again before it has begun, and read as it comes", async () => {
  const { client } = scripted([503, stream(`${DELTA}event: done\ndata: {}\n\n`)]);
  const events = await all(client.streamAnswer({ query: "leave" }));
  assert.deepEqual(events.map(({ data }) => data), [{ text: "25 dias até já" }, {}]);
});

test("silence is a lost connection", async () => {
  const { client } = scripted([stream(DELTA, "never")], { timeoutS: 0.05 });
  await assert.rejects(all(client.streamAnswer({ query: "leave" })), { status: 0, kind: "unreachable" });

  const silent = scripted([stream("", "never")], { timeoutS: 0.05, retriesMax: 0 });
  await assert.rejects(silent.client.search({ query: "leave" }), { status: 0, kind: "unreachable" });
});

test("what the caller ends is not tried again", async () => {
  const caller = new AbortController();
  const { client, sent } = scripted([
    (request) => (caller.abort(new Error("left")), Promise.reject(request.signal.reason)),
  ]);
  await assert.rejects(client.search({ query: "leave" }, { signal: caller.signal }), { message: "left" });
  assert.equal(sent.length, 1);
});
