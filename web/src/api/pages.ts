// All pages of the nodes, one after another, up to a bound: the daemon gives 200 rows at a time over TCP.
import type { Nodes } from './contract';
import { getJson } from './fetch';

const kPage = 200;

/** The first `most` nodes of `path` (its filters), or all where there are fewer. Throws as getJson. */
export async function allNodes(path: string, most: number, signal: AbortSignal): Promise<Nodes> {
  const join = path.includes('?') ? '&' : '?';
  const nodes: Nodes['nodes'] = [];
  for (;;) {
    const page = await getJson<Nodes>(`${path}${join}limit=${Math.min(kPage, most - nodes.length)}&offset=${nodes.length}`, signal);
    nodes.push(...page.nodes);
    if (page.nodes.length === 0 || nodes.length >= Math.min(most, page.total)) return { ...page, nodes, offset: 0 };
  }
}
