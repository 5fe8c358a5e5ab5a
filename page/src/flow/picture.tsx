// The picture of a flow, as the server draws it, with live counts on its steps.
//
// The drawing is parsed, not inserted: only the elements and attributes that a drawing needs pass, so
// that nothing in it can act.

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { SHAPES } from "../ui/state";
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

/** What is counted, with its shape and tone. */
const WORDS: [keyof StepCounts, string, string][] = [
  ["under_way", "running", "busy"],
  ["done", "done", "good"],
  ["failed", "failed", "bad"],
  ["unknown", "unknown", "doubt"],
  ["blocked", "blocked", "block"],
];
/** About how wide a digit is. */
const DIGIT = 7.6;

function made(name: string, attributes: Record<string, string | number>, text?: string): SVGElement {
  const element = document.createElementNS(SVG, name);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, String(value));
  if (text !== undefined) element.textContent = text;
  return element;
}

/** Puts a step's counts on the lower edge of its card. */
function annotate(svg: SVGElement, counts: Record<string, StepCounts>): void {
  svg.querySelectorAll(".counts").forEach((old) => old.remove());
  for (const group of Array.from(svg.querySelectorAll("g[data-step]"))) {
    const told = counts[group.getAttribute("data-step") ?? ""];
    const card = group.querySelector("rect.card");
    const parts = WORDS.filter(([name]) => (told?.[name] ?? 0) > 0);
    if (!told || !card || parts.length === 0) continue;
    const side = (name: string): number => Number(card.getAttribute(name));
    const width = parts.reduce((sum, [name]) => sum + 26 + count(told[name]).length * DIGIT, 8);
    const pill = made("g", { class: "counts", transform: `translate(${side("x") + side("width") - width - 8},${side("y") + side("height") - 11})` });
    pill.append(made("rect", { x: 0, y: 0, width, height: 22, rx: 11 }));
    pill.append(made("title", {}, parts.map(([name]) => `${name.replace("_", " ")}: ${told[name]}`).join(", ")));
    let x = 10;
    for (const [name, shape, tone] of parts) {
      const part = made("g", { class: tone, transform: `translate(${x},4.5) scale(0.8)` });
      part.append(made("path", { d: SHAPES[shape] ?? "" }), made("text", { x: 20, y: 12.5 }, count(told[name])));
      pill.append(part);
      x += 26 + count(told[name]).length * DIGIT;
    }
    // Behind everything else in the drawing's order, so in front of its arrows.
    group.parentNode?.append(pill);
  }
}

export function Picture(props: { svg: string; counts?: Record<string, StepCounts> | null }): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<SVGElement | null>(null);
  useEffect(() => {
    // Its own colours are left out: the page has its own for it, and the browser would complain of an inline style.
    const text = props.svg.replace(/<style>[^<]*<\/style>/, "");
    const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
    drawn.current = drawing(parsed.documentElement);
    place.current?.replaceChildren(...(drawn.current ? [drawn.current] : []));
  }, [props.svg]);
  useEffect(() => {
    if (drawn.current && props.counts) annotate(drawn.current, props.counts);
  }, [props.svg, props.counts]);
  return <div class="picture" ref={place} tabIndex={0} role="group" aria-label="The flow as a picture" />;
}
