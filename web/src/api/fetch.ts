// One question to the daemon. Addresses are relative, so that the page works under any path.
import type { Frame } from './contract';

/** The daemon's own sentence, or why it could not be reached; `status` 0 is "no answer". */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

const kTimeoutMilliseconds = 30_000;

/** The answer to GET `path`. Throws ApiError; an abort by `signal` throws AbortError. */
export function getJson<T extends Frame>(path: string, signal: AbortSignal): Promise<T> {
  return ask<T>(path, { signal });
}

/** The answer to POST `body` at `path`. Throws as getJson. */
export function postJson<T extends Frame>(path: string, body: unknown, signal: AbortSignal): Promise<T> {
  const headers = { 'Content-Type': 'application/json' };
  return ask<T>(path, { method: 'POST', headers, body: JSON.stringify(body), signal });
}

async function ask<T extends Frame>(path: string, init: RequestInit & { signal: AbortSignal }): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), kTimeoutMilliseconds);
  const forward = () => late.abort();
  init.signal.addEventListener('abort', forward);
  if (init.signal.aborted) late.abort();
  try {
    const response = await fetch(path, { ...init, signal: late.signal });
    return await readAnswer<T>(response);
  } catch (trouble) {
    if (init.signal.aborted || trouble instanceof ApiError) throw trouble;
    throw new ApiError(0, 'unreachable', late.signal.aborted ? kTooLate : kUnreachable);
  } finally {
    clearTimeout(timer);
    init.signal.removeEventListener('abort', forward);
  }
}

const kTooLate = 'The daemon did not answer within 30 seconds.';
const kUnreachable = 'The daemon does not answer: it may be restarting, or the connection to it is closed.';

async function readAnswer<T extends Frame>(response: Response): Promise<T> {
  const text = await response.text();
  const answer = parsed<T>(text);
  if (response.ok && answer) return answer;
  const error = answer?.errors?.[0];
  if (error) throw new ApiError(response.status, error.code, error.message);
  throw new ApiError(response.status, 'unreadable', `The answer could not be read (HTTP ${response.status}).`);
}

function parsed<T>(text: string): T | null {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' ? (value as T) : null;
  } catch {
    return null;
  }
}
