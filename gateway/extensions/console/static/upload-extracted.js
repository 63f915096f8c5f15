/* Uploads files whose text the gateway extracts, by the API of vector stores. */

import { call, segment } from "./api.js";
import { currentCaller, isOn } from "./session.js";

const MADE_BY = "console";
const POLL_MS = 500;
const WAIT_MS = 60_000; // then a worker goes on with it
const STORES_MAX = 100;

/** Whether the file needs no extraction, by its name. */
export const isText = (name) => !name.includes(".") || /\.(md|markdown|txt)$/i.test(name);

/** Write the file as a document that the readers may read. Answers `written` or `queued`. */
export async function uploadExtracted(file, readers) {
  if (!isOn("vector_stores")) throw new Error("This gateway takes text and Markdown alone: its extension vector_stores is off.");
  const store = await storeFor(readers);
  const form = new FormData();
  form.append("purpose", "assistants");
  form.append("file", file, file.name);
  const uploaded = (await call("POST", "/v1/files", { raw: { text: form } })).data;
  const path = `/v1/vector_stores/${segment(store)}/files`;
  let attached = (await call("POST", path, { body: { file_id: uploaded.id } })).data;
  const ends = Date.now() + WAIT_MS;
  while (attached.status === "in_progress" && Date.now() < ends) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    attached = (await call("GET", `${path}/${segment(uploaded.id)}`)).data;
  }
  if (attached.status === "in_progress") return "queued";
  if (attached.status === "completed") return "written";
  throw new Error(attached.last_error?.message ?? "No text could be extracted.");
}

/** The caller's store for uploads with these readers: a document takes the readers of its store. */
async function storeFor(readers) {
  const { subject } = currentCaller();
  const isSame = (store) =>
    store.metadata.made_by === MADE_BY && store.metadata.subject === subject && String([...store.readers].sort()) === String([...readers].sort());
  const { data } = await call("GET", "/v1/vector_stores", { query: { limit: STORES_MAX } });
  const found = data.data.find(isSame);
  if (found) return found.id;
  const body = { name: "Uploads", metadata: { made_by: MADE_BY, subject }, readers };
  return (await call("POST", "/v1/vector_stores", { body })).data.id;
}
