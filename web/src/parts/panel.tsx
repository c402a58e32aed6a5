// The frame of everything on a page: a section with a heading, and the states that an answer can be in.
import { createContext } from 'preact';
import { useContext, useRef } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import type { Frame } from '../api/contract';
import type { Loaded } from '../api/loader';
import { useLive } from '../live/live';
import { clockTime } from '../words/times';

const kSaidSeconds = 120; // an answer that is older than the newest snapshot by more than this says of when it is

const Taken = createContext<number | null>(null);

/** The panels in it are of an answer; on a large cluster it may be older than what the header says. */
export function Of({ answer, children }: { answer: Frame | null; children: ComponentChildren }) {
  return <Taken.Provider value={answer?.meta?.snapshot_taken_at ?? null}>{children}</Taken.Provider>;
}

/** "as of 14:26", where the answer around it is old. */
export function AsOf() {
  const taken = useContext(Taken);
  const newest = useLive().snapshot?.snapshot_taken_at ?? null;
  if (taken === null || newest === null || newest - taken <= kSaidSeconds) return null;
  return <span class="as-of">as of {clockTime(taken, newest)}</span>;
}

interface PanelProps {
  title: string;
  id: string;
  note?: ComponentChildren;
  actions?: ComponentChildren;
  class?: string;
  children: ComponentChildren;
}

export function Panel({ title, id, note, actions, class: more, children }: PanelProps) {
  return (
    <section class={`panel ${more ?? ''}`} aria-labelledby={`${id}-title`} id={id}>
      <div class="panel-head">
        <h2 id={`${id}-title`}>{title}</h2>
        <AsOf />
        {actions}
      </div>
      {note ? <p class="note">{note}</p> : null}
      {children}
    </section>
  );
}

/** As Answered, for what stays (filters) where the question is refused: null is "no answer". */
export function Answering<T extends Frame>({ of, children }: { of: Loaded<T>; children: (data: T | null) => ComponentChildren }) {
  const { data, error, loading } = of;
  const begun = useRef(false);
  begun.current ||= data !== null || error !== null;
  return (
    <div class="answered" aria-busy={loading}>
      {error ? <Trouble error={error} hasData={data !== null} /> : null}
      {begun.current ? <Of answer={data}>{children(data)}</Of> : null}
      {data || error ? null : <p class="waiting">Asking the daemon …</p>}
    </div>
  );
}

/** Shows the answer, and beside it what is wrong with it: nothing yet, an error, an old one. */
export function Answered<T extends Frame>({ of, children }: { of: Loaded<T>; children: (data: T) => ComponentChildren }) {
  return <Answering of={of}>{(data) => (data ? children(data) : null)}</Answering>;
}

export function Trouble({ error, hasData }: { error: { status: number; code: string; message: string }; hasData: boolean }) {
  const starting = error.status === 503;
  const waiting = error.code === 'standby' ? 'gpuadvise answers on another host' : 'gpuadvise is starting';
  const again = error.status === 0 || error.status >= 500 || error.status === 429;
  return (
    <div class={`trouble ${starting ? 'trouble-soft' : ''}`} role={starting ? 'status' : undefined}>
      <strong>{starting ? waiting : hasData ? 'No new answer' : 'No answer'}</strong>
      <bdi>{error.message}</bdi>
      {again ? <span>{hasData ? 'Trying again. The last known data is shown below.' : 'Trying again.'}</span> : null}
    </div>
  );
}

/** What the daemon says of an answer as a whole. */
export function Warnings({ of }: { of: string[] }) {
  return (
    <>
      {of.map((words) => (
        <p key={words} class="note">
          <bdi>{words}</bdi>
        </p>
      ))}
    </>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}
