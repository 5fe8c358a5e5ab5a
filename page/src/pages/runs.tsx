// Runs: what became of events. Paged by key, so that a million of them are as fast as ten.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { url } from "../api";
import { length } from "../clock";
import { hearRuns } from "../live";
import { useLoad } from "../load";
import { link, query, setQuery } from "../route";
import { OVER, RUN_STATES, type Release, type Run } from "../types";
import { Curl, Empty, Head, Loading, Refusal, Time, flowLink, runLink } from "../ui/bits";
import { Find, Pager, Several, Since, sinceTime } from "../ui/filter";
import { State } from "../ui/state";
import { Text } from "../ui/text";
import { merged } from "./overview";

const LIMIT = 50;

interface Filter {
  flow: string;
  state: string;
  key: string;
  text: string;
  parent: string;
  since: string;
  before: string;
}

function filter(): Filter {
  const names = ["flow", "state", "key", "text", "parent", "before"] as const;
  const plain = Object.fromEntries(names.map((name) => [name, query(name)])) as Omit<Filter, "since">;
  return { ...plain, since: sinceTime(query("since")) };
}

/** Whether a run that the stream tells of belongs into the list. */
function fits(run: Run, by: Filter): boolean {
  const words = by.state === "" ? [] : by.state.split(",");
  const text = by.text.toLowerCase();
  return (
    by.before === "" &&
    (by.flow === "" || run.flow === by.flow) &&
    (words.length === 0 || words.includes(run.state)) &&
    (by.key === "" || run.key === by.key) &&
    (by.parent === "" ? true : run.parent === by.parent) &&
    (text === "" || run.key.toLowerCase().includes(text) || run.why.toLowerCase().includes(text))
  );
}

export function Runs(): JSX.Element {
  const by = filter();
  const path = url("/v1/runs", { ...by, limit: LIMIT });
  const page = useLoad<{ runs: Run[]; next: string | null }>(path);
  const flows = useLoad<{ flows: Release[] }>("/v1/flows");
  const [fresh, setFresh] = useState<{ path: string; runs: Run[] }>({ path, runs: [] });
  useEffect(() => {
    setFresh({ path, runs: [] });
    return hearRuns((run) =>
      setFresh((before) => ({ path, runs: merged(before.path === path ? before.runs : [], run) })),
    );
  }, [path, page.data]);
  const shown = (fresh.path === path ? fresh.runs : []).reduce((runs, run) => {
    const known = runs.some((one) => one.run === run.run);
    return known || fits(run, by) ? merged(runs, run) : runs;
  }, page.data?.runs ?? []);
  const filtered = [by.flow, by.state, by.key, by.text, by.parent, by.since].some((value) => value !== "");
  return (
    <>
      <Head title="Runs" name="Runs"><Curl path={path} /></Head>
      <form class="filters" role="search" aria-label="Filter runs" onSubmit={(event) => event.preventDefault()}>
        <Find name="text" label="Text" hint="part of the key, or of why" first />
        <Find name="flow" label="Flow" list={flows.data?.flows.map((flow) => flow.flow) ?? []} />
        <Find name="key" label="Unit" hint="the whole key" />
        <Since />
      </form>
      <Several name="state" label="States" words={RUN_STATES} show={(word) => <State of={word} />} />
      {by.parent !== "" && (
        <p>
          Started by <a href={runLink(by.parent)}>{by.parent}</a>. <button type="button" class="small" onClick={() => setQuery({ parent: null })}>Show all</button>
        </p>
      )}
      <Refusal problem={page.problem} />
      {page.loading && <Loading />}
      {page.data && (shown.length > 0 ? <RunTable runs={shown} /> : <None filtered={filtered} />)}
      {page.data && <Pager next={page.data.next} name="before" />}
    </>
  );
}

function None(props: { filtered: boolean }): JSX.Element {
  if (props.filtered) {
    return (
      <Empty title="No run fits.">
        <p><a href={link("runs")}>Take the filters away</a></p>
      </Empty>
    );
  }
  return (
    <Empty title="No runs yet.">
      <p>A run begins when an event comes in. <a href={link("flows")}>Open a flow</a> to start one by hand, or send it a webhook.</p>
    </Empty>
  );
}

export function RunTable(props: { runs: Run[] }): JSX.Element {
  return (
    <div class="scroll">
      <table class="wide-table runs">
        <thead>
          <tr>
            <th scope="col">State</th><th scope="col">Unit</th><th scope="col">Flow</th><th scope="col">Why</th>
            <th scope="col">Started</th><th scope="col" class="n">Took</th>
          </tr>
        </thead>
        <tbody>
          {props.runs.map((run) => (
            <tr key={run.run} data-run={run.run}>
              <td data-label="State"><State of={run.state} /></td>
              <th scope="row"><a class="mono" href={runLink(run.run)}><Text of={run.key} /></a></th>
              <td data-label="Flow"><a class="quiet" href={flowLink(run.flow)}><Text of={run.flow} /></a></td>
              <td data-label="Why" class="why"><Text of={run.why} /></td>
              <td data-label="Started"><Time at={run.created_at} /></td>
              <td data-label="Took" class="n">{took(run)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** How long a run that is over was under way. */
export function took(run: Run): string {
  return OVER.has(run.state) ? length(Date.parse(run.changed_at) - Date.parse(run.created_at)) : "";
}
