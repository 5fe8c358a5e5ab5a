// Writing a flow: the text, what `check` says of it at once, its picture, a proof, and then draft or release.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Problem, send } from "../api";
import { Editor } from "../edit/editor";
import { Messages } from "../edit/messages";
import { type Proof, ProofPanel } from "../edit/proof";
import { Diff } from "../flow/diff";
import { Picture } from "../flow/picture";
import { AbandonedKeys, abandoned } from "../flow/releases";
import type { Json } from "../json";
import { useLoad } from "../load";
import { beforeLeaving, go, link } from "../route";
import type { Checked, Diagnostic, FlowWhole } from "../types";
import { Act, Head, Loading, Panel, Refusal, flowLink } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { Text } from "../ui/text";
import { say } from "../ui/toast";

const NEW = `name: hello
on:
  webhook: {path: /hooks/hello, verify: none}
key: hello/\${{ event.id }}
steps:
  - id: say
    http:
      post: https://chat.example/api/messages
      json: {text: "Hello \${{ event.name }}"}
`;
/** How long after the last key the file is checked. */
const PAUSE = 200;

export function EditPage(props: { flow: string | null }): JSX.Element {
  const live = useLoad<FlowWhole>(props.flow === null ? null : `/v1/flows/${encodeURIComponent(props.flow)}`);
  const text = props.flow === null ? NEW : live.data?.source;
  const title = props.flow === null ? "New flow" : `Edit ${props.flow}`;
  return (
    <>
      <Refusal problem={live.problem} />
      {text === undefined ? <><Head title={title} name={title} />{!live.problem && <Loading />}</> : <Desk title={title} text={text} live={live.data} />}
    </>
  );
}

interface Looked {
  checked: Checked | null;
  svg: string | null;
  problem: Problem | null;
}

/** Checks and draws the newest text; an answer about an older one is dropped. */
function useLook(text: string): Looked {
  const [looked, setLooked] = useState<Looked>({ checked: null, svg: null, problem: null });
  const newest = useRef(text);
  newest.current = text;
  useEffect(() => {
    const timer = window.setTimeout(() => {
      const json = { source: text };
      const both = Promise.all([send<Checked>("POST", "/v1/check", { json }), send<{ svg: string | null }>("POST", "/v1/picture", { json })]);
      both.then(
        ([checked, { svg }]) => newest.current === text && setLooked((before) => ({ checked, svg: svg ?? before.svg, problem: null })),
        (problem: Problem) => newest.current === text && setLooked((before) => ({ ...before, problem })),
      );
    }, PAUSE);
    return () => window.clearTimeout(timer);
  }, [text]);
  return looked;
}

function useUnsaved(unsaved: boolean): void {
  useEffect(() => {
    if (!unsaved) return;
    const leave = (event: BeforeUnloadEvent): void => event.preventDefault();
    window.addEventListener("beforeunload", leave);
    beforeLeaving(() => window.confirm("What you changed is not saved. Leave it behind?"));
    return () => {
      window.removeEventListener("beforeunload", leave);
      beforeLeaving(null);
    };
  }, [unsaved]);
}

function Desk(props: { title: string; text: string; live: FlowWhole | null }): JSX.Element {
  const [text, setText] = useState(props.text);
  const [saved, setSaved] = useState(props.text);
  const [goTo, setGoTo] = useState<{ line: number; column: number } | null>(null);
  const [proof, setProof] = useState<Proof | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [releasing, setReleasing] = useState(false);
  const schema = useLoad<{ [name: string]: Json }>("/v1/schema");
  const looked = useLook(text);
  useUnsaved(text !== saved);
  const pick = ({ at }: Diagnostic): void => setGoTo({ line: at.line, column: at.column });
  const attempt = async (act: () => Promise<void>): Promise<void> => {
    try {
      setProblem(null);
      await act();
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  const prove = (): Promise<void> => attempt(async () => setProof(await send<Proof>("POST", "/v1/prove", { json: { source: text } })));
  const draft = (): Promise<void> =>
    attempt(async () => {
      const told = await send<{ flow: string; release: string }>("POST", "/v1/flows", { json: { source: text, draft: true } });
      setSaved(text);
      say(`Kept as the draft ${told.release.slice(0, 12)}…`);
    });
  const wrong = (looked.checked?.errors ?? 1) > 0;
  return (
    <>
      <Head title={<Text of={props.title} />} name={props.title}>
        <Act act={prove} disabled={wrong} title="Crash it everywhere, in a simulated world">Prove it</Act>
        <Act act={draft} disabled={wrong}>Save as draft</Act>
        <button type="button" class="primary" disabled={wrong} onClick={() => setReleasing(true)}>Release…</button>
      </Head>
      <Refusal problem={problem ?? looked.problem} />
      <div class="desk">
        <div>
          <Editor text={text} change={(to) => { setText(to); setProof(null); }} messages={looked.checked?.diagnostics ?? []} schema={schema.data} goTo={goTo} />
          {looked.checked && <Messages of={looked.checked} pick={pick} />}
        </div>
        <div>
          {proof && <ProofPanel of={proof} />}
          {looked.svg && <Panel title="Picture"><Picture svg={looked.svg} /></Panel>}
        </div>
      </div>
      {releasing && <ReleaseDialog text={text} live={props.live} close={() => setReleasing(false)} done={() => setSaved(text)} />}
    </>
  );
}

function ReleaseDialog(props: { text: string; live: FlowWhole | null; close: () => void; done: () => void }): JSX.Element {
  const [problem, setProblem] = useState<Problem | null>(null);
  const lost = abandoned(problem);
  const release = async (): Promise<void> => {
    try {
      const json = { source: props.text, abandon: lost.length > 0 };
      const told = await send<{ flow: string; status: string }>("POST", "/v1/flows", { json });
      props.done();
      beforeLeaving(null);
      say(told.status === "unchanged" ? "It was live already" : `${told.flow} is live`);
      go(told.flow === "" ? link("flows") : flowLink(told.flow));
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  return (
    <Dialog title="Release it?" close={props.close} wide>
      <p>New events go by it from now on. Runs that are under way keep the release they began with.</p>
      {props.live && <Diff before={props.live.source} after={props.text} />}
      <Refusal problem={problem}><AbandonedKeys of={lost} /></Refusal>
      <div class="dialog-foot">
        <button type="button" onClick={props.close}>Not yet</button>
        <Act class={lost.length > 0 ? "danger" : "primary"} act={release}>{lost.length > 0 ? "Leave those keys behind, and release" : "Release"}</Act>
      </div>
    </Dialog>
  );
}
