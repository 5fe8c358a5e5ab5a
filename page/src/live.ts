// What happens, as it happens: one stream for the whole page.
//
// Owns the connection, and comes back by itself when it breaks. After every gap `epoch` moves on, and
// whoever shows something reads it anew; so nothing polls, and nothing that was missed stays missed.
// A page that nobody looks at lets its connection go: browsers allow six to one server.

import { signal } from "@preact/signals";
import { know } from "./api";
import { parse } from "./json";
import type { Run, Tally } from "./types";

export type Status = "connecting" | "live" | "lost";
export const status = signal<Status>("connecting");
/** Moves on when everything must be read again. */
export const epoch = signal(0);
export const tally = signal<Tally | null>(null);

const onRuns = new Set<(run: Run) => void>();
const onReleases = new Set<(flow: string) => void>();

const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 8000;
/** How long a page may be out of sight before its connection goes. */
const HIDDEN_FOR = 20_000;

let source: EventSource | null = null;
let pause = FIRST_PAUSE;
let again: number | undefined;
let hide: number | undefined;
let gap = false;

/** Hears of every run that changes, until the function that it gives is called. */
export function hearRuns(hear: (run: Run) => void): () => void {
  onRuns.add(hear);
  return () => void onRuns.delete(hear);
}

/** Hears of every release that goes live. */
export function hearReleases(hear: (flow: string) => void): () => void {
  onReleases.add(hear);
  return () => void onReleases.delete(hear);
}

function listen<T>(stream: EventSource, name: string, hear: (told: T) => void): void {
  stream.addEventListener(name, (event) => hear(parse((event as MessageEvent<string>).data) as T));
}

function open(): void {
  window.clearTimeout(again);
  source?.close();
  const stream = new EventSource("/v1/live");
  source = stream;
  stream.onopen = () => {
    pause = FIRST_PAUSE;
    status.value = "live";
    if (gap) readAnew();
    gap = false;
  };
  stream.onerror = () => {
    stream.close();
    if (source !== stream) return;
    status.value = "lost";
    gap = true;
    // A stream does not say why it ended. If the session has, the page must say so.
    know().catch(() => {});
    again = window.setTimeout(open, pause * (0.75 + Math.random() / 2));
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  };
  listen<Run>(stream, "run", (run) => onRuns.forEach((hear) => hear(run)));
  listen<Tally>(stream, "tally", (told) => (tally.value = told));
  listen<{ flow: string }>(stream, "release", ({ flow }) => onReleases.forEach((hear) => hear(flow)));
  listen<unknown>(stream, "lost", readAnew);
}

function readAnew(): void {
  epoch.value += 1;
}

/** Begins, once. */
export function follow(): void {
  open();
  document.addEventListener("visibilitychange", () => {
    window.clearTimeout(hide);
    if (document.hidden) hide = window.setTimeout(rest, HIDDEN_FOR);
    else if (source === null) open();
  });
  // A page that comes back out of the browser's memory has no connection any more.
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) rest(), open();
  });
}

function rest(): void {
  window.clearTimeout(again);
  source?.close();
  source = null;
  gap = true;
  status.value = "connecting";
}
