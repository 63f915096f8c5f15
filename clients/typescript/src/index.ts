export { Client } from "./client.js";
export { NearhitError } from "./errors.js";
export type { NearhitEvent } from "./events.js";
export type { components } from "./openapi.js";
export type { ClientOptions } from "./transport.js";
export type { Answer, Body, Options, Query } from "./wire.js";
