// A button that asks for a notification, and what else the visitor will be told.
import type { ComponentChildren } from 'preact';
import { useContext, useRef, useState } from 'preact/hooks';
import { WatchContext, watchWords } from '../live/watches';
import { CopyLine } from './copy';

interface TellProps {
  of: string; // the address that shows it
  label: ComponentChildren;
  job: string; // for the command that does the same in a terminal
}

export function Tell({ of, label, job }: TellProps) {
  const { list, change } = useContext(WatchContext);
  const [asked, setAsked] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const watched = list.some((one) => one.hash === of && one.said === null);
  const forget = (hash: string) => change((all) => all.filter((one) => one.hash !== hash));
  const press = async () => {
    if (watched) {
      forget(of);
      return;
    }
    if (refusal() !== '') await window.Notification?.requestPermission();
    setAsked(true);
    if (refusal() === '') change((all) => [...all.filter((one) => one.hash !== of), { hash: of, said: null }]);
  };
  const others = list.filter((one) => one.hash !== of || one.said !== null);
  const why = asked || list.length > 0 ? refusal() : '';
  return (
    <div class="legend tell">
      <button type="button" ref={button} aria-pressed={watched} onClick={() => void press()}>
        {label}
      </button>
      <ul class="legend" aria-label="What you will be told" aria-live="polite">
        {others.map(({ hash, said }) => (
          <li key={hash}>
            <a href={hash}>{said ?? `When ${watchWords(hash)}`}</a>
            <button
              type="button"
              class="icon-button"
              aria-label={`Forget: ${watchWords(hash)}`}
              onClick={() => {
                forget(hash);
                button.current?.focus();
              }}
            >
              ✕
            </button>
          </li>
        ))}
      </ul>
      {why ? (
        <div class="few" role="alert">
          {why} In a terminal:
          <CopyLine
            text={`gpuadvise watch ${job} --exec 'notify-send "Job $GPUADVISE_JOB_ID" "$GPUADVISE_TEXT"'`}
            label="Notification in a terminal"
          />
        </div>
      ) : watched ? (
        <span class="quiet">You will be told while this tab is open.</span>
      ) : null}
    </div>
  );
}

/** Why the browser would show no notification; '' where it would. */
function refusal(): string {
  if (!window.isSecureContext) return 'Browsers show notifications only for pages over https or on localhost.';
  if (!('Notification' in window)) return 'This browser shows no notifications.';
  if (Notification.permission === 'denied') return 'The browser blocks notifications of this page; its settings for this site allow them.';
  return Notification.permission === 'granted' ? '' : 'The browser was not allowed to show notifications. Press again to be asked again.';
}
