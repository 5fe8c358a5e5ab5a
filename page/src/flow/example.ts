// An event that a flow could be started with: one of its own examples, the last one that came, or one made up by the proof.

import { get, url } from "../api";
import type { Json } from "../json";
import type { FlowWhole, Run, RunWhole } from "../types";

export async function exampleOf(flow: FlowWhole): Promise<Json> {
  const written = (flow as { examples?: { event: Json }[] }).examples;
  if (written?.[0]) return written[0].event;
  try {
    const last = await get<{ runs: Run[] }>(url("/v1/runs", { flow: flow.flow, limit: 1 }));
    const run = last.runs[0];
    if (run) return (await get<RunWhole>(`/v1/runs/${run.run}`)).payload;
  } catch {
    // A form that begins empty is still a form.
  }
  return {};
}
