// Where the nodes of a group are on their canvas: strips of one cell a GPU, in rows.

export interface Layout {
  cell: number; // CSS pixels
  gap: number; // between cells
  slot: number; // width of a node with the gap behind it
  row: number; // height of a row with the gap below it
  columns: number;
  rows: number;
}

const kSizes: [number, number][] = [
  [600, 14],
  [4000, 9],
  [20_000, 6],
];
const kSmallest = 4;

/** `all`: GPUs on the whole picture, which decides the size of a cell. */
export function layoutOf(nodes: number, gpusPerNode: number, width: number, all: number): Layout {
  const cell = kSizes.find(([most]) => all <= most)?.[1] ?? kSmallest;
  const gap = cell > kSmallest ? 1 : 0;
  const slot = gpusPerNode * (cell + gap) - gap + Math.max(2, Math.round(cell / 3));
  const columns = Math.max(1, Math.floor(width / slot));
  return { cell, gap, slot, row: cell + Math.max(2, Math.round(cell / 3)), columns, rows: Math.ceil(nodes / columns) };
}

/** The node at a place of the canvas, or null between them. */
export function nodeAt(layout: Layout, nodes: number, x: number, y: number): number | null {
  const column = Math.floor(x / layout.slot);
  const index = Math.floor(y / layout.row) * layout.columns + column;
  return x < 0 || y < 0 || column >= layout.columns || index >= nodes ? null : index;
}

export const placeOf = (layout: Layout, index: number) => ({
  x: (index % layout.columns) * layout.slot,
  y: Math.floor(index / layout.columns) * layout.row,
});

/** The node that a key leads to; null: none of the keys. */
export function nodeAfter(key: string, index: number, nodes: number, columns: number): number | null {
  const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
  if (key === 'Home') return 0;
  if (key === 'End') return nodes - 1;
  const step = steps[key];
  if (step === undefined) return null;
  const next = index + step;
  return next < 0 || next >= nodes ? index : next;
}
