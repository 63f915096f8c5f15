import type { operations } from "./openapi.js";

type Operations = operations;
export type OperationName = keyof Operations;
type ContentOf<T> = T extends { content: infer Content } ? Content : never;
type Json<Content> = {
  [Type in keyof Content]: Type extends "application/json" | "application/x-ndjson" ? Content[Type] : never;
}[keyof Content];
type Success = 200 | 201 | 202;
type SuccessOf<Responses> = { [Status in keyof Responses & Success]: Responses[Status] }[keyof Responses & Success];

/** The body of a call's request, by `operationId`. */
export type Body<Name extends OperationName> = Json<ContentOf<NonNullable<Operations[Name]["requestBody"]>>>;
/** The parameters that a call has in its query. */
export type Query<Name extends OperationName> = NonNullable<Operations[Name]["parameters"]["query"]>;
/** The body of a call's answer. */
export type Answer<Name extends OperationName> = Json<ContentOf<SuccessOf<Operations[Name]["responses"]>>>;

/** Of each call. headers: such as `If-Match` and `Nearhit-Min-Revision`. */
export interface Options {
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** Of body (an object), lines (objects) and text at most one is given. repeats: whether the call may be carried out twice; by default if its method says so. */
export interface Call extends Options {
  query?: object;
  body?: unknown;
  lines?: Iterable<unknown>;
  text?: string;
  repeats?: boolean;
}

const REPEATABLE = ["GET", "PUT", "DELETE"];

/** One with a precondition is not: it would refuse its own second time. */
export function isRepeatable(method: string, call: Call): boolean {
  const hasPrecondition = Object.keys(call.headers ?? {}).some((name) => /^if-(none-)?match$/i.test(name));
  return method === "GET" || ((call.repeats === true || REPEATABLE.includes(method)) && !hasPrecondition);
}

/** An identifier as one part of a path, even if it holds slashes. */
export function inPath(value: string | number): string {
  return encodeURIComponent(value);
}

export function address(url: string, path: string, query: object = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `${url.replace(/\/+$/, "")}${path}${text ? `?${text}` : ""}`;
}

/** The body of a request, and its media type. */
export function content(call: Call): [string, string] | undefined {
  if (call.body !== undefined) return [JSON.stringify(call.body), "application/json"];
  if (call.lines !== undefined) {
    return [Array.from(call.lines, (line) => `${JSON.stringify(line)}\n`).join(""), "application/x-ndjson"];
  }
  return call.text === undefined ? undefined : [call.text, "text/csv"];
}

/** The body of a response: of lines an array, of a table its text; undefined without one. */
export async function decode(response: Response): Promise<any> {
  const text = await response.text();
  const mediaType = response.headers.get("content-type")?.split(";")[0];
  if (text === "") return undefined;
  if (mediaType === "application/json") return JSON.parse(text);
  if (mediaType === "application/x-ndjson") return text.trim().split("\n").map((line) => JSON.parse(line));
  return text;
}
