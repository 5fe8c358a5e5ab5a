// Who did what, and when.

import type { JSX } from "preact";
import { url } from "../api";
import { useLoad } from "../load";
import { query } from "../route";
import { Curl, Empty, Loading, Refusal, Time } from "../ui/bits";
import { Find, Pager, Since, sinceTime } from "../ui/filter";
import { Text } from "../ui/text";

interface Line {
  at: string;
  who: string;
  /** By which way they came: a person in a browser, a token. */
  via: string;
  address: string | null;
  action: string;
  target: string;
  note: string | null;
  /** `null`: the process died while it was under way. */
  status: number | null;
}

export function Audit(): JSX.Element {
  const path = url("/v1/audit", { who: query("who"), since: sinceTime(query("since")), before: query("before"), limit: 50 });
  const page = useLoad<{ entries: Line[]; next: string | null }>(path);
  return (
    <>
      <form class="filters" role="search" aria-label="Filter the audit" onSubmit={(event) => event.preventDefault()}>
        <Find name="who" label="Who" first />
        <Since />
        <Curl path={path} />
      </form>
      <Refusal problem={page.problem} />
      {page.loading && <Loading />}
      {page.data?.entries.length === 0 && <Empty title="Nobody did anything in this time." />}
      {page.data && page.data.entries.length > 0 && (
        <div class="scroll">
          <table class="wide-table">
            <thead><tr><th scope="col">When</th><th scope="col">Who</th><th scope="col">What</th><th scope="col">To what</th><th scope="col">From</th><th scope="col" class="n">Answer</th></tr></thead>
            <tbody>
              {page.data.entries.map((line, index) => (
                <tr key={index}>
                  <td data-label="When"><Time at={line.at} /></td>
                  <th scope="row"><Text of={line.who} /> <span class="dim">{line.via}</span></th>
                  <td data-label="What"><Text of={line.action} class="mono" /></td>
                  <td data-label="To what"><Text of={line.target} class="mono" />{line.note && <span class="dim"> <Text of={line.note} /></span>}</td>
                  <td data-label="From">{line.address && <Text of={line.address} class="mono dim" />}</td>
                  <td data-label="Answer" class={`n ${(line.status ?? 500) >= 400 ? "bad-text" : ""}`}>{line.status ?? "unknown"}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {page.data && <Pager next={page.data.next} name="before" />}
    </>
  );
}
