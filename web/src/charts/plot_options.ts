// What uPlot is told: axes, grid and lines in the page's colours; the page has its own legend.
import uPlot from 'uplot';
import { clusterDay } from '../words/times';
import { drawNames, roomForNames } from './line_names';
import { dateWords, kLengthSteps, someOf } from './ticks';
import type { PlotProps } from './plot';

type Latest = { readonly current: PlotProps };
type Colour = (token: string) => string;

export function plotOptions(
  latest: Latest,
  width: number,
  height: number,
  colour: Colour,
  setUnder: (at: number | null) => void,
): uPlot.Options {
  const props = latest.current;
  return {
    width,
    height,
    pxAlign: 1,
    padding: [10, Math.max(props.counts ? 12 : kHalfLabel, namesRoom(props, width)), 0, 0], // the last date is whole, and so are names
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: props.choose !== undefined, y: false, setScale: false },
      points: { size: 6 },
      bind: { dblclick: () => () => (latest.current.choose?.(null), null) },
    },
    tzDate: (unix) => uPlot.tzDate(new Date(unix * 1000), 'Etc/UTC'),
    scales: { x: xScale(latest), y: { range: yRange(props) } },
    axes: [xAxis(latest, colour), yAxis(latest, colour)],
    series: [{}, ...props.lines.map((line) => series(line, colour))],
    bands: props.band ? [{ series: props.band, fill: translucent(colour(props.lines[props.band[0] - 1]?.token ?? '--series-1')) }] : [],
    hooks: {
      setSelect: [(plot) => dragged(plot, latest.current)],
      setCursor: [(plot) => setUnder(plot.cursor.idx ?? null)],
      draw: [
        (plot) => drawMark(plot, latest.current.mark, colour('--accent')),
        (plot) => drawNames(plot, latest.current.lines, kFont, colour),
      ],
    },
  };
}

const namesRoom = (props: PlotProps, width: number) => roomForNames(props.lines, width);

function xScale(latest: Latest): uPlot.Scale {
  const x = latest.current.x;
  if (!latest.current.counts) return { time: true, range: (_plot, from, to) => latest.current.part ?? [from, to] };
  return { time: false, distr: 3, log: 2, range: () => [(x[0] ?? 1) * 0.9, (x[x.length - 1] ?? 2) * 1.12] };
}

function yRange(props: PlotProps): uPlot.Range.Function {
  return (_plot, _low, high) => props.range ?? [0, high > 0 ? high * 1.08 : 1];
}

const kHour = 3600;
const kDay = 86400;
const kDateSteps = [kHour, 3 * kHour, 6 * kHour, 12 * kHour, kDay, 2 * kDay, 7 * kDay, 14 * kDay, 28 * kDay, 84 * kDay];
const kLabelSpace = 62;
const kHalfLabel = 28;
const kFont = '11px system-ui, sans-serif';

function xAxis(latest: Latest, colour: Colour): uPlot.Axis {
  const axis: uPlot.Axis = {
    stroke: colour('--text-2'),
    font: kFont,
    grid: { show: false },
    ticks: { stroke: colour('--line'), size: 4 },
    gap: 4,
    size: latest.current.counts || latest.current.weeks ? 34 : 46,
  };
  if (latest.current.weeks)
    return {
      ...axis,
      splits: (plot) => someOf(latest.current.x, plot.width / kLabelSpace),
      values: (_plot, values) => values.map((value) => clusterDay(value, 0)),
      filter: (_plot, values) => values,
    };
  if (!latest.current.counts)
    return { ...axis, space: kLabelSpace, incrs: kDateSteps, values: (_plot, values, _at, _space, step) => dateWords(values, step) };
  return {
    ...axis,
    splits: () => latest.current.x,
    values: (_plot, values) => values.map((value) => String(value)),
    filter: (_plot, values) => values,
  };
}

function yAxis(latest: Latest, colour: Colour): uPlot.Axis {
  return {
    ...(latest.current.seconds ? { incrs: kLengthSteps } : {}),
    stroke: colour('--text-2'),
    font: kFont,
    size: 58,
    gap: 6,
    grid: { stroke: colour('--grid'), width: 1 },
    ticks: { show: false },
    values: (_plot, values) => values.map((value) => latest.current.yWords(value)),
  };
}

function series(line: PlotProps['lines'][number], colour: Colour): uPlot.Series {
  return {
    label: line.name,
    stroke: colour(line.token),
    width: line.faint ? 1 : 1.75,
    dash: line.dash,
    spanGaps: false,
    points: { show: line.points ?? false, size: 6, fill: colour('--panel') },
  };
}

const kLeastPixels = 12;

/** The part that was drawn across; the address has it, and gives it back. */
function dragged(plot: uPlot, { choose }: PlotProps): void {
  const { left, width } = plot.select;
  plot.setSelect({ ...plot.select, width: 0 }, false);
  if (width >= kLeastPixels) choose?.([plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x')]);
}

/** "rgb(1, 2, 3)" with a sixth of its strength. */
function translucent(rgb: string): string {
  return rgb.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.16)');
}

function drawMark(plot: uPlot, mark: number | undefined, stroke: string): void {
  if (mark === undefined) return;
  const x = Math.round(plot.valToPos(mark, 'x', true));
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = stroke;
  ctx.lineWidth = window.devicePixelRatio * 1.5;
  ctx.setLineDash([4 * window.devicePixelRatio, 3 * window.devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.restore();
}
