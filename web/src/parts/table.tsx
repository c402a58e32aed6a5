// A table with a caption, in its own container that scrolls sideways where the page is narrow.
import type { ComponentChildren } from 'preact';
import { csvOf, saveCsv } from './csv';
import type { CsvValue } from './csv';
import { SortHead, sorted, useSorting } from './sort';
import type { SortValue } from './sort';

interface TableProps {
  caption: string;
  hideCaption?: boolean;
  class?: string;
  children: ComponentChildren;
}

export function Table({ caption, hideCaption = true, class: more, children }: TableProps) {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={`Table: ${caption}`}>
      <table class={more}>
        <caption class={hideCaption ? 'unseen' : undefined}>{caption}</caption>
        {children}
      </table>
    </div>
  );
}

export interface Column<Row> {
  head: string;
  cell: (row: Row) => ComponentChildren;
  right?: boolean;
  value?: (row: Row) => SortValue; // what the column is sorted by, and its cell in a file
}

interface DataTableProps<Row> {
  caption: string;
  columns: Column<Row>[];
  rows: Row[];
  keyOf: (row: Row) => string | number;
  class?: string;
  last?: Row; // a sum, under the sorted rows
}

/** Plain rows and columns; the first column heads its row. Columns with a value can be sorted by. */
export function DataTable<Row>({ caption, columns, rows, keyOf, class: more, last }: DataTableProps<Row>) {
  const [sorting, turn] = useSorting();
  const by = columns.find((column) => column.head === sorting.column);
  const shown = by?.value ? sorted(rows, sorting, by.value) : rows;
  const row = (one: Row, style?: string) => (
    <tr key={keyOf(one)} class={style} data-row={keyOf(one)}>
      {columns.map((column, index) => cell(column, one, index))}
    </tr>
  );
  const files = columns.filter((column) => column.value);
  return (
    <>
      <Table caption={caption} class={more}>
        <thead>
          <tr>
            {columns.map((column) =>
              column.value ? (
                <SortHead key={column.head} column={column.head} sorting={sorting} turn={turn} right={column.right} />
              ) : (
                <th key={column.head} scope="col" class={column.right ? 'right' : undefined}>
                  {column.head}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {shown.map((one) => row(one))}
          {last === undefined ? null : row(last, 'sum')}
        </tbody>
      </Table>
      {files.length > 0 ? <CsvButton name={caption} heads={files.map((column) => column.head)} rows={() => shown.map((one) => files.map((column) => column.value?.(one)))} /> : null}
    </>
  );
}

interface CsvButtonProps {
  name: string; // of the table, and of the file
  heads: string[];
  rows: () => CsvValue[][];
}

export function CsvButton({ name, heads, rows }: CsvButtonProps) {
  return (
    <button type="button" class="csv" aria-label={`Download CSV: ${name}`} onClick={() => saveCsv(name, csvOf(heads, rows()))}>
      Download CSV
    </button>
  );
}

function cell<Row>(column: Column<Row>, row: Row, index: number) {
  const style = column.right ? 'right' : undefined;
  if (index > 0) return <td key={column.head} class={style} data-head={column.head}>{column.cell(row)}</td>;
  return <th key={column.head} scope="row" class={style}>{column.cell(row)}</th>;
}
