// The flows that are live.

import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { may, url } from "../api";
import { hearReleases } from "../live";
import { useLoad } from "../load";
import { link } from "../route";
import type { Overview, Release, Trigger } from "../types";
import { Empty, Head, Loading, Refusal, Time, flowLink } from "../ui/bits";
import { Short, Text, count } from "../ui/text";

/** What starts a flow, in one line. */
export function startedBy(trigger: Trigger): string {
  switch (trigger.kind) {
    case "webhook":
      return `${trigger.path} (${trigger.verify})`;
    case "event":
      return `event ${trigger.event}`;
    default:
      return trigger.cron ? `${trigger.kind} ${trigger.cron} ${trigger.zone}` : `${trigger.kind} every ${trigger.every}`;
  }
}

export function Flows(): JSX.Element {
  const flows = useLoad<{ flows: Release[] }>("/v1/flows");
  const told = useLoad<Overview>(url("/v1/overview", {}));
  useEffect(() => hearReleases(() => flows.reload()), []);
  const counts = new Map(told.data?.flows.map((flow) => [flow.flow, flow]));
  return (
    <>
      <Head title="Flows" name="Flows">
        {may("deploy") && <a class="button primary" href={link("new")}>New flow</a>}
      </Head>
      <Refusal problem={flows.problem} />
      {flows.loading && <Loading />}
      {flows.data?.flows.length === 0 && (
        <Empty title="No flow is live.">
          <p>
            {may("deploy") && <><a href={link("new")}>Write one here</a>, or </>}
            run <code>semel deploy FILE.yaml</code>, or start the server with <code>--flows FOLDER</code>.
          </p>
        </Empty>
      )}
      {flows.data && flows.data.flows.length > 0 && (
        <div class="scroll">
          <table class="wide-table">
            <thead>
              <tr>
                <th scope="col">Flow</th><th scope="col">Started by</th><th scope="col" class="n">Runs</th><th scope="col" class="n">Failed</th>
                <th scope="col" class="n">Repeats</th><th scope="col">Live since</th><th scope="col">Release</th>
              </tr>
            </thead>
            <tbody>
              {flows.data.flows.map((flow) => {
                const counted = counts.get(flow.flow);
                return (
                  <tr key={flow.flow}>
                    <th scope="row"><a href={flowLink(flow.flow)}><Text of={flow.flow} /></a></th>
                    <td data-label="Started by"><Text of={flow.triggers?.map(startedBy).join(", ") || "hand"} class="mono dim" /></td>
                    <td data-label="Runs" class="n">{count(counted?.runs ?? 0)}</td>
                    <td data-label="Failed" class={`n ${counted?.failed ? "bad-text" : ""}`}>{count(counted?.failed ?? 0)}</td>
                    <td data-label="Repeats" class="n">{count(counted?.duplicates ?? 0)}</td>
                    <td data-label="Live since"><Time at={flow.live_at} /> {flow.by && <span class="dim">by <Text of={flow.by} /></span>}</td>
                    <td data-label="Release"><Short of={flow.release} keep={12} /></td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}
