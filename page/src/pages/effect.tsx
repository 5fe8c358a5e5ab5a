// One effect: what it went through, what it kept from happening again, and a decision where nobody knows.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Problem, effectPath, may, send } from "../api";
import { parse } from "../json";
import { useLoad } from "../load";
import type { EffectWhole, Receipt, Turn } from "../types";
import { Act, Copy, Curl, Empty, Facts, Head, Loading, Panel, Refusal, Time, Who } from "../ui/bits";
import { Chip, State } from "../ui/state";
import { Text, count } from "../ui/text";
import { say } from "../ui/toast";
import { Value } from "../ui/value";

export function EffectPage(props: { scope: string; parts: string[] }): JSX.Element {
  const path = effectPath(props.scope, props.parts);
  const effect = useLoad<EffectWhole>(path);
  const told = effect.data;
  const title = props.parts.join("/");
  return (
    <>
      <Head title={<><Text of={title} class="mono" /> {told && <State of={told.state} />}</>} name={title}><Curl path={path} /></Head>
      <Refusal problem={effect.problem} />
      {effect.loading && <Loading />}
      {told && (
        <>
          <About effect={told} />
          {(told.state === "unknown" || told.state === "review") && may("operate") && <Decide effect={told} path={path} put={effect.put} reload={effect.reload} />}
          <div class="columns">
            <Panel title="Life"><Life of={told} /></Panel>
            <Panel title="Blocked repeats" aside={<span class="dim">{count(told.blocked)}</span>}>
              {told.receipts.length === 0 ? <Empty title="Nobody asked for it again." /> : <ReceiptTable of={told.receipts} />}
            </Panel>
            <Panel title="Input">{told.tombstone ? <p class="dim">No longer kept; the key still protects.</p> : <Value of={told.input} blob={told.input_blob} what="the input" />}</Panel>
            <Panel title="Result">{told.tombstone ? <p class="dim">No longer kept.</p> : <Value of={told.result} blob={told.result_blob} what="the result" />}</Panel>
          </div>
        </>
      )}
    </>
  );
}

function About(props: { effect: EffectWhole }): JSX.Element {
  const { effect } = props;
  return (
    <Facts
      of={[
        ["Scope", <Text of={effect.scope} class="mono" />],
        ["Key", <><Text of={effect.key} class="mono" /> <Copy text={effect.key} what="the key" /></>],
        ["Attempt", String(effect.attempt)],
        ["Owner", effect.owner && <Who name={effect.owner} />],
        ["Their name for it", effect.external_id && <><Text of={effect.external_id} class="mono" /> <Copy text={effect.external_id} what="their name for it" /></>],
        ["First asked", <Time at={effect.created_at} />],
        ["Changed", <Time at={effect.changed_at} />],
        ["Lease until", effect.lease_until && <Time at={effect.lease_until} />],
        ["Remembered", effect.forgotten_at ? <>until <Time at={effect.forgotten_at} as="clock" /></> : effect.remember],
        ["If nobody knows", effect.on_unknown],
        ["Why", effect.reason && <Text of={effect.reason} />],
      ]}
    />
  );
}

/** What happened to an effect. A claim that went well leaves no turn of its own; its attempt tells of it. */
function life(of: EffectWhole): Turn[] {
  const told = of.attempts.flatMap((attempt): Turn[] => {
    const turn = (at: string, to: string, cause: string): Turn => ({ at, attempt: attempt.attempt, from: "", to, cause, by: null, note: null });
    const begun = of.life.some((one) => one.attempt === attempt.attempt && one.to === "claimed");
    const ended = of.life.some((one) => one.attempt === attempt.attempt && one.to === attempt.state);
    return [
      ...(begun ? [] : [turn(attempt.claimed_at, "claimed", "asked")]),
      ...(ended || attempt.ended_at === null ? [] : [turn(attempt.ended_at, attempt.state, "settled")]),
    ];
  });
  return [...told, ...of.life].sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

export function Life(props: { of: EffectWhole }): JSX.Element {
  return (
    <ol class="life">
      {life(props.of).map((turn, index) => (
        <li key={index}>
          <span class="when"><Time at={turn.at} as="clock" /></span>
          <span>
            <State of={turn.to} /> <span class="dim">{turn.cause.replaceAll("_", " ")}{turn.by && <> by <Who name={turn.by} /></>}, attempt {turn.attempt}</span>
            {turn.note && <p>“<Text of={turn.note} />”</p>}
          </span>
        </li>
      ))}
    </ol>
  );
}

export function ReceiptTable(props: { of: Receipt[]; effects?: (receipt: Receipt) => JSX.Element }): JSX.Element {
  return (
    <div class="scroll">
      <table class={props.effects ? "wide-table" : ""}>
        <thead>
          <tr>
            <th scope="col">When</th>{props.effects && <th scope="col">Effect</th>}<th scope="col">Told</th><th scope="col">Who asked</th><th scope="col" class="n">Times</th>
          </tr>
        </thead>
        <tbody>
          {props.of.map((receipt, index) => (
            <tr key={receipt.id ?? index}>
              <td data-label="When">{receipt.at ? <Time at={receipt.at} /> : "earlier"}</td>
              {props.effects && <th scope="row">{props.effects(receipt)}</th>}
              <td data-label="Told">{receipt.verdict && <Chip word={receipt.verdict} tone="block" />}</td>
              <td data-label="Who asked">{receipt.by && <Who name={receipt.by} />}</td>
              <td data-label="Times" class="n">{count(receipt.count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const CHOICES: [string, string][] = [
  ["happened", "it is on record as done; every repeat gets the result"],
  ["resend", "whoever asks next may act"],
  ["failed", "it did not happen; whoever asks next may act"],
];

function Decide(props: { effect: EffectWhole; path: string; put: (effect: EffectWhole) => void; reload: () => void }): JSX.Element {
  const [note, setNote] = useState("");
  const [result, setResult] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);
  const decide = async (decision: string): Promise<void> => {
    try {
      // The attempt that is looked at: a later one is another question.
      const json = JSON.stringify({ decision, attempt: props.effect.attempt, ...(note.trim() === "" ? {} : { note }) });
      const given = decision === "happened" && result.trim() !== "";
      if (given) parse(result);
      const text = given ? `${json.slice(0, -1)},"result":${result}}` : json;
      const [path, query] = props.path.split("?");
      props.put(await send<EffectWhole>("POST", `${path}/decide${query ? `?${query}` : ""}`, { text }));
      say("Recorded");
    } catch (error) {
      setProblem(error instanceof Problem ? error : new Problem(0, "page", "Not sent", String((error as Error).message), null, {}));
      props.reload();
    }
  };
  return (
    <Panel title="Nobody knows whether it happened" class="decision">
      <Refusal problem={problem} />
      <label class="field"><span>Note (optional)</span><input type="text" value={note} onInput={(event) => setNote(event.currentTarget.value)} /></label>
      <label class="field"><span>Result, if it happened (JSON, optional)</span><input type="text" class="mono" value={result} onInput={(event) => setResult(event.currentTarget.value)} /></label>
      <ul class="choices">
        {CHOICES.map(([word, does]) => (
          <li key={word}><Act act={() => decide(word)}>{word[0]?.toUpperCase() + word.slice(1)}</Act><span class="dim">{does}</span></li>
        ))}
      </ul>
    </Panel>
  );
}
