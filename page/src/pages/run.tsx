// One run, as it happens.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Problem, may, send } from "../api";
import { hearRuns } from "../live";
import { useLoad } from "../load";
import { go, link, query, setQuery } from "../route";
import { PlanDialog } from "../run/plan";
import { ProofPanel } from "../run/proof";
import { History, StepPanel } from "../run/step";
import { Timeline } from "../run/timeline";
import { OVER, type RunWhole } from "../types";
import { Act, Copy, Curl, Facts, Head, Loading, Panel, Refusal, Time, effectLink, flowLink, runLink } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { State } from "../ui/state";
import { Short, Text, count, plural } from "../ui/text";
import { say } from "../ui/toast";
import { Blob, Code, Value } from "../ui/value";
import { took } from "./runs";

export function RunPage(props: { name: string }): JSX.Element {
  const path = `/v1/runs/${encodeURIComponent(props.name)}`;
  const run = useLoad<RunWhole>(path);
  const open = run.data !== null && !OVER.has(run.data.state);
  useWatch(props.name, open, run.reload);
  const told = run.data;
  return (
    <>
      <Head
        title={told ? <><Text of={told.key} class="mono" /> <State of={told.state} /></> : "Run"}
        name={told ? `${told.key} (${told.state})` : "Run"}
      >
        {told && <Buttons run={told} reload={run.reload} />}
      </Head>
      <Refusal problem={run.problem} />
      {run.loading && <Loading />}
      {told && <Whole run={told} path={path} />}
    </>
  );
}

/** Reads the run again whenever anything happens to it, until it is over. */
function useWatch(name: string, open: boolean, reload: () => void): void {
  useEffect(() => hearRuns((told) => (told.run === name || told.event === name) && reload()), [name]);
  useEffect(() => {
    if (!open) return;
    const stream = new EventSource(`/v1/runs/${encodeURIComponent(name)}/watch`);
    for (const what of ["entry", "state", "end"]) stream.addEventListener(what, reload);
    stream.addEventListener("end", () => stream.close());
    // The page's own stream says when the server is back; then everything is read anew.
    stream.onerror = () => stream.close();
    return () => stream.close();
  }, [name, open]);
}

function Whole(props: { run: RunWhole; path: string }): JSX.Element {
  const { run } = props;
  const chosen = run.steps.find((step) => step.step === query("step")) ?? null;
  const choose = (step: string | null): void => setQuery({ step });
  return (
    <>
      <p class="why-line" role="status"><Text of={run.why} />{run.wake && !OVER.has(run.state) && <span class="dim"> Goes on <Time at={run.wake} />.</span>}</p>
      <Facts
        of={[
          ["Flow", <a href={flowLink(run.flow)}><Text of={run.flow} /></a>],
          ["Run", <><Short of={run.run} /> <Copy text={run.run} what="the run's name" /></>],
          ["Event", <><Short of={run.event} /> <Copy text={run.event} what="the event's name" /></>],
          ["Started", <><Time at={run.created_at} /> <span class="dim">by {run.by}</span> {run.from && <Text of={run.from} class="dim" />}</>],
          ["Took", took(run)],
          ["Same event again", run.duplicates > 0 ? <State of="blocked" word={`${plural(run.duplicates, "time")}, blocked`} /> : null],
          ["Again of", run.again && <a href={runLink(run.again)}><Short of={run.again} /></a>],
          ["Part of", run.parent && <a href={runLink(run.parent)}><Short of={run.parent} /></a>],
          ["Release", <a href={`${flowLink(run.flow)}?tab=releases&release=${run.release}`}><Short of={run.release} keep={12} /></a>],
          ["", <Curl path={props.path} />],
        ]}
      />
      <Children run={run} />
      <Timeline run={run} chosen={chosen?.step ?? null} choose={choose} />
      {chosen && <StepPanel run={run} step={chosen} close={() => choose(null)} />}
      <div class="columns">
        <Panel title="History"><History entries={run.timeline} steps /></Panel>
        <div>
          <Input run={run} />
          <Effects run={run} />
          <ProofPanel event={run.event} />
        </div>
      </div>
    </>
  );
}

