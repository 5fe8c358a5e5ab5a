// An event that a flow could be started with: one of its own examples, else the last one that came, else one that has what the
// file reads.

import { get, url } from "../api";
import type { Json } from "../json";
import type { FlowWhole, Run, RunWhole } from "../types";

export async function exampleOf(flow: FlowWhole): Promise<Json> {
  const written = flow.examples?.[0];
  if (written) return written.event;
  try {
    const last = await get<{ runs: Run[] }>(url("/v1/runs", { flow: flow.flow, limit: 1 }));
    const run = last.runs[0];
    const payload = run ? (await get<RunWhole>(`/v1/runs/${run.run}`)).payload : null;
    if (payload !== null) return payload;
  } catch {
    // What can be made up is good enough for a form.
  }
  return madeUp(flow.source);
}

const PATHS = /\bevent((?:\.[A-Za-z_]\w*)+)/g;

/** An event with every member that the file names. */
export function madeUp(source: string): Json {
  const event: { [name: string]: Json } = {};
  for (const [, path = ""] of source.matchAll(PATHS)) {
    const names = path.slice(1).split(".");
    const last = names.pop() ?? "";
    let at = event;
    for (const name of names) {
      const inner = at[name];
      at = (typeof inner === "object" ? inner : (at[name] = {})) as { [name: string]: Json };
    }
    at[last] ??= "";
  }
  return event;
}
