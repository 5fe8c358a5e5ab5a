// JSON without loss: 2^53+1 and 0.10 are shown as they were sent.
//
// Owns reading and printing. A number that a double would change stays the text it was; everything
// else is as JSON.parse would have it.

/** A number that JavaScript cannot hold as it is written. */
export class Exact {
  constructor(readonly text: string) {}
}

export type Json = null | boolean | number | string | Exact | Json[] | { [name: string]: Json };

/** Reads a text. Throws SyntaxError with the place if it is none. */
export function parse(text: string): Json {
  const reader = new Reader(text);
  const value = reader.value();
  reader.blank();
  if (reader.at < text.length) reader.wrong();
  return value;
}

const BLANK = /[ \t\r\n]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const WORD = /true|false|null/y;

class Reader {
  at = 0;
  constructor(private readonly text: string) {}

  wrong(): never {
    const before = this.text.slice(0, this.at);
    const line = before.split("\n").length;
    const column = this.at - before.lastIndexOf("\n");
    throw new SyntaxError(`not JSON at line ${line}, column ${column}`);
  }

  private match(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (!found) return null;
    this.at += found[0].length;
    return found[0];
  }

  blank(): void {
    this.match(BLANK);
  }

  private take(sign: string): boolean {
    this.blank();
    if (this.text[this.at] !== sign) return false;
    this.at += 1;
    return true;
  }

  value(): Json {
    if (this.take("{")) return this.object();
    if (this.take("[")) return this.list();
    if (this.text[this.at] === '"') return this.string();
    const word = this.match(WORD);
    if (word) return word === "null" ? null : word === "true";
    const number = this.match(NUMBER);
    if (number === null) return this.wrong();
    const value = Number(number);
    return String(value) === number ? value : new Exact(number);
  }

  private string(): string {
    this.blank();
    const found = this.match(STRING);
    return found === null ? this.wrong() : (JSON.parse(found) as string);
  }

  private object(): Json {
    // Without a prototype, so that no name in it means anything to JavaScript.
    const object = Object.create(null) as { [name: string]: Json };
    if (this.take("}")) return object;
    do {
      const name = this.string();
      if (!this.take(":")) this.wrong();
      object[name] = this.value();
    } while (this.take(","));
    return this.take("}") ? object : this.wrong();
  }

  private list(): Json {
    const list: Json[] = [];
    if (this.take("]")) return list;
    do list.push(this.value());
    while (this.take(","));
    return this.take("]") ? list : this.wrong();
  }
}

/** Prints a value on lines of their own, or on one if it is short. */
export function print(value: Json, indent = ""): string {
  if (value instanceof Exact) return value.text;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const inner = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((item) => print(item, inner))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${print(item, inner)}`);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (parts.length === 0) return open + close;
  const line = `${open}${parts.join(", ")}${close}`;
  if (line.length + indent.length <= 80 && !line.includes("\n")) return line;
  return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${indent}${close}`;
}

export function isObject(value: Json | undefined): value is { [name: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Exact);
}
