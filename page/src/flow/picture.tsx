// The picture of a flow, as the server draws it, with live counts on its steps.
//
// The drawing is parsed, not inserted: only the elements and attributes that a drawing needs pass, so
// that nothing in it can act.

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { count } from "../ui/text";

const SVG = "http://www.w3.org/2000/svg";
const ELEMENTS = new Set(["svg", "g", "rect", "path", "text", "tspan", "line", "circle", "polygon", "defs", "marker", "title"]);
const ATTRIBUTES = new Set([
  "viewBox", "width", "height", "role", "aria-label", "class", "data-step", "transform", "x", "y", "x1", "x2", "y1", "y2", "rx", "ry", "r", "cx", "cy",
  "d", "points", "id", "refX", "refY", "markerWidth", "markerHeight", "orient", "marker-end", "text-anchor",
]);

export interface StepCounts {
  done: number;
  failed: number;
  unknown: number;
  blocked: number;
  under_way: number;
}

/** A copy of a drawing that has nothing but lines and words. */
function drawing(from: Element): SVGElement | null {
  if (from.namespaceURI !== SVG || !ELEMENTS.has(from.localName)) return null;
  const to = document.createElementNS(SVG, from.localName);
  for (const { name, value } of Array.from(from.attributes)) {
    // What points at something may point into the drawing only.
    if (ATTRIBUTES.has(name) && (!value.includes("url(") || /^url\(#[\w-]+\)$/.test(value))) to.setAttribute(name, value);
  }
  for (const child of Array.from(from.childNodes)) {
    if (child.nodeType === Node.TEXT_NODE) to.append(child.textContent ?? "");
    const copied = child instanceof Element ? drawing(child) : null;
    if (copied) to.append(copied);
  }
  return to;
}

const WORDS: [keyof StepCounts, string][] = [
  ["under_way", "busy"],
  ["done", "good"],
  ["failed", "bad"],
  ["unknown", "doubt"],
  ["blocked", "block"],
];
const SIGNS: Record<string, string> = { under_way: "◔", done: "✓", failed: "×", unknown: "?", blocked: "⛨" };

/** Writes a step's counts into the lower right corner of its card. */
function annotate(svg: SVGElement, counts: Record<string, StepCounts>): void {
  svg.querySelectorAll(".counts").forEach((old) => old.remove());
  for (const group of Array.from(svg.querySelectorAll("g.step, g.gate"))) {
    const told = counts[group.getAttribute("data-step") ?? ""];
    const card = group.querySelector("rect.card");
    if (!told || !card) continue;
    const place = (name: string): number => Number(card.getAttribute(name));
    const text = document.createElementNS(SVG, "text");
    text.setAttribute("class", "counts");
    text.setAttribute("x", String(place("x") + place("width") - 12));
    text.setAttribute("y", String(place("y") + place("height") - 12));
    text.setAttribute("text-anchor", "end");
    const parts = WORDS.filter(([name]) => told[name] > 0);
    for (const [index, [name, tone]] of parts.entries()) {
      const part = document.createElementNS(SVG, "tspan");
      part.setAttribute("class", `${tone}-text`);
      part.textContent = `${index > 0 ? "  " : ""}${SIGNS[name]} ${count(told[name])}`;
      text.append(part);
    }
    const title = document.createElementNS(SVG, "title");
    title.textContent = parts.map(([name]) => `${name.replace("_", " ")} ${told[name]}`).join(", ");
    text.append(title);
    if (parts.length > 0) group.append(text);
  }
}

export function Picture(props: { svg: string; counts?: Record<string, StepCounts> | null }): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<SVGElement | null>(null);
  useEffect(() => {
    const parsed = new DOMParser().parseFromString(props.svg, "image/svg+xml");
    drawn.current = drawing(parsed.documentElement);
    place.current?.replaceChildren(...(drawn.current ? [drawn.current] : []));
  }, [props.svg]);
  useEffect(() => {
    if (drawn.current && props.counts) annotate(drawn.current, props.counts);
  }, [props.svg, props.counts]);
  return <div class="picture" ref={place} tabIndex={0} role="group" aria-label="The flow as a picture" />;
}
