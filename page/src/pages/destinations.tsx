// Destinations: how the world that flows call is doing, as this node sees it.

import type { JSX } from "preact";
import { length } from "../clock";
import { type Json, print } from "../json";
import { useCounted, useLoad } from "../load";
import type { Destination } from "../types";
import { Curl, Empty, Head, Loading, Refusal, Time } from "../ui/bits";
import { Chip } from "../ui/state";
import { Text, count } from "../ui/text";

export function Destinations(): JSX.Element {
  const all = useLoad<{ destinations: Destination[] }>("/v1/destinations");
  useCounted(all.reload, 1000);
  return (
    <>
      <Head title="Destinations" name="Destinations"><Curl path="/v1/destinations" /></Head>
      <p class="dim">Since this node started. A breaker that is open lets nothing through until the destination has recovered.</p>
      <Refusal problem={all.problem} />
      {all.loading && <Loading />}
      {all.data?.destinations.length === 0 && <Empty title="Nothing was called yet."><p>As soon as a step calls something, it is listed here.</p></Empty>}
      {all.data && all.data.destinations.length > 0 && <DestinationTable of={all.data.destinations} />}
    </>
  );
}

const told = (limit: Json): string => (limit === null ? "none" : typeof limit === "string" ? limit : print(limit));
const ms = (value: number | null): string => (value === null ? "" : length(value));

export function DestinationTable(props: { of: Destination[]; brief?: boolean }): JSX.Element {
  const { brief } = props;
  return (
    <div class="scroll">
      <table class={brief ? "" : "wide-table"}>
        <thead>
          <tr>
            <th scope="col">Destination</th>
            {!brief && <th scope="col">Breaker</th>}
            <th scope="col" class="n">Calls</th>
            <th scope="col" class="n">Failed</th>
            <th scope="col" class="n">Unknown</th>
            {!brief && <th scope="col" class="n">Half within</th>}
            <th scope="col" class="n">95% within</th>
            {!brief && <><th scope="col" class="n">Open now</th><th scope="col" class="n">Waiting</th><th scope="col">Rate</th><th scope="col">At once</th></>}
          </tr>
        </thead>
        <tbody>
          {props.of.map((one) => (
            <tr key={one.name}>
              <th scope="row"><Text of={one.name} class="mono" /> {brief && one.breaker !== "closed" && <Chip word={one.breaker} />}</th>
              {!brief && <td data-label="Breaker"><Chip word={one.breaker} />{one.until && <span class="dim"> until <Time at={one.until} as="clock" /></span>}</td>}
              <td data-label="Calls" class="n">{count(one.calls)}</td>
              <td data-label="Failed" class={`n ${one.failed > 0 ? "bad-text" : ""}`}>{count(one.failed)}</td>
              <td data-label="Unknown" class={`n ${one.unknown > 0 ? "doubt-text" : ""}`}>{count(one.unknown)}</td>
              {!brief && <td data-label="Half within" class="n">{ms(one.p50_ms)}</td>}
              <td data-label="95% within" class="n">{ms(one.p95_ms)}</td>
              {!brief && (
                <>
                  <td data-label="Open now" class="n">{count(one.open)}</td>
                  <td data-label="Waiting" class="n">{count(one.waiting)}</td>
                  <td data-label="Rate">{told(one.rate)}</td>
                  <td data-label="At once">{told(one.concurrency)}</td>
                </>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
