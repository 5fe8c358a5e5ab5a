// A text editor: a plain text area in front of the same text in colours.
//
// The area is a real one, so typing, undo, selection, screen readers and input methods are the browser's. It is
// see-through; what is seen lies behind it, sign for sign in the same place.

import type { JSX, TargetedKeyboardEvent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Diagnostic } from "../types";
import { type Offers, complete } from "./complete";
import { highlightLine } from "./highlight";
import { indented, newLine } from "./typing";
import type { Json } from "../json";

export interface EditorProps {
  text: string;
  change: (text: string) => void;
  messages: Diagnostic[];
  schema: { [name: string]: Json } | null;
  /** A place to go to; a new object goes there again. */
  goTo: { line: number; column: number } | null;
}

export function Editor(props: EditorProps): JSX.Element {
  const area = useRef<HTMLTextAreaElement>(null);
  const [offers, setOffers] = useState<Offers | null>(null);
  const [picked, setPicked] = useState(0);
  // Tab goes on to the next field after Escape, until something is typed.
  const leaving = useRef(false);
  useEffect(() => {
    if (props.goTo && area.current) place(area.current, props.goTo.line, props.goTo.column);
  }, [props.goTo]);

  const look = (explicit: boolean): void => {
    const at = area.current;
    if (!at || !props.schema) return;
    const found = at.selectionStart === at.selectionEnd ? complete(at.value, at.selectionStart, props.schema) : null;
    // Unasked it comes only while a word is being typed.
    setOffers(found && (explicit || found.from < at.selectionStart) ? found : null);
    setPicked(0);
  };
  const type = (text: string): void => {
    // As if it had been typed, so that the browser can undo it.
    area.current?.focus();
    if (!document.execCommand("insertText", false, text) && area.current) {
      area.current.setRangeText(text, area.current.selectionStart, area.current.selectionEnd, "end");
      props.change(area.current.value);
    }
  };
  const accept = (index: number): void => {
    const offer = offers?.offers[index];
    const at = area.current;
    if (!offer || !at || !offers) return;
    at.setSelectionRange(offers.from, at.selectionStart);
    type(offer.word);
    setOffers(null);
  };
  const press = (event: TargetedKeyboardEvent<HTMLTextAreaElement>): void => {
    const at = event.currentTarget;
    const count = offers?.offers.length ?? 0;
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      return look(true);
    }
    if (offers && ["ArrowDown", "ArrowUp", "Enter", "Tab", "Escape"].includes(event.key)) {
      event.preventDefault();
      if (event.key === "Escape") return setOffers(null);
      if (event.key === "Enter" || event.key === "Tab") return accept(picked);
      return setPicked((picked + (event.key === "ArrowDown" ? 1 : count - 1)) % count);
    }
    if (event.key === "Escape") leaving.current = true;
    else if (event.key === "Tab" && !leaving.current) {
      event.preventDefault();
      indented(at, event.shiftKey, type);
    } else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      type(newLine(at));
    } else if (event.key.length === 1) leaving.current = false;
  };
  const lines = props.text.split("\n");
  return (
    <div class="editor">
      <div class="editor-scroll">
        <div class="gutter" aria-hidden="true">
          {lines.map((_, index) => <Number key={index} line={index + 1} messages={props.messages} />)}
        </div>
        <div class="editor-text">
          <pre aria-hidden="true">{lines.map((line, index) => <Line key={index} text={line} number={index + 1} messages={props.messages} />)}</pre>
          <textarea
            ref={area}
            value={props.text}
            aria-label="The flow file"
            aria-describedby="editor-keys"
            aria-controls={offers ? "offers" : undefined}
            aria-activedescendant={offers ? `offer-${picked}` : undefined}
            aria-autocomplete="list"
            spellcheck={false}
            autocapitalize="off"
            autocomplete="off"
            wrap="off"
            onInput={(event) => {
              props.change(event.currentTarget.value);
              look(false);
            }}
            onKeyDown={press}
            onClick={() => setOffers(null)}
            onBlur={() => setOffers(null)}
          />
          {offers && <List offers={offers} picked={picked} accept={accept} text={props.text} />}
        </div>
      </div>
      <p id="editor-keys" class="unseen">Tab indents; Escape, then Tab leaves the editor. Control and space show what can stand here.</p>
    </div>
  );
}

function place(area: HTMLTextAreaElement, line: number, column: number): void {
  const lines = area.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
  const at = start + Math.min(column - 1, lines[line - 1]?.length ?? 0);
  area.focus({ preventScroll: true });
  area.setSelectionRange(at, at);
  const scroll = area.closest(".editor-scroll");
  const height = area.scrollHeight / Math.max(1, lines.length);
  scroll?.scrollTo({ top: Math.max(0, (line - 4) * height), left: 0 });
}

function Number(props: { line: number; messages: Diagnostic[] }): JSX.Element {
  const here = props.messages.filter((message) => message.at.line === props.line);
  const level = here.some((message) => message.level === "error") ? "error" : here[0]?.level;
  return <span class={level} title={here.map((message) => message.title).join("\n")}>{props.line}</span>;
}

/** The signs of a line that a message is about. */
function marked(number: number, length: number, messages: Diagnostic[]): [number, number, string][] {
  return messages
    .filter(({ at }) => at.line <= number && at.end_line >= number)
    .map(({ at, level }): [number, number, string] => [
      at.line === number ? at.column - 1 : 0,
      at.end_line === number ? Math.max(at.end_column - 1, at.column) : length,
      level,
    ]);
}

function Line(props: { text: string; number: number; messages: Diagnostic[] }): JSX.Element {
  const pieces = highlightLine(props.text);
  const marks = marked(props.number, props.text.length, props.messages);
  if (marks.length === 0) return <>{pieces.map((piece) => <span class={piece.kind}>{piece.text}</span>)}{"\n"}</>;
  const shown: JSX.Element[] = [];
  let at = 0;
  for (const piece of pieces) {
    for (const sign of piece.text) {
      const level = marks.find(([from, to]) => at >= from && at < to)?.[2];
      shown.push(<span class={level ? `${piece.kind} mark-${level}` : piece.kind}>{sign}</span>);
      at += 1;
    }
  }
  return <>{shown}{"\n"}</>;
}

function List(props: { offers: Offers; picked: number; accept: (index: number) => void; text: string }): JSX.Element {
  const before = props.text.slice(0, props.offers.from).split("\n");
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    if (!list.current) return;
    list.current.style.setProperty("--line", String(before.length));
    list.current.style.setProperty("--column", String(before.at(-1)?.length ?? 0));
  });
  useEffect(() => list.current?.children[props.picked]?.scrollIntoView({ block: "nearest" }), [props.picked]);
  return (
    <ul id="offers" class="offers" role="listbox" aria-label="What can stand here" ref={list}>
      {props.offers.offers.map((offer, index) => (
        <li key={offer.word} id={`offer-${index}`} role="option" aria-selected={index === props.picked} onMouseDown={(event) => { event.preventDefault(); props.accept(index); }}>
          <span class="mono">{offer.word.replace(/: $/, "")}</span> <span class="dim">{offer.about}</span>
        </li>
      ))}
    </ul>
  );
}
