// Now: what the cluster does, who waits and why, how long each kind of GPU lets one wait.
import { useAnswer } from '../../live/live';
import type { ClustersAnswer, HistoryAnswer, WaitingAnswer, WaitsAnswer } from '../../api/types';
import { Answered, Empty, Panel } from '../../parts/panel';
import { say } from '../../words/say';
import { kHistoryRestSeconds } from '../history/history_view';
import { BestTime } from '../history/best_time';
import { BestTable } from './best_table';
import { Cards } from './cards';
import { OtherClusters } from './other_clusters';
import { Totals } from './totals';
import { WaitScale } from './wait_cell';
import { WhoWaits } from './who_waits';

const kOthersRestSeconds = 60; // the daemon asks them every 30 s

export function NowView() {
  const answer = useAnswer<WaitsAnswer>('v1/waits');
  const waiting = useAnswer<WaitingAnswer>('v1/waiting');
  const others = useAnswer<ClustersAnswer>('v1/clusters', kOthersRestSeconds);
  const history = useAnswer<HistoryAnswer>('v1/history?weeks=8', kHistoryRestSeconds);
  return (
    <Answered of={answer}>
      {(data) => (
        <>
          {waiting.data ? <Totals waiting={waiting.data} history={history.data} /> : null}
          <Panel title={say('now.waits')} id="waits" note={say('now.waitsNote')} actions={<WaitScale />}>
            {data.gpus.length === 0 ? <Empty>{say('now.noGpus')}</Empty> : null}
            <Cards gpus={data.gpus} />
          </Panel>
          {others.data ? <OtherClusters data={others.data} /> : null}
          {waiting.data ? <WhoWaits data={waiting.data} /> : null}
          {waiting.error && !waiting.data ? <p class="note" data-no-waiting><bdi>{waiting.error.message}</bdi></p> : null}
          {data.best.length > 0 ? (
            <Panel title={say('now.best')} id="best" note={say('now.bestNote')}>
              {history.data ? <BestTime data={history.data} /> : null}
              <BestTable rows={data.best} />
            </Panel>
          ) : null}
          <p class="record" data-note>
            <strong>{say('now.accuracy')}</strong> {data.forecast.note} <a href="#/accuracy">{say('now.accuracyLink')}</a>
          </p>
        </>
      )}
    </Answered>
  );
}
