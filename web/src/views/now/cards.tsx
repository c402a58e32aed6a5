// The cards of all GPU types in rows of equal length, as far as that goes: five of them on a page that
// has room for four are three and two, not four and one.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { GpuWaits } from '../../api/contract';
import { GpuCard } from './gpu_card';

const kNarrowest = 296; // pixels; narrower, the waits do not fit into their cells
const kGap = 12;

/** Columns for `count` cards where `width` pixels are there. */
export function columnsFor(count: number, width: number): number {
  const room = Math.max(1, Math.floor((width + kGap) / (kNarrowest + kGap)));
  const rows = Math.ceil(Math.max(1, count) / room);
  return Math.max(1, Math.ceil(count / rows));
}

export function Cards({ gpus }: { gpus: GpuWaits[] }) {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const box = place.current;
    if (!box) return undefined;
    const watch = new ResizeObserver(() => setWidth(box.clientWidth));
    setWidth(box.clientWidth);
    watch.observe(box);
    return () => watch.disconnect();
  }, []);
  return (
    <div class="cards" ref={place} style={{ '--columns': String(columnsFor(gpus.length, width)) }}>
      {gpus.map((gpu) => <GpuCard key={gpu.gpu} gpu={gpu} />)}
    </div>
  );
}
