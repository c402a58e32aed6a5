// The ranking: each way to run the training, first to be done first; then those that cannot, and tips.
import { useState } from 'preact/hooks';
import type { AdviseAnswer, Objective } from '../../api/ask_types';
import { Empty, Panel } from '../../parts/panel';
import { CopyLine } from '../../parts/copy';
import { Table } from '../../parts/table';
import { submitCommand } from './command';
import type { Asked } from './command';
import { Dated } from './dated';
import { RankRow } from './rank_row';
import type { Price } from './rank_row';
import { Rejections } from './rejections';
import { phrase, say } from '../../words/say';

const kFirstRows = 6;

interface RankingsProps {
  answer: AdviseAnswer;
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
  const clusters = strategies.some((one) => one.cluster !== undefined);
  return (
    <Panel title={phrase('Ranking')} id="ranking" note={answer.forecast.note}>
      <Dated answer={answer} changed={changed} />
      {best && !changed ? (
        <div class="best-command">
          <CopyLine text={submitCommand(best, strategies, asked)} label={phrase('the command that submits the first')} />
          <span class="quiet">{say('ask.saveFirst')}</span>
        </div>
      ) : null}
      {best ? <p class="note" data-ranked-by>{answer.objective in kRankedBy ? `${phrase(kRankedBy[answer.objective] ?? '')} ` : ''}{phrase('Reasons compare medians; costs are those of the mean run.')}{clusters ? ` ${say('ask.reasonsWithin')}` : ''}</p> : <Empty>{phrase('Nothing on this cluster can run it. The reasons are below.')}</Empty>}
      {best ? (
        <Table caption={say('ask.strategies')} class="ranks">
          <thead>
            <tr>
              <th scope="col">#</th>
              <th scope="col">{phrase('GPUs')}</th>
              {clusters ? <th scope="col">{phrase('Cluster')}</th> : null}
              <th scope="col">{phrase('Partition')}</th>
              <th scope="col">{phrase('Wait p50 – p90')}</th>
              <th scope="col">{phrase('Run')}</th>
              <th scope="col">{phrase('Done after')}</th>
              {dated ? <th scope="col">{phrase('In time')}</th> : null}
              <th scope="col">{phrase('Batch × acc. × GPUs')}</th>
              {price ? <th scope="col" class="right">{price === 'cost' ? 'Cost' : 'GPU-hours'}</th> : null}
              <th scope="col"><span class="unseen">{phrase('Command')}</span></th>
            </tr>
          </thead>
          {shown.map((one) => <RankRow key={one.rank} strategy={one} among={strategies} asked={changed ? null : asked} price={price} dated={dated} clusters={clusters} longest={Math.max(...strategies.map((row) => row.total_p90_seconds))} />)}
        </Table>
      ) : null}
      {strategies.length > kFirstRows ? <button type="button" onClick={() => setAll(!all)}>{all ? phrase('Show fewer') : phrase('Show all {n}', { n: strategies.length })}</button> : null}
      {answer.tips.length > 0 ? <Tips tips={answer.tips} /> : null}
      <Rejections rows={answer.rejected} />
    </Panel>
  );
}

const kRankedBy: Partial<Record<Objective, string>> = {
  finish: 'Ranked by the median of wait + run.',
  start: 'Ranked by the median wait.',
  cost: 'Ranked by the price, or by GPU-hours where one has no price.',
  deadline: 'The cheapest of those that make the deadline nine times out of ten, then the likeliest.',
};

/** What the column of prices has: GPU-hours where these rank, as not all have a price. */
function priceOf({ strategies, objective }: AdviseAnswer): Price {
  const priced = strategies.filter((one) => one.cost !== null).length;
  if (objective === 'cost' && priced < strategies.length) return 'gpu_hours';
  return priced > 0 ? 'cost' : null;
}

function Tips({ tips }: { tips: string[] }) {
  return (
    <div class="tips">
      <h3>{phrase('Tips')}</h3>
      <ul>
        {tips.map((tip) => <li key={tip}><bdi>{tip}</bdi></li>)}
      </ul>
    </div>
  );
}
