// The overview: what came in, what was done, what was kept from happening twice, and what needs a person.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { url } from "../api";
import { now } from "../clock";
import { hearRuns, tally } from "../live";
import { useCounted, useLoad } from "../load";
import { link, query, setQuery } from "../route";
import type { Item, Overview as Told, Run } from "../types";
import { Empty, Facts, Head, Loading, Panel, Refusal, Time, flowLink, runLink } from "../ui/bits";
import { Bars, type Series } from "../ui/chart";
import { State } from "../ui/state";
import { Text, count, plural } from "../ui/text";
import { DestinationTable } from "./destinations";
import { KIND_WORDS, question } from "./inbox";

const RANGES: [string, string, number][] = [
  ["15m", "15 min", 900],
  ["1h", "1 hour", 3600],
  ["6h", "6 hours", 21_600],
  ["24h", "1 day", 86_400],
  ["7d", "7 days", 604_800],
];
/** The charts follow what happens, at most so often. */
const EVERY = 2000;
const RECENT = 8;

export function Overview(): JSX.Element {
  const range = RANGES.find(([name]) => name === query("range")) ?? RANGES[1];
  const seconds = range?.[2] ?? 3600;
  const [since, setSince] = useState(() => now());
  const told = useLoad<Told>(url("/v1/overview", { since: new Date(since - seconds * 1000).toISOString() }));
  const inbox = useLoad<{ items: Item[] }>("/v1/inbox?limit=5");
  const [held, hold] = useState<Told | null>(null);
  useEffect(() => {
    if (told.data) hold(told.data);
  }, [told.data]);
  useCounted(() => setSince(now()), EVERY);
  const waiting = tally.value?.inbox;
  useEffect(() => inbox.reload(), [waiting]);
  const shown = told.data ?? held;
  return (
    <>
      <Head title="Overview" name="Overview">
        <div class="several" role="group" aria-label="How far back">
          {RANGES.map(([name, word]) => (
            <button key={name} type="button" class="toggle" aria-pressed={name === range?.[0]} onClick={() => setQuery({ range: name })}>{word}</button>
          ))}
        </div>
      </Head>
      <Refusal problem={told.problem} />
      {shown ? <Shown told={shown} items={inbox.data?.items ?? null} /> : !told.problem && <Loading />}
    </>
  );
}

function Shown(props: { told: Told; items: Item[] | null }): JSX.Element {
  const { told } = props;
  if (told.flows.length === 0 && told.totals.runs === 0 && told.totals.effects === 0) return <First />;
  return (
    <>
      <Tiles told={told} />
      <Now states={tally.value?.states ?? told.states} />
      <div class="columns">
        <div>
          <Panel title="Needs a person" aside={<a href={link("inbox")}>Inbox</a>}>
            <Waiting items={props.items} />
          </Panel>
          <Panel title="Destinations" aside={<a href={link("destinations")}>All</a>}>
            {told.destinations.length === 0 ? <Empty title="Nothing was called yet." /> : <DestinationTable of={told.destinations} brief />}
          </Panel>
        </div>
        <div>
          <Panel title="Latest runs" aside={<a href={link("runs")}>All runs</a>}>
            <Latest />
          </Panel>
          <Panel title="Flows" aside={<a href={link("flows")}>All</a>}>
            <FlowTable of={told.flows} />
          </Panel>
        </div>
      </div>
    </>
  );
}

function Tiles(props: { told: Told }): JSX.Element {
  const { totals, series } = props.told;
  const tile = (title: string, value: number, note: string, of: Series[], tone = ""): JSX.Element => (
    <section class={`tile ${tone}`} aria-label={title}>
      <h2>{title}</h2>
      <p class="number">{count(value)}</p>
      <p class="dim">{note}</p>
      <Bars title={title} series={of} from={series.from} step={series.step_seconds} />
    </section>
  );
  return (
    <div class="tiles">
      {tile("Duplicates blocked", totals.duplicates + totals.blocked, `${count(totals.duplicates)} at the door, ${count(totals.blocked)} by the ledger`, [
        { name: "at the door", tone: "block", values: series.duplicates },
        { name: "by the ledger", tone: "block-2", values: series.blocked },
      ], "main")}
      {tile("Events in", totals.events, `${plural(totals.duplicates, "repeat")} turned away`, [{ name: "events", tone: "calm", values: series.events }])}
      {tile("Runs", totals.runs, `${count(totals.done)} done, ${count(totals.failed)} failed`, [
        { name: "done", tone: "good", values: series.done },
        { name: "failed", tone: "bad", values: series.failed },
      ])}
      {tile("Effects", totals.effects, "changes to the world, each once", [{ name: "effects", tone: "good", values: series.effects }])}
    </div>
  );
}

