// Ask: a train.yaml in, the ranking, memory by part and the scale curve out.
import type { Objective } from '../../api/ask_types';
import type { ClustersAnswer } from '../../api/types';
import { useAnswer } from '../../live/live';
import { Panel } from '../../parts/panel';
import { plural } from '../../words/numbers';
import { errorLine } from './command';
import { changedSince } from './dated';
import { ask, choose, editText, questionOf, refuse, useDesk } from './desk';
import type { Desk } from './desk';
import { Editor } from './editor';
import { Form } from './form';
import { mergedAnswer } from './merged';
import { MemoryParts } from './memory_parts';
import { kObjectives } from './objectives';
import { Rankings } from './rankings';
import { ScaleCurves } from './scale_curves';
import { phrase, say } from '../../words/say';

export function AskView() {
  const desk = useDesk();
  const { failed } = desk;
  const others = useAnswer<ClustersAnswer>('v1/clusters', 300).data?.clusters.length ?? 0;
  const line = failed && failed.text === desk.text ? errorLine(failed.error) : null;
  return (
    <div class="ask">
      <Panel title={say('ask.fileTitle')} id="file" note={others > 0 && desk.everywhere ? `${say('ask.fileNote')} ${say('ask.everywhereNote')}` : say('ask.fileNote')}>
        <Form text={desk.text} edit={editText} />
        <Editor text={desk.text} edit={editText} refuse={refuse} ask={ask} errorLine={line} round={desk.rounds} described={failed ? 'ask-error' : undefined} />
        <Choices desk={desk} others={others} />
        {failed ? <Failure error={failed.error} line={line} /> : null}
        <p role="status" class="unseen" data-said>{desk.asking ? '' : said(desk)}</p>
      </Panel>
      <Answers desk={desk} />
    </div>
  );
}

function Choices({ desk, others }: { desk: Desk; others: number }) {
  const misses = desk.objective === 'deadline' && !/^\s*deadline\s*:/m.test(desk.text);
  return (
    <div class="ask-row">
      <label class="field">
        <span>{phrase('Objective')}</span>
        <select name="objective" value={desk.objective} onChange={(event) => choose({ objective: (event.target as HTMLSelectElement).value as Objective })}>
          <option value="">{phrase('as the file says')}</option>
          {kObjectives.map(([value, words]) => <option key={value} value={value}>{phrase(words)}</option>)}
        </select>
      </label>
      <label class="field">
        <span>{phrase('Section')}</span>
        <input name="section" value={desk.section} maxLength={100} placeholder={phrase('none')} autocomplete="off" onInput={(event) => choose({ section: (event.target as HTMLInputElement).value })} />
      </label>
      {others > 0 ? (
        <label class="field field-row">
          <span>{say('ask.everywhere')}</span>
          <input type="checkbox" name="everywhere" checked={desk.everywhere} onChange={(event) => choose({ everywhere: (event.target as HTMLInputElement).checked })} />
        </label>
      ) : null}
      <button type="button" class="primary" aria-disabled={desk.asking} onClick={() => void (desk.asking || ask())}>{phrase(desk.asking ? 'Asking …' : 'Ask')}</button>
      <span class="quiet keys"><kbd>Ctrl</kbd> + <kbd>Enter</kbd></span>
      {misses ? <p class="note ask-remedy" data-remedy="deadline">{phrase('The file names no deadline. Write a line such as ')}<code>deadline: fri 18:00</code></p> : null}
    </div>
  );
}

function Failure({ error, line }: { error: string; line: number | null }) {
  return (
    <p class="trouble" role="alert" id="ask-error" data-error-line={line ?? ''}>
      <bdi>{error}</bdi>
      {/--section\b/.test(error) ? <span data-remedy="section">{/leave --section out/.test(error) ? say('ask.leaveSection') : say('ask.typeSection')}</span> : null}
    </p>
  );
}

/** What a screen reader is told of an answer. */
function said({ failed, ranked }: Desk): string {
  if (failed || !ranked) return '';
  const { strategies } = mergedAnswer(ranked.advise, ranked.others);
  const first = strategies[0];
  if (!first) return phrase('Nothing on this cluster can run it.');
  return phrase('{ways}, first: {strategy}', { ways: plural(strategies.length, 'way'), strategy: `${first.gpu_name.slice(0, 60)} × ${first.gpus_per_node * first.nodes}` });
}

function Answers({ desk }: { desk: Desk }) {
  const { ranked, failed } = desk;
  if (!ranked) return <p class="ask-hint quiet">{say('ask.hint')}</p>;
  const { advise, others, fit, scale } = ranked;
  const asked = { ...ranked.asked, cluster: advise.meta.cluster };
  const first = advise.strategies[0]?.gpu ?? null;
  return (
    <div class="ask-answers" aria-busy={desk.asking}>
      {failed ? <p class="few" data-kept>{say('ask.kept')}</p> : null}
      {others.filter((one) => one.error !== null).map((one) => <p key={one.cluster} class="few" data-silent={one.cluster}>{say('ask.silent', { cluster: one.cluster })} <bdi>{one.error}</bdi></p>)}
      <Rankings answer={mergedAnswer(advise, others)} asked={asked} changed={changedSince(ranked.asked, questionOf(desk))} />
      {fit ? <MemoryParts answer={fit} ranked={advise.strategies} /> : null}
      {ranked.fitError ? <p class="note">{phrase('Memory by part: ')}<bdi>{ranked.fitError}</bdi></p> : null}
      {scale ? <ScaleCurves key={advise.advice_id} answer={scale} first={first} firstGpus={advise.strategies[0] ? advise.strategies[0].gpus_per_node * advise.strategies[0].nodes : null} /> : null}
      {ranked.scaleError ? <p class="note">{phrase('Scale curve: ')}<bdi>{ranked.scaleError}</bdi></p> : null}
    </div>
  );
}
