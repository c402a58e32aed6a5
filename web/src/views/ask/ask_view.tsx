// Ask: a train.yaml in, the ranking, memory by part and the scale curve out.
import type { Objective } from './objectives';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { saveFile } from '../../parts/csv';
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
      <Panel
        title="Your training"
        id="file"
        note="The form fills in a train.yaml. It is sent to this cluster’s daemon, which does not keep it; the draft stays in this browser."
      >
        <Form text={desk.text} edit={editText} />
        <Choices desk={desk} />
        {failed ? <Failure error={failed.error} line={line} /> : null}
        <p role="status" class="unseen">
          {desk.asking ? '' : said(desk)}
        </p>
        <Text desk={desk} line={line} />
      </Panel>
      <Answers desk={desk} />
    </div>
  );
}

/** The file as text, folded away until it is wanted or an error is in it. */
function Text({ desk, line }: { desk: Desk; line: number | null }) {
  const fold = useRef<HTMLDetailsElement>(null);
  useLayoutEffect(() => {
    if (line !== null && fold.current) fold.current.open = true;
  }, [line, desk.rounds]);
  return (
    <details class="file-text" ref={fold}>
      <summary>train.yaml as text</summary>
      <Editor
        text={desk.text}
        edit={editText}
        refuse={refuse}
        ask={ask}
        errorLine={line}
        round={desk.rounds}
        described={desk.failed ? 'ask-error' : undefined}
      />
      <button type="button" onClick={() => saveFile('train.yaml', 'text/yaml', desk.text)}>
        Save as train.yaml
      </button>
    </details>
  );
}

function Choices({ desk }: { desk: Desk }) {
  const misses = desk.objective === 'deadline' && !/^\s*deadline\s*:/m.test(desk.text);
  return (
    <div class="ask-row">
      <label class="field">
        <span>Objective</span>
        <select
          name="objective"
          value={desk.objective}
          onChange={(event) => choose({ objective: (event.target as HTMLSelectElement).value as Objective })}
        >
          <option value="">as the file says</option>
          {kObjectives.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        <span>Section</span>
        <input
          name="section"
          value={desk.section}
          maxLength={100}
          placeholder="none"
          autocomplete="off"
          onInput={(event) => choose({ section: (event.target as HTMLInputElement).value })}
        />
      </label>
      <button type="button" class="primary" aria-disabled={desk.asking} onClick={desk.asking ? undefined : ask}>
        {desk.asking ? 'Asking …' : 'Ask'}
      </button>
      <span class="quiet keys">
        <kbd>Ctrl</kbd> + <kbd>Enter</kbd>
      </span>
      {misses ? (
        <p class="note ask-remedy">
          The file names no deadline. Enter one above, such as <code>fri 18:00</code>
        </p>
      ) : null}
    </div>
  );
}

function Failure({ error, line }: { error: string; line: number | null }) {
  return (
    <p class="trouble" role="alert" id="ask-error">
      <bdi>{error}</bdi>
      {line === null ? null : <span>Line {line} is marked in the text below.</span>}
      {/--section\b/.test(error) ? (
        <span>{/leave --section out/.test(error) ? 'Clear the Section field.' : 'Enter one in the Section field.'}</span>
      ) : null}
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
  const place = useRef<HTMLDivElement>(null);
  const round = useRef(desk.rounds);
  useEffect(() => {
    if (round.current === desk.rounds) return; // coming back to the view is no answer
    round.current = desk.rounds;
    if (failed) return;
    if (document.activeElement instanceof HTMLTextAreaElement) place.current?.scrollIntoView({ block: 'nearest' });
    else place.current?.focus(); // which scrolls to it where it is not seen
  }, [desk.rounds]);
  if (!ranked)
    return (
      <p class="ask-hint quiet">
        The ranking appears here: each way to run this training with its wait, run time and batch, the earliest finish first.
      </p>
    );
  const { asked, advise, fit, scale } = ranked;
  const first = advise.strategies[0]?.gpu ?? null;
  return (
    <div class="ask-answers" ref={place} tabIndex={-1} role="group" aria-label="The answer" aria-busy={desk.asking}>
      {failed ? <p class="few">The last question was not answered. The previous ranking is shown below.</p> : null}
      <Rankings answer={advise} asked={asked} changed={changedSince(asked, questionOf(desk))} />
      {fit ? <MemoryParts answer={fit} ranked={advise.strategies} /> : null}
      {ranked.fitError ? (
        <p class="note">
          Memory by part: <bdi>{ranked.fitError}</bdi>
        </p>
      ) : null}
      {scale ? (
        <ScaleCurves
          key={advise.advice_id}
          answer={scale}
          first={first}
          firstGpus={advise.strategies[0] ? advise.strategies[0].gpus_per_node * advise.strategies[0].nodes : null}
        />
      ) : null}
      {ranked.scaleError ? (
        <p class="note">
          Scale curve: <bdi>{ranked.scaleError}</bdi>
        </p>
      ) : null}
    </div>
  );
}
