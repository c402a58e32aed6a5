// One job: why it waits, who is ahead, when it will start, what would start it sooner; or where it runs.
import type { RefObject } from 'preact';
import type { Job, PriorityParts } from '../../api/contract';
import { useAnswer } from '../../live/live';
import { CopyLine } from '../../parts/copy';
import { Details, Fact } from '../../parts/details';
import { Name } from '../../parts/name';
import { Answering, Warnings } from '../../parts/panel';
import { hashOf } from '../../parts/route';
import { Sentences } from '../../parts/sentences';
import { Tell } from '../../parts/tell';
import { jobHash } from '../../live/watches';
import { ShareBar } from '../../parts/share_bar';
import { duration, length, limit } from '../../words/durations';
import { decimal, grouped, plural } from '../../words/numbers';
import { clockRange, clockTime, fullTime } from '../../words/times';

export function JobDetails({ id, list }: { id: string; list: RefObject<HTMLElement> }) {
  const answer = useAnswer<Job>(`v1/jobs/${encodeURIComponent(id)}`);
  const gone = answer.error?.status === 404;
  return (
    <Details title={<>Job {id}</>} label={`Job ${id}`} param="job" list={list}>
      {gone ? (
        <p class="quiet">Job {id} neither waits nor runs now.</p>
      ) : (
        <Answering of={answer}>{(job) => (job ? <Facts job={job} id={id} /> : null)}</Answering>
      )}
    </Details>
  );
}

function Facts({ job, id }: { job: Job; id: string }) {
  const now = job.meta.snapshot_taken_at ?? 0;
  const pending = job.state === 'PENDING';
  return (
    <>
      {pending ? <Why job={job} /> : null}
      <dl class="facts">
        {job.name !== null ? (
          <Fact term="Name">
            <Name of={job.name} wide />
          </Fact>
        ) : null}
        {job.user !== null ? (
          <Fact term="User">
            <a href={hashOf('queue', { user: job.user })}>
              <Name of={job.user} />
            </a>
          </Fact>
        ) : null}
        {job.account ? (
          <Fact term="Account">
            <a href={hashOf('queue', { account: job.account })}>
              <Name of={job.account} />
            </a>
          </Fact>
        ) : null}
        {job.qos ? (
          <Fact term="QOS">
            <a href={hashOf('queue', { qos: job.qos })}>
              <Name of={job.qos} />
            </a>
          </Fact>
        ) : null}
        <Fact term="GPUs">
          {job.gpu === '' ? (
            '–'
          ) : (
            <>
              {grouped(job.gpus)} × <Name of={job.gpu_name} />
              {job.nodes > 1 ? ` on ${plural(job.nodes, 'node')}` : ''}
            </>
          )}
        </Fact>
        <Fact term="Partition">
          <Name of={job.partition} />
        </Fact>
        <Fact term="Time limit">{limit(job.time_limit_seconds)}</Fact>
        {job.submit_time === null ? null : (
          <Fact term="Submitted">
            {fullTime(job.submit_time)}, {length(now - job.submit_time)} ago
          </Fact>
        )}
        {pending ? <Fact term="Start">{startWords(job, now)}</Fact> : <RunningFacts job={job} now={now} />}
        {job.slurm_start ? <Fact term="Slurm’s estimate">{clockTime(job.slurm_start, now)}</Fact> : null}
        {job.moved ? <Fact term="Forecast at submission">{fullTime(job.moved.said_start)}</Fact> : null}
      </dl>
      {job.moved ? <Sentences of={job.moved.because} /> : null}
      {pending ? <Pending job={job} id={id} /> : null}
      <Warnings of={job.warnings} />
    </>
  );
}

const kRangeWords = '(median – 90th percentile)';

function startWords(job: Job, now: number): string {
  if (job.start_p50 == null) return 'not known while the job is held or blocked';
  return `${clockRange(job.start_p50, job.start_p90 ?? job.start_p50, now)} ${kRangeWords}`;
}

function RunningFacts({ job, now }: { job: Job; now: number }) {
  return (
    <>
      {job.start_time == null ? null : (
        <Fact term="Running">
          since {fullTime(job.start_time)}, for {length(now - job.start_time)}
        </Fact>
      )}
      <Fact term="End">
        {job.end_p50 == null ? 'not known' : `${clockRange(job.end_p50, job.end_p90 ?? job.end_p50, now)} ${kRangeWords}`}
      </Fact>
      <RunsOn job={job} />
    </>
  );
}

