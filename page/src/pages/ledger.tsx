// The ledger: every effect on record, found by what it is called.

import type { JSX } from "preact";
import { url } from "../api";
import { useLoad } from "../load";
import { link, query } from "../route";
import { EFFECT_STATES, type Effect } from "../types";
import { Curl, Empty, Head, Loading, Refusal, Time } from "../ui/bits";
import { Find, Pager, Several, Since, sinceTime } from "../ui/filter";
import { State } from "../ui/state";
import { Text, count } from "../ui/text";

const LIMIT = 50;

export function Ledger(): JSX.Element {
  const by = { scope: query("scope"), prefix: query("prefix"), external_id: query("external_id"), state: query("state"), since: sinceTime(query("since")) };
  const path = url("/v1/ledger", { ...by, after: query("after"), limit: LIMIT });
  const page = useLoad<{ effects: Effect[]; next: string | null }>(path);
  const filtered = Object.values(by).some((value) => value !== "");
  const effects = page.data?.effects ?? [];
  return (
    <>
      <Head title="Ledger" name="Ledger"><Curl path={path} /></Head>
      <form class="filters" role="search" aria-label="Search the ledger" onSubmit={(event) => event.preventDefault()}>
        <Find name="prefix" label="Key or unit" hint="how it begins" first />
        <Find name="scope" label="Scope" hint="the whole of it" />
        <Find name="external_id" label="Their name for it" hint="in_77" />
        <Since label="Changed" />
      </form>
      <Several name="state" label="States" words={EFFECT_STATES} show={(word) => <State of={word} />} />
      <Refusal problem={page.problem} />
      {page.loading && <Loading />}
      {page.data && effects.length === 0 && (
        <Empty title={filtered ? "No effect fits." : "Nothing is on record yet."}>
          <p>{filtered ? <a href={link("ledger")}>Take the filters away</a> : "Every change to the world that a flow makes, or that another tool asks leave for, gets a line here."}</p>
        </Empty>
      )}
      {effects.length > 0 && (
        <div class="scroll">
          <table class="wide-table">
            <thead>
              <tr>
                <th scope="col">State</th><th scope="col">Key</th><th scope="col">Scope</th><th scope="col">Their name</th>
                <th scope="col" class="n">Attempt</th><th scope="col" class="n">Blocked</th><th scope="col">Changed</th>
              </tr>
            </thead>
            <tbody>
              {effects.map((effect) => (
                <tr key={effect.scope + effect.key}>
                  <td data-label="State"><State of={effect.state} /></td>
                  <th scope="row"><a class="mono" href={link("ledger", effect.scope, ...effect.parts)}><Text of={effect.key} /></a></th>
                  <td data-label="Scope"><Text of={effect.scope} /></td>
                  <td data-label="Their name">{effect.external_id && <Text of={effect.external_id} class="mono" />}</td>
                  <td data-label="Attempt" class="n">{effect.attempt}</td>
                  <td data-label="Blocked" class="n">{count(effect.blocked)}</td>
                  <td data-label="Changed"><Time at={effect.changed_at} /></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {page.data && <Pager next={page.data.next} name="after" />}
    </>
  );
}
