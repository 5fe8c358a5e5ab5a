// What a proof found: for each step and each thing that can go wrong, how often the world saw it.

import type { JSX } from "preact";
import type { Json } from "../json";
import { Panel } from "../ui/bits";
import { Chip } from "../ui/state";
import { Text, count } from "../ui/text";
import { Value } from "../ui/value";

interface Finding {
  step: string;
  family: string;
  verdict: string;
  schedule: string;
  story: { at_ms: number; what: string }[];
  ended: string;
  advice: Json;
}

export interface Proof {
  ok: boolean;
  flow: string;
  events: Json[];
  cells: { step: string; family: string; verdict: string; tries: number }[];
  findings: Finding[];
  unreached: string[];
  schedules: number;
  faults: number;
  crashes: number;
  seconds: number;
}

/** How a verdict is written in the matrix, and its tone. Whatever else there is is bad news. */
const VERDICTS: Record<string, [word: string, tone: string]> = {
  unreached: ["–", "calm"],
  once: ["once", "good"],
  parked: ["asks", "doubt"],
  failed: ["fails", "calm"],
  skipped: ["skipped", "doubt"],
};

const verdict = (name: string): [string, string] => VERDICTS[name] ?? [name.replace(/^seen (\d+) times$/, "$1×"), "bad"];

export function ProofPanel(props: { of: Proof }): JSX.Element {
  const { of } = props;
  const families = [...new Set(of.cells.map((cell) => cell.family))];
  const steps = [...new Set(of.cells.map((cell) => cell.step))];
  const cell = (step: string, family: string): (typeof of.cells)[number] | undefined =>
    of.cells.find((one) => one.step === step && one.family === family);
  return (
    <Panel title={of.ok ? "Proved: the world sees each effect once" : "Not proved"} class={of.ok ? "" : "bad-panel"}>
      <p class="dim">{count(of.schedules)} schedules, {count(of.crashes)} crashes, {of.seconds.toFixed(1)} s, in a simulated world.</p>
      <div class="scroll">
        <table class="matrix">
          <thead><tr><th scope="col">Step</th>{families.map((family) => <th key={family} scope="col">{family}</th>)}</tr></thead>
          <tbody>
            {steps.map((step) => (
              <tr key={step}>
                <th scope="row"><Text of={step || "(run)"} /></th>
                {families.map((family) => {
                  const found = cell(step, family);
                  return <td key={family} title={found ? `${found.tries} tries` : "not tried"}>{found ? <Chip word={verdict(found.verdict)[0]} tone={verdict(found.verdict)[1]} /> : "–"}</td>;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {of.findings.map((finding, index) => (
        <details key={index} open={VERDICTS[finding.verdict] === undefined}>
          <summary><Text of={finding.step} class="strong" />, {finding.family}: {verdict(finding.verdict)[0]}</summary>
          <ol class="story">{finding.story.map((line, at) => <li key={at}><span class="mono dim">{line.at_ms} ms</span> <Text of={line.what} /></li>)}</ol>
          {typeof finding.advice === "string" && <p>What to change: <Text of={finding.advice} /></p>}
          <p class="dim">Try it again: <code>--replay {finding.schedule}</code></p>
        </details>
      ))}
      {of.unreached.length > 0 && <p class="doubt-text">Not reached by this event: <Text of={of.unreached.join(", ")} /></p>}
      <details><summary>The events that were tried</summary><Value of={of.events} what="the events" /></details>
    </Panel>
  );
}
