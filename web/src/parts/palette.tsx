// Ctrl+K: a field that finds jobs, nodes, users and views, and the list of keys.
import { Fragment } from 'preact';
import { flushSync } from 'preact/compat';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Nodes, Queue } from '../api/contract';
import { useAnswer } from '../live/live';
import { titleOf } from '../views';
import { kGo, useKeys } from './keys';
import { Name } from './name';
import { hashOf, kViews, requestOf } from './route';

const kMost = 5;
const kPauseMilliseconds = 200;

let show: () => void = () => undefined;

export const openPalette = (): void => show();

export function Palette() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [open, setOpen] = useState(false);
  show = () => {
    flushSync(() => {
      setText('');
      setOpen(true); // what is to have the focus is there
    });
    if (!dialog.current?.open) dialog.current?.showModal();
  };
  const close = () => dialog.current?.close();
  useKeys(openPalette);
  return (
    // The event comes a moment after the close, when it may be open again.
    <dialog ref={dialog} class="palette" aria-label="Jump to" onClose={() => setOpen(dialog.current?.open ?? false)}>
      {open ? (
        <>
          <form method="dialog" onSubmit={(event) => goToFirst(event, close)}>
            <label class="field">
              <span>Job, node, user or view</span>
              <input
                type="text"
                name="jump"
                value={text}
                maxLength={200}
                autocomplete="off"
                onInput={(event) => setText((event.target as HTMLInputElement).value)}
              />
            </label>
          </form>
          <Found text={text} close={close} />
          <button type="button" onClick={close}>
            Close
          </button>
        </>
      ) : null}
    </dialog>
  );
}

// Enter takes the first of what is found.
function goToFirst(event: Event, close: () => void): void {
  event.preventDefault();
  const first = (event.currentTarget as HTMLElement).parentElement?.querySelector<HTMLAnchorElement>('li a');
  if (!first) return;
  close();
  first.click();
}

interface Hit {
  to: string;
  kind: string;
  name: string;
}

function Found({ text, close }: { text: string; close: () => void }) {
  const hits = useHits(text.trim());
  return (
    <>
      <p class="unseen" role="status">
        {text ? `${hits.length} found` : ''}
      </p>
      <ul class="hits" aria-label="Found">
        {hits.map((hit) => (
          <li key={`${hit.kind} ${hit.to}`}>
            <a href={hit.to} onClick={close}>
              <span class="quiet">{hit.kind}</span> <Name of={hit.name} wide />
            </a>
          </li>
        ))}
      </ul>
      {text ? null : <Keys />}
    </>
  );
}

/** What `text` may mean: a job's number at once, nodes and jobs once the daemon has found them. */
function useHits(text: string): Hit[] {
  const [asked, setAsked] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text), kPauseMilliseconds);
    return () => clearTimeout(timer);
  }, [text]);
  const search = { search: asked, limit: kMost };
  const nodes = useAnswer<Nodes>(asked ? requestOf('v1/nodes', search) : null).data?.nodes ?? [];
  const jobs = useAnswer<Queue>(asked ? requestOf('v1/queue', search) : null).data?.jobs ?? [];
  const views = kViews.filter((view) => view.startsWith(text.toLowerCase()));
  if (text === '') return [];
  const isJob = /^\d+(_\d+|\+\d+)?$/.test(text);
  const users = [...new Set(jobs.flatMap((job) => (job.user?.toLowerCase().includes(text.toLowerCase()) ? [job.user] : [])))];
  return [
    ...(isJob ? [{ to: hashOf('queue', { job: text }), kind: 'Job', name: text }] : []),
    ...views.map((view) => ({ to: hashOf(view), kind: 'View', name: titleOf(view) })),
    ...(asked === text ? nodes : []).map(({ name }) => ({ to: hashOf('nodes', { search: name, node: name }), kind: 'Node', name })),
    ...users.map((user) => ({ to: hashOf('queue', { user }), kind: 'User', name: user })),
    ...(asked === text ? jobs : [])
      .filter((job) => String(job.job_id) !== text)
      .map((job) => ({
        to: hashOf('queue', { job: job.job_id }),
        kind: 'Job',
        name: `${job.job_id}${job.name === null ? '' : ` ${job.name}`}`,
      })),
    { to: hashOf('queue', { search: text }), kind: 'Jobs with', name: text },
  ];
}

function Keys() {
  return (
    <dl class="facts keys-list">
      <dt>
        <kbd>/</kbd>
      </dt>
      <dd>search in the view</dd>
      <dt>
        <kbd>Ctrl</kbd> <kbd>K</kbd>
      </dt>
      <dd>jump to a job, node, user or view</dd>
      {Object.entries(kGo).map(([key, view]) => (
        <Fragment key={key}>
          <dt>
            <kbd>g</kbd> <kbd>{key}</kbd>
          </dt>
          <dd>{titleOf(view)}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
