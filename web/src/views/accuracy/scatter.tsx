// Said p50 against the wait that came, logarithmic, with the range that was said.
import type { AccuracyPoint } from '../../api/contract';
import { seriesToken } from '../../charts/colours';
import { logScale } from '../../charts/log_scale';
import { Square, toX, toY } from '../../charts/square';
import { Name } from '../../parts/name';
import { DataTable } from '../../parts/table';
import { duration } from '../../words/durations';
import { percent } from '../../words/numbers';
import { fullTime } from '../../words/times';

export function Scatter({ points }: { points: AccuracyPoint[] }) {
  const scale = logScale(points.flatMap((point) => [point.said_p90_seconds, point.wait_seconds]));
  const gpus = [...new Map(points.map((point) => [point.gpu, point.gpu_name]))];
  const inside = points.filter(
    (point) => point.wait_seconds >= point.said_p10_seconds && point.wait_seconds <= point.said_p90_seconds,
  ).length;
  const label = `${points.length} jobs: forecast wait against actual wait. ${percent(inside / points.length)} lie within the forecast range; the target is 80 %.`;
  return (
    <figure class="plot">
      <Square label={label} xName="forecast wait, p10 – p50 – p90" yName="actual wait" ticks={scale.ticks}>
        {points.map((point, index) => (
          <Point key={index} point={point} place={scale.place} token={seriesToken(gpus.findIndex(([gpu]) => gpu === point.gpu))} />
        ))}
      </Square>
      <figcaption>
        <ul class="plot-legend">
          {gpus.map(([gpu, name], index) => (
            <li key={gpu}>
              <i class="swatch swatch-dot" style={{ color: `var(${seriesToken(index)})` }} aria-hidden="true" />
              <Name of={name} />
            </li>
          ))}
        </ul>
        <span>{label}</span>
      </figcaption>
      <details class="figures">
        <summary>The figures as a table</summary>
        <PointTable points={points} />
      </details>
    </figure>
  );
}

interface PointProps {
  point: AccuracyPoint;
  place: (seconds: number) => number;
  token: string;
}

function Point({ point, place, token }: PointProps) {
  const y = toY(place(point.wait_seconds));
  return (
    <g style={{ color: `var(${token})` }}>
      <line class="said-range" x1={toX(place(point.said_p10_seconds))} x2={toX(place(point.said_p90_seconds))} y1={y} y2={y} />
      <circle class="said" cx={toX(place(point.said_p50_seconds))} cy={y} r="2.6" />
    </g>
  );
}

const kMostRows = 100;

function PointTable({ points }: { points: AccuracyPoint[] }) {
  const newest = points.slice(-kMostRows).reverse();
  return (
    <DataTable
      caption={`The newest ${newest.length} jobs with a forecast wait`}
      rows={newest.map((point, index) => ({ ...point, index }))}
      keyOf={(row) => row.index}
      columns={[
        {
          head: 'Started',
          cell: (row) => fullTime(row.started_at),
          value: (row) => row.started_at,
        },
        {
          head: 'GPUs',
          cell: (row) => (
            <>
              {row.gpus} × <Name of={row.gpu_name} />
            </>
          ),
        },
        { head: 'Forecast p10', cell: (row) => duration(row.said_p10_seconds), right: true },
        { head: 'p50', cell: (row) => duration(row.said_p50_seconds), right: true },
        { head: 'p90', cell: (row) => duration(row.said_p90_seconds), right: true },
        { head: 'Actual', cell: (row) => duration(row.wait_seconds), right: true },
        {
          head: 'Error of Slurm’s estimate',
          cell: (row) => duration(row.slurm_error_seconds === null ? null : Math.abs(row.slurm_error_seconds)),
          right: true,
        },
      ]}
    />
  );
}
