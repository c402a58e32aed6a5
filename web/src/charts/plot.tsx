// Lines over time or counts, drawn by uPlot: a heading for screen readers, a legend in text, what is
// under the pointer in words, and the figures as a table to open.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import type uPlot from 'uplot';
import { Empty } from '../parts/panel';
import type { Part } from '../parts/range';
import { useThemeName } from '../parts/theme';
import { kSeriesCount } from './colours';

export interface Line {
  name: string;
  token: string; // of its colour
  values: (number | null)[];
  dash?: number[];
  points?: boolean;
  legend?: boolean; // false: drawn, not named
  faint?: boolean; // thin, and not named at its end
}

export interface PlotProps {
  label: string; // what it shows, in one sentence
  x: number[];
  lines: Line[];
  xWords: (x: number) => string;
  yWords: (y: number) => string;
  band?: [number, number]; // upper and lower line of a shaded range
  seconds?: boolean; // y is a length of time: ticks on round minutes, hours, days
  weeks?: boolean; // x are beginnings of weeks: a tick with its date at each, as far as there is room
  counts?: boolean; // x is a number of things on a logarithmic axis, else seconds
  range?: [number, number]; // of y; from 0 where it is left out
  mark?: number; // x of an upright line
  height?: number;
  part?: Part | null; // of a time axis; null or left out: all of it
  choose?: (part: Part | null) => void; // another part, by dragging
  pick?: (line: number) => void; // makes a faint line strong, and a strong one faint
  children?: ComponentChildren; // the table
}

const kHeight = 220;

/** Two known points make a line; with fewer there is nothing to draw. */
export function Plot(props: PlotProps) {
  const known = Math.max(0, ...props.lines.map((line) => line.values.filter((value) => value !== null).length));
  return known < 2 ? <Empty>Too little is known yet for a chart.</Empty> : <Drawn {...props} />;
}

function Drawn(props: PlotProps) {
  const theme = useThemeName();
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [under, setUnder] = useState<number | null>(null);
  const height = props.height ?? kHeight;
  const latest = useRef(props);
  latest.current = props;
  const names = props.lines.map((line) => `${line.token} ${line.name}`).join('\n');
  useLayoutEffect(() => {
    const box = place.current;
    if (!box) return undefined;
    let remove: (() => void) | null = () => undefined;
    void import('./draw').then(({ draw }) => {
      if (remove) remove = draw(box, height, latest, plot, setUnder);
    });
    return () => {
      remove?.();
      remove = null;
    };
  }, [theme, names, height, props.mark, props.counts, props.weeks]);
  useLayoutEffect(() => {
    plot.current?.setData(dataOf(props));
  }, [props]);
  return (
    <figure class="plot">
      <div ref={place} class="plot-canvas" style={{ height: `${height}px` }} role="img" aria-label={props.label} />
      <figcaption>
        <Legend lines={props.lines} at={under} yWords={props.yWords} pick={props.pick} />
        <span class="plot-at">{under === null || props.x[under] === undefined ? '' : props.xWords(props.x[under])}</span>
      </figcaption>
      {props.children ? (
        <details class="figures">
          <summary>Show as a table</summary>
          {props.children}
        </details>
      ) : null}
    </figure>
  );
}

export const dataOf = (props: PlotProps) => [props.x, ...props.lines.map((line) => line.values)] as uPlot.AlignedData;

interface LegendProps extends Pick<PlotProps, 'lines' | 'yWords' | 'pick'> {
  at: number | null;
}

function Legend({ lines, at, yWords, pick }: LegendProps) {
  const wordsOf = (line: Line) => {
    const value = at === null ? null : line.values[at];
    return (
      <>
        <i
          class={`swatch ${line.dash ? 'swatch-dashed' : ''} ${line.faint ? 'swatch-faint' : ''}`}
          style={{ color: `var(${line.token})` }}
          aria-hidden="true"
        />
        <bdi class="name">{line.name.slice(0, 60)}</bdi>
        {value === null || value === undefined ? null : <b>{yWords(value)}</b>}
      </>
    );
  };
  return (
    <ul class="plot-legend">
      {lines.map((line, index) =>
        line.legend === false ? null : (
          <li key={line.name}>
            {pick ? (
              <button type="button" aria-pressed={!line.faint} onClick={() => pick(index)}>
                {wordsOf(line)}
              </button>
            ) : (
              wordsOf(line)
            )}
          </li>
        ),
      )}
      {pick ? <li class="plot-hint">Click a name to draw its line strong or grey, at most {kSeriesCount} strong.</li> : null}
    </ul>
  );
}
