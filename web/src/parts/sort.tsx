// Sorting of a table's rows by one column: what is sorted by, and the head that changes it.
import { useState } from 'preact/hooks';

export type SortValue = string | number | null | undefined;

export interface Sorting {
  column: string | null; // null: as the answer has them
  down: boolean;
}

/** The sorting, and what a click on a head does: down, up, as it was. */
export function useSorting(): [Sorting, (column: string) => void] {
  const [sorting, setSorting] = useState<Sorting>({ column: null, down: true });
  const turn = (column: string) =>
    setSorting((was) => {
      if (was.column !== column) return { column, down: true };
      return was.down ? { column, down: false } : { column: null, down: true };
    });
  return [sorting, turn];
}

/** A sorted copy; what is not known comes last either way. */
export function sorted<Row>(rows: Row[], sorting: Sorting, valueOf: (row: Row) => SortValue): Row[] {
  if (sorting.column === null) return rows;
  const sign = sorting.down ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [left, right] = [valueOf(a), valueOf(b)];
    const none = Number(left === null || left === undefined) - Number(right === null || right === undefined);
    if (none !== 0 || left === null || left === undefined || right === null || right === undefined) return none;
    if (typeof left === 'number' && typeof right === 'number') return sign * (left - right);
    return sign * String(left).localeCompare(String(right));
  });
}

interface SortHeadProps {
  column: string;
  sorting: Sorting;
  turn: (column: string) => void;
  right?: boolean;
}

export function SortHead({ column, sorting, turn, right }: SortHeadProps) {
  const chosen = sorting.column === column;
  const state = !chosen ? 'none' : sorting.down ? 'descending' : 'ascending';
  return (
    <th scope="col" class={right ? 'right' : undefined} aria-sort={state}>
      <button type="button" class="sort" onClick={() => turn(column)} title={`Sort by ${column}`}>
        {column}
        <span class="sort-mark" aria-hidden="true">{!chosen ? '↕' : sorting.down ? '↓' : '↑'}</span>
      </button>
    </th>
  );
}
