// "Did we do this twice?", answered from the ledger, and signed for whoever needs to show it.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Problem, getText } from "../api";
import { isObject, parse } from "../json";
import { Act, Copy, Panel, Refusal } from "../ui/bits";
import { Text } from "../ui/text";

export function ProofPanel(props: { event: string }): JSX.Element {
  const [text, setText] = useState<string | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const ask = async (): Promise<void> => {
    try {
      setText(await getText(`/v1/proof?event=${props.event}&signed=true`));
      setProblem(null);
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  return (
    <Panel title="Did we do this twice?" aside={<Act class="small" act={ask}>{text === null ? "Ask the ledger" : "Ask again"}</Act>}>
      <Refusal problem={problem} />
      {text === null ? (
        <p class="dim">The answer counts every effect of this event, and every repeat that was blocked.</p>
      ) : (
        <p class="answer" role="status"><Text of={answer(text)} /> <Copy text={text} what="the signed proof" word="signed proof" /></p>
      )}
    </Panel>
  );
}

function answer(text: string): string {
  const told = parse(text);
  const proof = isObject(told) && isObject(told.proof) ? told.proof : told;
  return isObject(proof) && typeof proof.answer === "string" ? proof.answer : "";
}
