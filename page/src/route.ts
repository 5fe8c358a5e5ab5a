// Where in the page the viewer is. The address is the state: filters and tabs are in it, so that a
// link shows another person the same.

import { signal } from "@preact/signals";

export const path = signal(location.pathname);
export const search = signal(location.search);

/** Asked before the viewer leaves; false keeps them. */
let guard: (() => boolean) | null = null;
export function beforeLeaving(ask: (() => boolean) | null): void {
  guard = ask;
}

const HOME = "/";
const UNDER = "/app/";

export const isPage = (pathname: string): boolean => pathname === HOME || pathname.startsWith(UNDER);

/** Goes to another place in the page. */
export function go(href: string, replace = false): void {
  const to = new URL(href, location.href);
  const elsewhere = to.pathname !== path.value;
  if (elsewhere && guard && !guard()) return;
  if (elsewhere) guard = null;
  history[replace ? "replaceState" : "pushState"](null, "", to);
  arrive(elsewhere);
}

function arrive(elsewhere: boolean): void {
  path.value = location.pathname;
  search.value = location.search;
  if (!elsewhere) return;
  window.scrollTo(0, 0);
  // Screen readers and the keyboard begin at the new page's heading.
  requestAnimationFrame(() => document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true }));
}

/** Sets parameters of the address; an empty one is taken out. */
export function setQuery(values: Record<string, string | null>, replace = true): void {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(values)) {
    if (value === null || value === "") query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  go(location.pathname + (text === "" ? "" : `?${text}`), replace);
}

export const query = (name: string): string => new URLSearchParams(search.value).get(name) ?? "";

/** The segments behind `/app/`, as they were before they were put into the address. */
export function segments(): string[] {
  if (!path.value.startsWith(UNDER)) return [];
  return path.value.slice(UNDER.length).split("/").map(plain);
}

function plain(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

export const link = (...parts: string[]): string => UNDER + parts.map(encodeURIComponent).join("/");

window.addEventListener("popstate", () => arrive(location.pathname !== path.value));
document.addEventListener("click", (event) => {
  const anchor = (event.target as Element).closest?.("a");
  const plainly = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!anchor || !plainly || event.defaultPrevented || anchor.target || anchor.hasAttribute("download")) return;
  if (anchor.origin !== location.origin || !isPage(anchor.pathname) || anchor.getAttribute("href")?.startsWith("#")) return;
  event.preventDefault();
  go(anchor.href);
});
