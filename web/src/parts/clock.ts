// By which clock moments are told: one for all of a view, in the address (clock=cluster).
import type { History } from '../api/contract';
import { useAnswer } from '../live/live';
import { browserOffset, browserZone, setClock } from '../words/times';
import { kHistoryPath, kHistoryRestSeconds } from '../views/history/measure';
import type { Route } from './route';

export interface Clock {
  cluster: boolean; // the cluster's is used
  fixed: boolean; // this view has no other
  zones: { browser: string; cluster: string };
}

/** Sets the clock before anything of the view is drawn. History has the cluster's: its hours and weeks are. */
export function useClock({ view, params }: Route): Clock {
  const fixed = view === 'history';
  const wanted = fixed || params.get('clock') === 'cluster';
  const { data } = useAnswer<History>(wanted ? kHistoryPath : null, kHistoryRestSeconds);
  const known = wanted && data !== null;
  setClock(known ? data.utc_offset_seconds : null);
  const same = known && data.utc_offset_seconds === browserOffset(data.until);
  const cluster = known ? `${data.time_zone.slice(0, 40)}${same ? ', the same as yours' : ''}` : wanted ? 'not known yet' : '';
  return { cluster: known, fixed, zones: { browser: browserZone(), cluster } };
}
