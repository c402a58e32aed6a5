// Sweeps: the arrays that were submitted as one, a row each. A sweep's number filters the jobs by its first array.
import type { SweepProgress } from '../../api/contract';
import { Name } from '../../parts/name';
import { hashOf } from '../../parts/route';
import { DataTable } from '../../parts/table';
import { clockRange } from '../../words/times';
import { grouped } from '../../words/numbers';

interface SweepTableProps {
  sweeps: SweepProgress[];
  now: number; // of the snapshot
}

const endWords = ({ end_p50: p50, end_p90: p90 }: SweepProgress, now: number) => (p50 == null ? '–' : clockRange(p50, p90 ?? p50, now));

export function SweepTable({ sweeps, now }: SweepTableProps) {
  return (
    <DataTable
      caption="Sweeps"
      class="sweeps"
      rows={sweeps}
      keyOf={(sweep) => sweep.job_id}
      columns={[
        {
          head: 'Sweep',
          value: (sweep) => sweep.job_id,
          cell: (sweep) => <a href={hashOf('queue', { search: String(sweep.job_id) })}>{sweep.job_id}</a>,
        },
        { head: 'Name', value: (sweep) => sweep.name, cell: (sweep) => <Name of={sweep.name} /> },
        { head: 'User', value: (sweep) => sweep.user, cell: (sweep) => <Name of={sweep.user} /> },
        { head: 'Runs', value: (sweep) => sweep.runs, words: grouped },
        { head: 'Done', value: (sweep) => sweep.done, words: grouped },
        { head: 'Running', value: (sweep) => sweep.running, words: grouped },
        { head: 'Waiting', value: (sweep) => sweep.waiting, words: grouped },
        { head: 'Failed', value: (sweep) => sweep.failed, words: grouped },
        { head: 'Not known', value: (sweep) => sweep.unknown, words: grouped },
        { head: 'Moved', value: (sweep) => sweep.moved, words: grouped },
        { head: 'Done by (p50 – p90)', value: (sweep) => sweep.end_p50 ?? null, cell: (sweep) => endWords(sweep, now) },
      ]}
    />
  );
}
