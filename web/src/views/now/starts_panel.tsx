// The first question of a visitor: a job of this size and length, when and on which GPUs does it start first?
import { Name } from '../../parts/name';
import { Panel, Trouble } from '../../parts/panel';
import { Rejections } from '../../parts/rejected';
import { hashOf, setParams } from '../../parts/route';
import { Tell } from '../../parts/tell';
import { questionHash } from '../../live/watches';
import { waitLevel } from '../../words/durations';
import { memory as memoryWords } from '../../words/numbers';
import { clockRange, clockTime } from '../../words/times';
import { firstOfTypes, kSoonSeconds, kUsual, questionWords, valueOf } from './question';
import type { Field, Question, Refusals, Start } from './question';
import type { Asked } from './starts';

const kPlaces = 3;

interface StartsPanelProps {
  asked: Asked;
  params: URLSearchParams;
  now: number;
  failed: boolean; // nothing is known of the cluster, which is said elsewhere
}

export function StartsPanel({ asked: { question, refused, starts, selection }, params, now, failed }: StartsPanelProps) {
  const data = selection?.data ?? null;
  const error = selection?.error ?? null;
  return (
    <Panel
      title="When would a job start?"
      id="starts"
      actions={
        refused ? undefined : (
          <Tell
            of={questionHash(question)}
            label={
              <>
                Tell me<span class="who-word"> when they are free</span>
              </>
            }
            job="JOB"
          />
        )
      }
    >
      <Form question={question} refused={refused ?? {}} params={params} now={now} />
      {error ? <Trouble error={error} hasData={data !== null} /> : null}
      <div class="starts-place" aria-busy={selection?.loading ?? false}>
        {refused ? (
          <p class="empty">Nothing is asked until the marked fields are corrected.</p>
        ) : (
          <Starts starts={starts} now={now} failed={failed || error !== null} reason={data?.reason ?? ''} />
        )}
      </div>
      <p class="note">
        Large: the median; range: 8 in 10 such jobs (p10 – p90). Ties: the faster GPU first. <a href={hashOf('ask')}>I have a train.yaml</a>
      </p>
      {selection ? <div class="rejected-place">{data ? <Rejections rows={data.rejected} noun="place" /> : null}</div> : null}
    </Panel>
  );
}

type NumberField = Exclude<Field, 'begin'>;

const kMostTyped = 20; // characters of a field

interface FormProps {
  question: Question;
  refused: Refusals;
  params: URLSearchParams;
  now: number;
}

/** A field keeps what was typed, and so does the address; what is no answer is refused in a sentence. */
function Form({ question, refused, params, now }: FormProps) {
  const shown = (value: number) => (value === 0 ? '' : String(value));
  const typed = (name: Field) => (params.get(name) ?? '').slice(0, kMostTyped);
  const change = (name: NumberField) => (event: Event) => {
    const field = event.target as HTMLInputElement;
    const text = field.value.trim();
    const value = text === '' ? kUsual[name] : valueOf(name, text);
    if (value !== null) field.value = shown(value);
    setParams({ [name]: value === kUsual[name] ? null : (value ?? text) });
  };
  const marked = (name: Field) => (refused[name] ? { 'aria-invalid': true, 'aria-describedby': `refused-${name}` } : {});
  const number = (name: NumberField, label: string) => (
    <input
      name={name}
      aria-label={label}
      inputMode="decimal"
      maxLength={kMostTyped}
      autocomplete="off"
      value={refused[name] ? typed(name) : shown(question[name])}
      placeholder={name === 'memory' ? 'any' : undefined}
      onChange={change(name)}
      {...marked(name)}
    />
  );
  return (
    <>
      <p class="on-wall">{questionWords(question)}</p>
      <form class="ask-line" aria-label="The job" onSubmit={(event) => event.preventDefault()}>
        <span>{number('gpus', 'GPUs of each node')} GPUs ×</span>
        <span>{number('nodes', 'Nodes')} nodes</span>
        <span>for {number('hours', 'Time limit in hours')} h,</span>
        <span>at least {number('memory', 'Memory of each GPU in GB, at least')} GB,</span>
        <label>
          start after{' '}
          <select
            name="begin"
            value={refused.begin ? typed('begin') : (question.begin ?? '')}
            onChange={(event) => setParams({ begin: (event.target as HTMLSelectElement).value })}
            {...marked('begin')}
          >
            <option value="">now</option>
            {beginnings(question.begin, now).map((begin) => (
              <option key={begin} value={begin}>
                {clockTime(begin, now)}
              </option>
            ))}
            {refused.begin ? <option value={typed('begin')}>{typed('begin')}</option> : null}
          </select>
        </label>
        {Object.entries(refused).map(([name, words]) => (
          <p key={name} id={`refused-${name}`} class="refused" role="alert">
            {words}
          </p>
        ))}
      </form>
    </>
  );
}

const kHour = 3600;
const kHoursAhead = [1, 2, 4, 8, 12, 24, 48];

/** Full hours to start after, and the one that is chosen. */
function beginnings(chosen: number | null, now: number): number[] {
  const hours = kHoursAhead.map((ahead) => Math.ceil(now / kHour + ahead) * kHour);
  return [...new Set(chosen === null ? hours : [...hours, chosen])].sort((a, b) => a - b);
}

interface StartsProps {
  starts: Start[] | null;
  now: number;
  failed: boolean;
  reason: string; // why there is none
}

function Starts({ starts, now, failed, reason }: StartsProps) {
  if (starts?.length === 0) {
    return (
      <p class="empty">
        No GPU of this cluster can run it{reason ? ': ' : '.'}
        <bdi>{reason}</bdi>
      </p>
    );
  }
  const shown: (Start | null)[] = starts ? firstOfTypes(starts, kPlaces) : failed ? [] : Array.from({ length: kPlaces }, () => null);
  return (
    <ol class="starts" aria-label="Where it starts first">
      {shown.map((one, at) => (
        <li key={one?.gpu ?? at} class="start" style={one ? { borderLeftColor: `var(--wait-${waitLevel(one.p90) ?? 5})` } : undefined}>
          {one ? <StartWords one={one} now={now} /> : <span class="quiet">{at === 0 ? 'asking …' : '…'}</span>}
        </li>
      ))}
    </ol>
  );
}

function StartWords({ one, now }: { one: Start; now: number }) {
  return (
    <>
      <span class="start-gpu">
        <b>
          <Name of={one.gpu_name} wide />
        </b>
        <span class="quiet">
          {memoryWords(one.memory_bytes)} · <Name of={one.partition} />
        </span>
      </span>
      <b class="start-time">{one.p50 < kSoonSeconds ? 'now' : clockTime(now + one.p50, now)}</b>
      <span class="start-range">{rangeWords(one, now)}</span>
      {one.may_be_preempted ? <span class="quiet">may be preempted, so listed last</span> : null}
    </>
  );
}

/** "14:02 – 15:40"; what begins at once begins "now". */
function rangeWords({ p10, p90 }: Start, now: number): string {
  if (p90 < kSoonSeconds) return 'at once';
  return p10 < kSoonSeconds ? `now – ${clockTime(now + p90, now)}` : clockRange(now + p10, now + p90, now);
}
