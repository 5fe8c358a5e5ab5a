// The texts that a flow had: compare them, and make an earlier one live again.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Problem, may, send } from "../api";
import { useLoad } from "../load";
import { query, setQuery } from "../route";
import type { Abandoned, FlowWhole, Release } from "../types";
import { Act, Copy, Loading, Panel, Refusal, Time } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { Chip } from "../ui/state";
import { Short, Text } from "../ui/text";
import { say } from "../ui/toast";
import { Diff } from "./diff";

export function Releases(props: { flow: FlowWhole; changed: () => void }): JSX.Element {
  const path = `/v1/flows/${encodeURIComponent(props.flow.flow)}/releases`;
  const all = useLoad<{ releases: Release[] }>(path);
  const [back, setBack] = useState<Release | null>(null);
  const chosen = query("release");
  const changed = (): void => {
    setBack(null);
    all.reload();
    props.changed();
  };
  return (
    <>
      <Panel title="Releases">
        <Refusal problem={all.problem} />
        {all.loading && <Loading />}
        <div class="scroll">
          <table>
            <thead><tr><th scope="col">Release</th><th scope="col">State</th><th scope="col">Made</th><th scope="col">By</th><th scope="col"><span class="unseen">Actions</span></th></tr></thead>
            <tbody>
              {all.data?.releases.map((release) => (
                <tr key={release.release} class={release.release === chosen ? "chosen" : ""}>
                  <th scope="row"><Short of={release.release} /> <Copy text={release.release} what="the release's name" /></th>
                  <td>{release.live ? <Chip word="live" /> : <Chip word={release.live_at ? "earlier" : "draft"} tone="calm" />}</td>
                  <td><Time at={release.created_at} /></td>
                  <td>{release.by && <Text of={release.by} />}</td>
                  <td class="actions">
                    {!release.live && <button type="button" class="small" onClick={() => setQuery({ release: release.release === chosen ? null : release.release })}>Compare</button>}
                    {!release.live && may("deploy") && <button type="button" class="small" onClick={() => setBack(release)}>{release.live_at ? "Roll back…" : "Release…"}</button>}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Panel>
      {chosen !== "" && chosen !== props.flow.release && <Compared name={chosen} live={props.flow} />}
      {back && <BackDialog flow={props.flow} to={back} close={() => setBack(null)} done={changed} />}
    </>
  );
}

function Compared(props: { name: string; live: FlowWhole }): JSX.Element {
  const other = useLoad<FlowWhole>(`/v1/releases/${encodeURIComponent(props.name)}`);
  return (
    <Panel title="What would change">
      <p class="dim">From the live release to <Short of={props.name} />.</p>
      <Refusal problem={other.problem} />
      {other.data && <Diff before={props.live.source} after={other.data.source} />}
    </Panel>
  );
}

function BackDialog(props: { flow: FlowWhole; to: Release; close: () => void; done: () => void }): JSX.Element {
  const [problem, setProblem] = useState<Problem | null>(null);
  const other = useLoad<FlowWhole>(`/v1/releases/${props.to.release}`);
  const lost = abandoned(problem);
  const act = async (): Promise<void> => {
    try {
      const path = `/v1/flows/${encodeURIComponent(props.flow.flow)}/rollback`;
      await send("POST", path, { json: { to: props.to.release, abandon: lost.length > 0 } });
      say("It is live");
      props.done();
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  return (
    <Dialog title={`Make ${props.to.release.slice(0, 12)}… live?`} close={props.close} wide>
      <p>New events go by it from now on. Runs that are under way keep the release they began with.</p>
      {other.data && <Diff before={props.flow.source} after={other.data.source} />}
      <Refusal problem={problem}><AbandonedKeys of={lost} /></Refusal>
      <div class="dialog-foot">
        <button type="button" onClick={props.close}>Leave it</button>
        <Act class={lost.length > 0 ? "danger" : "primary"} act={act}>{lost.length > 0 ? "Leave those keys behind, and make it live" : "Make it live"}</Act>
      </div>
    </Dialog>
  );
}

/** The keys that a release would not find any more, if it was refused for that. */
export function abandoned(problem: Problem | null): Abandoned[] {
  return problem?.code === "keys_abandoned" ? (problem.more.abandoned as unknown as Abandoned[]) : [];
}

export function AbandonedKeys(props: { of: Abandoned[] }): JSX.Element | null {
  if (props.of.length === 0) return null;
  return (
    <ul>
      {props.of.map((lost) => (
        <li key={lost.scope}>
          <Text of={lost.scope} class="mono" />: {lost.keys} done keys would not be found: <Text of={lost.why} />. To keep them: <code><Text of={lost.keep} /></code>
        </li>
      ))}
    </ul>
  );
}
