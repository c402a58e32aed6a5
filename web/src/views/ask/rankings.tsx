// The ranking: each way to run the training, first to be done first; then those that cannot, and tips.
import { useState } from 'preact/hooks';
import type { Advice, Rejection } from '../../api/contract';
import type { Objective } from './objectives';
import { Empty, Panel } from '../../parts/panel';
import { CopyLine } from '../../parts/copy';
import { gridOf, Ticks } from '../../charts/time_axis';
import { Rejections } from '../../parts/rejected';
import { Table } from '../../parts/table';
import { plural } from '../../words/numbers';
import { submitCommand, sweepCommand } from './command';
import type { Asked } from './command';
import { Dated } from './dated';
import { RankRow } from './rank_row';
import type { Price } from './rank_row';
import { SweepRow } from './sweep_row';

const kFirstRows = 6;

interface RankingsProps {
  answer: Advice;
  asked: Asked;
  changed: string | null; // what differs from what would be asked now: then no command is given
}

export function Rankings({ answer, asked, changed }: RankingsProps) {
  const [all, setAll] = useState(false);
  const { strategies } = answer;
  const shown = all ? strategies : strategies.slice(0, kFirstRows);
  const price = priceOf(answer);
  const best = strategies[0];
  const dated = answer.deadline !== undefined;
  const now = answer.meta.snapshot_taken_at ?? 0;
  const longest = Math.max(3600, answer.sweep?.makespan_p90_seconds ?? 0, ...shown.map((one) => one.total_p90_seconds));
  const axis = { from: now, to: now + longest * 1.02, now };
  return (
    <Panel title="Ranking" id="ranking" note={answer.forecast.note} actions={<Legend />}>
      <div style={gridOf(axis)}>
        <Dated answer={answer} changed={changed} />
        {best && !changed ? (
          <div class="best-command">
            {answer.sweep ? (
              <CopyLine text={sweepCommand(asked)} label="the command that submits all runs" />
            ) : (
              <CopyLine text={submitCommand(best, strategies, asked)} label="the command that submits the first" />
            )}
            <span class="quiet">Save the text as train.yaml first. The command asks before it submits.</span>
          </div>
        ) : null}
        {best ? (
          <p class="note">
            {answer.objective in kRankedBy ? `${kRankedBy[answer.objective] ?? ''} ` : ''}Reasons compare medians; costs are those of the
            mean run.
          </p>
        ) : (
          <Empty>Nothing on this cluster can run it. The reasons are below.</Empty>
        )}
        {best ? (
          <Table caption="Strategies for this training, best first" class="ranks stacked">
            <thead>
              <tr>
                <th scope="col">#</th>
                <th scope="col">GPUs</th>
                <th scope="col">Wait p50 – p90</th>
                <th scope="col">Run</th>
                <th scope="col">Done, p50 – p90</th>
                {dated ? <th scope="col">In time</th> : null}
                <th scope="col">Batch × acc. × GPUs</th>
                {price ? (
                  <th scope="col" class="right">
                    {price === 'cost' ? 'Cost' : 'GPU-hours'}
                  </th>
                ) : null}
                <th scope="col" class="axis-column">
                  <span class="unseen">Time line</span>
                  <Ticks axis={axis} />
                </th>
                <th scope="col">
                  <span class="unseen">Command</span>
                </th>
              </tr>
            </thead>
            {answer.sweep ? <SweepRow sweep={answer.sweep} among={strategies} price={price} axis={axis} dated={dated} /> : null}
            {shown.map((one) => (
              <RankRow
                key={one.rank}
                strategy={one}
                among={strategies}
                asked={changed ? null : asked}
                price={price}
                dated={dated}
                axis={axis}
              />
            ))}
          </Table>
        ) : null}
        {strategies.length > kFirstRows ? (
          <button type="button" onClick={() => setAll(!all)}>
            {all ? 'Show fewer' : `Show all ${strategies.length}`}
          </button>
        ) : null}
        <Sentences title="Assumed" sentences={answer.assumed} />
        <Sentences title="Tips" sentences={answer.tips} />
        <Rejections rows={answer.rejected.map(rejectedWords)} noun="way" open />
      </div>
    </Panel>
  );
}

function rejectedWords({ gpu_name, partition, gpus_per_node, nodes, reasons }: Rejection) {
  return {
    gpu_name,
    partition,
    words: `${nodes > 1 ? `${plural(nodes, 'node')} with ` : ''}${gpus_per_node} ×`,
    reason: reasons.join('; '),
  };
}

function Legend() {
  return (
    <ul class="legend" aria-label="What the bars mean">
      <li>
        <i class="key key-start" aria-hidden="true" />
        waits (start p10 – p90), mark: median
      </li>
      <li>
        <i class="key key-run" aria-hidden="true" />
        runs, to the median end
      </li>
      <li>
        <i class="key key-late" aria-hidden="true" />
        to the p90 of the end
      </li>
    </ul>
  );
}

const kRankedBy: Partial<Record<Objective, string>> = {
  finish: 'Ranked half way between the median and the 90th percentile of wait + run.',
  start: 'Ranked by the median wait.',
  cost: 'Ranked by the price, or by GPU-hours where one has no price.',
  deadline: 'The cheapest of those that make the deadline nine times out of ten, then the likeliest.',
};

/** What the column of prices has: GPU-hours where these rank, as not all have a price. */
function priceOf({ strategies, objective }: Advice): Price {
  const priced = strategies.filter((one) => one.cost !== null).length;
  if (objective === 'cost' && priced < strategies.length) return 'gpu_hours';
  return priced > 0 ? 'cost' : null;
}

function Sentences({ title, sentences }: { title: string; sentences: string[] }) {
  if (sentences.length === 0) return null;
  return (
    <div class="tips">
      <h3>{title}</h3>
      <ul>
        {sentences.map((one) => (
          <li key={one}>
            <bdi>{one}</bdi>
          </li>
        ))}
      </ul>
    </div>
  );
}
