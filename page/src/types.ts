// What the server answers, as far as the page reads it.

import type { Json } from "./json";

export type RunState =
  | "queued" | "running" | "retrying" | "waiting" | "unknown" | "parked"
  | "done" | "failed" | "undone" | "cancelled";
export const RUN_STATES: RunState[] = [
  "queued", "running", "retrying", "waiting", "unknown", "parked", "done", "failed", "undone", "cancelled",
];
export const OVER: ReadonlySet<string> = new Set(["done", "failed", "undone", "cancelled"]);
export const EFFECT_STATES = ["claimed", "done", "failed", "unknown", "review", "undone", "released"];
export const VERDICTS = ["done", "busy", "unknown", "conflict", "stale"];

export interface Session {
  name: string;
  role: string;
  scopes: string[];
  csrf: string;
}

export interface Run {
  run: string;
  event: string;
  flow: string;
  release: string;
  key: string;
  state: RunState;
  why: string;
  created_at: string;
  changed_at: string;
  wake: string | null;
  parent: string | null;
}

export interface EffectName {
  scope: string;
  key: string;
}

export interface Entry {
  at: string;
  step: string | null;
  what: string;
  text: string;
  attempt: number | null;
  next_at: string | null;
  effect: EffectName | null;
}

export interface Span {
  from: string;
  to: string | null;
  what: "attempt" | "wait" | "retry" | "approval";
  outcome: string | null;
}

export interface Step {
  step: string;
  kind: string;
  class: string;
  phase: string;
  attempts: number;
  why: string | null;
  undo: string | null;
  undo_why: string | null;
  result: Json;
  result_blob: string | null;
  spans?: Span[];
  request?: Json;
  request_blob?: string | null;
}

export interface RunEffect extends EffectName {
  step: string | null;
  state: string;
  attempt: number;
  owner: string | null;
  external_id: string | null;
  claimed_at: string;
  changed_at: string;
  blocked: number;
}

export interface RunWhole extends Run {
  by: string;
  from: string | null;
  at: string;
  payload: Json;
  payload_blob: string | null;
  raw: string | null;
  raw_blob: string | null;
  headers: Record<string, string>;
  again: string | null;
  within: string | null;
  steps: Step[];
  timeline: Entry[];
  effects: RunEffect[];
  duplicates: number;
  children: Record<string, number>;
}

export interface PlanStep {
  step: string;
  class: string;
  what: "reuse" | "execute" | "blocked" | "ask";
  why: string;
  effect: EffectName | null;
}

export interface Plan {
  run: string;
  flow: string;
  key: string;
  release: string;
  plan_hash: string;
  steps: PlanStep[];
}

export interface Trigger {
  kind: string;
  path?: string;
  verify?: string;
  cron?: string;
  zone?: string;
  every?: string;
  event?: string;
}

export interface Release {
  release: string;
  flow: string;
  live: boolean;
  live_at: string | null;
  created_at: string;
  by: string | null;
  triggers?: Trigger[];
}

export interface StepRow {
  step: string;
  depth: number;
  on_failure: boolean;
  kind: string;
  class: string;
  scope: string | null;
  key: string | null;
  guard: string;
  on_unknown: string;
  retry: string;
}

export interface FlowWhole extends Release {
  source: string;
  description: string | null;
  remember: string | null;
  overlap: string;
  steps: StepRow[];
  examples: { name: string; made_up: boolean; event: Json }[];
}

export interface Place {
  line: number;
  column: number;
  end_line: number;
  end_column: number;
  label?: string;
}

export interface Diagnostic {
  code: string;
  level: "error" | "warning" | "note";
  title: string;
  label: string;
  at: Place;
  also?: Place[];
  help: string[];
}

export interface Abandoned {
  scope: string;
  step: string | null;
  keys: number;
  why: string;
  keep: string;
}

export interface Checked {
  flow: string | null;
  release: string;
  errors: number;
  warnings: number;
  diagnostics: Diagnostic[];
  abandoned: Abandoned[];
  missing_secrets: string[];
  steps: StepRow[];
}

export interface Item {
  id: string;
  kind: "approval" | "review";
  flow: string | null;
  run: string | null;
  step: string | null;
  scope: string;
  key: string;
  attempt: number;
  since: string;
  what: string;
  hash: string;
  until: string | null;
  by: string[] | null;
  needed: number | null;
  maker: string | null;
  votes: number;
}

export interface Decided {
  decision: string;
  by: string | null;
  at: string;
  note: string | null;
}

export interface Turn {
  at: string;
  attempt: number;
  from: string;
  to: string;
  cause: string;
  by: string | null;
  note: string | null;
}

export interface Receipt {
  id: string | null;
  scope: string;
  key: string;
  verdict: string | null;
  at: string | null;
  by: string | null;
  attempt: number | null;
  count: number;
  counted: boolean;
}

export interface Effect extends EffectName {
  parts: string[];
  state: string;
  attempt: number;
  owner: string | null;
  created_at: string;
  claimed_at: string;
  lease_until: string | null;
  changed_at: string;
  remember: string;
  forgotten_at: string | null;
  on_unknown: string | null;
  input: Json;
  result: Json;
  input_blob: string | null;
  result_blob: string | null;
  external_id: string | null;
  reason: string | null;
  blocked: number;
  tombstone: boolean;
}

export interface EffectWhole extends Effect {
  attempts: { attempt: number; state: string; claimed_at: string; ended_at: string | null }[];
  decisions: (Decided & { attempt: number })[];
  life: Turn[];
  receipts: Receipt[];
}

export interface ItemWhole extends Item {
  voters: { by: string; at: string; note: string | null }[];
  state: "waiting" | "decided" | "over";
  why_over: string | null;
  show: Json;
  may: string[] | null;
  decided: Decided | null;
  choices: { decision: string; does: string }[];
  lookups: { at: string | null; found: boolean | null; evidence: Json; evidence_blob: string | null }[];
  effect: EffectWhole;
}

export interface Totals {
  events: number;
  duplicates: number;
  runs: number;
  done: number;
  failed: number;
  effects: number;
  blocked: number;
}

export interface Destination {
  name: string;
  calls: number;
  failed: number;
  unknown: number;
  p50_ms: number | null;
  p95_ms: number | null;
  open: number;
  waiting: number;
  rate: Json;
  concurrency: Json;
  breaker: "closed" | "open" | "half-open";
  until: string | null;
}

export type Counted = "events" | "duplicates" | "done" | "failed" | "effects" | "blocked";

export interface Overview {
  now: string;
  states: Record<string, number>;
  inbox: number;
  totals: Totals;
  series: { step_seconds: number; from: string } & Record<Counted, number[]>;
  destinations: Destination[];
  flows: { flow: string; runs: number; failed: number; duplicates: number }[];
}

export interface Tally {
  totals: Totals;
  states: Record<string, number>;
  inbox: number;
}
