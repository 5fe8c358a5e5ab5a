// What can stand where the cursor is, from the JSON Schema of the flow file.
//
// The place is found by indentation alone, so it works in a file that cannot be read yet.

import { type Json, isObject } from "../json";

type Schema = { [name: string]: Json };

export interface Offer {
  /** What is written. */
  word: string;
  about: string;
}

export interface Offers {
  /** Where the word that is completed begins. */
  from: number;
  offers: Offer[];
}

const NAME = /^(\s*(?:- +)*)([\w.-]+)\s*:/;

/** The names that lead to a line, outermost first; `[]` stands for an item of a list. */
export function pathTo(lines: string[], at: number, column: number): string[] {
  const path: string[] = [];
  let limit = column;
  for (let index = at - 1; index >= 0 && limit > 0; index--) {
    const line = lines[index] ?? "";
    if (line.trim() === "" || line.trimStart().startsWith("#")) continue;
    const found = NAME.exec(line);
    const indent = line.length - line.trimStart().length;
    const nameAt = found ? (found[1] ?? "").length : indent;
    if (found && nameAt < limit) {
      path.unshift(found[2] ?? "");
      limit = nameAt;
    }
    // A dash in front: the name above belongs to an item.
    if (/^\s*- /.test(line) && indent < limit) {
      path.unshift("[]");
      limit = indent;
    }
  }
  return path;
}

/** A schema and all that it is made of. */
function parts(schema: Json | undefined, root: Schema, depth = 0): Schema[] {
  if (!isObject(schema) || depth > 12) return [];
  const reference = schema.$ref;
  if (typeof reference === "string" && reference.startsWith("#/")) {
    const found = reference.slice(2).split("/").reduce<Json | undefined>((at, name) => (isObject(at) ? at[name] : undefined), root);
    return parts(found, root, depth + 1);
  }
  const inner = ["anyOf", "oneOf", "allOf"].flatMap((name) => (Array.isArray(schema[name]) ? (schema[name] as Json[]) : []));
  const branches = ["then", "else", "if"].flatMap((name) => (schema[name] === undefined ? [] : [schema[name] as Json]));
  return [schema, ...[...inner, ...branches].flatMap((one) => parts(one, root, depth + 1))];
}

function below(schemas: Schema[], name: string, root: Schema): Schema[] {
  return schemas.flatMap((schema) => {
    if (name === "[]") return parts(schema.items, root);
    const properties = isObject(schema.properties) ? schema.properties[name] : undefined;
    return parts(properties ?? (isObject(schema.additionalProperties) ? schema.additionalProperties : undefined), root);
  });
}

const about = (schema: Json | undefined): string => {
  const told = isObject(schema) ? schema.description : undefined;
  return typeof told === "string" ? (told.split("\n")[0] ?? "") : "";
};

export function complete(text: string, cursor: number, root: Schema): Offers | null {
  const before = text.slice(0, cursor);
  const lines = before.split("\n");
  const line = lines.at(-1) ?? "";
  const rest = text.slice(cursor).split("\n")[0] ?? "";
  if (line.trimStart().startsWith("#") || line.includes("${{")) return null;
  const value = /^(\s*(?:- +)*)([\w.-]+):\s+(\S*)$/.exec(line);
  if (value) return values(lines, value, cursor, root);
  const name = /^(\s*(?:- +)*)([\w.-]*)$/.exec(line);
  if (!name || rest.trim() !== "") return null;
  const [, indent = "", typed = ""] = name;
  const path = pathTo(lines, lines.length - 1, indent.length);
  if (/-\s+$/.test(indent) && path.at(-1) !== "[]") path.push("[]");
  const schemas = path.reduce<Schema[]>((at, step) => below(at, step, root), parts(root, root));
  const found = new Map<string, string>();
  for (const schema of schemas) {
    for (const [word, inner] of Object.entries(isObject(schema.properties) ? schema.properties : {})) {
      if (word.startsWith(typed) && word !== typed && !found.get(word)) found.set(word, about(inner));
    }
  }
  const offers = [...found].map(([word, told]) => ({ word: `${word}: `, about: told }));
  return offers.length === 0 ? null : { from: cursor - typed.length, offers };
}

function values(lines: string[], found: RegExpExecArray, cursor: number, root: Schema): Offers | null {
  const [, indent = "", name = "", typed = ""] = found;
  const path = pathTo(lines, lines.length - 1, indent.length);
  if (/-\s+$/.test(indent) && path.at(-1) !== "[]") path.push("[]");
  const schemas = [...path, name].reduce<Schema[]>((at, step) => below(at, step, root), parts(root, root));
  const words = schemas.flatMap((schema) => [
    ...(Array.isArray(schema.enum) ? schema.enum : []),
    ...(schema.const === undefined ? [] : [schema.const]),
    ...(schema.type === "boolean" ? [true, false] : []),
  ]);
  const fitting = [...new Set(words.map(String))].filter((word) => word.startsWith(typed) && word !== typed);
  if (fitting.length === 0) return null;
  return { from: cursor - typed.length, offers: fitting.map((word) => ({ word, about: "" })) };
}
