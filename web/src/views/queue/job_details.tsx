// One job: why it waits, when it will start, what would start it sooner.
import { useEffect, useRef } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { useAnswer } from '../../live/live';
import type { JobAnswer } from '../../api/types';
import { CopyLine } from '../../parts/copy';
import { Name } from '../../parts/name';
import { Answering } from '../../parts/panel';
import { setParams } from '../../parts/route';
import { duration, limit } from '../../words/durations';
import { phrase, say } from '../../words/say';
import { clockTime, fullTime } from '../../words/times';

export function JobDetails({ id }: { id: string }) {
  const place = useRef<HTMLElement>(null);
  const answer = useAnswer<JobAnswer>(`v1/jobs/${encodeURIComponent(id)}`);
  useEffect(() => place.current?.focus({ preventScroll: true }), [id]);
  const gone = answer.error?.status === 404;
  return (
    <aside class="details" aria-label={say('job.title', { id })} tabIndex={-1} ref={place} onKeyDown={(event) => event.key === 'Escape' && close(id)} data-job-details={id}>
      <div class="details-head">
        <h3>{say('job.title', { id })}</h3>
        <button type="button" class="icon-button" onClick={() => close(id)} aria-label={say('job.close')}>✕</button>
      </div>
      {gone ? <p class="quiet" data-gone>{say('job.gone', { id })}</p> : <Answering of={answer}>{(job) => (job ? <Facts job={job} /> : null)}</Answering>}
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

function Facts({ job }: { job: JobAnswer }) {
  const now = job.meta.snapshot_taken_at ?? 0;
  const pending = job.state === 'PENDING';
  return (
    <>
      <dl class="facts">
        {job.name !== null ? <Fact term={phrase('Name')}><Name of={job.name} wide /></Fact> : null}
        {job.user !== null ? <Fact term={phrase('User')}><Name of={job.user} /> <Name of={job.account} /></Fact> : null}
        <Fact term={phrase('GPUs')}>{job.gpu === '' ? '–' : <>{job.gpus} × <Name of={job.gpu_name} /></>}</Fact>
        <Fact term={phrase('Partition')}><Name of={job.partition} /></Fact>
        <Fact term={say('job.limits')}>{limit(job.time_limit_seconds)}</Fact>
        {pending ? <Fact term={say('job.start')}>{startWords(job, now)}</Fact> : <Fact term={say('job.end')}>{say('job.startRange', { p50: clockTime(job.end_p50, now), p90: clockTime(job.end_p90, now) })}</Fact>}
        {job.moved ? <Fact term={say('job.moved')}><span title={fullTime(job.moved.said_start)}>{clockTime(job.moved.said_start, now)}</span></Fact> : null}
      </dl>
      {job.moved && job.moved.because.length > 0 ? <Sentences of={job.moved.because} /> : null}
      {pending ? <Pending job={job} /> : <p>{say('job.runs')}</p>}
    </>
  );
}

function startWords(job: JobAnswer, now: number): string {
  if (job.wait_p50_seconds === null || job.wait_p50_seconds === undefined) return say('job.startNotKnown');
  return say('job.startRange', { p50: clockTime(job.start_p50, now), p90: clockTime(job.start_p90, now) });
}

function Sentences({ of }: { of: string[] }) {
  return (
    <ul class="reason-list">
      {of.map((one) => <li key={one}><bdi>{one}</bdi></li>)}
    </ul>
  );
}

function Pending({ job }: { job: JobAnswer }) {
  const advice = job.limit_advice?.time_limit_seconds ? job.limit_advice : null;
  return (
    <>
      <h4>{say('job.why')}</h4>
      {job.why.length === 0 ? <p class="quiet">{say('job.noWhy')}</p> : null}
      <ul class="reason-list" data-why>
        {job.why.map((one) => (
          <li key={one.words}>
            <bdi>{one.words}</bdi>
            {one.clears ? <span class="sub"><bdi>{say('job.clears', { when: one.clears })}</bdi></span> : null}
          </li>
        ))}
      </ul>
      <h4>{say('job.sooner')}</h4>
      {job.cheaper.length === 0 && !advice ? <p class="quiet">{say('job.noSooner')}</p> : null}
      <ul class="reason-list" data-sooner>
        {advice ? <li><bdi>{advice.words}</bdi>{advice.command ? <CopyLine text={advice.command} label={say('job.limits')} /> : null}</li> : null}
        {job.cheaper.map((one) => (
          <li key={one.words}>
            <bdi>{one.words}</bdi>
            {one.wait_p50_seconds !== null ? <span class="sub">{say('job.soonerBy', { change: one.change, wait: duration(one.wait_p50_seconds) })}</span> : null}
          </li>
        ))}
      </ul>
      {job.warnings.map((one) => <p key={one} class="note"><bdi>{one}</bdi></p>)}
    </>
  );
}
