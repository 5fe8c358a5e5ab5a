// People, the tokens of programs, and who did what.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Problem, send, session } from "../api";
import { useLoad } from "../load";
import { query } from "../route";
import { Act, Copy, Empty, Head, Loading, Refusal, Tabs, Time } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { Chip } from "../ui/state";
import { Text } from "../ui/text";
import { say } from "../ui/toast";
import { Audit } from "./audit";
import { Tokens } from "./tokens";

export const ROLES: [string, string][] = [
  ["viewer", "sees everything, changes nothing"],
  ["operator", "starts, cancels, retries and re-runs; decides lost answers"],
  ["approver", "sees everything, answers requests for leave"],
  ["admin", "all of it, and flows, secrets, people and tokens"],
];

interface Person {
  name: string;
  role: string;
  created_at: string;
  /** Whether one was chosen. */
  password: boolean;
}

const TABS: [string, string][] = [["", "People"], ["tokens", "Tokens"], ["audit", "Audit"]];

export function People(): JSX.Element {
  const tab = query("tab");
  return (
    <>
      <Head title="People" name="People" />
      <Tabs label="People, tokens and audit" tabs={TABS} />
      {tab === "tokens" ? <Tokens /> : tab === "audit" ? <Audit /> : <Persons />}
    </>
  );
}

function Persons(): JSX.Element {
  const all = useLoad<{ people: Person[] }>("/v1/people");
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<string | null>(null);
  const [invited, setInvited] = useState<{ name: string; link: string } | null>(null);
  const invite = async (name: string): Promise<void> => {
    try {
      setInvited(await send<{ name: string; link: string }>("POST", `/v1/people/${encodeURIComponent(name)}/link`));
    } catch (error) {
      say((error as Problem).detail ?? String(error), "bad");
    }
  };
  const change = async (name: string, role: string): Promise<void> => {
    try {
      await send("PATCH", `/v1/people/${encodeURIComponent(name)}`, { json: { role } });
      say(`${name} is ${role} now`);
    } catch (error) {
      say((error as Problem).detail ?? String(error), "bad");
    }
    all.reload();
  };
  return (
    <>
      <div class="line-of"><button type="button" class="primary" onClick={() => setAdding(true)}>Add a person…</button></div>
      <Refusal problem={all.problem} />
      {all.loading && <Loading />}
      {all.data?.people.length === 0 && <Empty title="Nobody has an account yet." />}
      {all.data && all.data.people.length > 0 && (
        <div class="scroll">
          <table class="wide-table">
            <thead><tr><th scope="col">Name</th><th scope="col">Role</th><th scope="col">Since</th><th scope="col"><span class="unseen">Actions</span></th></tr></thead>
            <tbody>
              {all.data.people.map((person) => (
                <tr key={person.name}>
                  <th scope="row"><Text of={person.name} />{person.name === session.value?.name && <span class="dim"> (you)</span>}{!person.password && <> <Chip word="no password yet" tone="doubt" /></>}</th>
                  <td data-label="Role">
                    <select value={person.role} aria-label={`Role of ${person.name}`} onChange={(event) => void change(person.name, event.currentTarget.value)}>
                      {ROLES.map(([role]) => <option key={role} value={role}>{role}</option>)}
                    </select>
                  </td>
                  <td data-label="Since"><Time at={person.created_at} /></td>
                  <td class="actions">
                    <Act class="small" act={() => invite(person.name)} title={`A link with which ${person.name} chooses a new password`}>Link…</Act>
                    <button type="button" class="small" aria-label={`Remove ${person.name}`} onClick={() => setRemoving(person.name)}>Remove…</button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {invited && <Dialog title="A link to choose a password" close={() => setInvited(null)}><Invitation {...invited} close={() => setInvited(null)} /></Dialog>}
      {adding && <AddDialog close={() => { setAdding(false); all.reload(); }} />}
      {removing !== null && <RemoveDialog name={removing} close={() => { setRemoving(null); all.reload(); }} />}
    </>
  );
}

function Invitation(props: { name: string; link: string; close: () => void }): JSX.Element {
  return (
    <>
      <p>Give <Text of={props.name} class="strong" /> this link. It is shown this once, and good once and for a day; whoever opens it chooses the password.</p>
      <p class="mono break">{props.link} <Copy text={props.link} what="the link" /></p>
      <div class="dialog-foot"><button type="button" class="primary" onClick={props.close}>Done</button></div>
    </>
  );
}

function AddDialog(props: { close: () => void }): JSX.Element {
  const [name, setName] = useState("");
  const [role, setRole] = useState("viewer");
  const [link, setLink] = useState<string | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const add = async (): Promise<void> => {
    try {
      const told = await send<{ link: string }>("POST", "/v1/people", { json: { name, role } });
      setLink(told.link);
      setProblem(null);
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  return (
    <Dialog title="Add a person" close={props.close}>
      {link !== null ? (
        <Invitation name={name} link={link} close={props.close} />
      ) : (
        <form onSubmit={(event) => { event.preventDefault(); void add(); }}>
          <label class="field"><span>Name</span><input type="text" value={name} required autocomplete="off" spellcheck={false} onInput={(event) => setName(event.currentTarget.value)} /></label>
          <fieldset>
            <legend>Role</legend>
            {ROLES.map(([word, means]) => (
              <label key={word} class="check">
                <input type="radio" name="role" checked={role === word} onChange={() => setRole(word)} /> <Chip word={word} tone="calm" /> <span class="dim">{means}</span>
              </label>
            ))}
          </fieldset>
          <Refusal problem={problem} />
          <div class="dialog-foot"><button type="button" onClick={props.close}>Leave it</button><button type="submit" class="primary">Add</button></div>
        </form>
      )}
    </Dialog>
  );
}

function RemoveDialog(props: { name: string; close: () => void }): JSX.Element {
  const [problem, setProblem] = useState<Problem | null>(null);
  const remove = async (): Promise<void> => {
    try {
      await send("DELETE", `/v1/people/${encodeURIComponent(props.name)}`);
      say(`${props.name} has no account any more`);
      props.close();
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  return (
    <Dialog title={`Remove ${props.name}?`} close={props.close}>
      <p>They are logged out at once. What they decided stays on record under their name.</p>
      <Refusal problem={problem} />
      <div class="dialog-foot">
        <button type="button" onClick={props.close}>Keep the account</button>
        <Act class="danger" act={remove}>Remove it</Act>
      </div>
    </Dialog>
  );
}
