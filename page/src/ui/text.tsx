// Text that came from outside.
//
// Whatever strangers wrote passes here on its way to the screen: signs that hide, reorder or command
// are shown as what they are, and right-to-left text stays inside its own box.

import type { JSX } from "preact";

// Control signs, bidirectional controls, zero-width signs, line separators, the byte order mark, tags.
const DECEIVING =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\udb40[\udc00-\udc7f]/g;

/** The text with deceiving signs written out. Line breaks and tabs stay. */
export function plain(text: string): string {
  return text.replace(DECEIVING, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);
}

/** On one line. */
export function line(text: string): string {
  return plain(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}

export function Text(props: { of: string; class?: string }): JSX.Element {
  return <bdi class={props.class}>{line(props.of)}</bdi>;
}

/** The first digits of a long name, the whole of it on hover. */
export function Short(props: { of: string; keep?: number }): JSX.Element {
  const keep = props.keep ?? 16;
  const cut = props.of.length > keep + 1;
  return (
    <span class="mono" title={cut ? props.of : undefined}>
      {cut ? `${props.of.slice(0, keep)}…` : props.of}
    </span>
  );
}

export const count = (value: number): string => value.toLocaleString("en").replaceAll(",", "\u202f");

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}
