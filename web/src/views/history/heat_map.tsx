// Weekday × hour as a table of coloured cells that also say their value.
import type { HeatCell } from '../../api/contract';
import { DataTable, Table } from '../../parts/table';
import { duration } from '../../words/durations';
import { decimal, grouped, percent } from '../../words/numbers';
import { kWeekdays } from '../../words/times';
import type { Measure } from './measure';

const kHours = Array.from({ length: 24 }, (_, hour) => hour);

export function HeatMap({ rows, measure }: { rows: HeatCell[]; measure: Measure }) {
  const cells = new Map(rows.map((row) => [row.weekday * 24 + row.hour, row]));
  const most = Math.max(0, ...rows.map((row) => row[measure.key] ?? 0));
  return (
    <Table caption={`${measure.label} by weekday and hour`} class="heat">
      <thead>
        <tr>
          <th scope="col">
            <span class="unseen">Day</span>
          </th>
          {kHours.map((hour) => (
            <th key={hour} scope="col">
              {hour}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {kWeekdays.map((day, weekday) => (
          <tr key={day}>
            <th scope="row">
              <span aria-hidden="true">{day.slice(0, 3)}</span>
              <span class="unseen">{day}</span>
            </th>
            {kHours.map((hour) => (
              <Cell key={hour} row={cells.get(weekday * 24 + hour)} measure={measure} most={most} />
            ))}
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

interface CellProps {
  row: HeatCell | undefined;
  measure: Measure;
  most: number;
}

function Cell({ row, measure, most }: CellProps) {
  const value = row?.[measure.key];
  if (value === null || value === undefined) {
    return (
      <td class="heat-none">
        <span class="unseen">not known</span>
      </td>
    );
  }
  const scale = measure.key === 'use' || measure.key === 'queue' ? 'heat' : 'wait';
  return (
    <td class={`${scale}-${measure.level(value, most)}`}>
      <data value={value}>{measure.short(value)}</data>
    </td>
  );
}

/** What the colours and short words stand for, with the number of jobs behind each. */
export function HeatTable({ rows }: { rows: HeatCell[] }) {
  const day = (row: HeatCell) => kWeekdays[row.weekday] ?? '';
  const hour = (row: HeatCell) => `${String(row.hour).padStart(2, '0')}:00`;
  return (
    <details class="figures">
      <summary>Show as a table</summary>
      <DataTable
        caption="Waits and use by hour of the week"
        rows={rows}
        keyOf={(row) => row.weekday * 24 + row.hour}
        columns={[
          { head: 'Day', value: day, order: (row) => row.weekday },
          { head: 'Hour', value: hour },
          { head: 'Jobs', value: (row) => row.jobs, words: grouped },
          { head: 'Wait p50', value: (row) => row.wait_p50_seconds, words: duration },
          { head: 'Wait p90', value: (row) => row.wait_p90_seconds, words: duration },
          { head: 'Allocated', value: (row) => row.use, words: percent },
          { head: 'Waiting', value: (row) => row.queue, words: decimal },
        ]}
      />
    </details>
  );
}
