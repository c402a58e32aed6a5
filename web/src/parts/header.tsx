// The head of the page: the cluster, the views, how old the data is, what waits and runs.
import { useEffect, useRef, useState } from 'preact/hooks';
import { ageSeconds, announcement, conditionOf } from '../live/age';
import type { Condition } from '../live/age';
import { useAnswer, useLive } from '../live/live';
import type { Me } from '../api/contract';
import { ago, length } from '../words/durations';
import { grouped } from '../words/numbers';
import { Name } from './name';
import { kViews } from './route';
import type { View } from './route';
import { useThemeName } from './theme';

export const titleOf = (view: View): string => view.charAt(0).toUpperCase() + view.slice(1);

export function Header({ view, flipTheme }: { view: View; flipTheme: () => void }) {
  const { snapshot } = useLive();
  return (
    <header class="top">
      <div class="top-row">
        <a class="brand" href="#/now">
          <Mark />
          <span class="brand-word">gpuadvise</span>
        </a>
        {snapshot ? <span class="cluster" data-cluster={snapshot.cluster}><Name of={snapshot.cluster} /></span> : null}
        <Views view={view} />
        <div class="top-end">
          {snapshot ? <Counts pending={snapshot.pending} running={snapshot.running} /> : null}
          <Who />
          <Age />
          <ThemeSwitch flip={flipTheme} />
        </div>
      </div>
      <Banner />
    </header>
  );
}

function Mark() {
  return (
    <svg class="mark" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
      <rect x="1" y="11" width="4" height="8" rx="1" />
      <rect x="8" y="1" width="4" height="18" rx="1" />
      <rect x="15" y="6" width="4" height="13" rx="1" />
    </svg>
  );
}

function Views({ view }: { view: View }) {
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    const shown = nav.current?.querySelector<HTMLElement>('[aria-current]');
    if (nav.current && shown) nav.current.scrollLeft = shown.offsetLeft - nav.current.clientWidth / 2; // a phone shows some of them
  }, [view]);
  return (
    <nav class="views" aria-label="Views" ref={nav}>
      {kViews.map((name) => (
        <a key={name} href={`#/${name}`} aria-current={name === view ? 'page' : undefined}>
          {titleOf(name)}
        </a>
      ))}
    </nav>
  );
}

function Counts({ pending, running }: { pending: number; running: number }) {
  return (
    <span class="counts" data-pending={pending} data-running={running}>
      <span><b>{grouped(pending)}</b> pending</span>
      <span><b>{grouped(running)}</b> running</span>
    </span>
  );
}

const kWhoRestSeconds = 600;

/** Whose view this is; where a login proxy names somebody in vain, why. */
function Who() {
  const { data } = useAnswer<Me>('v1/me', kWhoRestSeconds);
  if (!data) return null;
  if (data.user !== null) return <span class="who-am-i" data-user={data.user}>Signed in as <Name of={data.user} /></span>;
  return <span class="who-am-i quiet" data-user="" title={data.note ?? 'You are not signed in: names of users, accounts and jobs are hidden.'}>Public view{data.note ? <span class="unseen">{data.note}</span> : null}</span>;
}

function useNow(everyMilliseconds: number): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMilliseconds);
    return () => clearInterval(timer);
  }, [everyMilliseconds]);
  return now;
}

const withoutAge = (condition: Condition): string => ({ live: '', stale: '', connecting: 'connecting …', starting: 'no snapshot yet', lost: 'no connection' })[condition];

function Age() {
  const live = useLive();
  const now = Math.max(useNow(1000), live.receivedAt);
  const condition = conditionOf(live);
  const age = ageSeconds(live, now);
  const words = age === null ? withoutAge(condition) : ago(Math.floor(age));
  return (
    <span class={`age age-${condition}`} data-condition={condition} title={age === null ? undefined : `The snapshot is ${length(age)} old`}>
      <i class="dot" aria-hidden="true" />
      {condition === 'lost' && age !== null ? 'lost · ' : ''}
      {words}
    </span>
  );
}

/** What is wrong, for all to see, and told to screen readers when it changes. */
function Banner() {
  const live = useLive();
  const words = announcement(live);
  return (
    <div role="status" class={words ? `banner banner-${conditionOf(live)}` : 'banner-none'}>
      {words ? <bdi title={words.slice(0, 2000)}>{words}</bdi> : null}
    </div>
  );
}

function ThemeSwitch({ flip }: { flip: () => void }) {
  const theme = useThemeName();
  const other = theme === 'dark' ? 'Show the page light' : 'Show the page dark';
  return (
    <button type="button" class="icon-button" onClick={flip} aria-label={other} title={other}>
      <svg viewBox="0 0 20 20" width="16" height="16" aria-hidden="true">
        {theme === 'dark' ? (
          <path d="M10 5.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9M10 0v3M10 17v3M0 10h3M17 10h3M3 3l2 2M15 15l2 2M3 17l2-2M15 5l2-2" />
        ) : (
          <path d="M17 12.5A7.5 7.5 0 0 1 7.5 3 7.5 7.5 0 1 0 17 12.5z" />
        )}
      </svg>
    </button>
  );
}
