// How many GPUs of each type will be free: a step line with its range, and when the job of the question would start.
import type { FreeGpus, FreeGpusOfType, GpuWaits } from '../../api/contract';
import type { Loaded } from '../../api/loader';
import { Name } from '../../parts/name';
import { Panel, Trouble } from '../../parts/panel';
import { DataTable } from '../../parts/table';
import { length, limit as limitWords } from '../../words/durations';
import { grouped, plural } from '../../words/numbers';
import { clockOffset, clockTime, clusterTime, shortDay } from '../../words/times';
import { firstOfTypes, startOfType } from './question';
import type { Start } from './question';
import type { Asked } from './starts';

export const kFreePath = 'v1/free?hours=48';
export const kFreeRestSeconds = 60;
const kHour = 3600;
const kDay = 24 * kHour;
const kTableHours = 3;
const kShortHours = 12; // a forecast that ends sooner has a row in the table for each hour
const kSaidHours = [6, 12, 24, 48];
const kTickSteps = [kHour / 4, kHour / 2, kHour, 2 * kHour, 3 * kHour, 6 * kHour, 12 * kHour];
const kMostTicks = 4; // a drawing is not wide
const kTightShare = 0.146; // of the width, at its right edge, where no words fit
const kHeight = 60; // of the drawing, in its own units; a step is one unit wide

interface FreePanelProps {
  types: GpuWaits[];
  free: Loaded<FreeGpus>;
  asked: Asked;
  now: number;
}

export function FreePanel({ types, free: { data, error }, asked, now }: FreePanelProps) {
  const starts = firstOfTypes(asked.starts ?? [], types.length);
  const startOf = (type: GpuWaits) =>
    starts.find((one) => one.gpu === type.gpu) ?? (asked.refused ? undefined : startOfType(type, asked.question));
  const needed = asked.refused ? Infinity : asked.question.gpus * asked.question.nodes;
  const note =
    'Line: the median over the simulated futures; band: 8 in 10 of them (p10 – p90). A free GPU may be kept for a waiting job. ' +
    'Upright line: your job’s start, where it is known; dotted: the GPUs it needs.';
  return (
    <Panel title={`Expected free GPUs, next ${data ? spanWords(data) : '48 h'}`} id="free" note={note}>
      {error && !data ? <Trouble error={error} hasData={false} /> : null}
      <ul class="free-types">
        {types.map((type) => {
          const row = data?.gpus.find((one) => one.gpu === type.gpu);
          const start = startOf(type);
          return (
            <li key={type.gpu}>
              <b>
                <Name of={type.gpu_name} wide />
              </b>
              <span class="free-words">{data && row ? shortWords(data, row, now) : data ? 'not known' : '…'}</span>
              {data && row ? <Steps data={data} row={row} start={start} needed={needed} now={now} /> : <div class="free-place" />}
            </li>
          );
        })}
      </ul>
      {data && data.watched_seconds < kDay ? (
        <p class="few">
          gpuadvised has watched submissions for {length(data.watched_seconds)}: {data.watched_seconds < kHour ? 'no' : 'few'} jobs arrive
          in these futures, so fewer GPUs may be free.
        </p>
      ) : null}
      <div class="free-table">{data ? <Figures data={data} now={now} /> : null}</div>
    </Panel>
  );
}

/** "48 h", or less where the forecast ends sooner: "7 h 30". */
const spanWords = (data: FreeGpus): string => limitWords(data.until - data.start);

const timeOf = (data: FreeGpus, step: number) => data.start + step * data.step_seconds;

/** The step that it is: the answer may be older than the rest of the page. */
const stepOf = (data: FreeGpus, now: number) => Math.max(0, Math.floor((Math.min(now, data.until) - data.start) / data.step_seconds));

/** "3 free now, more from 14:15" by the median. */
function shortWords(data: FreeGpus, row: FreeGpusOfType, now: number): string {
  const step = stepOf(data, now);
  const free = step === 0 ? 'free now' : 'expected free now';
  return `${grouped(row.p50[step])} ${free}, ${moreWords(data, row, now) || 'all of them'}`;
}

/** "more from 14:15", or by when no more are expected; "" where all are free. */
export function moreWords(data: FreeGpus, row: FreeGpusOfType, now: number): string {
  const step = stepOf(data, now);
  const free = row.p50[step] ?? 0;
  const more = row.p50.findIndex((count, at) => at > step && count > free);
  return more > 0
    ? `more from ${clockTime(timeOf(data, more), now)}`
    : free < row.usable
      ? `no more expected by ${clockTime(data.until, now)}`
      : '';
}

const rangeWords = (row: FreeGpusOfType, step: number) => {
  const [low, median, high] = [row.p10[step], row.p50[step], row.p90[step]];
  return low === high ? grouped(median) : `${grouped(median)} (${grouped(low)} – ${grouped(high)})`;
};

