// Small things that every page is made of.

import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { Problem, partsOf } from "../api";
import { clock, exact, relative, tick } from "../clock";
import { link, path, query } from "../route";
import { Short, Text, line } from "./text";
import { say } from "./toast";

/** A time of the server: how long ago, and exactly on hover. */
export function Time(props: { at: string | null; as?: "clock" }): JSX.Element | null {
  void tick.value;
  if (props.at === null) return null;
  const at = Date.parse(props.at);
  const [told, hover] = props.as === "clock" ? [clock(at), relative(at)] : [relative(at), clock(at)];
  const title = `${exact(at)} (${hover})`;
  return (
    <time dateTime={props.at} title={title}>
      {told}
    </time>
  );
}

async function toClipboard(text: string): Promise<void> {
  // Browsers give the clipboard only to pages that came over TLS or from the machine itself.
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "unseen";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("the browser refused");
}

export function Copy(props: { text: string; what: string; word?: string }): JSX.Element {
  const [done, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await toClipboard(props.text);
      setDone(true);
      say(`Copied: ${props.what}`);
      window.setTimeout(() => setDone(false), 1500);
    } catch (error) {
      say(`Not copied: ${String(error)}`, "bad");
    }
  };
  const icon = done ? "M3.5 8.5l3 3 6-7" : "M5.5 5.5h7v7h-7zM3.5 10.5v-7h7";
  return (
    <button type="button" class={props.word ? "small" : "icon"} onClick={copy} title={`Copy ${props.what}`} aria-label={`Copy ${props.what}`}>
      <svg class="shape" viewBox="0 0 16 16" width="14" height="14" aria-hidden="true"><path d={icon} /></svg>
      {props.word}
    </button>
  );
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A request as a command line. The token is named, never shown. */
export function Curl(props: { method?: string; path: string; body?: string; headers?: Record<string, string> }): JSX.Element {
  const method = props.method ?? "GET";
  const parts = ["curl -sS", ...(method === "GET" ? [] : [`-X ${method}`]), '-H "Authorization: Bearer $SEMEL_TOKEN"'];
  if (props.body !== undefined) parts.push("-H 'Content-Type: application/json'");
  for (const [name, value] of Object.entries(props.headers ?? {})) parts.push(`-H ${quoted(`${name}: ${value}`)}`);
  parts.push(quoted(location.origin + props.path));
  if (props.body !== undefined) parts.push(`-d ${quoted(props.body)}`);
  return <Copy text={parts.join(" ")} what="as curl" word="curl" />;
}

export function Empty(props: { title: string; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="empty">
      <p class="empty-title">{props.title}</p>
      {props.children}
    </div>
  );
}

/** Why something was refused, in the server's words. */
export function Refusal(props: { problem: Problem | null; children?: ComponentChildren }): JSX.Element | null {
  const problem = props.problem;
  if (problem === null) return null;
  return (
    <div class="refusal" role="alert">
      <p>
        <strong>{line(problem.title || "Refused")}.</strong> <Text of={problem.detail} />
      </p>
      {problem.fix && <p class="dim">What to do: <Text of={problem.fix} /></p>}
      {props.children}
    </div>
  );
}

export function Loading(): JSX.Element {
  return <p class="loading" role="status">Loading…</p>;
}

/** A button that cannot be pressed again while what it began is under way. */
export function Act(props: {
  act: () => Promise<void>;
  children: ComponentChildren;
  class?: string;
  disabled?: boolean;
  title?: string;
  submit?: boolean;
}): JSX.Element {
  const [busy, setBusy] = useState(false);
  const press = async (): Promise<void> => {
    if (busy) return;
    setBusy(true);
    try {
      await props.act();
    } finally {
      setBusy(false);
    }
  };
  return (
    <button type="button" class={props.class} disabled={props.disabled} aria-busy={busy} aria-disabled={busy} title={props.title} onClick={press}>
      {props.children}
    </button>
  );
}

export const runLink = (run: string): string => link("runs", run);
export const flowLink = (flow: string): string => link("flows", flow);
export const effectLink = (scope: string, key: string): string => link("ledger", scope, ...partsOf(key));

/** Who asked: a run by a link, an event by the beginning of its name (one that was refused has no run), anybody else by name. */
export function Who(props: { name: string }): JSX.Element {
  if (!/^(run|evt)_[0-9a-f]{32}$/.test(props.name)) return <Text of={props.name} />;
  const short = <Short of={props.name} />;
  return props.name.startsWith("run_") ? <a href={runLink(props.name)}>{short}</a> : short;
}

/** A heading that the keyboard can be put on, and what stands beside it. */
export function Head(props: { title: ComponentChildren; name: string; children?: ComponentChildren }): JSX.Element {
  document.title = `${line(props.name)} – Semel`;
  return (
    <header class="head">
      <h1 tabIndex={-1}>{props.title}</h1>
      {props.children && <div class="actions">{props.children}</div>}
    </header>
  );
}

export function Panel(props: { title: string; aside?: ComponentChildren; children: ComponentChildren; class?: string }): JSX.Element {
  return (
    <section class={`panel ${props.class ?? ""}`} aria-label={props.title}>
      <div class="panel-head">
        <h2>{props.title}</h2>
        {props.aside}
      </div>
      {props.children}
    </section>
  );
}

/** Parts of a page, each with an address of its own. */
export function Tabs(props: { label: string; tabs: [name: string, word: string][] }): JSX.Element {
  const chosen = query("tab");
  return (
    <nav class="tabs" aria-label={props.label}>
      {props.tabs.map(([name, word]) => (
        <a key={name} href={name === "" ? path.value : `${path.value}?tab=${name}`} aria-current={chosen === name ? "true" : undefined}>{word}</a>
      ))}
    </nav>
  );
}

/** A list of names and what they are. */
export function Facts(props: { of: [string, ComponentChildren][] }): JSX.Element {
  const told = props.of.filter(([, what]) => what !== null && what !== undefined && what !== "");
  return (
    <dl class="facts">
      {told.map(([name, what]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  );
}
