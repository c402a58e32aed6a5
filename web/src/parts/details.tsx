// A panel beside a list with what there is to say about one of its rows.
import { useEffect, useRef } from 'preact/hooks';
import type { ComponentChildren, RefObject } from 'preact';
import { setParams } from './route';

interface DetailsProps {
  title: ComponentChildren;
  label: string;
  param: string; // of the address, which names what is open
  list: RefObject<HTMLElement>; // the focus goes back to what opened the panel in there: it is expanded, or an opener
  children: ComponentChildren;
}

export function Details({ title, label, param, list, children }: DetailsProps) {
  const place = useRef<HTMLElement>(null);
  useEffect(() => place.current?.focus({ preventScroll: true }), [label]);
  const close = () => {
    const opener = list.current?.querySelector<HTMLElement>('[aria-expanded="true"], [data-opener]');
    setParams({ [param]: null });
    opener?.focus();
  };
  return (
    <aside
      class="details"
      aria-label={label.slice(0, 80)}
      tabIndex={-1}
      ref={place}
      onKeyDown={(event) => event.key === 'Escape' && close()}
    >
      <div class="details-head">
        <h3>{title}</h3>
        <button type="button" class="icon-button" onClick={close} aria-label="Close the details">
          ✕
        </button>
      </div>
      {children}
    </aside>
  );
}

/** A row of a <dl class="facts">. */
export function Fact({ term, children }: { term: string; children: ComponentChildren }) {
  return (
    <>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </>
  );
}
