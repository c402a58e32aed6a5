// The clusters of other daemons: what is free there, and how long one would wait.
import type { ClustersAnswer, OtherCluster, OtherGpu } from '../../api/types';
import { Name } from '../../parts/name';
import { Panel } from '../../parts/panel';
import { DataTable } from '../../parts/table';
import { duration, durationRange, length, limit, waitLevel } from '../../words/durations';
import { grouped } from '../../words/numbers';
import { phrase, say } from '../../words/say';

const kLimitSeconds = 28_800;
const kOldSeconds = 120; // from this age on it is said

interface Row extends OtherGpu {
  cluster: string;
}

export function OtherClusters({ data }: { data: ClustersAnswer }) {
  if (data.clusters.length === 0) return null;
  const rows: Row[] = data.clusters.flatMap(({ cluster, gpus }) => (gpus ?? []).map((gpu) => ({ ...gpu, cluster })));
  return (
    <Panel title={say('now.others')} id="clusters" note={say('now.othersNote', { limit: limit(kLimitSeconds) })}>
      {data.clusters.map((one) => <Silent key={one.cluster} one={one} />)}
      {rows.length > 0 ? (
        <DataTable
          caption={say('now.others')}
          rows={rows}
          keyOf={(row) => `${row.cluster} ${row.gpu}`}
          columns={[
            { head: phrase('Cluster'), cell: (row) => <Name of={row.cluster} />, value: (row) => row.cluster },
            { head: phrase('GPU'), cell: (row) => <Name of={row.gpu_name} />, value: (row) => row.gpu_name },
            { head: say('now.others.free'), cell: (row) => grouped(row.free), value: (row) => row.free, right: true },
            { head: phrase('GPUs'), cell: (row) => grouped(row.total), value: (row) => row.total, right: true },
            { head: say('now.others.one'), cell: (row) => <Wait of={waitOf(row, 1)} />, value: (row) => waitOf(row, 1)?.wait_p50_seconds ?? null, right: true },
            { head: say('now.others.node'), cell: (row) => <Wait of={waitOf(row, largest(row))} />, value: (row) => waitOf(row, largest(row))?.wait_p50_seconds ?? null, right: true },
          ]}
        />
      ) : null}
    </Panel>
  );
}

type ShapeOf = OtherGpu['waits'][number];

const largest = ({ waits }: OtherGpu): number => Math.max(1, ...waits.map((one) => one.gpus_per_node));

/** Of jobs on one node; with the limit that the note names, or the nearest that was asked. */
function waitOf({ waits }: OtherGpu, gpus: number): ShapeOf | undefined {
  const away = (one: ShapeOf) => Math.abs(one.time_limit_seconds - kLimitSeconds);
  return waits.filter((one) => one.nodes === 1 && one.gpus_per_node === gpus).sort((a, b) => away(a) - away(b))[0];
}

function Wait({ of }: { of: ShapeOf | undefined }) {
  if (!of) return <span class="quiet">–</span>;
  if (of.wait_p50_seconds === null) return <>{phrase('never')}</>;
  const words = of.wait_p90_seconds === null ? duration(of.wait_p50_seconds) : durationRange(of.wait_p50_seconds, of.wait_p90_seconds);
  return <span class={`chip wait-${waitLevel(of.wait_p90_seconds ?? of.wait_p50_seconds) ?? 5}`}>{words}</span>;
}

function Silent({ one: { cluster, problem, age_seconds: age } }: { one: OtherCluster }) {
  const old = age !== null && age > kOldSeconds;
  if (!problem && !old) return null;
  return (
    <p class="few" data-silent={cluster}>
      <b><Name of={cluster} /></b> {age === null ? say('now.others.never') : say('now.others.silent', { age: length(age) })} <bdi>{problem}</bdi>
    </p>
  );
}
