// Ask: a train.yaml in, the ranking, memory by part and the scale curve out.
import type { Objective } from './objectives';
import { Panel } from '../../parts/panel';
import { plural } from '../../words/numbers';
import { errorLine } from './command';
import { changedSince } from './dated';
import { ask, choose, editText, questionOf, refuse, useDesk } from './desk';
import type { Desk } from './desk';
import { Editor } from './editor';
import { Form } from './form';
import { MemoryParts } from './memory_parts';
import { kObjectives } from './objectives';
import { Rankings } from './rankings';
import { ScaleCurves } from './scale_curves';

export function AskView() {
  const desk = useDesk();
  const { failed } = desk;
  const line = failed && failed.text === desk.text ? errorLine(failed.error) : null;
  return (
    <div class="ask">
      <Panel title="Your training file" id="file" note="A train.yaml. It is sent to this cluster’s daemon, which does not keep it; the draft stays in this browser.">
        <Form text={desk.text} edit={editText} />
        <Editor text={desk.text} edit={editText} refuse={refuse} ask={ask} errorLine={line} round={desk.rounds} described={failed ? 'ask-error' : undefined} />
        <Choices desk={desk} />
        {failed ? <Failure error={failed.error} line={line} /> : null}
        <p role="status" class="unseen" data-said>{desk.asking ? '' : said(desk)}</p>
      </Panel>
      <Answers desk={desk} />
    </div>
  );
}

function Choices({ desk }: { desk: Desk }) {
  const misses = desk.objective === 'deadline' && !/^\s*deadline\s*:/m.test(desk.text);
  return (
    <div class="ask-row">
      <label class="field">
        <span>Objective</span>
        <select name="objective" value={desk.objective} onChange={(event) => choose({ objective: (event.target as HTMLSelectElement).value as Objective })}>
          <option value="">as the file says</option>
          {kObjectives.map(([value, words]) => <option key={value} value={value}>{words}</option>)}
        </select>
      </label>
      <label class="field">
        <span>Section</span>
        <input name="section" value={desk.section} maxLength={100} placeholder="none" autocomplete="off" onInput={(event) => choose({ section: (event.target as HTMLInputElement).value })} />
      </label>
      <button type="button" class="primary" aria-disabled={desk.asking} onClick={() => void (desk.asking || ask())}>{desk.asking ? 'Asking …' : 'Ask'}</button>
      <span class="quiet keys"><kbd>Ctrl</kbd> + <kbd>Enter</kbd></span>
      {misses ? <p class="note ask-remedy" data-remedy="deadline">The file names no deadline. Write a line such as <code>deadline: fri 18:00</code></p> : null}
    </div>
  );
}

function Failure({ error, line }: { error: string; line: number | null }) {
  return (
    <p class="trouble" role="alert" id="ask-error" data-error-line={line ?? ''}>
      <bdi>{error}</bdi>
      {/--section\b/.test(error) ? <span data-remedy="section">{/leave --section out/.test(error) ? 'Clear the Section field.' : 'Enter one in the Section field.'}</span> : null}
    </p>
  );
}

/** What a screen reader is told of an answer. */
function said({ failed, ranked }: Desk): string {
  if (failed || !ranked) return '';
  const { strategies } = ranked.advise;
  const first = strategies[0];
  if (!first) return 'Nothing on this cluster can run it.';
  return `${plural(strategies.length, 'way')}, first: ${first.gpu_name.slice(0, 60)} × ${first.gpus_per_node * first.nodes}`;
}

function Answers({ desk }: { desk: Desk }) {
  const { ranked, failed } = desk;
  if (!ranked) return <p class="ask-hint quiet">The ranking appears here: each way to run this training with its wait, run time and batch, the earliest finish first.</p>;
  const { asked, advise, fit, scale } = ranked;
  const first = advise.strategies[0]?.gpu ?? null;
  return (
    <div class="ask-answers" aria-busy={desk.asking}>
      {failed ? <p class="few" data-kept>The last question was not answered. The previous ranking is shown below.</p> : null}
      <Rankings answer={advise} asked={asked} changed={changedSince(asked, questionOf(desk))} />
      {fit ? <MemoryParts answer={fit} ranked={advise.strategies} /> : null}
      {ranked.fitError ? <p class="note">Memory by part: <bdi>{ranked.fitError}</bdi></p> : null}
      {scale ? <ScaleCurves key={advise.advice_id} answer={scale} first={first} firstGpus={advise.strategies[0] ? advise.strategies[0].gpus_per_node * advise.strategies[0].nodes : null} /> : null}
      {ranked.scaleError ? <p class="note">Scale curve: <bdi>{ranked.scaleError}</bdi></p> : null}
    </div>
  );
}
