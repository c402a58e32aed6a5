// The live state for all parts of the page, and answers that follow it.
import { createContext } from 'preact';
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Frame } from '../api/contract';
import { Loader } from '../api/loader';
import type { Collect, Loaded } from '../api/loader';
import { Stream } from './stream';
import type { Live } from './stream';

const kNothing: Live = { state: 'connecting', snapshot: null, receivedAt: 0, lostAt: 0, opened: 0 };
const kSpreadMilliseconds = 1500;
const kPollWhileLostMilliseconds = 60_000;

export const LiveContext = createContext<Live>(kNothing);

export const useLive = (): Live => useContext(LiveContext);

/** Opens the stream for as long as the page is there to be seen, or `watches` for the visitor. */
export function useStream(watches: boolean): Live {
  const [live, setLive] = useState<Live>(kNothing);
  const [stream] = useState(() => new Stream(setLive));
  useEffect(() => {
    const back = () => (document.hidden && !watches ? stream.stop() : stream.hurry());
    back();
    window.addEventListener('online', back);
    document.addEventListener('visibilitychange', back);
    return () => {
      window.removeEventListener('online', back);
      document.removeEventListener('visibilitychange', back);
    };
  }, [stream, watches]);
  useEffect(() => () => stream.stop(), [stream]);
  return live;
}

/**
 * The answer to GET `path`, with a `body` to its POST, asked again after each snapshot but at most every `restSeconds`. Null asks
 * nothing; `collect` puts the answer together itself.
 */
export function useAnswer<T extends Frame>(path: string | null, restSeconds = 0, body?: unknown, collect?: Collect<T>): Loaded<T> {
  const live = useLive();
  const [loaded, setLoaded] = useState<Loaded<T>>({ path: path ?? '', data: null, error: null, loading: path !== null });
  const loader = useRef<Loader<T> | null>(null);
  loader.current ??= new Loader<T>(setLoaded, kSpreadMilliseconds, restSeconds * 1000);
  const asked = body === undefined ? '' : JSON.stringify(body);
  useLayoutEffect(() => loader.current?.show(path, body, collect), [path, asked]); // before the first drawing, which would hold it up
  useEffect(() => () => loader.current?.stop(), []);
  useEffect(() => {
    const snapshot = live.snapshot;
    if (snapshot) loader.current?.changed(snapshot.snapshot_taken_at);
  }, [live.snapshot]);
  useEffect(() => {
    if (live.opened > 0) loader.current?.changed(null);
  }, [live.opened]);
  useEffect(() => {
    const seen = () => {
      if (!document.hidden) loader.current?.seen();
    };
    const timer = setInterval(() => {
      if (live.state === 'lost') loader.current?.changed(null);
    }, kPollWhileLostMilliseconds);
    document.addEventListener('visibilitychange', seen);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', seen);
    };
  }, [live.state]);
  return loaded;
}
