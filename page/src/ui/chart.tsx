// Bars over time, stacked. Drawn with attributes only, so that no style needs to be allowed.

import type { JSX, TargetedMouseEvent } from "preact";
import { useState } from "preact/hooks";
import { about, clock } from "../clock";
import { count } from "./text";

export interface Series {
  name: string;
  tone: string;
  values: number[];
}

const HEIGHT = 72;

/** The next round number. */
function ceiling(value: number): number {
  if (value <= 4) return 4;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 2.5, 5, 10].find((step) => step * power >= value) ?? 10;
  return step * power;
}

/** Neighbours are added up until there are at most so many bars. */
function gather(series: Series[], most: number): { series: Series[]; each: number } {
  const length = series[0]?.values.length ?? 0;
  const each = Math.max(1, Math.ceil(length / most));
  if (each === 1) return { series, each };
  // The newest bar is whole; the oldest may be short.
  const rest = length % each;
  const sums = (values: number[]): number[] => {
    const all: number[] = [];
    for (let from = rest === 0 ? 0 : rest - each; from < length; from += each) {
      all.push(values.slice(Math.max(0, from), from + each).reduce((sum, value) => sum + value, 0));
    }
    return all;
  };
  return { series: series.map((one) => ({ ...one, values: sums(one.values) })), each };
}

export function Bars(props: { title: string; series: Series[]; from: string; step: number }): JSX.Element {
  const [at, setAt] = useState<number | null>(null);
  const { series, each } = gather(props.series, 61);
  const bars = series[0]?.values.length ?? 0;
  const total = (bar: number): number => series.reduce((sum, one) => sum + (one.values[bar] ?? 0), 0);
  const sums = Array.from({ length: bars }, (_, bar) => total(bar));
  const top = ceiling(Math.max(0, ...sums));
  const step = props.step * each * 1000;
  const end = Date.parse(props.from) + (props.series[0]?.values.length ?? 0) * props.step * 1000;
  const begin = (bar: number): number => end - (bars - bar) * step;
  const told = series.map((one) => `${one.name} ${count(one.values.reduce((sum, value) => sum + value, 0))}`).join(", ");
  const pick = (event: TargetedMouseEvent<SVGSVGElement>): void => {
    const box = event.currentTarget.getBoundingClientRect();
    setAt(Math.min(bars - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * bars))));
  };
  return (
    <figure class="chart">
      <svg width="100%" height={HEIGHT} role="img" aria-label={`${props.title} over time: ${told}`} onMouseMove={pick} onMouseLeave={() => setAt(null)}>
        <line class="grid" x1="0" x2="100%" y1="0.5" y2="0.5" />
        <line class="grid" x1="0" x2="100%" y1={HEIGHT / 2} y2={HEIGHT / 2} />
        {sums.map((_, bar) => {
          let y = HEIGHT;
          return series.map((one) => {
            const value = one.values[bar] ?? 0;
            if (value === 0) return null;
            const height = Math.max(1.5, (value / top) * HEIGHT);
            y -= height;
            const width = 100 / bars;
            return (
              <rect key={`${bar}${one.name}`} class={`column ${one.tone} ${at === bar ? "picked" : ""}`} x={`${bar * width + width * 0.1}%`} width={`${width * 0.8}%`} y={Math.max(0, y)} height={height} />
            );
          });
        })}
        <line class="axis" x1="0" x2="100%" y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
      </svg>
      <figcaption>
        {at === null ? (
          <>
            <span>{about(end - begin(0))} ago</span>
            <span>peak {count(Math.max(0, ...sums))} in {about(step)}</span>
            <span>now</span>
          </>
        ) : (
          <span class="picked-told">
            {clock(begin(at))}: {series.map((one) => `${count(one.values[at] ?? 0)} ${one.name}`).join(", ")}
          </span>
        )}
      </figcaption>
    </figure>
  );
}
