// What the keyboard can do beside Tab and Enter. Never while something is being typed.

import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { go, link } from "./route";
import { Dialog } from "./ui/dialog";

const PLACES: Record<string, [string, string]> = {
  o: ["/", "Overview"],
  i: [link("inbox"), "Inbox"],
  r: [link("runs"), "Runs"],
  f: [link("flows"), "Flows"],
  l: [link("ledger"), "Ledger"],
  d: [link("destinations"), "Destinations"],
};
/** How long the second key may take. */
const WITHIN = 1500;

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

export function useKeys(help: () => void): void {
  useEffect(() => {
    let pressed = 0;
    const press = (event: KeyboardEvent): void => {
      if (typing(event.target) || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
      const place = PLACES[event.key];
      if (place && Date.now() - pressed < WITHIN) go(place[0]);
      pressed = event.key === "g" ? Date.now() : 0;
      if (event.key === "?") help();
      if (event.key === "/") {
        const field = document.querySelector<HTMLInputElement>("main [data-first]");
        if (field) event.preventDefault();
        field?.focus();
      }
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}

export function Keys(props: { close: () => void }): JSX.Element {
  return (
    <Dialog title="Keys" close={props.close}>
      <table class="plain">
        <tbody>
          {Object.entries(PLACES).map(([key, [, word]]) => (
            <tr key={key}><td><kbd>g</kbd> then <kbd>{key}</kbd></td><td>{word}</td></tr>
          ))}
          <tr><td><kbd>/</kbd></td><td>To the page's search</td></tr>
          <tr><td><kbd>?</kbd></td><td>This list</td></tr>
          <tr><td><kbd>Esc</kbd></td><td>Close a dialog; in the editor, let Tab leave it</td></tr>
          <tr><td><kbd>Ctrl</kbd> <kbd>Space</kbd></td><td>In the editor: what can stand here</td></tr>
        </tbody>
      </table>
    </Dialog>
  );
}
