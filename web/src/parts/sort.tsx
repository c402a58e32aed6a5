// Sorting of a table's rows by one column: what is sorted by, and the head that changes it.
import { useState } from 'preact/hooks';
import { parseRoute, setParams } from './route';
import { onWall } from './wall';

export type SortValue = string | number | null | undefined;

export interface Sorting {
  column: string | null; // null: as the answer has them
  down: boolean;
}

const kNone: Sorting = { column: null, down: true };

/** "-Job" is down, "Job" up. */
export const sortingOf = (text: string | null): Sorting => (text ? { column: text.replace(/^-/, ''), down: text.startsWith('-') } : kNone);

const textOf = ({ column, down }: Sorting): string => (column === null ? '' : `${down ? '-' : ''}${column}`);

/**
 * The sorting, in the address where it has a name there; what a click on a head does: down, up, as it was; and the choice of a
 * column, or of none.
 */
export function useSorting(param?: string): [Sorting, (column: string) => void, (column: string | null) => void] {
  const [own, setOwn] = useState(kNone);
  const inAddress = () => (param ? sortingOf(parseRoute(window.location.hash).params.get(param)) : kNone);
  // From the sorting of that moment: a second click may come before the first is drawn.
  const become = (next: (now: Sorting) => Sorting) => {
    if (param) setParams({ [param]: textOf(next(inAddress())), offset: null });
    else setOwn(next);
  };
  const turn = (column: string) =>
    become((now) => (now.column !== column ? { column, down: true } : now.down ? { column, down: false } : kNone));
  return [param ? inAddress() : own, turn, (column) => become(() => ({ column, down: true }))];
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
  const style = right ? 'right' : undefined;
  const state = !chosen ? 'none' : sorting.down ? 'descending' : 'ascending';
  if (onWall(parseRoute(window.location.hash))) {
    return (
      <th scope="col" class={style}>
        {column}
      </th>
    );
  }
  return (
    <th scope="col" class={style} aria-sort={state}>
      <button type="button" class="sort" onClick={() => turn(column)}>
        {column}
        <span class="sort-mark" aria-hidden="true">
          {!chosen ? '↕' : sorting.down ? '↓' : '↑'}
        </span>
      </button>
    </th>
  );
}

interface SortSelectProps {
  columns: string[];
  sorting: Sorting;
  set: (column: string | null) => void;
}

/** The same choice where a phone shows rows as blocks, without their heads. */
export function SortSelect({ columns, sorting, set }: SortSelectProps) {
  return (
    <label class="field field-row sort-select">
      <span>Sort by</span>
      <select value={sorting.column ?? ''} onChange={(event) => set((event.target as HTMLSelectElement).value || null)}>
        <option value="">as listed</option>
        {columns.map((column) => (
          <option key={column} value={column}>
            {column}
          </option>
        ))}
      </select>
    </label>
  );
}
