// Starting a run by hand, with a form made from an example event.
//
// The form has one name for what it is about to start, made when it is opened: pressing twice, or once more because
// the answer was lost, starts one run. An event that is changed after it was sent is another intent, with another name.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Problem, send } from "../api";
import { Exact, type Json, isObject, parse, print } from "../json";
import type { FlowWhole } from "../types";
import { Act, Curl, Panel, Refusal, runLink } from "../ui/bits";
import { line } from "../ui/text";
import { exampleOf } from "./example";

interface Answer {
  status: string;
  run?: string;
  event?: string;
}

function newName(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `page-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

export function TriggerForm(props: { flow: FlowWhole }): JSX.Element {
  const [text, setText] = useState<string | null>(null);
  const [name, setName] = useState(newName);
  const [sent, setSent] = useState<string | null>(null);
  const [asText, setAsText] = useState(false);
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    void exampleOf(props.flow).then((event) => setText((typed) => typed ?? print(event)));
  }, [props.flow.flow]);
  const value = text === null ? null : read(text);
  const change = (to: string): void => {
    setText(to);
    if (sent !== null && to !== sent) {
      setName(newName());
      setSent(null);
      setAnswer(null);
    }
    setProblem(null);
  };
  const path = `/v1/flows/${encodeURIComponent(props.flow.flow)}/runs`;
  const start = async (): Promise<void> => {
    if (text === null) return;
    setSent(text);
    try {
      setAnswer(await send<Answer>("POST", path, { text, headers: { "Idempotency-Key": name } }));
      setProblem(null);
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  const wrong = value instanceof SyntaxError ? value.message : null;
  const fields = value === null || value instanceof SyntaxError ? [] : leaves(value);
  const plainForm = !asText && wrong === null && fields.length > 0 && value !== null && !(value instanceof SyntaxError);
  return (
    <Panel
      title="Start a run by hand"
      aside={<label class="check"><input type="checkbox" checked={!plainForm} disabled={wrong !== null || fields.length === 0} onChange={(event) => setAsText(event.currentTarget.checked)} /> as JSON</label>}
    >
      <p class="dim">The event is an example; make it what you mean. The run does what it says, for real.</p>
      {plainForm ? (
        <div class="form">
          {fields.map(([pointer, leaf]) => (
            <Leaf key={pointer} pointer={pointer} of={leaf} set={(to) => change(print(replaced(value as Json, pointer.split("/").slice(1), to)))} />
          ))}
        </div>
      ) : (
        <label class="field">
          <span>The event, as JSON</span>
          <textarea class="mono" rows={12} spellcheck={false} value={text ?? ""} aria-invalid={wrong !== null} onInput={(event) => change(event.currentTarget.value)} />
        </label>
      )}
      {wrong && <p class="bad-text" role="alert">{line(wrong)}</p>}
      <Refusal problem={problem} />
      {answer && (
        <p class="answer" role="status">
          {answer.status === "duplicate" ? "It was started before, once: " : answer.status === "accepted" ? "Started: " : `${answer.status}. `}
          {answer.run && <a href={runLink(answer.run)}>{answer.run}</a>}
        </p>
      )}
      <div class="actions">
        <Act class="primary" disabled={wrong !== null || text === null} act={start}>Start</Act>
        {answer && <button type="button" onClick={() => { setName(newName()); setSent(null); setAnswer(null); }}>Another one</button>}
        <Curl method="POST" path={path} body={text ?? ""} headers={{ "Idempotency-Key": name }} />
        <span class="dim">Idempotency-Key <code>{name.slice(0, 13)}…</code></span>
      </div>
    </Panel>
  );
}

function read(text: string): Json | SyntaxError {
  try {
    return parse(text);
  } catch (error) {
    return error as SyntaxError;
  }
}

type Plain = null | boolean | number | string | Exact;
/** More fields than this are better typed as text. */
const MOST = 40;

/** Everything in a value that is not made of other values, by its place. */
function leaves(value: Json, pointer = ""): [string, Plain][] {
  const inner = Array.isArray(value) ? value.map((item, index): [string, Json] => [String(index), item]) : isObject(value) ? Object.entries(value) : null;
  if (inner === null) return pointer === "" ? [] : [[pointer, value as Plain]];
  const all = inner.flatMap(([name, item]) => leaves(item, `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`));
  return pointer === "" && all.length > MOST ? [] : all;
}

function replaced(value: Json, place: string[], to: Plain): Json {
  const [first, ...rest] = place;
  if (first === undefined) return to;
  const name = first.replaceAll("~1", "/").replaceAll("~0", "~");
  if (Array.isArray(value)) return value.map((item, index) => (String(index) === name ? replaced(item, rest, to) : item));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, key === name ? replaced(item, rest, to) : item]));
}

function Leaf(props: { pointer: string; of: Plain; set: (to: Plain) => void }): JSX.Element {
  const { of, set } = props;
  const label = line(props.pointer.slice(1).replaceAll("/", " › "));
  if (typeof of === "boolean") {
    return <label class="check"><input type="checkbox" checked={of} onChange={(event) => set(event.currentTarget.checked)} /> {label}</label>;
  }
  const number = typeof of === "number" || of instanceof Exact;
  const text = of === null ? "" : of instanceof Exact ? of.text : String(of);
  const typed = (to: string): Plain => {
    if (!number) return to;
    const value = read(to);
    return typeof value === "number" || value instanceof Exact ? value : to;
  };
  return (
    <label class="field">
      <span>{label}</span>
      <input type="text" inputMode={number ? "decimal" : undefined} value={text} placeholder={of === null ? "null" : ""} onInput={(event) => set(typed(event.currentTarget.value))} />
    </label>
  );
}
