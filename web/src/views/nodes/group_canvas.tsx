// A group of nodes as a canvas with a cell for each GPU. It is one stop of Tab; the arrow keys lead from node to node, and what is
// under the pointer or the keys is said in words.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { colour } from '../../charts/colours';
import { useThemeName } from '../../parts/theme';
import { cellsOf } from './condition';
import type { MapGroup, MapNode } from './map_groups';
import { layoutOf, nodeAfter, nodeAt, placeOf } from './map_layout';
import type { Layout } from './map_layout';
import { NodeTip, tipWords } from './node_tip';
import { useShort } from '../short_types';

interface GroupCanvasProps {
  group: MapGroup;
  summary: string; // for screen readers
  all: number; // GPUs of all groups
  open: string | null;
  onOpen: (name: string) => void;
}

export function GroupCanvas({ group, summary, all, open, onOpen }: GroupCanvasProps) {
  const { nodes } = group;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(box);
  const theme = useThemeName();
  const short = useShort().types;
  const [active, setActive] = useState(0);
  const [pointed, setPointed] = useState(false); // the active node is under the pointer
  const [focused, setFocused] = useState(false);
  const layout = layoutOf(nodes.length, Math.max(...nodes.map((node) => node.total)), width, all);
  const at = Math.min(active, nodes.length - 1);
  const node = nodes[at];
  useLayoutEffect(() => {
    if (canvas.current && width > 0) draw(canvas.current, nodes, layout, width, short);
  }, [nodes, width, theme, all, short]);
  const keyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      if (node) onOpen(node.name);
      return;
    }
    const next = nodeAfter(event.key, at, nodes.length, layout.columns);
    if (next === null) return;
    event.preventDefault();
    setPointed(false);
    setActive(next);
  };
  const under = (event: MouseEvent) => {
    const frame = canvas.current?.getBoundingClientRect();
    return frame ? nodeAt(layout, nodes.length, event.clientX - frame.left, event.clientY - frame.top) : null;
  };
  const move = (event: MouseEvent) => {
    const index = under(event);
    setPointed(index !== null);
    if (index !== null) setActive(index);
  };
  const click = (event: MouseEvent) => {
    const found = nodes[under(event) ?? -1];
    if (found) onOpen(found.name);
  };
  const id = `map-option-${group.key.replace(/[^\w-]/g, '_')}`;
  const chosen = nodes.findIndex((one) => one.name === open);
  const shown = focused || pointed;
  return (
    <div
      ref={box}
      class="gpu-map"
      role="listbox"
      tabIndex={0}
      aria-label={summary}
      aria-activedescendant={id}
      data-opener={chosen >= 0 ? '' : undefined}
      onKeyDown={keyDown}
      onFocus={() => setFocused(true)}
      onBlur={() => setFocused(false)}
      onMouseMove={move}
      onMouseLeave={() => setPointed(false)}
      onClick={click}
    >
      <canvas ref={canvas} aria-hidden="true" style={{ width: '100%', height: `${layout.rows * layout.row}px` }} />
      {chosen >= 0 ? <Ring layout={layout} index={chosen} total={nodes[chosen]?.total ?? 0} kind="open" /> : null}
      {shown && node ? <Ring layout={layout} index={at} total={node.total} kind="active" /> : null}
      <span id={id} role="option" aria-selected={node?.name === open} class="unseen">
        {node ? tipWords(node, short) : ''}
      </span>
      {shown && node ? <NodeTip node={node} place={placeOf(layout, at)} below={layout.row} width={width} /> : null}
    </div>
  );
}

function Ring({ layout, index, total, kind }: { layout: Layout; index: number; total: number; kind: string }) {
  const { x, y } = placeOf(layout, index);
  const width = total * (layout.cell + layout.gap) - layout.gap;
  return (
    <i class={`map-ring map-ring-${kind}`} style={{ left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${layout.cell}px` }} />
  );
}

function useWidth(box: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const { current } = box;
    if (!current) return undefined;
    const measure = () => setWidth(Math.floor(current.clientWidth));
    measure(); // before the first painting, so that nothing moves
    const watch = new ResizeObserver(measure);
    watch.observe(current);
    return () => watch.disconnect();
  }, []);
  return width;
}

function draw(canvas: HTMLCanvasElement, nodes: MapNode[], layout: Layout, width: number, short: ReadonlySet<string>): void {
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(layout.rows * layout.row * scale);
  const context = canvas.getContext('2d');
  if (!context) return;
  context.scale(scale, scale);
  const colours = { free: colour('--free'), used: colour('--used'), promised: colour('--promised'), gone: colour('--gone') };
  const hole = Math.max(1, Math.floor(layout.cell / 4)); // an unavailable one is smaller, so that grey tells it
  nodes.forEach((node, index) => {
    const { x, y } = placeOf(layout, index);
    cellsOf(node, node, short).forEach((kind, at) => {
      const inset = kind === 'gone' ? hole : 0;
      context.fillStyle = colours[kind];
      context.fillRect(x + at * (layout.cell + layout.gap) + inset, y + inset, layout.cell - 2 * inset, layout.cell - 2 * inset);
    });
  });
}
