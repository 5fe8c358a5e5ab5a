// One flow: its picture with what happens on it, its releases, its file, and starting it by hand.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Problem, getText, may, send } from "../api";
import { Picture, type StepCounts } from "../flow/picture";
import { Releases } from "../flow/releases";
import { TriggerForm } from "../flow/trigger";
import { Messages } from "../edit/messages";
import { hearReleases, hearRuns } from "../live";
import { paced, useCounted, useLoad } from "../load";
import { go, link, query } from "../route";
import type { Checked, FlowWhole, Run } from "../types";
import { Act, Curl, Empty, Facts, Head, Loading, Panel, Refusal, Tabs, Time } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { Chip } from "../ui/state";
import { Short, Text } from "../ui/text";
import { say } from "../ui/toast";
import { Code } from "../ui/value";
import { startedBy } from "./flows";
import { RunTable } from "./runs";

const TABS: [string, string, string][] = [
  ["", "Picture", "read"],
  ["runs", "Runs", "read"],
  ["trigger", "Start by hand", "trigger"],
  ["releases", "Releases", "read"],
  ["file", "File", "read"],
];

export function FlowPage(props: { flow: string }): JSX.Element {
  const path = `/v1/flows/${encodeURIComponent(props.flow)}`;
  const flow = useLoad<FlowWhole>(path);
  useEffect(() => hearReleases((name) => name === props.flow && flow.reload()), [props.flow]);
  const [retiring, setRetiring] = useState(false);
  const tab = query("tab");
  return (
    <>
      <Head title={<Text of={props.flow} />} name={props.flow}>
        <Curl path={path} />
        {may("deploy") && flow.data && <button type="button" onClick={() => setRetiring(true)}>Retire…</button>}
        {may("deploy") && flow.data && <a class="button" href={link("flows", props.flow, "edit")}>Edit</a>}
      </Head>
      <Refusal problem={flow.problem} />
      {flow.loading && <Loading />}
      {flow.data && (
        <>
          <About flow={flow.data} />
          <Tabs label="About the flow" tabs={TABS.filter(([, , scope]) => may(scope)).map(([name, word]) => [name, word])} />
          <Tab name={tab} flow={flow.data} reload={flow.reload} />
        </>
      )}
      {retiring && <RetireDialog flow={props.flow} close={() => setRetiring(false)} />}
    </>
  );
}

function Tab(props: { name: string; flow: FlowWhole; reload: () => void }): JSX.Element {
  switch (props.name) {
    case "runs":
      return <RunsOf flow={props.flow.flow} />;
    case "trigger":
      return <TriggerForm flow={props.flow} />;
    case "releases":
      return <Releases flow={props.flow} changed={props.reload} />;
    case "file":
      return <File flow={props.flow} />;
    default:
      return <LivePicture flow={props.flow} />;
  }
}

function About(props: { flow: FlowWhole }): JSX.Element {
  const { flow } = props;
  return (
    <>
      {flow.description && <p><Text of={flow.description} /></p>}
      <Facts
        of={[
          ["Started by", <Text of={flow.triggers?.map(startedBy).join(", ") || "hand"} class="mono" />],
          ["Live since", <><Time at={flow.live_at} /> {flow.by && <span class="dim">by <Text of={flow.by} /></span>}</>],
          ["Release", <Short of={flow.release} keep={12} />],
          ["Remembers", flow.remember],
          ["Overlap", flow.overlap],
        ]}
      />
    </>
  );
}

function LivePicture(props: { flow: FlowWhole }): JSX.Element {
  const path = `/v1/flows/${encodeURIComponent(props.flow.flow)}`;
  const picture = useLoad<string>(`${path}/picture?${props.flow.release.slice(0, 12)}`, (_, signal) => getText(`${path}/picture`, signal));
  const counts = useLoad<{ steps: Record<string, StepCounts> }>(`${path}/steps`);
  useCounted(counts.reload, 1000);
  return (
    <>
      <Refusal problem={picture.problem} />
      {picture.loading && <Loading />}
      {picture.data && <Picture svg={picture.data} counts={counts.data?.steps ?? null} />}
      <Steps flow={props.flow} counts={counts.data?.steps ?? {}} />
    </>
  );
}

