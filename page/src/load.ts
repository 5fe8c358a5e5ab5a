// Reading something for as long as it is shown.
//
// One reading at a time: whoever asks for another while one is under way gets one more afterwards, so
// a storm of events costs one request after the other and the last one is never missed.

import { useEffect, useRef, useState } from "preact/hooks";
import { Problem, get } from "./api";
import { epoch, tally } from "./live";

export interface Loaded<T> {
  data: T | null;
  problem: Problem | null;
  loading: boolean;
  /** Reads it again, soon. */
  reload: () => void;
  /** Puts what an answer already told in its place. */
  put: (data: T) => void;
}

interface Held<T> {
  path: string | null;
  data: T | null;
  problem: Problem | null;
}

/** Reads a path, and again after every gap in the live stream. `null` reads nothing. */
export function useLoad<T>(path: string | null, read: (path: string, signal: AbortSignal) => Promise<T> = get): Loaded<T> {
  const [held, hold] = useState<Held<T>>({ path, data: null, problem: null });
  const again = useRef<() => void>(() => {});
  const since = epoch.value;
  useEffect(() => {
    if (path === null) return;
    const stop = new AbortController();
    let [busy, wanted] = [false, true];
    const go = async (): Promise<void> => {
      if (busy) return;
      busy = true;
      while (wanted && !stop.signal.aborted) {
        wanted = false;
        try {
          const data = await read(path, stop.signal);
          if (!stop.signal.aborted) hold({ path, data, problem: null });
        } catch (error) {
          if (stop.signal.aborted) return;
          const problem = error instanceof Problem ? error : new Problem(0, "page", "Page", String(error), null, {});
          hold((before) => ({ path, data: before.path === path ? before.data : null, problem }));
        }
      }
      busy = false;
    };
    again.current = () => {
      wanted = true;
      void go();
    };
    void go();
    return () => stop.abort();
  }, [path, since]);
  const current = held.path === path;
  return {
    data: current ? held.data : null,
    problem: current ? held.problem : null,
    loading: path !== null && (!current || (held.data === null && held.problem === null)),
    reload: () => again.current(),
    put: (data) => hold({ path, data, problem: null }),
  };
}

/** Acts when anything that is counted has changed, at most so often. */
export function useCounted(act: () => void, ms: number): void {
  const newest = useRef(act);
  newest.current = act;
  const again = useRef<(() => void) | null>(null);
  again.current ??= paced(() => newest.current(), ms);
  const told = tally.value;
  useEffect(() => {
    if (told !== null) again.current?.();
  }, [told]);
}

/** The newest of something, at most so often: driven by events, never by a clock alone. */
export function paced(act: () => void, ms: number): () => void {
  let timer: number | undefined;
  let last = 0;
  return () => {
    if (timer !== undefined) return;
    const due = Math.max(0, last + ms - Date.now());
    timer = window.setTimeout(() => {
      timer = undefined;
      last = Date.now();
      act();
    }, due);
  };
}
