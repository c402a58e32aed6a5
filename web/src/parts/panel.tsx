// The frame of everything on a page: a section with a heading, and the states that an answer can be in.
import { useRef } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import type { Loaded } from '../api/loader';

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
        {actions}
      </div>
      {note ? <p class="note">{note}</p> : null}
      {children}
    </section>
  );
}

/** As Answered, for what stays (filters) where the question is refused: null is "no answer". */
export function Answering<T>({ of, children }: { of: Loaded<T>; children: (data: T | null) => ComponentChildren }) {
  const { data, error, loading } = of;
  const begun = useRef(false);
  begun.current ||= data !== null || error !== null;
  return (
    <div class="answered" aria-busy={loading}>
      {error ? <Trouble error={error} hasData={data !== null} /> : null}
      {begun.current ? children(data) : null}
      {data || error ? null : <p class="waiting">Asking the daemon …</p>}
    </div>
  );
}

/** Shows the answer, and beside it what is wrong with it: nothing yet, an error, an old one. */
export function Answered<T>({ of, children }: { of: Loaded<T>; children: (data: T) => ComponentChildren }) {
  return <Answering of={of}>{(data) => (data ? children(data) : null)}</Answering>;
}

export function Trouble({ error, hasData }: { error: { status: number; code: string; message: string }; hasData: boolean }) {
  const starting = error.status === 503;
  const waiting = error.code === 'standby' ? 'gpuadvise answers on another host' : 'gpuadvise is starting';
  const again = error.status === 0 || error.status >= 500 || error.status === 429;
  return (
    <div class={`trouble ${starting ? 'trouble-soft' : ''}`}>
      <strong>{starting ? waiting : 'No new answer'}</strong>
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
