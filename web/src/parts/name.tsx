// A name that somebody else chose (job, user, node, partition, reason): set apart from the text
// around it in both writing directions, clipped, with the whole in its title.

import { grouped } from '../words/numbers';

export function Name({ of, wide }: { of: string | null | undefined; wide?: boolean }) {
  if (of === null || of === undefined || of === '') return <span class="quiet">–</span>;
  return (
    <bdi class={wide ? 'name name-wide' : 'name'} title={of.length > 12 ? of.slice(0, 2000) : undefined}>
      {of.length > 300 ? `${of.slice(0, 300)}…` : of}
    </bdi>
  );
}

const kMostNames = 50;

/** Several names, at most 50 of them. */
export function Names({ of }: { of: string[] }) {
  const rest = of.length - kMostNames;
  return (
    <span class="names">
      {of.slice(0, kMostNames).map((name, index) => (
        <span key={name} class="one-of-names">
          {index > 0 ? ', ' : ''}
          <Name of={name} />
        </span>
      ))}
      {rest > 0 ? ` and ${grouped(rest)} more` : ''}
    </span>
  );
}
