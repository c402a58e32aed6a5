// Memory by part: a stacked bar for each kind of GPU, on one scale, with the card's own size.
import type { Fit, FitGpu, FitStage, Strategy, MemoryUse as Parts } from '../../api/contract';
import { Name } from '../../parts/name';
import { Panel } from '../../parts/panel';
import { Table } from '../../parts/table';
import { gib } from '../../words/numbers';

type PartKey = keyof Omit<Parts, 'total_bytes' | 'peak_in' | 'basis'>;

const kParts: [PartKey, string, string][] = [
  ['weights_bytes', 'weights', 'base'],
  ['gradients_bytes', 'gradients', 'gradients'],
  ['optimizer_bytes', 'optimizer states', 'optimizer states'],
  ['activations_bytes', 'activations', 'samples'],
  ['logits_bytes', 'logits', 'logits'],
  ['workspace_bytes', 'workspace', 'workspace'],
  ['framework_bytes', 'framework', 'overhead'],
];

export function MemoryParts({ answer, ranked }: { answer: Fit; ranked: Strategy[] }) {
  const one = answer.stages.length === 1 ? ranked : [];
  return (
    <Panel
      title="Memory of one GPU, by part"
      id="memory"
      note="At the largest micro-batch that leaves the recommended margin. The frame is the card’s memory. In the ranking a measured micro-batch counts instead."
    >
      {answer.stages.map((stage, at) => (
        <div key={at}>
          {answer.stages.length > 1 ? (
            <h3>
              <Name of={stage.name} wide />
            </h3>
          ) : null}
          <Stage stage={stage} ranked={one} />
        </div>
      ))}
    </Panel>
  );
}

function Stage({ stage, ranked }: { stage: FitStage; ranked: Strategy[] }) {
  const most = Math.max(1, ...stage.gpus.map((row) => Math.max(row.gpu_memory_bytes, row.memory?.total_bytes ?? 0)));
  const line = stage.gpus.some((row) => row.memory?.basis === 'line');
  const present = kParts
    .map((part, index) => ({ part, index }))
    .filter(({ part }) => stage.gpus.some((row) => (row.memory?.[part[0]] ?? 0) > 0));
  return (
    <>
      <ul class="legend" aria-label="Parts of memory">
        {present.map(({ part, index }) => (
          <li key={part[0]}>
            <i class={`cell part-${index}`} aria-hidden="true" />
            {part[line ? 2 : 1]}
          </li>
        ))}
      </ul>
      <Table caption="Memory by part for each kind of GPU, in GiB" class="memory">
        <thead>
          <tr>
            <th scope="col">GPU</th>
            <th scope="col" class="right">
              Micro-batch
            </th>
            <th scope="col" class="right">
              Peak GiB
            </th>
            <th scope="col" class="right">
              of
            </th>
            <th scope="col" class="bar-column">
              <span class="unseen">Parts</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {stage.gpus.map((row) => (
            <GpuRow
              key={row.gpu}
              row={row}
              most={most}
              line={line}
              measured={ranked.find((one) => one.gpu === row.gpu)?.micro_batch ?? null}
            />
          ))}
        </tbody>
      </Table>
      {(stage.assumed ?? []).map((sentence) => (
        <p key={sentence} class="note">
          Assumed: <bdi>{sentence}</bdi>
        </p>
      ))}
    </>
  );
}

function GpuRow({ row, most, line, measured }: { row: FitGpu; most: number; line: boolean; measured: number | null }) {
  const share = (bytes: number) => `${(100 * bytes) / most}%`;
  const memory = row.memory;
  const help = (row.would_fit_with ?? []).join(', ');
  return (
    <tr>
      <th scope="row">
        <Name of={row.gpu_name} />
      </th>
      <td class="right">
        {row.fits ? (
          row.micro_batch
        ) : measured !== null ? (
          <span>micro-batch {measured} in the ranking, as measured</span>
        ) : (
          <strong class="bad">does not fit</strong>
        )}
      </td>
      <td class="right">{memory ? gib(memory.total_bytes) : '–'}</td>
      <td class="right">{gib(row.gpu_memory_bytes)}</td>
      <td class="memory-cell">
        <div class="memory-bar">
          <i class="memory-card" style={{ width: share(row.gpu_memory_bytes) }} />
          {memory
            ? kParts.map(([key, name, lineName], index) => (
                <Part key={key} bytes={memory[key] ?? 0} name={line ? lineName : name} index={index} share={share} />
              ))
            : null}
        </div>
        {help ? (
          <span class="sub">
            would fit with <bdi>{help}</bdi>
          </span>
        ) : null}
      </td>
    </tr>
  );
}

interface PartProps {
  bytes: number;
  name: string;
  index: number;
  share: (bytes: number) => string;
}

function Part({ bytes, name, index, share }: PartProps) {
  if (bytes <= 0) return null;
  const words = `${name} ${gib(bytes)} GiB`;
  return (
    <span class={`part part-${index}`} style={{ width: share(bytes) }}>
      <span class="unseen">{words}; </span>
    </span>
  );
}