const OPEN = ["queued", "running", "retrying", "waiting", "unknown", "parked"];

function Now(props: { states: Record<string, number> }): JSX.Element {
  return (
    <section class="now" aria-label="Under way now">
      {OPEN.map((state) => (
        <a key={state} href={`${link("runs")}?state=${state}`} class={props.states[state] ? "" : "none"}>
          <State of={state} /> <span class="number">{count(props.states[state] ?? 0)}</span>
        </a>
      ))}
    </section>
  );
}

export function Waiting(props: { items: Item[] | null }): JSX.Element {
  if (props.items === null) return <Loading />;
  if (props.items.length === 0) return <Empty title="Nobody is being asked anything." />;
  return (
    <ul class="rows">
      {props.items.map((item) => (
        <li key={item.id}>
          <a href={link("inbox", item.id)}>
            <State of={item.kind === "review" ? "unknown" : "parked"} word={KIND_WORDS[item.kind] ?? item.kind} />
            <span class="row-main"><Text of={question(item)} /></span>
            <span class="row-side dim"><Time at={item.since} /></span>
          </a>
        </li>
      ))}
    </ul>
  );
}

function Latest(): JSX.Element {
  const first = useLoad<{ runs: Run[] }>(`/v1/runs?limit=${RECENT}`);
  const [runs, setRuns] = useState<Run[]>([]);
  useEffect(() => {
    if (first.data) setRuns(first.data.runs);
  }, [first.data]);
  useEffect(() => hearRuns((run) => setRuns((before) => merged(before, run).slice(0, RECENT))), []);
  if (first.loading) return <Loading />;
  if (runs.length === 0) return <Empty title="No runs yet." />;
  return (
    <ul class="rows">
      {runs.map((run) => (
        <li key={run.run}>
          <a href={runLink(run.run)}>
            <State of={run.state} />
            <span class="row-main"><Text of={run.flow} /> <Text of={run.key} class="mono dim" /></span>
            <span class="row-side dim"><Time at={run.created_at} /></span>
          </a>
        </li>
      ))}
    </ul>
  );
}

/** A list of runs, newest first, with one that changed or is new. */
export function merged(runs: Run[], run: Run): Run[] {
  const at = runs.findIndex((one) => one.run === run.run);
  if (at >= 0) return runs.map((one, place) => (place === at ? run : one));
  const behind = runs.findIndex((one) => one.run < run.run);
  return behind < 0 ? [...runs, run] : [...runs.slice(0, behind), run, ...runs.slice(behind)];
}

function FlowTable(props: { of: Told["flows"] }): JSX.Element {
  if (props.of.length === 0) return <Empty title="No flow ran in this time." />;
  return (
    <div class="scroll"><table>
      <thead>
        <tr><th scope="col">Flow</th><th scope="col" class="n">Runs</th><th scope="col" class="n">Failed</th><th scope="col" class="n">Repeats</th></tr>
      </thead>
      <tbody>
        {props.of.map((flow) => (
          <tr key={flow.flow}>
            <th scope="row"><a href={flowLink(flow.flow)}><Text of={flow.flow} /></a></th>
            <td class="n">{count(flow.runs)}</td>
            <td class={`n ${flow.failed > 0 ? "bad-text" : ""}`}>{count(flow.failed)}</td>
            <td class="n">{count(flow.duplicates)}</td>
          </tr>
        ))}
      </tbody>
    </table></div>
  );
}

/** What a server that has done nothing yet is told. */
function First(): JSX.Element {
  return (
    <Empty title="Nothing has happened here yet.">
      <p>Write a flow, or guard what another tool does:</p>
      <Facts
        of={[
          ["A flow", <a href={link("new")}>Write the first one</a>],
          ["From a shell", <code>semel once --scope backup --key "$(date +%F)" -- ./backup</code>],
          ["Over HTTP", <code>POST {location.origin}/v1/once/SCOPE/KEY</code>],
        ]}
      />
    </Empty>
  );
}
