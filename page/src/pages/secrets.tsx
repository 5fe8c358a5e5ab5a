// Secrets: names only. A value goes in and never comes out again.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Problem, may, send } from "../api";
import { useLoad } from "../load";
import { Act, Empty, Head, Loading, Refusal, Time } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { Chip } from "../ui/state";
import { Text } from "../ui/text";
import { say } from "../ui/toast";

interface Secret {
  name: string;
  source: "environment" | "sealed";
  sealed: boolean;
  changed_at: string | null;
  by: string | null;
}

export function Secrets(): JSX.Element {
  const all = useLoad<{ secrets: Secret[] }>("/v1/secrets");
  const [setting, setSetting] = useState<string | null>(null);
  const [removing, setRemoving] = useState<string | null>(null);
  const allowed = may("deploy") || may("admin");
  return (
    <>
      <Head title="Secrets" name="Secrets">
        {allowed && <button type="button" class="primary" onClick={() => setSetting("")}>Set a secret…</button>}
      </Head>
      <p class="dim">Names only: a value that is set is sealed, used in requests, and shown nowhere.</p>
      <Refusal problem={all.problem} />
      {all.loading && <Loading />}
      {all.data?.secrets.length === 0 && (
        <Empty title="No secrets yet."><p>A flow uses one as <code>{"${{ secrets.NAME }}"}</code>.</p></Empty>
      )}
      {all.data && all.data.secrets.length > 0 && (
        <div class="scroll">
          <table class="wide-table">
            <thead><tr><th scope="col">Name</th><th scope="col">Comes from</th><th scope="col">Set</th><th scope="col">By</th><th scope="col"><span class="unseen">Actions</span></th></tr></thead>
            <tbody>
              {all.data.secrets.map((secret) => (
                <tr key={secret.name}>
                  <th scope="row"><Text of={secret.name} class="mono" /></th>
                  <td data-label="Comes from"><Chip word={secret.source} tone="calm" />{secret.source === "environment" && secret.sealed && <span class="dim"> over a sealed one</span>}</td>
                  <td data-label="Set"><Time at={secret.changed_at} /></td>
                  <td data-label="By">{secret.by && <Text of={secret.by} />}</td>
                  <td class="actions">
                    {allowed && <button type="button" class="small" onClick={() => setSetting(secret.name)} aria-label={`Set ${secret.name} anew`}>Set anew…</button>}
                    {allowed && secret.sealed && <button type="button" class="small" onClick={() => setRemoving(secret.name)} aria-label={`Remove ${secret.name}`}>Remove…</button>}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {setting !== null && <SetDialog name={setting} close={() => { setSetting(null); all.reload(); }} />}
      {removing !== null && <RemoveDialog name={removing} close={() => { setRemoving(null); all.reload(); }} />}
    </>
  );
}

function SetDialog(props: { name: string; close: () => void }): JSX.Element {
  const [name, setName] = useState(props.name);
  const [value, setValue] = useState("");
  const [warnings, setWarnings] = useState<string[]>([]);
  const [problem, setProblem] = useState<Problem | null>(null);
  const set = async (): Promise<void> => {
    try {
      const told = await send<{ warnings: string[] }>("PUT", `/v1/secrets/${encodeURIComponent(name)}`, { json: { value } });
      setValue("");
      say(`${name} is set`);
      if (told.warnings.length === 0) props.close();
      setProblem(null);
      setWarnings(told.warnings);
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  return (
    <Dialog title={props.name === "" ? "Set a secret" : `Set ${props.name} anew`} close={props.close}>
      <form onSubmit={(event) => { event.preventDefault(); void set(); }}>
        <label class="field"><span>Name</span><input type="text" class="mono" value={name} readOnly={props.name !== ""} required autocomplete="off" spellcheck={false} placeholder="STRIPE_KEY" onInput={(event) => setName(event.currentTarget.value)} /></label>
        <label class="field"><span>Value</span><input type="password" value={value} required autocomplete="new-password" onInput={(event) => setValue(event.currentTarget.value)} /></label>
        <Refusal problem={problem} />
        {warnings.map((warning) => <p key={warning} class="doubt-text" role="status">It is set, but: <Text of={warning} /></p>)}
        <div class="dialog-foot">
          <button type="button" onClick={props.close}>{warnings.length > 0 ? "Close" : "Leave it"}</button>
          <button type="submit" class="primary">Set</button>
        </div>
      </form>
    </Dialog>
  );
}

function RemoveDialog(props: { name: string; close: () => void }): JSX.Element {
  const [problem, setProblem] = useState<Problem | null>(null);
  const remove = async (): Promise<void> => {
    try {
      await send("DELETE", `/v1/secrets/${encodeURIComponent(props.name)}`);
      say(`${props.name} is removed`);
      props.close();
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  return (
    <Dialog title={`Remove ${props.name}?`} close={props.close}>
      <p>Steps that use it fail from now on, until it is set again. Its value cannot be brought back.</p>
      <Refusal problem={problem} />
      <div class="dialog-foot">
        <button type="button" onClick={props.close}>Keep it</button>
        <Act class="danger" act={remove}>Remove it</Act>
      </div>
    </Dialog>
  );
}
