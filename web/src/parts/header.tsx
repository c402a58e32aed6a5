// The head of the page: the cluster, the views, how old the data is, what waits and runs.
import { useEffect, useRef, useState } from 'preact/hooks';
import { ageSeconds, announcement, conditionOf } from '../live/age';
import type { Condition } from '../live/age';
import { useAnswer, useLive } from '../live/live';
import type { Me } from '../api/contract';
import { ago } from '../words/durations';
import { grouped } from '../words/numbers';
import { titleOf } from '../views';
import { Name } from './name';
import { hashOf, kViews } from './route';
import type { View } from './route';
import { useThemeName } from './theme';

export function Header({ view, flipTheme }: { view: View; flipTheme: () => void }) {
  const { snapshot } = useLive();
  const { data: me } = useAnswer<Me>('v1/me', kWhoRestSeconds);
  return (
    <header class="top">
      <div class="top-row">
        <a class="brand" href={hashOf('now')}>
          <Mark />
          <span class="brand-word">gpuadvise</span>
        </a>
        <Views view={view} signedIn={me !== null && me.user !== null} />
        <div class="top-end">
          {snapshot ? <Counts pending={snapshot.pending} running={snapshot.running} /> : null}
          <Who me={me} />
          {snapshot ? (
            <span class="cluster">
              <Name of={snapshot.cluster} />
            </span>
          ) : null}
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

/** Group has nothing for those who are not signed in. */
function Views({ view, signedIn }: { view: View; signedIn: boolean }) {
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    const shown = nav.current?.querySelector<HTMLElement>('[aria-current]');
    if (nav.current && shown) nav.current.scrollLeft = shown.offsetLeft - nav.current.clientWidth / 2; // a phone shows some of them
  }, [view, signedIn]);
  return (
    <nav class="views" aria-label="Views" ref={nav}>
      {kViews
        .filter((name) => name !== 'group' || signedIn || view === 'group')
        .map((name) => (
          <a key={name} href={hashOf(name)} aria-current={name === view ? 'page' : undefined}>
            {titleOf(name)}
          </a>
        ))}
    </nav>
  );
}

function Counts({ pending, running }: { pending: number; running: number }) {
  return (
    <span class="counts">
      <span>
        <b>{grouped(pending)}</b> pending
      </span>
      <span>
        <b>{grouped(running)}</b> running
      </span>
    </span>
  );
}

const kWhoRestSeconds = 600;
const kPublic = 'You are not signed in: names of users, accounts and jobs are hidden.';

/** Whose view this is; where a login proxy names somebody in vain, why. */
function Who({ me }: { me: Me | null }) {
  if (!me) return null;
  if (me.user !== null) {
    return (
      <span class="who-am-i">
        <span class="who-word">Signed in as </span>
        <Name of={me.user} />
      </span>
    );
  }
  return (
    <details class="who-am-i quiet">
      <summary>Public view</summary>
      <p class="who-note">{me.note ?? kPublic}</p>
    </details>
  );
}

function useNow(everyMilliseconds: number): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMilliseconds);
    return () => clearInterval(timer);
  }, [everyMilliseconds]);
  return now;
}

const withoutAge = (condition: Condition): string =>
  ({ live: '', stale: '', connecting: 'connecting …', starting: 'no snapshot yet', lost: 'no connection' })[condition];

function Age() {
  const live = useLive();
  const now = Math.max(useNow(1000), live.receivedAt);
  const condition = conditionOf(live);
  const age = ageSeconds(live, now);
  const words = age === null ? withoutAge(condition) : ago(Math.floor(age));
  return (
    <span class={`age age-${condition}`}>
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
      {words ? <bdi>{words}</bdi> : null}
    </div>
  );
}

function ThemeSwitch({ flip }: { flip: () => void }) {
  const theme = useThemeName();
  const other = theme === 'dark' ? 'Show the page light' : 'Show the page dark';
  return (
    <button type="button" class="icon-button" onClick={flip} aria-label={other}>
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
