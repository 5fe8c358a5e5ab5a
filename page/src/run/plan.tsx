// Doing a run again: first what each step would do, then exactly that and nothing else.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Problem, send } from "../api";
import { go } from "../route";
import type { Plan } from "../types";
import { Act, Loading, Refusal, effectLink, runLink } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { Chip } from "../ui/state";
import { Text, plural } from "../ui/text";
import { say } from "../ui/toast";

const MEANS: Record<string, string> = {
  reuse: "its recorded result stands; nothing is sent",
  execute: "it is done",
  blocked: "it is not done",
  ask: "a person is asked first",
};

const WORDS: [string, string][] = [
  ["execute", "would be done"],
  ["reuse", "keep what is on record"],
  ["blocked", "blocked"],
  ["ask", "for a person to decide first"],
];

export function PlanDialog(props: { run: string; close: () => void }): JSX.Element {
  const [release, setRelease] = useState("");
  const [plan, setPlan] = useState<Plan | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const chosen = release === "" ? {} : { release };
  useEffect(() => {
    let over = false;
    setPlan(null);
    setProblem(null);
    send<Plan>("POST", `/v1/runs/${props.run}/plan`, { json: chosen }).then(
      (told) => over || setPlan(told),
      (error: Problem) => over || setProblem(error),
    );
    return () => void (over = true);
  }, [release]);
  const carryOut = async (): Promise<void> => {
    if (!plan) return;
    try {
      const json = { ...chosen, plan_hash: plan.plan_hash };
      const started = await send<{ run: string; status: string }>("POST", `/v1/runs/${props.run}/rerun`, { json });
      say(started.status === "duplicate" ? "This plan was carried out already; here is its run" : "Begun");
      props.close();
      go(runLink(started.run));
    } catch (error) {
      setProblem(error as Problem);
      // What changed is shown, and must be agreed to anew.
      const changed = (error as Problem).more?.plan as unknown as Plan | undefined;
      if (changed) setPlan(changed);
    }
  };
  return (
    <Dialog title="Do this run again" close={props.close} wide>
      <label class="field">
        <span>By which release</span>
        <select value={release} onChange={(event) => setRelease(event.currentTarget.value)}>
          <option value="">the run's own</option>
          <option value="live">the live one</option>
        </select>
      </label>
      <Refusal problem={problem} />
      {!plan && !problem && <Loading />}
      {plan && <Planned plan={plan} />}
      <div class="dialog-foot">
        <button type="button" onClick={props.close}>Leave it</button>
        <Act class="primary" disabled={!plan} act={carryOut}>Carry out exactly this</Act>
      </div>
    </Dialog>
  );
}

function Planned(props: { plan: Plan }): JSX.Element {
  const { steps, plan_hash } = props.plan;
  const many = (what: string): number => steps.filter((step) => step.what === what).length;
  const told = WORDS.filter(([what]) => many(what) > 0).map(([what, does]) => `${many(what)} ${does}`);
  return (
    <>
      <p>Of {plural(steps.length, "step")}: {told.join(", ")}.</p>
      <div class="scroll">
        <table>
          <thead><tr><th scope="col">Step</th><th scope="col">What</th><th scope="col">Why</th><th scope="col">Effect</th></tr></thead>
          <tbody>
            {steps.map((step) => (
              <tr key={step.step}>
                <th scope="row"><Text of={step.step} /></th>
                <td title={MEANS[step.what]}><Chip word={step.what} tone={step.what === "reuse" ? "calm" : undefined} /></td>
                <td><Text of={step.why} /></td>
                <td>{step.effect && <a class="mono quiet" href={effectLink(step.effect.scope, step.effect.key)}><Text of={step.effect.key} /></a>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="dim">What you confirm: <code>{plan_hash.slice(0, 16)}…</code>. If anything changes meanwhile, nothing is started.</p>
    </>
  );
}
