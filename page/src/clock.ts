// What time it is, as the server sees it.
//
// Times of the server are compared with the server's clock, so that a viewer whose clock is wrong
// still reads "2 minutes ago". One timer turns the whole page's relative times.

import { signal } from "@preact/signals";

let ahead = 0;

/** Learns the server's time from an answer's `Date`. */
export function nowIs(date: string | null): void {
  const told = date === null ? Number.NaN : Date.parse(date);
  // `Date` has whole seconds, and answers take time: less than two tell nothing.
  if (!Number.isNaN(told)) ahead = Math.abs(told - Date.now()) > 2000 ? told - Date.now() : 0;
}

export const now = (): number => Date.now() + ahead;

/** Changes every ten seconds: whatever shows a relative time reads it. */
export const tick = signal(0);
setInterval(() => {
  if (!document.hidden) tick.value += 1;
}, 10_000);

const UNITS: [number, string][] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1000, "s"],
];

/** A length of time in at most two units. */
export function length(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const at = UNITS.findIndex(([unit]) => ms >= unit);
  const [unit, name] = UNITS[at] ?? [1000, "s"];
  const whole = Math.floor(ms / unit);
  const below = UNITS[at + 1];
  if (!below || whole >= 10) return `${whole} ${name}`;
  const rest = Math.floor((ms % unit) / below[0]);
  return rest === 0 ? `${whole} ${name}` : `${whole} ${name} ${rest} ${below[1]}`;
}

/** How long ago, or in how long. */
export function relative(at: number): string {
  const since = now() - at;
  if (Math.abs(since) < 5000) return "now";
  return since < 0 ? `in ${length(-since)}` : `${about(since)} ago`;
}

/** A length of time in one unit. */
export function about(ms: number): string {
  const [unit, name] = UNITS.find(([unit]) => ms >= unit) ?? [1000, "s"];
  return `${Math.floor(ms / unit)} ${name}`;
}

/** The exact time in the viewer's zone, with the zone. */
export function exact(at: number): string {
  const date = new Date(at);
  const two = (value: number, digits = 2): string => String(value).padStart(digits, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${two(date.getMilliseconds(), 3)}`;
  const minutes = -date.getTimezoneOffset();
  const zone = `${minutes < 0 ? "−" : "+"}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
  return `${day} ${time} ${zone}`;
}

/** The time of day in the viewer's zone, with the day if it is another. */
export function clock(at: number): string {
  const date = new Date(at);
  const time = date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
  const sameDay = date.toDateString() === new Date(now()).toDateString();
  return sameDay ? time : `${date.toLocaleDateString([], { month: "short", day: "numeric" })}, ${time}`;
}
