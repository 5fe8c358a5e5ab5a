// What a text area does not do by itself: indentation.

/** What Enter types: a line break, and as much indentation as the line had, more behind a colon. */
export function newLine(area: HTMLTextAreaElement): string {
  const line = area.value.slice(0, area.selectionStart).split("\n").at(-1) ?? "";
  const indent = /^\s*/.exec(line)?.[0] ?? "";
  const item = /^\s*- /.test(line) && !/^\s*- \S+$/.test(line) ? "  " : "";
  const deeper = /:\s*$/.test(line) ? "  " : "";
  return `\n${indent}${item}${deeper}`;
}

/** Moves the chosen lines two signs in or out, or types two blanks where nothing is chosen. */
export function indented(area: HTMLTextAreaElement, out: boolean, type: (text: string) => void): void {
  const [from, to] = [area.selectionStart, area.selectionEnd];
  if (from === to && !out) return type("  ");
  const start = area.value.lastIndexOf("\n", from - 1) + 1;
  const chosen = area.value.slice(start, to);
  const moved = out ? chosen.replace(/^ {1,2}/gm, "") : chosen.replace(/^(?=.)/gm, "  ");
  if (moved === chosen) return;
  area.setSelectionRange(start, to);
  type(moved);
  area.setSelectionRange(from === to ? start + moved.length : start, start + moved.length);
}
