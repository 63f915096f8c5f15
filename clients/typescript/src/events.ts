/** One event of a stream. id: where `events` of a subscription goes on from; else empty. */
export interface NearhitEvent {
  name: string;
  data: any;
  id: string;
}

const EVENT_LENGTH_MAX = 64 * 1024 * 1024; // a hit has some thousand characters, an answer many hits

/** The events of a stream as they come. silenceS: the longest wait for more of it. */
export async function* eventsOf(response: Response, silenceS: number): AsyncGenerator<NearhitEvent> {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await within(silenceS, reader.read());
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop()!;
      if (text.length > EVENT_LENGTH_MAX) throw new Error("an event is too long");
      yield* blocks.map(parse).filter((event) => event !== undefined);
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

async function within<T>(seconds: number, promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing came for ${seconds} s`)), seconds * 1000);
  });
  return Promise.race([promise, silence]).finally(() => clearTimeout(timer));
}

/** Undefined for a comment. */
function parse(block: string): NearhitEvent | undefined {
  const fields = new Map(block.split("\n").map((line) => [line.split(":", 1)[0], line.replace(/^\w*: ?/, "")]));
  const data = fields.get("data");
  if (data === undefined) return undefined;
  return { name: fields.get("event") ?? "message", data: JSON.parse(data), id: fields.get("id") ?? "" };
}
