// What cannot run a job, and why.
import { plural } from '../words/numbers';
import { Name } from './name';

interface Rejected {
  gpu_name: string;
  partition: string;
  words?: string; // before the GPU: how many
  reason: string;
}

const kMostOpen = 4;

export function Rejections({ rows, noun, open = false }: { rows: Rejected[]; noun: string; open?: boolean }) {
  if (rows.length === 0) return null;
  return (
    <details class="rejected" open={open && rows.length <= kMostOpen}>
      <summary>{plural(rows.length, noun)} that cannot run it, and why</summary>
      <ul class="reason-list">
        {rows.map((row, at) => (
          <li key={at}>
            {row.words} <Name of={row.gpu_name} /> in <Name of={row.partition} />: <bdi>{row.reason}</bdi>
          </li>
        ))}
      </ul>
    </details>
  );
}
