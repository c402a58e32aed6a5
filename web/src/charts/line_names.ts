// The names of lines at their right ends: no colour has to be told from another to know which line is whose.
import type uPlot from 'uplot';
import type { Line } from './plot';

const kGap = 13; // pixels from one name to the next
const kMostLetters = 16;
const kLeastWidth = 520; // of a chart; narrower, the legend alone has them
const kPerLetter = 6.8;

const named = (lines: Line[]) => lines.filter((line) => line.legend !== false && !line.faint);
const short = (name: string) => (name.length > kMostLetters ? `${name.slice(0, kMostLetters - 1)}…` : name);

/** Pixels that the names need on the right. */
export function roomForNames(lines: Line[], width: number): number {
  if (width < kLeastWidth) return 0;
  return Math.ceil(kPerLetter * Math.max(0, ...named(lines).map((line) => short(line.name).length))) + 10;
}

/** Places of `wanted` heights, at least `gap` from each other and from 0 to `most`, in the order of the heights. */
export function spread(wanted: number[], gap: number, most: number): number[] {
  const order = wanted.map((_, at) => at).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0));
  const places = new Array<number>(wanted.length).fill(0);
  let last = -Infinity;
  for (const at of order) last = places[at] = Math.max(wanted[at] ?? 0, last + gap);
  let next = most + gap;
  for (const at of order.reverse()) next = places[at] = Math.min(places[at] ?? 0, next - gap);
  return places;
}

export function drawNames(plot: uPlot, lines: Line[], font: string, colour: (token: string) => string): void {
  if (roomForNames(lines, plot.width) === 0) return;
  const ratio = window.devicePixelRatio;
  const { ctx, bbox } = plot;
  const ends = named(lines).flatMap((line) => {
    const values = plot.data[lines.indexOf(line) + 1] ?? [];
    const last = values.findLastIndex((value) => value != null);
    const value = values[last];
    return value == null ? [] : [{ line, y: plot.valToPos(value, 'y', true) - bbox.top }];
  });
  const places = spread(
    ends.map((end) => end.y),
    kGap * ratio,
    bbox.height,
  );
  ctx.save();
  ctx.font = font.replace(/^(\d+)px/, (_, size: string) => `${Number(size) * ratio}px`);
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  ends.forEach(({ line }, at) => {
    const [x, y] = [bbox.left + bbox.width + 4 * ratio, bbox.top + (places[at] ?? 0)];
    ctx.fillStyle = colour(line.token);
    ctx.fillRect(x, y - ratio, 7 * ratio, 2 * ratio);
    ctx.fillStyle = colour('--text-2');
    ctx.fillText(short(line.name), x + 10 * ratio, y);
  });
  ctx.restore();
}
