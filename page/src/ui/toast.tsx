// Short words about what just happened, seen and heard.

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { Text } from "./text";

interface Said {
  id: number;
  text: string;
  tone: string;
}

const said = signal<Said[]>([]);
let next = 0;

export function say(text: string, tone = "calm"): void {
  const id = next++;
  said.value = [...said.value.slice(-2), { id, text, tone }];
  window.setTimeout(() => (said.value = said.value.filter((one) => one.id !== id)), tone === "bad" ? 10_000 : 5000);
}

export function Toasts(): JSX.Element {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {said.value.map((one) => (
        <p key={one.id} class={`toast ${one.tone}`}>
          <Text of={one.text} />
        </p>
      ))}
    </div>
  );
}
