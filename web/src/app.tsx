// The page: head, the view that the address names, foot.
import { useEffect, useErrorBoundary, useRef } from 'preact/hooks';
import { LiveContext, useLive, useStream } from './live/live';
import { useTelling, useWatchList, WatchContext } from './live/watches';
import { Footer } from './parts/footer';
import { Header } from './parts/header';
import { Palette } from './parts/palette';
import { useRoute } from './parts/route';
import type { Route } from './parts/route';
import { useStateMark } from './parts/state_mark';
import { ThemeContext, useTheme } from './parts/theme';
import { useWall } from './parts/wall';
import { useClock } from './parts/clock';
import { titleOf, useView } from './views';

export function App() {
  const watches = useWatchList();
  const live = useStream(watches.list.some((one) => one.said === null));
  useTelling(live, watches);
  const [theme, flip] = useTheme();
  return (
    <ThemeContext.Provider value={theme}>
      <LiveContext.Provider value={live}>
        <WatchContext.Provider value={watches}>
          <Page flipTheme={flip} />
        </WatchContext.Provider>
      </LiveContext.Provider>
    </ThemeContext.Provider>
  );
}

function Page({ flipTheme }: { flipTheme: () => void }) {
  const route = useRoute();
  const clock = useClock(route);
  useStateMark(route.view);
  useWall(route);
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <Header view={route.view} flipTheme={flipTheme} />
      <Main route={route} />
      <Footer clock={clock} />
      <Palette />
    </>
  );
}

// The hash is the route, so the link moves the focus itself.
function skip(event: Event) {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

function Main({ route }: { route: Route }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const first = useRef(true);
  useEffect(() => {
    if (!first.current) {
      window.scrollTo(0, 0);
      heading.current?.focus({ preventScroll: true });
    }
    first.current = false;
  }, [route.view]);
  return (
    <main id="main" tabIndex={-1}>
      <h1 ref={heading} tabIndex={-1} class="unseen">
        {titleOf(route.view)}
      </h1>
      <Guarded key={route.view} route={route} />
    </main>
  );
}

// A view that cannot be drawn does not take the rest of the page with it.
function Guarded({ route }: { route: Route }) {
  const [error, again] = useErrorBoundary() as [unknown, () => void];
  if (!error) return <Shown route={route} />;
  return (
    <div class="trouble" role="alert">
      <strong>This view could not be drawn</strong>
      <bdi>{error instanceof Error ? error.message : 'no reason was given'}</bdi> The daemon may be older or newer than this page.
      <button type="button" onClick={again}>
        Try again
      </button>
    </div>
  );
}

function Shown({ route: { view, params } }: { route: Route }) {
  const live = useLive();
  const { View, failed, again } = useView(view, live.opened);
  if (View) return <View params={params} />;
  if (!failed) return <p class="waiting">Loading …</p>;
  const lost = live.state === 'lost';
  return (
    <div class="trouble" role="alert">
      <strong>This view could not be loaded</strong>
      {lost
        ? 'The daemon does not answer. The view is loaded when it does.'
        : 'The daemon may have been updated since the page was opened.'}
      <button type="button" onClick={lost ? again : () => window.location.reload()}>
        {lost ? 'Try again' : 'Reload the page'}
      </button>
    </div>
  );
}
