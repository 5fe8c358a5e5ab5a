// One step of a run: what was sent, what came back, what the ledger has on it, what happened in which order.

import type { JSX } from "preact";
import type { Entry, RunEffect, RunWhole, Step } from "../types";
import { length, now } from "../clock";
import { Facts, Panel, Time, effectLink } from "../ui/bits";
import { Chip, State } from "../ui/state";
import { Text, plural } from "../ui/text";
import { Value } from "../ui/value";

export function StepPanel(props: { run: RunWhole; step: Step; close: () => void }): JSX.Element {
  const { run, step } = props;
  const effects = run.effects.filter((effect) => effect.step === step.step);
  const entries = run.timeline.filter((entry) => entry.step === step.step);
  return (
    <Panel
      title={`Step ${step.step}`}
      class="step-panel"
      aside={<button type="button" class="small" onClick={props.close}>Close</button>}
    >
      <p class="line-of">
        <State of={step.phase} /> <Chip word={step.kind} tone="calm" /> <Chip word={step.class} tone="calm" />
        {step.attempts > 0 && <span class="dim">{plural(step.attempts, "attempt")}</span>}
        {step.undo && <State of={step.undo === "done" ? "undone" : step.undo} word={`undo ${step.undo}`} />}
      </p>
      {step.why && <p><Text of={step.why} /></p>}
      {step.undo_why && <p>Undo: <Text of={step.undo_why} /></p>}
      {effects.map((effect) => <EffectLine key={effect.scope + effect.key} of={effect} />)}
      <Attempts step={step} />
      <div class="columns">
        <div>
          <h3>Request</h3>
          {(step.request !== undefined && step.request !== null) || step.request_blob ? <Value of={step.request ?? null} blob={step.request_blob ?? null} what={`the request of ${step.step}`} /> : <p class="dim">{unsent(step)}</p>}
        </div>
        <div>
          <h3>Result</h3>
          {step.phase === "done" || step.result !== null ? <Value of={step.result} blob={step.result_blob} what={`the result of ${step.step}`} /> : <p class="dim">None yet.</p>}
        </div>
      </div>
      <h3>What happened</h3>
      <History entries={entries} />
    </Panel>
  );
}

/** Why there is no request to show. */
function unsent(step: Step): string {
  if (step.class === "pure") return "This step sends nothing.";
  return step.phase === "pending" || step.phase === "skipped" ? "Not sent." : "Not kept: the destination drops repeats by the step's key.";
}

function Attempts(props: { step: Step }): JSX.Element | null {
  const spans = props.step.spans ?? [];
  if (spans.length < 2) return null;
  return (
    <ol class="attempts">
      {spans.map((span) => (
        <li key={span.from + span.what}>
          <span class="dim"><Time at={span.from} as="clock" /></span> {span.what}
          {span.outcome && <> <Chip word={span.outcome} /></>}
          {span.to && <span class="dim"> {length(Date.parse(span.to) - Date.parse(span.from))}</span>}
        </li>
      ))}
    </ol>
  );
}

function EffectLine(props: { of: RunEffect }): JSX.Element {
  const { of } = props;
  return (
    <Facts
      of={[
        ["Effect", <a class="mono" href={effectLink(of.scope, of.key)}><Text of={`${of.scope} ${of.key}`} /></a>],
        ["In the ledger", <State of={of.state} />],
        ["Their name for it", of.external_id && <Text of={of.external_id} class="mono" />],
        ["Repeats blocked", of.blocked > 0 ? String(of.blocked) : null],
      ]}
    />
  );
}

const HEARD = new Set(["blocked", "lost", "parked", "requested", "gave_up", "failed"]);

export function History(props: { entries: Entry[]; steps?: boolean }): JSX.Element {
  return (
    <ol class="history">
      {props.entries.map((entry, index) => (
        <li key={index} class={HEARD.has(entry.what) ? entry.what : ""} data-what={entry.what}>
          <span class="when"><Time at={entry.at} as="clock" /></span>
          <span>
            {props.steps && entry.step && <><Text of={entry.step} class="strong" />{": "}</>}
            <Text of={entry.text} />
            {entry.next_at && Date.parse(entry.next_at) > now() && <span class="dim"> (goes on <Time at={entry.next_at} />)</span>}
          </span>
        </li>
      ))}
    </ol>
  );
}
