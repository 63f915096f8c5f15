import { NearhitError, ofResponse, unreachable } from "./errors.js";
import { eventsOf } from "./events.js";
import type { NearhitEvent } from "./events.js";
import { ownWaitS, waitS } from "./retries.js";
import type { Retries } from "./retries.js";
import { address, content, decode, inPath, isRepeatable } from "./wire.js";
import type { Body, Call, Options } from "./wire.js";

const RETRIES: Retries = { retriesMax: 3, backoffS: 0.25, waitSMax: 30 };

/** timeoutS: of one try, and of each wait for more of a stream. fetch: another implementation. */
export interface ClientOptions extends Partial<Retries> {
  url: string;
  key?: string;
  timeoutS?: number;
  fetch?: typeof fetch;
}

/** Sends calls, again where that helps, and reads streams: what `Client` has besides its calls. */
export class Transport {
  readonly #options: Required<ClientOptions>;

  constructor(options: ClientOptions) {
    this.#options = { key: "", timeoutS: 60, ...RETRIES, fetch: globalThis.fetch, ...options };
  }

  /** The response with its headers; its body is not read yet. Throws `NearhitError`. */
  request(method: string, path: string, call: Call = {}): Promise<Response> {
    return this.#send(method, path, call, async (response) => response);
  }

  /** The body of the response. Throws `NearhitError`. */
  call(method: string, path: string, call: Call = {}): Promise<any> {
    return this.#send(method, path, call, decode);
  }

  /**
   * `postAnswer` as events: `retrieved`, then `delta` and `citation`, at the end `done`.
   *
   * Throws `NearhitError`, also for the event `error`.
   */
  async *streamAnswer(body: Body<"post_answer">, options?: Options): AsyncGenerator<NearhitEvent> {
    const call = { body: { ...body, stream: true }, repeats: true, ...options };
    for await (const event of this.#stream("POST", "/v1/answer", call)) {
      if (event.name === "error") throw new NearhitError(event.data.status, event.data);
      yield event;
      if (event.name === "done") return;
    }
    throw unreachable(new Error("the stream ended before its last event"));
  }

  /**
   * The events of a subscription, for as long as it lasts: `answer`, at the end `ended`.
   *
   * It connects again when the connection is lost. lastEventId: of an earlier event, to go on after it.
   */
  async *events(subscriptionId: string, lastEventId = "", signal?: AbortSignal): AsyncGenerator<NearhitEvent> {
    const path = `/v1/subscriptions/${inPath(subscriptionId)}/events`;
    for (let failed = 0; ; failed++) {
      const headers: Record<string, string> = lastEventId ? { "Last-Event-ID": lastEventId } : {};
      try {
        for await (const event of this.#stream("GET", path, { headers, signal })) {
          failed = 0;
          lastEventId = event.id || lastEventId;
          yield event;
          if (event.name === "ended") return;
        }
      } catch (error) {
        if (!(error instanceof NearhitError && error.isTemporary)) throw error;
      }
      await sleep(ownWaitS(this.#options, failed), signal);
    }
  }

  async *#stream(method: string, path: string, call: Call): AsyncGenerator<NearhitEvent> {
    const response = await this.request(method, path, call);
    try {
      yield* eventsOf(response, this.#options.timeoutS);
    } catch (error) {
      call.signal?.throwIfAborted();
      throw unreachable(error);
    }
  }

  async #send<T>(method: string, path: string, call: Call, read: (response: Response) => Promise<T>): Promise<T> {
    const { url, key } = this.#options;
    const [body, mediaType] = content(call) ?? [];
    const headers = {
      ...(key && { Authorization: `Bearer ${key}` }),
      ...(mediaType && { "Content-Type": mediaType }),
      ...call.headers,
    };
    const attempt = async (signal: AbortSignal): Promise<T | NearhitError> => {
      const request: RequestInit = { method, headers, body, signal, redirect: "manual" };
      const response = await this.#options.fetch(address(url, path, call.query), request);
      return response.ok || response.status === 304 ? read(response) : ofResponse(response);
    };
    for (let retried = 0; ; retried++) {
      const answer = await this.#within(call.signal, attempt);
      if (!(answer instanceof NearhitError)) return answer;
      const seconds = waitS(this.#options, answer, retried, isRepeatable(method, call));
      if (seconds === undefined) throw answer;
      await sleep(seconds, call.signal);
    }
  }

  /** A failure to connect is a value; what the caller has aborted is thrown. */
  async #within<T>(
    signal: AbortSignal | undefined,
    attempt: (signal: AbortSignal) => Promise<T | NearhitError>,
  ): Promise<T | NearhitError> {
    const timeout = new AbortController();
    const silence = new Error(`no answer for ${this.#options.timeoutS} s`);
    const timer = setTimeout(() => timeout.abort(silence), this.#options.timeoutS * 1000);
    try {
      return await attempt(AbortSignal.any([timeout.signal, ...(signal ? [signal] : [])]));
    } catch (error) {
      signal?.throwIfAborted();
      return unreachable(error);
    } finally {
      clearTimeout(timer);
    }
  }
}

function sleep(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const timer = setTimeout(resolve, seconds * 1000);
    signal?.addEventListener("abort", () => (clearTimeout(timer), reject(signal.reason)), { once: true });
  });
}
