// The page: head, the view that the address names, foot.
import { useEffect, useErrorBoundary, useRef } from 'preact/hooks';
import { LiveContext, useStream } from './live/live';
import { Header, titleOf } from './parts/header';
import { useRoute } from './parts/route';
import type { Route } from './parts/route';
import { ThemeContext, useTheme } from './parts/theme';
import { AccuracyView } from './views/accuracy/accuracy_view';
import { AskView } from './views/ask/ask_view';
import { HistoryView } from './views/history/history_view';
import { NodesView } from './views/nodes/nodes_view';
import { NowView } from './views/now/now_view';
import { QueueView } from './views/queue/queue_view';
import { browserZone } from './words/times';

export function App() {
  const live = useStream();
  const route = useRoute();
  const [theme, flip] = useTheme();
  const cluster = live.snapshot?.cluster ?? '';
  useEffect(() => {
    document.title = `${titleOf(route.view)} · ${cluster.slice(0, 60) || 'gpuadvise'}`;
  }, [route.view, cluster]);
  return (
    <ThemeContext.Provider value={theme}>
      <LiveContext.Provider value={live}>
        <a class="skip" href="#main" onClick={skip}>Skip to the content</a>
        <Header view={route.view} flipTheme={flip} />
        <Main route={route} />
        <footer class="foot">
          {live.snapshot ? `gpuadvised ${live.snapshot.version}, source ${live.snapshot.source}. ` : ''}
          Start times are forecasts: half of the jobs start by the first time (p50), nine in ten by the second (p90). Times are in your time zone ({browserZone()}); History uses the cluster’s.
        </footer>
      </LiveContext.Provider>
    </ThemeContext.Provider>
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
    <main id="main" tabIndex={-1} data-view={route.view}>
      <h1 ref={heading} tabIndex={-1} class="unseen">{titleOf(route.view)}</h1>
      <Guarded key={route.view} route={route} />
    </main>
  );
}

// A view that cannot be drawn does not take the rest of the page with it.
function Guarded({ route }: { route: Route }) {
  const [error, again] = useErrorBoundary();
  if (!error) return <Shown route={route} />;
  return (
    <div class="trouble" role="alert" data-trouble="view">
      <strong>This view could not be drawn</strong>
      <bdi>{error instanceof Error ? error.message : String(error)}</bdi> The daemon may be older or newer than this page.
      <button type="button" onClick={again}>Try again</button>
    </div>
  );
}

function Shown({ route: { view, params } }: { route: Route }) {
  switch (view) {
    case 'nodes':
      return <NodesView params={params} />;
    case 'queue':
      return <QueueView params={params} />;
    case 'history':
      return <HistoryView params={params} />;
    case 'accuracy':
      return <AccuracyView />;
    case 'ask':
      return <AskView />;
    default:
      return <NowView />;
  }
}