function Children(props: { run: RunWhole }): JSX.Element | null {
  const states = Object.entries(props.run.children);
  if (states.length === 0) return null;
  return (
    <p class="line-of">
      <a href={`${link("runs")}?parent=${props.run.run}`}>Runs that it started</a>:
      {states.map(([state, number]) => <span key={state}><State of={state} /> {count(number)}</span>)}
    </p>
  );
}

function Input(props: { run: RunWhole }): JSX.Element {
  const { run } = props;
  const headers = Object.entries(run.headers);
  return (
    <Panel title="Event">
      <Value of={run.payload} blob={run.payload_blob} what="the event" />
      {headers.length > 0 && <Facts of={headers.map(([name, value]) => [name, <Text of={value} class="mono" />])} />}
      {(run.raw !== null || run.raw_blob) && (
        <details>
          <summary>As it was received</summary>
          {run.raw_blob ? <Blob hash={run.raw_blob} what="what was received" /> : <Code text={run.raw ?? ""} what="what was received" />}
        </details>
      )}
    </Panel>
  );
}

function Effects(props: { run: RunWhole }): JSX.Element {
  const { effects } = props.run;
  return (
    <Panel title="Effects">
      {effects.length === 0 ? (
        <p class="dim">Nothing of it is in the ledger yet.</p>
      ) : (
        <div class="scroll">
          <table>
            <thead><tr><th scope="col">State</th><th scope="col">Effect</th><th scope="col">Their name</th><th scope="col" class="n">Blocked</th></tr></thead>
            <tbody>
              {effects.map((effect) => (
                <tr key={effect.scope + effect.key}>
                  <td><State of={effect.state} /></td>
                  <th scope="row"><a class="mono" href={effectLink(effect.scope, effect.key)}><Text of={effect.key} /></a></th>
                  <td>{effect.external_id && <Text of={effect.external_id} class="mono" />}</td>
                  <td class="n">{count(effect.blocked)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}

type Asked = "cancel" | "undo" | "plan" | null;

function Buttons(props: { run: RunWhole; reload: () => void }): JSX.Element | null {
  const { run, reload } = props;
  const [asked, ask] = useState<Asked>(null);
  if (!may("operate")) return null;
  const tell = async (what: string, json: unknown, done: string): Promise<void> => {
    try {
      await send("POST", `/v1/runs/${run.run}/${what}`, { json });
      say(done);
      reload();
    } catch (error) {
      say((error as Problem).detail ?? String(error), "bad");
    }
  };
  const retry = async (): Promise<void> => {
    try {
      const started = await send<{ run: string }>("POST", `/v1/runs/${run.run}/retry`, { json: {} });
      go(runLink(started.run));
    } catch (error) {
      say((error as Problem).detail ?? String(error), "bad");
    }
  };
  const over = OVER.has(run.state);
  const inner = run.parent !== null;
  return (
    <>
      {!over && ["parked", "retrying", "waiting"].includes(run.state) && <Act act={() => tell("resume", {}, "It goes on")}>Resume</Act>}
      {over && !inner && run.state !== "done" && <Act act={retry} title="What is done stays done; the rest is tried again">Retry</Act>}
      {over && !inner && <button type="button" class="primary" onClick={() => ask("plan")}>Re-run…</button>}
      {!over && <button type="button" onClick={() => ask("cancel")}>Cancel…</button>}
      {!over && <button type="button" onClick={() => ask("undo")}>Undo…</button>}
      {asked === "plan" && <PlanDialog run={run.run} close={() => ask(null)} />}
      {(asked === "cancel" || asked === "undo") && (
        <Dialog title={asked === "undo" ? "End it, and take back what is done?" : "End this run?"} close={() => ask(null)}>
          <p>
            What is under way is let finish; nothing after it begins.
            {asked === "undo" ? " Then each step that is done and has an undo is taken back, the last one first." : " What is done stays done."}
          </p>
          <div class="dialog-foot">
            <button type="button" onClick={() => ask(null)}>Let it run</button>
            <Act class="danger" act={async () => { await tell("cancel", { undo: asked === "undo" }, "It is asked to end"); ask(null); }}>
              {asked === "undo" ? "End and undo" : "End it"}
            </Act>
          </div>
        </Dialog>
      )}
    </>
  );
}
