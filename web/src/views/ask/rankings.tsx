// The ranking: each way to run the training, first to be done first; then those that cannot, and tips.
import { useState } from 'preact/hooks';
import type { Advice } from '../../api/contract';
import type { Objective } from './objectives';
import { Empty, Panel } from '../../parts/panel';
import { CopyLine } from '../../parts/copy';
import { Table } from '../../parts/table';
import { submitCommand } from './command';
import type { Asked } from './command';
import { Dated } from './dated';
import { RankRow } from './rank_row';
import type { Price } from './rank_row';
import { Rejections } from './rejections';

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
  return (
    <Panel title="Ranking" id="ranking" note={answer.forecast.note}>
      <Dated answer={answer} changed={changed} />
      {best && !changed ? (
        <div class="best-command">
          <CopyLine text={submitCommand(best, strategies, asked)} label="the command that submits the first" />
          <span class="quiet">Save the text as train.yaml first. The command asks before it submits.</span>
        </div>
      ) : null}
      {best ? <p class="note" data-ranked-by>{answer.objective in kRankedBy ? `${kRankedBy[answer.objective] ?? ''} ` : ''}Reasons compare medians; costs are those of the mean run.</p> : <Empty>Nothing on this cluster can run it. The reasons are below.</Empty>}
      {best ? (
        <Table caption="Strategies for this training, best first" class="ranks">
          <thead>
            <tr>
              <th scope="col">#</th>
              <th scope="col">GPUs</th>
              <th scope="col">Partition</th>
              <th scope="col">Wait p50 – p90</th>
              <th scope="col">Run</th>
              <th scope="col">Done after</th>
              {dated ? <th scope="col">In time</th> : null}
              <th scope="col">Batch × acc. × GPUs</th>
              {price ? <th scope="col" class="right">{price === 'cost' ? 'Cost' : 'GPU-hours'}</th> : null}
              <th scope="col"><span class="unseen">Command</span></th>
            </tr>
          </thead>
          {shown.map((one) => <RankRow key={one.rank} strategy={one} among={strategies} asked={changed ? null : asked} price={price} dated={dated} longest={Math.max(...strategies.map((row) => row.total_p90_seconds))} />)}
        </Table>
      ) : null}
      {strategies.length > kFirstRows ? <button type="button" onClick={() => setAll(!all)}>{all ? 'Show fewer' : `Show all ${strategies.length}`}</button> : null}
      <Sentences title="Assumed" sentences={answer.assumed} />
      <Sentences title="Tips" sentences={answer.tips} />
      <Rejections rows={answer.rejected} />
    </Panel>
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
        {sentences.map((one) => <li key={one}><bdi>{one}</bdi></li>)}
      </ul>
    </div>
  );
}
