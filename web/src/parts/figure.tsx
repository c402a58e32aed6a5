// A large figure in a <dl>: its name, its value, and what belongs to it.
import type { ComponentChildren } from 'preact';

export function Figure({ name, value, children }: { name: string; value: string; children: ComponentChildren }) {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd>
        <b>{value}</b>
        <span>{children}</span>
      </dd>
    </div>
  );
}
