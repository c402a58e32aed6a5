// Puts uPlot into a box: loaded when the first chart is shown.
import uPlot from 'uplot';
import { colour } from './colours';
import { dataOf } from './plot';
import type { PlotProps } from './plot';
import { plotOptions } from './plot_options';

type Latest = { readonly current: PlotProps };

/** Draws, and returns what takes it away again. */
export function draw(
  box: HTMLElement,
  height: number,
  latest: Latest,
  plot: { current: uPlot | null },
  setUnder: (at: number | null) => void,
): () => void {
  const options = plotOptions(latest, box.clientWidth, height, colour, setUnder);
  const drawn = new uPlot(options, dataOf(latest.current), box);
  plot.current = drawn;
  if (latest.current.choose) zoomByTouch(drawn);
  const watch = new ResizeObserver(() => drawn.setSize({ width: box.clientWidth, height }));
  watch.observe(box);
  return () => {
    watch.disconnect();
    drawn.destroy();
    if (plot.current === drawn) plot.current = null;
  };
}

/** A finger drawn sideways chooses a part as the mouse does; up and down it scrolls the page. */
function zoomByTouch(plot: uPlot): void {
  const { over } = plot;
  let from: number | null = null;
  const at = (event: PointerEvent) => Math.min(over.clientWidth, Math.max(0, event.clientX - over.getBoundingClientRect().left));
  const choose = (left: number, width: number, done = false) => plot.setSelect({ left, width, top: 0, height: over.clientHeight }, done);
  over.style.touchAction = 'pan-y';
  over.addEventListener('pointerdown', (event) => {
    from = event.pointerType === 'touch' ? at(event) : null;
  });
  over.addEventListener('pointermove', (event) => {
    if (from !== null) choose(Math.min(from, at(event)), Math.abs(at(event) - from));
  });
  over.addEventListener('pointercancel', () => {
    from = null;
    choose(0, 0);
  });
  over.addEventListener('pointerup', (event) => {
    if (from === null) return;
    choose(Math.min(from, at(event)), Math.abs(at(event) - from), true);
    from = null;
  });
}
