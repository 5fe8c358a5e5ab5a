// One thing that waits for a person: what is asked, what is known, and the decision.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Problem, may, send } from "../api";
import { isObject, parse } from "../json";
import { tally } from "../live";
import { useLoad } from "../load";
import { Life } from "./effect";
import type { Decided, ItemWhole } from "../types";
import { Act, Copy, Curl, Facts, Head, Loading, Panel, Refusal, Time, Who, effectLink, flowLink, runLink } from "../ui/bits";
import { Chip, State } from "../ui/state";
import { Short, Text } from "../ui/text";
import { say } from "../ui/toast";
import { Value } from "../ui/value";
import { KIND_WORDS, question } from "./inbox";

export function ItemPage(props: { id: string }): JSX.Element {
  const path = `/v1/inbox/${encodeURIComponent(props.id)}`;
  const item = useLoad<ItemWhole>(path);
  const waiting = tally.value?.inbox;
  useEffect(() => item.reload(), [waiting]);
  const told = item.data;
  return (
    <>
      <Head title={told ? <Text of={question(told)} /> : "Item"} name={told ? question(told) : "Item"}><Curl path={path} /></Head>
      <Refusal problem={item.problem} />
      {item.loading && <Loading />}
      {told && (
        <>
          {told.kind === "review" && <p class="why-line"><Text of={told.what} /></p>}
          <About item={told} />
          <div class="columns">
            <div>
              {told.show !== null && <Panel title="What it is about"><Value of={told.show} what="what is shown" /></Panel>}
              {told.kind === "review" && told.effect.input !== null && <Panel title="What was sent"><Value of={told.effect.input} blob={told.effect.input_blob} what="what was sent" /></Panel>}
              <Lookups item={told} />
              <Panel title="Life of the effect"><Life of={told.effect} /></Panel>
            </div>
            <Decision item={told} path={path} reload={item.reload} />
          </div>
        </>
      )}
    </>
  );
}

function About(props: { item: ItemWhole }): JSX.Element {
  const { item } = props;
  return (
    <Facts
      of={[
        ["Kind", <Chip word={KIND_WORDS[item.kind] ?? item.kind} tone={item.kind === "review" ? "doubt" : "busy"} />],
        ["Flow", item.flow && <a href={flowLink(item.flow)}><Text of={item.flow} /></a>],
        ["Step", item.step && <Text of={item.step} />],
        ["Run", item.run && <a href={runLink(item.run)}><Short of={item.run} /></a>],
        ["Effect", <a class="mono" href={effectLink(item.scope, item.key)}><Text of={`${item.scope} ${item.key}`} /></a>],
        ["Waiting since", <Time at={item.since} />],
        ["Until", item.until && <Time at={item.until} />],
        ["Asked for by", item.maker && <Who name={item.maker} />],
        ["May decide", item.may && <Text of={item.may.join(", ")} />],
        ["Approvals", item.needed !== null ? `${item.voters.length} of ${item.needed}` : null],
        ["Item", <><Short of={item.id} /> <Copy text={item.id} what="the item's name" /></>],
      ]}
    />
  );
}

function Lookups(props: { item: ItemWhole }): JSX.Element | null {
  const { lookups } = props.item;
  if (lookups.length === 0) return null;
  return (
    <Panel title="What the destination said">
      {lookups.map((looked, index) => (
        <div key={index}>
          <p>
            <Time at={looked.at} as="clock" />: {looked.found === null ? "its answer does not tell" : looked.found ? "it is there" : "it is not there"}
          </p>
          <Value of={looked.evidence} blob={looked.evidence_blob} what="the evidence" />
        </div>
      ))}
    </Panel>
  );
}

function Winner(props: { of: Decided }): JSX.Element {
  const { of } = props;
  return (
    <p class="answer" role="status">
      <State of={of.decision === "reject" || of.decision === "failed" ? "failed" : "done"} word={of.decision} />{" "}
      by <Text of={of.by ?? "somebody"} class="strong" /> <Time at={of.at} />
      {of.note && <>: “<Text of={of.note} />”</>}
    </p>
  );
}

interface Answer {
  status: string;
  left: number;
  decided: Decided | null;
}

function Decision(props: { item: ItemWhole; path: string; reload: () => void }): JSX.Element {
  const { item } = props;
  const [note, setNote] = useState("");
  const [result, setResult] = useState("");
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const first = winnerOf(problem);
  const allowed = may(item.kind === "approval" ? "approve" : "operate");
  const decide = async (decision: string): Promise<void> => {
    setProblem(null);
    setAnswer(null);
    try {
      const json: Record<string, unknown> = { decision, hash: item.hash };
      if (note.trim() !== "") json.note = note;
      let text = JSON.stringify(json);
      // What came of it is sent as it was typed, to the last digit.
      if (decision === "happened" && result.trim() !== "") {
        parse(result);
        text = `${text.slice(0, -1)},"result":${result}}`;
      }
      const told = await send<Answer>("POST", `${props.path}/decide`, { text });
      setAnswer(told);
      say(told.status === "already_recorded" ? "It was on record already" : "Recorded");
    } catch (error) {
      setProblem(error instanceof Problem ? error : new Problem(0, "page", "Not sent", `the result is ${String((error as Error).message)}`, null, {}));
    }
    props.reload();
  };
  return (
    <Panel title={item.state === "waiting" ? "Your decision" : "Decided"} class="decision">
      {item.voters.map((vote) => (
        <p key={vote.by}>Approved by <Text of={vote.by} class="strong" /> <Time at={vote.at} />{vote.note && <>: “<Text of={vote.note} />”</>}</p>
      ))}
      {item.decided && first === null && <Winner of={item.decided} />}
      {item.why_over && <p>It is over: <Text of={item.why_over} /></p>}
      {answer && <p role="status" class="answer">{told(answer)}</p>}
      <Refusal problem={problem}>{first && <Winner of={first} />}</Refusal>
      {item.choices.length > 0 && allowed && (
        <form onSubmit={(event) => event.preventDefault()}>
          <label class="field"><span>Note (optional)</span><textarea rows={3} value={note} onInput={(event) => setNote(event.currentTarget.value)} /></label>
          {item.kind === "review" && (
            <label class="field">
              <span>Result, if it happened (JSON, optional)</span>
              <textarea rows={2} class="mono" spellcheck={false} value={result} placeholder='{"id": "in_77"}' onInput={(event) => setResult(event.currentTarget.value)} />
            </label>
          )}
          <ul class="choices">
            {item.choices.map((choice) => (
              <li key={choice.decision}>
                <Act class={choice.decision === "approve" ? "primary" : ""} act={() => decide(choice.decision)}>{choice.decision[0]?.toUpperCase() + choice.decision.slice(1)}</Act>
                <span class="dim">{choice.does}</span>
              </li>
            ))}
          </ul>
        </form>
      )}
      {item.choices.length > 0 && !allowed && <p class="dim">Your role does not allow you to decide this.</p>}
    </Panel>
  );
}

function told(answer: Answer): string {
  const again = answer.status === "already_recorded" ? "It was on record already." : "Recorded.";
  return answer.left > 0 ? `${again} ${answer.left} more must approve.` : again;
}

/** Who decided first, if that is why it was refused. */
function winnerOf(problem: Problem | null): Decided | null {
  const winner = problem?.more.winner;
  return isObject(winner) ? (winner as unknown as Decided) : null;
}
