// A run's time as bars: one line for each step, with attempts, waits and retries, and a mark for each
// decision, lost answer and blocked duplicate. What is drawn is also told by the history in words.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { exact, length, now } from "../clock";
import { OVER, type Entry, type RunWhole, type Span, type Step } from "../types";
import { Panel } from "../ui/bits";
import { Shape, tone } from "../ui/state";
import { Text, line } from "../ui/text";
import { type Scale, mostlyWaiting, scale } from "./scale";

/** What is worth a mark, and how it looks. */
const MARKS: Record<string, [shape: string, tone: string]> = {
  opened: ["done", "calm"],
  blocked: ["blocked", "block"],
  lost: ["unknown", "doubt"],
  looked_up: ["unknown", "busy"],
  parked: ["parked", "doubt"],
  requested: ["parked", "doubt"],
  resumed: ["skipped", "busy"],
  cancelled: ["cancelled", "calm"],
  gave_up: ["failed", "bad"],
  not_done: ["cancelled", "calm"],
};
/** An open run's line grows while it is looked at. */
const FRAME = 500;
const HEIGHT = 26;

const at = (time: string): number => Date.parse(time);

export function Timeline(props: { run: RunWhole; chosen: string | null; choose: (step: string | null) => void }): JSX.Element {
  const { run } = props;
  const open = !OVER.has(run.state);
  const end = useGrowing(open, at(run.changed_at));
  const from = at(run.created_at);
  const spans = run.steps.flatMap((step) => step.spans ?? []);
  const marks = run.timeline.filter((entry) => MARKS[entry.what]);
  const times = [...spans.flatMap((span) => [at(span.from), span.to ? at(span.to) : end]), ...marks.map((mark) => at(mark.at))];
  const to = Math.max(end, ...times, from + 1);
  const acts = spans.filter((span) => span.what === "attempt").map((span): [number, number] => [at(span.from), span.to ? at(span.to) : end]);
  const [wished, wish] = useState<boolean | null>(null);
  const shortened = wished ?? mostlyWaiting(acts, from, to);
  const drawn = scale(times, from, to, shortened);
  const own = marks.filter((mark) => mark.step === null);
  return (
    <Panel
      title="Timeline"
      aside={
        <label class="check">
          <input type="checkbox" checked={shortened} onChange={(event) => wish(event.currentTarget.checked)} /> shorten waits
        </label>
      }
    >
      <div class="timeline">
        <Line name="event" scale={drawn} marks={own} spans={[]} end={end} />
        {run.steps.map((step) => (
          <Line
            key={step.step}
            name={step.step}
            step={step}
            scale={drawn}
            spans={step.spans ?? []}
            marks={marks.filter((mark) => mark.step === step.step)}
            end={end}
            chosen={props.chosen === step.step}
            choose={() => props.choose(props.chosen === step.step ? null : step.step)}
          />
        ))}
        <Axis scale={drawn} from={from} />
      </div>
    </Panel>
  );
}

/** The time up to which is drawn: the run's last change, or now. */
function useGrowing(open: boolean, changed: number): number {
  const [end, setEnd] = useState(now());
  useEffect(() => {
    if (!open) return;
    const timer = window.setInterval(() => !document.hidden && setEnd(now()), FRAME);
    return () => window.clearInterval(timer);
  }, [open]);
  return open ? Math.max(end, changed) : changed;
}

interface Lined {
  name: string;
  step?: Step;
  scale: Scale;
  spans: Span[];
  marks: Entry[];
  end: number;
  chosen?: boolean;
  choose?: () => void;
}

function Line(props: Lined): JSX.Element {
  const { step } = props;
  return (
    <div class={`lane ${props.chosen ? "chosen" : ""}`}>
      {step ? (
        <button type="button" class="lane-name" aria-expanded={props.chosen} onClick={props.choose} title={`${line(step.step)}: ${step.kind}, ${step.class}, ${step.phase}`}>
          <Shape of={step.phase} />
          <Text of={step.step} />
          <span class="unseen">, {step.phase}</span>
        </button>
      ) : (
        <span class="lane-name dim">{props.name}</span>
      )}
      <svg class="lane-bars" width="100%" height={HEIGHT} aria-hidden="true" onClick={props.choose}>
        <line class="grid" x1="0" x2="100%" y1={HEIGHT / 2} y2={HEIGHT / 2} />
        {props.spans.map((span) => <Bar key={`${span.from}${span.what}`} span={span} scale={props.scale} end={props.end} />)}
        {props.marks.map((mark, index) => <Mark key={index} entry={mark} scale={props.scale} />)}
      </svg>
    </div>
  );
}

function Bar(props: { span: Span; scale: Scale; end: number }): JSX.Element {
  const { span, scale } = props;
  const [begin, end] = [at(span.from), span.to ? at(span.to) : props.end];
  const left = scale.place(begin);
  const width = Math.max(scale.place(end) - left, 0.35);
  const thin = span.what !== "attempt";
  const outcome = span.outcome ?? (span.to ? "" : "running");
  const told = `${span.what}${outcome ? `, ${outcome}` : ""}: ${length(end - begin)}\n${exact(begin)}`;
  return (
    <rect class={`span ${span.what} ${span.what === "attempt" ? tone(outcome) : ""} ${span.to ? "" : "open"}`} x={`${left}%`} width={`${width}%`} y={thin ? HEIGHT / 2 - 2 : 5} height={thin ? 4 : HEIGHT - 10} rx="2">
      <title>{told}</title>
    </rect>
  );
}

function Mark(props: { entry: Entry; scale: Scale }): JSX.Element {
  const { entry } = props;
  const [shape, colour] = MARKS[entry.what] ?? ["pending", "calm"];
  return (
    <svg x={`${props.scale.place(at(entry.at))}%`} y={HEIGHT / 2} overflow="visible" class={`mark-on-line ${colour}`} data-what={entry.what}>
      <g transform="translate(-8,-8)">
        <circle cx="8" cy="8" r="8" />
        <g transform="translate(3,3) scale(0.625)"><Shape of={shape} /></g>
        <title>{`${line(entry.text)}\n${exact(at(entry.at))}`}</title>
      </g>
    </svg>
  );
}

function Axis(props: { scale: Scale; from: number }): JSX.Element {
  const ticks = props.scale.ticks;
  return (
    <div class="lane axis-lane" aria-hidden="true">
      <span class="lane-name" />
      <svg width="100%" height="18">
        {ticks.map((tick, index) => {
          const place = props.scale.place(tick);
          const anchor = index === 0 ? "start" : place > 92 ? "end" : "middle";
          return (
            <text key={tick} class={index === 0 || index === ticks.length - 1 ? "" : "between"} x={`${place}%`} y="13" text-anchor={anchor}>
              {index === 0 ? "0" : `+${length(tick - props.from)}`}
              <title>{exact(tick)}</title>
            </text>
          );
        })}
      </svg>
    </div>
  );
}
