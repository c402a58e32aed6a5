// Lines over time or counts, drawn by uPlot: a heading for screen readers, a legend in text, what is
// under the pointer in words, and the figures as a table to open.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useThemeName } from '../parts/theme';
import { colour } from './colours';
import { plotOptions } from './plot_options';
import { useZoom, ZoomControls } from './zoom';

export interface Line {
  name: string;
  token: string; // of its colour
  values: (number | null)[];
  dash?: number[];
  points?: boolean;
  legend?: boolean; // false: drawn, not named
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
  zoom?: boolean; // x is time, of which a part can be looked at
  children?: ComponentChildren; // the table
}

const kHeight = 220;

export function Plot(props: PlotProps) {
  const theme = useThemeName();
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [under, setUnder] = useState<number | null>(null);
  const shape = JSON.stringify([theme, props.band, props.counts, props.weeks, props.range, props.mark, props.height, props.lines.map((line) => [line.name, line.token])]);
  const data = [props.x, ...props.lines.map((line) => line.values)] as uPlot.AlignedData;
  const zoom = useZoom(plot, props.x);
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    const box = place.current;
    if (!box) return undefined;
    const options = plotOptions(latest, box.clientWidth, latest.current.height ?? kHeight, colour, setUnder, zoom.changed);
    const drawn = new uPlot(options, data, box);
    plot.current = drawn;
    const watch = new ResizeObserver(() => drawn.setSize({ width: box.clientWidth, height: latest.current.height ?? kHeight }));
    watch.observe(box);
    return () => {
      watch.disconnect();
      drawn.destroy();
      plot.current = null;
    };
  }, [shape]);
  useEffect(() => {
    plot.current?.setData(data, zoom.part === null); // a new snapshot does not undo the zoom
    if (zoom.part !== null) plot.current?.redraw();
  }, [JSON.stringify(data)]);
  return (
    <figure class="plot" data-plot={props.label}>
      {props.zoom ? <ZoomControls zoom={zoom} x={props.x} /> : null}
      <div ref={place} class="plot-canvas" role="img" aria-label={props.label} />
      <figcaption>
        <Legend lines={props.lines} at={under} yWords={props.yWords} />
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

function Legend({ lines, at, yWords }: { lines: Line[]; at: number | null; yWords: (y: number) => string }) {
  return (
    <ul class="plot-legend">
      {lines
        .filter((line) => line.legend !== false)
        .map((line) => {
          const value = at === null ? null : line.values[at];
          return (
            <li key={line.name}>
              <i class={line.dash ? 'swatch swatch-dashed' : 'swatch'} style={{ color: `var(${line.token})` }} aria-hidden="true" />
              <bdi class="name">{line.name.slice(0, 60)}</bdi>
              {value === null || value === undefined ? null : <b>{yWords(value)}</b>}
            </li>
          );
        })}
    </ul>
  );
}
