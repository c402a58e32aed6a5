// One job: why it waits, when it will start, what would start it sooner.
import { useEffect, useRef } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { useAnswer } from '../../live/live';
import type { Job } from '../../api/contract';
import { CopyLine } from '../../parts/copy';
import { Name } from '../../parts/name';
import { Answering } from '../../parts/panel';
import { setParams } from '../../parts/route';
import { duration, limit } from '../../words/durations';
import { clockTime, fullTime } from '../../words/times';

export function JobDetails({ id }: { id: string }) {
  const place = useRef<HTMLElement>(null);
  const answer = useAnswer<Job>(`v1/jobs/${encodeURIComponent(id)}`);
  useEffect(() => place.current?.focus({ preventScroll: true }), [id]);
  const gone = answer.error?.status === 404;
  return (
    <aside class="details" aria-label={`Job ${id}`} tabIndex={-1} ref={place} onKeyDown={(event) => event.key === 'Escape' && close(id)} data-job-details={id}>
      <div class="details-head">
        <h3>Job {id}</h3>
        <button type="button" class="icon-button" onClick={() => close(id)} aria-label="Close the details">✕</button>
      </div>
      {gone ? <p class="quiet" data-gone>Job {id} neither waits nor runs now.</p> : <Answering of={answer}>{(job) => (job ? <Facts job={job} /> : null)}</Answering>}
    </aside>
  );
}

// The focus goes back to the link of the row.
function close(id: string) {
  setParams({ job: null });
  document.querySelector<HTMLElement>(`tr[data-job="${CSS.escape(id)}"] a`)?.focus();
}

function Fact({ term, children }: { term: string; children: ComponentChildren }) {
  return (
    <>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Facts({ job }: { job: Job }) {
  const now = job.meta.snapshot_taken_at ?? 0;
  const pending = job.state === 'PENDING';
  return (
    <>
      <dl class="facts">
        {job.name !== null ? <Fact term="Name"><Name of={job.name} wide /></Fact> : null}
        {job.user !== null ? <Fact term="User"><Name of={job.user} /> <Name of={job.account} /></Fact> : null}
        <Fact term="GPUs">{job.gpu === '' ? '–' : <>{job.gpus} × <Name of={job.gpu_name} /></>}</Fact>
        <Fact term="Partition"><Name of={job.partition} /></Fact>
        <Fact term="Time limit">{limit(job.time_limit_seconds)}</Fact>
        {pending ? <Fact term="Start">{startWords(job, now)}</Fact> : <Fact term="End">{clockTime(job.end_p50, now)} – {clockTime(job.end_p90, now)} (median – 90th percentile)</Fact>}
        {job.moved ? <Fact term="Forecast at submission"><span title={fullTime(job.moved.said_start)}>{clockTime(job.moved.said_start, now)}</span></Fact> : null}
      </dl>
      {job.moved && job.moved.because.length > 0 ? <Sentences of={job.moved.because} /> : null}
      {pending ? <Pending job={job} /> : <p>It is running.</p>}
    </>
  );
}

function startWords(job: Job, now: number): string {
  if (job.wait_p50_seconds === null || job.wait_p50_seconds === undefined) return 'not known while the job is held or blocked';
  return `${clockTime(job.start_p50, now)} – ${clockTime(job.start_p90, now)} (median – 90th percentile)`;
}

function Sentences({ of }: { of: string[] }) {
  return (
    <ul class="reason-list">
      {of.map((one) => <li key={one}><bdi>{one}</bdi></li>)}
    </ul>
  );
}

function Pending({ job }: { job: Job }) {
  const advice = job.limit_advice?.time_limit_seconds ? job.limit_advice : null;
  return (
    <>
      <h4>Why it waits</h4>
      {job.why.length === 0 ? <p class="quiet">Slurm gives no reason.</p> : null}
      <ul class="reason-list" data-why>
        {job.why.map((one) => (
          <li key={one.words}>
            <bdi>{one.words}</bdi>
            {one.clears ? <span class="sub"><bdi>Clears {one.clears}</bdi></span> : null}
          </li>
        ))}
      </ul>
      <h4>What would start it sooner</h4>
      {job.cheaper.length === 0 && !advice ? <p class="quiet">No change was found that would start it sooner.</p> : null}
      <ul class="reason-list" data-sooner>
        {advice ? <li><bdi>{advice.words}</bdi>{advice.command ? <CopyLine text={advice.command} label="Time limit" /> : null}</li> : null}
        {job.cheaper.map((one) => (
          <li key={one.words}>
            <bdi>{one.words}</bdi>
            {one.wait_p50_seconds !== null ? <span class="sub">{one.change}: would start in {duration(one.wait_p50_seconds)}</span> : null}
          </li>
        ))}
      </ul>
      {job.warnings.map((one) => <p key={one} class="note"><bdi>{one}</bdi></p>)}
    </>
  );
}
