// Filters live in the address; the keyboard changes them without leaving the field.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { query, setQuery } from "../route";
import { now } from "../clock";

/** A page's place goes back to its beginning whenever a filter changes. */
const PLACES = { before: null, after: null };

export function Choice(props: { name: string; label: string; options: [string, string][] }): JSX.Element {
  return (
    <label class="field">
      <span>{props.label}</span>
      <select value={query(props.name)} onChange={(event) => setQuery({ [props.name]: event.currentTarget.value, ...PLACES })}>
        {props.options.map(([value, word]) => (
          <option key={value} value={value}>{word}</option>
        ))}
      </select>
    </label>
  );
}

/** A text that filters when it is left, or on Enter. */
export function Find(props: { name: string; label: string; hint?: string; list?: string[]; first?: boolean }): JSX.Element {
  const current = query(props.name);
  const [text, setText] = useState(current);
  const known = useRef(current);
  useEffect(() => {
    if (known.current !== current) setText(current);
    known.current = current;
  }, [current]);
  const apply = (): void => {
    if (text !== current) setQuery({ [props.name]: text, ...PLACES });
  };
  const list = props.list ? `list-${props.name}` : undefined;
  return (
    <label class="field grow">
      <span>{props.label}</span>
      <input
        type="search"
        value={text}
        placeholder={props.hint}
        list={list}
        data-first={props.first ? "" : undefined}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => setText(event.currentTarget.value)}
        onChange={apply}
        onKeyDown={(event) => event.key === "Enter" && apply()}
      />
      {list && <datalist id={list}>{props.list?.map((name) => <option key={name} value={name} />)}</datalist>}
    </label>
  );
}

/** Several of a few words, each a button that stays down. */
export function Several(props: { name: string; label: string; words: readonly string[]; show: (word: string) => JSX.Element }): JSX.Element {
  const chosen = query(props.name).split(",").filter((word) => word !== "");
  const toggle = (word: string): void => {
    const next = chosen.includes(word) ? chosen.filter((one) => one !== word) : [...chosen, word];
    setQuery({ [props.name]: next.join(","), ...PLACES });
  };
  return (
    <div class="several" role="group" aria-label={props.label}>
      {props.words.map((word) => (
        <button key={word} type="button" class="toggle" aria-pressed={chosen.includes(word)} onClick={() => toggle(word)}>
          {props.show(word)}
        </button>
      ))}
    </div>
  );
}

const SPANS: [string, string, number][] = [
  ["", "any time", 0],
  ["15m", "last 15 minutes", 900],
  ["1h", "last hour", 3600],
  ["24h", "last day", 86_400],
  ["7d", "last 7 days", 604_800],
  ["30d", "last 30 days", 2_592_000],
];

export function Since(props: { name?: string; label?: string }): JSX.Element {
  const options = SPANS.map(([value, word]): [string, string] => [value, word]);
  return <Choice name={props.name ?? "since"} label={props.label ?? "Time"} options={options} />;
}

/** The time that a choice of [`Since`] stands for, the same within a minute so that a page stays one page. */
export function sinceTime(value: string): string {
  const span = SPANS.find(([word]) => word === value);
  if (!span || span[2] === 0) return "";
  const minute = Math.floor(now() / 60_000) * 60_000;
  return new Date(minute - span[2] * 1000).toISOString();
}

/** On to what is older, and back to the newest. */
export function Pager(props: { next: string | null; name: "before" | "after" }): JSX.Element | null {
  const place = query(props.name);
  if (props.next === null && place === "") return null;
  return (
    <nav class="pager" aria-label="Pages">
      {place !== "" && <button type="button" onClick={() => setQuery({ [props.name]: null }, false)}>Newest</button>}
      {props.next !== null && <button type="button" onClick={() => setQuery({ [props.name]: props.next }, false)}>Older</button>}
    </nav>
  );
}
