// Every request to the server.
//
// Owns how it is asked (the session's cookie, its token against forgery) and how a refusal is read.
// Leaves to its callers what to ask. A request that may have changed something is never repeated here.

import { signal } from "@preact/signals";
import { type Json, isObject, parse } from "./json";
import { nowIs } from "./clock";
import type { Session } from "./types";

/** Who looks at the page. Set before anything is shown. */
export const session = signal<Session | null>(null);
/** The session ended while the page was open. */
export const loggedOut = signal(false);

/** Whether the viewer may do what needs this scope; the server decides anyway. */
export const may = (scope: string): boolean => session.value?.scopes.includes(scope) ?? false;

/** A refusal, as the server's problem documents tell it. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly title: string,
    readonly detail: string,
    readonly fix: string | null,
    readonly more: { [name: string]: Json },
  ) {
    super(detail);
  }
}

const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");

function problemOf(status: number, body: Json): Problem {
  const more = isObject(body) ? body : {};
  const detail = text(more.detail) || `the server answered ${status}`;
  return new Problem(status, text(more.code) || "none", text(more.title), detail, text(more.fix) || null, more);
}

/** What became of a request that was not answered; whether it changed anything nobody knows. */
function unreachable(): Problem {
  const fix = "this page goes on by itself when it is back";
  return new Problem(0, "unreachable", "No answer", "the server cannot be reached", fix, {});
}

export interface Asking {
  /** What is sent, as it is. */
  text?: string;
  json?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** Asks, and gives the answer's text. Throws [`Problem`]. */
async function ask(method: string, path: string, asking: Asking): Promise<string> {
  try {
    return await askOnce(method, path, asking);
  } catch (error) {
    // Somebody logged in anew in another window: the token is another one. What was refused for that changed nothing.
    if (!(error instanceof Problem) || error.code !== "cross_site" || method === "GET") throw error;
    await know();
    return askOnce(method, path, asking);
  }
}

/** Learns who is looking. Throws [`Problem`]. */
export async function know(): Promise<void> {
  session.value = parse(await askOnce("GET", "/v1/session", {})) as unknown as Session;
}

async function askOnce(method: string, path: string, asking: Asking): Promise<string> {
  const headers: Record<string, string> = { Accept: "application/json", ...asking.headers };
  const body = asking.text ?? (asking.json === undefined ? undefined : JSON.stringify(asking.json));
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (method !== "GET" && session.value) headers["Semel-Csrf"] = session.value.csrf;
  let response: Response;
  let answer: string;
  try {
    response = await fetch(path, {
      method,
      headers,
      cache: "no-store",
      credentials: "same-origin",
      redirect: "error",
      ...(body === undefined ? {} : { body }),
      ...(asking.signal ? { signal: asking.signal } : {}),
    });
    answer = await response.text();
  } catch (error) {
    if (asking.signal?.aborted) throw error;
    throw unreachable();
  }
  nowIs(response.headers.get("Date"));
  loggedOut.value = response.status === 401 && session.value !== null;
  if (response.ok) return answer;
  throw problemOf(response.status, read(answer));
}

function read(answer: string): Json {
  try {
    return parse(answer);
  } catch {
    return null;
  }
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return parse(await ask("GET", path, signal ? { signal } : {})) as T;
}

export async function getText(path: string, signal?: AbortSignal): Promise<string> {
  return ask("GET", path, signal ? { signal } : {});
}

export async function send<T>(method: string, path: string, asking: Asking = {}): Promise<T> {
  const answer = await ask(method, path, asking);
  return (answer === "" ? null : parse(answer)) as T;
}

/** A path with parameters; those without a value are left out. */
export function url(path: string, parameters: Record<string, string | number | null | undefined>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== "") query.append(name, String(value));
  }
  const text = query.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** The parts of a key in its text form. */
export function partsOf(key: string): string[] {
  return key.split("/").map((part) => part.replaceAll("%2F", "/").replaceAll("%25", "%"));
}

/** Where the API has an effect. */
export function effectPath(scope: string, parts: string[]): string {
  const [first = "", ...rest] = parts;
  const query = rest.map((part) => `part=${encodeURIComponent(part)}`).join("&");
  const path = `/v1/ledger/${encodeURIComponent(scope)}/${encodeURIComponent(first)}`;
  return query === "" ? path : `${path}?${query}`;
}