/** The same as the picture, for whoever reads rather than looks. */
function Steps(props: { flow: FlowWhole; counts: Record<string, StepCounts> }): JSX.Element {
  return (
    <Panel title="Steps">
      <div class="scroll">
        <table class="wide-table">
          <thead>
            <tr>
              <th scope="col">Step</th><th scope="col">Kind</th><th scope="col">Class</th><th scope="col">Kept from repeating by</th><th scope="col">If nobody knows</th>
              <th scope="col" class="n">Done</th><th scope="col" class="n">Failed</th><th scope="col" class="n">Unknown</th><th scope="col" class="n">Blocked</th>
            </tr>
          </thead>
          <tbody>
            {props.flow.steps.map((step) => {
              const counted = props.counts[step.step];
              return (
                <tr key={step.step}>
                  <th scope="row" class={`depth-${Math.min(step.depth, 4)}`}><Text of={step.step} />{step.on_failure && <span class="dim"> on failure</span>}</th>
                  <td data-label="Kind">{step.kind}</td>
                  <td data-label="Class"><Chip word={step.class} tone="calm" /></td>
                  <td data-label="Kept from repeating by"><Text of={step.guard} /></td>
                  <td data-label="If nobody knows"><Text of={step.on_unknown} /></td>
                  <td data-label="Done" class="n">{counted?.done ?? 0}</td>
                  <td data-label="Failed" class="n">{counted?.failed ?? 0}</td>
                  <td data-label="Unknown" class="n">{counted?.unknown ?? 0}</td>
                  <td data-label="Blocked" class="n">{counted?.blocked ?? 0}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function RunsOf(props: { flow: string }): JSX.Element {
  const runs = useLoad<{ runs: Run[] }>(`/v1/runs?flow=${encodeURIComponent(props.flow)}&limit=20`);
  useEffect(() => {
    const again = paced(runs.reload, 500);
    return hearRuns((run) => run.flow === props.flow && again());
  }, [props.flow]);
  return (
    <>
      <Refusal problem={runs.problem} />
      {runs.loading && <Loading />}
      {runs.data && (runs.data.runs.length > 0 ? <RunTable runs={runs.data.runs} /> : <Empty title="This flow has not run yet." />)}
      <p><a href={`${link("runs")}?flow=${encodeURIComponent(props.flow)}`}>All its runs</a></p>
    </>
  );
}

function File(props: { flow: FlowWhole }): JSX.Element {
  const [checked, setChecked] = useState<Checked | null>(null);
  useEffect(() => {
    send<Checked>("POST", "/v1/check", { json: { source: props.flow.source } }).then(setChecked, () => setChecked(null));
  }, [props.flow.release]);
  return (
    <Panel title="The file">
      {checked && <Messages of={checked} />}
      <Code text={props.flow.source} what="the flow file" />
    </Panel>
  );
}

function RetireDialog(props: { flow: string; close: () => void }): JSX.Element {
  const [problem, setProblem] = useState<Problem | null>(null);
  const act = async (): Promise<void> => {
    try {
      await send("DELETE", `/v1/flows/${encodeURIComponent(props.flow)}`);
      say("Out of service");
      go(link("flows"));
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  return (
    <Dialog title={`Take ${props.flow} out of service?`} close={props.close}>
      <p>It takes no events any more. Runs that are under way go on, and what it did stays on record.</p>
      <Refusal problem={problem} />
      <div class="dialog-foot">
        <button type="button" onClick={props.close}>Leave it</button>
        <Act class="danger" act={act}>Retire it</Act>
      </div>
    </Dialog>
  );
}
