import type { components } from "./openapi.js";

type Problem = Partial<components["schemas"]["Problem"]>;

const BEFORE_SENDING = ["EAI_AGAIN", "ECONNREFUSED", "ENOTFOUND", "UND_ERR_CONNECT_TIMEOUT"]; // in Node.js
const TEMPORARY = [429, 502, 503, 504];

/**
 * A call failed. Its fields are those of the gateway's problem document (RFC 9457).
 *
 * status: of HTTP; 0 if the connection failed. type: what went wrong, for programs; `kind` is its
 * last part, such as `invalid-field`. problem: the whole document, with members such as `quota`.
 * wasSent: whether the gateway may have seen the request.
 */
export class NearhitError extends Error {
  readonly type: string;
  readonly title: string;
  readonly detail: string;
  readonly errors: { field: string; detail: string }[];

  constructor(
    readonly status: number,
    readonly problem: Problem,
    readonly retryAfterS?: number,
    readonly requestId?: string,
    readonly wasSent = true,
  ) {
    const title = problem.title ?? `Status ${status}`;
    const fields = (problem.errors ?? []).map((error) => `${error.field}: ${error.detail}`);
    super([`${status} ${title}: ${problem.detail ?? ""}`, ...fields].join(" "));
    this.name = "NearhitError";
    this.type = problem.type ?? "about:blank";
    this.title = title;
    this.detail = problem.detail ?? "";
    this.errors = problem.errors ?? [];
  }

  get kind(): string {
    return this.type.slice(this.type.lastIndexOf(":") + 1);
  }

  /** Whether the same call may succeed in a moment. */
  get isTemporary(): boolean {
    return this.status === 0 || TEMPORARY.includes(this.status) || this.retryAfterS !== undefined;
  }
}

/** response: one that is no success. */
export async function ofResponse(response: Response): Promise<NearhitError> {
  const text = await response.text();
  const after = response.headers.get("retry-after") ?? "";
  return new NearhitError(
    response.status,
    parseObject(text) ?? { detail: text.slice(0, 1000) },
    /^\d+$/.test(after) ? Number(after) : undefined,
    response.headers.get("x-request-id") ?? undefined,
  );
}

/** cause: what `fetch` threw. */
export function unreachable(cause: unknown): NearhitError {
  const { message, code } = ((cause as Error).cause ?? cause) as { message?: string; code?: string };
  const detail = [code, message].filter(Boolean).join(": ");
  const problem = { type: "urn:nearhit:problem:unreachable", title: "No answer", detail };
  return new NearhitError(0, problem, undefined, undefined, !BEFORE_SENDING.includes(code ?? ""));
}

function parseObject(text: string): Problem | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined; // of something in between
  }
}