const kMostNodes = 50;

function RunsOn({ job }: { job: Job }) {
  const rest = job.on_nodes.length - kMostNodes;
  if (job.on_nodes.length === 0) return null;
  return (
    <Fact term="Nodes">
      {job.on_nodes.slice(0, kMostNodes).map((name) => (
        <a key={name} href={hashOf('nodes', { search: name, node: name })}>
          <Name of={name} />{' '}
        </a>
      ))}
      {rest > 0 ? `and ${grouped(rest)} more` : ''}
    </Fact>
  );
}

function Why({ job }: { job: Job }) {
  return (
    <>
      <h4>Why it waits</h4>
      {job.why.length === 0 ? <p class="quiet">Slurm gives no reason.</p> : null}
      <ul class="reason-list" aria-label="Why it waits">
        {job.why.map((one) => (
          <li key={one.words}>
            <bdi>{one.words}</bdi>
            {one.clears ? (
              <span class="sub">
                <bdi>Clears {one.clears}</bdi>
              </span>
            ) : null}
          </li>
        ))}
      </ul>
    </>
  );
}

function Pending({ job, id }: { job: Job; id: string }) {
  const advice = job.limit_advice?.time_limit_seconds ? job.limit_advice : null;
  return (
    <>
      <Tell of={jobHash(id)} label={`Tell me when ${job.array_task_count > 1 ? 'its last task' : 'it'} starts`} job={id} />
      {job.jobs_before ? <Ahead job={job} /> : null}
      {job.priority_factors ? <Priority parts={job.priority_factors} /> : null}
      <h4>What would start it sooner</h4>
      {job.cheaper.length === 0 && !advice ? <p class="quiet">No change was found that would start it sooner.</p> : null}
      <ul class="reason-list" aria-label="What would start it sooner">
        {advice ? (
          <li>
            <bdi>{advice.words}</bdi>
            {advice.command ? <CopyLine text={advice.command} label="Time limit" /> : null}
          </li>
        ) : null}
        {job.cheaper.map((one) => (
          <li key={one.words}>
            <bdi>{one.words}</bdi>
            <span class="sub">
              {one.change}: would start {startsIn(one.wait_p50_seconds)}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

const startsIn = (seconds: number) => (duration(seconds) === 'now' ? 'now' : `in ${duration(seconds)}`);

/** Those that want some of its nodes and are ranked above it. An array is one of these, its tasks are all counted. */
function Ahead({ job }: { job: Job }) {
  const before = job.jobs_before ?? 0;
  const ahead = job.ahead ?? [];
  return (
    <>
      <h4>Ahead of it: {plural(before, 'job')}</h4>
      <ul class="reason-list" aria-label="Jobs ahead of it">
        {ahead.map((one) => (
          <li key={one.job_id}>
            <a href={hashOf('queue', { job: one.job_id })}>Job {one.job_id}</a>, {plural(one.gpus, 'GPU')}, priority {grouped(one.priority)}
          </li>
        ))}
      </ul>
      {ahead.length > 0 && before > ahead.length ? <p class="quiet">and {grouped(before - ahead.length)} more</p> : null}
    </>
  );
}

const kFactors: [keyof PriorityParts, string][] = [
  ['age', 'age'],
  ['fair_share', 'fair share'],
  ['qos', 'QOS'],
  ['partition', 'partition'],
  ['job_size', 'job size'],
  ['tres', 'TRES'],
  ['association', 'association'],
];

function Priority({ parts }: { parts: PriorityParts }) {
  const present = kFactors.map(([key, name], at) => ({ name, value: parts[key], kind: `part-${at}` })).filter((part) => part.value > 0);
  const total = present.reduce((sum, part) => sum + part.value, 0);
  return (
    <>
      <h4>Priority {decimal(parts.total, 0)}</h4>
      <ShareBar parts={present} total={total} />
      <ul class="legend" aria-label="Parts of the priority">
        {present.map((part) => (
          <li key={part.name}>
            <i class={`cell fill-${part.kind}`} aria-hidden="true" />
            {part.name} {decimal(part.value, 0)}
          </li>
        ))}
        {parts.nice > 0 ? <li>nice −{decimal(parts.nice, 0)}</li> : null}
      </ul>
    </>
  );
}
