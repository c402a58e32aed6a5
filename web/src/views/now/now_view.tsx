// Now: what the cluster does, who waits and why, how long each kind of GPU lets one wait.
import { useAnswer } from '../../live/live';
import type { History, Waiting, Waits } from '../../api/contract';
import { Answered, Empty, Panel } from '../../parts/panel';
import { kHistoryRestSeconds } from '../history/history_view';
import { BestTime } from '../history/best_time';
import { BestTable } from './best_table';
import { Cards } from './cards';
import { Totals } from './totals';
import { WaitScale } from './wait_cell';
import { WhoWaits } from './who_waits';

export function NowView() {
  const answer = useAnswer<Waits>('v1/waits');
  const waiting = useAnswer<Waiting>('v1/waiting');
  const history = useAnswer<History>('v1/history?weeks=8', kHistoryRestSeconds);
  return (
    <Answered of={answer}>
      {(data) => (
        <>
          {waiting.data ? <Totals waiting={waiting.data} history={history.data} /> : null}
          <Panel title="Waits by GPU type" id="waits" note="Wait if you submitted now: median – 90th percentile. Rows: GPUs; columns: time limit." actions={<WaitScale />}>
            {data.gpus.length === 0 ? <Empty>No partition that you may see has GPUs.</Empty> : null}
            <Cards gpus={data.gpus} />
          </Panel>
          {waiting.data ? <WhoWaits data={waiting.data} /> : null}
          {waiting.error && !waiting.data ? <p class="note" data-no-waiting><bdi>{waiting.error.message}</bdi></p> : null}
          {data.best.length > 0 ? (
            <Panel title="Where a job starts first" id="best" note="GPUs on one node; up to three places, by median wait.">
              {history.data ? <BestTime data={history.data} /> : null}
              <BestTable rows={data.best} />
            </Panel>
          ) : null}
          <p class="record" data-note>
            <strong>Accuracy.</strong> {data.forecast.note} <a href="#/accuracy">See the details</a>
          </p>
        </>
      )}
    </Answered>
  );
}
