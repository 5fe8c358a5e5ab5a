// A JSON value as people read it: laid out, coloured by kind, copied as it is.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { getText } from "../api";
import { type Json, print } from "../json";
import { Copy } from "./bits";
import { plain } from "./text";

const TOKENS = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|(-?\d[\d.eE+-]*)/g;
/** More than this is shown only when it is asked for. */
const LONG = 20_000;

/** JSON text as coloured pieces. Everything stays text. */
function coloured(text: string): (string | JSX.Element)[] {
  const pieces: (string | JSX.Element)[] = [];
  let from = 0;
  for (const found of text.matchAll(TOKENS)) {
    pieces.push(text.slice(from, found.index));
    const [whole, string, colon, word] = found;
    const kind = string ? (colon ? "j-name" : "j-text") : word ? "j-word" : "j-number";
    pieces.push(<span class={kind}>{string ?? whole}</span>, colon ?? "");
    from = found.index + whole.length;
  }
  pieces.push(text.slice(from));
  return pieces;
}

/** Text that may be long, with a button that copies it. */
export function Code(props: { text: string; what: string; json?: boolean }): JSX.Element {
  const [whole, setWhole] = useState(false);
  const shown = plain(whole ? props.text : props.text.slice(0, LONG));
  return (
    <div class="code">
      <pre tabIndex={0} aria-label={props.what}>{props.json ? coloured(shown) : shown}</pre>
      <Copy text={props.text} what={props.what} />
      {!whole && props.text.length > LONG && (
        <button type="button" class="small" onClick={() => setWhole(true)}>
          Show all {props.text.length} signs
        </button>
      )}
    </div>
  );
}

export function Value(props: { of: Json; what: string; blob?: string | null }): JSX.Element {
  if (props.blob) return <Blob hash={props.blob} what={props.what} />;
  return <Code text={print(props.of)} what={props.what} json />;
}

/** What is too long to stand in an answer is fetched when it is asked for. */
export function Blob(props: { hash: string; what: string }): JSX.Element {
  const [text, setText] = useState<string | null>(null);
  const fetch = (): void => {
    const failed = (error: unknown): string => `not read: ${String(error)}`;
    getText(`/v1/blobs/${props.hash}`).then(setText, (error: unknown) => setText(failed(error)));
  };
  if (text !== null) return <Code text={text} what={props.what} />;
  return (
    <p>
      Long, and kept on its own: <code>{props.hash.slice(0, 16)}…</code>{" "}
      <button type="button" class="small" onClick={fetch}>Show it</button>
    </p>
  );
}
