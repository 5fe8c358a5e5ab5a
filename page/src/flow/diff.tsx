// Two texts, line by line.

import type { JSX } from "preact";
import { plain } from "../ui/text";

export interface DiffLine {
  sign: " " | "+" | "-";
  text: string;
}

/** The shortest way from one text to the other (Myers), by lines. */
export function diff(before: string, after: string): DiffLine[] {
  const [a, b] = [before.split("\n"), after.split("\n")];
  const most = a.length + b.length;
  const reached = new Map<number, number>([[1, 0]]);
  const trail: Map<number, number>[] = [];
  for (let edits = 0; edits <= most; edits++) {
    trail.push(new Map(reached));
    for (let k = -edits; k <= edits; k += 2) {
      const down = k === -edits || (k !== edits && (reached.get(k - 1) ?? 0) < (reached.get(k + 1) ?? 0));
      let x = down ? (reached.get(k + 1) ?? 0) : (reached.get(k - 1) ?? 0) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      reached.set(k, x);
      if (x >= a.length && x - k >= b.length) return walkBack(a, b, trail);
    }
  }
  return [];
}

function walkBack(a: string[], b: string[], trail: Map<number, number>[]): DiffLine[] {
  const lines: DiffLine[] = [];
  let [x, y] = [a.length, b.length];
  for (let edits = trail.length - 1; edits >= 0; edits--) {
    const reached = trail[edits] ?? new Map<number, number>();
    const k = x - y;
    const down = k === -edits || (k !== edits && (reached.get(k - 1) ?? 0) < (reached.get(k + 1) ?? 0));
    const fromK = down ? k + 1 : k - 1;
    const fromX = reached.get(fromK) ?? 0;
    const fromY = fromX - fromK;
    while (x > fromX && y > fromY) {
      x -= 1;
      y -= 1;
      lines.push({ sign: " ", text: a[x] ?? "" });
    }
    if (edits === 0) break;
    if (down) lines.push({ sign: "+", text: b[(y -= 1)] ?? "" });
    else lines.push({ sign: "-", text: a[(x -= 1)] ?? "" });
  }
  return lines.reverse();
}

/** How many lines that stay are shown around a change. */
const AROUND = 3;

export function Diff(props: { before: string; after: string }): JSX.Element {
  const lines = diff(props.before, props.after);
  const near = (index: number): boolean =>
    lines.slice(Math.max(0, index - AROUND), index + AROUND + 1).some((line) => line.sign !== " ");
  if (!lines.some((line) => line.sign !== " ")) return <p class="dim">The same text.</p>;
  const shown: JSX.Element[] = [];
  lines.forEach((line, index) => {
    if (near(index)) {
      const kind = line.sign === "+" ? "added" : line.sign === "-" ? "removed" : "";
      shown.push(<span key={index} class={`diff-line ${kind}`}>{`${line.sign} ${plain(line.text)}\n`}</span>);
    } else if (index === 0 || near(index - 1)) {
      shown.push(<span key={index} class="diff-line gap">{"⋯\n"}</span>);
    }
  });
  return <pre class="diff" tabIndex={0} aria-label="What changes">{shown}</pre>;
}
