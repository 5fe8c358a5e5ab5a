// An event that a flow could be started with: one of its own examples, else the last one that came, else one that the
// server made up from what the file reads.

import { get, url } from "../api";
import type { Json } from "../json";
import type { FlowWhole, Run, RunWhole } from "../types";

export async function exampleOf(flow: FlowWhole): Promise<Json> {
  const [first] = flow.examples;
  if (first && !first.made_up) return first.event;
  try {
    const last = await get<{ runs: Run[] }>(url("/v1/runs", { flow: flow.flow, limit: 1 }));
    const run = last.runs[0];
    const payload = run ? (await get<RunWhole>(`/v1/runs/${run.run}`)).payload : null;
    if (payload !== null) return payload;
  } catch {
    // What can be made up is good enough for a form.
  }
  return first?.event ?? {};
}
