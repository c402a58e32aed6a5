// A table with a caption, in its own container that scrolls sideways where the page is narrow.
import type { ComponentChildren } from 'preact';

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
}

interface DataTableProps<Row> {
  caption: string;
  columns: Column<Row>[];
  rows: Row[];
  keyOf: (row: Row) => string | number;
}

/** Plain rows and columns; the first column heads its row. */
export function DataTable<Row>({ caption, columns, rows, keyOf }: DataTableProps<Row>) {
  return (
    <Table caption={caption}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.head} scope="col" class={column.right ? 'right' : undefined}>
              {column.head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map((column, index) => cell(column, row, index))}
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

function cell<Row>(column: Column<Row>, row: Row, index: number) {
  const style = column.right ? 'right' : undefined;
  if (index > 0) return <td key={column.head} class={style}>{column.cell(row)}</td>;
  return <th key={column.head} scope="row" class={style}>{column.cell(row)}</th>;
}
