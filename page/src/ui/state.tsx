// States, told by a word, a shape and a colour: any one of them is enough.

import type { JSX } from "preact";

/** Each state's shape, on a field of 16 by 16. */
export const SHAPES: Record<string, string> = {
  done: "M3.5 8.5l3 3 6-7",
  failed: "M4.5 4.5l7 7M11.5 4.5l-7 7",
  unknown: "M5.6 6.1a2.4 2.4 0 1 1 3.6 2.1c-.8.4-1.2.8-1.2 1.7M8 12.4v.2",
  parked: "M8 3v5.5M8 12.4v.2",
  review: "M8 3v5.5M8 12.4v.2",
  waiting: "M8 4.5V8l2.5 1.5M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2",
  running: "M8 2a6 6 0 1 1-5.6 3.9",
  claimed: "M8 2a6 6 0 1 1-5.6 3.9",
  retrying: "M12.5 6A5 5 0 1 0 13 9M13 3v3.2H9.8",
  queued: "M4 5h8M4 8h8M4 11h5",
  pending: "M8 7.9v.2M4 7.9v.2M12 7.9v.2",
  cancelled: "M4 12L12 4M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2",
  released: "M4 12L12 4M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2",
  undone: "M6 3.5L3 6.5l3 3M3 6.5h6a3.5 3.5 0 0 1 0 7H6.5",
  skipped: "M4 4l4 4-4 4M9 4l4 4-4 4",
  blocked: "M8 2l5 2v4c0 3-2.2 5-5 6-2.8-1-5-3-5-6V4zM5.8 8h4.4",
};

/** Which of the few colours a state has. */
const TONES: Record<string, string> = {
  done: "good", live: "good", closed: "good", approve: "good", once: "good",
  failed: "bad", open: "bad", reject: "bad", conflict: "bad", twice: "bad",
  unknown: "doubt", parked: "doubt", review: "doubt", asks: "doubt", ask: "doubt", "half-open": "doubt",
  running: "busy", claimed: "busy", retrying: "busy", waiting: "busy", queued: "busy", busy: "busy", execute: "busy",
  blocked: "block", duplicate: "block",
};

export const tone = (state: string): string => TONES[state] ?? "calm";

export function Shape(props: { of: string }): JSX.Element {
  const drawn = SHAPES[props.of] ?? SHAPES.pending;
  return (
    <svg class={`shape shape-${props.of}`} viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
      <path d={drawn} />
    </svg>
  );
}

export function State(props: { of: string; word?: string }): JSX.Element {
  return (
    <span class={`state ${tone(props.of)}`}>
      <Shape of={props.of} />
      {props.word ?? props.of}
    </span>
  );
}

/** A word in a box, without a shape. */
export function Chip(props: { word: string; tone?: string | undefined }): JSX.Element {
  return <span class={`chip ${props.tone ?? tone(props.word)}`}>{props.word}</span>;
}
