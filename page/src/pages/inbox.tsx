// The inbox: what waits for a person, decided one by one or as a set that was shown first.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Problem, may, send, url } from "../api";
import { tally } from "../live";
import { useLoad } from "../load";
import { link, query } from "../route";
import type { Item } from "../types";
import { Act, Curl, Empty, Head, Loading, Refusal, Time, flowLink } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { Choice, Find, Pager, Since, sinceTime } from "../ui/filter";
import { Chip } from "../ui/state";
import { Text, count, plural } from "../ui/text";
import { say } from "../ui/toast";

const LIMIT = 50;

export const KIND_WORDS: Record<string, string> = { approval: "leave", review: "lost answer" };

/** What a person is asked, in one line. */
export function question(item: Item): string {
  return item.kind === "approval" ? item.what : `Did ${item.step ?? item.scope} happen for ${item.key}?`;
}

export function Inbox(): JSX.Element {
  const by = { flow: query("flow"), step: query("step"), kind: query("kind"), for: query("for"), since: sinceTime(query("since")) };
  const path = url("/v1/inbox", { ...by, after: query("after"), limit: LIMIT });
  const page = useLoad<{ items: Item[]; next: string | null }>(path);
  const [bulk, setBulk] = useState(false);
  const waiting = tally.value?.inbox;
  useEffect(() => page.reload(), [waiting]);
  const filtered = Object.values(by).some((value) => value !== "");
  const items = page.data?.items ?? [];
  return (
    <>
      <Head title="Inbox" name="Inbox">
        <Curl path={path} />
        {items.length > 1 && (may("operate") || may("approve")) && <button type="button" onClick={() => setBulk(true)}>Decide many…</button>}
      </Head>
      <form class="filters" role="search" aria-label="Filter the inbox" onSubmit={(event) => event.preventDefault()}>
        <Choice name="kind" label="Kind" options={[["", "all"], ["approval", "requests for leave"], ["review", "lost answers"]]} />
        <Choice name="for" label="Whose" options={[["", "everybody's"], ["me", "what I may decide"]]} />
        <Find name="flow" label="Flow" first />
        <Find name="step" label="Step" />
        <Since label="Waiting since" />
      </form>
      <Refusal problem={page.problem} />
      {page.loading && <Loading />}
      {page.data && items.length === 0 && (
        <Empty title={filtered ? "Nothing here fits." : "Nobody is being asked anything."}>
          <p>{filtered ? <a href={link("inbox")}>Take the filters away</a> : "When an answer is lost and nobody can know whether it happened, or a flow asks for leave, it is listed here."}</p>
        </Empty>
      )}
      {items.length > 0 && <Items of={items} />}
      {page.data && <Pager next={page.data.next} name="after" />}
      {bulk && <BulkDialog by={by} close={() => { setBulk(false); page.reload(); }} />}
    </>
  );
}

