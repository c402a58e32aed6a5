// Said share against the share that came, with the 95 % range of the true one.
import type { CalibrationPoint } from '../../api/contract';
import { Square, toX, toY } from '../../charts/square';
import { DataTable } from '../../parts/table';
import { grouped, percent } from '../../words/numbers';

const kTicks = [0, 0.25, 0.5, 0.75, 1].map((at) => ({ at, words: percent(at) }));

export function Calibration({ rows }: { rows: CalibrationPoint[] }) {
  const known = rows.filter((row): row is CalibrationPoint & { came: number } => row.came !== null);
  const label = known.map((row) => `forecast ${percent(row.said)}, actual ${percent(row.came)}`).join('; ');
  const path = known.map((row) => `${toX(row.said)},${toY(row.came)}`).join(' ');
  return (
    <figure class="plot">
      <Square label={`Calibration: ${label}.`} xName="forecast share" yName="actual share" ticks={kTicks}>
        <polyline class="came-line" points={path} />
        {known.map((row) => (
          <Range key={row.said} row={row} />
        ))}
      </Square>
      <details class="figures">
        <summary>The figures as a table</summary>
        <DataTable
          caption="Calibration"
          rows={rows}
          keyOf={(row) => row.said}
          columns={[
            { head: 'Forecast', cell: (row) => percent(row.said) },
            { head: 'Actual', cell: (row) => percent(row.came), right: true },
            { head: '95 % range', cell: (row) => (row.low === null ? '–' : `${percent(row.low)} – ${percent(row.high)}`), right: true },
            { head: 'Jobs', cell: (row) => grouped(row.jobs), right: true },
          ]}
        />
      </details>
    </figure>
  );
}

const kCap = 5;

function Range({ row }: { row: CalibrationPoint & { came: number } }) {
  const x = toX(row.said);
  const low = toY(row.low ?? row.came);
  const high = toY(row.high ?? row.came);
  return (
    <g class="came">
      <path d={`M${x} ${low}V${high}M${x - kCap} ${low}h${2 * kCap}M${x - kCap} ${high}h${2 * kCap}`} />
      <circle cx={x} cy={toY(row.came)} r="4.5" />
    </g>
  );
}