function startWords(start: Start | undefined, now: number): string {
  return start ? `your job starts ${start.p50 < 30 ? 'now' : clockTime(now + start.p50, now)}` : '';
}

interface StepsProps {
  data: FreeGpus;
  row: FreeGpusOfType;
  start: Start | undefined;
  needed: number;
  now: number;
}

function Steps({ data, row, start, needed, now }: StepsProps) {
  const steps = row.p50.length;
  const top = Math.max(1, ...row.p90);
  const y = (count: number) => kHeight - (kHeight * count) / top;
  const said = kSaidHours.map((hours) => [hours, Math.round((hours * kHour) / data.step_seconds)]).filter(([, step = 0]) => step < steps);
  const words = [
    `${row.gpu_name.slice(0, 60)}: ${rangeWords(row, stepOf(data, now))} free now`,
    ...said.map(([hours, step = 0]) => `${rangeWords(row, step)} in ${hours} h`),
    ...(start ? [startWords(start, now)] : []),
  ].join(', ');
  const at = start ? start.p50 / data.step_seconds : null;
  const offset = clockOffset(now);
  return (
    <>
      <div class="free-place">
        <span class="free-top">{grouped(top)}</span>
        <svg viewBox={`0 0 ${Math.max(1, steps - 1)} ${kHeight}`} preserveAspectRatio="none" role="img" aria-label={words}>
          <path class="free-band" d={`${stepPath(row.p90, y, 'M')} ${stepPath(row.p10, y, 'L', true)} Z`} />
          <path class="free-line" d={stepPath(row.p50, y, 'M')} />
          {needed <= top ? <path class="free-needed" d={`M0 ${y(needed)}H${steps}`} /> : null}
          {at !== null && at < steps ? <path class="free-start" d={`M${at} 0V${kHeight}`} /> : null}
        </svg>
        {ticksOf(data.start, data.until, offset).map((time) => (
          <span key={time} class="free-tick" style={{ left: `${(100 * (time - data.start)) / Math.max(1, data.until - data.start)}%` }}>
            {data.until - time < kTightShare * (data.until - data.start)
              ? ''
              : (time + offset) % kDay === 0
                ? shortDay(time, offset)
                : clockTime(time, time)}
          </span>
        ))}
      </div>
      <span class="free-words">
        {at !== null && at >= steps ? `${startWords(start, now)}, after the time shown` : startWords(start, now)}
      </span>
    </>
  );
}

/** A line that keeps its value until the next step; `back` draws it from the right to the left. */
function stepPath(counts: number[], y: (count: number) => number, first: string, back = false): string {
  const corners = counts.flatMap((count, step) =>
    step + 1 < counts.length
      ? [
          [step, count],
          [step + 1, count],
        ]
      : [[step, count]],
  );
  const points = (back ? corners.reverse() : corners).map(([x = 0, count = 0]) => `${x} ${y(count).toFixed(1)}`);
  return `${first}${points.join('L')}`;
}

/** Round times of the clock that is `offset` seconds ahead of UTC: midnights and noons, or closer where the time is short. */
function ticksOf(from: number, to: number, offset: number): number[] {
  const step = kTickSteps.find((seconds) => (to - from) / seconds <= kMostTicks) ?? 12 * kHour;
  const first = Math.ceil((from + offset) / step) * step - offset;
  return Array.from({ length: Math.max(0, Math.floor((to - first) / step) + 1) }, (_, at) => first + at * step);
}

function Figures({ data, now }: { data: FreeGpus; now: number }) {
  const hours = data.until - data.start < kShortHours * kHour ? 1 : kTableHours;
  const every = Math.max(1, Math.round((hours * kHour) / data.step_seconds));
  const steps = (data.gpus[0]?.p50.length ?? 0) - 1;
  const rows = Array.from({ length: Math.floor(steps / every) + 1 }, (_, at) => at * every);
  return (
    <details class="figures">
      <summary>Show as a table</summary>
      <DataTable
        caption={`Expected free GPUs: median (p10 – p90) of ${plural(data.samples, 'simulated future')}`}
        rows={rows}
        keyOf={(step) => step}
        columns={[
          {
            head: 'From',
            cell: (step) => clockTime(timeOf(data, step), now),
            value: (step) => clusterTime(timeOf(data, step), clockOffset(now)),
            order: (step) => step,
          },
          ...data.gpus.map((row) => ({
            head: row.gpu_name.slice(0, 60),
            cell: (step: number) => rangeWords(row, step),
            value: (step: number) => rangeWords(row, step),
            order: (step: number) => row.p50[step],
            right: true,
          })),
        ]}
      />
    </details>
  );
}