function Items(props: { of: Item[] }): JSX.Element {
  return (
    <div class="scroll">
      <table class="wide-table">
        <thead>
          <tr>
            <th scope="col">What is asked</th><th scope="col">Kind</th><th scope="col">Flow</th><th scope="col">Step</th><th scope="col">Unit</th><th scope="col">Since</th><th scope="col">Until</th>
          </tr>
        </thead>
        <tbody>
          {props.of.map((item) => (
            <tr key={item.id}>
              <th scope="row"><a href={link("inbox", item.id)}><Text of={question(item)} /></a>{item.kind === "review" && <p class="dim said"><Text of={item.what} /></p>}</th>
              <td data-label="Kind"><Chip word={KIND_WORDS[item.kind] ?? item.kind} tone={item.kind === "review" ? "doubt" : "busy"} /></td>
              <td data-label="Flow">{item.flow && <a class="quiet" href={flowLink(item.flow)}><Text of={item.flow} /></a>}</td>
              <td data-label="Step">{item.step && <Text of={item.step} />}</td>
              <td data-label="Unit"><Text of={item.key} class="mono dim" /></td>
              <td data-label="Since"><Time at={item.since} /></td>
              <td data-label="Until"><Time at={item.until} />{item.needed !== null && item.needed > 1 && <span class="dim"> {item.votes} of {item.needed}</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface Chosen {
  decision: string;
  count: number;
  hash: string;
  items: Item[];
}

interface Outcome {
  count: number;
  recorded: number;
  refused: number;
  items: (Item & { status: string; problem: { code: string; detail: string } | null })[];
}

const WORDS: [string, string, string][] = [
  ["happened", "Happened: on record as done, never sent again", "operate"],
  ["resend", "Resend: sent again, once", "operate"],
  ["failed", "Failed: on record that it did not happen", "operate"],
  ["approve", "Approve", "approve"],
  ["reject", "Reject", "approve"],
];

function BulkDialog(props: { by: { flow: string; step: string; kind: string; since: string }; close: () => void }): JSX.Element {
  const words = WORDS.filter(([word, , scope]) => may(scope) && (props.by.kind === "" || (props.by.kind === "review") === (scope === "operate") || word === ""));
  const [decision, setDecision] = useState("");
  const [note, setNote] = useState("");
  const [set, setSet] = useState<Chosen | null>(null);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const filter = Object.fromEntries(Object.entries({ flow: props.by.flow, step: props.by.step, since: props.by.since }).filter(([, value]) => value !== ""));
  const show = async (word: string): Promise<void> => {
    setDecision(word);
    setSet(null);
    setProblem(null);
    if (word === "") return;
    try {
      setSet(await send<Chosen>("POST", "/v1/inbox/decide", { json: { decision: word, ...filter } }));
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  const decide = async (): Promise<void> => {
    if (!set) return;
    try {
      const said = note.trim() === "" ? {} : { note };
      const json = { decision, hash: set.hash, ...filter, ...said };
      const told = await send<Outcome>("POST", "/v1/inbox/decide", { json });
      setOutcome(told);
      say(`${plural(told.recorded, "decision")} recorded`);
    } catch (error) {
      setProblem(error as Problem);
      const more = (error as Problem).more;
      if ((error as Problem).code === "set_changed") setSet(more as unknown as Chosen);
    }
  };
  return (
    <Dialog title="Decide many at once" close={props.close} wide>
      {outcome ? <Outcomes of={outcome} /> : (
        <>
          <p>Of what the filters leave: {Object.keys(filter).length === 0 ? "everything" : Object.entries(filter).map(([name, value]) => `${name} ${value}`).join(", ")}.</p>
          <label class="field">
            <span>Decision</span>
            <select value={decision} onChange={(event) => void show(event.currentTarget.value)}>
              <option value="">choose…</option>
              {words.map(([word, told]) => <option key={word} value={word}>{told}</option>)}
            </select>
          </label>
          <label class="field"><span>Note (optional)</span><textarea rows={2} value={note} onInput={(event) => setNote(event.currentTarget.value)} /></label>
          <Refusal problem={problem} />
          {set && <SetShown set={set} />}
        </>
      )}
      <div class="dialog-foot">
        <button type="button" onClick={props.close}>{outcome ? "Close" : "Leave them"}</button>
        {!outcome && <Act class="primary" disabled={!set || set.count === 0} act={decide}>{set ? `Decide ${count(set.count)}: ${decision}` : "Decide"}</Act>}
      </div>
    </Dialog>
  );
}

function SetShown(props: { set: Chosen }): JSX.Element {
  const { set } = props;
  if (set.count === 0) return <p>Nothing that waits fits this decision.</p>;
  return (
    <>
      <p><strong>{plural(set.count, "item")}</strong>{set.items.length < set.count && `, the first ${set.items.length} of them`}:</p>
      <ul class="rows short">
        {set.items.map((item) => <li key={item.id}><span class="row-main"><Text of={question(item)} /></span></li>)}
      </ul>
      <p class="dim">What you confirm: <code>{set.hash.slice(0, 16)}…</code>. If anything changes meanwhile, nothing is decided.</p>
    </>
  );
}

function Outcomes(props: { of: Outcome }): JSX.Element {
  const refused = props.of.items.filter((item) => item.problem);
  return (
    <>
      <p>{plural(props.of.recorded, "decision")} recorded, {props.of.refused} refused.</p>
      <ul class="rows short">
        {refused.map((item) => <li key={item.id}><Text of={item.key} class="mono" />: <Text of={item.problem?.detail ?? ""} /></li>)}
      </ul>
    </>
  );
}
