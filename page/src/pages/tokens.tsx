// Tokens: how programs are let in, each with what it may do and no more.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Problem, send } from "../api";
import { useLoad } from "../load";
import { Act, Copy, Empty, Loading, Refusal, Time } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { Chip } from "../ui/state";
import { Text } from "../ui/text";
import { say } from "../ui/toast";

const SCOPES: [string, string][] = [
  ["read", "see everything"],
  ["guard", "guard, once and values"],
  ["trigger", "start runs"],
  ["operate", "cancel, resume, retry, re-run, decide lost answers"],
  ["approve", "answer requests for leave"],
  ["deploy", "flows and secrets"],
  ["admin", "people, tokens, audit and secrets"],
];

interface Token {
  id: string;
  name: string;
  scopes?: string[];
  created_at: string;
  revoked_at: string | null;
}

export function Tokens(): JSX.Element {
  const all = useLoad<{ tokens: Token[] }>("/v1/tokens");
  const [adding, setAdding] = useState(false);
  const [revoking, setRevoking] = useState<Token | null>(null);
  return (
    <>
      <div class="line-of"><button type="button" class="primary" onClick={() => setAdding(true)}>Make a token…</button></div>
      <Refusal problem={all.problem} />
      {all.loading && <Loading />}
      {all.data?.tokens.length === 0 && <Empty title="No tokens." />}
      {all.data && all.data.tokens.length > 0 && (
        <div class="scroll">
          <table class="wide-table">
            <thead><tr><th scope="col">Name</th><th scope="col">May</th><th scope="col">Made</th><th scope="col">State</th><th scope="col"><span class="unseen">Actions</span></th></tr></thead>
            <tbody>
              {all.data.tokens.map((token) => (
                <tr key={token.id}>
                  <th scope="row"><Text of={token.name} /> <span class="mono dim">{token.id}</span></th>
                  <td data-label="May">{token.scopes?.map((scope) => <Chip key={scope} word={scope} tone="calm" />)}</td>
                  <td data-label="Made"><Time at={token.created_at} /></td>
                  <td data-label="State">{token.revoked_at ? <>revoked <Time at={token.revoked_at} /></> : <Chip word="valid" tone="good" />}</td>
                  <td class="actions">{!token.revoked_at && <button type="button" class="small" aria-label={`Revoke ${token.name}`} onClick={() => setRevoking(token)}>Revoke…</button>}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {adding && <AddDialog close={() => { setAdding(false); all.reload(); }} />}
      {revoking && <RevokeDialog token={revoking} close={() => { setRevoking(null); all.reload(); }} />}
    </>
  );
}

function AddDialog(props: { close: () => void }): JSX.Element {
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<string[]>(["read"]);
  const [clear, setClear] = useState<string | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const add = async (): Promise<void> => {
    try {
      setClear((await send<{ token: string }>("POST", "/v1/tokens", { json: { name, scopes } })).token);
      setProblem(null);
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  const toggle = (scope: string): void => setScopes(scopes.includes(scope) ? scopes.filter((one) => one !== scope) : [...scopes, scope]);
  return (
    <Dialog title="Make a token" close={props.close}>
      {clear !== null ? (
        <>
          <p>Shown this once, and kept nowhere:</p>
          <p class="mono break">{clear} <Copy text={clear} what="the token" /></p>
          <div class="dialog-foot"><button type="button" class="primary" onClick={props.close}>Done</button></div>
        </>
      ) : (
        <form onSubmit={(event) => { event.preventDefault(); void add(); }}>
          <label class="field"><span>Name</span><input type="text" value={name} required autocomplete="off" spellcheck={false} placeholder="n8n" onInput={(event) => setName(event.currentTarget.value)} /></label>
          <fieldset>
            <legend>What it may do</legend>
            {SCOPES.map(([scope, means]) => (
              <label key={scope} class="check">
                <input type="checkbox" checked={scopes.includes(scope)} onChange={() => toggle(scope)} /> <Chip word={scope} tone="calm" /> <span class="dim">{means}</span>
              </label>
            ))}
          </fieldset>
          <Refusal problem={problem} />
          <div class="dialog-foot"><button type="button" onClick={props.close}>Leave it</button><button type="submit" class="primary" disabled={scopes.length === 0}>Make it</button></div>
        </form>
      )}
    </Dialog>
  );
}

function RevokeDialog(props: { token: Token; close: () => void }): JSX.Element {
  const [problem, setProblem] = useState<Problem | null>(null);
  const revoke = async (): Promise<void> => {
    try {
      await send("DELETE", `/v1/tokens/${encodeURIComponent(props.token.id)}`);
      say(`${props.token.name} is revoked`);
      props.close();
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  return (
    <Dialog title={`Revoke ${props.token.name}?`} close={props.close}>
      <p>Whatever calls with it is refused from now on. That cannot be taken back.</p>
      <Refusal problem={problem} />
      <div class="dialog-foot"><button type="button" onClick={props.close}>Keep it</button><Act class="danger" act={revoke}>Revoke it</Act></div>
    </Dialog>
  );
}
