// A command to copy. Where the browser gives no clipboard (plain http on a host name) the text is
// selected, to be copied by hand.
import { useRef, useState } from 'preact/hooks';

type Done = 'no' | 'copied' | 'selected';

const words = (done: Done): string => ({ no: 'Copy', copied: 'Copied', selected: 'Selected: press Ctrl+C' })[done];
const kShownMilliseconds = 4000;

export function CopyLine({ text, label }: { text: string; label: string }) {
  const code = useRef<HTMLElement>(null);
  const [done, setDone] = useState<Done>('no');
  const show = (next: Done) => {
    setDone(next);
    setTimeout(() => setDone('no'), kShownMilliseconds);
  };
  const copy = async () => show((await toClipboard(text)) ? 'copied' : select(code.current));
  return (
    <span class="copy-line">
      <code ref={code} class="command" tabIndex={0} aria-label={label}>
        {text}
      </code>
      <button type="button" onClick={() => void copy()} aria-label={`Copy: ${label}`}>
        <span aria-live="polite">{words(done)}</span>
      </button>
    </span>
  );
}

async function toClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // not there on plain http, or refused
  }
}

function select(code: HTMLElement | null): Done {
  const selection = window.getSelection();
  if (!code || !selection) return 'no';
  const range = document.createRange();
  range.selectNodeContents(code);
  selection.removeAllRanges();
  selection.addRange(range);
  return 'selected';
}
