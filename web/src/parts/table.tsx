// A table with a caption, in its own container that scrolls sideways where the page is narrow.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ComponentChildren, RefObject } from 'preact';
import { csvOf, saveCsv } from './csv';
import { SortHead, sorted, SortSelect, useSorting } from './sort';
import type { SortValue } from './sort';

interface TableProps {
  caption: string;
  hideCaption?: boolean;
  class?: string;
  children: ComponentChildren;
}

export function Table({ caption, hideCaption = true, class: more, children }: TableProps) {
  const box = useRef<HTMLDivElement>(null);
  const scrolls = useScrolls(box);
  useKeptFocus(box);
  return (
    <div class="scroll" ref={box} tabIndex={scrolls ? 0 : -1} role="group" aria-label={`Table: ${caption}`}>
      <table class={more}>
        <caption class={hideCaption ? 'unseen' : undefined}>{caption}</caption>
        {children}
      </table>
    </div>
  );
}

/** Whether there is anything to scroll to: only then it is a stop of Tab. */
function useScrolls(box: RefObject<HTMLElement>): boolean {
  const [scrolls, setScrolls] = useState(false);
  useEffect(() => {
    const { current } = box;
    if (!current) return undefined;
    const look = () => setScrolls(current.scrollWidth > current.clientWidth + 1 || current.scrollHeight > current.clientHeight + 1);
    const watch = new ResizeObserver(look);
    watch.observe(current);
    if (current.firstElementChild) watch.observe(current.firstElementChild);
    return () => watch.disconnect();
  }, []);
  return scrolls;
}

/** A row that moves takes the focus along; of one that goes, the table keeps it. */
function useKeptFocus(box: RefObject<HTMLElement>): void {
  const before = box.current?.contains(document.activeElement) ? document.activeElement : null;
  useLayoutEffect(() => {
    if (!(before instanceof HTMLElement) || document.activeElement !== document.body) return;
    (before.isConnected ? before : box.current)?.focus({ preventScroll: true });
  });
}

export interface Column<Row> {
  head: string;
  hideHead?: boolean;
  cell?: (row: Row) => ComponentChildren; // without it: its value, in `words` where there are some
  words?: (value: number | null) => string; // of a number, which is on the right; a zero is quiet
  right?: boolean;
  value?: (row: Row) => SortValue; // its cell in a file, and what it is sorted by
  order?: (row: Row) => SortValue; // what it is sorted by, where that is not its value
}

interface DataTableProps<Row> {
  caption: string;
  columns: Column<Row>[];
  rows: Row[];
  keyOf: (row: Row) => string | number;
  class?: string;
  rowClass?: (row: Row) => string | undefined;
  last?: Row; // a sum, under the sorted rows
  sort?: string; // name of the sorting in the address; without it the table keeps it
}

/** Plain rows and columns; the first column heads its row. Columns with a value can be sorted by. */
export function DataTable<Row>({ caption, columns, rows, keyOf, class: more, rowClass, last, sort }: DataTableProps<Row>) {
  const [sorting, turn, set] = useSorting(sort);
  const by = columns.find((column) => column.head === sorting.column);
  const order = by?.order ?? by?.value;
  const shown = order ? sorted(rows, sorting, order) : rows;
  const row = (one: Row, style?: string) => (
    <tr key={keyOf(one)} class={style}>
      {columns.map((column, index) => cell(column, one, index))}
    </tr>
  );
  const files = columns.filter((column) => column.value);
  const heads = files.map((column) => column.head);
  return (
    <>
      {more?.includes('stacked') ? <SortSelect columns={heads} sorting={sorting} set={set} /> : null}
      <Table caption={caption} class={more}>
        <thead>
          <tr>
            {columns.map((column) =>
              column.value ? (
                <SortHead key={column.head} column={column.head} sorting={sorting} turn={turn} right={styleOf(column) !== undefined} />
              ) : (
                <th key={column.head} scope="col" class={styleOf(column)}>
                  {column.hideHead ? <span class="unseen">{column.head}</span> : column.head}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {shown.map((one) => row(one, rowClass?.(one)))}
          {last === undefined ? null : row(last, 'sum')}
        </tbody>
      </Table>
      {heads.length > 0 ? (
        <CsvButton
          name={caption}
          text={() =>
            csvOf(
              heads,
              shown.map((one) => files.map((column) => column.value?.(one))),
            )
          }
        />
      ) : null}
    </>
  );
}

interface CsvButtonProps {
  name: string; // of the table, and of the file
  text: () => string | Promise<string>;
}

export function CsvButton({ name, text }: CsvButtonProps) {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState('');
  const save = async () => {
    setBusy(true);
    setFailed('');
    try {
      saveCsv(name, await text());
    } catch (error) {
      setFailed(`There is no file: ${error instanceof Error ? error.message : 'the rows could not be loaded'}`);
    }
    setBusy(false);
  };
  return (
    <>
      <button
        type="button"
        class="csv"
        aria-label={`Download CSV: ${name}`}
        aria-disabled={busy}
        onClick={busy ? undefined : () => void save()}
      >
        {busy ? 'Loading …' : 'Download CSV'}
      </button>
      {failed ? <span role="alert"> {failed}</span> : null}
    </>
  );
}

const styleOf = <Row,>(column: Column<Row>) => (column.right || column.words ? 'right' : undefined);

function contentOf<Row>({ cell, words, value }: Column<Row>, row: Row): ComponentChildren {
  if (cell) return cell(row);
  const plain = value?.(row);
  if (!words) return plain;
  return <span class={plain === 0 ? 'quiet' : undefined}>{words(typeof plain === 'number' ? plain : null)}</span>;
}

function cell<Row>(column: Column<Row>, row: Row, index: number) {
  const style = styleOf(column);
  if (index > 0) {
    return (
      <td key={column.head} class={style} data-head={column.hideHead ? undefined : column.head}>
        {contentOf(column, row)}
      </td>
    );
  }
  return (
    <th key={column.head} scope="row" class={style}>
      {contentOf(column, row)}
    </th>
  );
}
