// Weekday × hour as a table of coloured cells that also say their value.
import type { HeatCell } from '../../api/contract';
import { Table } from '../../parts/table';
import { plural } from '../../words/numbers';
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
          <th scope="col"><span class="unseen">Day</span></th>
          {kHours.map((hour) => <th key={hour} scope="col">{hour}</th>)}
        </tr>
      </thead>
      <tbody>
        {kWeekdays.map((day, weekday) => (
          <tr key={day}>
            <th scope="row"><abbr title={day}>{day.slice(0, 3)}</abbr></th>
            {kHours.map((hour) => <Cell key={hour} row={cells.get(weekday * 24 + hour)} measure={measure} most={most} />)}
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
  if (!row || value === null || value === undefined) return <td class="heat-none" data-value=""><span class="unseen">not known</span></td>;
  const day = kWeekdays[row.weekday] ?? '';
  const title = `${day} ${row.hour}:00 – ${row.hour + 1}:00: ${measure.words(value)}, ${plural(row.jobs, 'job')}`;
  const scale = measure.key === 'use' || measure.key === 'queue' ? 'heat' : 'wait';
  return <td class={`${scale}-${measure.level(value, most)}`} title={title} data-value={value}>{measure.short(value)}</td>;
}
