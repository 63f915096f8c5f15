import type { NearhitError } from "./errors.js";

const BACKOFF_S_MAX = 8;

/**
 * retriesMax: of one call; 0 for none. backoffS: the first wait, which doubles each time.
 * waitSMax: a call for which the gateway asks to wait longer fails at once.
 */
export interface Retries {
  retriesMax: number;
  backoffS: number;
  waitSMax: number;
}

/**
 * The seconds until the next try; undefined if there is none.
 *
 * retried: how often before. isRepeatable: whether the call may be carried out twice; else it is
 * sent again only if the gateway has certainly done nothing.
 */
export function waitS(retries: Retries, error: NearhitError, retried: number, isRepeatable: boolean): number | undefined {
  const nothingWasDone = !error.wasSent || error.status === 429 || error.kind === "overloaded";
  if (!error.isTemporary || !(isRepeatable || nothingWasDone) || retried >= retries.retriesMax) return undefined;
  const seconds = error.retryAfterS ?? ownWaitS(retries, retried);
  // Callers that were refused together come back apart.
  return seconds > retries.waitSMax ? undefined : seconds * (1 + Math.random() / 4);
}

/** If the gateway does not ask for another. */
export function ownWaitS({ backoffS }: Retries, retried: number): number {
  return Math.min(backoffS * 2 ** retried, BACKOFF_S_MAX);
}
