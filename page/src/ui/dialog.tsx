// A question in front of everything else. The browser keeps the keyboard inside and closes it on Escape.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

export function Dialog(props: { title: string; close: () => void; wide?: boolean; children: ComponentChildren }): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    element.current?.showModal();
    return () => before?.focus?.();
  }, []);
  return (
    <dialog ref={element} class={props.wide ? "wide" : ""} onClose={props.close} aria-label={props.title}>
      <div class="panel-head">
        <h2>{props.title}</h2>
        <button type="button" class="icon" aria-label="Close" onClick={() => element.current?.close()}>
          <svg class="shape" viewBox="0 0 16 16" width="14" height="14" aria-hidden="true"><path d="M4 4l8 8M12 4l-8 8" /></svg>
        </button>
      </div>
      {props.children}
    </dialog>
  );
}
