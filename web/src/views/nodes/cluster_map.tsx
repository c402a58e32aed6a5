// The whole cluster on one picture: a cell for each GPU, in groups.
import type { ClusterMap } from '../../api/contract';
import type { Loaded } from '../../api/loader';
import { Answering, AsOf, Empty, Warnings } from '../../parts/panel';
import { Name } from '../../parts/name';
import { setParams } from '../../parts/route';
import { grouped, plural } from '../../words/numbers';
import { GroupCanvas } from './group_canvas';
import { countsOf, groupsBy, nodesOf } from './map_groups';
import type { GroupedBy, MapNode } from './map_groups';
import { useShort } from '../short_types';

export const kMapPath = 'v1/map';
export const kMapRestSeconds = 60;

interface ClusterMapProps {
  answer: Loaded<ClusterMap>;
  by: GroupedBy;
  wanted: (node: MapNode) => boolean;
  open: string | null;
}

export function ClusterMapView({ answer, by, wanted, open }: ClusterMapProps) {
  const short = useShort().types;
  return (
    <Answering of={answer}>
      {(data) => {
        if (!data) return null;
        const nodes = nodesOf(data).filter(wanted);
        const all = nodes.reduce((sum, node) => sum + node.total, 0);
        return (
          <>
            <AsOf />
            <Warnings of={data.warnings} />
            {nodes.length === 0 ? <Empty>No node with GPUs matches this filter.</Empty> : null}
            {groupsBy(nodes, by).map((group) => {
              const words = countWords(group.nodes, short);
              return (
                <section key={group.key} class="map-group">
                  <h3>
                    <Name of={group.words} wide /> <span class="quiet">{words}</span>
                  </h3>
                  <GroupCanvas
                    group={group}
                    summary={`${group.words.slice(0, 80)}: ${words}. Arrow keys move between nodes, Enter opens one.`}
                    all={all}
                    open={open}
                    onOpen={(name) => setParams({ node: name === open ? null : name })}
                  />
                </section>
              );
            })}
          </>
        );
      }}
    </Answering>
  );
}

function countWords(nodes: MapNode[], short: ReadonlySet<string>): string {
  const { free, used, promised, gone } = countsOf(nodes, short);
  const counts = [
    [free, 'free'],
    [used, 'in use'],
    [promised, 'kept'],
    [gone, 'unavailable'],
  ] as const;
  const said = counts.filter(([count]) => count > 0).map(([count, words]) => `${grouped(count)} ${words}`);
  return `${plural(nodes.length, 'node')}, ${plural(free + used + promised + gone, 'GPU')}: ${said.join(', ')}`;
}
