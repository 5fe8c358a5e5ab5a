// What `check` has to say about a file.

import type { JSX } from "preact";
import type { Checked, Diagnostic } from "../types";
import { Text, plural } from "../ui/text";

const SIGNS = { error: "×", warning: "!", note: "i" };

export function summary(of: Checked): string {
  if (of.errors + of.warnings === 0) return "No problems";
  const parts = [of.errors > 0 ? plural(of.errors, "error") : "", of.warnings > 0 ? plural(of.warnings, "warning") : ""];
  return parts.filter((part) => part !== "").join(", ");
}

export function Messages(props: { of: Checked; pick?: (message: Diagnostic) => void }): JSX.Element {
  const { of } = props;
  return (
    <div class="messages" role="region" aria-label="Messages">
      <p class={of.errors > 0 ? "bad-text" : "good-text"} role="status">{summary(of)}</p>
      <ul>
        {of.diagnostics.map((message, index) => (
          <li key={index} class={message.level}>
            <button type="button" class="message" disabled={!props.pick} onClick={() => props.pick?.(message)}>
              <span class="sign" aria-label={message.level}>{SIGNS[message.level]}</span>
              <span>
                <span class="mono dim">{message.at.line}:{message.at.column}</span> <Text of={message.title} class="strong" /> {message.label && <Text of={message.label} />}{" "}
                <span class="dim">{message.code}</span>
                {message.help.map((help) => <span key={help} class="help"><Text of={help} /></span>)}
              </span>
            </button>
          </li>
        ))}
        {of.missing_secrets.map((name) => (
          <li key={name} class="warning">
            <span class="message"><span class="sign" aria-label="warning">!</span><span>The secret <code><Text of={name} /></code> is not set on this server.</span></span>
          </li>
        ))}
      </ul>
    </div>
  );
}
