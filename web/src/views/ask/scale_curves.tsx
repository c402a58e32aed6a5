// Hours against GPUs for one kind of GPU, p50 and p90, with the recommended number marked.
import { useState } from 'preact/hooks';
import type { Scale, ScaleCurve, ScaleStep } from '../../api/contract';
import { Plot } from '../../charts/plot';
import { Empty, Panel } from '../../parts/panel';
import { DataTable } from '../../parts/table';
import { length } from '../../words/durations';
import { decimal, percent, plural } from '../../words/numbers';

type Running = ScaleStep & { run_p50_seconds: number; run_p90_seconds: number };

interface ScaleCurvesProps {
  answer: Scale;
  firstGpus: number | null; // of the first of the ranking
  first: string | null; // GPU of the first of the ranking, which is shown at first; null: nothing can run
}

export function ScaleCurves({ answer, first, firstGpus }: ScaleCurvesProps) {
  const [gpu, setGpu] = useState(first ?? answer.gpu);
  const curves = answer.gpus;
  const curve = curves.find((one) => one.gpu === gpu) ?? curves[0];
  if (!curve) return null;
  const choice = (
    <label class="field">
      <span>GPU</span>
      <select name="scale-gpu" value={curve.gpu} onChange={(event) => setGpu((event.target as HTMLSelectElement).value)}>
        {curves.map((one) => (
          <option key={one.gpu} value={one.gpu}>
            {one.gpu_name.slice(0, 40)}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <Panel title="How many GPUs" id="scale" actions={choice} note="Run time alone: without the queue and without time limits.">
      {first === null ? <p class="few">Nothing on this cluster can run it now. The ranking has the reasons.</p> : null}
      <Curve curve={curve} ranked={curve.gpu === first ? firstGpus : null} />
    </Panel>
  );
}

function Curve({ curve, ranked }: { curve: ScaleCurve; ranked: number | null }) {
  const runs = curve.steps.filter((step): step is Running => step.runs && step.run_p50_seconds !== undefined);
  const best = curve.recommended;
  return (
    <div>
      {best ? (
        <p class="lead">
          <b>
            {best.gpus} × <bdi>{curve.gpu_name}</bdi>
          </b>
          : <bdi>{best.why}</bdi>.{' '}
          {best.why_not_more ? (
            <>
              Why not more: <bdi>{best.why_not_more}</bdi>.{' '}
            </>
          ) : null}
          {best.beyond ? (
            <>
              Beyond <bdi>{best.beyond}</bdi>.
            </>
          ) : null}
        </p>
      ) : null}
      {best && ranked !== null && ranked !== best.gpus ? (
        <p class="note">The ranking puts {ranked} GPUs of this type first: it also counts the queue and the time limit.</p>
      ) : null}
      {runs.length > 1 ? <Hours curve={curve} runs={runs} /> : null}
      {runs.length === 0 ? <Empty>No number of these GPUs runs it.</Empty> : null}
      <Steps steps={curve.steps} />
      {(curve.assumed ?? []).map((sentence) => (
        <p key={sentence} class="note">
          Assumed: <bdi>{sentence}</bdi>
        </p>
      ))}
    </div>
  );
}

function Hours({ curve, runs }: { curve: ScaleCurve; runs: Running[] }) {
  const label = `Hours of the run by number of GPUs: ${runs.map((step) => `${step.gpus}: ${length(step.run_p50_seconds)}`).join(', ')}.`;
  return (
    <Plot
      label={label}
      counts
      band={[2, 1]}
      mark={curve.recommended?.gpus}
      x={runs.map((step) => step.gpus)}
      xWords={(gpus) => plural(gpus, 'GPU')}
      yWords={(hours) => `${decimal(hours)} h`}
      lines={[
        { name: 'run, p50', token: '--series-1', values: runs.map((step) => step.run_p50_seconds / 3600), points: true },
        { name: 'run, p90', token: '--series-3', values: runs.map((step) => step.run_p90_seconds / 3600), dash: [5, 4] },
      ]}
    />
  );
}

function Steps({ steps }: { steps: ScaleStep[] }) {
  return (
    <DataTable
      caption="The run by number of GPUs"
      rows={steps}
      keyOf={(step) => step.gpus}
      columns={[
        { head: 'GPUs', cell: (step) => `${step.gpus}${step.nodes > 1 ? ` × ${plural(step.nodes, 'node')}` : ''}` },
        {
          head: 'Run p50 – p90',
          cell: (step) =>
            step.runs ? `${length(step.run_p50_seconds)} – ${length(step.run_p90_seconds)}` : <bdi class="quiet">{step.reason}</bdi>,
        },
        { head: 'Efficiency', cell: (step) => percent(step.efficiency), right: true },
        { head: 'GPU-hours', cell: (step) => decimal(step.gpu_hours), right: true },
        { head: 'kWh', cell: (step) => decimal(step.energy_kwh), right: true },
      ]}
    />
  );
}
