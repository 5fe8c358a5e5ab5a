// Receipts: every repeat that was refused, and how many there were.

import type { JSX } from "preact";
import { url } from "../api";
import { useLoad } from "../load";
import { link, query } from "../route";
import { VERDICTS, type Receipt } from "../types";
import { Curl, Empty, Head, Loading, Panel, Refusal, effectLink } from "../ui/bits";
import { Bars } from "../ui/chart";
import { Choice, Find, Pager, Since, sinceTime } from "../ui/filter";
import { Text, count } from "../ui/text";
import { ReceiptTable } from "./effect";

const DAYS = 30;
const DAY = 86_400_000;

interface Tallied {
  at: string;
  scope: string;
  verdict: string;
  count: number;
}

export function Receipts(): JSX.Element {
  const by = { scope: query("scope"), verdict: query("verdict"), since: sinceTime(query("since")) };
  const path = url("/v1/receipts", { ...by, after: query("after"), limit: 50 });
  const page = useLoad<{ receipts: Receipt[]; next: string | null }>(path);
  const tallies = useLoad<{ tallies: Tallied[] }>(url("/v1/receipts/tally", { by: "day", scope: by.scope }));
  const filtered = Object.values(by).some((value) => value !== "");
  const receipts = page.data?.receipts ?? [];
  return (
    <>
      <Head title="Receipts" name="Receipts"><Curl path={path} /></Head>
      {tallies.data && <Chart of={tallies.data.tallies} />}
      <form class="filters" role="search" aria-label="Filter receipts" onSubmit={(event) => event.preventDefault()}>
        <Find name="scope" label="Scope" hint="the whole of it" first />
        <Choice name="verdict" label="Told" options={[["", "anything"], ...VERDICTS.map((word): [string, string] => [word, word])]} />
        <Since />
      </form>
      <Refusal problem={page.problem} />
      {page.loading && <Loading />}
      {page.data && receipts.length === 0 && (
        <Empty title={filtered ? "No receipt fits." : "Nothing was blocked yet."}>
          <p>{filtered ? <a href={link("receipts")}>Take the filters away</a> : "Whenever something is asked for a second time, it is refused and a receipt is kept here."}</p>
        </Empty>
      )}
      {receipts.length > 0 && (
        <ReceiptTable of={receipts} effects={(receipt) => <><a class="mono" href={effectLink(receipt.scope, receipt.key)}><Text of={receipt.key} /></a> <Text of={receipt.scope} class="dim" /></>} />
      )}
      {page.data && <Pager next={page.data.next} name="after" />}
    </>
  );
}

function Chart(props: { of: Tallied[] }): JSX.Element | null {
  const today = Math.floor(Date.now() / DAY) * DAY;
  const from = today - (DAYS - 1) * DAY;
  const values = Array.from({ length: DAYS }, () => 0);
  for (const { at, count: more } of props.of) {
    const day = Math.floor((Date.parse(at) - from) / DAY);
    if (day >= 0 && day < DAYS) values[day] = (values[day] ?? 0) + more;
  }
  const total = values.reduce((sum, value) => sum + value, 0);
  if (total === 0) return null;
  return (
    <Panel title="Blocked by day" aside={<span class="number">{count(total)}</span>}>
      <Bars title="Blocked by day" series={[{ name: "blocked", tone: "block", values }]} from={new Date(from).toISOString()} step={86_400} />
    </Panel>
  );
}
