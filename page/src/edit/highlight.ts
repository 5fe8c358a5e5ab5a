// Colours for a flow file: just enough YAML to tell names, texts, expressions and comments apart.
//
// It never refuses a text and never changes one: the pieces put together are the text.

export interface Piece {
  kind: string;
  text: string;
}

const LINE = /^(\s*(?:- +)*)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s#'"{}[\],&*!|>%@`-][^:#{}[\],]*|-?\w[\w.-]*)?(\s*:)(?=\s|$)/;
const PARTS = /(\$\{\{.*?\}\})|(#.*$)|("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')|((?<=[{,]\s*)[\w.-]+(?=\s*:\s))|\b(true|false|null)\b|(?<=^|[\s{[,:])(-?\d[\w.]*)(?=$|[\s,}\]])|([{}[\],]|:(?=\s|$)|^\s*-\s)/g;
const KINDS = ["", "y-expression", "y-comment", "y-text", "y-name", "y-word", "y-number", "y-sign"];

function value(text: string, pieces: Piece[]): void {
  let from = 0;
  for (const found of text.matchAll(PARTS)) {
    // A # begins a comment only behind a blank.
    if (found[2] && found.index > 0 && !/\s/.test(text[found.index - 1] ?? " ")) continue;
    if (found.index < from) continue;
    if (found.index > from) pieces.push({ kind: "", text: text.slice(from, found.index) });
    const kind = KINDS[found.findIndex((part, index) => index > 0 && part !== undefined)] ?? "";
    inside(found[0], kind, pieces);
    from = found.index + found[0].length;
  }
  if (from < text.length) pieces.push({ kind: "", text: text.slice(from) });
}

/** Expressions inside a quoted text are coloured as what they are. */
function inside(text: string, kind: string, pieces: Piece[]): void {
  if (kind !== "y-text" || !text.includes("${{")) {
    pieces.push({ kind, text });
    return;
  }
  for (const part of text.split(/(\$\{\{.*?\}\})/)) {
    if (part !== "") pieces.push({ kind: part.startsWith("${{") ? "y-expression" : kind, text: part });
  }
}

export function highlightLine(line: string): Piece[] {
  const pieces: Piece[] = [];
  const named = line.trimStart().startsWith("#") ? null : LINE.exec(line);
  if (!named) {
    value(line, pieces);
    return pieces;
  }
  const [whole, indent = "", name = "", colon = ""] = named;
  if (indent !== "") pieces.push({ kind: indent.trim() === "" ? "" : "y-sign", text: indent });
  if (name !== "") pieces.push({ kind: "y-name", text: name });
  pieces.push({ kind: "y-sign", text: colon });
  value(line.slice(whole.length), pieces);
  return pieces;
}
