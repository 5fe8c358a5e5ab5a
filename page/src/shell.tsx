// The frame around every page: where one can go, whether what is seen is live, who is looking.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { loggedOut, may, send, session } from "./api";
import { Keys, useKeys } from "./keys";
import { status, tally } from "./live";
import { Destinations } from "./pages/destinations";
import { EditPage } from "./pages/edit";
import { EffectPage } from "./pages/effect";
import { FlowPage } from "./pages/flow";
import { Flows } from "./pages/flows";
import { Inbox } from "./pages/inbox";
import { ItemPage } from "./pages/item";
import { Ledger } from "./pages/ledger";
import { Overview } from "./pages/overview";
import { People } from "./pages/people";
import { Receipts } from "./pages/receipts";
import { RunPage } from "./pages/run";
import { Runs } from "./pages/runs";
import { Secrets } from "./pages/secrets";
import { link, path, segments } from "./route";
import { nextTheme, theme } from "./theme";
import { Empty, Head } from "./ui/bits";
import { Text, count } from "./ui/text";
import { Toasts, say } from "./ui/toast";

interface Place {
  name: string;
  word: string;
  /** What the viewer needs to have anything there. */
  scope: string;
}

const PLACES: Place[] = [
  { name: "inbox", word: "Inbox", scope: "read" },
  { name: "runs", word: "Runs", scope: "read" },
  { name: "flows", word: "Flows", scope: "read" },
  { name: "ledger", word: "Ledger", scope: "read" },
  { name: "receipts", word: "Receipts", scope: "read" },
  { name: "destinations", word: "Destinations", scope: "read" },
  { name: "secrets", word: "Secrets", scope: "read" },
  { name: "people", word: "People", scope: "admin" },
];

function page(): JSX.Element {
  const [first, second, ...rest] = segments();
  switch (first) {
    case undefined:
      return <Overview />;
    case "inbox":
      return second ? <ItemPage key={second} id={second} /> : <Inbox />;
    case "runs":
      return second ? <RunPage key={second} name={second} /> : <Runs />;
    case "flows":
      if (!second) return <Flows />;
      return rest[0] === "edit" ? <EditPage key={second} flow={second} /> : <FlowPage key={second} flow={second} />;
    case "new":
      return <EditPage flow={null} />;
    case "ledger":
      return second && rest.length > 0 ? <EffectPage key={path.value} scope={second} parts={rest} /> : <Ledger />;
    case "receipts":
      return <Receipts />;
    case "destinations":
      return <Destinations />;
    case "secrets":
      return <Secrets />;
    case "people":
      return <People />;
    default:
      return (
        <>
          <Head title="Nothing is here" name="Nothing is here" />
          <Empty title="No page has this address.">
            <p><a href="/">Go to the overview</a></p>
          </Empty>
        </>
      );
  }
}

export function Shell(): JSX.Element {
  const [help, setHelp] = useState(false);
  const [menu, setMenu] = useState(false);
  useKeys(() => setHelp(true));
  useEffect(() => setMenu(false), [path.value]);
  return (
    <>
      <a class="skip" href="#main">Skip to the content</a>
      <header class="bar">
        <a class="brand" href="/" aria-label="Semel: overview">
          <Mark />
          Semel
        </a>
        <button type="button" class="menu" aria-expanded={menu} aria-controls="nav" onClick={() => setMenu(!menu)}>
          Menu{(tally.value?.inbox ?? 0) > 0 && <span class="badge">{count(tally.value?.inbox ?? 0)}</span>}
        </button>
        <div id="nav" class={`side ${menu ? "open" : ""}`}>
          <Nav />
          <Foot help={() => setHelp(true)} />
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {loggedOut.value && (
          <p class="banner" role="alert">
            You are logged out. <a href="/login" target="_blank" rel="noopener">Log in again</a> in another window, then go on here.
          </p>
        )}
        {page()}
      </main>
      <Toasts />
      {help && <Keys close={() => setHelp(false)} />}
    </>
  );
}

function Mark(): JSX.Element {
  return (
    <svg viewBox="0 0 16 16" width="18" height="18" aria-hidden="true" class="mark">
      <circle cx="8" cy="8" r="6.5" />
      <circle class="dot" cx="8" cy="8" r="2.5" />
    </svg>
  );
}

function Nav(): JSX.Element {
  const here = segments()[0] === "new" ? "flows" : segments()[0];
  const waiting = tally.value?.inbox ?? 0;
  const current = (is: boolean): "page" | undefined => (is ? "page" : undefined);
  return (
    <nav aria-label="Pages">
      <a href="/" aria-current={current(here === undefined)}>Overview</a>
      {PLACES.filter((place) => may(place.scope)).map((place) => (
        <a key={place.name} href={link(place.name)} aria-current={current(here === place.name)}>
          {place.word}
          {place.name === "inbox" && waiting > 0 && (
            <span class="badge" aria-label={`${count(waiting)} wait for a person`}>{count(waiting)}</span>
          )}
        </a>
      ))}
    </nav>
  );
}

const LIVE = { live: "Live", connecting: "Connecting…", lost: "Not connected; trying again…" };

function Foot(props: { help: () => void }): JSX.Element {
  const leave = async (): Promise<void> => {
    try {
      await send("DELETE", "/v1/session");
      location.assign("/login");
    } catch (error) {
      say(`Not logged out: ${String(error)}`, "bad");
    }
  };
  return (
    <div class="foot">
      <p class={`live ${status.value}`} role="status">{LIVE[status.value]}</p>
      <p class="who">
        <Text of={session.value?.name ?? ""} /> <span class="dim">{session.value?.role}</span>
      </p>
      <div class="foot-buttons">
        <button type="button" class="small" onClick={nextTheme} aria-label={`Colours: ${theme.value}`}>{theme.value === "auto" ? "Auto" : theme.value === "light" ? "Light" : "Dark"}</button>
        <button type="button" class="small" onClick={props.help}>Keys</button>
        <button type="button" class="small" onClick={leave}>Log out</button>
      </div>
    </div>
  );
}
