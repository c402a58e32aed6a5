// The text of the file with line numbers; the line of an error is marked and can be gone to.
import { useEffect, useRef } from 'preact/hooks';
import { tooManyBytes } from './question';

interface EditorProps {
  text: string;
  edit: (text: string) => void;
  refuse: (why: string) => void;
  ask: () => void;
  errorLine: number | null;
  round: number; // changes with every answer: the same line is gone to again
  described: string | undefined;
}

export function Editor({ text, edit, refuse, ask, errorLine, round, described }: EditorProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  const gutter = useRef<HTMLPreElement>(null);
  const lines = Math.max(1, text.split('\n').length);
  const follow = () => {
    if (gutter.current && area.current) gutter.current.scrollTop = area.current.scrollTop;
  };
  const gone = useRef(round);
  useEffect(() => {
    if (gone.current === round) return; // coming back to the view is no answer
    gone.current = round;
    if (errorLine !== null && area.current) goTo(area.current, errorLine);
  }, [round]);
  const keys = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    ask();
  };
  return (
    <>
      <div class="editor">
        <pre class="gutter" ref={gutter} aria-hidden="true">
          {Array.from({ length: lines }, (_, at) => (
            <span key={at} class={at + 1 === errorLine ? 'gutter-error' : undefined}>{`${at + 1}\n`}</span>
          ))}
        </pre>
        <textarea
          ref={area}
          aria-label="train.yaml"
          value={text}
          rows={24}
          spellcheck={false}
          autocapitalize="off"
          autocomplete="off"
          wrap="off"
          aria-invalid={errorLine !== null}
          aria-describedby={described}
          onInput={(event) => edit((event.target as HTMLTextAreaElement).value)}
          onKeyDown={keys}
          onScroll={follow}
        />
      </div>
      <label class="open-file">
        <span>Open a file</span>
        <input
          type="file"
          accept=".yaml,.yml,.txt,text/*"
          onChange={(event) => void openFile(event.target as HTMLInputElement, edit, refuse)}
        />
      </label>
    </>
  );
}

function goTo(area: HTMLTextAreaElement, line: number): void {
  const lines = area.value.split('\n');
  const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  area.focus({ preventScroll: true });
  area.setSelectionRange(start, start + (lines[line - 1] ?? '').length);
  const height = area.scrollHeight / Math.max(1, lines.length);
  area.scrollTop = Math.max(0, (line - 4) * height);
}

async function openFile(input: HTMLInputElement, edit: (text: string) => void, refuse: (why: string) => void): Promise<void> {
  const file = input.files?.[0];
  const long = file ? tooManyBytes(file.size) : null;
  if (long) refuse(long);
  else if (file) edit(await file.text());
  input.value = '';
}
